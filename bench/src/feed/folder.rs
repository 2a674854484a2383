//! The folder that a drain and followers share: laid out by the server, filled in process, then used by everybody in turn.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use armilla_engine::WriteMode;
use armilla_env::Env;
use armilla_kv::Durability;
use tempfile::TempDir;

use crate::in_process::{Workers, create, definition, open};
use crate::items::{Items, scattered};
use crate::server::{Folder, Servers, Setup, folder};

/// The folder of the server, inside of that of the run.
pub(super) const SERVER: &str = "feed";

/// A folder with all items.
pub(super) struct DataFolder {
    folder: TempDir,
}

impl DataFolder {
    /// Makes a folder and loads the items.
    pub(super) fn fill(setup: &Setup, env: &Env, items: Items, is_scattered: bool) -> Result<DataFolder> {
        let data = DataFolder { folder: folder(setup)? };
        let servers = data.servers(setup, env)?;
        // The server lays out its folder by itself; what is loaded then goes into the store inside.
        servers.stop(servers.start(SERVER)?)?;
        let store = data.store();
        ensure!(store.is_dir(), "the server made no store in its folder");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        // Nothing is lost with the items but the time to load them again.
        let engine = open(setup, env, &runtime, &store, Durability::Relaxed)?;
        eprintln!("loading {} items", items.count);
        runtime.block_on(async {
            let container = create(&engine, &definition("/customer", None), setup.partitions).await?;
            let (engine, env, count) = (engine.clone(), env.clone(), setup.connections);
            let workers = Workers { env, engine, container, items, count };
            let pass = is_scattered.then_some(0);
            write_all(&workers, WriteMode::Create, pass, 0).await
        })?;
        runtime.block_on(engine.close()).context("cannot close the engine")?;
        Ok(data)
    }

    /// Returns what starts servers on the items.
    pub(super) fn servers(&self, setup: &Setup, env: &Env) -> Result<Servers> {
        Servers::in_folder(setup, env, Folder::Kept(self.folder.path().to_owned()))
    }

    /// Returns the folder of the store.
    pub(super) fn store(&self) -> PathBuf {
        self.folder.path().join(SERVER).join("store")
    }
}

/// Writes every item once, in the order of a scattered pass or in that of their numbers.
pub(super) async fn write_all(
    workers: &Workers,
    mode: WriteMode,
    pass: Option<usize>,
    version: u64,
) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let count = workers.items.count;
    workers
        .run(mode, move |_| {
            let position = next.fetch_add(1, Ordering::Relaxed);
            if position >= count {
                return None;
            }
            let index = pass.map_or(position, |pass| scattered(count, pass, position));
            Some((index, version))
        })
        .await?;
    Ok(())
}
