//! What a draw promises.
