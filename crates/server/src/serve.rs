//! `armilla serve`: from settings to a clean end.
//!
//! Order of the start: ports, folder, store, engine, certificate, ready line. Order of the end: stop
//! accepting, answer those who wait for changes, let requests finish, close the engine, close the store, let
//! go of the folder.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_env::Env;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use crate::api::Front;
use crate::connection::Connections;
use crate::handler::Handler;
use crate::listener::{self, Entrance};
use crate::metrics::Metrics;
use crate::ready;
use crate::settings::{Data, Settings};
use crate::shutdown::Signals;
use crate::storage::Storage;
use crate::tls;

/// Serves until a signal asks for the end.
pub(crate) fn run(settings: Settings, env: Env) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_name("armilla")
        .build()
        .context("cannot start threads")?;
    runtime.block_on(serve(settings, env))
}

async fn serve(settings: Settings, env: Env) -> Result<()> {
    let mut signals = Signals::catch()?;
    // The ports first: a port in use is the likeliest trouble, and nothing has been touched yet.
    let listeners = bind(&settings)?;
    let addresses = addresses(&listeners)?;
    let storage = Storage::open(&settings, &env).await?;
    let tls = tls::server_config(&settings.certificate, storage.tls_folder().as_deref(), &env)?;
    let metrics = Arc::new(Metrics::new());
    let mut entrances = Vec::new();
    for (front, listener) in listeners {
        let handler = Handler {
            front,
            api: storage.api(front, &settings, &env)?,
            engine: storage.engine(),
            store: storage.store(),
            metrics: metrics.clone(),
            env: env.clone(),
            body_timeout: settings.connections.body_timeout,
            slow_request: settings.slow_request,
        };
        let connections =
            Connections::new(handler, TlsAcceptor::from(tls.clone()), settings.connections.clone());
        entrances.push(Entrance { listener, connections: Arc::new(connections) });
    }
    let (shutdown, asked) = watch::channel(false);
    let accepting = tokio::spawn(listener::accept(
        entrances,
        settings.connections.connections_max,
        env.clock.clone(),
        asked,
    ));

    ready::write_hints(&settings, &addresses);
    ready::write_ready_line(&addresses, &settings.data, env.clock.elapsed().as_millis());

    let signal = signals.next().await;
    tracing::info!("{signal}: letting running requests finish");
    let _ = shutdown.send(true);
    storage.engine().end_waits();
    let ending = async {
        let open = accepting.await.context("accepting connections failed")?;
        finish(open, &env, settings.connections.shutdown_timeout).await;
        storage.close().await
    };
    tokio::select! {
        ended = ending => ended?,
        signal = signals.next() => {
            tracing::warn!("{signal} again: stopping at once");
            std::process::exit(EXIT_AT_ONCE);
        }
    }
    match &settings.data {
        Data::Memory => tracing::info!("stopped"),
        Data::Folder(folder) => tracing::info!("stopped, {} is closed", folder.display()),
    }
    Ok(())
}

/// Opens the ports of all front ends that have one.
fn bind(settings: &Settings) -> Result<Vec<(Front, TcpListener)>> {
    let fronts = Front::ALL.into_iter().filter_map(|front| Some((front, settings.address_of(front)?)));
    fronts.map(|(front, address)| Ok((front, listener::bind(front, address)?))).collect()
}

/// Returns where they are.
fn addresses(listeners: &[(Front, TcpListener)]) -> Result<Vec<(Front, SocketAddr)>> {
    let address = |listener: &TcpListener| listener.local_addr().context("cannot ask for the port");
    listeners.iter().map(|(front, listener)| Ok((*front, address(listener)?))).collect()
}

/// The exit code when a second signal did not let us finish.
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
    open.shutdown().await;
}
