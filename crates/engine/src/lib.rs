//! The boundary between the protocols and the data: every operation there is.
//!
//! An API reads bytes, calls an operation here, and writes bytes. Operations check permissions, consistency
//! and sessions, and answer with what they cost.
//!
//! ```text
//! Engine        databases, containers, offers, users, permissions, user-defined functions: the resource tree
//! ContainerHandle   items of one container: read, write, delete, patch, list; its ranges
//! ```
//!
//! Invariant: nothing here knows a status code, a header name or a wire format. The links and resource ids
//! that appear are part of the data model: permissions and scripts name resources by them.

mod access;
mod check;
mod computed;
mod condition;
mod consistency;
mod containers;
mod databases;
mod error;
mod items;
mod limits;
mod offers;
mod open;
mod permissions;
mod queries;
mod record;
mod reindexing;
mod resource;
mod throughput;
mod token;
mod tree;
mod user_functions;
mod users;

pub use access::{Access, Caller, Grant, GrantMode};
pub use check::{CheckReport, check};
pub use consistency::Consistency;
pub use containers::{ContainerHandle, Located, RangeInfo, RangeMap, Usage};
pub use error::{Error, ErrorKind, Result};
pub use items::{ItemName, PageRequest};
pub use limits::{
    ID_CHARACTERS_MAX, LIST_MAX, TOKEN_SECONDS_DEFAULT, TOKEN_SECONDS_MAX, TOKEN_SECONDS_MIN,
    USER_FUNCTIONS_MAX,
};
pub use open::{Engine, EngineOptions};
pub use queries::{QueryMetrics, QueryPage, QueryRequest};
pub use resource::{Answer, Feed, Resource, ResourceKind, ResourcePrecondition};
pub use throughput::Throughput;

// The vocabulary of items, which is the container's, is part of this boundary.
pub use armilla_container::{
    ChangeKind, ContainerIdentity, ETag, Item, ItemPage, Limits, ListScope, Operation, Patch, Pointer,
    Position, Precondition, ReadItem, RequestUnits, SessionToken, WriteMode, Written,
};

// What a query counted is part of its answer.
pub use armilla_query::Work as QueryCounts;
