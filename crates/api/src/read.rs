//! Orders as they are shown, read in sets with their codes opened; products with their stock, and payments.

mod codes;
mod orders;
mod payments;
mod products;

pub use codes::{CodePage, IssuedCode, code_page};
pub use orders::{CODES_SHOWN_MAX, Each, OrderView, load, load_each, load_in};
pub use payments::{PaymentView, payment, payments};
pub use products::with_stock;
