//! What operators' deeds come to, as problems with a remedy: the same words for commands and HTTP.

use tessera_model::order::OrderStatus as S;
use tessera_orders::operators::DeedOutcome;
use tessera_orders::refunds::RefundOutcome;

use crate::problem::{Problem, Slug};

/// What an operator does to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed {
    /// All of its money is to be paid back.
    Refund,
    /// What was paid is enough.
    Accept,
    /// It is not to be paid any more.
    Cancel,
}

impl Deed {
    /// True when it was done, false when it was so before.
    ///
    /// # Errors
    /// Why it was not done, and what to do instead.
    pub fn done(self, outcome: DeedOutcome) -> Result<bool, Problem> {
        match outcome {
            DeedOutcome::Done { .. } => Ok(true),
            DeedOutcome::Already(_) => Ok(false),
            DeedOutcome::NotFound => Err(Problem::new(Slug::NotFound, "there is no such order")),
            DeedOutcome::Refused(status) => {
                Err(Problem::new(self.slug(), format!("the order is {status}: {}", self.remedy(status))))
            }
            DeedOutcome::NothingPaid => {
                let detail = "none of the order's money is here: have the buyer pay, or cancel it";
                Err(Problem::new(self.slug(), detail))
            }
            DeedOutcome::SoldOut => {
                let detail =
                    "what the order held went to others: import codes, or leave its money refund due";
                Err(Problem::new(Slug::SoldOut, detail))
            }
            DeedOutcome::SharesFinal => {
                let detail = "the order has shares of a round that is not drawn: wait for the draw, or cancel the round";
                Err(Problem::new(self.slug(), detail))
            }
        }
    }

    const fn slug(self) -> Slug {
        match self {
            Self::Refund => Slug::OrderNotRefundable,
            Self::Accept => Slug::OrderNotAcceptable,
            Self::Cancel => Slug::OrderNotCancellable,
        }
    }

    const fn remedy(self, status: S) -> &'static str {
        match (self, status) {
            (Self::Refund, S::AwaitingPayment) => "cancel it instead",
            (Self::Refund, S::Expired | S::Cancelled) => "what was paid for it is refund due already",
            (Self::Accept, S::Paid | S::Backordered | S::Issued) => "it needs no acceptance",
            (Self::Cancel, S::Paid | S::Backordered | S::Issued) => "refund it instead",
            (Self::Cancel, S::Expired) => "its claim was released already",
            (Self::Refund | Self::Accept | Self::Cancel, _) => "its money is on its way back, which is final",
        }
    }
}

/// True when a confirmed refund moved money, false when it was known.
///
/// # Errors
/// Why it was not taken, and what to do instead.
pub fn refund_told(outcome: RefundOutcome) -> Result<bool, Problem> {
    match outcome {
        RefundOutcome::Kept { .. } => Ok(true),
        RefundOutcome::Repeated(_) => Ok(false),
        RefundOutcome::NotFound => Err(Problem::new(Slug::NotFound, "there is no such payment")),
        RefundOutcome::TooMuch { there: 0 } => {
            let detail = "nothing of the payment is to be paid back: refund its order first";
            Err(Problem::new(Slug::NotRefundDue, detail))
        }
        RefundOutcome::TooMuch { there } => {
            let detail = format!("only {there} of the payment is to be paid back: give at most that");
            Err(Problem::new(Slug::NotRefundDue, detail))
        }
        RefundOutcome::ReferenceReused | RefundOutcome::Recorded => {
            let detail =
                "the reference names another refund: give each its own, and a repeat the same amount";
            Err(Problem::new(Slug::ReferenceReused, detail))
        }
    }
}
