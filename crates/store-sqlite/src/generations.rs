//! Generations. See [`GenerationOps`].

use async_trait::async_trait;
use tessera_store::Result;
use tessera_store::generations::GenerationOps;

use crate::tx::SqliteTx;

const HAD: &str = "SELECT 1 FROM recovered WHERE generation = ?1";
const END: &str = "\
    INSERT INTO recovered (generation, sets, burned, at) SELECT generation, sets, ?1, ?2 FROM store WHERE id = 1";
const BEGIN: &str = "UPDATE store SET generation = ?1 WHERE id = 1";

#[async_trait]
impl GenerationOps for SqliteTx {
    async fn generations_had(&mut self, generation: [u8; 16]) -> Result<bool> {
        self.one(sqlx::query(HAD).bind(generation.to_vec())).await.map(|row| row.is_some())
    }

    async fn generations_renew(&mut self, new: [u8; 16], burned: i64) -> Result<()> {
        self.execute(sqlx::query(END).bind(burned).bind(self.time().micros())).await?;
        self.execute(sqlx::query(BEGIN).bind(new.to_vec())).await.map(drop)
    }
}
