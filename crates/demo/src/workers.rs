//! What keeps the second and third version in step, from the change feed.
//!
//! Four jobs, one file each: names of users go into what they wrote (`names`), shortened posts to their authors
//! (`copies`) and into the list of the newest (`newest`), and items that were written with a name that is not the
//! user's any more are put right (`repair`). The feed of users drives the first, the feed of posts the other three.
//!
//! Invariants:
//! * a position is kept only after everything up to it was acknowledged (`lease`), so whatever ends a worker, what it
//!   has not done is done again;
//! * doing something again, or doing it late, never puts an older state over a newer one (`copies` says why);
//! * only one set of workers goes on: who takes the positions over stops who had them before (`lease`).
//!
//! So once nothing is new, every copy is what its source says, in whatever order things happened.

mod cache;
mod change;
mod copies;
mod lease;
mod names;
mod newest;
mod repair;
mod stream;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_client::{Client, Session};
use armilla_env::Env;
use tokio::task::JoinSet;

use cache::NameCache;
pub(crate) use change::{Short, short_copy};
use newest::Newest;
use stream::{Feed, Worker};

/// What all workers count.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Changes that were looked at.
    pub(crate) changes: AtomicU64,
    /// Changes that other workers of this set had to make: a copy written, a name put in.
    pub(crate) writes: AtomicU64,
    /// Items that had a name that was not the user's any more.
    pub(crate) repairs: AtomicU64,
    /// Copies that others had written meanwhile, so that it was begun anew.
    pub(crate) collisions: AtomicU64,
}

impl Tally {
    pub(crate) fn add(counter: &AtomicU64, count: usize) {
        counter.fetch_add(count as u64, Ordering::Relaxed);
    }
}

/// What workers share.
pub(crate) struct Shared {
    client: Client,
    env: Env,
    names: NameCache,
    /// Held while a name is spread: two feeds tell of each, and the second then finds nothing left to do.
    spreading: tokio::sync::Mutex<()>,
    newest: Newest,
    tally: Arc<Tally>,
    stop: AtomicBool,
    connections: usize,
}

/// All workers, from taking over the positions to their end.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
}

/// What draining took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drained {
    pub(crate) changes: u64,
    pub(crate) took: Duration,
}

impl Workers {
    /// Takes the positions over.
    pub(crate) async fn take_over(client: &Client, connections: u32, env: &Env) -> Result<Workers> {
        let shared = Arc::new(Shared {
            client: client.clone(),
            env: env.clone(),
            names: NameCache::default(),
            spreading: tokio::sync::Mutex::default(),
            newest: Newest::default(),
            tally: Arc::default(),
            stop: AtomicBool::new(false),
            connections: connections as usize,
        });
        let owner = env.guid();
        let mut session = client.session();
        let mut workers = Vec::new();
        for feed in Feed::ALL {
            for arc in 0..feed.arcs() {
                workers.push(Worker::take_over(&shared, &mut session, feed, arc, &owner).await?);
            }
        }
        Ok(Workers { shared, workers })
    }

    /// Returns what is counted.
    pub(crate) fn tally(&self) -> Arc<Tally> {
        self.shared.tally.clone()
    }

    /// Starts all of them, each by itself, until they are told to stop.
    pub(crate) fn start(self) -> Running {
        let mut tasks = JoinSet::new();
        for mut worker in self.workers {
            tasks.spawn(async move {
                let ended = worker.follow().await;
                (worker, ended)
            });
        }
        Running { shared: self.shared, tasks }
    }

    /// Works until nothing is new anywhere. Only if nobody else writes does this come to an end.
    pub(crate) async fn drain(&mut self) -> Result<Drained> {
        let clock = self.shared.env.clock.clone();
        let start = clock.elapsed();
        let before = self.shared.tally.changes.load(Ordering::Relaxed);
        loop {
            // What one worker writes is news for another, so it is over only when none of them had anything.
            let mut tasks = JoinSet::new();
            for mut worker in std::mem::take(&mut self.workers) {
                tasks.spawn(async move {
                    let handled = worker.catch_up().await;
                    (worker, handled)
                });
            }
            let mut handled = 0;
            let mut failure = None;
            while let Some(ended) = tasks.join_next().await {
                let (worker, outcome) = ended.context("a worker ended early")?;
                self.workers.push(worker);
                match outcome {
                    Ok(count) => handled += count,
                    Err(error) => failure = failure.or(Some(error)),
                }
            }
            if let Some(error) = failure {
                return Err(error);
            }
            if handled == 0 {
                let changes = self.shared.tally.changes.load(Ordering::Relaxed) - before;
                return Ok(Drained { changes, took: clock.elapsed().saturating_sub(start) });
            }
        }
    }
}

/// Workers that run.
pub(crate) struct Running {
    shared: Arc<Shared>,
    tasks: JoinSet<(Worker, Result<()>)>,
}

impl Running {
    /// Returns what is counted.
    pub(crate) fn tally(&self) -> Arc<Tally> {
        self.shared.tally.clone()
    }

    /// Waits until one of them fails; while all go on, this does not end.
    pub(crate) async fn failure(&mut self) -> Result<()> {
        match self.tasks.join_next().await {
            Some(ended) => ended.context("a worker ended early")?.1,
            None => Ok(()),
        }
    }

    /// Tells them to stop, and waits until each has done with its page.
    pub(crate) async fn stop(mut self) -> Result<Workers> {
        self.shared.stop.store(true, Ordering::Relaxed);
        let mut workers = Vec::new();
        let mut failure = None;
        while let Some(ended) = self.tasks.join_next().await {
            let (worker, outcome) = ended.context("a worker ended early")?;
            workers.push(worker);
            if let Err(error) = outcome {
                failure = failure.or(Some(error));
            }
        }
        self.shared.stop.store(false, Ordering::Relaxed);
        match failure {
            Some(error) => Err(error),
            None => Ok(Workers { shared: self.shared, workers }),
        }
    }
}

/// Notes where the workers begin, right after loading: the copies are made from the first post on; names are what
/// loading wrote, so of the users only what changes from now on matters.
pub(crate) async fn begin(session: &mut Session) -> Result<()> {
    for feed in Feed::ALL {
        for arc in 0..feed.arcs() {
            lease::begin(session, feed, arc).await?;
        }
    }
    Ok(())
}
