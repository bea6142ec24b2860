//! Steps, one module each, over a whole shop in one process.

mod place;
