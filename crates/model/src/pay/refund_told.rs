//! Refunds as they are told: that money was paid back, by an operator or by a provider's notice.
//!
//! Two witnesses tell of refunds. An operator confirms one under a reference of its own, which names it once per
//! provider; what an operator may confirm is money that is refund due or unmatched. A provider's notice names the
//! payment, and is itself named by its `webhook-id`, which the provider repeats when it sends the notice again; its money
//! is gone whatever we think of it, so it may take settled money too. When both tell of one refund it must not count
//! twice: a notice of exactly the amount that an operator confirmed, and that no notice has told of, is that refund.

use super::refund::take;
use super::{MoneyEntry, MoneyState, Portions};
use crate::ids::{OrderId, PaymentId};
use crate::text::Reference;

/// Who says that money went back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Teller {
    /// An operator, who names the refund.
    Operator,
    /// A provider's notice, named by its own id.
    Notice,
}

impl Teller {
    /// Every teller.
    pub const ALL: [Self; 2] = [Self::Operator, Self::Notice];

    /// The word in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Notice => "notice",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.as_str() == text)
    }

    /// What money a refund leaves, first the first. Short money is left to its order: it is not settled yet.
    const fn leaves(self) -> &'static [MoneyState] {
        match self {
            Self::Operator => &[MoneyState::RefundDue, MoneyState::Unmatched],
            Self::Notice => &[MoneyState::RefundDue, MoneyState::Settled, MoneyState::Unmatched],
        }
    }
}

/// A refund of a payment, as it was told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownRefund {
    /// The payment.
    pub payment: PaymentId,
    /// Who told of it.
    pub teller: Teller,
    /// Its name: the operator's, or the notice's id.
    pub reference: Reference,
    /// What was told, in minor units of the payment's currency.
    pub minor: i64,
    /// What of it moved; less than was told when less was there, nothing when an operator had confirmed it before.
    pub moved: i64,
    /// The operator's refund that a notice tells of again.
    pub repeats: Option<Reference>,
}

/// What is told now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Who tells.
    pub teller: Teller,
    /// Under what name.
    pub reference: Reference,
    /// How much; none for all that an operator may confirm.
    pub minor: Option<i64>,
}

/// What to write for a refund that is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefundVerdict {
    /// It is new: to be kept, with the money that moves.
    New {
        /// To be kept.
        refund: KnownRefund,
        /// The ledger's new lines; none when an operator had confirmed it, or nothing was there.
        entries: Vec<MoneyEntry>,
    },
    /// The same was told under this name; nothing changes.
    Repeated,
    /// The name is another refund's.
    ReferenceReused,
    /// More than may be confirmed: this much is there. Never of a notice.
    TooMuch {
        /// Refund due and unmatched.
        there: i64,
    },
}

/// Decides a refund of one payment that is told.
///
/// `known` are the payment's refunds, and whichever refund has the name. Portions and known refunds are brought up to
/// date, so that the next one of the set sees them.
pub fn refund_told(
    payment: PaymentId,
    order: Option<OrderId>,
    told: &Told,
    portions: &mut Portions,
    known: &mut Vec<KnownRefund>,
) -> RefundVerdict {
    let Told { teller, reference, minor } = told;
    // A provider's ids are looked for at their payment: some number the events of each payment.
    let same = |k: &&KnownRefund| {
        k.teller == *teller
            && k.reference == *reference
            && (*teller == Teller::Operator || k.payment == payment)
    };
    if let Some(before) = known.iter().find(same) {
        let alike = before.payment == payment && minor.is_none_or(|minor| minor == before.minor);
        return if alike { RefundVerdict::Repeated } else { RefundVerdict::ReferenceReused };
    }
    let there: i64 = teller.leaves().iter().filter_map(|state| portions.get(state)).sum();
    let minor = minor.unwrap_or(there);
    if *teller == Teller::Operator && (minor > there || minor <= 0) {
        return RefundVerdict::TooMuch { there };
    }
    let repeats = confirmed(payment, *teller, minor, known);
    let (entries, left) = match &repeats {
        Some(_) => (vec![], minor),
        None => take(payment, order, portions, minor, teller.leaves()),
    };
    let refund = KnownRefund {
        payment,
        teller: *teller,
        reference: reference.clone(),
        minor,
        moved: minor - left,
        repeats,
    };
    known.push(refund.clone());
    RefundVerdict::New { refund, entries }
}

/// The operator's refund of this amount that no notice has told of yet.
fn confirmed(payment: PaymentId, teller: Teller, minor: i64, known: &[KnownRefund]) -> Option<Reference> {
    let told = |reference: &Reference| {
        known.iter().any(|k| k.payment == payment && k.repeats.as_ref() == Some(reference))
    };
    let mut by_hand = known.iter().filter(|k| k.payment == payment && k.teller == Teller::Operator);
    let found = by_hand.find(|k| k.minor == minor && !told(&k.reference));
    found.filter(|_| teller == Teller::Notice).map(|k| k.reference.clone())
}
