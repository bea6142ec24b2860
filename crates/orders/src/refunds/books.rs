//! What a set of refunds is decided on, under its locks, and what it comes to.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tessera_model::ids::{OrderId, PaymentId};
use tessera_model::order::{Order, OrderEvent, OrderStatus};
use tessera_model::pay::{
    KnownRefund, MoneyEntry, Portions, RefundVerdict, Teller, Told, nothing_left, refund_told,
};
use tessera_model::text::{Provider, Reason, Reference};
use tessera_store::operators::AuditEntry;
use tessera_store::orders::Advance;
use tessera_store::payments::Notice;
use tessera_store::refunds::StoredPayment;
use tessera_store::{Result, Tx};

use super::{RefundNotice, RefundOutcome, RefundTold, notice};
use crate::ledger::portions_of_orders;

type Name = (Provider, Reference);

pub(super) struct Books {
    payments: BTreeMap<PaymentId, StoredPayment>,
    named: HashMap<Name, PaymentId>,
    orders: BTreeMap<OrderId, Order>,
    of_order: BTreeMap<OrderId, Vec<PaymentId>>,
    money: BTreeMap<PaymentId, Portions>,
    /// By provider: each has names of its own.
    known: HashMap<Provider, Vec<KnownRefund>>,
    refunds: Vec<(Provider, KnownRefund)>,
    entries: Vec<MoneyEntry>,
    audit: Vec<AuditEntry>,
    notices: Vec<Notice>,
    now: tessera_model::time::Timestamp,
}

impl Books {
    /// Reads which payments are meant, locks their orders and then them, and reads again.
    pub(super) async fn open(tx: &mut dyn Tx, inputs: &[RefundTold]) -> Result<Self> {
        let named = named(tx, inputs).await?;
        let mut ids: BTreeSet<PaymentId> = named.values().copied().collect();
        ids.extend(inputs.iter().filter_map(|told| match told {
            RefundTold::Confirmed { payment, .. } => Some(*payment),
            RefundTold::Notice(_) => None,
        }));
        let ids: Vec<PaymentId> = ids.into_iter().collect();
        // A payment is matched by the transaction that takes it, and never again.
        let payments = tx.payments_read(&ids).await?;
        let of: BTreeSet<OrderId> = payments.iter().filter_map(|stored| stored.order).collect();
        let of: Vec<OrderId> = of.into_iter().collect();
        let orders = tx.orders_lock(&of).await?.into_iter().map(|o| (o.id, o)).collect();
        tx.payments_lock(&ids).await?;
        let payments: BTreeMap<_, _> = payments.into_iter().map(|s| (s.payment.id, s)).collect();
        let known = known(tx, inputs, &payments).await?;
        let (mut money, mut of_order) = (BTreeMap::new(), BTreeMap::new());
        for (order, portions) in portions_of_orders(tx, &of).await? {
            of_order.insert(order, portions.keys().copied().collect());
            money.extend(portions);
        }
        for (payment, state, minor) in tx.portions_of(&ids).await? {
            money.entry(payment).or_insert_with(Portions::new).insert(state, minor);
        }
        let (refunds, entries, audit, notices) = (vec![], vec![], vec![], vec![]);
        let now = tx.now();
        Ok(Self { payments, named, orders, of_order, money, known, refunds, entries, audit, notices, now })
    }

    pub(super) fn tell(&mut self, told: &RefundTold) -> RefundOutcome {
        match told {
            RefundTold::Confirmed { payment, reference, minor, actor, reason } => {
                let (teller, reference) = (Teller::Operator, reference.clone());
                self.confirm(*payment, &Told { teller, reference, minor: *minor }, (actor, reason.as_ref()))
            }
            RefundTold::Notice(notice) => self.notify(notice),
        }
    }

    fn confirm(
        &mut self,
        payment: PaymentId,
        told: &Told,
        (actor, reason): (&str, Option<&Reason>),
    ) -> RefundOutcome {
        match self.decide(payment, told) {
            None => RefundOutcome::NotFound,
            Some(RefundVerdict::New { refund, .. }) => {
                let said = format!("{} as {}", refund.minor, refund.reference);
                self.audit.push(AuditEntry {
                    actor: actor.to_owned(),
                    action: "payment.refunded".to_owned(),
                    subject: payment.to_string(),
                    reason: Some(reason.map_or(said.clone(), |reason| format!("{reason} ({said})"))),
                });
                RefundOutcome::Kept { payment, moved: refund.moved, fits: true }
            }
            Some(RefundVerdict::Repeated) => RefundOutcome::Repeated(payment),
            Some(RefundVerdict::ReferenceReused) => RefundOutcome::ReferenceReused,
            Some(RefundVerdict::TooMuch { there }) => RefundOutcome::TooMuch { there },
        }
    }

    fn notify(&mut self, said: &RefundNotice) -> RefundOutcome {
        let name = (said.provider.clone(), said.payment.clone());
        let stored = self.named.get(&name).and_then(|id| self.payments.get(id));
        let stored = match notice::fits(said, stored) {
            Ok(stored) => stored.payment.id,
            Err(reason) => return self.keep(said, reason),
        };
        let (teller, reference, minor) = (Teller::Notice, said.message.clone(), Some(said.amount.minor));
        match self.decide(stored, &Told { teller, reference, minor }) {
            Some(RefundVerdict::New { refund, .. }) => {
                let left = if refund.repeats.is_some() { 0 } else { refund.minor - refund.moved };
                if left > 0 {
                    self.keep(said, notice::too_much(said, left));
                }
                tracing::warn!(payment.id = %stored, minor = refund.moved, left, "a payment was paid back, says its provider");
                RefundOutcome::Kept { payment: stored, moved: refund.moved, fits: left == 0 }
            }
            Some(RefundVerdict::Repeated) => RefundOutcome::Repeated(stored),
            Some(RefundVerdict::ReferenceReused | RefundVerdict::TooMuch { .. }) | None => {
                self.keep(said, notice::reused(said))
            }
        }
    }

    /// The verdict on a payment that is there; what it writes is noted.
    fn decide(&mut self, payment: PaymentId, told: &Told) -> Option<RefundVerdict> {
        let stored = self.payments.get(&payment)?;
        let portions = self.money.entry(payment).or_default();
        let known = self.known.entry(stored.payment.provider.clone()).or_default();
        let verdict = refund_told(payment, stored.order, told, portions, known);
        if let RefundVerdict::New { refund, entries } = &verdict {
            self.refunds.push((stored.payment.provider.clone(), refund.clone()));
            self.entries.extend(entries.iter().copied());
        }
        Some(verdict)
    }

    fn keep(&mut self, said: &RefundNotice, reason: String) -> RefundOutcome {
        tracing::warn!(notice.id = %said.notice, reason, "a refund notice does not fit and was kept");
        self.notices.push(Notice {
            id: said.notice,
            provider: said.provider.clone(),
            reason,
            body: said.body.clone(),
            received_at: self.now,
        });
        RefundOutcome::Recorded
    }

    pub(super) async fn write(self, tx: &mut dyn Tx) -> Result<()> {
        let advances = self.completed();
        if !self.refunds.is_empty() {
            tx.refunds_put(&self.refunds).await?;
        }
        if !self.entries.is_empty() {
            tx.money_append(&self.entries).await?;
        }
        if !advances.is_empty() {
            tx.orders_advance(&advances).await?;
        }
        if !self.audit.is_empty() {
            tx.audit_append(&self.audit).await?;
        }
        if self.notices.is_empty() { Ok(()) } else { tx.notices_put(&self.notices).await }
    }

    /// Orders that are `refund_due`, of which nothing is left.
    fn completed(&self) -> Vec<Advance> {
        let due = self.orders.values().filter(|order| order.state.status() == OrderStatus::RefundDue);
        let left = |order: &OrderId| {
            let payments = self.of_order.get(order).into_iter().flatten();
            nothing_left(&payments.filter_map(|id| Some((*id, self.money.get(id)?.clone()))).collect())
        };
        due.filter(|order| left(&order.id))
            .filter_map(|order| {
                let state = order.state.after(OrderEvent::RefundCompleted, self.now).ok()?;
                Some(Advance { id: order.id, version: order.version, state })
            })
            .collect()
    }
}

/// The payments that notices name.
async fn named(tx: &mut dyn Tx, inputs: &[RefundTold]) -> Result<HashMap<Name, PaymentId>> {
    let names: BTreeSet<Name> = inputs
        .iter()
        .filter_map(|told| match told {
            RefundTold::Notice(said) => Some((said.provider.clone(), said.payment.clone())),
            RefundTold::Confirmed { .. } => None,
        })
        .collect();
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let known = tx.payments_known(&names.into_iter().collect::<Vec<_>>()).await?;
    Ok(known.into_iter().map(|p| ((p.provider, p.reference), p.id)).collect())
}

/// The refunds of these payments, and whichever have the names that operators give; by provider.
async fn known(
    tx: &mut dyn Tx,
    inputs: &[RefundTold],
    payments: &BTreeMap<PaymentId, StoredPayment>,
) -> Result<HashMap<Provider, Vec<KnownRefund>>> {
    let provider = |id: &PaymentId| payments.get(id).map(|stored| stored.payment.provider.clone());
    let mut known: HashMap<Provider, Vec<KnownRefund>> = HashMap::new();
    for refund in tx.refunds_of(&payments.keys().copied().collect::<Vec<_>>()).await? {
        if let Some(provider) = provider(&refund.payment) {
            known.entry(provider).or_default().push(refund);
        }
    }
    let names: BTreeSet<Name> = inputs
        .iter()
        .filter_map(|told| match told {
            RefundTold::Confirmed { payment, reference, .. } => Some((provider(payment)?, reference.clone())),
            RefundTold::Notice(_) => None,
        })
        .collect();
    if names.is_empty() {
        return Ok(known);
    }
    for (provider, refund) in tx.refunds_named(&names.into_iter().collect::<Vec<_>>()).await? {
        if !payments.contains_key(&refund.payment) {
            known.entry(provider).or_default().push(refund);
        }
    }
    Ok(known)
}
