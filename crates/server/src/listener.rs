//! Binds the port and accepts connections, as many at once as allowed.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use armilla_env::Clock;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::connection::Connections;
use crate::limits::{ACCEPT_BACKLOG, ACCEPT_PAUSE};

/// Binds an address.
pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener> {
    listen(address).map_err(|error| {
        let (ip, port) = (address.ip(), address.port());
        match error.kind() {
            ErrorKind::AddrInUse => anyhow!(
                "port {port} on {ip} is in use by another program: stop it, or choose another port with --port \
                 (0 takes a free one)"
            ),
            ErrorKind::PermissionDenied => {
                anyhow!("not allowed to listen on port {port}: choose one above 1023 with --port")
            }
            ErrorKind::AddrNotAvailable => {
                anyhow!("{ip} is not an address of this machine: choose another with --bind")
            }
            _ => anyhow!("cannot listen on {address}: {error}"),
        }
    })
}

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A restart must not wait for the old connections' last packets. Elsewhere the flag means another thing.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(ACCEPT_BACKLOG)
}

/// Accepts and serves connections until the shutdown; returns those still open.
pub(crate) async fn accept(
    listener: TcpListener,
    connections: Arc<Connections>,
    connections_max: u32,
    clock: Arc<dyn Clock>,
    mut shutdown: watch::Receiver<bool>,
) -> JoinSet<()> {
    let places = Arc::new(Semaphore::new(connections_max as usize));
    let mut open = JoinSet::new();
    let asked = shutdown.clone();
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await.expect("the semaphore is never closed");
            (listener.accept().await, place)
        };
        let (accepted, place) = tokio::select! {
            next = next => next,
            // Tasks that ended are forgotten as we go, or they would pile up.
            Some(ended) = open.join_next() => {
                report(ended);
                continue;
            }
            _ = shutdown.wait_for(|asked| *asked) => return open,
        };
        match accepted {
            Ok((socket, peer)) => {
                let (connections, asked) = (connections.clone(), asked.clone());
                open.spawn(async move {
                    connections.serve(socket, peer, asked).await;
                    drop(place);
                });
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                tracing::error!("cannot accept connections, trying again: {error}");
                clock.sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Writes down what a connection's task left behind when it did not end by itself.
pub(crate) fn report(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!("a connection's task panicked");
    }
}

/// Tells failures of the connection that was about to be accepted from failures of accepting.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionAborted
            | ErrorKind::ConnectionReset
            | ErrorKind::Interrupted
    )
}
