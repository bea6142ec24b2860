//! Spans: the chain of half-open intervals that says which codes of a batch went where.

use crate::ids::{BatchId, OrderId};

/// What a span did with its positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// The chain's first link `(NULL, 0)`, written when the batch opens.
    Anchor,
    /// Issued to a line of an order.
    Issue,
    /// Issued to a line in the place of codes that did not work.
    Replacement,
    /// Never to be sold.
    Void,
    /// May have been seen by a buyer that a restored database has forgotten.
    Burn,
}

impl SpanKind {
    /// The word in SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::Issue => "issue",
            Self::Replacement => "replacement",
            Self::Void => "void",
            Self::Burn => "burn",
        }
    }

    /// Reads the word.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Anchor, Self::Issue, Self::Replacement, Self::Void, Self::Burn]
            .into_iter()
            .find(|k| k.as_str() == text)
    }
}

/// The line of an order that a span belongs to. `part` counts its spans from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// The order.
    pub order: OrderId,
    /// The line's number.
    pub line: i32,
    /// Which of the line's spans this is.
    pub part: i32,
}

/// Positions `[start, upto)` of a batch. The anchor alone has no start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The batch.
    pub batch: BatchId,
    /// The first position.
    pub start: i64,
    /// The first position after it.
    pub upto: i64,
    /// The batch's size, repeated so that the database can bound `upto` by it.
    pub size: i64,
    /// What it did.
    pub kind: SpanKind,
    /// Whose it is, for issues and replacements.
    pub owner: Option<Owner>,
}
