//! Answers one request: health and metrics of the SQL port here, everything else by the port's API.
//!
//! The ports of the Table API have no paths of ours: a table may be called `metrics`.
//!
//! Every request is counted and timed; a body that stands still, and a panic, become answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use armilla_engine::{Caller, Engine};
use armilla_env::Env;
use armilla_kv::Store;
use bytes::Bytes;
use http::{Method, Request, Response, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use tracing::Instrument as _;

use crate::answer;
use crate::api::{Api, Front, Scheme};
use crate::catch_panic::CatchPanic;
use crate::limits::BODY_TOTAL_TIMEOUT;
use crate::metrics::{Metrics, Resource};
use crate::timed_body::TimedBody;
use crate::waiting;

/// Headers that name a request in the log and in the client's error: of the SQL API, then of the Table API, where
/// the answer has a name of its own.
const ACTIVITY_IDS: [&str; 3] = ["x-ms-activity-id", "x-ms-request-id", "x-ms-client-request-id"];

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
    ) -> Response<Full<Bytes>> {
        let start = self.env.clock.elapsed();
        let _in_flight = self.metrics.request();
        let method = request.method().clone();
        let uri = request.uri().clone();
        let resource = match self.front {
            Front::Sql => Resource::of_request(uri.path(), request.headers()),
            Front::Table | Front::StorageTable => Resource::of_table_request(&uri),
        };
        let span = tracing::debug_span!(
            "request",
            api = self.front.label(),
            %method,
            path = uri.path(),
            %peer,
            activity_id = activity_id(request.headers()),
        );
        let answered =
            CatchPanic::new(self.answer(request, scheme, resource, peer)).instrument(span.clone()).await;
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

    async fn answer(
        &self,
        request: Request<Incoming>,
        scheme: Scheme,
        resource: Resource,
        peer: SocketAddr,
    ) -> Response<Full<Bytes>> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        match resource {
            Resource::Health if is_read => return answer::healthy(),
            Resource::Metrics if is_read => {
                return answer::metrics(self.metrics_text());
            }
            _ => {}
        }
        let request = request
            .map(|body| TimedBody::new(body, self.env.clock.clone(), self.body_timeout, BODY_TOTAL_TIMEOUT));
        let stalled = request.body().stalled();
        let response = self.api.handle(request, scheme, peer.ip()).await;
        if stalled.get() {
            self.metrics.timed_out();
            return answer::body_stalled(self.front);
        }
        response
    }

    fn metrics_text(&self) -> String {
        // Whoever may do everything may see everything; a server that is closing shows the rest.
        let containers = self.engine.partitions(&Caller::full()).unwrap_or_else(|error| {
            tracing::warn!("no figures of partitions: {error}");
            Vec::new()
        });
        self.metrics.render(&self.store.stats(), &containers, self.env.clock.elapsed())
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
        if self.slow_request.is_some_and(|threshold| took >= threshold.saturating_add(waited_max)) {
            let activity_id = activity_id(response.headers());
            let api = self.front.label();
            tracing::warn!(api, %method, path = uri.path(), status, took_us, activity_id, "slow request");
        }
        span.in_scope(|| tracing::debug!(status, took_us, "answered"));
    }
}

fn activity_id(headers: &http::HeaderMap) -> &str {
    let value = ACTIVITY_IDS.iter().find_map(|name| headers.get(*name));
    value.and_then(|value| value.to_str().ok()).unwrap_or("")
}
