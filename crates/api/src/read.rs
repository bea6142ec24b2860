//! Orders as they are shown, read in sets with their codes opened; products with their stock, and payments.

mod codes;
mod history;
mod marks;
mod orders;
mod payments;
mod products;

pub use codes::{BatchCode, CodePage, IssuedCode, batch_codes, code_page};
pub use history::{Happened, history};
pub use marks::CodeMark;
pub use orders::{CODES_SHOWN_MAX, Each, OrderView, load, load_each, load_in, load_listed};
pub use payments::{PaymentView, payment, payments};
pub use products::{ProductView, with_stock};
