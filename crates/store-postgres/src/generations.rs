//! Generations. See [`GenerationOps`].

use async_trait::async_trait;
use tessera_model::ids::BatchId;
use tessera_store::Result;
use tessera_store::generations::{GenerationOps, Server};

use crate::encode::column;
use crate::row::Fields;
use crate::tx::PostgresTx;

const HAD: &str = "SELECT 1 FROM recovered WHERE generation = $1";
const SUSPEND: &str = "UPDATE store SET suspended = true WHERE id = 1 AND NOT suspended";
const END: &str = "\
    INSERT INTO recovered (generation, sets, burned, at) SELECT generation, sets, $1, $2 FROM store WHERE id = 1";
/// Of others nothing but the generation is known here.
const END_OTHERS: &str = "\
    INSERT INTO recovered (generation, sets, burned, at) SELECT generation, 0, 0, $2 FROM unnest($1::bytea[]) AS j(generation)
    ON CONFLICT DO NOTHING";
const BEGIN: &str = "UPDATE store SET generation = $1, suspended = false WHERE id = 1";
const ISSUED: &str = "\
    SELECT id, issued FROM batch WHERE id = ANY($1) AND state <> 'loading'
    UNION
    (SELECT id, issued FROM batch WHERE state = 'open' AND issued > 0 ORDER BY id DESC LIMIT $2)";
const SEEN: &str = "SELECT system_id, timeline FROM store WHERE id = 1 AND system_id IS NOT NULL";
const PUT: &str = "UPDATE store SET system_id = $1, timeline = $2 WHERE id = 1";
/// The timeline of now, from the name of the log's segment: the control file's may be that before a promotion.
pub(crate) const SERVER: &str = "\
    SELECT system_identifier AS system_id,
        ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint AS timeline
    FROM pg_control_system()";

#[async_trait]
impl GenerationOps for PostgresTx {
    async fn generations_had(&mut self, generation: [u8; 16]) -> Result<bool> {
        self.one(sqlx::query(HAD).bind(generation.to_vec())).await.map(|row| row.is_some())
    }

    async fn generations_suspend(&mut self) -> Result<bool> {
        self.execute(sqlx::query(SUSPEND)).await.map(|changed| changed > 0)
    }

    async fn generations_renew(&mut self, new: [u8; 16], others: &[[u8; 16]], burned: i64) -> Result<()> {
        self.execute(sqlx::query(END).bind(burned).bind(self.at())).await?;
        let others = column(others, |generation| generation.to_vec());
        self.execute(sqlx::query(END_OTHERS).bind(others).bind(self.at())).await?;
        self.execute(sqlx::query(BEGIN).bind(new.to_vec())).await.map(drop)
    }

    async fn batches_issued(&mut self, batches: &[BatchId], limit: i64) -> Result<Vec<(BatchId, i64)>> {
        let wanted = column(batches, |batch| batch.uuid());
        let value = |f: &Fields<'_>| Ok((f.id("id", BatchId::from_uuid)?, f.get("issued")?));
        self.read(sqlx::query(ISSUED).bind(wanted).bind(limit), "batch", value).await
    }

    async fn server_seen(&mut self) -> Result<Option<Server>> {
        Ok(self.read(sqlx::query(SEEN), "store", server).await?.pop())
    }

    async fn server_put(&mut self, server: Server) -> Result<()> {
        self.execute(sqlx::query(PUT).bind(server.system_id).bind(server.timeline)).await.map(drop)
    }
}

/// A row of both.
pub(crate) fn server(fields: &Fields<'_>) -> Result<Server> {
    Ok(Server { system_id: fields.get("system_id")?, timeline: fields.get("timeline")? })
}
