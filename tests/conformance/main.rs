//! The suites of the seams, run for every twin.

mod in_process;
mod rabbitmq;
mod sqlite;
