//! Orders as they are shown: read in sets, with their codes opened.

mod codes;
mod orders;

pub use codes::{CodePage, IssuedCode, code_page};
pub use orders::{CODES_SHOWN_MAX, Each, OrderView, load, load_each, load_in};
