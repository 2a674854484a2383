//! Who keeps the server: starts it, kills it at random moments, checks its folder now and then, and starts it again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::partitions;
use armilla_crash::requests::{Composer, Target};
use armilla_crash::server_process::{Launch, ServerProcess};
use armilla_env::{Env, Random};
use tokio::sync::{oneshot, watch};

use crate::client::{DATABASE, Line};
use crate::outcome::Ordeal;

/// Longest time that a server that is being started is left before it is killed, in milliseconds.
const STARTING_MS_MAX: u64 = 60;

/// When the server is ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Whether it is ended at all before the histories are.
    pub(crate) has_kills: bool,
    /// Least and most milliseconds that it serves.
    pub(crate) min_ms: u64,
    pub(crate) max_ms: u64,
    /// Percentage of ends that are asked for (SIGTERM).
    pub(crate) graceful_percent: u64,
    /// Every how many ends the folder is checked.
    pub(crate) check_every: u64,
}

/// The keeper.
pub(crate) struct Keeper {
    pub(crate) launch: Launch,
    pub(crate) env: Env,
    pub(crate) random: Random,
    pub(crate) pace: Pace,
    /// Says where the server is.
    pub(crate) line: watch::Sender<Line>,
    /// Set when everybody is to stop.
    pub(crate) is_over: Arc<AtomicBool>,
}

impl Keeper {
    /// Keeps the server until it is told that nobody needs it any more.
    pub(crate) async fn keep(mut self, mut done: oneshot::Receiver<()>) -> Ordeal {
        let mut ordeal = Ordeal::default();
        if let Err(error) = self.keep_up(&mut done, &mut ordeal).await {
            ordeal.differences.push(format!("{error:#}"));
        }
        if !ordeal.differences.is_empty() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        ordeal
    }

    async fn keep_up(&mut self, done: &mut oneshot::Receiver<()>, ordeal: &mut Ordeal) -> Result<()> {
        let mut life = 0;
        loop {
            let server = self.launch.start(&self.env).await?;
            ordeal.ready.push(server.ready_after);
            if life == 0 {
                self.create_database(&server).await?;
            }
            life += 1;
            self.line.send_replace(Line::Up { life, address: server.address });
            let is_done = match self.pace.has_kills {
                // Whoever is gone without a word is done as well.
                false => (&mut *done).await.map_or(true, |()| true),
                true => {
                    let served_ms =
                        self.pace.min_ms + self.random.below(self.pace.max_ms - self.pace.min_ms + 1);
                    tokio::select! {
                        () = self.env.clock.sleep(Duration::from_millis(served_ms)) => false,
                        _ = &mut *done => true,
                    }
                }
            };
            let is_whole = self.end(server, is_done, ordeal).await?;
            if is_done || !is_whole {
                return Ok(());
            }
        }
    }

    /// Ends the server; returns whether nothing was wrong.
    async fn end(&mut self, mut server: ServerProcess, is_last: bool, ordeal: &mut Ordeal) -> Result<bool> {
        if let Some(status) = server.has_ended()? {
            ordeal.differences.push(format!("the server ended by itself with {status}"));
        }
        if !is_last {
            ordeal.during_reshapes += u64::from(self.is_reshaping(&server).await?);
        }
        self.line.send_replace(Line::Down);
        if is_last || self.random.percent(self.pace.graceful_percent) {
            ordeal.graceful_ends += u64::from(!is_last);
            let status = server.terminate().await?;
            if !status.success() {
                ordeal.differences.push(format!("the server ended with {status} after SIGTERM"));
            }
        } else {
            ordeal.kills += 1;
            server.kill().await?;
        }
        if !is_last && self.random.percent(8) {
            ordeal.killed_starts += 1;
            let starting = self.launch.spawn()?;
            self.env.clock.sleep(Duration::from_millis(self.random.below(STARTING_MS_MAX))).await;
            drop(starting);
        }
        if is_last || (ordeal.kills + ordeal.graceful_ends).is_multiple_of(self.pace.check_every.max(1)) {
            ordeal.checks += 1;
            let check = self.launch.check(&self.env, &self.launch.data_dir).await?;
            ordeal.differences.extend(check.failure());
        }
        ordeal.differences.extend(self.launch.log_complaints(0)?);
        Ok(ordeal.differences.is_empty())
    }

    async fn create_database(&self, server: &ServerProcess) -> Result<()> {
        let mut connection = Connection::open(server.address).await?;
        let body = format!("{{\"id\":\"{DATABASE}\"}}");
        let request = Composer::new(&self.env).compose("POST", Target::Databases, &[], body.as_bytes());
        match connection.exchange(&request).await?.status {
            201 => Ok(()),
            status => bail!("the database cannot be made: status {status}"),
        }
    }

    /// Says whether any partition is being split or merged, or is next.
    async fn is_reshaping(&self, server: &ServerProcess) -> Result<bool> {
        let mut connection = Connection::open(server.address).await?;
        let request = Composer::new(&self.env).compose("GET", Target::Partitions, &[], b"");
        let reply = connection.exchange(&request).await?;
        let states = partitions::parse(reply.body).map_err(anyhow::Error::msg)?;
        Ok(states.iter().any(partitions::ContainerState::is_splitting))
    }
}
