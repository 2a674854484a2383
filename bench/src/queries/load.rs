//! Loads the orders through the engine in process, with many writers at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use armilla_engine::{Caller, Precondition, Triggers, WriteMode};
use armilla_kv::Durability;

use super::orders::Orders;
use crate::in_process::{create, definition, open};
use crate::server::{Servers, Setup};

/// Everything is indexed, and two properties together, as PostgreSQL has an index of both.
const POLICY: &str =
    r#"{"includedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/city"},{"path":"/category"}]]}"#;

/// The folder of the server, inside of that of the run.
pub(super) const SERVER: &str = "queries";

/// How often progress is told.
const TELLINGS: usize = 20;

/// Loads all orders and returns how many a second.
pub(super) fn load(servers: &Servers, setup: &Setup, orders: Orders) -> Result<f64> {
    // The server lays out its folder by itself; what is loaded then goes into the store inside.
    let server = servers.start(SERVER)?;
    servers.stop(server)?;
    let store = servers.launch(SERVER).data_dir.join("store");
    ensure!(store.is_dir(), "the server made no store in its folder");
    let env = &servers.env;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Nothing is lost with the items but the time to load them again.
    let engine = open(setup, env, &runtime, &store, Durability::Relaxed)?;
    eprintln!("loading {} items with {} writers", orders.count, setup.connections);
    let begin = env.clock.elapsed();
    runtime.block_on(async {
        let container = create(&engine, &definition("/pk", Some(POLICY)), setup.partitions).await?;
        let next = Arc::new(AtomicUsize::new(0));
        let mut writers = Vec::new();
        for _ in 0..setup.connections {
            let (engine, container, next, clock) =
                (engine.clone(), container.clone(), next.clone(), env.clock.clone());
            writers.push(tokio::spawn(async move {
                let (caller, triggers) = (Caller::full(), Triggers::default());
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= orders.count {
                        return Ok::<_, anyhow::Error>(());
                    }
                    let (body, key) = (orders.body(index, 0), orders.partition_key(index));
                    engine
                        .write_item(
                            &caller,
                            &container,
                            WriteMode::Create,
                            Some(&key),
                            body.as_bytes().into(),
                            Precondition::None,
                            &triggers,
                        )
                        .await?;
                    let step = (orders.count / TELLINGS).max(1);
                    if index > 0 && index.is_multiple_of(step) {
                        let seconds = (clock.elapsed() - begin).as_secs_f64();
                        eprintln!("  {index} items, {:.0} a second", index as f64 / seconds);
                    }
                }
            }));
        }
        for writer in writers {
            writer.await??;
        }
        Ok::<_, anyhow::Error>(())
    })?;
    let per_second = orders.count as f64 / (env.clock.elapsed() - begin).as_secs_f64();
    runtime.block_on(engine.close()).context("cannot close the engine")?;
    eprintln!("  loaded, {per_second:.0} a second");
    Ok(per_second)
}
