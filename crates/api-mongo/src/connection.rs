//! What is remembered of a connection from one message to the next.

use std::net::SocketAddr;

use armilla_engine::{Access, Caller};
use armilla_mongo_wire::message::Request;
use armilla_mongo_wire::scram::ServerConversation;
use armilla_value::Object;
use tokio::sync::watch;

use crate::statistics::Statistics;

/// A connection.
pub struct Connection {
    /// Its number.
    pub(crate) id: i32,
    /// Who is at the other end.
    pub(crate) peer: SocketAddr,
    /// The name by which a client with TLS came, if it said one, or the address of our end.
    pub(crate) came_to: String,
    /// Who the client has shown to be.
    pub(crate) user: Option<User>,
    /// A login that has begun.
    pub(crate) login: Option<Login>,
    /// What the client told of itself.
    pub(crate) metadata: Option<Object>,
    /// Whether the client waits by itself when it is told to.
    pub(crate) waits: bool,
    /// What the last command cost.
    pub(crate) last: Option<Statistics>,
    /// Numbers of replies.
    pub(crate) reply_number: i32,
    /// The request that further replies belong to, as if it had come again.
    pub(crate) streamed: Option<Box<Request>>,
    /// Turns to true when the server is to end.
    ending: Option<watch::Receiver<bool>>,
    /// Where it is counted.
    shared: std::sync::Arc<crate::Shared>,
}

/// Who a client has shown to be.
#[derive(Debug, Clone)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) database: String,
    pub(crate) roles: Vec<Role>,
    pub(crate) access: Access,
}

/// A role in a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Role {
    pub(crate) name: String,
    pub(crate) database: String,
}

/// A login that has begun.
pub(crate) struct Login {
    pub(crate) number: i32,
    pub(crate) database: String,
    pub(crate) conversation: LoginStep,
    /// Whether the last, empty exchange is left out.
    pub(crate) skips_empty: bool,
}

/// What is expected next.
pub(crate) enum LoginStep {
    /// The proof.
    Proof(Box<ServerConversation>),
    /// Nothing but to say that it is over.
    Empty(Box<User>),
}

impl Connection {
    /// Lets what waits, and what goes on without being asked, come to an end when the server does.
    pub fn ends_with(&mut self, ending: watch::Receiver<bool>) {
        self.ending = Some(ending);
    }

    /// Says whether the server is to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.as_ref().is_some_and(|ending| *ending.borrow())
    }

    /// Waits until the server is to end.
    pub(crate) async fn ended(&mut self) {
        match &mut self.ending {
            // A server that is gone does not say so any more.
            Some(ending) => {
                let _ = ending.wait_for(|is_asked| *is_asked).await;
            }
            None => std::future::pending().await,
        }
    }

    /// Returns the name of the application that the client told, if any.
    pub(crate) fn application(&self) -> Option<&str> {
        self.metadata.as_ref()?.get("application")?.get("name")?.as_str()
    }

    /// Returns what the client may do.
    pub(crate) fn caller(&self) -> Caller {
        let access = self.user.as_ref().map_or(Access::ReadOnly, |user| user.access.clone());
        Caller { access, ..Caller::full() }
    }

    /// Returns the next number of a reply.
    pub(crate) fn next_number(&mut self) -> i32 {
        self.reply_number = self.reply_number.wrapping_add(1);
        self.reply_number
    }
}

impl Connection {
    pub(crate) fn new(shared: &std::sync::Arc<crate::Shared>, peer: &crate::Peer) -> Connection {
        use std::sync::atomic::Ordering;
        shared.open_connections.fetch_add(1, Ordering::Relaxed);
        Connection {
            id: shared.connections.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
            peer: peer.address,
            came_to: peer.local.clone(),
            user: None,
            login: None,
            metadata: None,
            waits: false,
            last: None,
            reply_number: 0,
            streamed: None,
            ending: None,
            shared: shared.clone(),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.open_connections.fetch_sub(1, std::sync::atomic::Ordering::Relaxed);
    }
}
