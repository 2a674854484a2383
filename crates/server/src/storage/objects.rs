//! The account in an object store, which one process at a time has, or several nodes (`nodes`).
//!
//! A process takes the lease of the place before it opens anything, and keeps it as long as it serves. The lease is kept by a
//! thread of its own, so that no load makes it late.

mod nodes;

use std::net::SocketAddr;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_env::Env;
use armilla_kv::{Durability, ErrorKind, Store};
use armilla_kv_slate::{Place, SlateOptions, SlateStore};
use armilla_lease::{Lease, LeaseOptions, Tenure};
use armilla_peer::Secret;
use tokio::sync::{oneshot, watch};

pub(crate) use nodes::Node;
use nodes::NodeSettings;

/// What is chosen about a store of objects.
pub(crate) struct ObjectSettings<'s> {
    pub(crate) url: &'s str,
    pub(crate) lease: Duration,
    pub(crate) durability: Durability,
    pub(crate) block_cache_bytes: u64,
    /// A folder for copies, with the bytes that it may hold.
    pub(crate) disk_cache: Option<(&'s Path, u64)>,
    /// Whether none is made where there is none.
    pub(crate) must_exist: bool,
}

/// What a process has to have that serves what lies in an object store.
pub(crate) enum Hold {
    /// All of it.
    Alone(Lone),
    /// Some of it, as one of several nodes.
    Node(Box<Node>),
}

/// The hold of a process on the place of its store.
pub(crate) struct Lone {
    release: oneshot::Sender<()>,
    thread: std::thread::JoinHandle<()>,
    lost: watch::Receiver<bool>,
}

/// Waits until no other process has the place, takes it, and opens the store in it.
pub(crate) async fn open(settings: &ObjectSettings<'_>, env: &Env) -> Result<(Arc<dyn Store>, Hold)> {
    let url = settings.url;
    // Connections belong to the threads on which they were made: each place that is used elsewhere is one of its own.
    let place = || Place::of_url(url).map_err(|error| anyhow!("{error}"));
    if settings.must_exist {
        let has_store = place()?.has_store().await;
        if !has_store.map_err(|error| anyhow!("cannot look at {url}: {error}"))? {
            bail!("there is no store of armilla at {url}");
        }
    }
    let (lone, tenure) = Lone::take(&place()?, settings.lease, env)
        .await
        .with_context(|| format!("cannot take the lease of the store {url}"))?;
    let hold = Hold::Alone(lone);
    if let Err(error) = nodes::check_no_nodes(&place()?, env).await {
        hold.release().await;
        return Err(error);
    }
    opened(settings, place()?, tenure, hold).await
}

/// Joins the nodes that have the place, and opens the store in it.
pub(crate) async fn join(
    settings: &ObjectSettings<'_>,
    address: SocketAddr,
    key: &str,
    env: &Env,
) -> Result<(Arc<dyn Store>, Hold)> {
    let node = NodeSettings { address, lease: settings.lease, secret: Secret::derive(key) };
    let node = Node::join(settings.url, &node, env).await;
    let node = node.with_context(|| format!("cannot join the nodes of {}", settings.url))?;
    let tenure = node.tenure();
    let place = Place::of_url(settings.url).map_err(|error| anyhow!("{error}"))?;
    opened(settings, place, tenure, Hold::Node(Box::new(node))).await
}

/// Opens the store in a place that this process has.
async fn opened(
    settings: &ObjectSettings<'_>,
    place: Place,
    tenure: Tenure,
    hold: Hold,
) -> Result<(Arc<dyn Store>, Hold)> {
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    let options = SlateOptions {
        durability: settings.durability,
        block_cache_bytes: settings.block_cache_bytes,
        disk_cache: settings.disk_cache.map(|(folder, most)| (folder.to_owned(), bytes(most))),
        tenure: Some(tenure),
        ..SlateOptions::default()
    };
    match SlateStore::open(place, &options) {
        Ok(store) => Ok((Arc::new(store), hold)),
        Err(error) => {
            hold.release().await;
            Err(match error.kind() {
                ErrorKind::NewerFormat => anyhow!("{error}: use a newer armilla"),
                _ => anyhow!("cannot open the store {}: {error}", settings.url),
            })
        }
    }
}

impl Hold {
    /// Returns what ends when another process has taken the place, or others have found that this node has ended.
    pub(crate) fn lost(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self {
            Hold::Alone(lone) => Box::pin(lone.lost()),
            Hold::Node(node) => Box::pin(node.lost()),
        }
    }

    /// Returns the node that this process is, if it is one of several.
    pub(crate) fn as_node(&mut self) -> Option<&mut Node> {
        match self {
            Hold::Alone(_) => None,
            Hold::Node(node) => Some(node),
        }
    }

    /// Returns what ends when somebody asks this node to end.
    pub(crate) fn drained(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self {
            Hold::Alone(_) => Box::pin(std::future::pending()),
            Hold::Node(node) => Box::pin(node.drained()),
        }
    }

    /// Returns what ends once other nodes have taken what this one had, where there are others.
    pub(crate) fn leave(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        match self {
            Hold::Alone(_) => Box::pin(std::future::ready(())),
            Hold::Node(node) => Box::pin(node.leave()),
        }
    }

    /// Gives the place up, so that another process need not wait.
    pub(crate) async fn release(self) {
        match self {
            Hold::Alone(lone) => lone.release().await,
            Hold::Node(node) => node.release().await,
        }
    }
}

impl Lone {
    async fn take(place: &Place, length: Duration, env: &Env) -> Result<(Lone, Tenure)> {
        let options =
            LeaseOptions { name: format!("process {}", std::process::id()), length, note: String::new() };
        let (register, env, name) = (place.register("owner"), env.clone(), place.to_string());
        let (taken, told) = oneshot::channel();
        let (release, released) = oneshot::channel();
        let (tell_lost, lost) = watch::channel(false);
        let keep = async move {
            let waiting = |record: &armilla_lease::Record| {
                tracing::info!(
                    "{name} is held by {}: waiting until it is given up, or not renewed for {:?}",
                    record.holder,
                    record.length
                );
            };
            let lease = match Lease::take(register, &options, &env, waiting).await {
                Ok(lease) => lease,
                Err(error) => {
                    // Whoever asked has ended if this fails.
                    let _ = taken.send(Err(error));
                    return;
                }
            };
            if taken.send(Ok(lease.tenure())).is_err() {
                return lease.release().await;
            }
            tokio::select! {
                () = lease.lost() => {
                    tell_lost.send_replace(true);
                }
                // Also where it was dropped.
                _ = released => lease.release().await,
            }
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new()
            .name("armilla-lease".to_owned())
            .spawn(move || runtime.block_on(keep))
            .context("cannot start a thread")?;
        let tenure = told.await.context("it was not answered")??;
        Ok((Lone { release, thread, lost }, tenure))
    }

    /// Returns what ends when another process has taken the place.
    pub(crate) fn lost(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut lost = self.lost.clone();
        async move {
            // One that is given up is not lost.
            if lost.wait_for(|lost| *lost).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Gives the place up, so that another process need not wait.
    pub(crate) async fn release(self) {
        let _ = self.release.send(());
        let ended = tokio::task::spawn_blocking(move || self.thread.join());
        if !matches!(ended.await, Ok(Ok(()))) {
            tracing::warn!("the lease could not be given up");
        }
    }
}
