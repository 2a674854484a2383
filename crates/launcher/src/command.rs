//! Commands that know nothing of the environment's settings, and where the program is.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

/// What the names of all variables begin with that the program takes options from.
const VARIABLES: &str = "ARMILLA_";

/// The variable that says what is logged.
const LOG_VARIABLE: &str = "RUST_LOG";

/// Returns a call of a program without what the environment sets for `armilla`: that is meant for other servers.
pub fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with(VARIABLES) || name == LOG_VARIABLE {
            command.env_remove(name);
        }
    }
    command
}

/// Returns the program that belongs to this one: `armilla` in the same folder.
pub fn sibling_program() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let program = own.with_file_name(format!("armilla{}", std::env::consts::EXE_SUFFIX));
    if !program.exists() {
        bail!("{} is not there: build the package armilla-server first, or give --bin", program.display());
    }
    Ok(program)
}
