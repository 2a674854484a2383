//! The boundary between the protocols and the data: every operation there is.
//!
//! An API reads bytes, calls an operation here, and writes bytes. Operations check permissions, consistency
//! and sessions, and answer with what they cost.
//!
//! ```text
//! Engine        databases, containers, offers, users, permissions, scripts: the resource tree
//! ContainerHandle   items of one container: read, write, delete, patch, list, batches, changes; its ranges
//! ```
//!
//! Invariant: nothing here knows a status code, a header name or a wire format. The links and resource ids
//! that appear are part of the data model: permissions and scripts name resources by them.

mod access;
mod actions;
mod among;
mod background;
mod backups;
mod batches;
mod blocking;
mod bulk;
mod changes;
mod check;
mod computed;
mod condition;
mod consistency;
mod containers;
mod databases;
mod encryption_keys;
mod engine;
mod error;
mod execution;
mod figures;
mod items;
mod key_deletion;
mod limits;
mod lookups;
mod neighbours;
mod nodes;
mod noting;
mod offers;
mod open;
mod permissions;
mod procedures;
mod queries;
mod ranges;
mod receipts;
mod record;
mod reindexing;
mod reshaping;
mod resource;
mod sampling;
mod scripts;
mod supply;
mod sweeping;
mod throughput;
mod token;
mod transactions;
mod tree;
mod triggers;
mod users;

pub use access::{Access, Caller, DataRole, Grant, GrantMode};
pub use actions::{ActionDone, ItemAction};
pub use among::{Among, NodeSession};
pub use backups::{BackupBegun, BackupSource};
pub use batches::BatchAnswer;
pub use bulk::BulkOperation;
pub use changes::{FeedAnswer, FeedPageRequest};
pub use check::{CheckReport, check, rebuild};
pub use consistency::Consistency;
pub use containers::{ContainerHandle, Located, Usage};
pub use encryption_keys::EncryptionKeyDefinition;
pub use engine::Engine;
pub use error::{Detail, Error, ErrorKind, Result};
pub use execution::{Footprint, Touch};
pub use figures::{ContainerFigures, RangeFigures};
pub use items::{ItemName, ItemWritten, PageRequest};
pub use key_deletion::KeyDeleted;
pub use limits::{
    BACKUP_IDLE_MAX, BACKUPS_AT_ONCE_MAX, BATCH_ACTIONS_MAX, CONTAINER_SCRIPTS_AT_ONCE_MAX,
    FEED_READS_AT_ONCE_MAX, FEED_WAIT_MAX, FEED_WAITERS_MAX, ID_CHARACTERS_MAX, LIST_MAX,
    RESHAPES_AT_ONCE_MAX, SCRIPT_CHARGE_MAX, SCRIPT_SECONDS_MAX, SCRIPTS_AT_ONCE_MAX, STORED_PROCEDURES_MAX,
    TOKEN_SECONDS_DEFAULT, TOKEN_SECONDS_MAX, TOKEN_SECONDS_MIN, TRANSACTION_ATTEMPTS_MAX,
    TRANSACTION_TIME_MAX, TRANSACTIONS_OPEN_MAX, TRIGGERS_MAX, USER_FUNCTIONS_MAX,
};
pub use lookups::{ItemLookup, LookedUp, LookupWork, Taken};
pub use neighbours::{NodeFigures, NodeStatus, Nodes};
pub use offers::{Migration, OfferChange, OfferState};
pub use open::EngineOptions;
pub use permissions::PermissionDefinition;
pub use procedures::{ProcedureDone, ProcedureOptions};
pub use queries::{Explanation, PartitionPlan, Query, QueryMetrics, QueryPage, QueryRequest, row_item};
pub use ranges::{RangeInfo, RangeMap, RangeStatus};
pub use resource::{
    Answer, Content, Feed, OfferContent, PermissionContent, Resource, ResourceKind, ResourcePrecondition,
};
pub use sampling::{ItemSample, SampleSize};
pub use scripts::{ScriptDefinition, ScriptKind, TriggerOperation, TriggerRule, TriggerTime};
pub use throughput::Throughput;
pub use transactions::{Transacted, Transaction};
pub use triggers::Triggers;

// The vocabulary of items, which is the container's, is part of this boundary.
pub use armilla_container::{
    ChangeKind, ContainerDefinition, ContainerIdentity, DefinitionError, Duplicate, ETag, FeedChange,
    FeedMode, FeedPage, FeedStart, IdRange, Item, ItemBody, ItemPage, Limits, ListScope, Made, Moment,
    Operation, PartitionFigures, Patch, Peer, PeerError, PeerFuture, Peers, Pointer, Position, Precondition,
    ReadItem, Receipt, RequestUnits, SessionToken, UniqueKey, Whereabouts, WriteMode, Written,
};

// So is what definitions are made of.
pub use armilla_index::paths::PathSegment;
pub use armilla_index::{CompositePath, IndexingMode, SortOrder};

// What is said of throughput is part of it, too.
pub use armilla_governor::{
    Bucket, BucketShares, Claim, Figures, Histogram, History, HotKey, OperationKind, Policy, Priority,
    Stretch,
};

// What a query counted is part of its answer.
pub use armilla_query::Work as QueryCounts;

// So is that of queries: what a front end makes instead of a text, how it writes rows, and what it is told.
pub use armilla_query::{Datum, JsonRows, QueryError, Result as RowResult, Row, RowForm, Span, gateway};

/// Queries as front ends make them, and plans as they are explained.
pub mod plans {
    pub use armilla_container::{PricedPart, PricedWork};
    pub use armilla_query::bound::{
        BoundQuery, BoundSource, Grouping, ITEM_SLOT, OrderKey, Projection, SourceKind, Window,
    };
    pub use armilla_query::expr::{Expr, PathStep, SubqueryKind};
    pub use armilla_query::logical::LogicalPlan;
    pub use armilla_query::physical::{Access, PhysicalPlan, Served};
    pub use armilla_query::source::Direction;
    pub use armilla_query::{Aggregate, Comparison, Function, SystemProperty};
}
// How the processes of scripts are started is told with the engine's options.
pub use armilla_script::{WORKER_COMMAND as SCRIPT_WORKER_COMMAND, WorkerStart};
