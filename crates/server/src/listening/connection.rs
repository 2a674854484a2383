//! One connection from its first byte to its end, whatever is spoken on it.
//!
//! The first byte decides: a TLS handshake begins with 0x16, and nothing that is spoken here in the clear does. Then the
//! port's protocol takes over, and this watches: that something happens, and that others do not wait for what the
//! connection holds.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use armilla_env::Clock;
use rustls::ServerConfig;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::listening::activity::{Activity, Overdue, Timeouts};
use crate::listening::protocol::{Protocol, Serving, Session};
use crate::listening::stream::Stream;
use crate::listening::tls;
use crate::metrics::Metrics;
use crate::requests::api::Scheme;
use crate::rooms::Rooms;
use crate::settings::ConnectionSettings;

/// The first byte of a TLS connection: a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;

/// The second byte of a TLS record.
const TLS_MAJOR_VERSION: u8 = 0x03;

/// Between two looks at the first bytes of a connection, where they do not come at once.
const FIRST_BYTES_PAUSE: Duration = Duration::from_millis(1);

/// What the connections of all ports share.
pub(crate) struct Common {
    /// The figures.
    pub(crate) metrics: Arc<Metrics>,
    /// Where what clients make the server hold is counted.
    pub(crate) rooms: Arc<Rooms>,
    /// The time.
    pub(crate) clock: Arc<dyn Clock>,
    /// Bounds and timeouts.
    pub(crate) settings: ConnectionSettings,
}

impl Common {
    /// Returns the same for a port whose connections may rest for longer.
    pub(crate) fn with_idle_timeout(&self, idle_timeout: Duration) -> Common {
        let Common { metrics, rooms, clock, settings } = self;
        let idle_timeout = settings.idle_timeout.max(idle_timeout);
        Common {
            metrics: metrics.clone(),
            rooms: rooms.clone(),
            clock: clock.clone(),
            settings: ConnectionSettings { idle_timeout, ..settings.clone() },
        }
    }
}

/// What the connections of one port need.
pub(crate) struct Connections {
    protocol: Box<dyn Protocol>,
    tls: TlsAcceptor,
    common: Arc<Common>,
}

impl Connections {
    /// Prepares for connections.
    pub(crate) fn new(protocol: impl Protocol, tls: &ServerConfig, common: Arc<Common>) -> Connections {
        let tls = tls::acceptor(tls, protocol.tls_names());
        Connections { protocol: Box::new(protocol), tls, common }
    }

    /// Serves a connection until it ends, or until the shutdown has let what began on it finish.
    pub(crate) async fn serve(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        mut shutdown: watch::Receiver<bool>,
    ) {
        let Common { metrics, rooms, clock, settings } = &*self.common;
        let _open = metrics.connection();
        let client = rooms.clients.at(peer.ip());
        let activity = Arc::new(Activity::new(clock.clone(), client));
        let _guest = rooms.crowd.enter(activity.clone());
        let opening = tokio::time::timeout(settings.handshake_timeout, self.open(socket, activity.clone()));
        let opened = tokio::select! {
            opened = opening => opened,
            () = activity.asked_to_close() => {
                metrics.gave_way();
                return;
            }
            _ = shutdown.wait_for(|asked| *asked) => return,
        };
        match opened {
            Ok(Ok(Some((stream, scheme)))) => {
                let came_to = stream.came_to();
                let session = Session { scheme, peer, came_to, activity: activity.clone(), shutdown };
                self.watch(self.protocol.serve(stream, session), peer, &activity).await;
            }
            Ok(Ok(None)) => {}
            Ok(Err(error)) => {
                metrics.handshake_failed();
                tracing::debug!(%peer, "connection failed before its first request: {error:#}");
            }
            Err(_) => {
                metrics.timed_out();
                tracing::debug!(%peer, "connection closed: it took too long to begin");
            }
        }
    }

    /// Finds out whether the client speaks TLS; `None` if it hung up without a word.
    async fn open(&self, socket: TcpStream, activity: Arc<Activity>) -> Result<Option<(Stream, Scheme)>> {
        // Answers are written whole; waiting for more to send along would only add latency.
        socket.set_nodelay(true)?;
        let mut first = [0u8; 3];
        let mut count = socket.peek(&mut first).await?;
        // A message of MongoDB may begin with the same byte, or the same two: its length. Then the third is zero.
        while count > 0 && count < first.len() && first[0] == TLS_HANDSHAKE {
            self.common.clock.sleep(FIRST_BYTES_PAUSE).await;
            count = socket.peek(&mut first).await?;
        }
        if count == 0 {
            return Ok(None);
        }
        let metrics = self.common.metrics.clone();
        if first[..2] == [TLS_HANDSHAKE, TLS_MAJOR_VERSION] && first[2] != 0 {
            let stream = self.tls.accept(socket).await?;
            return Ok(Some((Stream::tls(stream, activity, metrics), Scheme::Https)));
        }
        Ok(Some((Stream::plain(socket, activity, metrics), Scheme::Http)))
    }

    /// Lets a protocol serve, and ends it where the client does nothing for too long or has to give way.
    async fn watch(&self, serving: Serving<'_>, peer: SocketAddr, activity: &Activity) {
        let metrics = &self.common.metrics;
        tokio::select! {
            () = serving => {}
            why = self.overdue(activity) => {
                if why != Overdue::Idle {
                    metrics.timed_out();
                }
                tracing::debug!(%peer, ?why, "connection closed");
            }
            () = activity.asked_to_close() => {
                metrics.gave_way();
                tracing::debug!(%peer, "connection closed: others need what it holds");
            }
        }
    }

    /// Waits until the connection has done nothing for too long.
    async fn overdue(&self, activity: &Activity) -> Overdue {
        let Common { clock, settings, .. } = &*self.common;
        let timeouts = Timeouts {
            header: settings.header_timeout,
            answer: settings.body_timeout,
            idle: settings.idle_timeout,
        };
        // Looking a few times per timeout is cheaper than moving a timer with every request.
        let shortest = timeouts.header.min(timeouts.answer).min(timeouts.idle);
        let tick = (shortest / 4).max(Duration::from_millis(5));
        loop {
            clock.sleep(tick).await;
            if let Some(overdue) = activity.overdue(&timeouts) {
                return overdue;
            }
        }
    }
}
