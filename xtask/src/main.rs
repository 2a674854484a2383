//! `cargo xtask`: everything that is run on the repository, by people and by CI alike.
//!
//! `cargo xtask test` is the whole of it, cheapest first, stopping at the first failure; the other
//! commands are parts of that, or its long versions.

mod conformance;
mod deny;
mod explorer;
mod repository;
mod selection;
mod steps;
mod tidy;
mod tools;

use std::io::Write as _;
use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::repository::Repository;
use crate::selection::Selection;
use crate::steps::{BENCH, BENCH_STORES, BUILD, CRASH, DAMAGE, FEEDS, HOSTILE, STEPS};

const USAGE: &str = "\
usage: cargo xtask COMMAND

commands:
  test [OPTION]...         everything CI runs, cheapest first, until a step fails
  conformance [OPTION]...  build the server and run the official SDKs against it
  tidy                     rules about the source text that no compiler checks
  circles                  which files of each crate use each other in a circle; tidy refuses them in some crates
  crash [ARGUMENT]...      kill the server while it writes; `crash --help` lists the arguments
  feeds [ARGUMENT]...      read change feeds while the server is killed; `feeds --help` lists the arguments
  hostile [ARGUMENT]...    attack the server, with the attacks that take minutes; `hostile --help` lists the arguments
  damage [ARGUMENT]...     damage data folders; `damage --help` lists the arguments
  bench [ARGUMENT]...      measure workloads; `bench --help` lists the arguments, `bench stores` compares stores
  nodes [FILE]...          the suites of all languages with three nodes for each server, or files of that in Python
  screenshots              make the pictures of docs/explorer.md, with a browser
  queries [ARGUMENT]...    run files of queries, renew what they expect; `queries --help` lists the arguments
  help                     this text

options of `test` and `conformance`:
  --only STEP              this step alone; may be repeated
  --from STEP              this step and those after it
  --skip STEP              all but this step; may be repeated
  --list                   name the steps instead of running them
Steps that need the server have it built first, unless `--skip build` is given.

steps of `test`, in order:
";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command that the arguments name; false when it found a fault and has said so.
fn run() -> Result<bool> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match arguments.split_first() {
        None => ("help", &[][..]),
        Some((command, rest)) => (command.as_str(), rest),
    };
    let repository = Repository::find()?;
    match command {
        "test" => run_steps(&repository, &Selection::parse(rest)?, |_| true),
        "conformance" => run_steps(&repository, &Selection::parse(rest)?, |step| step.is_conformance),
        "tidy" => {
            no_arguments(rest)?;
            tidy::run(&repository)?;
            Ok(true)
        }
        "circles" => {
            no_arguments(rest)?;
            print(&tidy::circles::report(&repository.sources()?))
        }
        "crash" => steps::run_beside_server(&repository, CRASH, CRASH, rest).map(|()| true),
        "feeds" => steps::run_beside_server(&repository, CRASH, FEEDS, rest).map(|()| true),
        "hostile" => {
            let arguments: Vec<String> =
                ["--long".to_owned()].into_iter().chain(rest.iter().cloned()).collect();
            steps::run_beside_server(&repository, HOSTILE, HOSTILE, &arguments).map(|()| true)
        }
        "damage" => steps::run_beside_server(&repository, DAMAGE, DAMAGE, rest).map(|()| true),
        "bench" if rest.first().is_some_and(|what| what == "stores") => {
            steps::run_optimized(&repository, BENCH_STORES, &rest[1..]).map(|()| true)
        }
        "bench" => steps::run_beside_server(&repository, BENCH, BENCH, rest).map(|()| true),
        "nodes" => {
            run_steps(&repository, &Selection::parse(&["--only".to_owned(), BUILD.to_owned()])?, |_| true)?;
            conformance::on_nodes(&repository, rest).map(|()| true)
        }
        "screenshots" => {
            no_arguments(rest)?;
            run_steps(&repository, &Selection::parse(&["--only".to_owned(), BUILD.to_owned()])?, |_| true)?;
            explorer::screenshots(&repository).map(|()| true)
        }
        "queries" => steps::run_program(&repository, "armilla-testing-queries", rest).map(|()| true),
        "help" | "--help" | "-h" => {
            no_arguments(rest)?;
            let steps: Vec<_> = STEPS.iter().collect();
            print(&format!("{USAGE}{}", steps::list(&steps)))
        }
        other => bail!("there is no command {other}, see `cargo xtask help`"),
    }
}

fn run_steps(
    repository: &Repository,
    selection: &Selection,
    is_offered: fn(&steps::Step) -> bool,
) -> Result<bool> {
    let offered: Vec<_> = STEPS.iter().filter(|step| is_offered(step)).collect();
    let chosen = selection.choose(&offered)?;
    if selection.is_list {
        print(&steps::list(&chosen))
    } else {
        steps::run(repository, &chosen, &mut std::io::stdout())
    }
}

fn print(text: &str) -> Result<bool> {
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(true)
}

fn no_arguments(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        None => Ok(()),
        Some(argument) => bail!("argument {argument} is not understood, see `cargo xtask help`"),
    }
}
