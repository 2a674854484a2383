//! A worker as a program of its own, for the tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    armilla_script_worker::main()
}
