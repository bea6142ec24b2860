//! The suites of the seams, run for every twin.

mod in_process;
mod postgres;
mod rabbitmq;
mod sqlite;
