//! Data folders made under load, and what was acknowledged of what is in them.
//!
//! One folder lives through four servers: ended, killed, ended, killed. What it was like at each end is kept: two of these
//! are damaged, and the older ones are where older copies of files come from.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::Launch;
use armilla_env::{Env, Random};

use crate::folder;

/// The database and the container that are written to.
pub(crate) const DATABASE: &str = "damage";
pub(crate) const CONTAINER: &str = "items";

/// Connections that write, each to items of its own.
const WRITERS: u64 = 4;

/// Items that each of them writes to.
const ITEMS_OF_WRITER: u64 = 60;

/// Writes that each of them makes before a server is ended.
const WRITES_OF_WRITER: u64 = 250;

/// How long they write before a server is killed.
const KILL_AFTER: Duration = Duration::from_millis(700);

/// What may be found of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Known {
    /// The version that was acknowledged last, or nothing if it was to be gone.
    pub(crate) acknowledged: Option<u64>,
    /// What a write was to make of it that was never answered.
    pub(crate) in_doubt: Option<Option<u64>>,
}

impl Known {
    /// Returns whether a version, or nothing, may be what is there.
    pub(crate) fn allows(&self, found: Option<u64>) -> bool {
        self.acknowledged == found || self.in_doubt == Some(found)
    }
}

/// A folder to be damaged.
pub(crate) struct World {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// What it was like earlier, the latest first.
    pub(crate) older: Vec<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) items: BTreeMap<u64, Known>,
}

type Model = Arc<Mutex<BTreeMap<u64, Known>>>;

/// Returns the arguments of every server: small buffers, so that few items make many files.
pub(crate) fn arguments() -> Vec<String> {
    ["--throttle", "off", "--write-buffer-mb", "1"].map(str::to_owned).to_vec()
}

/// Returns the id of an item and the partition key it has.
pub(crate) fn names(item: u64) -> (String, String) {
    (format!("item-{item}"), format!("p{}", item % 7))
}

/// Makes the folders.
pub(crate) async fn make(binary: &Path, work_dir: &Path, seed: u64, env: &Env) -> Result<Vec<World>> {
    let launch = Launch {
        binary: binary.to_owned(),
        data_dir: work_dir.join("live"),
        log: work_dir.join("server.log"),
        arguments: arguments(),
        store: None,
    };
    let model = Model::default();
    let mut older: Vec<PathBuf> = Vec::new();
    let mut worlds = Vec::new();
    for stage in 0..4 {
        let is_killed = stage % 2 == 1;
        let server = launch.start(env).await?;
        if stage == 0 {
            create(server.address, env).await?;
        }
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let random = Random::of_part(seed, u64::MAX - stage * WRITERS - writer);
                let writes = if is_killed { u64::MAX } else { WRITES_OF_WRITER };
                tokio::spawn(write(server.address, env.clone(), model.clone(), random, writer, stage, writes))
            })
            .collect();
        if is_killed {
            env.clock.sleep(KILL_AFTER).await;
            server.kill().await?;
            for writer in writers {
                writer.await??;
            }
        } else {
            for writer in writers {
                writer.await??;
            }
            let status = server.terminate().await?;
            ensure!(status.success(), "the server ended with {status}");
        }
        let folder = work_dir.join(format!("stage-{stage}"));
        folder::copy(&launch.data_dir, &folder)?;
        if stage >= 2 {
            let (files, folders) = folder::list(&folder)?;
            let name = if is_killed { "the killed folder" } else { "the folder that was closed" };
            let items = model.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let older = older.iter().rev().cloned().collect();
            worlds.push(World {
                name: name.to_owned(),
                folder: folder.clone(),
                older,
                files,
                folders,
                items,
            });
        }
        older.push(folder);
    }
    Ok(worlds)
}

async fn create(address: SocketAddr, env: &Env) -> Result<()> {
    let mut composer = Composer::new(env);
    let mut connection = Connection::open(address).await?;
    let database = format!("{{\"id\":\"{DATABASE}\"}}");
    let container = format!(
        "{{\"id\":\"{CONTAINER}\",\"partitionKey\":{{\"paths\":[\"/pk\"],\"kind\":\"Hash\",\"version\":2}}}}"
    );
    for (target, body) in [(Target::Databases, database), (Target::Containers(DATABASE), container)] {
        let reply = connection.exchange(&composer.compose("POST", target, &[], body.as_bytes())).await?;
        ensure!(reply.status == 201, "making {body} got {}: {}", reply.status, reply.excerpt());
    }
    Ok(())
}

/// Writes and removes items until there is no server any more, or often enough.
async fn write(
    address: SocketAddr,
    env: Env,
    model: Model,
    mut random: Random,
    writer: u64,
    stage: u64,
    writes: u64,
) -> Result<()> {
    let mut composer = Composer::new(&env);
    let mut connection = Connection::open(address).await.context("cannot connect")?;
    for number in 0..writes {
        let item = writer + WRITERS * random.below(ITEMS_OF_WRITER);
        let (id, key) = names(item);
        let key_header = partition_key(&key);
        let known = note(&model, item, |known| *known);
        let is_removal = known.acknowledged.is_some() && random.percent(15);
        // Greater with every write, whatever stage.
        let version = stage << 32 | number << 8 | writer;
        let next = (!is_removal).then_some(version);
        note(&model, item, |known| known.in_doubt = Some(next));
        let request = if is_removal {
            let headers = [("x-ms-documentdb-partitionkey", key_header.as_str())];
            composer.compose("DELETE", Target::Item(DATABASE, CONTAINER, &id), &headers, b"")
        } else {
            let mut padding = String::new();
            let length = 200 + random.index(1_500);
            random.push_text(length, &mut padding);
            let body =
                format!("{{\"id\":\"{id}\",\"pk\":\"{key}\",\"n\":{version},\"padding\":\"{padding}\"}}");
            let headers = [
                ("x-ms-documentdb-partitionkey", key_header.as_str()),
                ("x-ms-documentdb-is-upsert", "True"),
            ];
            composer.compose("POST", Target::Items(DATABASE, CONTAINER), &headers, body.as_bytes())
        };
        let status = match connection.exchange(&request).await {
            Ok(reply) => reply.status,
            // The server is gone.
            Err(_) if writes == u64::MAX => return Ok(()),
            Err(error) => return Err(error).context("the server does not answer"),
        };
        match status {
            // An item in doubt from before may turn out to be gone.
            200 | 201 | 204 | 404 => note(&model, item, |known| {
                *known = Known { acknowledged: next.filter(|_| status != 404), in_doubt: None };
            }),
            other => bail!("a write got {other}"),
        }
    }
    Ok(())
}

fn note<T>(model: &Model, item: u64, change: impl FnOnce(&mut Known) -> T) -> T {
    change(model.lock().unwrap_or_else(PoisonError::into_inner).entry(item).or_default())
}
