//! Stored procedures that never end by themselves, begun again whenever the server has stopped them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_env::Env;

use crate::items::{CONTAINER, DATABASE};

/// The procedure's name and text.
pub(super) const PROCEDURE: &str = "endless";
pub(super) const PROCEDURE_BODY: &str = "function () { for (;;) {} }";

/// The status of a procedure whose time was up.
const STOPPED: u16 = 408;

/// Longest time until a procedure must have been stopped; without this, a server that stops none would hang the run.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// Procedures at work, each in a logical partition of its own.
pub(super) struct Endless {
    ending: Arc<AtomicBool>,
    client: JoinHandle<Result<Vec<Duration>>>,
}

impl Endless {
    /// Begins so many procedures.
    pub(super) fn begin(env: &Env, address: std::net::SocketAddr, count: usize) -> Endless {
        let ending = Arc::new(AtomicBool::new(false));
        let (env, own_ending) = (env.clone(), ending.clone());
        // A thread of its own: the client that is measured must not wait for this one.
        let client = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let mut running = Vec::new();
                for number in 0..count {
                    let connection = Connection::open(address).await.context("cannot connect")?;
                    running.push(tokio::spawn(repeat(env.clone(), connection, number, own_ending.clone())));
                }
                let mut stops = Vec::new();
                for repeated in running {
                    stops.extend(repeated.await??);
                }
                Ok(stops)
            })
        });
        Endless { ending, client }
    }

    /// Waits until the server has stopped the last of them; returns how long each took to be stopped.
    pub(super) fn end(self) -> Result<Vec<Duration>> {
        self.ending.store(true, Ordering::Release);
        self.client.join().map_err(|_| anyhow!("the client of the procedures panicked"))?
    }
}

async fn repeat(
    env: Env,
    mut connection: Connection,
    number: usize,
    ending: Arc<AtomicBool>,
) -> Result<Vec<Duration>> {
    let mut composer = Composer::new(&env);
    let key = partition_key(&format!("endless-{number}"));
    let mut stops = Vec::new();
    while !ending.load(Ordering::Acquire) {
        let headers = [("x-ms-documentdb-partitionkey", key.as_str())];
        let target = Target::Procedure(DATABASE, CONTAINER, PROCEDURE);
        let request = composer.compose("POST", target, &headers, b"[]");
        let begin = env.clock.elapsed();
        let reply = tokio::time::timeout(STOP_TIMEOUT, connection.exchange(&request))
            .await
            .with_context(|| format!("a procedure was not stopped within {STOP_TIMEOUT:?}"))?
            .context("the server does not answer")?;
        if reply.status != STOPPED {
            bail!("an endless procedure got {}, expected was {STOPPED}: {}", reply.status, reply.excerpt());
        }
        stops.push(env.clock.elapsed() - begin);
    }
    Ok(stops)
}
