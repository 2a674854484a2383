//! One physical partition: its space in the store, what is known of it in memory, and who may write to it.
//!
//! In this folder: its committer, which gives writes their order (`committer`), what waits for it (`queue`), whether it
//! takes tasks (`gate`), the moments of versions (`moments`), filling it with what others have (`copy_in`), what look-ups
//! have found (`lookups`). Not here: what a task does to the stored state (`apply`), who may queue (`locks`).

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use armilla_env::Env;
use armilla_kv::{Family, Space, SpaceId, Store};
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard, RwLock};
use tokio::sync::{Notify, Semaphore, oneshot, watch};

use crate::apply::{Applied, LogState};
use crate::compiled_definition::CurrentDefinition;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::far::Far;
use crate::far::request::{DraftReply, Request};
use crate::feed::trim::TrimState;
use crate::index::layout::{Layout, Layouts};
use crate::index::state::IndexState;
use crate::item::keys::{self, LogicalKey};
use crate::item::moment::Moments;
use crate::item::number::item_number;
use crate::item::{ContainerIdentity, Item};
use crate::limits::{Limits, QUEUE_KIB_MAX};
use crate::map::ranges::Range;
use crate::marks::unique_number;
use crate::partition::counters::Counters;
use crate::partition::holding::Holding;
use crate::partition::known_numbers::KnownNumbers;
use crate::partition::locks::LogicalLocks;
use crate::sweep::due::DueCursor;

pub(crate) mod at_peer;
mod committer;
mod copy_in;
pub(crate) mod counters;
mod gate;
pub(crate) mod holding;
pub(crate) mod known_numbers;
pub(crate) mod locks;
pub(crate) mod lookups;
mod moments;
mod queue;
mod receipt_count;
pub(crate) mod recount;

pub(crate) use copy_in::Landing;
pub(crate) use gate::{Gate, Growth, Never};
use lookups::Lookups;
use queue::Queue;
use receipt_count::ReceiptCount;

/// What is known of a partition's index.
struct KnownIndex {
    state: IndexState,
    /// Every commit after this one has it so. Steps of a re-indexing have no commit number of their own, so what has this
    /// very number may be from before the last change.
    after: u64,
}

/// One physical partition: its space in the store and its committer.
pub(crate) struct Partition {
    pub(crate) range_id: u32,
    pub(crate) identity: Arc<ContainerIdentity>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) env: Env,
    /// The container's definition that holds now.
    pub(crate) definition: Arc<CurrentDefinition>,
    store: Arc<dyn Store>,
    space_id: SpaceId,
    lsn_base: u64,
    space: RwLock<Arc<dyn Space>>,
    /// The newest durable commit.
    lsn: AtomicU64,
    /// The same, for those who wait for it.
    commits: watch::Sender<u64>,
    /// How many numbers were given: never less than is stored, and never less than it was.
    sequence: AtomicU64,
    /// Gives versions their moments.
    moments: Moments,
    /// What the running committer goes on from; no other task takes this.
    applied: Mutex<Applied>,
    /// What is known of the index, for readers.
    index: RwLock<KnownIndex>,
    /// The layout that a partition without any takes.
    first_layout: Arc<Layout>,
    /// The layouts that were read last, so that they are parsed once.
    known_layouts: Mutex<Option<(Bytes, Arc<Layouts>)>>,
    known_numbers: Arc<KnownNumbers>,
    /// What look-ups have found here.
    pub(crate) lookups: Lookups,
    /// Where to go on looking for expired items.
    pub(crate) due: DueCursor,
    /// How many receipts there may be.
    pub(crate) receipts: ReceiptCount,
    queue: Mutex<Queue>,
    locks: Arc<LogicalLocks>,
    /// Tells the committer that writes have come while it waits for the store.
    arrived: Notify,
    room: Arc<Semaphore>,
    /// Whether tasks are taken; changed with the queue locked.
    gate: watch::Sender<Gate>,
    /// What is stored, as of the newest durable commit.
    totals: RwLock<Counters>,
    /// How large the partition may become before the split driver is told.
    pub(crate) growth: Growth,
    /// While others are being made to take its place.
    pub(crate) reshaping: Mutex<Option<Arc<AtomicU8>>>,
    /// Set where another process has the partition: then nothing but this is asked.
    pub(crate) far: Option<Arc<Far>>,
    /// What it was opened under, where several processes share the account.
    holding: OnceLock<Holding>,
    /// What this opening of the partition is called, for other processes.
    mark: OnceLock<u64>,
    /// Dropped with the partition, which tells who waits for its last user.
    gone: Mutex<Option<oneshot::Sender<Never>>>,
}

impl Partition {
    /// Returns whether a commit is the first that the partition ever had.
    pub(crate) fn is_first_commit(&self, lsn: u64) -> bool {
        lsn == self.lsn_base + 1
    }

    /// Opens the partition's space, which fences the handle that had it before.
    #[expect(clippy::too_many_arguments, reason = "a partition is made of so many things, in one place")]
    pub(crate) fn open(
        store: Arc<dyn Store>,
        range: &Range,
        identity: Arc<ContainerIdentity>,
        limits: Arc<Limits>,
        env: Env,
        definition: Arc<CurrentDefinition>,
        first_layout: Arc<Layout>,
        grown: Arc<Notify>,
        known_numbers: Arc<KnownNumbers>,
    ) -> Result<Partition> {
        let space = store.open_space(range.space)?;
        recount::bring_up_to_date(space.as_ref(), range, &first_layout)?;
        let counters = Counters::load(space.as_ref(), range.lsn_base)?;
        let decode = |bytes: &Bytes| Layouts::decode(bytes).map(Arc::new);
        let get = |family, key: &[u8]| space.get(family, key);
        let index = IndexState::load(get, decode, &counters, &first_layout)?;
        let log = LogState::new(TrimState::load(|key| space.get(Family::Meta, key))?);
        let partition = Partition::assemble(
            store,
            range,
            space,
            counters,
            index,
            identity,
            limits,
            env,
            definition,
            first_layout,
            grown,
            known_numbers,
        );
        partition.applied.lock().set_log(log);
        Ok(partition)
    }

    /// Puts a partition together from what was read of it.
    #[expect(clippy::too_many_arguments, reason = "a partition is made of so many things, in one place")]
    fn assemble(
        store: Arc<dyn Store>,
        range: &Range,
        space: Arc<dyn Space>,
        counters: Counters,
        index: IndexState,
        identity: Arc<ContainerIdentity>,
        limits: Arc<Limits>,
        env: Env,
        definition: Arc<CurrentDefinition>,
        first_layout: Arc<Layout>,
        grown: Arc<Notify>,
        known_numbers: Arc<KnownNumbers>,
    ) -> Partition {
        let growth = Growth::new(grown, limits.physical_partition_bytes);
        let newest = counters.lsn;
        Partition {
            range_id: range.id,
            identity,
            limits,
            env,
            definition,
            store,
            space_id: range.space,
            lsn_base: range.lsn_base,
            lsn: AtomicU64::new(counters.lsn),
            commits: watch::Sender::new(counters.lsn),
            sequence: AtomicU64::new(counters.sequence),
            moments: Moments::default(),
            space: RwLock::new(space),
            totals: RwLock::new(counters.clone()),
            applied: Mutex::new(Applied::new(counters, index.clone())),
            // A reader of this moment or a later one.
            index: RwLock::new(KnownIndex { state: index, after: newest.saturating_sub(1) }),
            first_layout,
            known_layouts: Mutex::default(),
            lookups: Lookups::new(known_numbers.lookups().clone()),
            known_numbers,
            due: DueCursor::default(),
            receipts: ReceiptCount::default(),
            queue: Mutex::default(),
            locks: Arc::default(),
            arrived: Notify::new(),
            room: Arc::new(Semaphore::new(QUEUE_KIB_MAX)),
            gate: watch::Sender::default(),
            growth,
            reshaping: Mutex::default(),
            gone: Mutex::default(),
            far: None,
            holding: OnceLock::new(),
            mark: OnceLock::new(),
        }
    }

    /// Takes note of what it was opened under.
    pub(crate) fn hold_under(&self, holding: Option<Holding>) {
        if let Some(holding) = holding {
            let _ = self.holding.set(holding);
        }
    }

    /// Returns whether it is still this process's.
    pub(crate) fn is_held(&self) -> bool {
        self.holding.get().is_none_or(Holding::holds)
    }

    /// Returns what this opening of the partition is called: no other has that name, here or in another process.
    pub(crate) fn mark(&self) -> u64 {
        *self.mark.get_or_init(|| unique_number(&self.env))
    }

    pub(crate) fn space(&self) -> Arc<dyn Space> {
        self.space.read().clone()
    }

    /// Returns where the partition is now.
    pub(crate) fn position(&self) -> Position {
        Position { range_id: self.range_id, lsn: self.lsn.load(Ordering::Acquire) }
    }

    /// Returns what tells of the newest durable commit.
    pub(crate) fn watch_commits(&self) -> watch::Receiver<u64> {
        self.commits.subscribe()
    }

    pub(crate) fn set_lsn(&self, lsn: u64) {
        self.lsn.store(lsn, Ordering::Release);
        self.commits.send_replace(lsn);
    }

    /// Reads an item by its key.
    pub(crate) fn read(&self, key: &[u8]) -> Result<Option<Item>> {
        self.space().get(Family::Item, key)?.map(Item::open).transpose()
    }

    /// Reads the key of the item with a number.
    pub(crate) fn read_number(&self, number: u64) -> Result<Option<Bytes>> {
        Ok(self.space().get(Family::Number, &keys::number(number))?)
    }

    /// Returns the keys of some numbers, as far as they are known without asking the store.
    pub(crate) fn known_keys(&self, numbers: &[u64]) -> Vec<Option<Bytes>> {
        self.known_numbers.look_up(self.identity.rid, numbers)
    }

    /// Remembers the keys of some numbers.
    pub(crate) fn remember_keys<'a>(&self, known: impl IntoIterator<Item = (u64, &'a [u8])>) {
        self.known_numbers.remember(self.identity.rid, known);
    }

    /// Returns the newest commit if everything that was applied is durable, else the one after it.
    pub(crate) fn settled_lsn(&self) -> u64 {
        let applied = self.applied();
        let queue = self.queue.lock();
        // After a failure nothing is known of what was on its way.
        applied.lsn() + u64::from(queue.running || queue.broken)
    }

    /// Returns what is known of the index; what is on its way to the store counts.
    pub(crate) fn index(&self) -> IndexState {
        self.index.read().state.clone()
    }

    /// Returns what a snapshot that was taken before, whose newest commit is `lsn`, has of the index, if that is known
    /// without reading it.
    pub(crate) fn index_of_snapshot(&self, lsn: u64) -> Option<IndexState> {
        if self.far.is_some() {
            return None;
        }
        let known = self.index.read();
        (known.state.is_stored && lsn > known.after).then(|| known.state.clone())
    }

    fn set_index(&self, state: IndexState, after: u64) {
        *self.index.write() = KnownIndex { state, after };
    }

    /// Returns the layouts that a record holds.
    pub(crate) fn layouts(&self, bytes: &Bytes) -> Result<Arc<Layouts>> {
        let mut known = self.known_layouts.lock();
        if let Some((known_bytes, layouts)) = &*known
            && known_bytes == bytes
        {
            return Ok(layouts.clone());
        }
        let layouts = Arc::new(Layouts::decode(bytes)?);
        *known = Some((Bytes::copy_from_slice(bytes), layouts.clone()));
        Ok(layouts)
    }

    /// Returns the time, as items have it.
    pub(crate) fn now_seconds(&self) -> u32 {
        u32::try_from(self.env.clock.now_seconds()).unwrap_or(0)
    }

    /// Gives a number that is given once. It is for ever once something with it is committed.
    pub(crate) fn reserve_number(&self) -> Result<u64> {
        if let Some(far) = &self.far {
            return Ok(far.ask_here::<DraftReply>(&Request::Draft)?.number);
        }
        let sequence = self.sequence.fetch_add(1, Ordering::Relaxed) + 1;
        item_number(self.range_id, sequence)
            .ok_or_else(|| Error::new(ErrorKind::Unavailable, "the partition has no item numbers left"))
    }

    /// Returns whether writers of a logical partition have to wait.
    pub(crate) fn is_locked(&self, logical: &LogicalKey) -> bool {
        self.locks.is_locked(logical)
    }

    /// Opens, closes or retires the partition. A retired one stays retired.
    pub(crate) fn set_gate(&self, gate: Gate) {
        let mut queue = self.queue.lock();
        if queue.gate != Gate::Retired {
            queue.gate = gate;
            self.gate.send_replace(gate);
        }
    }

    /// Returns what tells when the last user of the partition is gone: it fails then.
    pub(crate) fn watch_end(&self) -> oneshot::Receiver<Never> {
        let (sender, receiver) = oneshot::channel();
        *self.gone.lock() = Some(sender);
        receiver
    }

    /// Returns what is stored, as of the newest durable commit.
    pub(crate) fn totals(&self) -> Counters {
        self.totals.read().clone()
    }

    fn set_totals(&self, counters: Counters) {
        self.growth.note(counters.size().total_bytes());
        *self.totals.write() = counters;
    }

    /// Returns whether others are being made to take the partition's place.
    pub(crate) fn is_reshaping(&self) -> bool {
        self.reshaping.lock().is_some()
    }

    /// Returns what the running committer goes on from. A panic may have left it half changed, but then the
    /// partition is broken and puts another in its place.
    fn applied(&self) -> MutexGuard<'_, Applied> {
        self.applied.lock()
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.queue.lock().broken
    }

    /// Fails where the partition is not this process's at this moment. It may be again, if its lease was only late: what
    /// comes then opens it again, and what waits now was not done.
    fn check_held(&self) -> Result<()> {
        match self.is_held() {
            true => Ok(()),
            false => Err(Error::new(ErrorKind::Moved, "another node may have the partition by now")),
        }
    }

    /// Reads the stored counters again after a commit that failed, and fences off whatever was behind it.
    pub(crate) fn reload(&self) -> Result<()> {
        if let Some(lost) = &self.queue.lock().lost {
            return Err(lost.clone());
        }
        self.check_held()?;
        let space = self.store.open_space(self.space_id)?;
        self.check_held()?;
        let counters = Counters::load(space.as_ref(), self.lsn_base)?;
        let get = |family, key: &[u8]| space.get(family, key);
        let index = IndexState::load(get, |bytes| self.layouts(bytes), &counters, &self.first_layout)?;
        let log = LogState::new(TrimState::load(|key| space.get(Family::Meta, key))?);
        self.set_lsn(counters.lsn);
        self.sequence.fetch_max(counters.sequence, Ordering::Relaxed);
        self.set_index(index.clone(), counters.lsn);
        *self.space.write() = space;
        self.set_totals(counters.clone());
        *self.applied() = Applied::new(counters, index).with_log(log);
        self.queue.lock().broken = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
