//! A client of the SQL API, for the commands that ask a running server.
//!
//! A [`Client`] knows where a server is and has the key to it; a [`Session`] of it keeps one connection and asks one
//! thing after the other. Every request is signed with a key of the account. Over https a server on this machine may
//! show any certificate; a server elsewhere must show the one given.
//!
//! Invariant: a request that changes something is never sent twice on our own account. It is sent again only if it was
//! refused for its rate (429), or if the connection was closed before any of it was sent.

mod administration;
mod backup;
mod bulk;
mod changes;
pub mod child;
mod client;
mod config;
mod connection;
mod endpoint;
mod failure;
mod items;
mod limits;
mod listing;
mod options;
mod page;
mod question;
mod resources;
mod routing;
mod session;
mod stream;
mod trust;

pub use backup::Backup;
pub use bulk::{Operation, OperationResult, Operations, results};
pub use changes::{Changes, From};
pub use client::Client;
pub use connection::Answer;
pub use failure::{Failure, Refusal, message};
pub use items::{Query, Scope, WriteOptions};
pub use limits::{
    ANSWER_BYTES_MAX, ANSWER_TIMEOUT, BULK_BODY_BYTES_MAX, BULK_OPERATIONS_MAX, THROTTLE_PATIENCE,
};
pub use listing::{ContainerRow, Listing, PartitionRow};
pub use options::{PORT, ServerOptions};
pub use page::{Lines, lines};
pub use question::{Question, segment};
pub use resources::{KeyRule, Range, ScriptKind, Throughput};
pub use routing::Router;
pub use session::{Done, Session};
