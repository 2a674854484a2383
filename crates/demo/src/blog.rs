//! The blog from beginning to end, and its workers by themselves.

mod phases;
mod serving;
mod worker_process;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result};
use armilla_client::Client;
use armilla_env::Env;
use armilla_report::number;

use crate::options::{BlogOptions, WorkerOptions};
use crate::output::{self, Run};
use crate::place::Place;
use crate::progress::say;
use crate::workers::Workers;

/// The exit code of a run that found something wrong.
const PROBLEMS: u8 = 2;

/// Runs the blog, once or at several scales, and shows what came out.
pub(crate) fn run(options: &BlogOptions, env: &Env) -> Result<ExitCode> {
    if options.serve {
        return serving::run(options, env);
    }
    let scales = if options.scale.is_empty() { vec![options.users] } else { options.scale.clone() };
    let mut runs: Vec<Run> = Vec::new();
    for users in scales {
        let mut place = Place::open(options, users)?;
        let run = phases::run(options, users, &mut place, env);
        // A server that fails to stop is worth telling, but not more than what went wrong before.
        match (run, place.close()) {
            (Ok(run), Ok(())) => runs.push(run),
            (Err(error), _) | (Ok(_), Err(error)) => return Err(error),
        }
        if let Some(run) = runs.last() {
            show(run)?;
        }
        // Long runs are written as they come.
        write_files(options, &runs)?;
    }
    let is_good = runs.iter().all(Run::is_good);
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::from(PROBLEMS) })
}

fn show(run: &Run) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let users = number::count(u64::from(run.users));
    let mut text = format!(
        "A blog platform of {users} users, {} posts, {} comments and {} likes over {} physical partitions\n\n",
        number::count(run.totals.posts),
        number::count(run.totals.comments),
        number::count(run.totals.likes),
        run.measured.partitions
    );
    text.push_str(&output::text(run));
    text.push('\n');
    for line in output::summary(run) {
        text.push_str(&line);
        text.push('\n');
    }
    text.push_str(&format!("all of it took {}\n", number::duration(run.took)));
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

fn write_files(options: &BlogOptions, runs: &[Run]) -> Result<()> {
    if let Some(path) = &options.json {
        std::fs::write(path, output::json(runs))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(path) = &options.report {
        std::fs::write(path, output::page(runs))
            .with_context(|| format!("cannot write {}", path.display()))?;
        say(&format!("the report is in {}", path.display()));
    }
    Ok(())
}

/// Runs the workers by themselves.
pub(crate) fn work(options: &WorkerOptions, env: &Env) -> Result<ExitCode> {
    let runtime = phases::many_threads()?;
    runtime.block_on(async {
        let client = Client::new(&options.server, env.clone())?;
        let mut workers = Workers::take_over(&client, options.connections, env).await?;
        if options.drain {
            let drained = workers.drain().await?;
            let took = number::duration(drained.took);
            say(&format!("nothing is new: {} changes in {took}", number::count(drained.changes)));
            return Ok(ExitCode::SUCCESS);
        }
        let mut running = workers.start();
        say("workers run");
        tokio::select! {
            ended = running.failure() => ended?,
            signal = worker_process::end_signal() => signal?,
        }
        let tally = running.tally();
        running.stop().await?;
        let count = |counter: &std::sync::atomic::AtomicU64| number::count(counter.load(Ordering::Relaxed));
        say(&format!(
            "workers stopped: {} changes, {} writes, {} names put right, {} collisions",
            count(&tally.changes),
            count(&tally.writes),
            count(&tally.repairs),
            count(&tally.collisions)
        ));
        Ok(ExitCode::SUCCESS)
    })
}
