//! Answers one request: health and metrics of the SQL port here, everything else by the port's API.
//!
//! The ports of the Table API have no paths of ours: a table may be called `metrics`.
//!
//! Before anything else it is looked at who sends a request, and to whom. Every request is counted and timed, and what
//! it makes the server hold is counted, too; a body that stands still, and a panic, become answers.

use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use armilla_engine::{Caller, Engine};
use armilla_env::Env;
use armilla_explorer::Onward;
use armilla_kv::Store;
use armilla_rest_wire::names;
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, Uri, header};
use http_body_util::Full;
use hyper::body::Incoming;
use tracing::Instrument as _;

use crate::limits::{ANSWER_BYTES_EXPECTED, BODY_TOTAL_TIMEOUT, PAGE_BYTES_EXPECTED};
use crate::listening::activity::Activity;
use crate::metrics::{FigureKeys, Metrics, Resource};
use crate::requests::answer;
use crate::requests::api::{Api, Front, Scheme};
use crate::requests::catch_panic::CatchPanic;
use crate::requests::hosts::Hosts;
use crate::requests::origins::{self, Origins, Sender};
use crate::requests::waiting;
use crate::rooms::Rooms;
use crate::rooms::gathered_body::{BodyTimes, GatheredBody, GivenUp};

/// Headers that name a request in the log and in the client's error: of the SQL API, then of the Table API, where
/// the answer has a name of its own.
static ACTIVITY_IDS: [&HeaderName; 3] = [&names::ACTIVITY_ID, &names::REQUEST_ID, &names::CLIENT_REQUEST_ID];

/// What a client is told that has no room.
const NO_ROOM: &str = "the server holds as much of requests and answers as it can: try again in a moment, with fewer \
                       requests at the same time, and read the answers";

/// What somebody is told who may not ask.
type Refused = Box<Response<Full<Bytes>>>;

/// What every request to a port needs.
pub(crate) struct Handler {
    /// Whose port it is.
    pub(crate) front: Front,
    /// The API.
    pub(crate) api: Api,
    /// The engine, for the figures of its partitions.
    pub(crate) engine: Engine,
    /// The store, for its figures.
    pub(crate) store: Arc<dyn Store>,
    /// The figures.
    pub(crate) metrics: Arc<Metrics>,
    /// Who may see them.
    pub(crate) figure_keys: Arc<FigureKeys>,
    /// The names of the server.
    pub(crate) hosts: Arc<Hosts>,
    /// The web pages that may ask.
    pub(crate) origins: Arc<Origins>,
    /// Where bodies and answers are counted.
    pub(crate) rooms: Arc<Rooms>,
    /// The time.
    pub(crate) env: Env,
    /// How long a request body may stand still.
    pub(crate) body_timeout: Duration,
    /// From how long on a request is worth a warning.
    pub(crate) slow_request: Option<Duration>,
}

impl Handler {
    /// Answers a request.
    pub(crate) async fn handle(
        &self,
        request: Request<Incoming>,
        scheme: Scheme,
        peer: SocketAddr,
        activity: &Arc<Activity>,
    ) -> Response<Full<Bytes>> {
        let start = self.env.clock.elapsed();
        let _in_flight = self.metrics.request();
        let method = request.method().clone();
        let uri = request.uri().clone();
        let resource = self.resource(&request);
        let span = tracing::debug_span!(
            "request",
            api = self.front.label(),
            %method,
            path = uri.path(),
            %peer,
            activity_id = activity_id(request.headers()),
        );
        let answered =
            CatchPanic::new(self.answer(request, scheme, peer, activity)).instrument(span.clone()).await;
        let took = self.env.clock.elapsed().saturating_sub(start);
        let response = match answered {
            Ok(response) => response,
            Err(panicked) => {
                self.metrics.panicked();
                tracing::error!(%method, path = uri.path(), "request panicked: {panicked}");
                answer::internal(self.front)
            }
        };
        self.metrics.answered(self.front, &method, resource, response.status(), took);
        self.log(&span, &method, &uri, &response, took);
        response
    }

    /// Tells what a request is about.
    fn resource<B>(&self, request: &Request<B>) -> Resource {
        match self.front {
            _ if request.extensions().get() == Some(&Onward::Table) => {
                Resource::of_table_request(request.uri())
            }
            Front::Sql | Front::Mongo | Front::Gremlin => {
                Resource::of_request(request.uri().path(), request.headers())
            }
            Front::Table | Front::StorageTable => Resource::of_table_request(request.uri()),
        }
    }

    async fn answer(
        &self,
        request: Request<Incoming>,
        scheme: Scheme,
        peer: SocketAddr,
        activity: &Arc<Activity>,
    ) -> Response<Full<Bytes>> {
        let page = match self.look_at_sender(&request, scheme) {
            Ok(page) => page,
            Err(refused) => return *refused,
        };
        if let Some(page) = &page
            && origins::is_preflight(request.method(), request.headers())
        {
            return answer::preflight(origins::preflight(page, request.headers()));
        }
        let mut response = match self.api.enter(request) {
            Ok(request) => {
                let resource = self.resource(&request);
                self.admitted(request, scheme, resource, peer, activity).await
            }
            Err(refused) => *refused,
        };
        if let Some(page) = page {
            origins::show(&page, response.headers_mut());
        }
        response
    }

    /// Looks at who sends a request, and to whom; returns the web page that may, if it is one, or why it may not.
    pub(crate) fn look_at_sender<B>(
        &self,
        request: &Request<B>,
        scheme: Scheme,
    ) -> Result<Option<HeaderValue>, Refused> {
        if let Err(unknown) = self.hosts.check(request.uri(), request.headers()) {
            return Err(Box::new(answer::host_refused(self.front, &unknown.message())));
        }
        let (method, uri, headers) = (request.method(), request.uri(), request.headers());
        if self.api.keeps_to_itself(uri.path()) {
            return match self.origins.own_sender(method, uri, headers, scheme) {
                Sender::Own => Ok(None),
                Sender::Page(_) | Sender::Foreign(_) => {
                    Err(Box::new(answer::origin_refused(self.front, origins::OWN_PAGE_ONLY)))
                }
            };
        }
        match self.origins.sender(method, uri, headers, scheme) {
            Sender::Own => Ok(None),
            Sender::Page(page) => Ok(Some(page)),
            Sender::Foreign(Some(origin)) if self.api.lets_in(&origin, request.method()) => Ok(None),
            Sender::Foreign(origin) => {
                let refusal = origins::refusal(origin.as_deref());
                Err(Box::new(answer::origin_refused(self.front, &refusal)))
            }
        }
    }

    /// Answers a request that was sent to us by somebody who may.
    async fn admitted(
        &self,
        request: Request<Incoming>,
        scheme: Scheme,
        resource: Resource,
        peer: SocketAddr,
        activity: &Arc<Activity>,
    ) -> Response<Full<Bytes>> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match resource {
            Resource::Health if is_read => return self.health(),
            Resource::Metrics if is_read && !self.figure_keys.admit(peer.ip(), request.headers()) => {
                return answer::metrics_refused();
            }
            _ => {}
        }
        let is_query = is_query(request.headers());
        let is_figures = is_read && resource == Resource::Metrics;
        let is_page = is_query || is_figures || (is_read && is_list(resource, request.uri().path()));
        let expected = if is_page { PAGE_BYTES_EXPECTED } else { ANSWER_BYTES_EXPECTED };
        let Ok(expected) = self.rooms.before_answer(activity, expected).await else {
            return answer::no_room(self.front, NO_ROOM);
        };
        if is_figures {
            return self.hold(answer::metrics(self.metrics_text()), activity, true);
        }
        let times = BodyTimes { piece: self.body_timeout, total: BODY_TOTAL_TIMEOUT };
        let (head, body) = request.into_parts();
        // Until the request is answered, since the body is held as long.
        let (body, watch) = GatheredBody::new(body, times, self.env.clock.clone(), &self.rooms, activity);
        // It is large, and would be moved with each of the futures around it.
        let answer = Box::pin(self.api.handle(Request::from_parts(head, body), scheme, peer.ip()));
        let response = answer.await;
        drop(expected);
        match watch.given_up() {
            Some(GivenUp::Stalled) => {
                self.metrics.timed_out();
                answer::body_stalled(self.front)
            }
            Some(GivenUp::NoRoom) => answer::no_room(self.front, NO_ROOM),
            None => self.hold(response, activity, is_read || is_query),
        }
    }

    fn health(&self) -> Response<Full<Bytes>> {
        match self.store.trouble() {
            None => answer::healthy(),
            Some(reason) => answer::troubled(&reason),
        }
    }

    /// Counts an answer until it is sent.
    fn hold(
        &self,
        response: Response<Full<Bytes>>,
        activity: &Arc<Activity>,
        can_be_repeated: bool,
    ) -> Response<Full<Bytes>> {
        let (head, mut body) = response.into_parts();
        let polled =
            http_body::Body::poll_frame(Pin::new(&mut body), &mut Context::from_waker(Waker::noop()));
        // A body that is all there is there at once.
        let Poll::Ready(Some(Ok(frame))) = polled else { return Response::from_parts(head, body) };
        let bytes = frame.into_data().unwrap_or_default();
        match self.rooms.hold_answer(activity, bytes, can_be_repeated) {
            Ok(bytes) => Response::from_parts(head, Full::new(bytes)),
            Err(_) => answer::no_room(self.front, NO_ROOM),
        }
    }

    fn metrics_text(&self) -> String {
        // Whoever may do everything may see everything; a server that is closing shows the rest.
        let containers = self.engine.partitions(&Caller::full()).unwrap_or_else(|error| {
            tracing::warn!("no figures of partitions: {error}");
            Vec::new()
        });
        let (stats, held) = (self.store.stats(), self.rooms.held());
        let nodes = self.engine.node_figures();
        self.metrics.render(&stats, &containers, nodes.as_ref(), held, self.env.clock.elapsed())
    }

    fn log(
        &self,
        span: &tracing::Span,
        method: &Method,
        uri: &Uri,
        response: &Response<Full<Bytes>>,
        took: Duration,
    ) {
        let status = response.status().as_u16();
        let took_us = took.as_micros() as u64;
        let waited_max = waiting::waited_max(response.headers());
        // Advice is made by doing things again and again; it is asked for by people who know.
        let is_long = uri.path().ends_with("/_armilla/advice");
        let is_slow = |threshold: Duration| took >= threshold.saturating_add(waited_max);
        if !is_long && self.slow_request.is_some_and(is_slow) {
            let activity_id = activity_id(response.headers());
            let api = self.front.label();
            tracing::warn!(api, %method, path = uri.path(), status, took_us, activity_id, "slow request");
        }
        span.in_scope(|| tracing::debug!(status, took_us, "answered"));
    }
}

/// Tells whether a request is a query, which comes as a `POST` and changes nothing.
fn is_query(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).map(|value| value.as_bytes());
    let starts_with = |bytes: &[u8]| {
        bytes
            .get(..QUERY_CONTENT_TYPE.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(QUERY_CONTENT_TYPE))
    };
    content_type.is_some_and(starts_with)
        || QUERY_HEADERS.iter().any(|name| {
            headers.get(*name).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true"))
        })
}

/// Tells whether a request reads many items and not one.
fn is_list(resource: Resource, path: &str) -> bool {
    match resource {
        Resource::ChangeFeed => true,
        Resource::Entities => !path.contains("RowKey"),
        Resource::Items => path.trim_end_matches('/').ends_with("/docs"),
        _ => false,
    }
}

/// What queries say that they are.
const QUERY_CONTENT_TYPE: &[u8] = b"application/query+json";
/// See [`QUERY_CONTENT_TYPE`].
static QUERY_HEADERS: [&HeaderName; 2] = [&names::IS_QUERY, &names::IS_QUERY_LEGACY];

fn activity_id(headers: &http::HeaderMap) -> &str {
    let value = ACTIVITY_IDS.iter().find_map(|name| headers.get(*name));
    value.and_then(|value| value.to_str().ok()).unwrap_or("")
}
