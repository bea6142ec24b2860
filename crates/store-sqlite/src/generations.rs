//! Generations. See [`GenerationOps`].

use async_trait::async_trait;
use tessera_model::ids::BatchId;
use tessera_store::Result;
use tessera_store::generations::{GenerationOps, Server};

use crate::encode::{hex, id, set};
use crate::row::Fields;
use crate::tx::SqliteTx;

const HAD: &str = "SELECT 1 FROM recovered WHERE generation = ?1";
const SUSPEND: &str = "UPDATE store SET suspended = 1 WHERE id = 1 AND suspended = 0";
const END: &str = "\
    INSERT INTO recovered (generation, sets, burned, at) SELECT generation, sets, ?1, ?2 FROM store WHERE id = 1";
/// Of others nothing but the generation is known here.
const END_OTHERS: &str = "\
    INSERT INTO recovered (generation, sets, burned, at) SELECT unhex(value), 0, 0, ?2 FROM json_each(?1)
    WHERE true ON CONFLICT DO NOTHING";
const BEGIN: &str = "UPDATE store SET generation = ?1, suspended = 0 WHERE id = 1";
const ISSUED: &str = "\
    SELECT b.id, b.issued FROM json_each(?1) j JOIN batch b ON b.id = unhex(j.value) WHERE b.state <> 'loading'
    UNION
    SELECT id, issued FROM (SELECT id, issued FROM batch WHERE state = 'open' AND issued > 0 ORDER BY id DESC LIMIT ?2)";

#[async_trait]
impl GenerationOps for SqliteTx {
    async fn generations_had(&mut self, generation: [u8; 16]) -> Result<bool> {
        self.one(sqlx::query(HAD).bind(generation.to_vec())).await.map(|row| row.is_some())
    }

    async fn generations_suspend(&mut self) -> Result<bool> {
        self.execute(sqlx::query(SUSPEND)).await.map(|changed| changed > 0)
    }

    async fn generations_renew(&mut self, new: [u8; 16], others: &[[u8; 16]], burned: i64) -> Result<()> {
        let at = self.time().micros();
        self.execute(sqlx::query(END).bind(burned).bind(at)).await?;
        let others = set(others.iter().map(|generation| hex(generation)))?;
        self.execute(sqlx::query(END_OTHERS).bind(others).bind(at)).await?;
        self.execute(sqlx::query(BEGIN).bind(new.to_vec())).await.map(drop)
    }

    async fn batches_issued(&mut self, batches: &[BatchId], limit: i64) -> Result<Vec<(BatchId, i64)>> {
        let wanted = set(batches.iter().map(|batch| id(batch.uuid())))?;
        let value = |f: &Fields<'_>| Ok((f.id("id", BatchId::from_uuid)?, f.get("issued")?));
        self.read(sqlx::query(ISSUED).bind(wanted).bind(limit), "batch", value).await
    }

    async fn server_seen(&mut self) -> Result<Option<Server>> {
        Ok(None)
    }

    async fn server_put(&mut self, _server: Server) -> Result<()> {
        Ok(())
    }
}
