//! The real server over HTTP: starting, loading, reading, writing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use armilla_crash::process_figures;
use armilla_crash::requests::Composer;
use armilla_crash::server_process::ServerProcess;
use armilla_env::{Env, Random};

use crate::items::Items;
use crate::load::{Pool, Source, drive, from_pool};
use crate::measure::{Phase, measure};
use crate::report::Report;
use crate::server::{Ask, Servers, Setup, write_request};

/// Requests that are made and signed ahead of a measurement.
const POOL_REQUESTS_MAX: usize = 65_536;

/// Starts on an empty folder, of which the median counts.
const STARTS: usize = 7;

/// Measures starts on empty folders.
pub(crate) fn measure_start(servers: &Servers, report: &mut Report) -> Result<()> {
    eprintln!("starts on an empty folder");
    let (mut own, mut seen, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for number in 0..STARTS {
        let server = servers.start(&format!("start-{number}"))?;
        own.push(server.start_ms as f64);
        seen.push(server.ready_after.as_secs_f64() * 1e3);
        memory.push(process_figures::memory(server.pid())?.resident);
        servers.stop(server)?;
    }
    memory.sort_unstable();
    report.figure("start on an empty folder, as the server says", median(own), "ms");
    report.figure("start on an empty folder, from outside", median(seen), "ms");
    report.memory("memory after the start", memory[STARTS / 2]);
    Ok(())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A server that holds the items.
pub(crate) struct OverHttp {
    connections: usize,
    seconds: f64,
    servers: Servers,
    server: ServerProcess,
    pools: [(&'static str, Pool); 3],
}

impl OverHttp {
    /// Starts a server on a new folder and loads the items.
    pub(crate) fn load(setup: &Setup, env: &Env, items: Items, report: &mut Report) -> Result<OverHttp> {
        let servers = Servers::new(setup, env)?;
        let server = servers.start("http")?;
        servers.create_container(&server)?;
        report.add(measure(env, "HTTP: load", server.pid(), || {
            drive(env, server.address, loading(env, items, setup.connections))
        })?);
        report.memory("memory after the load", process_figures::memory(server.pid())?.resident);
        let pools =
            [("HTTP: reads", Ask::Read), ("HTTP: upserts", Ask::Upsert), ("HTTP: replaces", Ask::Replace)]
                .map(|(name, ask)| (name, pool(env, items, ask)));
        Ok(OverHttp { connections: setup.connections, seconds: setup.seconds, servers, server, pools })
    }

    /// Returns what can be measured.
    pub(crate) fn phases(&self) -> Vec<Phase<'_>> {
        let pid = self.server.pid();
        let run = |pool| {
            let env = &self.servers.env;
            let sources = move || from_pool(env, pool, self.connections, self.seconds);
            Box::new(move || drive(env, self.server.address, sources()))
        };
        self.pools.iter().map(|(name, pool)| Phase { name, pid, run: run(pool) }).collect()
    }

    /// Returns the memory that the server holds now.
    pub(crate) fn resident(&self) -> Result<u64> {
        Ok(process_figures::memory(self.server.pid())?.resident)
    }

    /// Ends the server.
    pub(crate) fn stop(self) -> Result<()> {
        self.servers.stop(self.server)
    }
}

/// Creates all items once, each connection taking the next one.
pub(crate) fn loading(env: &Env, items: Items, connections: usize) -> Vec<Box<dyn Source>> {
    let next = Arc::new(AtomicUsize::new(0));
    let composer = Composer::new(env);
    (0..connections)
        .map(|_| {
            let (next, mut composer) = (next.clone(), composer.clone());
            Box::new(move |out: &mut Vec<u8>| {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= items.count {
                    return false;
                }
                write_request(&mut composer, out, Ask::Create, items, index, 0);
                true
            }) as Box<dyn Source>
        })
        .collect()
}

/// Makes requests about random items, signed.
pub(crate) fn pool(env: &Env, items: Items, ask: Ask) -> Pool {
    let mut composer = Composer::new(env);
    let mut random = Random::of_part(2, ask as u64);
    let count = items.count.min(POOL_REQUESTS_MAX);
    let request = |number: usize| {
        // Every item once, where they all fit.
        let index = if count == items.count { number } else { random.index(items.count) };
        let mut out = Vec::with_capacity(1_024);
        write_request(&mut composer, &mut out, ask, items, index, number as u64 + 1);
        out
    };
    Arc::new((0..count).map(request).collect())
}
