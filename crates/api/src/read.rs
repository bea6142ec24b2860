//! Orders as they are shown, read in sets with their codes opened; and products with their stock.

mod codes;
mod orders;
mod products;

pub use codes::{CodePage, IssuedCode, code_page};
pub use orders::{CODES_SHOWN_MAX, Each, OrderView, load, load_each, load_in};
pub use products::{ProductView, with_stock};
