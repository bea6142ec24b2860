//! Recover: after a restore or a failover, what may have been seen is burned, and issuers may go on.

use std::collections::HashMap;
use std::sync::Arc;

use tessera_model::coupon::Format;
use tessera_model::ids::BatchId;
use tessera_model::product::Product;
use tessera_model::time::Timestamp;
use tessera_store::generations::Server;
use tessera_store::operators::AuditEntry;
use tessera_store::{Result, Store, StoreMeta, Tx, run_alone};

use crate::copies::{Seen, is_ahead};
use crate::rounds::Mint;

mod burn;
mod rounds;
mod skip;

/// Products that are read at a time.
const PAGE: i64 = 1_000;

/// What an operator says.
#[derive(Clone, Debug)]
pub struct Recover {
    /// Codes to burn of each open batch, at least: as many of one batch as may have been given out since the copy was made. If
    /// not said, [`MARGIN`] beyond what `seen` tells when it is ahead of the copy, else [`BURN`].
    pub burn: Option<i64>,
    /// Indexes of each coupon format to leave out, for pools that were opened since; if not said, a tenth of what is left of
    /// it, at most [`SKIP`]. Never less than the codes that were given out of batches which the copy does not know.
    pub skip: Option<i64>,
    /// What issuers have seen: each batch is burned as far, whatever `burn` says.
    pub seen: Vec<Seen>,
    /// Who.
    pub actor: String,
    /// Why, if they said.
    pub reason: Option<String>,
}

/// How much is burned unasked, where no issuer's note tells more than the copy does.
pub const BURN: i64 = 1_000;

/// How much is burned unasked beside what notes tell: codes that were given out in the last moment, or by an operator.
pub const MARGIN: i64 = 10;

/// The most indexes of a format that are left out unasked.
pub const SKIP: i64 = 100_000;

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Open batches, and how many positions of each were burned.
    pub burned: Vec<(BatchId, i64)>,
    /// Coupon formats, and how many indexes of each were left out.
    pub skipped: Vec<(Format, i64)>,
    /// Batches that issuers have seen and this copy does not know, and how many codes of each were given out.
    pub lost: Vec<(BatchId, i64)>,
    /// Rounds on sale in this copy that were seen to be sold out since, and are called off.
    pub called_off: Vec<BatchId>,
    /// The other rounds on sale in this copy: if one was drawn since, which no note tells, its winner was announced.
    pub rounds: Vec<BatchId>,
    /// Issuing sets that this copy knows of.
    pub sets: i64,
    /// The last payment that this copy knows of: from then on the provider's list has to be compared.
    pub last_payment: Option<Timestamp>,
    /// When: up to here.
    pub at: Timestamp,
}

impl Recovered {
    /// Nothing done yet.
    fn of(at: Timestamp) -> Self {
        let (burned, skipped, lost) = (vec![], vec![], vec![]);
        Self { burned, skipped, lost, called_off: vec![], rounds: vec![], sets: 0, last_payment: None, at }
    }
}

/// Burns positions of every open batch, leaves out indexes of every coupon format and renews the generation, with an audit
/// entry in the same transaction.
///
/// # Errors
/// The store's.
pub async fn recover(store: &Arc<dyn Store>, mint: &Mint, wish: Recover) -> Result<Recovered> {
    let (store, mint) = (Arc::clone(store), mint.clone());
    run_alone(async move {
        let server = store.server().await?;
        let mut tx = store.begin().await?;
        let recovered = run(&mut *tx, &mint, &wish, server).await?;
        tx.commit().await?;
        Ok(recovered)
    })
    .await
}

async fn run(tx: &mut dyn Tx, mint: &Mint, wish: &Recover, server: Option<Server>) -> Result<Recovered> {
    let formats = tx.formats_lock().await?;
    let products = products(tx).await?;
    tx.stock_lock(&products.iter().map(|product| product.id).collect::<Vec<_>>()).await?;
    let meta = tx.meta().await?;
    let mut done = Recovered::of(tx.now());
    let marks = burn::furthest(&wish.seen);
    let ids: Vec<BatchId> = marks.keys().copied().collect();
    let issued: HashMap<_, _> = tx.batches_issued(&ids, 0).await?.into_iter().collect();
    let lost = marks.iter().filter(|(batch, _)| !issued.contains_key(batch));
    done.lost = lost.map(|(batch, upto)| (*batch, *upto)).collect();
    let told = tell(tx, meta, &wish.seen, &issued).await?;
    let raffles = burn::batches(tx, &products, (wish, told), &marks, &mut done).await?;
    rounds::settle(tx, mint, (&products, wish), (raffles, &marks), &mut done).await?;
    skip::formats(tx, mint, &products, (formats, wish), &mut done).await?;
    renew(tx, mint.bytes(), wish, &done).await?;
    if let Some(server) = server {
        tx.server_put(server).await?;
    }
    done.sets = meta.sets;
    done.last_payment = tx.payments_list(None, None, 1).await?.first().map(|payment| payment.received_at);
    Ok(done)
}

async fn products(tx: &mut dyn Tx) -> Result<Vec<Product>> {
    let (mut found, mut before): (Vec<Product>, _) = (vec![], None);
    loop {
        let page = tx.products_list(before, PAGE).await?;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        found.extend(page);
    }
    found.sort_unstable_by_key(|product| product.id);
    Ok(found)
}

/// What notes tell of what was given out since the copy.
#[derive(Clone, Copy)]
struct Told {
    /// One is ahead of the copy.
    is_ahead: bool,
    /// None had to leave out batches.
    is_all: bool,
}

async fn tell(
    tx: &mut dyn Tx,
    meta: StoreMeta,
    seen: &[Seen],
    issued: &HashMap<BatchId, i64>,
) -> Result<Told> {
    let mut told = Told { is_ahead: false, is_all: !seen.iter().any(Seen::is_full) };
    for one in seen {
        told.is_ahead |= is_ahead(tx, meta, one, issued).await?;
    }
    Ok(told)
}

/// Another generation; all that issuers knew have ended, among them those that this copy is too old to know.
async fn renew(tx: &mut dyn Tx, generation: [u8; 16], wish: &Recover, done: &Recovered) -> Result<()> {
    let total = done.burned.iter().map(|(_, count)| count).sum();
    let others: Vec<_> = wish.seen.iter().map(|seen| seen.copy.generation).collect();
    tx.generations_renew(generation, &others, total).await?;
    let audit = AuditEntry {
        actor: wish.actor.clone(),
        action: "store.recover".to_owned(),
        subject: format!("{total} positions of {} batches burned", done.burned.len()),
        reason: wish.reason.clone(),
    };
    tx.audit_append(&[audit]).await
}
