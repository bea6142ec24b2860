//! HTTP: the real router over a whole shop, without a socket. Modules mirror the paths.

mod api;
mod ask;

mod products;
