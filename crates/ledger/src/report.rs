//! What the ledger tells: an account's requests by shape, what they were about, and how they hang together.

use std::collections::BTreeMap;

use armilla_value::{PartitionKey, Value};

/// What was asked of an account in some time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// When the ledger began, in milliseconds since 1970.
    pub since_ms: i64,
    /// When this was told.
    pub until_ms: i64,
    /// What was asked of each container, by its resource id as a number.
    pub containers: BTreeMap<u64, ContainerRequests>,
    /// Which values of answers came back in later requests.
    pub links: Vec<Link>,
}

/// What was asked of a container.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContainerRequests {
    /// The shapes of its requests, in the order of what they cost in all.
    pub shapes: Vec<Shape>,
    /// Requests of shapes that the ledger had no room for.
    pub beyond: Tally,
    /// The logical partitions that cost the most, the dearest first.
    pub keys: Vec<KeyTally>,
    /// Writes of existing items, compared with what was there.
    pub changes: Changes,
}

/// What requests have in common that differ in their values alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// Names it in this report, and for as long as the ledger has it.
    pub id: u32,
    /// What they do.
    pub kind: ShapeKind,
    /// For queries the text with `@1`, `@2` for its constants; for procedures the name; for creates what the items say
    /// they are; else nothing.
    pub text: String,
    /// All of them.
    pub total: Tally,
    /// Those of each of the last 24 hours that had any: hours since 1970.
    pub hours: BTreeMap<i64, Tally>,
    /// A few of them as they were, at most [`crate::limits::EXAMPLES_MAX`].
    pub examples: Vec<Example>,
}

/// What the requests of a shape do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ShapeKind {
    /// Point reads.
    Read,
    /// Creates and upserts.
    Create,
    /// Replaces.
    Replace,
    /// Patches.
    Patch,
    /// Deletes.
    Delete,
    /// Queries.
    Query,
    /// Stored procedures.
    Procedure,
    /// Batches.
    Batch,
    /// Lists of items.
    List,
    /// Change feeds.
    Changes,
}

/// What requests took together. Counts are estimates where a rate was so high that only some were written down.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How many there were; pages after the first are none of their own.
    pub count: u64,
    /// What all pages cost, in hundredths of a request unit.
    pub charge: u64,
    /// How long they took, in microseconds.
    pub micros: u64,
    /// The longest of them.
    pub micros_max: u64,
    /// Items that were read.
    pub items: u64,
    /// Index entries that were read.
    pub entries: u64,
    /// Rows that were given.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Physical partitions that were asked, added up over first pages.
    pub partitions: u64,
    /// How many named one logical partition.
    pub keyed: u64,
    /// How many named one part of the ring, as clients do that ask every physical partition themselves.
    pub ranged: u64,
    /// How many were refused for want of throughput; they are not in `count`.
    pub throttled: u64,
    /// How many were refused for another reason; they are in `count`.
    pub refused: u64,
}

/// A request as it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The logical partition that it named.
    pub key: Option<PartitionKey>,
    /// The item that it named.
    pub id: Option<String>,
    /// The query's text with its own parameters.
    pub text: String,
    /// Its parameters.
    pub parameters: Vec<(String, Value)>,
    /// What it took.
    pub charge: u64,
    /// Rows that it gave.
    pub rows: u64,
}

/// A logical partition and what it cost.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyTally {
    /// The key.
    pub key: PartitionKey,
    /// What was asked of it: at most so many requests.
    pub count: u64,
    /// What they cost, in hundredths of a request unit: never too low.
    pub charge: u64,
    /// How much of that may belong to other keys.
    pub overestimate: u64,
}

/// How the items of a container change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Changes {
    /// Writes of existing items that were compared with what was there, by what the items say they are.
    pub entities: BTreeMap<String, EntityChanges>,
    /// The items that were written most often.
    pub items: Vec<ItemChanges>,
}

/// How the items of one sort change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EntityChanges {
    /// Writes that were compared.
    pub compared: u64,
    /// The bytes of what was written, all together.
    pub bytes: u64,
    /// How many of them were others than before.
    pub changed_bytes: u64,
    /// Which paths were other than before: `/author/name`, `/tags/[]` for what is in an array.
    pub paths: BTreeMap<String, PathChanges>,
}

/// How what is at a path changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PathChanges {
    /// Writes that changed it.
    pub changed: u64,
    /// Of those, the ones after which an array was longer, and began as before.
    pub appended: u64,
    /// Of those, the ones after which an array was shorter.
    pub shortened: u64,
    /// Of those, the ones in which nothing else of the item changed but what a write always changes.
    pub alone: u64,
}

/// How often an item was written.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemChanges {
    /// Its logical partition.
    pub key: PartitionKey,
    /// Its id.
    pub id: String,
    /// Writes, at most.
    pub count: u64,
    /// How many of them appended to an array and did nothing else.
    pub appends: u64,
    /// How much of `count` may belong to others.
    pub overestimate: u64,
}

/// Values of answers that came back in later requests: the sign of data that is put together by the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The container of the first request.
    pub from_container: u64,
    /// Its shape.
    pub from_shape: u32,
    /// What the items that were answered say they are, where all say the same.
    pub entity: Option<String>,
    /// The path in its rows at which the value was.
    pub path: String,
    /// The container of the later request.
    pub to_container: u64,
    /// Its shape.
    pub to_shape: u32,
    /// Where the value came back.
    pub slot: Slot,
    /// First requests that were watched and had the path.
    pub origins: u64,
    /// Rows of those that had the path.
    pub rows: u64,
    /// First requests after which the value came back at least once.
    pub followed: u64,
    /// Later requests with a value of theirs.
    pub follows: u64,
    /// What those cost, in hundredths of a request unit.
    pub charge: u64,
    /// How long they took, in microseconds.
    pub micros: u64,
}

/// Where in a request a value stood.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Slot {
    /// It was the id.
    Id,
    /// It was the logical partition, and not the id.
    Key,
    /// It was this parameter of the shape, named as in its text.
    Parameter(String),
}
