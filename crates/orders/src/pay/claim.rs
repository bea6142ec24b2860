//! References first: each payment is taken once, whatever is redelivered.

use std::collections::{HashMap, HashSet};

use tessera_model::ids::PaymentId;
use tessera_model::pay::PaymentOutcome;
use tessera_model::text::{Provider, Reference};
use tessera_store::payments::{Notice, Payment};
use tessera_store::{Result, Tx};

use super::test_provider::Prepared;
use super::{Incoming, PayOutcome, contradiction};

/// One place an input: filled as soon as its outcome is known.
pub(super) type Outcomes = Vec<Option<PayOutcome>>;

/// Sorts inputs into payments to take, with their place in the set, and those answered already.
pub(super) fn split(
    inputs: &[Incoming],
    mut test: HashMap<PaymentId, Prepared>,
) -> (Outcomes, Vec<(usize, Payment)>) {
    let mut outcomes = vec![None; inputs.len()];
    let mut payments = Vec::with_capacity(inputs.len());
    for (at, incoming) in inputs.iter().enumerate() {
        let prepared = match incoming {
            Incoming::Notice { payment, .. } => Ok(payment.clone()),
            Incoming::Test(wish) => test.remove(&wish.payment).unwrap_or(Err(PayOutcome::NotFound)),
        };
        match prepared {
            Ok(payment) => payments.push((at, payment)),
            Err(outcome) => outcomes[at] = Some(outcome),
        }
    }
    (outcomes, payments)
}

/// Claims the references; returns the ids that are ours.
pub(super) async fn references(tx: &mut dyn Tx, payments: &[(usize, Payment)]) -> Result<HashSet<PaymentId>> {
    if payments.is_empty() {
        return Ok(HashSet::new());
    }
    let mut sorted: Vec<Payment> = payments.iter().map(|(_, payment)| payment.clone()).collect();
    sorted.sort_by(|a, b| (&a.provider, &a.reference).cmp(&(&b.provider, &b.reference)));
    Ok(tx.payments_claim(&sorted).await?.into_iter().collect())
}

/// Answers payments whose reference is known.
///
/// Comes after the set's late payments were put back: a repeat of one of those finds nothing, and is put back
/// with it. Answered as known before the payment is kept, it would end the provider's notices.
pub(super) async fn answer_repeated(
    tx: &mut dyn Tx,
    repeated: &[&(usize, Payment)],
    inputs: &[Incoming],
    outcomes: &mut Outcomes,
) -> Result<()> {
    if repeated.is_empty() {
        return Ok(());
    }
    let name = |p: &Payment| (p.provider.clone(), p.reference.clone());
    let names: HashSet<(Provider, Reference)> = repeated.iter().map(|(_, p)| name(p)).collect();
    let known: HashMap<_, Payment> = tx
        .payments_known(&names.into_iter().collect::<Vec<_>>())
        .await?
        .into_iter()
        .map(|p| (name(&p), p))
        .collect();
    let mut notices: Vec<Notice> = vec![];
    for (at, payment) in repeated {
        let Some(known) = known.get(&name(payment)) else {
            outcomes[*at] = Some(PayOutcome::Late);
            continue;
        };
        let same = known.amount == payment.amount && known.order_reference == payment.order_reference;
        let outcome = if same { PaymentOutcome::Duplicate } else { PaymentOutcome::Recorded };
        outcomes[*at] = Some(PayOutcome::Taken { outcome, paid: None, reason: None });
        if let (false, Incoming::Notice { notice, body, .. }) = (same, &inputs[*at]) {
            tracing::warn!(payment.id = %known.id, "a payment's reference came again with another amount or order");
            notices.push(contradiction(payment, known, *notice, body, tx));
        }
    }
    if notices.is_empty() { Ok(()) } else { tx.notices_put(&notices).await }
}
