//! Serves one connection from its first byte to its end.
//!
//! The first byte decides: a TLS handshake begins with 0x16, and no HTTP request does. Then HTTP/2 or
//! HTTP/1.1, by the preface (under TLS the client has agreed on it before).

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

use crate::activity::{Activity, Overdue, Timeouts};
use crate::api::Scheme;
use crate::handler::Handler;
use crate::limits;
use crate::settings::ConnectionSettings;
use crate::stream::Stream;

/// The first byte of a TLS connection: a handshake record.
const TLS_HANDSHAKE: u8 = 0x16;

/// What every connection needs.
pub(crate) struct Connections {
    handler: Arc<Handler>,
    tls: TlsAcceptor,
    http: auto::Builder<TokioExecutor>,
    settings: ConnectionSettings,
}

impl Connections {
    /// Prepares for connections.
    pub(crate) fn new(handler: Handler, tls: TlsAcceptor, settings: ConnectionSettings) -> Connections {
        let mut http = auto::Builder::new(TokioExecutor::new());
        // The HTTP stack's own header timeout also runs between requests: `activity` keeps ours.
        http.http1()
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_buf_size(settings.header_bytes_max as usize);
        // No `pipeline_flush`: with it, the refusal of a head that cannot be parsed is never sent.
        http.http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(settings.http2_streams_max)
            .max_header_list_size(settings.header_bytes_max)
            .initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
            .initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
            .keep_alive_interval(limits::HTTP2_PING_INTERVAL)
            .keep_alive_timeout(limits::HTTP2_PING_TIMEOUT);
        Connections { handler: Arc::new(handler), tls, http, settings }
    }

    /// Serves a connection until it ends, or until the shutdown has let its requests finish.
    pub(crate) async fn serve(
        &self,
        socket: TcpStream,
        peer: SocketAddr,
        mut shutdown: watch::Receiver<bool>,
    ) {
        let _open = self.handler.metrics.connection();
        let rooms = &self.handler.rooms;
        let client = rooms.clients.at(peer.ip());
        let activity = Arc::new(Activity::new(self.handler.env.clock.clone(), client));
        let _guest = rooms.crowd.enter(activity.clone());
        let opening =
            tokio::time::timeout(self.settings.handshake_timeout, self.open(socket, activity.clone()));
        let opened = tokio::select! {
            opened = opening => opened,
            () = activity.asked_to_close() => {
                self.handler.metrics.gave_way();
                return;
            }
            _ = shutdown.wait_for(|asked| *asked) => return,
        };
        match opened {
            Ok(Ok(Some((stream, scheme)))) => {
                self.serve_http(stream, scheme, peer, activity, shutdown).await;
            }
            Ok(Ok(None)) => {}
            Ok(Err(error)) => {
                self.handler.metrics.handshake_failed();
                tracing::debug!(%peer, "connection failed before its first request: {error:#}");
            }
            Err(_) => {
                self.handler.metrics.timed_out();
                tracing::debug!(%peer, "connection closed: it took too long to begin");
            }
        }
    }

    /// Finds out what the client speaks; `None` if it hung up without a word.
    async fn open(&self, socket: TcpStream, activity: Arc<Activity>) -> Result<Option<(Stream, Scheme)>> {
        // Answers are written whole; waiting for more to send along would only add latency.
        socket.set_nodelay(true)?;
        let mut first = [0u8];
        if socket.peek(&mut first).await? == 0 {
            return Ok(None);
        }
        let metrics = self.handler.metrics.clone();
        if first[0] == TLS_HANDSHAKE {
            let stream = self.tls.accept(socket).await?;
            return Ok(Some((Stream::tls(stream, activity, metrics), Scheme::Https)));
        }
        Ok(Some((Stream::plain(socket, activity, metrics), Scheme::Http)))
    }

    async fn serve_http(
        &self,
        stream: Stream,
        scheme: Scheme,
        peer: SocketAddr,
        activity: Arc<Activity>,
        mut shutdown: watch::Receiver<bool>,
    ) {
        let service = service_fn(|request| {
            let (handler, activity, in_flight) = (self.handler.clone(), activity.clone(), activity.request());
            async move {
                let _in_flight = in_flight;
                Ok::<_, Infallible>(handler.handle(request, scheme, peer, &activity).await)
            }
        });
        let mut connection = pin!(self.http.serve_connection(TokioIo::new(stream), service));
        let mut overdue = pin!(self.overdue(&activity));
        let mut is_shutting_down = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, "connection ended: {error}");
                    }
                    return;
                }
                why = overdue.as_mut() => {
                    if why != Overdue::Idle {
                        self.handler.metrics.timed_out();
                    }
                    tracing::debug!(%peer, ?why, "connection closed");
                    return;
                }
                () = activity.asked_to_close() => {
                    self.handler.metrics.gave_way();
                    tracing::debug!(%peer, "connection closed: others need what it holds");
                    return;
                }
                _ = shutdown.wait_for(|asked| *asked), if !is_shutting_down => {
                    is_shutting_down = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }

    /// Waits until the connection has done nothing for too long.
    async fn overdue(&self, activity: &Activity) -> Overdue {
        let timeouts = Timeouts {
            header: self.settings.header_timeout,
            answer: self.settings.body_timeout,
            idle: self.settings.idle_timeout,
        };
        // Looking a few times per timeout is cheaper than moving a timer with every request.
        let shortest = timeouts.header.min(timeouts.answer).min(timeouts.idle);
        let tick = (shortest / 4).max(Duration::from_millis(5));
        loop {
            self.handler.env.clock.sleep(tick).await;
            if let Some(overdue) = activity.overdue(&timeouts) {
                return overdue;
            }
        }
    }
}
