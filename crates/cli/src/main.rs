//! The `sweepsort` command: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    sweepsort_cli::main()
}
