//! What is asked of a change feed, and what it answers.

use armilla_governor::{Claim, RequestUnits};
use armilla_value::PartitionKey;

use super::ChangeKind;
use crate::error::Position;
use crate::item::Item;
use crate::read::list::ListScope;
use crate::read::session::SessionToken;
use crate::throughput::ReadCost;

/// Which changes a feed shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FeedMode {
    /// Each live item once, at the position of its newest version.
    Latest,
    /// Every version of every item, and every delete.
    AllVersions,
}

/// Where a feed begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeedStart {
    /// Before everything.
    Beginning,
    /// Behind everything that is there.
    Now,
    /// With what was written at or after this second since 1970 UTC.
    Time(u32),
    /// Where the page with this token ended.
    Token(String),
}

/// A page of a change feed that is asked for.
#[derive(Debug, Clone)]
pub struct FeedRequest {
    /// Which changes.
    pub mode: FeedMode,
    /// Of which items.
    pub scope: ListScope,
    /// From where on.
    pub start: FeedStart,
    /// What was written before this second since 1970 UTC is left out.
    pub modified_since: Option<u32>,
    /// At most how many changes; a commit is never cut, so there may be more of one.
    pub items_max: usize,
    /// What the client has seen.
    pub session: SessionToken,
    /// What a read costs.
    pub cost: ReadCost,
    /// Who goes first where there is not enough for all.
    pub claim: Claim,
}

/// One change of a feed.
pub struct FeedChange {
    /// The commit.
    pub lsn: u64,
    /// What happened to the item.
    pub kind: ChangeKind,
    /// Seconds since 1970 UTC when it happened.
    pub ts: u32,
    /// The commit that had written the version before, 0 for a create.
    pub previous_lsn: u64,
    /// The item as the change left it; none if it is gone.
    pub item: Option<Item>,
    /// The item as it was before, where that is wanted and kept.
    pub previous: Option<Item>,
    /// The partition key of the item; empty where only the latest versions are shown.
    pub partition_key: PartitionKey,
    /// The id of the item; empty where only the latest versions are shown.
    pub id: String,
}

/// A page of a change feed.
pub struct FeedPage {
    /// The changes: those of one logical partition in the order of their commits.
    pub changes: Vec<FeedChange>,
    /// Where the next page begins.
    pub token: String,
    /// Whether there was nothing behind this page when it was read.
    pub is_end: bool,
    /// What the page cost.
    pub charge: RequestUnits,
    /// How far the partitions are that were read.
    pub positions: Vec<Position>,
}
