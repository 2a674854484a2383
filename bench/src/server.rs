//! Real servers on new folders, and what they need before items can go in.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::partitions::{self, ContainerState};
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::{Launch, ServerProcess, sibling_program};
use armilla_env::Env;
use armilla_kv_embedded::Options as StoreOptions;
use clap::Args;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::items::{CONTAINER, DATABASE, Items};
use crate::place::Place;

/// Request units a second that one physical partition serves.
pub(crate) const PARTITION_RU: u32 = 10_000;

/// The option by which a server refuses what is beyond a container's throughput, or does not.
const THROTTLE: &str = "--throttle";

/// The container: everything is indexed, as it is by default.
const DEFINITION: &str = r#"{"id":"items","partitionKey":{"paths":["/customer"],"kind":"Hash","version":2}}"#;

/// Where data goes, what serves it, and how hard it is driven: the same for all workloads of a run.
#[derive(Debug, Clone, Args)]
pub(crate) struct Setup {
    /// Connections over HTTP, and tasks that write in process
    #[arg(long, default_value_t = 64)]
    pub(crate) connections: usize,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0)]
    pub(crate) seconds: f64,
    /// Physical partitions of the container
    #[arg(long, default_value_t = 1)]
    pub(crate) partitions: u32,
    /// Megabytes of the server's cache, half for items and half for the store's blocks
    #[arg(long, default_value_t = 64)]
    pub(crate) cache_mb: u32,
    #[command(flatten)]
    pub(crate) place: Place,
}

/// A folder for data: removed in the end, or kept.
pub(crate) enum Folder {
    /// Removed with this value.
    Temporary(TempDir),
    /// Stays where it is.
    Kept(PathBuf),
}

impl Folder {
    /// Returns where it is.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Folder::Temporary(folder) => folder.path(),
            Folder::Kept(path) => path,
        }
    }
}

/// The answer to a request: its headers, in order, and its body.
pub(crate) struct Answered {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Starts servers.
pub(crate) struct Servers {
    pub(crate) env: Env,
    binary: PathBuf,
    folder: Folder,
    arguments: Vec<String>,
    throughput: String,
    /// Starts and ends processes, and asks single requests.
    pub(crate) runtime: Runtime,
}

impl Servers {
    pub(crate) fn new(setup: &Setup, env: &Env) -> Result<Servers> {
        Servers::in_folder(setup, env, Folder::Temporary(folder(setup)?))
    }

    /// Returns what starts servers on folders inside of one that is there.
    pub(crate) fn in_folder(setup: &Setup, env: &Env, folder: Folder) -> Result<Servers> {
        let mut arguments = vec!["--cache-mb".to_owned(), setup.cache_mb.to_string()];
        if !setup.place.server_arguments.iter().any(|argument| argument.starts_with(THROTTLE)) {
            // What is measured is what the server can do, not what it may.
            arguments.extend([THROTTLE.to_owned(), "off".to_owned()]);
        }
        arguments.extend_from_slice(&setup.place.server_arguments);
        Servers::with_arguments(setup, env, folder, arguments)
    }

    /// Returns what starts servers of a program from before there was anything to throttle by.
    pub(crate) fn older(setup: &Setup, env: &Env) -> Result<Servers> {
        let arguments = vec!["--cache-mb".to_owned(), setup.cache_mb.to_string()];
        Servers::with_arguments(setup, env, Folder::Temporary(folder(setup)?), arguments)
    }

    fn with_arguments(setup: &Setup, env: &Env, folder: Folder, arguments: Vec<String>) -> Result<Servers> {
        Ok(Servers {
            env: env.clone(),
            binary: setup.place.bin.clone().map_or_else(sibling_program, Ok)?,
            folder,
            arguments,
            throughput: (setup.partitions * PARTITION_RU).to_string(),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        })
    }

    /// Returns how to start a server on a folder of that name.
    pub(crate) fn launch(&self, name: &str) -> Launch {
        Launch {
            binary: self.binary.clone(),
            data_dir: self.folder.path().join(name),
            log: self.folder.path().join(format!("{name}.log")),
            arguments: self.arguments.clone(),
            store: None,
        }
    }

    /// Starts a server.
    pub(crate) fn start(&self, name: &str) -> Result<ServerProcess> {
        self.runtime.block_on(self.launch(name).start(&self.env))
    }

    /// Ends a server properly.
    pub(crate) fn stop(&self, server: ServerProcess) -> Result<()> {
        let status = self.runtime.block_on(server.terminate())?;
        if !status.success() {
            bail!("the server ended with {status}");
        }
        Ok(())
    }

    /// Makes the database and the container.
    pub(crate) fn create_container(&self, server: &ServerProcess) -> Result<()> {
        // Of manual throughput there would be more partitions to begin with.
        let throughput = format!("{{\"maxThroughput\":{}}}", self.throughput);
        self.create(server, ("x-ms-cosmos-offer-autopilot-settings", &throughput))
    }

    /// Makes the database and the container with a throughput of its own, in request units a second.
    pub(crate) fn create_container_of(&self, server: &ServerProcess, throughput: &str) -> Result<()> {
        self.create(server, ("x-ms-offer-throughput", throughput))
    }

    fn create(&self, server: &ServerProcess, throughput: (&str, &str)) -> Result<()> {
        let database = format!("{{\"id\":\"{DATABASE}\"}}");
        self.ask(server, "POST", Target::Databases, &[], &database)?;
        self.ask(server, "POST", Target::Containers(DATABASE), &[throughput], DEFINITION)?;
        Ok(())
    }

    /// Returns what the server says of the partitions of the container.
    pub(crate) fn partitions(&self, server: &ServerProcess) -> Result<ContainerState> {
        let answer = self.ask(server, "GET", Target::Partitions, &[], "")?;
        let states = partitions::parse(&answer.body).map_err(anyhow::Error::msg)?;
        let is_own = |state: &ContainerState| state.database == DATABASE && state.container == CONTAINER;
        states.into_iter().find(is_own).context("the server says nothing of the container")
    }

    /// Sends one request that must succeed.
    pub(crate) fn ask(
        &self,
        server: &ServerProcess,
        method: &str,
        target: Target<'_>,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answered> {
        let request = Composer::new(&self.env).compose(method, target, headers, body.as_bytes());
        self.runtime.block_on(async {
            let mut connection = Connection::open(server.address).await.context("cannot connect")?;
            let reply = connection.exchange(&request).await.context("the server does not answer")?;
            if !matches!(reply.status, 200..=204) {
                bail!("{method} {target:?} got {}: {}", reply.status, reply.excerpt());
            }
            let headers = reply.headers().map(|(name, value)| (name.to_owned(), value.to_owned()));
            Ok(Answered { headers: headers.collect(), body: reply.body.to_vec() })
        })
    }
}

/// Bytes in a megabyte, as the server's flag counts them.
const MEGABYTE: u64 = 1024 * 1024;

/// Returns the bytes of the item cache: half of what the flag says, as in the server.
pub(crate) fn item_cache_bytes(setup: &Setup) -> u64 {
    u64::from(setup.cache_mb) * MEGABYTE - store_options(setup).block_cache_bytes
}

/// Returns how the server opens its store: the other half of the cache holds blocks.
pub(crate) fn store_options(setup: &Setup) -> StoreOptions {
    StoreOptions { block_cache_bytes: u64::from(setup.cache_mb) * MEGABYTE / 2, ..StoreOptions::default() }
}

/// Returns a port that nobody listens on, to be given to a server that cannot say which one it took.
pub(crate) fn free_port() -> Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("there is no free port")?;
    Ok(listener.local_addr()?.port())
}

/// Makes a folder for data, where the setup says.
pub(crate) fn folder(setup: &Setup) -> Result<TempDir> {
    match &setup.place.dir {
        Some(parent) => tempfile::tempdir_in(parent),
        None => tempfile::tempdir(),
    }
    .context("cannot make a folder")
}

/// What can be asked of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    Read,
    Create,
    Upsert,
    Replace,
}

/// Writes a request about an item.
pub(crate) fn write_request(
    composer: &mut Composer,
    out: &mut Vec<u8>,
    ask: Ask,
    items: Items,
    index: usize,
    version: u64,
) {
    let (id, key) = (items.id(index), partition_key(&items.key(index)));
    let mut headers = vec![("x-ms-documentdb-partitionkey", key.as_str())];
    let feed = Target::Items(DATABASE, CONTAINER);
    let item = Target::Item(DATABASE, CONTAINER, &id);
    let (method, target) = match ask {
        Ask::Read => ("GET", item),
        Ask::Create => ("POST", feed),
        Ask::Upsert => {
            headers.push(("x-ms-documentdb-is-upsert", "True"));
            ("POST", feed)
        }
        Ask::Replace => ("PUT", item),
    };
    let body = if ask == Ask::Read { String::new() } else { items.body(index, version) };
    composer.write(out, method, target, &headers, body.as_bytes());
}
