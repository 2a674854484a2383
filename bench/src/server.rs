//! Real servers on new folders, and what they need before items can go in.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::requests::{Composer, Target, partition_key};
use armilla_crash::server_process::{Launch, ServerProcess, sibling_binary};
use armilla_env::Env;
use armilla_kv_embedded::Options as StoreOptions;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::Options;
use crate::items::{CONTAINER, DATABASE, Items};

/// Request units a second that one physical partition serves.
pub(crate) const PARTITION_RU: u32 = 10_000;

/// The container: everything is indexed, as it is by default.
const DEFINITION: &str = r#"{"id":"items","partitionKey":{"paths":["/customer"],"kind":"Hash","version":2}}"#;

/// The answer to a request: its headers, in order, and its body.
pub(crate) struct Answered {
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Starts servers.
pub(crate) struct Servers {
    pub(crate) env: Env,
    binary: PathBuf,
    folder: TempDir,
    arguments: Vec<String>,
    throughput: String,
    /// Starts and ends processes, and asks single requests.
    pub(crate) runtime: Runtime,
}

impl Servers {
    pub(crate) fn new(options: &Options, env: &Env) -> Result<Servers> {
        let mut arguments = vec!["--cache-mb".to_owned(), options.cache_mb.to_string()];
        arguments.extend_from_slice(&options.server_arguments);
        Ok(Servers {
            env: env.clone(),
            binary: options.bin.clone().map_or_else(sibling_binary, Ok)?,
            folder: folder(options)?,
            arguments,
            throughput: (options.partitions * PARTITION_RU).to_string(),
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
        let database = format!("{{\"id\":\"{DATABASE}\"}}");
        self.ask(server, "POST", Target::Databases, &[], &database)?;
        let headers = [("x-ms-offer-throughput", self.throughput.as_str())];
        self.ask(server, "POST", Target::Containers(DATABASE), &headers, DEFINITION)?;
        Ok(())
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
pub(crate) fn item_cache_bytes(options: &Options) -> u64 {
    u64::from(options.cache_mb) * MEGABYTE - store_options(options).block_cache_bytes
}

/// Returns how the server opens its store: the other half of the cache holds blocks.
pub(crate) fn store_options(options: &Options) -> StoreOptions {
    StoreOptions { block_cache_bytes: u64::from(options.cache_mb) * MEGABYTE / 2, ..StoreOptions::default() }
}

/// Makes a folder for data, where the options say.
pub(crate) fn folder(options: &Options) -> Result<TempDir> {
    match &options.dir {
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
