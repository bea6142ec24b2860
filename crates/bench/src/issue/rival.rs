//! How shops issue today: a row a code, an order a transaction, workers that skip each other's locks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::ensure;
use sqlx::postgres::PgConnection;
use sqlx::{Connection, Row};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::Options;
use crate::way::Way;

/// Workers, each with a connection.
pub(super) const CONNECTIONS: usize = 10;

/// Orders of a round: enough to measure, few enough to wait for.
const ORDERS: usize = 2_048;

const SCHEMA: &str = "\
    CREATE TABLE codes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, code text NOT NULL UNIQUE, order_id uuid);
    CREATE TABLE orders (id uuid PRIMARY KEY, status text NOT NULL, code text, issued_at timestamptz)";
/// Without it, each order looks through all codes that are gone.
const INDEX: &str = "CREATE INDEX codes_free ON codes (id) WHERE order_id IS NULL";
/// As many rows as Tessera has codes for the same orders, and the same texts.
const FILL: &str = "\
    INSERT INTO codes (code) SELECT 'sets-' || lpad(n::text, 8, '0') FROM generate_series(0, $1 - 1) n";
const PLACE: &str = "\
    INSERT INTO orders (id, status) SELECT gen_random_uuid(), 'paid' FROM generate_series(1, $1) RETURNING id";
const TAKE: &str = "\
    UPDATE codes SET order_id = $1 WHERE id = (SELECT id FROM codes WHERE order_id IS NULL LIMIT 1
        FOR UPDATE SKIP LOCKED) RETURNING code";
const ISSUED: &str = "\
    UPDATE orders SET status = 'issued', code = $2, issued_at = now() WHERE id = $1 AND status = 'paid'";
const CHECK: &str = "\
    SELECT count(*) = count(DISTINCT code) AND count(*) = count(code) AS sound FROM orders";

/// Which of its two tables.
#[derive(Clone, Copy)]
pub(super) enum Table {
    /// As it is mostly written.
    Plain,
    /// With an index of the free codes: the best that can be said for it.
    Indexed,
}

pub(super) struct Rival {
    pub(super) way: Way,
    workers: Vec<PgConnection>,
}

impl Rival {
    /// Makes and fills its tables in an empty database.
    pub(super) async fn open(url: &str, table: Table, options: &Options) -> anyhow::Result<Self> {
        let mut workers = Vec::with_capacity(CONNECTIONS);
        for _ in 0..CONNECTIONS {
            let mut worker = PgConnection::connect(url).await?;
            sqlx::raw_sql("SET synchronous_commit = on").execute(&mut worker).await?;
            workers.push(worker);
        }
        let mut owner = PgConnection::connect(url).await?;
        sqlx::raw_sql(SCHEMA).execute(&mut owner).await?;
        let (key, index) = match table {
            Table::Plain => ("skip_locked", ""),
            Table::Indexed => {
                sqlx::raw_sql(INDEX).execute(&mut owner).await?;
                ("skip_locked_indexed", ", free codes indexed")
            }
        };
        let codes = i64::try_from(options.orders.max(ORDERS) * options.rounds)?;
        sqlx::query(FILL).bind(codes).execute(&mut owner).await?;
        sqlx::raw_sql("ANALYZE").execute(&mut owner).await?;
        let name = format!("SKIP LOCKED, an order a transaction, {CONNECTIONS} connections{index}");
        Ok(Self { way: Way::new(name, key), workers })
    }

    /// Issues a round's orders; each worker takes the next one that nobody has.
    pub(super) async fn round(&mut self) -> anyhow::Result<()> {
        let orders = Arc::new(self.place().await?);
        let next = Arc::new(AtomicUsize::new(0));
        let began = Instant::now();
        let mut workers = JoinSet::new();
        for worker in self.workers.drain(..) {
            workers.spawn(work(worker, Arc::clone(&orders), Arc::clone(&next)));
        }
        while let Some(worker) = workers.join_next().await {
            self.workers.push(worker??);
        }
        self.way.add(orders.len(), began.elapsed());
        Ok(())
    }

    async fn place(&mut self) -> anyhow::Result<Vec<Uuid>> {
        let Some(worker) = self.workers.first_mut() else { return Ok(vec![]) };
        let rows = sqlx::query(PLACE).bind(i64::try_from(ORDERS)?).fetch_all(worker).await?;
        Ok(rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?)
    }

    /// Fails unless each order has a code of its own.
    pub(super) async fn check(&mut self) -> anyhow::Result<()> {
        let Some(worker) = self.workers.first_mut() else { return Ok(()) };
        let sound: bool = sqlx::query(CHECK).fetch_one(worker).await?.try_get(0)?;
        ensure!(sound, "a code went to two orders, or an order got none");
        Ok(())
    }
}

async fn work(
    mut worker: PgConnection,
    orders: Arc<Vec<Uuid>>,
    next: Arc<AtomicUsize>,
) -> anyhow::Result<PgConnection> {
    while let Some(order) = orders.get(next.fetch_add(1, Ordering::Relaxed)) {
        let mut tx = worker.begin().await?;
        let code: String = sqlx::query(TAKE).bind(order).fetch_one(&mut *tx).await?.try_get(0)?;
        let issued = sqlx::query(ISSUED).bind(order).bind(code).execute(&mut *tx).await?;
        ensure!(issued.rows_affected() == 1, "the order was not paid");
        tx.commit().await?;
    }
    Ok(worker)
}
