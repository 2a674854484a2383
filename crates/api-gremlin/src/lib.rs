//! The Gremlin API as a front end over the engine: messages in, messages out, no sockets.
//!
//! ```text
//! connection, keys      who asks, and what waits until that is known
//! job, execution        a traversal in the task of its connection or on a thread, its results as answers
//! trials                which traversals are worth trying in that task
//! http_api              scripts over HTTP
//! graph, store          a graph over the items of a container: lookups, neighbours, writes
//! layout, elements      items as vertices and edges
//! bodies, values        vertices and edges as items
//! lowering              conditions on elements as conditions of queries
//! pending               writes that are not done yet
//! failure, error_map    failures as clients get them
//! ```
//!
//! Invariants:
//! * an element is a plain item that other APIs read and write: nothing of it is kept anywhere else;
//! * every request is answered under its id, whatever happens;
//! * what one client can make the server do at once is bounded (`limits`).
//!
//! Not here: scripts (`gremlin-language`), formats (`gremlin-wire`), steps (`gremlin-machine`), WebSocket (`server`).
//! What works and what does not: `COMPAT.md`.

mod bodies;
mod connection;
mod elements;
mod error_map;
mod execution;
mod failure;
mod graph;
mod http_api;
mod job;
mod keys;
mod layout;
mod limits;
mod lowering;
mod options;
mod pending;
mod store;
mod trials;
mod values;

use std::sync::Arc;

use armilla_engine::Engine;
use armilla_env::Env;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::Full;
use tokio::sync::Semaphore;

pub use connection::{Connection, Hold, MessageKind, Work};
pub use job::{Answers, Begun, Job, Running};
pub use options::{Alias, Dialect, GraphName, GraphSon2, GremlinApiOptions, OptionsError};

use connection::Session;
use error_map::UNAUTHORIZED;
use failure::Failure;
use keys::Keys;
use trials::Trials;

/// The longest message that is taken.
pub const MESSAGE_BYTES_MAX: usize = limits::MESSAGE_BYTES_MAX;
/// Requests of one connection that are being answered at once.
pub const REQUESTS_IN_FLIGHT_MAX: usize = limits::REQUESTS_IN_FLIGHT_MAX;

/// The Gremlin API of one account. Cheap to clone.
#[derive(Clone)]
pub struct GremlinApi {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) env: Env,
    pub(crate) options: GremlinApiOptions,
    pub(crate) keys: Keys,
    /// Places for traversals.
    pub(crate) traversals: Arc<Semaphore>,
    pub(crate) trials: Trials,
}

impl GremlinApi {
    /// Puts the API in front of an engine.
    pub fn new(engine: Engine, env: Env, options: GremlinApiOptions) -> Result<GremlinApi, OptionsError> {
        options.check()?;
        let traversals = Arc::new(Semaphore::new(limits::TRAVERSALS_AT_ONCE_MAX));
        let shared =
            Shared { keys: Keys::new(&options), engine, env, options, traversals, trials: Trials::default() };
        Ok(GremlinApi { shared: Arc::new(shared) })
    }

    /// Begins a conversation with a client.
    pub fn connect(&self) -> Connection {
        Connection::new(self.shared.clone())
    }

    /// Answers a request of HTTP.
    pub async fn handle<B>(&self, request: Request<B>) -> Response<Full<Bytes>>
    where
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: std::fmt::Display,
    {
        http_api::handle(&self.shared, request).await
    }
}

impl Shared {
    /// Makes a random UUID.
    pub(crate) fn new_uuid(&self) -> u128 {
        let mut bytes = [0; 16];
        self.env.entropy.fill(&mut bytes);
        bytes[6] = (bytes[6] & 0x0F) | 0x40;
        bytes[8] = (bytes[8] & 0x3F) | 0x80;
        u128::from_be_bytes(bytes)
    }

    /// Finds out what a user may do who knows a password.
    pub(crate) fn log_in(&self, user: &str, password: &str) -> Result<Session, Failure> {
        if self.options.is_open {
            // Whoever names a graph means it.
            let graph = user.parse().ok();
            return Ok(Session { access: armilla_engine::Access::Full, graph });
        }
        let access = self.keys.access(password, &self.engine);
        let access = access.ok_or_else(|| Failure::plain(401, 401, UNAUTHORIZED))?;
        let graph =
            user.parse().map_err(|why: &str| Failure::plain(401, 401, format!("{UNAUTHORIZED}: {why}")))?;
        Ok(Session { access, graph: Some(graph) })
    }
}
