//! The MongoDB API as a front end over the engine: messages in, messages out, no sockets.
//!
//! ```text
//! dispatch, envelope         which command it is, and what all of them have in common
//! commands/                  one file for each command
//! auth, users                who asks, and what they may do
//! catalog, indexes           what collections have that containers have not
//! documents                  documents as items
//! lowering, search, supply   how documents are found: by the index, by a scan, page by page
//! writes, retries            inserts, updates and deletes, one statement after the other
//! cursors, sessions          what outlives a command
//! failure                    failures as clients get them
//! ```
//!
//! Invariants:
//! * a document is a plain item that other APIs read and write: nothing of it is kept anywhere else;
//! * a request that wants no answer gets none, whatever happens;
//! * nothing below the crates of this language knows a word of it.
//!
//! What works and what does not: `COMPAT.md`.

mod arguments;
mod auth;
mod catalog;
mod changes;
mod claims;
mod cluster_time;
mod collation;
mod commands;
mod connection;
mod context;
mod cursors;
mod data;
mod dispatch;
mod documents;
mod envelope;
mod equals;
mod expiry;
mod fail_points;
mod failure;
mod hang_up;
mod hidden;
mod indexes;
mod kept;
mod limits;
mod lowering;
mod namespace;
mod options;
mod order;
mod pages;
mod reply;
mod schema_changes;
mod search;
mod sessions;
mod snapshots;
mod statistics;
mod supply;
mod transactions;
mod unique;
mod users;
mod writes;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicU64};

use armilla_engine::Engine;
use armilla_env::Env;
use armilla_mongo_wire::message;
use bytes::Bytes;
use tokio::sync::Semaphore;

pub use connection::Connection;
pub use hang_up::ends_with_client;
pub use message::{Measure, measure};
pub use options::{MongoApiOptions, OptionsError, PIPELINE_TIME_DEFAULT};

use auth::Keys;
use catalog::Catalog;
use claims::Claims;
use cluster_time::ClusterClock;
use cursors::Cursors;
use fail_points::FailPoints;
use sessions::Sessions;
use users::Users;

/// The longest message that is taken.
pub const MESSAGE_BYTES_MAX: usize = limits::MESSAGE_BYTES_MAX;

/// How a client is connected.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Where the client is.
    pub address: SocketAddr,
    /// The address by which it came: what it is told to connect to, unless the options say otherwise.
    pub local: String,
}

/// The MongoDB API of one account. Cheap to clone.
#[derive(Clone)]
pub struct MongoApi {
    shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) env: Env,
    pub(crate) options: MongoApiOptions,
    pub(crate) keys: Keys,
    pub(crate) users: Users,
    pub(crate) catalog: Catalog,
    pub(crate) clock: ClusterClock,
    pub(crate) cursors: Cursors,
    pub(crate) sessions: Sessions,
    pub(crate) fail_points: FailPoints,
    pub(crate) snapshots: snapshots::Remembered,
    pub(crate) hidden: Arc<hidden::Hidden>,
    pub(crate) schema_changes: schema_changes::SchemaChanges,
    pub(crate) claims: Arc<Claims>,
    pub(crate) transaction_count: AtomicU64,
    /// Places for pipelines that compute.
    pub(crate) pipelines: Arc<Semaphore>,
    pub(crate) connections: AtomicI32,
    pub(crate) open_connections: AtomicI32,
    pub(crate) counters: Counters,
    /// What ids of documents and of this process are made from.
    pub(crate) process: [u8; 5],
    pub(crate) object_count: AtomicU64,
}

/// What `serverStatus` counts.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) insert: AtomicU64,
    pub(crate) query: AtomicU64,
    pub(crate) update: AtomicU64,
    pub(crate) delete: AtomicU64,
    pub(crate) get_more: AtomicU64,
    pub(crate) command: AtomicU64,
    pub(crate) bytes_in: AtomicU64,
    pub(crate) bytes_out: AtomicU64,
    pub(crate) requests: AtomicU64,
}

/// What a message is answered with.
pub struct Answer {
    /// The reply, if one is wanted.
    pub reply: Option<Bytes>,
    /// Whether the connection is closed after it.
    pub closes: bool,
    /// Whether a further reply follows without a request: [`MongoApi::go_on`] makes it.
    pub goes_on: bool,
}

impl MongoApi {
    /// Puts the API in front of an engine.
    pub fn new(engine: Engine, env: Env, options: MongoApiOptions) -> Result<MongoApi, OptionsError> {
        options.check()?;
        let mut process = [0; 5];
        env.entropy.fill(&mut process);
        let mut count = [0; 3];
        env.entropy.fill(&mut count);
        let shared = Shared {
            keys: Keys::new(&options),
            users: Users::new(engine.clone()),
            catalog: Catalog::new(engine.clone(), env.clone()),
            clock: ClusterClock::new(env.clone()),
            cursors: Cursors::new(env.clone()),
            sessions: Sessions::new(env.clone()),
            fail_points: FailPoints::default(),
            snapshots: Default::default(),
            hidden: Arc::default(),
            schema_changes: Default::default(),
            claims: Arc::default(),
            transaction_count: AtomicU64::new(1),
            pipelines: Arc::new(Semaphore::new(limits::PIPELINES_AT_ONCE_MAX)),
            connections: AtomicI32::new(0),
            open_connections: AtomicI32::new(0),
            counters: Counters::default(),
            process,
            object_count: AtomicU64::new(u64::from(u32::from_le_bytes([count[0], count[1], count[2], 0]))),
            engine,
            env,
            options,
        };
        Ok(MongoApi { shared: Arc::new(shared) })
    }

    /// Deletes documents that expire, until the API is gone. It is to be run beside the API.
    pub fn expire(&self) -> impl Future<Output = ()> + Send + 'static {
        expiry::run(Arc::downgrade(&self.shared))
    }

    /// Begins a conversation with a client.
    pub fn connect(&self, peer: &Peer) -> Connection {
        Connection::new(&self.shared, peer)
    }

    /// Begins one with a client that is known to be the account itself already.
    pub fn connect_as_account(&self, peer: &Peer, is_read_only: bool) -> Connection {
        let mut connection = Connection::new(&self.shared, peer);
        connection.user = Some(auth::account_user(&self.shared.options.account, is_read_only));
        connection
    }

    /// Answers one message.
    pub async fn answer(&self, connection: &mut Connection, frame: &[u8]) -> Answer {
        dispatch::answer(&self.shared, connection, frame).await
    }

    /// Makes the reply that follows one that goes on.
    pub async fn go_on(&self, connection: &mut Connection) -> Answer {
        dispatch::go_on(&self.shared, connection).await
    }
}
