//! `cargo xtask`: everything that is run on the repository, by people and by CI alike.
//!
//! `cargo xtask test` is the whole of it, cheapest first, stopping at the first failure; the other
//! commands are parts of that.

mod conformance;
mod repository;
mod steps;
mod tidy;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::repository::Repository;
use crate::steps::{STEPS, Step};

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  test [--skip STEP]... [--only STEP]...   everything CI runs, cheapest first
  tidy                                     rules about the source text that no compiler checks
  conformance [--skip STEP]...             build the server and run the official SDKs against it
  help                                     this text

steps of `test`, in order:";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        None => ("help", &[][..]),
        Some((command, rest)) => (command.as_str(), rest),
    };
    let repository = Repository::find()?;
    match command {
        "test" => steps::run(&repository, &chosen(STEPS.iter().collect(), rest)?),
        "tidy" => {
            no_arguments(rest)?;
            tidy::run(&repository)
        }
        "conformance" => {
            let steps = STEPS.iter().filter(|step| step.is_conformance).collect();
            steps::run(&repository, &chosen(steps, rest)?)
        }
        "help" | "--help" | "-h" => {
            let mut text = USAGE.to_string();
            for step in &STEPS {
                text.push_str(&format!("\n  {:12} {}", step.name, step.about));
            }
            writeln!(std::io::stdout(), "{text}")?;
            Ok(())
        }
        other => bail!("there is no command {other}, see `cargo xtask help`"),
    }
}

/// Applies `--skip` and `--only` to a list of steps.
fn chosen<'a>(steps: Vec<&'a Step>, arguments: &[String]) -> Result<Vec<&'a Step>> {
    let (mut skipped, mut only) = (Vec::new(), Vec::new());
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let (list, name) = match (argument.as_str(), arguments.next()) {
            ("--skip", Some(name)) => (&mut skipped, name.as_str()),
            ("--only", Some(name)) => (&mut only, name.as_str()),
            _ => bail!("argument {argument} is not understood, see `cargo xtask help`"),
        };
        if !STEPS.iter().any(|step| step.name == name) {
            bail!("there is no step {name}, see `cargo xtask help`");
        }
        list.push(name);
    }
    let is_chosen =
        |step: &&Step| !skipped.contains(&step.name) && (only.is_empty() || only.contains(&step.name));
    Ok(steps.into_iter().filter(is_chosen).collect())
}

fn no_arguments(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        None => Ok(()),
        Some(argument) => bail!("argument {argument} is not understood, see `cargo xtask help`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name() {
        let names = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            chosen(STEPS.iter().collect(), &arguments)
                .map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>().join(" "))
                .map_err(|error| error.to_string())
        };
        let all = names(&[]).unwrap();
        assert!(all.starts_with("fmt tidy clippy"), "{all}");
        assert_eq!(names(&["--only", "fmt", "--only", "tidy"]).unwrap(), "fmt tidy");
        assert!(!names(&["--skip", "crash"]).unwrap().contains("crash"));
        for wrong in [&["--skip"][..], &["--skip", "nothing"], &["fmt", "tidy"], &["--frobnicate", "fmt"]] {
            names(wrong).unwrap_err();
        }
    }
}
