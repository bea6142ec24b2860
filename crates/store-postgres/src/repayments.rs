//! Rounds called off whose shares are being paid back. See [`RepaymentOps`].

use async_trait::async_trait;
use tessera_model::ids::BatchId;
use tessera_store::Result;
use tessera_store::repayments::RepaymentOps;
use tessera_store::rounds::Share;

use crate::rounds::share;
use crate::row::Fields;
use crate::tx::PostgresTx;

const BEGIN: &str = "INSERT INTO repayment (batch, upto) VALUES ($1, 0)";
const LOCK: &str = "SELECT upto FROM repayment WHERE batch = $1 FOR UPDATE";
const SHARES: &str = "\
    SELECT order_id, line, start, upto FROM span WHERE batch = $1 AND upto > $2 AND kind = 'issue'
    ORDER BY upto LIMIT $3";
const MOVE: &str = "UPDATE repayment SET upto = $2 WHERE batch = $1";
const END: &str = "DELETE FROM repayment WHERE batch = $1";
const LIST: &str = "SELECT batch FROM repayment ORDER BY batch";

#[async_trait]
impl RepaymentOps for PostgresTx {
    async fn repayments_begin(&mut self, round: BatchId) -> Result<()> {
        self.execute(sqlx::query(BEGIN).bind(round.uuid())).await.map(drop)
    }

    async fn repayments_lock(&mut self, round: BatchId) -> Result<Option<i64>> {
        let row = self.one(sqlx::query(LOCK).bind(round.uuid())).await?;
        row.map(|row| Fields::of(&row, "repayment").get("upto")).transpose()
    }

    async fn repayments_shares(&mut self, round: BatchId, upto: i64, limit: i64) -> Result<Vec<Share>> {
        let shares = sqlx::query(SHARES).bind(round.uuid()).bind(upto).bind(limit);
        self.read(shares, "span", share).await
    }

    async fn repayments_move(&mut self, round: BatchId, upto: i64) -> Result<()> {
        self.execute(sqlx::query(MOVE).bind(round.uuid()).bind(upto)).await.map(drop)
    }

    async fn repayments_end(&mut self, round: BatchId) -> Result<()> {
        self.execute(sqlx::query(END).bind(round.uuid())).await.map(drop)
    }

    async fn repayments_list(&mut self) -> Result<Vec<BatchId>> {
        self.read(sqlx::query(LIST), "repayment", |f| f.id("batch", BatchId::from_uuid)).await
    }
}
