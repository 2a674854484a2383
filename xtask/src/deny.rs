//! The step `deny`: `deny.toml` against `Cargo.lock`, by cargo-deny.
//!
//! Licences, banned packages and sources need nothing but this machine. Advisories need a database that is fetched from
//! elsewhere; where it cannot be, they are left out with a word, because a test command must not depend on a server that
//! is not ours.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::Result;

use crate::repository::Repository;
use crate::steps::execute;
use crate::tools::{CargoTool, cargo_tool};

/// The version that is installed. Others may read `deny.toml` otherwise.
const CARGO_DENY: CargoTool = CargoTool { name: "cargo-deny", version: "0.19.0" };

/// What is checked without a network.
const LOCAL_CHECKS: [&str; 3] = ["bans", "licenses", "sources"];

/// Runs the step.
pub(crate) fn run(repository: &Repository) -> Result<()> {
    let program = cargo_tool(repository, CARGO_DENY)?;
    execute(deny(repository, &program).args(["check", "--hide-inclusion-graph"]).args(LOCAL_CHECKS))?;
    let is_fetched = deny(repository, &program).args(["fetch", "db"]).status().is_ok_and(|s| s.success());
    if !is_fetched {
        let message = "advisories are NOT checked: their database cannot be fetched";
        return Ok(writeln!(std::io::stderr(), "{message}")?);
    }
    execute(deny(repository, &program).args(["check", "--disable-fetch", "advisories"]))
}

fn deny(repository: &Repository, program: &Path) -> Command {
    let mut command = Command::new(program);
    // What is only seen, such as two versions of one package, would hide what is refused.
    command.current_dir(repository.path("")).args(["--log-level", "error"]);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_of_the_configuration_is_checked() {
        let text = std::fs::read_to_string(Repository::find().unwrap().path("deny.toml")).unwrap();
        let sections: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix('[')?.strip_suffix(']')).collect();
        for section in sections {
            let is_checked = LOCAL_CHECKS.contains(&section) || ["advisories", "graph"].contains(&section);
            assert!(is_checked, "{section}");
        }
    }
}
