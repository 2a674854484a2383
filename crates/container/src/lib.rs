//! Items in physical partitions: where they lie, in which order they are written, what they cost.
//!
//! Invariants:
//! * nothing crosses two physical partitions atomically, because a logical partition lies in exactly one;
//! * everything that belongs to a write is in one store batch, the change log and all counters included;
//! * nothing here knows a protocol: no status codes, no header names.
//!
//! Not here: databases, permissions and the definitions' place in the resource tree (`engine`).

mod arcs;
mod batch;
mod check;
mod committer;
mod computed;
mod container;
mod counters;
mod cut;
pub mod definition;
mod entries;
mod error;
mod expiry;
mod feed;
mod figures;
#[doc(hidden)]
pub mod fuzzing;
mod holds;
mod index_state;
mod item;
mod keys;
mod known_numbers;
mod layout;
mod limits;
mod list;
mod map;
mod moment;
mod page;
mod patch;
mod purge;
mod ranges;
mod reader;
mod rebuild;
mod recount;
mod reindex;
mod reshape;
mod session;
mod settle;
mod supply;
mod sweep;
mod throughput;
mod transaction;
mod trim;
mod write;

pub use armilla_governor::{Admitted, Figures, Histogram, HotKey, OperationKind, Policy, Priority, Stretch};
pub use batch::{BatchDone, BatchFailed, BatchStep, StepDone};
pub use check::{CheckSummary, Problem, check_partition};
pub use computed::ComputedProperties;
pub use container::{Container, ReadItem};
pub use counters::{Counters, LogicalSize};
pub use cut::CutBy;
pub use definition::{ContainerDefinition, DefinitionError, validate_resource_id};
pub use error::{Error, ErrorKind, Position, Result};
pub use feed::{ChangeKind, FeedChange, FeedMode, FeedPage, FeedRequest, FeedStart};
pub use figures::PartitionFigures;
pub use item::{ContainerIdentity, ETag, Item, ItemHeader, SYSTEM_PROPERTIES, Stamp};
pub use layout::Usable;
pub use limits::{
    FEED_WALK_ENTRIES_MAX, GROUP_BYTES_MAX, GROUP_WRITES_MAX, ITEM_ID_BYTES_MAX, Limits, PAGE_BYTES_MAX,
    PAGE_ITEMS_MAX, PARTITION_KEY_BYTES_MAX, PARTITION_KEY_V1_BYTES_MAX, PATCH_OPERATIONS_MAX,
    PURGE_STEP_ITEMS, QUEUE_KIB_MAX, REINDEX_STEP_ITEMS, TRANSACTION_BYTES_MAX,
    TRANSACTION_ENTRY_OPERATIONS_MAX, TRANSACTION_READS_MAX, TRANSACTION_WRITES_MAX,
};
pub use list::{IdRange, ItemPage, ListRequest, ListScope};
pub use moment::Moment;
pub use patch::{Condition, Operation, Patch, Pointer};
pub use ranges::{FIRST_MAP_VERSION, PartitionMap, Range, initial_ranges};
pub use reader::{PartitionReader, ReadScope};
pub use rebuild::{Rebuilt, rebuild_partition};
pub use reshape::{Closed, Reshape, Retired};
pub use session::SessionToken;
pub use settle::Written;
pub use supply::{ChargeMeter, SharedBudgets, Supply};
pub use sweep::Swept;
pub use throughput::{QueryWork, ReadCost, RequestUnits, TermCount, Work, price, query_charge};
pub use transaction::{OPTIMISTIC_ATTEMPTS_MAX, Transaction};
pub use write::{Precondition, WriteMode, validate_item_id};
