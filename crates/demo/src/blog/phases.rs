//! The phases of a run, in their order.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_client::Client;
use armilla_env::Env;
use tokio::runtime::Runtime;

use super::worker_process::WorkerProcess;
use crate::check::{self, Expected};
use crate::limits::{AWAY_WAIT, LOADED_AT_ONCE};
use crate::live::{Lived, Writers};
use crate::load::{self, Loaded, Pace};
use crate::measure::{self, Measured};
use crate::model;
use crate::options::BlogOptions;
use crate::output::Run;
use crate::place::Place;
use crate::progress::{Progress, say};
use crate::settle;
use crate::shape::{Shape, Totals};
use crate::workers::{self, Drained, Workers};

/// Returns what runs many tasks at once.
pub(super) fn many_threads() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")
}

/// Returns what runs one thing after the other without handing it to another thread, which would show in latencies.
fn one_thread() -> Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start a runtime")
}

/// Runs all phases against a server.
pub(super) fn run(options: &BlogOptions, users: u32, place: &mut Place, env: &Env) -> Result<Run> {
    let start = env.clock.elapsed();
    let client = Client::new(place.options(), env.clone())?;
    let shape = Arc::new(Shape::new(options.seed, users));
    let totals = shape.totals();
    let many = many_threads()?;
    let has_own_server = place.child().is_some();
    let loaded = many.block_on(fill(options, &client, &shape, has_own_server, env))?;
    let (_, caught_up) = many.block_on(catch_up(options, &client, &totals, env))?;
    let settled = match has_own_server {
        true => {
            say("letting the store put away what was loaded");
            Some(many.block_on(settle::wait(&client, env))?)
        }
        false => None,
    };
    let measured = one_thread()?.block_on(measure::run(&client, &shape, options, env))?;
    let lived = match options.live {
        0 => None,
        _ => {
            say("clients write while workers run");
            Some(many.block_on(live(options, &client, &shape, place, env))?)
        }
    };
    if lived.is_none() {
        many.block_on(drain(&client, options, env))?;
    }
    let checked = if options.no_check {
        None
    } else {
        let expected = loaded.is_some().then(|| expected(&totals, &measured, lived.as_ref()));
        Some(many.block_on(check::run(&client, expected, env))?)
    };
    let is_temporary = has_own_server && options.data_dir.is_none();
    if !options.keep && !is_temporary {
        many.block_on(async {
            let mut session = client.session();
            for database in model::DATABASES {
                session.delete_database(database).await?;
            }
            anyhow::Ok(())
        })?;
    }
    let took = env.clock.elapsed().saturating_sub(start);
    let BlogOptions { seed, connections, rounds, .. } = *options;
    Ok(Run {
        users,
        seed,
        connections,
        rounds,
        totals,
        loaded,
        caught_up,
        settled,
        measured,
        lived,
        checked,
        took,
    })
}

/// Makes the databases and fills them, unless an earlier run has.
pub(super) async fn fill(
    options: &BlogOptions,
    client: &Client,
    shape: &Arc<Shape>,
    has_own_server: bool,
    env: &Env,
) -> Result<Option<Loaded>> {
    if options.reuse {
        return Ok(None);
    }
    let mut session = client.session();
    load::create(&mut session, options.partitions).await?;
    let partitions = if has_own_server { LOADED_AT_ONCE } else { usize::MAX };
    let pace = Pace { connections: options.connections, partitions };
    let loaded = load::fill(client, shape, &shape.totals(), pace, env).await?;
    workers::begin(&mut session).await?;
    Ok(Some(loaded))
}

/// Lets workers make the copies.
pub(super) async fn catch_up(
    options: &BlogOptions,
    client: &Client,
    totals: &Totals,
    env: &Env,
) -> Result<(Workers, Drained)> {
    let mut workers = Workers::take_over(client, options.connections, env).await?;
    let tally = workers.tally();
    let changes = move || tally.changes.load(Ordering::Relaxed);
    let _progress = Progress::start("making copies from the change feed", totals.in_posts(), env, changes);
    let drained = workers.drain().await?;
    Ok((workers, drained))
}

async fn drain(client: &Client, options: &BlogOptions, env: &Env) -> Result<Duration> {
    let mut workers = Workers::take_over(client, options.connections, env).await?;
    Ok(workers.drain().await?.took)
}

/// Returns how much there has to be in the end.
fn expected(totals: &Totals, measured: &Measured, lived: Option<&Lived>) -> Expected {
    let [_, second, third] = measured.added;
    let live = lived.map_or_else(Totals::default, |lived| lived.added);
    let posts = Totals {
        users: 0,
        posts: totals.posts + second.posts + third.posts + live.posts,
        comments: totals.comments + second.comments + third.comments + live.comments,
        likes: totals.likes + second.likes + third.likes + live.likes,
    };
    let users = totals.users + live.users;
    Expected { users_v2: users + second.users, users_v3: users + third.users, posts }
}

/// Lets clients write while workers run, and waits until the workers are done.
async fn live(
    options: &BlogOptions,
    client: &Client,
    shape: &Arc<Shape>,
    place: &mut Place,
    env: &Env,
) -> Result<Lived> {
    if options.kill {
        return live_with_kills(options, client, shape, place, env).await;
    }
    let workers = Workers::take_over(client, options.connections, env).await?;
    let mut running = workers.start();
    let tally = running.tally();
    let writers = Writers::start(client, shape, options.live, options.connections, env);
    let mut lived = tokio::select! {
        lived = writers.finish() => lived?,
        ended = running.failure() => {
            ended?;
            anyhow::bail!("a worker ended while clients wrote")
        }
    };
    let start = env.clock.elapsed();
    let mut workers = running.stop().await?;
    workers.drain().await?;
    lived.drained = env.clock.elapsed().saturating_sub(start);
    lived.repairs = tally.repairs.load(Ordering::Relaxed);
    Ok(lived)
}

/// The same with workers in a process of their own; in the middle they and the server are killed, and started again.
async fn live_with_kills(
    options: &BlogOptions,
    client: &Client,
    shape: &Arc<Shape>,
    place: &mut Place,
    env: &Env,
) -> Result<Lived> {
    let endpoint = place.options().endpoint.clone().context("a server of our own has an address")?;
    let mut workers = WorkerProcess::start(&endpoint, options.connections)?;
    let writers = Writers::start(client, shape, options.live, options.connections, env);
    let third = u64::from(options.live) / 3;
    until_done(&writers, third, env).await;
    say("killing the workers");
    workers.kill()?;
    let mut workers = WorkerProcess::start(&endpoint, options.connections)?;
    until_done(&writers, 2 * third, env).await;
    say("killing the server and the workers");
    workers.kill()?;
    let child = place.child().context("only a server of our own can be killed")?;
    tokio::task::block_in_place(|| child.restart())?;
    let workers = WorkerProcess::start(&endpoint, options.connections)?;
    let mut lived = writers.finish().await?;
    let start = env.clock.elapsed();
    workers.stop()?;
    let mut rest = Workers::take_over(client, options.connections, env).await?;
    rest.drain().await?;
    lived.drained = env.clock.elapsed().saturating_sub(start);
    lived.repairs = rest.tally().repairs.load(Ordering::Relaxed);
    lived.was_killed = true;
    Ok(lived)
}

async fn until_done(writers: &Writers, count: u64, env: &Env) {
    while writers.done() < count && !writers.is_over() {
        env.clock.sleep(AWAY_WAIT / 10).await;
    }
}
