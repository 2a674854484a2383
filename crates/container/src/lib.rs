//! Items in physical partitions: where they lie, in which order they are written, what they cost.
//!
//! Invariants:
//! * nothing crosses two physical partitions atomically, because a logical partition lies in exactly one;
//! * everything that belongs to a write is in one store batch, the change log and all counters included;
//! * nothing here knows a protocol: no status codes, no header names.
//!
//! Not here: databases, permissions and the definitions' place in the resource tree (`engine`).

mod apply;
mod check;
mod compiled_definition;
mod computed;
mod container;
pub mod definition;
mod elsewhere;
mod error;
mod far;
mod feed;
#[doc(hidden)]
pub mod fuzzing;
mod index;
mod item;
mod limits;
mod map;
mod marks;
mod partition;
mod peers;
mod read;
mod receipt;
mod split;
mod sweep;
mod throughput;
mod turn;
mod unique;
mod unique_build;
mod write;

/// Bytes of what processes say to each other.
pub mod wire {
    pub use crate::far::link::{TO_CONTAINER, wait};
    pub use crate::far::wire::{In, Out, unreadable};
}

pub use armilla_governor::{
    Admitted, Bucket, BucketShares, Claim, Figures, Histogram, HotKey, OperationKind, Policy, Priority,
    Stretch,
};
pub use check::rebuild::{Rebuilt, rebuild_partition};
pub use check::{CheckSummary, Problem, check_partition};
pub use computed::ComputedProperties;
pub use container::Container;
pub use definition::{ContainerDefinition, DefinitionError, UniqueKey, validate_resource_id};
pub use error::{Error, ErrorKind, Position, Result};
pub use far::request::only_lets_go;
pub use far::serve::{Conditions, PeerSession, not_here};
pub use feed::{ChangeKind, FeedChange, FeedMode, FeedPage, FeedRequest, FeedStart};
pub use index::layout::Usable;
pub use item::moment::Moment;
pub use item::patch::{Condition, Operation, Patch, Pointer};
pub use item::{ContainerIdentity, ETag, Item, ItemHeader, SYSTEM_PROPERTIES, Stamp};
pub use limits::{
    FEED_WALK_ENTRIES_MAX, GROUP_BYTES_MAX, GROUP_WRITES_MAX, ITEM_ID_BYTES_MAX, KNOWN_LOOKUPS_BYTES,
    KNOWN_NUMBERS_BYTES, Limits, PAGE_BYTES_MAX, PAGE_ITEMS_MAX, PARTITION_KEY_BYTES_MAX,
    PATCH_OPERATIONS_MAX, PURGE_STEP_ITEMS, QUEUE_KIB_MAX, RECEIPT_KEY_BYTES_MAX, RECEIPT_OUTCOME_BYTES_MAX,
    RECEIPT_SECONDS, REINDEX_STEP_ITEMS, TRANSACTION_BYTES_MAX, TRANSACTION_ENTRY_OPERATIONS_MAX,
    TRANSACTION_READS_MAX, TRANSACTION_RECEIPTS_MAX, TRANSACTION_WRITES_MAX,
};
pub use map::ranges::{FIRST_MAP_VERSION, PartitionMap, Range, initial_ranges};
pub use partition::counters::{Counters, LogicalSize};
pub use partition::known_numbers::KnownNumbers;
pub use partition::lookups::Made;
pub use peers::{Peer, PeerError, PeerFuture, Peers, Whereabouts};
pub use read::list::{IdRange, ItemPage, ListRequest, ListScope};
pub use read::look_up::LookupPath;
pub use read::reader::{PartitionReader, ReadScope};
pub use read::session::SessionToken;
pub use receipt::Receipt;
pub use split::cut::CutBy;
pub use split::{Closed, Reshape, Retired};
pub use sweep::Swept;
pub use sweep::key_deletion::{KeyDeletion, KeysDeleted};
pub use throughput::figures::PartitionFigures;
pub use throughput::source::{ChargeMeter, SharedBudgets, ThroughputSource};
pub use throughput::{
    PricedPart, PricedWork, QueryWork, ReadCost, RequestUnits, TermCount, Work, price, query_charge,
    query_price,
};
pub use unique_build::Duplicate;
pub use write::body::ItemBody;
pub use write::outcome::{BatchDone, BatchFailed, ReadItem, StepDone, Written};
pub use write::step::BatchStep;
pub use write::transaction::{OPTIMISTIC_ATTEMPTS_MAX, Transaction};
pub use write::{Precondition, WriteMode, validate_item_id};
