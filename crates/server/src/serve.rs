//! `armilla serve`: from settings to a clean end.
//!
//! Order of the start: ports, folder, store, engine, certificate, ready line. Order of the end: stop
//! accepting, answer those who wait for changes, let requests finish, close the engine, close the store, let
//! go of the folder.
//!
//! Invariant: after the first signal the program ends within its grace period, whatever runs; after a second one, at
//! once. That loses nothing that was acknowledged, since nothing is acknowledged before it is on disk.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_env::Env;
use armilla_rest_wire::regions::Regions;
use tokio::net::TcpListener;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};

use crate::limits;
use crate::listening::connection::{Common, Connections};
use crate::listening::listener::{self, Entrance};
use crate::listening::protocol::upgrade::Upgrading;
use crate::listening::protocol::web_socket::WebSocket;
use crate::listening::protocol::{Framed, Http};
use crate::listening::tls;
use crate::metrics::{FigureKeys, Metrics};
use crate::ready;
use crate::requests::api::{Door, Front};
use crate::requests::gremlin::GremlinService;
use crate::requests::handler::Handler;
use crate::requests::hosts::Hosts;
use crate::requests::mongo::MongoService;
use crate::requests::origins::Origins;
use crate::rooms::Rooms;
use crate::rooms::descriptors;
use crate::rooms::memory;
use crate::settings::{Data, Settings};
use crate::shutdown::Signals;
use crate::storage::Storage;

/// Serves until a signal asks for the end.
///
/// This thread waits for signals and for the end, on a runtime of its own: whatever happens to the threads that serve,
/// the end comes in time.
pub(crate) fn run(settings: Settings, env: Env) -> Result<()> {
    let serving = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("armilla")
        .max_blocking_threads(match settings.data {
            Data::Objects { .. } => limits::BLOCKING_THREADS_OF_NODE_MAX,
            Data::Memory | Data::Folder(_) => limits::BLOCKING_THREADS_MAX,
        })
        .build()
        .context("cannot start threads")?;
    let waiting = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let waiting = waiting.context("cannot wait for signals")?;
    let grace = settings.connections.shutdown_timeout;
    let result = waiting.block_on(async {
        let mut signals = Signals::catch()?;
        // Nothing of it depends on this thread.
        let (end, ending) = watch::channel(false);
        let mut starting = serving.spawn(start(settings, env.clone(), ending));
        let mut asked = None;
        let server = loop {
            tokio::select! {
                biased;
                started = &mut starting => match (started.context("starting failed")?, asked) {
                    (Err(error), Some(signal)) => {
                        tracing::info!("{signal}: ending before the start was done: {error:#}");
                        return Ok(());
                    }
                    (started, _) => break started?,
                },
                signal = signals.next() => match asked {
                    // It may have said already that it is ready, and is then ended like any other.
                    None => {
                        asked = Some(signal);
                        end.send_replace(true);
                    }
                    Some(_) => std::process::exit(EXIT_AT_ONCE),
                },
                () = env.clock.sleep(grace), if asked.is_some() => {
                    tracing::warn!("the start did not end in {grace:?}: ending without it");
                    std::process::exit(EXIT_AT_ONCE);
                }
            }
        };
        let signal = match asked {
            Some(signal) => signal,
            None => tokio::select! {
                signal = signals.next() => signal,
                () = server.storage.drained() => "asked to end by `armilla drain`",
                () = server.storage.lost() => {
                    tracing::error!("another armilla has taken the store: ending; what was acknowledged is kept");
                    std::process::exit(EXIT_AT_ONCE);
                }
            },
        };
        tracing::info!("{signal}: letting running requests finish");
        tokio::select! {
            ended = end_on_a_thread(server, grace)? => ended,
            () = env.clock.sleep(grace) => {
                tracing::warn!(
                    "not everything ended in {grace:?}: ending without it; what was acknowledged is kept"
                );
                std::process::exit(EXIT_AT_ONCE);
            }
            signal = signals.next() => {
                tracing::warn!("{signal} again: stopping at once");
                std::process::exit(EXIT_AT_ONCE);
            }
        }
    });
    // Work that does not end would be waited for otherwise.
    serving.shutdown_background();
    result
}

/// A server that serves.
struct Server {
    storage: Storage,
    accepting: JoinHandle<JoinSet<()>>,
    shutdown: watch::Sender<bool>,
    data: Data,
    env: Env,
}

async fn start(settings: Settings, env: Env, mut ending: watch::Receiver<bool>) -> Result<Server> {
    // The ports first: a port in use is the likeliest trouble, and nothing has been touched yet.
    let listeners = bind(&settings)?;
    let addresses = addresses(&listeners)?;
    let connections_max = descriptors::connections(settings.connections.connections_max);
    let ending = async move {
        // Who could ask for the end is gone with the program alone.
        let _ = ending.wait_for(|ending| *ending).await;
    };
    let storage = Storage::open(&settings, &env, ending).await?;
    let tls = tls::server_config(&settings.certificate, storage.tls_folder().as_deref(), &env)?;
    let metrics = Arc::new(Metrics::new());
    let keys = std::iter::once(&settings.key).chain(&settings.secondary_key).chain(&settings.read_only_key);
    let figure_keys = Arc::new(FigureKeys::new(keys.cloned()));
    let (hosts, origins) = (Arc::new(Hosts::new(&settings)), Arc::new(Origins::new(&settings)));
    let rooms = Rooms::new(&env);
    let common = Arc::new(Common {
        metrics: metrics.clone(),
        rooms: rooms.clone(),
        clock: env.clock.clone(),
        settings: settings.connections.clone(),
    });
    let regions = Arc::new(regions(&settings, &addresses));
    let mut entrances = Vec::new();
    for (door, listener) in listeners {
        if door.front == Front::Mongo {
            let api = storage.mongo_api(&settings, &env)?;
            // Ends with the program.
            drop(tokio::spawn(api.expire()));
            let service = MongoService::new(api);
            let connections = Connections::new(Framed::new(service, common.clone()), &tls, common.clone());
            entrances.push(Entrance { listener, connections: Arc::new(connections) });
            continue;
        }
        let handler = Handler {
            front: door.front,
            api: storage.api(door, &settings, &regions, &env)?,
            engine: storage.engine(),
            store: storage.store(),
            metrics: metrics.clone(),
            figure_keys: figure_keys.clone(),
            hosts: hosts.clone(),
            origins: origins.clone(),
            rooms: rooms.clone(),
            env: env.clone(),
            body_timeout: settings.connections.body_timeout,
            slow_request: settings.slow_request,
        };
        let protocol = Http::new(handler, &settings.connections);
        let connections = if door.front == Front::Gremlin {
            let service = WebSocket::new(GremlinService::new(storage.gremlin_api(&settings, &env)?));
            let patient = Arc::new(common.with_idle_timeout(limits::WEB_SOCKET_IDLE_TIMEOUT));
            Connections::new(Upgrading::new(protocol, service, patient.clone()), &tls, patient)
        } else {
            Connections::new(protocol, &tls, common.clone())
        };
        entrances.push(Entrance { listener, connections: Arc::new(connections) });
    }
    let (shutdown, asked) = watch::channel(false);
    let accepting = tokio::spawn(listener::accept(
        entrances,
        connections_max,
        rooms.crowd.clone(),
        env.clock.clone(),
        asked,
    ));
    // Ends with the program.
    let threads = tokio::runtime::Handle::current().metrics().num_workers();
    drop(tokio::spawn(memory::give_back(env.clock.clone(), metrics.clone(), threads)));

    ready::write_hints(&settings, &addresses);
    ready::write_ready_line(&addresses, &settings.data, env.clock.elapsed().as_millis());
    Ok(Server { storage, accepting, shutdown, data: settings.data, env })
}

/// Ends a server on a thread of its own, so that nothing that it waits for keeps anybody else waiting.
fn end_on_a_thread(server: Server, grace: Duration) -> Result<impl Future<Output = Result<()>>> {
    let (tell, told) = oneshot::channel();
    let ending = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let ended = match runtime {
            Ok(runtime) => runtime.block_on(server.end(grace)),
            Err(error) => Err(error).context("cannot end in good order"),
        };
        // Nobody listens any more where it took too long.
        let _ = tell.send(ended);
    };
    std::thread::Builder::new()
        .name("armilla-ending".to_owned())
        .spawn(ending)
        .context("cannot start a thread")?;
    Ok(async move { told.await.context("ending failed")? })
}

impl Server {
    /// Lets requests finish for most of the time, and closes the store in the rest.
    async fn end(self, grace: Duration) -> Result<()> {
        let Server { storage, accepting, shutdown, data, env } = self;
        let time_of_requests = time_of_requests(grace);
        // Other nodes take what this one has while it serves, so that no request finds nobody.
        tokio::select! {
            () = storage.leave() => {}
            () = env.clock.sleep(time_of_requests / 4 * 3) => {
                tracing::warn!("other nodes have not taken over everything yet: they do when this one has ended");
            }
        }
        let _ = shutdown.send(true);
        storage.engine().end_waits();
        // They are waited for here and not by a timer of the threads that serve, which may all be busy.
        tokio::select! {
            open = accepting => finish(open.context("accepting connections failed")?, &env, time_of_requests).await,
            () = env.clock.sleep(time_of_requests) => tracing::warn!("connections are still being accepted"),
        }
        storage.close().await?;
        match &data {
            Data::Memory => tracing::info!("stopped"),
            Data::Folder(folder) => tracing::info!("stopped, {} is closed", folder.display()),
            Data::Objects { url, .. } => tracing::info!("stopped, {url} is closed"),
        }
        Ok(())
    }
}

/// Returns the part of a grace period in which requests may finish.
fn time_of_requests(grace: Duration) -> Duration {
    grace - (grace / 4).min(limits::CLOSING_TIME)
}

/// Opens the ports of all front ends that have one.
fn bind(settings: &Settings) -> Result<Vec<(Door, TcpListener)>> {
    let fronts =
        Front::ALL.into_iter().filter_map(|front| Some((Door::of(front), settings.address_of(front)?)));
    let regions = settings.region_addresses.iter().enumerate();
    let regions = regions.map(|(place, address)| (Door { front: Front::Sql, region: place + 1 }, *address));
    fronts.chain(regions).map(|(door, address)| Ok((door, listener::bind(door, address)?))).collect()
}

/// Returns the account's regions at the ports that they got.
fn regions(settings: &Settings, addresses: &[(Door, SocketAddr)]) -> Regions {
    let port = |region: usize| {
        let at = addresses.iter().find(|(door, _)| *door == Door { front: Front::Sql, region });
        at.map_or(0, |(_, address)| address.port())
    };
    let mut names = settings.region_names.iter();
    let first = names.next().map_or("", String::as_str);
    let others = names.enumerate().map(|(place, name)| (name.clone(), port(place + 1))).collect();
    Regions::new(first, others, settings.is_multi_write)
}

/// Returns where they are.
fn addresses(listeners: &[(Door, TcpListener)]) -> Result<Vec<(Door, SocketAddr)>> {
    let address = |listener: &TcpListener| listener.local_addr().context("cannot ask for the port");
    listeners.iter().map(|(door, listener)| Ok((*door, address(listener)?))).collect()
}

/// The exit code where the end could not be waited for.
const EXIT_AT_ONCE: i32 = 1;

/// Lets open connections finish, and cuts them when that takes too long.
async fn finish(mut open: JoinSet<()>, env: &Env, timeout: Duration) {
    let all = async {
        while let Some(ended) = open.join_next().await {
            listener::report(ended);
        }
    };
    tokio::select! {
        () = all => return,
        () = env.clock.sleep(timeout) => {}
    }
    tracing::warn!("cutting {} connections that did not finish in {timeout:?}", open.len());
    // Not waited for: one that never gives its thread back does not end either.
    open.abort_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_grace_period_is_kept_for_closing() {
        for (grace_ms, requests_ms) in
            [(0, 0), (4, 3), (4_000, 3_000), (7_996, 5_997), (8_000, 6_000), (8_004, 6_004), (60_000, 58_000)]
        {
            let requests = time_of_requests(Duration::from_millis(grace_ms));
            assert_eq!(requests, Duration::from_millis(requests_ms), "{grace_ms}");
        }
    }
}
