//! What memory the server takes when it holds many items, beside what it was told to take.

use std::time::Duration;

use anyhow::Result;
use armilla_crash::process_figures;
use armilla_crash::requests::Composer;
use armilla_env::{Env, Random};

use crate::items::Items;
use crate::load::{Source, drive};
use crate::measure::measure as measured;
use crate::over_http::loading;
use crate::report::Report;
use crate::server::{Ask, Servers, Setup, item_cache_bytes, store_options, write_request};

/// How long the server rests before its memory is looked at again.
const REST: Duration = Duration::from_secs(5);

/// Loads the items, reads them at random, restarts, and reads again.
pub(crate) fn measure(setup: &Setup, servers: &Servers, items: &Items, report: &mut Report) -> Result<()> {
    eprintln!("memory with {} items", items.count);
    let env = &servers.env;
    let store = store_options(setup);
    report.memory("item cache, as configured", item_cache_bytes(setup));
    report.memory("block cache of the store, as configured", store.block_cache_bytes);
    report.memory("write buffer of the store, as configured", store.write_buffer_bytes);

    let server = servers.start("memory")?;
    servers.create_container(&server)?;
    let pid = server.pid();
    note(report, pid, ["memory before", "of which anonymous, before"])?;
    let watch = Watch::start(env, pid);
    report.add(measured(env, "load", pid, || {
        drive(env, server.address, loading(env, *items, setup.connections))
    })?);
    report.memory("highest memory during the load", watch.stop());
    note(report, pid, ["memory after the load", "of which anonymous, after the load"])?;
    servers.runtime.block_on(async { env.clock.sleep(REST).await });
    note(report, pid, ["memory after a rest", "of which anonymous, after a rest"])?;
    report.add(measured(env, "reads of all items", pid, || {
        drive(env, server.address, reading(env, *items, setup))
    })?);
    note(report, pid, ["memory after the reads", "of which anonymous, after the reads"])?;
    servers.stop(server)?;
    report.memory("folder on disk", folder_bytes(&servers.launch("memory").data_dir));

    let server = servers.start("memory")?;
    let pid = server.pid();
    report.figure("start with the items, as the server says", server.start_ms as f64, "ms");
    note(report, pid, ["memory after the restart", "of which anonymous, after the restart"])?;
    report.add(measured(env, "reads of all items, after the restart", pid, || {
        drive(env, server.address, reading(env, *items, setup))
    })?);
    note(report, pid, ["memory after those reads", "of which anonymous, after those reads"])?;
    servers.stop(server)
}

/// Reads random items until the time is up; requests are made on the way, so that all items have their turn.
fn reading(env: &Env, items: Items, setup: &Setup) -> Vec<Box<dyn Source>> {
    let end = env.clock.elapsed() + Duration::from_secs_f64(setup.seconds);
    let composer = Composer::new(env);
    (0..setup.connections)
        .map(|connection| {
            let (clock, mut composer) = (env.clock.clone(), composer.clone());
            let mut random = Random::of_part(7, connection as u64);
            Box::new(move |out: &mut Vec<u8>| {
                write_request(&mut composer, out, Ask::Read, items, random.index(items.count), 0);
                clock.elapsed() < end
            }) as Box<dyn Source>
        })
        .collect()
}

fn note(report: &mut Report, pid: u32, names: [&'static str; 2]) -> Result<()> {
    let memory = process_figures::memory(pid)?;
    report.memory(names[0], memory.resident);
    report.memory(names[1], memory.anonymous);
    Ok(())
}

/// Looks at a process's memory now and then.
pub(crate) struct Watch {
    stop: std::sync::mpsc::Sender<()>,
    thread: std::thread::JoinHandle<u64>,
}

impl Watch {
    pub(crate) fn start(env: &Env, pid: u32) -> Watch {
        const PERIOD: Duration = Duration::from_millis(100);
        const PROGRESS: Duration = Duration::from_secs(10);
        let (stop, stopped) = std::sync::mpsc::channel();
        let clock = env.clock.clone();
        let thread = std::thread::spawn(move || {
            let mut highest = 0;
            let mut told = clock.elapsed();
            while stopped.recv_timeout(PERIOD) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                let Ok(memory) = process_figures::memory(pid) else { break };
                highest = memory.resident.max(highest);
                if clock.elapsed() - told >= PROGRESS {
                    told = clock.elapsed();
                    eprintln!("    {} MB resident", memory.resident >> 20);
                }
            }
            highest
        });
        Watch { stop, thread }
    }

    /// Returns the highest figure.
    pub(crate) fn stop(self) -> u64 {
        // A thread that has ended by itself needs no telling.
        let _ = self.stop.send(());
        self.thread.join().unwrap_or(0)
    }
}

/// Returns the bytes of all files of a folder, as far as they can be seen.
pub(crate) fn folder_bytes(folder: &std::path::Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => folder_bytes(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}
