//! The balances, each proved by queries that return the rows at fault. See [`ReconcileOps`].

use async_trait::async_trait;
use tessera_store::Result;
use tessera_store::reconcile::{Check, FAULTS_MAX, Fault, ReconcileOps};

use crate::tx::PostgresTx;

mod sql;

/// A balance: how many rows it looks at, and the queries for those at fault.
struct Balance {
    name: &'static str,
    count: &'static str,
    faults: &'static [&'static str],
}

const BALANCES: [Balance; 5] = [
    Balance {
        name: "codes",
        count: "SELECT (SELECT count(*) FROM batch) + (SELECT count(*) FROM order_line) AS checked",
        faults: &[
            sql::CHAIN,
            sql::POSITIONS,
            sql::POOLS,
            sql::ISSUED_LINES,
            sql::REPLACEMENTS,
            sql::UNISSUED_ORDERS,
            sql::WAITLISTS,
        ],
    },
    Balance { name: "claims", count: "SELECT count(*) AS checked FROM stock", faults: &[sql::CLAIMS] },
    Balance {
        name: "customers",
        count: "SELECT count(*) AS checked FROM customer_product",
        faults: &[sql::CUSTOMERS],
    },
    Balance {
        name: "money",
        count: "SELECT (SELECT count(*) FROM payment) + (SELECT count(*) FROM orders) AS checked",
        faults: &[sql::PAYMENTS, sql::PORTIONS, sql::SETTLED, sql::REFUNDS],
    },
    Balance {
        name: "rounds",
        count: "SELECT count(*) AS checked FROM batch WHERE kind = 'round'",
        faults: &[sql::ROUNDS, sql::NUMBERS, sql::WINNERS],
    },
];

#[async_trait]
impl ReconcileOps for PostgresTx {
    async fn reconcile(&mut self) -> Result<Vec<Check>> {
        // Whole tables are read, by whatever plan is best for the figures they have.
        self.unhurried().await?;
        let mut checks = Vec::with_capacity(BALANCES.len());
        for balance in &BALANCES {
            checks.push(self.check(balance).await?);
        }
        Ok(checks)
    }
}

impl PostgresTx {
    async fn check(&mut self, balance: &Balance) -> Result<Check> {
        let checked = self.read(sqlx::query(balance.count), "checked", |f| f.get("checked")).await?;
        let mut faults = vec![];
        for query in balance.faults.iter().copied() {
            let limit = i64::try_from(FAULTS_MAX - faults.len()).unwrap_or(0);
            let found = self
                .read(sqlx::query(query).bind(limit), "fault", |f| {
                    Ok(Fault { table: f.get("tbl")?, id: f.get("id")?, detail: f.get("detail")? })
                })
                .await?;
            faults.extend(found);
        }
        Ok(Check { name: balance.name, checked: checked.first().copied().unwrap_or(0), faults })
    }
}
