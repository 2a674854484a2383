//! Scripts over HTTP, one to a request.
//!
//! The body is an object with `gremlin`, and perhaps `bindings`, `language` and `aliases`; who asks is in the header
//! `Authorization`, as `Basic` with the name of the graph and a key. The answer is one message as WebSocket has it, in the
//! format that `Accept` asks for. Where the server knows already who asks, `x-armilla-graph` names the graph.

use std::sync::Arc;

use armilla_engine::Access;
use armilla_gremlin_wire::{Format, Operation, Request as GremlinRequest};
use armilla_rest_wire::authorization::{KeyAccess, SignedIn};
use armilla_rest_wire::body::{self, BodyError, BodyLimits};
use armilla_rest_wire::percent;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::Full;

use crate::Shared;
use crate::connection::{MessageKind, Session};
use crate::error_map::UNAUTHORIZED;
use crate::failure::{Costs, Failure, FailureKind, written};
use crate::job::{Job, Traversal};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::options::GraphName;

/// Names the graph of a request whose sender is known.
static GRAPH: HeaderName = HeaderName::from_static("x-armilla-graph");

const LIMITS: BodyLimits =
    BodyLimits { bytes_max: MESSAGE_BYTES_MAX, drain_bytes_max: 2 * MESSAGE_BYTES_MAX };

/// What a client is told that asks for a page.
const NO_PAGE: &str = "this port speaks Gremlin: connect with WebSocket (a driver of TinkerPop), or POST a script as \
                       {\"gremlin\": \"g.V().count()\"} with the header Authorization: Basic and \
                       /dbs/<database>/colls/<graph>:<key>";

/// Answers a request.
pub(crate) async fn handle<B>(shared: &Arc<Shared>, request: Request<B>) -> Response<Full<Bytes>>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: std::fmt::Display,
{
    if request.method() != Method::POST {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, NO_PAGE);
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let (head, sent) = request.into_parts();
    let format = match format(&head.headers, shared) {
        Ok(format) => format,
        Err(failure) => return refused(shared, Format::Untyped, None, &failure),
    };
    let session = match session(&head, shared) {
        Ok(session) => session,
        Err(failure) => return refused(shared, format, None, &failure),
    };
    let sent = match body::read(sent, LIMITS).await {
        Ok(sent) => sent,
        Err(BodyError::TooLarge) => {
            let failure = Failure::plain(498, 1004, "the request is too large: send a shorter script");
            return refused(shared, format, None, &failure);
        }
        Err(BodyError::Broken(error)) => {
            tracing::debug!("a request broke off: {error}");
            return refused(
                shared,
                format,
                None,
                &Failure::plain(498, 1004, "the request broke off: send it again"),
            );
        }
    };
    let request = match GremlinRequest::read_script(&sent, shared.new_uuid()) {
        Ok(request) => request,
        Err(error) => return refused(shared, format, error.id(), &Failure::from(error.clone())),
    };
    let eval = match request.operation() {
        Ok(Operation::Eval(eval)) => eval,
        Ok(_) => {
            let failure = Failure::new(498, 1004, FailureKind::Malformed, "only scripts are taken over HTTP");
            return refused(shared, format, Some(request.id), &failure);
        }
        Err(error) => return refused(shared, format, Some(request.id), &Failure::from(error)),
    };
    let traversal = Traversal::Script(Box::new(eval));
    let (kind, id, bytes) = (MessageKind::Text, request.id, sent.len());
    let job = Job {
        shared: shared.clone(),
        places: None,
        session,
        kind,
        format,
        id,
        traversal,
        bytes,
        _hold: None,
    };
    let (code, inner, answer) = job.run_whole().await;
    answered(format, code, inner, answer)
}

/// Finds the format that a client wants its answer in.
fn format(headers: &HeaderMap, shared: &Shared) -> Result<Format, Failure> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or("*/*");
    for mime in accept.split(',').map(str::trim) {
        if mime.starts_with("*/*") || mime.starts_with("application/*") {
            return Ok(Format::Untyped);
        }
        if let Some(format) = Format::of_mime(mime, shared.options.graphson2) {
            return Ok(format);
        }
    }
    Err(Failure::plain(498, 1004, "no format of the header Accept is spoken here: ask for application/json"))
}

/// Finds out who asks.
fn session(head: &Parts, shared: &Shared) -> Result<Session, Failure> {
    if let Some(SignedIn(access)) = head.extensions.get() {
        let access = match access {
            KeyAccess::ReadWrite => Access::Full,
            KeyAccess::ReadOnly => Access::ReadOnly,
        };
        return Ok(Session { access, graph: Some(graph(&head.headers)?) });
    }
    let Some(authorization) = head.headers.get(header::AUTHORIZATION) else {
        if shared.options.is_open {
            return Ok(Session { access: Access::Full, graph: None });
        }
        return Err(Failure::plain(401, 401, UNAUTHORIZED));
    };
    let unauthorized = || Failure::plain(401, 401, UNAUTHORIZED);
    let text = authorization.to_str().map_err(|_| unauthorized())?;
    let (scheme, token) = text.split_once(' ').ok_or_else(unauthorized)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(unauthorized());
    }
    let decoded = STANDARD.decode(token.trim()).map_err(|_| unauthorized())?;
    let decoded = String::from_utf8(decoded).map_err(|_| unauthorized())?;
    let (user, password) = decoded.split_once(':').ok_or_else(unauthorized)?;
    shared.log_in(user, password)
}

/// Finds the graph that a request names, whose text is coded as in an address.
fn graph(headers: &HeaderMap) -> Result<GraphName, Failure> {
    let named = headers.get(&GRAPH).and_then(|value| value.to_str().ok()).and_then(percent::decode);
    let graph =
        named.as_deref().ok_or("the header x-armilla-graph has to name the graph").and_then(str::parse);
    graph.map_err(|why| Failure::plain(498, 1004, why))
}

fn refused(shared: &Shared, format: Format, id: Option<u128>, failure: &Failure) -> Response<Full<Bytes>> {
    let costs = Costs { activity_id: shared.new_uuid(), ..Costs::default() };
    answered(format, failure.code, failure.inner, written(&failure.response(id, &costs), format))
}

fn answered(format: Format, code: u16, inner: i32, answer: Vec<u8>) -> Response<Full<Bytes>> {
    let status = match (code, inner) {
        (200 | 204 | 206, _) => StatusCode::OK,
        (401, _) => StatusCode::UNAUTHORIZED,
        (498 | 499, _) => StatusCode::BAD_REQUEST,
        (_, 403) => StatusCode::FORBIDDEN,
        (_, 404) => StatusCode::NOT_FOUND,
        (_, 409) => StatusCode::CONFLICT,
        (_, 412) => StatusCode::PRECONDITION_FAILED,
        (_, 429) => StatusCode::TOO_MANY_REQUESTS,
        (597, 400) => StatusCode::BAD_REQUEST,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    };
    let mut response = Response::new(Full::from(answer));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(format.mime()));
    if status == StatusCode::UNAUTHORIZED {
        let challenge = HeaderValue::from_static("Basic realm=\"/dbs/<database>/colls/<graph>\"");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

fn text(status: StatusCode, text: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!("{text}\n")));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response
}
