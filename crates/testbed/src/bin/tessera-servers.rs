//! Finds or starts PostgreSQL and RabbitMQ for tests; see [`tessera_testbed::servers::holder`].

fn main() -> std::process::ExitCode {
    tessera_testbed::servers::holder::main()
}
