//! HTTP/1.1 and HTTP/2, by the preface (under TLS the client has agreed on it before).

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;

use super::http_stream::HttpStream;
use super::{Protocol, Serving, Session};
use crate::limits;
use crate::listening::stream::Stream;
use crate::requests::handler::Handler;
use crate::settings::ConnectionSettings;

/// Requests, each answered by a handler.
pub(crate) struct Http {
    pub(super) handler: Arc<Handler>,
    pub(super) stack: auto::Builder<TokioExecutor>,
}

impl Http {
    /// Prepares for connections.
    pub(crate) fn new(handler: Handler, settings: &ConnectionSettings) -> Http {
        let mut stack = auto::Builder::new(TokioExecutor::new());
        // The HTTP stack's own header timeout also runs between requests: `activity` keeps ours.
        stack
            .http1()
            .timer(TokioTimer::new())
            .header_read_timeout(None)
            .max_buf_size(settings.header_bytes_max as usize);
        // No `pipeline_flush`: with it, the refusal of a head that cannot be parsed is never sent.
        stack
            .http2()
            .timer(TokioTimer::new())
            .max_concurrent_streams(settings.http2_streams_max)
            .max_header_list_size(settings.header_bytes_max)
            .initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
            .initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
            .keep_alive_interval(limits::HTTP2_PING_INTERVAL)
            .keep_alive_timeout(limits::HTTP2_PING_TIMEOUT);
        Http { handler: Arc::new(handler), stack }
    }

    async fn serve_requests(&self, stream: Stream, mut session: Session) {
        let (scheme, peer, activity) = (session.scheme, session.peer, session.activity.clone());
        let service = service_fn(|request| {
            let (handler, activity, in_flight) = (self.handler.clone(), activity.clone(), activity.request());
            async move {
                let _in_flight = in_flight;
                Ok::<_, Infallible>(handler.handle(request, scheme, peer, &activity).await)
            }
        });
        let stream = HttpStream::new(stream, activity.clone());
        let mut connection = pin!(self.stack.serve_connection(TokioIo::new(stream), service));
        let mut is_ending = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%peer, "connection ended: {error}");
                    }
                    return;
                }
                () = session.ending(), if !is_ending => {
                    is_ending = true;
                    connection.as_mut().graceful_shutdown();
                }
            }
        }
    }
}

impl Protocol for Http {
    fn tls_names(&self) -> &'static [&'static [u8]] {
        &[b"h2", b"http/1.1"]
    }

    fn serve(&self, stream: Stream, session: Session) -> Serving<'_> {
        Box::pin(self.serve_requests(stream, session))
    }
}
