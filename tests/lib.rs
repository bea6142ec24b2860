//! Tests above the unit; see `docs/testing.md`.
