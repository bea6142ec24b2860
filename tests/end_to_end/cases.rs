//! What went wrong in other shops, where the real program is the point. The list with all of them is `docs/cases.md`.

mod stock;
mod worker;
