//! The program with its fault points, for tests: `tessera-faults` says how they are armed.

use std::process::ExitCode;

fn main() -> ExitCode {
    tessera::main()
}
