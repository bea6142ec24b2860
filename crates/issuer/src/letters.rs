//! Dead letters: what cannot be issued is written down, with the reason, before its message is acknowledged.

use std::sync::Arc;

use tessera_broker::Delivery;
use tessera_model::ids::{LetterId, OrderId};
use tessera_store::letters::Letter;
use tessera_store::{Entropy, Result, Store, run_alone};

/// One failure to write down.
pub(crate) struct Failed<'d> {
    pub(crate) delivery: &'d Delivery,
    pub(crate) order: Option<OrderId>,
    pub(crate) reason: String,
    pub(crate) fingerprint: String,
    pub(crate) attempts: i64,
}

/// Writes letters in a transaction of their own.
pub(crate) async fn write(
    store: &Arc<dyn Store>,
    entropy: &Arc<Entropy>,
    failed: &[Failed<'_>],
) -> Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    let drafts: Vec<_> = failed.iter().map(draft).collect();
    let (store, entropy) = (Arc::clone(store), Arc::clone(entropy));
    run_alone(async move {
        let mut tx = store.begin().await?;
        let now = tx.now();
        let dated = |letter: Letter| letter.failed_at(now, LetterId::new(now, entropy.bytes()));
        let letters: Vec<Letter> = drafts.into_iter().map(dated).collect();
        tx.letters_put(&letters).await?;
        let tried: Vec<OrderId> = letters.iter().filter_map(|l| l.order).collect();
        tx.attempts_clear(&tried).await?;
        tx.commit().await
    })
    .await?;
    for letter in failed {
        tracing::error!(
            order.id = letter.order.map(tracing::field::display),
            reason = letter.reason,
            "a message became a dead letter"
        );
    }
    Ok(())
}

/// A letter but for its id and times, which are the transaction's.
fn draft(failed: &Failed<'_>) -> Letter {
    let Failed { delivery, order, reason, fingerprint, attempts } = failed;
    Letter {
        order: *order,
        reason: reason.clone(),
        fingerprint: fingerprint.clone(),
        attempts: *attempts,
        ..Letter::about(delivery.message_id.as_deref(), delivery.kind.as_deref(), &delivery.body)
    }
}
