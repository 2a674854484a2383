//! The sides of a drain: each opens the folder, reads everything as often as it is asked, and closes it.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use armilla_crash::server_process::ServerProcess;
use armilla_engine::{
    Caller, ContainerHandle, Engine as ArmillaEngine, FeedMode, FeedPageRequest, FeedStart, ListScope,
};
use armilla_env::Env;
use armilla_kv::{Durability, Family, Scan, Space, SpaceId, Store as _};
use armilla_kv_embedded::EmbeddedStore;
use tokio::runtime::Runtime;

use super::Pass;
use crate::bare_server::BareServer;
use crate::feed::FeedOptions;
use crate::feed::folder::{DataFolder, SERVER};
use crate::feed::page_client::{PageClient, Start};
use crate::in_process::{open, open_store};
use crate::items::{CONTAINER, DATABASE, Items};
use crate::server::{Answered, Servers, Setup, store_options};

/// One side of a drain.
pub(super) trait Side {
    /// Reads everything from the beginning.
    fn drain(&mut self) -> Result<Pass>;

    /// Returns the process that does the work.
    fn pid(&self) -> u32 {
        std::process::id()
    }

    /// Closes the folder; the real server returns the first page that it sent.
    fn close(self: Box<Self>) -> Result<Option<Answered>>;
}

/// Spaces of a store with one container: the tree, the container's partition, and room for those before it.
const SPACES_MAX: u64 = 64;

/// Opens the spaces of a store that have a family.
pub(in crate::feed) fn spaces_with(store: &EmbeddedStore, family: Family) -> Result<Vec<Arc<dyn Space>>> {
    let mut spaces = Vec::new();
    for id in 0..SPACES_MAX {
        // A space that is gone cannot be opened, and has nothing.
        let Ok(space) = store.open_space(SpaceId(id)) else { continue };
        let first = Scan { entries_max: 1, ..Scan::prefix(family, b"") };
        if !space.snapshot()?.scan(&first)?.entries.is_empty() {
            spaces.push(space);
        }
    }
    Ok(spaces)
}

/// Walks a family of some spaces page by page; returns the entries, the pages, and the bytes of keys and values.
pub(in crate::feed) fn walk(spaces: &[Arc<dyn Space>], family: Family) -> Result<Pass> {
    let mut pass = Pass::default();
    for space in spaces {
        let snapshot = space.snapshot()?;
        let mut scan = Scan::prefix(family, b"");
        loop {
            let page = snapshot.scan(&scan)?;
            pass.pages += 1;
            pass.items += page.entries.len() as u64;
            pass.bytes +=
                page.entries.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum::<u64>();
            match page.entries.last() {
                Some((last, _)) if page.more => scan = scan.after(last),
                _ => break,
            }
        }
    }
    Ok(pass)
}

/// The embedded store alone.
pub(super) struct Raw {
    store: EmbeddedStore,
    spaces: Vec<Arc<dyn Space>>,
}

impl Raw {
    pub(super) fn open(setup: &Setup, data: &DataFolder) -> Result<Raw> {
        let store = open_store(&data.store(), &store_options(setup))?;
        let spaces = spaces_with(&store, Family::Item)?;
        Ok(Raw { store, spaces })
    }
}

impl Side for Raw {
    fn drain(&mut self) -> Result<Pass> {
        walk(&self.spaces, Family::Item)
    }

    fn close(self: Box<Self>) -> Result<Option<Answered>> {
        drop(self.spaces);
        self.store.close().context("cannot close the store")?;
        Ok(None)
    }
}

/// The engine in process.
pub(super) struct Engine {
    engine: ArmillaEngine,
    container: Arc<ContainerHandle>,
    runtime: Runtime,
    page_items: usize,
    /// Room for the JSON of a page, if that is written.
    json: Option<Vec<u8>>,
}

impl Engine {
    pub(super) fn open(
        options: &FeedOptions,
        setup: &Setup,
        env: &Env,
        data: &DataFolder,
        writes_json: bool,
    ) -> Result<Engine> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let engine = open(setup, env, &runtime, &data.store(), Durability::Strict)?;
        let container = engine.container(DATABASE, CONTAINER)?.container;
        let json = writes_json.then(Vec::new);
        Ok(Engine { engine, container, runtime, page_items: options.page_items, json })
    }
}

impl Side for Engine {
    fn drain(&mut self) -> Result<Pass> {
        let Engine { engine, container, runtime, page_items, json } = self;
        let identity = container.identity();
        runtime.block_on(async {
            let caller = Caller::full();
            let mut pass = Pass::default();
            let mut start = FeedStart::Beginning;
            loop {
                let request = FeedPageRequest {
                    mode: FeedMode::Latest,
                    scope: ListScope::All,
                    start,
                    modified_since: None,
                    items_max: Some(*page_items),
                    wait: None,
                };
                let page = engine.change_feed(&caller, container, request).await?.page;
                pass.pages += 1;
                pass.items += page.changes.len() as u64;
                for item in page.changes.iter().filter_map(|change| change.item.as_ref()) {
                    match json.as_mut() {
                        Some(json) => item.write_json(identity, json),
                        None => pass.bytes += item.raw().0.len() as u64,
                    }
                }
                if let Some(json) = json.as_mut() {
                    pass.bytes += json.len() as u64;
                    json.clear();
                }
                if page.changes.is_empty() && page.is_end {
                    return Ok(pass);
                }
                start = FeedStart::Token(page.token);
            }
        })
    }

    fn close(self: Box<Self>) -> Result<Option<Answered>> {
        self.runtime.block_on(self.engine.close()).context("cannot close the engine")?;
        Ok(None)
    }
}

/// The server over HTTP, asked by one connection.
pub(super) struct Http {
    servers: Servers,
    server: ServerProcess,
    client: PageClient,
    /// The first page that it sent.
    page: Option<Answered>,
}

impl Http {
    pub(super) fn open(options: &FeedOptions, setup: &Setup, env: &Env, data: &DataFolder) -> Result<Http> {
        let servers = data.servers(setup, env)?;
        let server = servers.start(SERVER)?;
        let client = connect(&servers.runtime, env, server.address, options)?;
        Ok(Http { servers, server, client, page: None })
    }
}

impl Side for Http {
    fn drain(&mut self) -> Result<Pass> {
        let Http { servers, client, page: first_page, .. } = self;
        client.seek(Start::Beginning);
        servers.runtime.block_on(async {
            let mut pass = Pass::default();
            loop {
                let page = client.next(None).await?;
                pass.pages += 1;
                pass.items += page.items;
                pass.bytes += page.reply.body.len() as u64;
                if page.is_unchanged {
                    return Ok(pass);
                }
                first_page.get_or_insert_with(|| Answered {
                    headers: page
                        .reply
                        .headers()
                        .map(|(name, value)| (name.to_owned(), value.to_owned()))
                        .collect(),
                    body: page.reply.body.to_vec(),
                });
            }
        })
    }

    fn pid(&self) -> u32 {
        self.server.pid()
    }

    fn close(self: Box<Self>) -> Result<Option<Answered>> {
        self.servers.stop(self.server)?;
        Ok(self.page)
    }
}

/// A bare server that sends one page of the real one as often as there are pages.
pub(super) struct Bare {
    server: BareServer,
    runtime: Runtime,
    client: PageClient,
    items: u64,
}

impl Bare {
    pub(super) fn open(
        options: &FeedOptions,
        setup: &Setup,
        env: &Env,
        page: Answered,
        items: Items,
    ) -> Result<Bare> {
        let server = BareServer::start(setup, &page.headers, &page.body)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let client = connect(&runtime, env, server.address, options)?;
        Ok(Bare { server, runtime, client, items: items.count as u64 })
    }
}

impl Side for Bare {
    fn drain(&mut self) -> Result<Pass> {
        let Bare { runtime, client, items, .. } = self;
        runtime.block_on(async {
            let mut pass = Pass::default();
            while pass.items < *items {
                let page = client.next(None).await?;
                ensure!(page.items > 0, "the page that is sent again and again has no items");
                pass.pages += 1;
                // The last page counts as far as it is needed.
                let counted = page.items.min(*items - pass.items);
                pass.bytes += page.reply.body.len() as u64 * counted / page.items.max(1);
                pass.items += counted;
            }
            Ok(pass)
        })
    }

    fn pid(&self) -> u32 {
        self.server.pid()
    }

    fn close(self: Box<Self>) -> Result<Option<Answered>> {
        Ok(None)
    }
}

fn connect(runtime: &Runtime, env: &Env, address: SocketAddr, options: &FeedOptions) -> Result<PageClient> {
    runtime.block_on(PageClient::open(env, address, options.page_items))
}
