//! The storage contract, and what every store has in common.
//!
//! A [`Store`] holds *spaces*. A space is the storage of one physical partition (or of the resource
//! tree): five families of ordered bytes that are written together, atomically. Everything above this
//! crate is written against these traits; `docs/storage-contract.md` says in prose what the suite
//! in [`suite`] checks by running.
//!
//! What every store promises:
//!
//! 1. **Atomic.** A batch is visible, and survives, as a whole or not at all, across all families.
//! 2. **Durable before visible.** When [`Space::commit`] resolves with `Ok`, the batch survives the
//!    death of the process and of the machine. No read returns a batch earlier than that, so no reader
//!    ever sees what a crash could take back. (A store opened with [`Durability::Relaxed`] promises
//!    only atomicity and order: after a crash a suffix of the commits may be missing.)
//! 3. **Ordered.** Two commits of one space become durable in the order in which `commit` was called.
//! 4. **Fenced.** Opening a space takes it over: commits through older handles fail with
//!    [`ErrorKind::Fenced`] and change nothing.
//! 5. **Honest about doubt.** A commit whose fate is unknown fails with [`ErrorKind::OutcomeUnknown`].
//!    A failed commit, whatever its kind, closes its handle: commits after it through the same handle, those
//!    on their way included, fail with [`ErrorKind::HandleClosed`] and change nothing, until the space is opened
//!    again. So several commits can be on their way, each built on those before.
//! 6. **Snapshots** see one moment of the whole space and never change.
//!    A [`StoreSnapshot`] sees one moment of all spaces, and goes on seeing those that are dropped later.
//! 7. **Dropping** a space is idempotent, makes it unreachable at once (also through handles and
//!    snapshots made before), and gives the bytes back in the background, resumed after a restart.
//!    Space ids are never used twice.
//!
//! What no store has, because another would lack it: merge operators, comparators, time to live,
//! conflict detection. Order, conflicts and numbering belong to the committer in `container`.
//!
//! Reads are synchronous: they answer from memory or by one short disk read. Commits are
//! asynchronous, because a durability wait is long and shared by many writers.

mod batch;
mod block_on;
mod error;
mod latch;
mod limits;
mod scan;

pub mod cache;
pub mod fault;
pub mod id_set;
pub mod memory;
pub mod ring;
pub mod suite;

use std::future::Future;
use std::ops::{Bound, ControlFlow};
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

pub use batch::{Batch, Op};
pub use block_on::block_on;
pub use error::{Error, ErrorKind, Result};
pub use latch::CommitLatch;
pub use limits::{BATCH_BYTES_MAX, BATCH_OPS_MAX, KEY_BYTES_MAX, VALUE_BYTES_MAX, check_batch};
pub use scan::{Direction, Page, Scan, prefix_end};

/// Names a space. Ids are given by the resource tree and never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u64);

/// One of the ordered key spaces inside a space. A store may tune each for its use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Family {
    /// Few, small, often rewritten records: counters, definitions, reservations, sizes.
    Meta = 0,
    /// Items by key: point reads and short ranges, values up to a few megabytes.
    Item = 1,
    /// Item numbers: small point reads.
    Number = 2,
    /// Index entries: empty values, range reads.
    Index = 3,
    /// The change log: appended in order, read in ranges, old entries removed.
    Feed = 4,
}

impl Family {
    /// Every family, in the order of their numbers.
    pub const ALL: [Family; 5] = [Family::Meta, Family::Item, Family::Number, Family::Index, Family::Feed];
}

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// After it would survive the loss of power.
    Strict,
    /// After it is visible; a crash may take back the newest commits. For throw-away databases.
    Relaxed,
}

/// The future of a commit. Dropping it does not withdraw the commit. It needs no particular runtime, and
/// the commit goes on whether or not it is polled.
pub type CommitFuture = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// A collection of spaces. See the crate's documentation for what it promises.
pub trait Store: Send + Sync + 'static {
    /// Opens a space, making it if it does not exist, and fences every older handle to it.
    ///
    /// When this returns, what older handles committed is visible, and nothing of theirs will follow. They
    /// can still read.
    ///
    /// Fails with [`ErrorKind::SpaceDropped`] for an id that was dropped.
    fn open_space(&self, space: SpaceId) -> Result<Arc<dyn Space>>;

    /// Makes a space unreachable for ever and gives its bytes back in the background.
    fn drop_space(&self, space: SpaceId) -> Result<()>;

    /// Lets go of a space that another process is about to open: nothing of it is kept in memory when this returns.
    fn release_space(&self, space: SpaceId) -> Result<()> {
        let _ = space;
        Ok(())
    }

    /// Makes new spaces, each of which holds a range of one family of another space as that is at one moment, without copying
    /// what lies in it. Returns the view of the whole space at that moment; nothing, and makes nothing, where the store
    /// cannot do that. A space that is given up in the middle is dropped like any other.
    fn clone_ranges(&self, from: SpaceId, clones: &[RangeClone]) -> Result<Option<Box<dyn Snapshot>>> {
        let _ = (from, clones);
        Ok(None)
    }

    /// Returns a view of all spaces as they are now, all at the same moment, for a caller that copies the store.
    ///
    /// Unlike [`Space::snapshot`] it may be kept for long: what the store keeps for it is what it held at the moment,
    /// and does not grow with what is written afterwards.
    fn snapshot_all(&self) -> Result<Box<dyn StoreSnapshot>>;

    /// Figures about the store, cheap enough to be asked for every second.
    fn stats(&self) -> StoreStats;

    /// Returns how near the store is to holding writers back because its background work falls behind, in percent of
    /// what makes it do so. Cheap enough to be asked between two batches by a writer that could write later as well.
    fn pressure_percent(&self) -> u32 {
        0
    }

    /// Says why the store takes no writes at present, or returns nothing while it does. Cheap enough to be asked for
    /// every second. A store that has room again, or whatever else it lacked, goes on by itself and says nothing any more.
    fn trouble(&self) -> Option<String> {
        None
    }

    /// Returns whether what was read from the store is the newest there is. A store that another process may take says no
    /// from the moment on at which another may have it; nothing that was kept in memory may be shown then. Cheap enough to
    /// be asked for every read.
    fn is_current(&self) -> bool {
        true
    }

    /// Flushes what is buffered and stops background work. Later commits, openings and drops fail with
    /// [`ErrorKind::Closed`]; reads may go on. Closing again does nothing. A store on a disk can be opened
    /// again once all its handles and snapshots are gone.
    fn close(&self) -> Result<()>;
}

/// A space that is to hold a range of another.
#[derive(Debug, Clone)]
pub struct RangeClone {
    /// The new space.
    pub space: SpaceId,
    /// Whose keys it is to have.
    pub family: Family,
    /// Where they begin.
    pub lower: Bound<Bytes>,
    /// Where they end.
    pub upper: Bound<Bytes>,
}

/// One space of a store.
pub trait Space: Send + Sync + 'static {
    /// Returns the newest durable value of a key.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>>;

    /// Returns the newest durable values of many keys, in the order of the keys.
    ///
    /// Each value is the newest at some moment during the call; for one moment of all, take a snapshot.
    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>>;

    /// Returns a view of the space as it is now. It is cheap to take and dear to keep: as long as it lives,
    /// the store keeps what was replaced since.
    fn snapshot(&self) -> Result<Box<dyn Snapshot>>;

    /// Applies a batch. The order of calls is the order of commits, fixed before this returns; the future
    /// resolves when the batch is durable (or, with relaxed durability, visible).
    fn commit(&self, batch: Batch) -> CommitFuture;
}

/// An unchanging view of one space.
pub trait Snapshot: Send + Sync {
    /// Returns the value of a key at the moment of the snapshot.
    fn get(&self, family: Family, key: &[u8]) -> Result<Option<Bytes>>;

    /// Returns the values of many keys, in the order of the keys.
    fn multi_get(&self, family: Family, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>>;

    /// Returns the next page of a range. Pages are bounded by entries and by bytes; the caller goes on
    /// from the last key it got.
    fn scan(&self, scan: &Scan) -> Result<Page>;

    /// Calls `visit` with every key of a range, in the order of the walk, until it breaks off. The bounds of a page
    /// do not count. Nothing is kept of a key, so that a store can show it where it lies.
    fn visit_keys(&self, scan: &Scan, visit: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        let mut scan = scan.clone();
        scan.entries_max = VISIT_ENTRIES;
        loop {
            let page = self.scan(&scan)?;
            for (key, _) in &page.entries {
                if visit(key).is_break() {
                    return Ok(());
                }
            }
            match page.entries.last() {
                Some((last, _)) if page.more => scan = scan.after(&last.clone()),
                _ => return Ok(()),
            }
        }
    }
}

/// An unchanging view of a whole store.
///
/// Everything that was acknowledged before it was taken is in it; and if something is in it, so is everything that was
/// acknowledged before that was written, in whichever space. Spaces that are dropped afterwards stay readable through it.
pub trait StoreSnapshot: Send + Sync {
    /// Returns the spaces that held something at the moment and were not dropped, in the order of their ids.
    fn spaces(&self) -> Result<Vec<SpaceId>>;

    /// Returns the view of one of the spaces. One that held nothing is empty.
    fn space(&self, space: SpaceId) -> Result<Box<dyn Snapshot>>;
}

/// Entries that a visit of keys reads at once, where a store has nothing better.
const VISIT_ENTRIES: usize = 1_000;

/// Figures about a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StoreStats {
    /// Batches committed since the store was opened.
    pub commits: u64,
    /// Durability waits since the store was opened; commits divided by this is the group size.
    pub flushes: u64,
    /// Microseconds spent in durability waits.
    pub flush_us: u64,
    /// Longest single durability wait, in microseconds.
    pub flush_max_us: u64,
    /// Times that the store held writers back because its background work had fallen behind.
    pub stalls: u64,
    /// Microseconds that writers were held back.
    pub stall_us: u64,
    /// Longest single stall, in microseconds.
    pub stall_max_us: u64,
    /// Bytes waiting in the commit queue.
    pub queued_bytes: u64,
    /// Bytes in memory that are not yet in sorted files.
    pub write_buffer_bytes: u64,
    /// Bytes held by block caches.
    pub block_cache_bytes: u64,
    /// Bytes held by the item cache in front of the store.
    pub item_cache_bytes: u64,
    /// Reads answered by the item cache.
    pub item_cache_hits: u64,
    /// Reads that the item cache had to pass on.
    pub item_cache_misses: u64,
    /// Bytes on disk, sorted files and journal together.
    pub disk_bytes: u64,
    /// Dropped spaces whose bytes are not yet given back.
    pub spaces_to_reclaim: u64,
    /// Pieces of background work that are under way: written data put into sorted files, and sorted files merged.
    pub background_jobs: u64,
}
