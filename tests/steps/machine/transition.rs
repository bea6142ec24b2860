//! What can happen to the machine's shop, and how a script says it.

use std::fmt::{Debug, Formatter, Result};

use super::catalogue::{ARTICLES, BUYERS};

/// One line of a script. Orders, payments and keys have small numbers of their own, given where they first occur.
#[derive(Clone)]
pub(super) struct Transition {
    pub(super) act: Act,
    pub(super) fault: Option<Fault>,
}

/// What goes wrong with the commit of an act that counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The store refuses it; nothing is done, and the caller is told so.
    Refused,
    /// The connection broke before it was done; the set runs again.
    DoubtNotDone,
    /// The connection broke after it was done; the set runs again.
    DoubtDone,
    /// It is done, and whoever asked never hears of it, as when the process dies there.
    Lost,
}

#[derive(Clone)]
pub(super) enum Act {
    /// One at the desk; several as one set.
    Place(Vec<New>),
    /// All of one order, at the desk at once.
    Pay(Vec<Payment>),
    Cancel(usize),
    /// What an operator does to an order.
    Deed(Deed, usize),
    /// That money of a payment went back.
    Told(Told),
    /// Seconds pass.
    Wait(u64),
    /// The housekeeper looks for ended holds, and is slow to act on what it saw.
    Look,
    /// It expires what it saw, and what it sees now.
    Expire,
    Import(File),
    /// A message is published, true or not.
    Tell(Work),
    Sweep,
    /// The serial issuer takes what the queue holds.
    Deliver,
    /// The issuer is killed in its set: after the commit, or else before.
    Kill {
        done: bool,
    },
    /// The queue loses its messages.
    Purge,
    /// The issue step runs over a set by itself.
    Issue(Vec<Work>),
    /// The process ends and another opens the same database.
    Crash,
}

/// A refund that is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Told {
    /// By an operator who confirms it, or else by its provider.
    pub(super) by_hand: bool,
    /// The payment's.
    pub(super) reference: usize,
    /// The refund's own, of a few.
    pub(super) name: u8,
    /// All that is to be paid back, if an operator does not say.
    pub(super) minor: Option<i64>,
}

/// Of operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Refund,
    Accept,
    Cancel,
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct New {
    pub(super) order: usize,
    pub(super) buyer: usize,
    /// Article and quantity; an article may come twice.
    pub(super) lines: Vec<(usize, i64)>,
    pub(super) key: Option<u8>,
}

#[derive(Clone)]
pub(super) enum Payment {
    /// A notice under a reference of its own.
    Notice { reference: usize, order: usize, sum: Sum, foreign: bool },
    /// A reference that is known comes again.
    Again { reference: usize, change: Change },
    /// By the `test` provider.
    Test { order: usize },
}

/// How much, measured by what the order costs.
#[derive(Clone, Copy)]
pub(super) enum Sum {
    Exact,
    /// What short payments left.
    Rest,
    Less(i64),
    More(i64),
}

/// How a notice differs from the first under its reference.
#[derive(Clone, Copy)]
pub(super) enum Change {
    None,
    More(i64),
    Order(usize),
}

/// A file of codes: new ones behind those of an earlier file.
#[derive(Clone)]
pub(super) struct File {
    pub(super) article: usize,
    pub(super) fresh: usize,
    /// Whose codes come again, and which.
    pub(super) again: Option<(usize, std::ops::Range<usize>)>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Order(usize),
    Stock(usize),
}

impl Debug for Transition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{:?}", self.act)?;
        self.fault.map_or(Ok(()), |fault| write!(f, ", its commit {fault:?}"))
    }
}

impl Debug for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            Self::Refused => "refused",
            Self::DoubtNotDone => "in doubt and not done",
            Self::DoubtDone => "in doubt and done",
            Self::Lost => "done and the answer lost",
        })
    }
}

impl Debug for Act {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Place(set) => all(f, "place", set),
            Self::Pay(set) => all(f, "pay", set),
            Self::Cancel(order) => write!(f, "cancel #{order}"),
            Self::Deed(deed, order) => write!(f, "an operator's {deed:?} of #{order}"),
            Self::Told(told) => write!(f, "{told:?}"),
            Self::Wait(seconds) if seconds % 60 == 0 => write!(f, "wait {} min", seconds / 60),
            Self::Wait(seconds) => write!(f, "wait {seconds} s"),
            Self::Look => f.write_str("look for ended holds"),
            Self::Expire => f.write_str("expire"),
            Self::Import(file) => write!(f, "import {file:?}"),
            Self::Tell(work) => write!(f, "tell {work:?}"),
            Self::Sweep => f.write_str("sweep"),
            Self::Deliver => f.write_str("deliver"),
            Self::Kill { done: false } => f.write_str("kill the issuer before its commit"),
            Self::Kill { done: true } => f.write_str("kill the issuer after its commit"),
            Self::Purge => f.write_str("purge the queue"),
            Self::Issue(works) => all(f, "issue", works),
            Self::Crash => f.write_str("crash and restart"),
        }
    }
}

impl Debug for Told {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let who = if self.by_hand { "an operator" } else { "the provider" };
        write!(f, "{who} tells of {:?} of p{} back as r{}", self.minor, self.reference, self.name)
    }
}

/// `verb this` or `verb this + that`.
fn all<T: Debug>(f: &mut Formatter<'_>, verb: &str, set: &[T]) -> Result {
    let each: Vec<String> = set.iter().map(|one| format!("{one:?}")).collect();
    write!(f, "{verb} {}", each.join(" + "))
}

impl Debug for New {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "#{} {}", self.order, BUYERS[self.buyer].name)?;
        for (article, quantity) in &self.lines {
            write!(f, " {}×{quantity}", ARTICLES[*article].sku)?;
        }
        self.key.map_or(Ok(()), |key| write!(f, " key k{key}"))
    }
}

impl Debug for Payment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Notice { reference, order, sum, foreign } => {
                let currency = if *foreign { " in USD" } else { "" };
                write!(f, "#{order} by p{reference} {sum:?}{currency}")
            }
            Self::Again { reference, change } => write!(f, "by p{reference} again{change:?}"),
            Self::Test { order } => write!(f, "#{order} by test"),
        }
    }
}

impl Debug for Sum {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Rest => f.write_str("the rest"),
            Self::Less(minor) => write!(f, "{minor} short"),
            Self::More(minor) => write!(f, "{minor} over"),
        }
    }
}

impl Debug for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::None => Ok(()),
            Self::More(minor) => write!(f, " with {minor} more"),
            Self::Order(order) => write!(f, " for #{order}"),
        }
    }
}

impl Debug for File {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} new", ARTICLES[self.article].sku, self.fresh)?;
        match &self.again {
            Some((article, codes)) => write!(f, " and {codes:?} of {} again", ARTICLES[*article].sku),
            None => Ok(()),
        }
    }
}

impl Debug for Work {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::Order(order) => write!(f, "#{order}"),
            Self::Stock(article) => write!(f, "stock of {}", ARTICLES[*article].sku),
        }
    }
}
