//! The client: many connections, each with one request at a time, on one thread.
//!
//! One thread is enough to keep any server on this machine busy, and takes the least from it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_env::{Env, Random};

use crate::measure::Latencies;

/// Requests that are made ahead; each connection draws from them.
pub(crate) type Pool = Arc<Vec<Vec<u8>>>;

/// Gives one connection its requests: writes the next one, or says that there are no more.
pub(crate) trait Source: Send + 'static {
    /// Writes the next request into an empty buffer; false if there is none.
    fn next(&mut self, out: &mut Vec<u8>) -> bool;
}

impl<F: FnMut(&mut Vec<u8>) -> bool + Send + 'static> Source for F {
    fn next(&mut self, out: &mut Vec<u8>) -> bool {
        self(out)
    }
}

/// Drives a server with one source for each connection until they have no more requests.
pub(crate) fn drive(env: &Env, address: SocketAddr, sources: Vec<Box<dyn Source>>) -> Result<Latencies> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the client")?;
    runtime.block_on(async {
        let mut connections = Vec::new();
        for source in sources {
            let connection = Connection::open(address).await.context("cannot connect")?;
            connections.push(tokio::spawn(run(env.clone(), connection, source)));
        }
        let mut all = Latencies::new();
        for connection in connections {
            all.add(&connection.await??);
        }
        Ok(all)
    })
}

async fn run(env: Env, mut connection: Connection, mut source: Box<dyn Source>) -> Result<Latencies> {
    let mut latencies = Latencies::new();
    let mut request = Vec::with_capacity(2_048);
    while {
        request.clear();
        source.next(&mut request)
    } {
        let begin = env.clock.elapsed();
        let reply = connection.exchange(&request).await.context("the server does not answer")?;
        latencies.record(env.clock.elapsed() - begin);
        if !matches!(reply.status, 200..=204) {
            let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
            bail!("'{}' got {}: {}", String::from_utf8_lossy(line), reply.status, reply.excerpt());
        }
    }
    Ok(latencies)
}

/// Draws from a pool until the time is up.
pub(crate) fn from_pool(env: &Env, pool: &Pool, connections: usize, seconds: f64) -> Vec<Box<dyn Source>> {
    let end = env.clock.elapsed() + Duration::from_secs_f64(seconds);
    (0..connections)
        .map(|connection| {
            let (clock, pool) = (env.clock.clone(), pool.clone());
            let mut random = Random::of_part(1, connection as u64);
            Box::new(move |out: &mut Vec<u8>| {
                out.extend_from_slice(&pool[random.index(pool.len())]);
                clock.elapsed() < end
            }) as Box<dyn Source>
        })
        .collect()
}
