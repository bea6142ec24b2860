//! The program that shops run.

use std::process::ExitCode;

fn main() -> ExitCode {
    tessera::main()
}
