//! The steps of `cargo xtask test`: run one after another, timed, until one fails.

use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::conformance;
use crate::deny;
use crate::explorer;
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
    /// Whether it runs the server that the step `build` makes.
    pub(crate) needs_server: bool,
    run: fn(&Repository) -> Result<()>,
}

/// The name of the step that builds the server.
pub(crate) const BUILD: &str = "build";

/// The package that kills servers, with its program of the same name, and its program that reads change feeds.
pub(crate) const CRASH: &str = "armilla-crash";
pub(crate) const FEEDS: &str = "armilla-feeds";

/// The package that attacks servers, with its program of the same name.
pub(crate) const HOSTILE: &str = "armilla-hostile";
/// The package that damages data folders, with its program of the same name.
pub(crate) const DAMAGE: &str = "armilla-damage";

/// The package that measures.
pub(crate) const BENCH: &str = "armilla-bench";

/// Builds the server with the store on object storage.
const OBJECT_STORAGE: [&str; 2] = ["--features", "armilla-server/object-storage"];

/// The package that measures stores alone: with it, the others would be built with SlateDB.
pub(crate) const BENCH_STORES: &str = "armilla-bench-stores";

/// Rounds of killing and checking that the crash test makes here: without splits, with them, and on an object store.
const CRASH_ROUNDS: &str = "10";
const SPLIT_ROUNDS: &str = "6";
const STORE_ROUNDS: &str = "4";

/// Histories in which change feeds are read here.
const FEED_HISTORIES: &str = "300";

/// Data folders that are damaged here.
const DAMAGE_CASES: &str = "40";

/// Every step, cheapest first.
pub(crate) const STEPS: [Step; 19] = [
    plain("fmt", "the source is formatted", |repository| {
        execute(repository.cargo().args(["fmt", "--all", "--check"]))
    }),
    plain("tidy", "rules about the source text", tidy::run),
    plain("clippy", "no warning anywhere", |repository| {
        // Without object storage, as it is built unless asked for, and with it.
        for features in [&[][..], &OBJECT_STORAGE[..]] {
            let arguments = ["clippy", "--workspace", "--all-targets"];
            execute(repository.cargo().args(arguments).args(features).args(["--", "-D", "warnings"]))?;
        }
        Ok(())
    }),
    plain("deny", "licences, sources and advisories of dependencies", deny::run),
    plain("unit", "cargo test of the whole workspace", |repository| {
        execute(repository.cargo().args(["test", "--workspace"]).args(OBJECT_STORAGE))
    }),
    Step {
        is_conformance: true,
        ..plain(BUILD, "the programs that the next steps run", |repository| {
            // With the targets of the step before: their dependencies turn on features of packages, and a build
            // without them, or of one package alone, would compile nearly everything a second time.
            let targets = ["--bins", "--examples", "--tests"];
            execute(repository.cargo().args(["build", "--workspace"]).args(targets).args(OBJECT_STORAGE))
        })
    },
    sdk("python", "the Python SDK against the server", conformance::python),
    sdk("js", "the JavaScript SDK against the server", conformance::javascript),
    sdk("rust-sdk", "the Rust SDK and the MongoDB driver for Rust against the server", conformance::rust),
    sdk("go", "the Go SDKs against the server, where Go is installed", conformance::go),
    sdk(
        "java",
        "the Java SDKs and Spring Data against the server, where Maven is installed",
        conformance::java,
    ),
    Step {
        needs_server: true,
        ..plain(
            "explorer",
            "the page in the browser: built as it lies here, and used by a browser",
            explorer::test,
        )
    },
    Step {
        needs_server: true,
        ..plain("crash", "the server is killed while it writes, and must have lost nothing", |repository| {
            drive(repository, CRASH, &["--rounds", CRASH_ROUNDS])
        })
    },
    Step {
        needs_server: true,
        ..plain("crash-splits", "the same while physical partitions are split and merged", |repository| {
            drive(repository, CRASH, &["--splits", "--rounds", SPLIT_ROUNDS])
        })
    },
    Step {
        needs_server: true,
        ..plain("crash-store", "the same with the account in an object store", |repository| {
            let folder = std::env::temp_dir().join(format!("armilla-store-{}", std::process::id()));
            let url = format!("file://{}", folder.display());
            let crashed = drive(repository, CRASH, &["--splits", "--rounds", STORE_ROUNDS, "--store", &url]);
            // After a failure it is looked at.
            if crashed.is_ok() {
                std::fs::remove_dir_all(&folder).context("cannot remove the object store")?;
            }
            crashed
        })
    },
    Step {
        needs_server: true,
        ..plain("feeds", "change feeds read through splits, merges and kills", |repository| {
            drive(repository, FEEDS, &["--histories", FEED_HISTORIES])
        })
    },
    Step {
        needs_server: true,
        ..plain("hostile", "attacks of a hostile client, as far as they take seconds", |repository| {
            drive(repository, HOSTILE, &[])
        })
    },
    Step {
        needs_server: true,
        ..plain("damage", "data folders are damaged, and nothing may be lost without a word", |repository| {
            drive(repository, DAMAGE, &["--cases", DAMAGE_CASES])
        })
    },
    plain("docs", "the documentation builds, and its links lead somewhere", |repository| {
        let arguments = ["doc", "--workspace", "--no-deps"];
        execute(repository.cargo().args(arguments).env("RUSTDOCFLAGS", "-D warnings"))
    }),
];

const fn plain(name: &'static str, about: &'static str, run: fn(&Repository) -> Result<()>) -> Step {
    Step { name, about, is_conformance: false, needs_server: false, run }
}

const fn sdk(name: &'static str, about: &'static str, run: fn(&Repository) -> Result<()>) -> Step {
    Step { name, about, is_conformance: true, needs_server: true, run }
}

/// Runs a program that starts, kills or attacks the server; the step `build` made both.
fn drive(repository: &Repository, program: &str, arguments: &[&str]) -> Result<()> {
    let server = repository.server_binary()?;
    execute(Command::new(repository.program(program)?).args(arguments).arg("--bin").arg(server))
}

/// Names steps, one per line.
pub(crate) fn list(steps: &[&Step]) -> String {
    steps.iter().map(|step| format!("  {:12} {}\n", step.name, step.about)).collect()
}

/// Runs steps until one fails, and says how long each took; returns whether all passed.
#[expect(clippy::disallowed_methods, reason = "the time that steps really take is what is wanted")]
pub(crate) fn run(repository: &Repository, steps: &[&Step], out: &mut impl Write) -> Result<bool> {
    let mut outcomes: Vec<Outcome> = Vec::new();
    for step in steps {
        say(out, &format!("==> {}: {}", step.name, step.about))?;
        let start = Instant::now();
        let result = (step.run)(repository);
        let outcome = Outcome { passed: result.is_ok(), took: start.elapsed() };
        let took = seconds(outcome.took);
        match &result {
            Ok(()) => say(out, &format!("==> {} passed in {took}", step.name))?,
            Err(error) => say(out, &format!("==> {} FAILED after {took}: {error:#}", step.name))?,
        }
        outcomes.push(outcome);
        if result.is_err() {
            break;
        }
    }
    say(out, &summary(steps, &outcomes))?;
    Ok(outcomes.iter().all(|outcome| outcome.passed))
}

/// Builds the server and a program that drives it, both optimized, and runs the program.
///
/// The program finds the server beside itself, so its arguments are the caller's alone.
pub(crate) fn run_beside_server(
    repository: &Repository,
    package: &str,
    program: &str,
    arguments: &[String],
) -> Result<()> {
    let is_on_objects = arguments.iter().any(|argument| argument.ends_with("--store") || argument == "nodes");
    let features = if is_on_objects { &OBJECT_STORAGE[..] } else { &[] };
    execute(repository.cargo().args(["build", "--release", "--package", "armilla-server"]).args(features))?;
    let run = ["run", "--release", "--package", package, "--bin", program, "--"];
    execute(repository.cargo().args(run).args(arguments))
}

/// Builds a program, optimized, and runs it.
pub(crate) fn run_optimized(repository: &Repository, package: &str, arguments: &[String]) -> Result<()> {
    execute(repository.cargo().args(["run", "--release", "--package", package, "--"]).args(arguments))
}

/// Builds a program and runs it.
pub(crate) fn run_program(repository: &Repository, package: &str, arguments: &[String]) -> Result<()> {
    execute(repository.cargo().args(["run", "--package", package, "--"]).args(arguments))
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

/// How a step ended.
struct Outcome {
    passed: bool,
    took: Duration,
}

fn describe(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    // Where cargo or Python lie is of no interest to the reader.
    let mut text = program.file_name().unwrap_or(command.get_program()).to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

/// The table of all steps, and the line that counts them.
fn summary(steps: &[&Step], outcomes: &[Outcome]) -> String {
    let mut text = format!("\n{:12} {:8} {:>10}\n", "step", "result", "time");
    for (index, step) in steps.iter().enumerate() {
        let line = match outcomes.get(index) {
            None => format!("{:12} not run", step.name),
            Some(Outcome { passed, took }) => {
                let result = if *passed { "passed" } else { "FAILED" };
                format!("{:12} {result:8} {:>10}", step.name, seconds(*took))
            }
        };
        text.push_str(&line);
        text.push('\n');
    }
    let total: Duration = outcomes.iter().map(|outcome| outcome.took).sum();
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    text.push_str(&format!("{:21} {:>10}\n", "together", seconds(total)));
    text.push_str(&format!("{passed} passed, {} failed", outcomes.len() - passed));
    text
}

fn seconds(duration: Duration) -> String {
    format!("{:.1} s", duration.as_secs_f64())
}

/// Writes a line at once, so that it stands in order among the output of the tools.
fn say(out: &mut impl Write, text: &str) -> Result<()> {
    writeln!(out, "{text}")?;
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_comes_before_the_steps_that_need_it() {
        let build = STEPS.iter().position(|step| step.name == BUILD).unwrap();
        for (index, step) in STEPS.iter().enumerate() {
            assert!(!step.needs_server || index > build, "{}", step.name);
        }
    }

    #[test]
    fn summaries_count_and_end_with_the_count() {
        let steps: Vec<&Step> = STEPS.iter().take(3).collect();
        let outcome = |passed, milliseconds| Outcome { passed, took: Duration::from_millis(milliseconds) };
        let lines = [
            "",
            "step         result         time",
            "fmt          passed        1.3 s",
            "tidy         FAILED      100.0 s",
            "clippy       not run",
            "together                 101.3 s",
            "1 passed, 1 failed",
        ];
        assert_eq!(summary(&steps, &[outcome(true, 1_260), outcome(false, 100_000)]), lines.join("\n"));
    }

    #[test]
    fn failures_name_the_command() {
        let error = execute(Command::new("/nowhere/to/be-found").arg("x")).unwrap_err();
        assert_eq!(error.to_string(), "cannot run `be-found x`");
    }

    #[test]
    fn steps_stop_at_the_first_failure() {
        fn fail(_: &Repository) -> Result<()> {
            bail!("on purpose")
        }
        fn unreachable(_: &Repository) -> Result<()> {
            panic!("a step ran after a failure")
        }
        let steps =
            [plain("a", "passes", |_| Ok(())), plain("b", "fails", fail), plain("c", "", unreachable)];
        let repository = Repository::find().unwrap();
        let mut out = Vec::new();
        assert!(run(&repository, &[&steps[0]], &mut out).unwrap());
        assert!(!run(&repository, &steps.iter().collect::<Vec<_>>(), &mut out).unwrap());
        let out = String::from_utf8(out).unwrap();
        assert!(out.contains("==> b FAILED after 0.0 s: on purpose\n"), "{out}");
        assert!(out.ends_with("\n1 passed, 1 failed\n"), "{out}");
    }
}
