//! Fault points: named places where a test may kill, freeze or fail a process, and breaks that a test must notice.
//!
//! Without the feature `on`, which only test builds have, every function here is a constant and the optimiser leaves
//! nothing of it. With it, variables of the environment say what is to happen, for the life of the process:
//!
//! - `TEST_FAULT=WHO/AT=HOW[@N]`: at the N-th (first) time the point is reached, `kill`, `freeze` or `fail`. WHO and AT
//!   are of [`POINTS`]: `place/BeforeCommit=kill`. Standard error then has the line `fault point WHO/AT: HOW`.
//! - `TEST_BREAK=BREAK`: the program is wrong in one way of [`Break`], from its start.
//! - `TEST_SWEEPER=rests`: the sweeper waits for an hour, so that it hides nothing that others should have done.

#[cfg(feature = "on")]
mod armed;

/// What is about to happen at a point, or has just happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// A transaction is about to be committed.
    BeforeCommit,
    /// It is committed, and nobody knows.
    AfterCommit,
    /// Messages are about to be handed to the broker.
    BeforePublish,
    /// They are on their way, and not confirmed.
    AfterPublish,
    /// The broker has confirmed them.
    AfterConfirm,
    /// Deliveries are done, and not acknowledged.
    BeforeAcknowledge,
    /// They are acknowledged.
    AfterAcknowledge,
    /// A request is done, and nothing of its answer is sent. After it the client knows: a test kills the process itself.
    BeforeAnswer,
}

/// A way in which a program can be wrong, for a suite to notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Break {
    /// The sweeper finds nothing.
    SweeperOff,
    /// An order is issued whatever its state is.
    IssueWithoutStateGuard,
    /// A hold that was due when it was read is released, whatever happened to the order since.
    ReleaseWithoutRecheck,
    /// A late payment that is honoured raises no claim.
    LatePaymentRaisesNoClaim,
    /// What an order is decided on is read no later than the lock is asked for.
    DecisionReadWithTheLock,
    /// Releasing locks orders before stock and customers.
    LockOrderReversed,
    /// Deliveries are acknowledged before their set is committed.
    AcknowledgeBeforeCommit,
    /// A message that the broker returned counts as published.
    ReturnedIsPublished,
}

/// Every way.
pub const BREAKS: &[Break] = &[
    Break::SweeperOff,
    Break::IssueWithoutStateGuard,
    Break::ReleaseWithoutRecheck,
    Break::LatePaymentRaisesNoClaim,
    Break::DecisionReadWithTheLock,
    Break::LockOrderReversed,
    Break::AcknowledgeBeforeCommit,
    Break::ReturnedIsPublished,
];

/// Every point: whose it is, and where in its work.
pub const POINTS: &[(&str, At)] = &[
    ("place", At::BeforeCommit),
    ("place", At::AfterCommit),
    ("place", At::BeforeAnswer),
    ("pay", At::BeforeCommit),
    ("pay", At::AfterCommit),
    ("pay", At::BeforeAnswer),
    ("pay-late", At::BeforeCommit),
    ("pay-late", At::AfterCommit),
    ("cancel", At::BeforeCommit),
    ("cancel", At::AfterCommit),
    ("cancel", At::BeforeAnswer),
    ("expire", At::BeforeCommit),
    ("expire", At::AfterCommit),
    ("refund", At::BeforeCommit),
    ("refund", At::AfterCommit),
    ("accept", At::BeforeCommit),
    ("accept", At::AfterCommit),
    ("cancel-for", At::BeforeCommit),
    ("cancel-for", At::AfterCommit),
    ("paid-back", At::BeforeCommit),
    ("paid-back", At::AfterCommit),
    ("replace", At::BeforeCommit),
    ("replace", At::AfterCommit),
    ("void", At::BeforeCommit),
    ("void", At::AfterCommit),
    ("publish", At::BeforePublish),
    ("publish", At::AfterPublish),
    ("publish", At::AfterConfirm),
    ("issue", At::BeforeCommit),
    ("issue", At::AfterCommit),
    ("issue", At::BeforeAcknowledge),
    ("issue", At::AfterAcknowledge),
    ("draw", At::BeforeCommit),
    ("draw", At::AfterCommit),
    ("call-off", At::BeforeCommit),
    ("call-off", At::AfterCommit),
    ("import-begin", At::BeforeCommit),
    ("import-begin", At::AfterCommit),
    ("import-part", At::BeforeCommit),
    ("import-part", At::AfterCommit),
    ("import-open", At::BeforeCommit),
    ("import-open", At::AfterCommit),
];

/// A point is reached. Does what a test has armed there; true if what is done there has to fail.
#[must_use]
#[inline]
pub fn point(who: &str, at: At) -> bool {
    #[cfg(feature = "on")]
    return armed::reached(who, at);
    #[cfg(not(feature = "on"))]
    {
        let _ = (who, at);
        false
    }
}

/// Whether the sweeper is to wait for an hour.
#[must_use]
#[inline]
pub fn sweeper_rests() -> bool {
    #[cfg(feature = "on")]
    return armed::sweeper_rests();
    #[cfg(not(feature = "on"))]
    false
}

/// Whether the program is to be wrong in this way.
#[must_use]
#[inline]
pub fn broken(way: Break) -> bool {
    #[cfg(feature = "on")]
    return armed::broken(way);
    #[cfg(not(feature = "on"))]
    {
        let _ = way;
        false
    }
}
