//! Steps, one module each, over a whole shop in one process; and its HTTP interface.

mod http;
mod place;
