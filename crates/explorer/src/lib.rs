//! `/_explorer/...`: the page that shows the account in a browser, and the sessions by which it asks.
//!
//! ```text
//! GET    /_explorer/                   the page; also /_explorer/index.html
//! GET    /_explorer/assets/...         what it is made of, named by content
//! GET    /_explorer/session            who the page is taken for, if it says what it was told when it signed in
//! POST   /_explorer/session            {"key":"..."}, {"token":"..."} or {}: signs in
//! DELETE /_explorer/session            signs out
//! ANY    /_explorer/rest/...           a request of the SQL API or of the administration, without a signature
//! ANY    /_explorer/table/...          one of the Table API
//! POST   /_explorer/gremlin            one of the Gremlin API, as it is asked over HTTP
//! POST   /_explorer/mongo              a message of the MongoDB API, answered with one
//! ```
//!
//! ```text
//! page        the files of the page, and the headers that keep foreign content out of it
//! sessions    who has signed in
//! sign_in     what is said of a session, and how one begins
//! onward      requests that go on to an API
//! ```
//!
//! The browser never holds a key: it has a cookie that scripts cannot read, and every request of the page carries a token
//! besides, which pages of other origins do not know. [`Explorer::pass`] puts what the session permits in the place of both.
//!
//! Invariants:
//! * no request goes on to an API without a session;
//! * a session permits what the key or token did that it was begun with, and ends with the process at the latest;
//! * without a key a session begins only for a caller on this machine, where the well-known key is the key.
//!
//! Not here: names by which the server is asked, and pages of other origins, which the server refuses before (`server`);
//! the page's sources (`explorer/`).

mod limits;
mod onward;
mod page;
mod sessions;
mod sign_in;

#[cfg(test)]
mod tests;

use std::fmt::Display;
use std::sync::Arc;

use armilla_engine::Engine;
use armilla_env::Env;
use armilla_rest_wire::authorization::AccountKeys;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body::Body;
use http_body_util::Full;

pub use onward::Onward;

use limits::COOKIES_MAX;
use sessions::{Found, Sessions};

/// What the page says besides its cookie: where it learned that, no page of another origin can look.
static CSRF: HeaderName = HeaderName::from_static("x-armilla-csrf");

/// Where everything here lies.
const ROOT: &str = "/_explorer";

/// What the explorer is told.
pub struct ExplorerOptions {
    /// The keys of the account.
    pub keys: AccountKeys,
    /// Whether the key is one that is known to all: callers on this machine need not say it then.
    pub is_key_known: bool,
    /// Which APIs the server has beside the SQL API.
    pub others: Others,
}

/// Which APIs a server has beside the SQL API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Others {
    /// The MongoDB API.
    pub mongo: bool,
    /// The Gremlin API.
    pub gremlin: bool,
    /// The Table API.
    pub table: bool,
}

/// How a caller is connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// Under TLS.
    pub is_secure: bool,
    /// From this machine.
    pub is_local: bool,
}

/// The explorer of one account. Cheap to clone.
#[derive(Clone)]
pub struct Explorer {
    shared: Arc<Shared>,
}

struct Shared {
    engine: Engine,
    env: Env,
    options: ExplorerOptions,
    sessions: Sessions,
}

impl Explorer {
    /// Puts the explorer in front of an engine.
    pub fn new(engine: Engine, env: Env, options: ExplorerOptions) -> Explorer {
        let sessions = Sessions::new(env.clone());
        Explorer { shared: Arc::new(Shared { engine, env, options, sessions }) }
    }

    /// Tells whether a path belongs here, whether it leads anywhere or not.
    pub fn serves(path: &str) -> bool {
        path.strip_prefix(ROOT).is_some_and(|below| below.is_empty() || below.starts_with('/'))
    }

    /// Finds the session of a request that proves to be the page's own.
    fn proven(&self, head: &Parts) -> Result<Found, Refused> {
        let given = head.headers.get(&CSRF).map_or(&b""[..], HeaderValue::as_bytes);
        let mut refused = Refused::NoSession;
        for secret in cookies(head) {
            let Some(session) = self.shared.sessions.find(secret) else { continue };
            if sessions::is_same(given, session.csrf.as_bytes()) {
                return Ok(session);
            }
            refused = Refused::NoProof;
        }
        Err(refused)
    }

    /// Answers one request for the page, or about its session.
    pub async fn handle<B>(&self, request: Request<B>, peer: Peer) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        let (head, body) = request.into_parts();
        let path = head.uri.path().strip_prefix(ROOT).unwrap_or_default().to_owned();
        match path.as_str() {
            "" => page::moved_to("/_explorer/"),
            "/session" => self.session(&head, body, peer).await.unwrap_or_else(|refused| refused.response()),
            _ if !matches!(head.method, Method::GET | Method::HEAD) => {
                Refused::NoSuchMethod("GET, HEAD").response()
            }
            "/" | "/index.html" => page::index(&self.shared.env),
            _ => match page::file(&path, &head.headers) {
                Some(response) => response,
                None => Refused::NoSuchPath.response(),
            },
        }
    }

    async fn session<B>(&self, head: &Parts, body: B, peer: Peer) -> Result<Response<Full<Bytes>>, Refused>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Display,
    {
        match head.method {
            Method::GET => {
                drop(body);
                // Programs on other ports of the host are sent the cookie, too: without the token it tells nothing.
                Ok(sign_in::tell(self, self.proven(head).ok(), peer))
            }
            Method::POST => sign_in::begin(self, head, body, peer).await,
            Method::DELETE => {
                drop(body);
                // A page of another origin could not do harm by it, and is not to sign people out either.
                self.proven(head)?;
                for secret in cookies(head) {
                    self.shared.sessions.end(secret);
                }
                Ok(sign_in::ended(head, peer))
            }
            _ => Err(Refused::NoSuchMethod("GET, POST, DELETE")),
        }
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refused {
    /// There is none, or it has ended.
    NoSession,
    /// It does not say what the page would say.
    NoProof,
    /// The key or token is none of this account.
    Stranger(String),
    /// The body is not what it should be.
    Malformed(String),
    NoSuchPath,
    /// The server has not that API.
    Off(&'static str),
    /// A session that was begun with a resource token cannot ask that API.
    TokensCannot,
    NoSuchMethod(&'static str),
}

impl Refused {
    fn response(self) -> Response<Full<Bytes>> {
        let (status, message) = match &self {
            Refused::NoSession => (StatusCode::UNAUTHORIZED, "there is no session, or it has ended: sign in"),
            Refused::NoProof => (
                StatusCode::FORBIDDEN,
                "the request lacks the session's x-armilla-csrf, which signing in tells",
            ),
            Refused::Stranger(why) => (StatusCode::UNAUTHORIZED, why.as_str()),
            Refused::Malformed(why) => (StatusCode::BAD_REQUEST, why.as_str()),
            Refused::NoSuchPath => (StatusCode::NOT_FOUND, "the explorer has nothing here"),
            Refused::Off(why) => (StatusCode::NOT_FOUND, *why),
            Refused::TokensCannot => (
                StatusCode::FORBIDDEN,
                "a session that was begun with a resource token asks the SQL API alone: sign in with a key",
            ),
            Refused::NoSuchMethod(_) => {
                (StatusCode::METHOD_NOT_ALLOWED, "the explorer does nothing of that kind here")
            }
        };
        let mut response = sign_in::message(status, message);
        if let Refused::NoSuchMethod(allowed) = self {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
        }
        response
    }
}

/// Returns the name of the cookie: cookies are shared by all ports of a host, and servers of one machine are not.
fn cookie_name(head: &Parts) -> String {
    let host = head.headers.get(header::HOST).and_then(|value| value.to_str().ok());
    let authority = head.uri.authority().map(|authority| authority.as_str()).or(host).unwrap_or_default();
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    format!("armilla-explorer-{}", if is_port { port } else { "0" })
}

/// Returns what cookies of the session's name say: other ports of the host can set some beside it.
fn cookies(head: &Parts) -> impl Iterator<Item = &str> {
    let name = cookie_name(head);
    values(&head.headers).filter_map(move |(key, value)| (key == name).then_some(value)).take(COOKIES_MAX)
}

fn values(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
}
