//! HTTP until a client asks for another protocol on the same connection, as WebSocket is asked for.
//!
//! A request to change the protocol is looked at as every other one first: who sends it, and to whom. Otherwise any web
//! page could make a browser open such a connection for it.
//!
//! HTTP/2 has no such requests, so inside of TLS it is not agreed on.
//!
//! Not here: what WebSocket is (`web_socket`).

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use hyper_util::server::conn::auto;
use parking_lot::Mutex;

use super::http_stream::HttpStream;
use super::{Http, Protocol, Serving, Session};
use crate::listening::connection::Common;
use crate::listening::stream::Stream;
use crate::metrics::Resource;
use crate::requests::api::Scheme;
use crate::requests::handler::Handler;

/// A front end to whose protocol a connection can be changed.
pub(crate) trait UpgradeService: Send + Sync + 'static {
    /// Answers a request to change the protocol: with status 101 if it is to be changed, and why not otherwise.
    fn accept(&self, request: &Request<Incoming>) -> Response<Full<Bytes>>;

    /// Serves a connection whose protocol was changed, of which some bytes may have been read already.
    fn converse(
        &self,
        common: &Arc<Common>,
        stream: Stream,
        received: Bytes,
        session: Session,
    ) -> impl Future<Output = ()> + Send;
}

/// Requests, each answered by a handler, until one changes the protocol.
pub(crate) struct Upgrading<S> {
    http: Http,
    service: Arc<S>,
    common: Arc<Common>,
}

/// What was agreed upon, once it was.
type Agreed = Arc<Mutex<Option<OnUpgrade>>>;

impl<S: UpgradeService> Upgrading<S> {
    /// Puts a front end behind a port.
    pub(crate) fn new(http: Http, service: S, common: Arc<Common>) -> Upgrading<S> {
        Upgrading { http, service: Arc::new(service), common }
    }

    async fn serve_connection(&self, stream: Stream, mut session: Session) {
        let agreed = Agreed::default();
        self.serve_requests(stream, &mut session, &agreed).await;
        let upgrade = agreed.lock().take();
        // It is there by now, or the connection broke off before.
        let Some(Ok(upgraded)) = (match upgrade {
            Some(upgrade) => Some(upgrade.await),
            None => None,
        }) else {
            return;
        };
        match beneath(upgraded) {
            Some((stream, received)) => {
                self.service.converse(&self.common, stream, received, session).await;
            }
            None => tracing::error!(peer = %session.peer, "a connection was lost while its protocol changed"),
        }
    }

    async fn serve_requests(&self, stream: Stream, session: &mut Session, agreed: &Agreed) {
        let (scheme, peer, activity) = (session.scheme, session.peer, session.activity.clone());
        let stream = HttpStream::new(stream, activity.clone());
        let service = service_fn(|mut request: Request<Incoming>| {
            let (handler, activity, in_flight) =
                (self.http.handler.clone(), activity.clone(), activity.request());
            let (front_end, agreed) = (self.service.clone(), agreed.clone());
            async move {
                let _in_flight = in_flight;
                if !asks_for_change(request.headers()) {
                    return Ok::<_, Infallible>(handler.handle(request, scheme, peer, &activity).await);
                }
                let response = accept(&handler, &*front_end, &request, scheme);
                if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                    let upgrade = hyper::upgrade::on(&mut request);
                    *agreed.lock() = Some(upgrade);
                }
                Ok(response)
            }
        });
        let connection = self.http.stack.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut connection = pin!(connection);
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

impl<S: UpgradeService> Protocol for Upgrading<S> {
    fn tls_names(&self) -> &'static [&'static [u8]] {
        &[b"http/1.1"]
    }

    fn serve(&self, stream: Stream, session: Session) -> Serving<'_> {
        Box::pin(self.serve_connection(stream, session))
    }
}

/// Answers a request to change the protocol, and counts it.
fn accept(
    handler: &Handler,
    front_end: &impl UpgradeService,
    request: &Request<Incoming>,
    scheme: Scheme,
) -> Response<Full<Bytes>> {
    let start = handler.env.clock.elapsed();
    let response = match handler.look_at_sender(request, scheme) {
        Ok(_) => front_end.accept(request),
        Err(refused) => *refused,
    };
    let took = handler.env.clock.elapsed().saturating_sub(start);
    handler.metrics.answered(handler.front, request.method(), Resource::Other, response.status(), took);
    response
}

/// Tells whether a request asks for another protocol.
fn asks_for_change(headers: &HeaderMap) -> bool {
    headers.contains_key(header::UPGRADE) && has_word(headers, &header::CONNECTION, "upgrade")
}

/// Tells whether a header that is a list has a word.
fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let texts = headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|part| part.trim().eq_ignore_ascii_case(word))
}

/// Returns the stream beneath a connection whose protocol was changed, and what was read of it already.
fn beneath(upgraded: Upgraded) -> Option<(Stream, Bytes)> {
    let parts = auto::upgrade::downcast::<TokioIo<HttpStream>>(upgraded).ok()?;
    Some((parts.io.into_inner().into_inner(), parts.read_buf))
}
