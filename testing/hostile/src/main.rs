//! Attacks a real server as a hostile client would, and checks that it lives, answers others in time and gives nothing
//! away.
//!
//! Each case gets a server of its own with a fresh data folder. While it runs, a probe asks that server small things
//! (`armilla_hostile::watch`): a case fails if an answer to the probe takes too long, if the process ends, or if the server's log has an
//! error, whatever the case itself finds. Cases are functions, by topic in `cases`, listed in one table there.
//!
//! Choices come from `--seed`, so a failure of a generated case repeats with its seed.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

mod cases;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use armilla_crash::program::{WorkFolder, run_to_exit};
use armilla_crash::server_process::sibling_program;
use armilla_env::Env;
use armilla_hostile::case::{Case, Length};
use armilla_hostile::stage::Ground;
use clap::Parser;

use crate::cases::CASES;

/// Attacks a server as a hostile client would.
#[derive(Debug, Parser)]
#[command(name = "armilla-hostile")]
struct Options {
    /// Run this case, or all cases of this topic; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Name the cases instead of running them
    #[arg(long)]
    list: bool,
    /// Run also the cases that take minutes
    #[arg(long)]
    long: bool,
    /// What the choices follow from [default: from the time]
    #[arg(long)]
    seed: Option<u64>,
    /// How many scripts the cases that generate them make [default: few, with --long many]
    #[arg(long, value_name = "COUNT")]
    scripts: Option<u64>,
    /// Milliseconds in which the probe must be answered
    #[arg(long, default_value_t = 1_000, value_name = "MS")]
    probe_ms: u64,
    /// The server program [default: armilla beside this program]
    #[arg(long)]
    bin: Option<PathBuf>,
    /// Folder for the data and the servers' logs; kept [default: a new one, kept after a failure]
    #[arg(long)]
    work_dir: Option<PathBuf>,
}

fn main() -> ExitCode {
    run_to_exit(run(Options::parse()))
}

/// Runs the chosen cases; returns whether all of them passed.
async fn run(options: Options) -> Result<bool> {
    let chosen = choose(&options)?;
    if options.list {
        for case in chosen {
            println!("{:10} {:8} {}", case.topic, case.length.name(), case.name);
        }
        return Ok(true);
    }
    let env = Env::system();
    let seed = options.seed.unwrap_or_else(|| env.clock.now_ms().unsigned_abs());
    let work_folder = WorkFolder::make(options.work_dir.as_deref())?;
    let ground = Ground {
        binary: options.bin.clone().map_or_else(sibling_program, Ok)?,
        folder: work_folder.path().to_owned(),
        env: env.clone(),
        seed,
        scripts: options.scripts,
        is_long: options.long,
        probe_bound: Duration::from_millis(options.probe_ms),
    };
    println!("seed {seed}, {} cases, {}", chosen.len(), ground.folder.display());
    let (mut passed, mut failed) = (0_usize, 0_usize);
    for case in chosen {
        let begin = env.clock.elapsed();
        let outcome = case.play(&ground).await;
        let took = (env.clock.elapsed() - begin).as_secs_f64();
        match outcome {
            Ok(figures) => {
                passed += 1;
                println!("passed  {:44} {took:6.1} s  {figures}", case.name);
            }
            Err(error) => {
                failed += 1;
                println!("FAILED  {:44} {took:6.1} s  with --seed {seed}: {error:#}", case.name);
            }
        }
    }
    if failed > 0 {
        work_folder.keep();
    }
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// Returns the cases that the options ask for: those named, or all that are not too long.
fn choose(options: &Options) -> Result<Vec<&'static Case>> {
    for only in &options.only {
        if !CASES.iter().any(|case| case.is_called(only)) {
            bail!("there is no case and no topic {only}, see --list");
        }
    }
    let is_named = |case: &Case| options.only.iter().any(|only| case.is_called(only));
    // Who names a case wants it, however long it takes; who names a topic may not.
    let is_short_enough = |case: &Case| {
        options.long || case.length == Length::Seconds || options.only.iter().any(|only| only == case.name)
    };
    let is_chosen =
        |case: &&Case| (options.only.is_empty() || is_named(case)) && (options.list || is_short_enough(case));
    Ok(CASES.iter().filter(is_chosen).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(arguments: &[&str]) -> Vec<&'static str> {
        let options = Options::parse_from([&["armilla-hostile"], arguments].concat());
        choose(&options).unwrap().iter().map(|case| case.name).collect()
    }

    #[test]
    fn names_are_unique_and_differ_from_topics() {
        let names: BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
        assert!(CASES.iter().all(|case| !names.contains(case.topic)));
    }

    #[test]
    fn cases_are_chosen_by_length_topic_and_name() {
        let short = CASES.iter().filter(|case| case.length == Length::Seconds).count();
        assert_eq!(names(&[]).len(), short);
        assert_eq!(names(&["--long"]).len(), CASES.len());
        assert_eq!(names(&["--only", CASES[0].name]), [CASES[0].name]);
        assert!(names(&["--long", "--only", CASES[0].topic]).contains(&CASES[0].name));
        let unknown = Options::parse_from(["armilla-hostile", "--only", "nothing"]);
        assert!(choose(&unknown).is_err());
    }
}
