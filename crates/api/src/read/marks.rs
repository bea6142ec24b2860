//! Codes that were voided after an order got them.

use std::collections::HashMap;

use tessera_model::ids::OrderId;
use tessera_store::batches::IssuedSpan;

use super::IssuedCode;

/// Whether a code that an order has is good, as far as we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeMark {
    /// It is.
    Issued,
    /// It did not work, and another code of the line stands in its place.
    Replaced,
    /// It was taken back.
    Voided,
}

impl CodeMark {
    /// The word in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Issued => "issued",
            Self::Replaced => "replaced",
            Self::Voided => "voided",
        }
    }
}

/// The codes that are not good, by order, line and position in the line; hardly ever any.
pub(super) type Marks = HashMap<(OrderId, i32, i64), CodeMark>;

/// The marks of spans that are sorted by order, line and part.
pub(super) fn marks(spans: &[IssuedSpan]) -> Marks {
    let mut marks = Marks::new();
    let mut before: HashMap<(OrderId, i32), i64> = HashMap::new();
    for span in spans {
        let (order, line) = (span.owner.order, span.owner.line);
        let before = before.entry((order, line)).or_default();
        for place in &span.voided {
            let mark = if span.replaced.contains(place) { CodeMark::Replaced } else { CodeMark::Voided };
            marks.insert((order, line, *before + place - span.start + 1), mark);
        }
        *before += span.upto - span.start;
    }
    marks
}

/// The code with its mark, if it has one.
pub(super) fn marked(code: IssuedCode, order: OrderId, marks: &Marks) -> IssuedCode {
    let mark = marks.get(&(order, code.line, code.position)).copied();
    IssuedCode { state: mark.unwrap_or(code.state), ..code }
}
