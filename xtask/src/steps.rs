//! The steps of `cargo xtask test`: run one after another, timed, until one fails.

use std::io::Write as _;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::conformance;
use crate::repository::Repository;
use crate::tidy;

/// One step.
pub(crate) struct Step {
    /// Its name on the command line.
    pub(crate) name: &'static str,
    /// What it does, in one line.
    pub(crate) about: &'static str,
    /// Whether it is part of `cargo xtask conformance`.
    pub(crate) is_conformance: bool,
    run: fn(&Repository) -> Result<()>,
}

/// Rounds of killing and checking that the crash test makes here.
const CRASH_ROUNDS: &str = "10";

/// Every step, cheapest first.
pub(crate) const STEPS: [Step; 9] = [
    Step {
        name: "fmt",
        about: "the source is formatted",
        is_conformance: false,
        run: |repository| execute(repository.cargo().args(["fmt", "--all", "--check"])),
    },
    Step { name: "tidy", about: "rules about the source text", is_conformance: false, run: tidy::run },
    Step {
        name: "clippy",
        about: "no warning anywhere",
        is_conformance: false,
        run: |repository| {
            let arguments = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
            execute(repository.cargo().args(arguments))
        },
    },
    Step {
        name: "unit",
        about: "cargo test of the whole workspace",
        is_conformance: false,
        run: |repository| execute(repository.cargo().args(["test", "--workspace"])),
    },
    Step {
        name: "build",
        about: "the server that the next steps run against",
        is_conformance: true,
        run: |repository| execute(repository.cargo().args(["build", "--package", "armilla-server"])),
    },
    Step {
        name: "python",
        about: "the Python SDK against the server",
        is_conformance: true,
        run: conformance::python,
    },
    Step {
        name: "js",
        about: "the JavaScript SDK against the server",
        is_conformance: true,
        run: conformance::javascript,
    },
    Step {
        name: "rust-sdk",
        about: "the Rust SDK against the server",
        is_conformance: true,
        run: conformance::rust,
    },
    Step {
        name: "crash",
        about: "the server is killed while it writes, and must have lost nothing",
        is_conformance: false,
        run: |repository| {
            let arguments = ["run", "--package", "armilla-crash", "--", "--rounds", CRASH_ROUNDS];
            execute(repository.cargo().args(arguments).env("ARMILLA_BIN", repository.server_binary()))
        },
    },
];

/// Runs steps until one fails, and says how long each took.
#[expect(clippy::disallowed_methods, reason = "the time that steps really take is what is wanted")]
pub(crate) fn run(repository: &Repository, steps: &[&Step]) -> Result<()> {
    let mut times: Vec<(&str, Duration)> = Vec::new();
    for step in steps {
        say(&format!("{}: {}", step.name, step.about))?;
        let start = Instant::now();
        let result = (step.run)(repository);
        let took = start.elapsed();
        times.push((step.name, took));
        if let Err(error) = result {
            summarize(&times)?;
            return Err(error.context(format!("step {} FAILED after {}", step.name, seconds(took))));
        }
        say(&format!("{}: ok, {}", step.name, seconds(took)))?;
    }
    summarize(&times)?;
    say(&format!("all {} steps ok", steps.len()))
}

/// Runs a command and fails unless it succeeds.
pub(crate) fn execute(command: &mut Command) -> Result<()> {
    let text = describe(command);
    let status = command.status().with_context(|| format!("cannot run `{text}`"))?;
    if !status.success() {
        bail!("`{text}` ended with {status}");
    }
    Ok(())
}

fn describe(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

fn summarize(times: &[(&str, Duration)]) -> Result<()> {
    for (name, took) in times {
        say(&format!("{name:12} {:>9}", seconds(*took)))?;
    }
    Ok(())
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// Writes a line that stands out among the output of the tools.
fn say(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "==> {text}")?;
    Ok(out.flush()?)
}
