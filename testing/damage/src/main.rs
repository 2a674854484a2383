//! Damages data folders, one file at a time, and checks that nothing is lost without a word.
//!
//! Folders are made by a real server under load, which is killed or ended cleanly (`world`). Each case takes a copy of one,
//! damages one file of it (`wound`), runs `armilla check`, which must not change a byte, and then `armilla serve`: it must
//! refuse to start, or fail requests, or serve everything that was acknowledged (`judge`).
//!
//! Choices come from a seed; how the load interleaves with the kill does not, so a failure repeats with its seed often, not
//! always. The folder of a failed case is kept as it was before the server saw it.

#![expect(clippy::print_stdout, reason = "the report is what the program is for")]

mod folder;
mod judge;
mod world;
mod wound;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use armilla_crash::program::{WorkFolder, run_to_exit};
use armilla_crash::server_process::{Launch, sibling_program};
use armilla_env::{Env, Random};
use clap::Parser;

use crate::judge::Verdict;
use crate::world::World;

/// Damages data folders one file at a time, and checks that nothing is lost without a word.
#[derive(Debug, Parser)]
#[command(name = "armilla-damage")]
struct Options {
    /// How many folders are damaged
    #[arg(long, default_value_t = 2_000)]
    cases: u64,
    /// What the choices follow from [default: from the time]
    #[arg(long)]
    seed: Option<u64>,
    /// Runs one case alone
    #[arg(long)]
    only: Option<u64>,
    /// The server program [default: armilla beside this program]
    #[arg(long)]
    bin: Option<PathBuf>,
    /// Folder for the data and the server's log; kept [default: a new one, kept after a failure]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Cases at the same time
    #[arg(long, default_value_t = 2)]
    jobs: usize,
}

/// Cases between two lines about the progress.
const PROGRESS_CASES: u64 = 50;

fn main() -> ExitCode {
    run_to_exit(run(Options::parse()))
}

/// Runs all cases; returns whether all of them passed.
async fn run(options: Options) -> Result<bool> {
    let env = Env::system();
    let seed = options.seed.unwrap_or_else(|| env.clock.now_ms().unsigned_abs());
    let work_folder = WorkFolder::make(options.work_dir.as_deref())?;
    let binary = options.bin.clone().map_or_else(sibling_program, Ok)?;
    println!("seed {seed}, {} cases, {}", options.cases, work_folder.path().display());
    let began = env.clock.elapsed();
    let worlds = world::make(&binary, work_folder.path(), seed, &env).await?;
    for world in &worlds {
        println!("{}: {} files, {} items", world.name, world.files.len(), world.items.len());
    }
    let worlds = std::sync::Arc::new(worlds);
    let mut cases: Box<dyn Iterator<Item = u64> + Send> = match options.only {
        Some(case) => Box::new(std::iter::once(case)),
        None => Box::new(0..options.cases),
    };
    let mut running = tokio::task::JoinSet::new();
    let mut tally: BTreeMap<&'static str, u64> = BTreeMap::new();
    let (mut done, mut failures) = (0, 0);
    loop {
        while running.len() < options.jobs.max(1) && failures == 0 {
            let Some(case) = cases.next() else { break };
            let (worlds, binary, env) = (worlds.clone(), binary.clone(), env.clone());
            let place = work_folder.path().join(format!("case-{case}"));
            running.spawn(async move { (case, play(case, seed, &worlds, &binary, &place, &env).await) });
        }
        let Some(ended) = running.join_next().await else { break };
        let (case, outcome) = ended.context("a case panicked")?;
        done += 1;
        match outcome {
            Ok((_, Verdict::Fine(how))) => *tally.entry(how).or_default() += 1,
            Ok((wound, Verdict::Wrong(why))) => {
                failures += 1;
                println!("case {case} FAILED: {wound}: {why}");
                println!("again: armilla-damage --seed {seed} --only {case} --bin {}", binary.display());
            }
            Err(error) => {
                failures += 1;
                println!("case {case} could not be judged: {error:#}");
                println!("again: armilla-damage --seed {seed} --only {case} --bin {}", binary.display());
            }
        }
        if done % PROGRESS_CASES == 0 {
            println!("{done} cases in {:.0?}: {tally:?}", env.clock.elapsed() - began);
        }
    }
    println!(
        "{done} cases, {failures} failed, in {:.0?}, seed {seed}: {tally:?}",
        env.clock.elapsed() - began
    );
    if failures > 0 {
        work_folder.keep();
    }
    Ok(failures == 0)
}

/// Plays one case. Returns what was done to the folder, and what came of it.
async fn play(
    case: u64,
    seed: u64,
    worlds: &[World],
    binary: &Path,
    place: &Path,
    env: &Env,
) -> Result<(String, Verdict)> {
    let mut random = Random::of_part(seed, case);
    let world = &worlds[(case % worlds.len() as u64) as usize];
    let (original, data) = (place.join("damaged"), place.join("data"));
    folder::copy(&world.folder, &original)?;
    let wound = wound::inflict(world, &original, case / worlds.len() as u64, &mut random)?;
    let launch = Launch {
        binary: binary.to_owned(),
        data_dir: data.clone(),
        log: place.join("server.log"),
        arguments: world::arguments(),
        store: None,
    };
    let before = folder::fingerprint(&original)?;
    let check = launch.check(env, &original).await?;
    if folder::fingerprint(&original)? != before {
        return Ok((wound, Verdict::Wrong("the check changed the folder".to_owned())));
    }
    folder::copy(&original, &data)?;
    let verdict = judge::judge(&launch, world, &check, env).await?;
    if matches!(verdict, Verdict::Fine(_)) {
        std::fs::remove_dir_all(place)?;
    }
    Ok((wound, verdict))
}
