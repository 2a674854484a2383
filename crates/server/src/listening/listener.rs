//! Binds the ports and accepts connections, as many at once as allowed on all of them together.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::{Context, Poll};

use anyhow::{Result, anyhow};
use armilla_env::Clock;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::limits::{ACCEPT_BACKLOG, ACCEPT_PAUSE};
use crate::listening::connection::Connections;
use crate::requests::api::{Door, Front};
use crate::rooms::crowd::Crowd;

/// A port that is open, and what serves the connections that come in there.
pub(crate) struct Entrance {
    /// The port.
    pub(crate) listener: TcpListener,
    /// What serves them.
    pub(crate) connections: Arc<Connections>,
}

/// Binds the address of a front end.
pub(crate) fn bind(door: Door, address: SocketAddr) -> Result<TcpListener> {
    let (front, flag) = (door.front, door.front.flag());
    listen(address).map_err(|error| {
        let (ip, port) = (address.ip(), address.port());
        match error.kind() {
            ErrorKind::AddrInUse if door.region > 0 => anyhow!(
                "port {port} on {ip} is in use by another program: stop it, or choose another port for the region with \
                 --regions 'NAME=PORT'"
            ),
            ErrorKind::AddrInUse if front == Front::Sql => anyhow!(
                "port {port} on {ip} is in use by another program: stop it, or choose another port with {flag} \
                 (0 takes a free one)"
            ),
            ErrorKind::AddrInUse => anyhow!(
                "port {port} on {ip} is in use by another program: stop it, choose another port for the Table API \
                 with {flag} (0 takes a free one), or do without it with {flag} off"
            ),
            ErrorKind::PermissionDenied => {
                anyhow!("not allowed to listen on port {port}: choose one above 1023 with {flag}")
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
///
/// Where all places are taken, the connection that has been idle for the longest gives way to the next one.
pub(crate) async fn accept(
    entrances: Vec<Entrance>,
    connections_max: u32,
    crowd: Arc<Crowd>,
    clock: Arc<dyn Clock>,
    mut shutdown: watch::Receiver<bool>,
) -> JoinSet<()> {
    let places = Arc::new(Semaphore::new(connections_max as usize));
    let mut open = JoinSet::new();
    let asked = shutdown.clone();
    let mut next_entrance = 0;
    // The one that was let in and has no place yet. It is one at a time, wherever they come in: nobody else is let in
    // until it has its place.
    let mut waiting: Option<(usize, TcpStream, SocketAddr)> = None;
    loop {
        if let Some((index, socket, peer)) = waiting.take() {
            match places.clone().try_acquire_owned() {
                Ok(place) => {
                    let (connections, asked) = (entrances[index].connections.clone(), asked.clone());
                    open.spawn(async move {
                        connections.serve(socket, peer, asked).await;
                        drop(place);
                    });
                }
                Err(_) => {
                    crowd.close_idlest();
                    waiting = Some((index, socket, peer));
                }
            }
        }
        let mut is_refused = false;
        tokio::select! {
            (index, accepted) = poll_fn(|context| poll_accept(&entrances, next_entrance, context)),
                if waiting.is_none() =>
            {
                next_entrance = (index + 1) % entrances.len();
                match accepted {
                    Ok((socket, peer)) => waiting = Some((index, socket, peer)),
                    Err(error) if is_of_one_connection(&error) => {}
                    Err(error) => {
                        tracing::error!("cannot accept connections, trying again: {error}");
                        // Likely there are no descriptors left: one of an idle connection will do.
                        crowd.close_idlest();
                        is_refused = true;
                    }
                }
            }
            // Tasks that ended are forgotten as we go, or they would pile up.
            Some(ended) = open.join_next() => report(ended),
            () = clock.sleep(ACCEPT_PAUSE), if waiting.is_some() => {}
            _ = shutdown.wait_for(|asked| *asked) => return open,
        }
        if is_refused {
            clock.sleep(ACCEPT_PAUSE).await;
        }
    }
}

/// Takes the next connection of any port, asking them in turn from one on: a busy one does not starve the others.
fn poll_accept(
    entrances: &[Entrance],
    first: usize,
    context: &mut Context<'_>,
) -> Poll<(usize, io::Result<(TcpStream, SocketAddr)>)> {
    for step in 0..entrances.len() {
        let index = (first + step) % entrances.len();
        if let Poll::Ready(accepted) = entrances[index].listener.poll_accept(context) {
            return Poll::Ready((index, accepted));
        }
    }
    Poll::Pending
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
