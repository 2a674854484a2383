//! What operations on items give back.

use crate::error::{Error, Position};
use crate::feed::ChangeKind;
use crate::item::{ETag, Item};
use crate::throughput::RequestUnits;

/// An item that was read.
pub struct ReadItem {
    /// The item.
    pub item: Item,
    /// What the read cost.
    pub charge: RequestUnits,
    /// Where it was read.
    pub position: Position,
}

/// What a write did.
#[derive(Clone)]
pub struct Written {
    /// What happened to the item.
    pub kind: ChangeKind,
    /// The item as it is now; for a delete, as it was.
    pub item: Item,
    /// What it cost.
    pub charge: RequestUnits,
    /// Where, and with which commit.
    pub position: Position,
}

/// What one step did.
pub enum StepDone {
    /// It wrote.
    Written(Written),
    /// It read.
    Read(ReadItem),
    /// The item that it was to read did not change since the version that the caller holds.
    NotModified {
        /// That version.
        etag: ETag,
        /// What finding out cost.
        charge: RequestUnits,
    },
}

/// What a batch did.
pub struct BatchDone {
    /// What each step did, in their order.
    pub steps: Vec<StepDone>,
    /// What all of them cost.
    pub charge: RequestUnits,
    /// Where, and with which commit; a batch that only reads has none of its own.
    pub position: Position,
}

/// Why a batch did nothing.
pub struct BatchFailed {
    /// The step that failed, counted from 0.
    pub step: usize,
    /// Why.
    pub error: Error,
    /// What it cost: all that was done up to the failure, and the failure.
    pub charge: RequestUnits,
    /// Where.
    pub position: Position,
}
