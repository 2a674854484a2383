//! Copying what one partition has into others, in small steps, on threads that may block.
//!
//! A whole copy has two passes over one snapshot. The first takes what of the change log does not belong to an item of
//! now, where that is kept: deletes and older versions. The second takes the items in the order of their keys, each
//! with its own entry of the change log. In this order, what one commit did to one item keeps its order also where
//! entries have to move to other operation numbers, because a merge brings together two that are the same.
//!
//! Catching up follows the change log from a commit on: an entry that is an item's newest brings the item along.

use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use armilla_kv::{Family, Scan, Snapshot};
use bytes::Bytes;

use crate::apply::{CopiedChange, CopiedKey, CopiedState, CopiedVersion, Origin};
use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{Error, ErrorKind, Result};
use crate::feed::trim::TrimState;
use crate::feed::{self, Change, LogEntry, Merged};
use crate::index::layout::Layout;
use crate::item::Item;
use crate::item::keys;
use crate::limits::{
    COPY_BYTES, COPY_BYTES_IDLE, COPY_ENTRIES, COPY_ENTRIES_IDLE, COPY_PRESSURE_PERCENT_MAX,
    COPY_PRESSURE_WAIT_MAX,
};
use crate::map::Slot;
use crate::map::ranges::Range;
use crate::partition::counters::Counters;
use crate::partition::{Landing, Partition};
use crate::receipt::StoredReceipt;

/// A partition that is being filled.
pub(super) struct Child {
    pub(super) partition: Partition,
    /// Where the keys of its items begin; `None` where it can have none.
    lower: Option<Bytes>,
}

impl Child {
    pub(super) fn open(container: &Container, range: &Range, layout: Arc<Layout>) -> Result<Child> {
        let definition = &container.compiled().definition.partition_key;
        let lower = keys::from_hashed(&range.min, definition.version, definition.paths.len());
        let partition = container.open_partition(range, layout)?;
        if partition.space().get(Family::Meta, keys::COUNTERS)?.is_some() {
            return Err(Error::invalid(format!("the space of the new range {} is not empty", range.id)));
        }
        Ok(Child { partition, lower })
    }
}

/// Whether a copy makes room for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// While the partition serves requests, it rests longer than it works, and waits for the store to catch up.
    GiveWay,
    /// It goes as fast as it can.
    Hurry,
}

/// One partition as of one moment, on its way into others.
pub(super) struct Copy {
    container: Container,
    slot: Arc<Slot>,
    snapshot: Arc<dyn Snapshot>,
    counters: Counters,
    /// What the change log holds beside the newest versions.
    log: Option<TrimState>,
    children: Arc<[Child]>,
    layout: Arc<Layout>,
    /// Whether other partitions are copied into the same children.
    is_one_of_several: bool,
    /// Whether the children have all items of this moment.
    items_are_there: bool,
}

/// What is copied, and from where on.
#[derive(Clone)]
enum Pass {
    /// Entries of the change log without items of now, behind this key.
    Log(Bound<Bytes>),
    /// Items, behind this key.
    Items(Bound<Bytes>),
    /// Entries of the change log with their items, behind this key.
    Changes(Bound<Bytes>),
    /// Receipts, behind this place in the order of commits.
    Receipts(Bound<Bytes>),
}

/// What was read and is not taken over yet, for each child.
type Queues = Vec<VecDeque<CopiedKey>>;

/// A step that was applied.
struct CopyStep {
    queues: Queues,
    landings: Vec<(usize, Landing)>,
    /// Where to go on, and how much was read, if something was.
    read: Option<(Option<Pass>, usize)>,
}

impl Copy {
    /// Takes a snapshot of a partition; `cloned` is one of which the children have all items already.
    pub(super) fn begin(
        container: Container,
        slot: &Arc<Slot>,
        partition: &Partition,
        cloned: Option<Arc<dyn Snapshot>>,
        children: Arc<[Child]>,
        layout: Arc<Layout>,
        is_one_of_several: bool,
    ) -> Result<Copy> {
        let items_are_there = cloned.is_some();
        let snapshot: Arc<dyn Snapshot> = match cloned {
            Some(cloned) => cloned,
            None => partition.space().snapshot()?.into(),
        };
        let counters = match snapshot.get(Family::Meta, keys::COUNTERS)? {
            Some(bytes) => Counters::decode(&bytes)?,
            None => Counters { lsn: slot.range.lsn_base, ..Counters::default() },
        };
        let log = TrimState::load(|key| snapshot.get(Family::Meta, key))?;
        Ok(Copy {
            container,
            slot: slot.clone(),
            snapshot,
            counters,
            log,
            children,
            layout,
            is_one_of_several,
            items_are_there,
        })
    }

    /// Returns what the change log holds beside the newest versions.
    pub(super) fn log(&self) -> Option<&TrimState> {
        self.log.as_ref()
    }

    /// Returns the last merge among the ancestors of the partition.
    pub(super) fn merged(&self) -> Result<Option<Merged>> {
        self.snapshot.get(Family::Meta, keys::MERGED)?.map(|bytes| Merged::decode(&bytes)).transpose()
    }

    /// Returns the newest commit of the snapshot.
    pub(super) fn lsn(&self) -> u64 {
        self.counters.lsn
    }

    /// Returns how many items there are.
    pub(super) fn items_total(&self) -> u64 {
        self.counters.items
    }

    /// Copies everything; tells after each step how many items were copied so far, and returns that.
    pub(super) async fn run_whole(self, pace: Pace, progress: impl Fn(u64)) -> Result<u64> {
        let copy = Arc::new(self);
        // Most logs hold newest versions alone, which come with their items: reading all of those for nothing took longer
        // than copying.
        if copy.keeps_older() {
            Arc::clone(&copy).run(Pass::Log(Bound::Unbounded), pace, |_| {}).await?;
        }
        Arc::clone(&copy).run(Pass::Receipts(Bound::Unbounded), pace, |_| {}).await?;
        let mut items = 0;
        let copied = copy.run(Pass::Items(Bound::Unbounded), pace, |count| {
            items += count as u64;
            progress(items);
        });
        Ok(copied.await? as u64)
    }

    /// Copies what changed after a commit. Returns how many entries of the change log were read.
    pub(super) async fn run_changes(self, after_lsn: u64, pace: Pace) -> Result<usize> {
        if self.counters.lsn <= after_lsn {
            return Ok(0);
        }
        let from = Bound::Included(keys::feed(after_lsn + 1, 0));
        let copy = Arc::new(self);
        // They are not among the changes, and count as none: each came with some, but for a few.
        let receipts = Bound::Included(keys::receipt_place(after_lsn + 1, b""));
        Arc::clone(&copy).run(Pass::Receipts(receipts), pace, |_| {}).await?;
        copy.run(Pass::Changes(from), pace, |_| {}).await
    }

    async fn run(self: Arc<Self>, pass: Pass, pace: Pace, mut read: impl FnMut(usize)) -> Result<usize> {
        let clock = self.container.core.env.clock.clone();
        let mut queues: Queues = self.children.iter().map(|_| VecDeque::new()).collect();
        let mut next = Some(pass);
        let mut total = 0;
        let mut served = self.slot.served.load(Ordering::Relaxed);
        let mut is_busy = pace == Pace::GiveWay;
        loop {
            let began = clock.elapsed();
            let (copy, pass) = (self.clone(), next.clone());
            let step = on_blocking_thread(move || copy.step(queues, pass, is_busy)).await?;
            for (place, landing) in step.landings {
                self.children[place].partition.land(landing).await?;
            }
            if let Some((pass, count)) = step.read {
                next = pass;
                total += count;
                read(count);
            }
            queues = step.queues;
            if next.is_none() && queues.iter().all(VecDeque::is_empty) {
                return Ok(total);
            }
            let served_now = self.slot.served.load(Ordering::Relaxed);
            is_busy = pace == Pace::GiveWay && served_now != served;
            served = served_now;
            if is_busy {
                let worked = clock.elapsed().saturating_sub(began);
                clock.sleep((RESTS_PER_STEP * worked).min(REST_MAX)).await;
                self.give_way().await;
            }
        }
    }

    /// Waits until the store has caught up with its background work: it would soon hold all writers back.
    async fn give_way(&self) {
        let (store, clock) = (&self.container.core.store, &self.container.core.env.clock);
        let until = clock.elapsed() + COPY_PRESSURE_WAIT_MAX;
        while store.pressure_percent() > COPY_PRESSURE_PERCENT_MAX && clock.elapsed() < until {
            clock.sleep(PRESSURE_POLL_PERIOD).await;
        }
    }

    /// Takes over what is queued, or reads more and takes that over.
    fn step(&self, mut queues: Queues, pass: Option<Pass>, is_busy: bool) -> Result<CopyStep> {
        let compiled = self.container.compiled();
        let mut read = None;
        if queues.iter().all(VecDeque::is_empty)
            && let Some(pass) = pass
        {
            read = Some(self.read(&compiled, pass, is_busy, &mut queues)?);
        }
        let origin = Origin {
            snapshot: self.snapshot.as_ref(),
            is_one_of_several: self.is_one_of_several,
            log: self.log.as_ref(),
        };
        let mut landings = Vec::new();
        for (place, queue) in queues.iter_mut().enumerate() {
            if !queue.is_empty() {
                landings.push((place, self.children[place].partition.copy_in(&compiled, queue, &origin)?));
            }
        }
        Ok(CopyStep { queues, landings, read })
    }

    /// Reads a page. Returns where to go on, if there is more, and how much was read.
    fn read(
        &self,
        compiled: &CompiledDefinition,
        pass: Pass,
        is_busy: bool,
        queues: &mut Queues,
    ) -> Result<(Option<Pass>, usize)> {
        let (entries_max, bytes_max) =
            if is_busy { (COPY_ENTRIES, COPY_BYTES) } else { (COPY_ENTRIES_IDLE, COPY_BYTES_IDLE) };
        let read_log =
            |lower| feed::read_log(self.snapshot.as_ref(), lower, Bound::Unbounded, entries_max, bytes_max);
        match pass {
            Pass::Items(lower) => {
                let scan = Scan { lower, entries_max, bytes_max, ..Scan::prefix(Family::Item, b"") };
                let page = self.snapshot.scan(&scan)?;
                let count = page.entries.len();
                let behind = match page.entries.last() {
                    Some((last, _)) if page.more => Some(Bound::Excluded(last.clone())),
                    _ => None,
                };
                self.read_items(compiled, page.entries, queues)?;
                Ok((behind.map(Pass::Items), count))
            }
            Pass::Log(lower) => {
                let page = read_log(lower)?;
                let count = page.entries.len();
                self.read_older(page.entries, queues)?;
                Ok((page.next.map(Pass::Log), count))
            }
            Pass::Changes(lower) => {
                let page = read_log(lower)?;
                let count = page.entries.len();
                self.read_changes(compiled, page.entries, queues)?;
                Ok((page.next.map(Pass::Changes), count))
            }
            Pass::Receipts(lower) => {
                let mut scan = Scan::prefix(Family::Meta, &[keys::RECEIPT_PLACE_TAG]);
                (scan.entries_max, scan.bytes_max) = (COPY_ENTRIES, bytes_max);
                if lower != Bound::Unbounded {
                    scan.lower = lower;
                }
                let page = self.snapshot.scan(&scan)?;
                let count = page.entries.len();
                let behind = match page.entries.last() {
                    Some((last, _)) if page.more => Some(Bound::Excluded(last.clone())),
                    _ => None,
                };
                self.read_receipts(page.entries, queues)?;
                Ok((behind.map(Pass::Receipts), count))
            }
        }
    }

    fn read_items(
        &self,
        compiled: &CompiledDefinition,
        entries: Vec<(Bytes, Bytes)>,
        queues: &mut Queues,
    ) -> Result<()> {
        let mut items = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            items.push((key, Item::open(value)?));
        }
        let positions: Vec<Bytes> =
            items.iter().map(|(_, item)| keys::feed(item.header().lsn, item.header().operation)).collect();
        let changes = self.snapshot.multi_get(Family::Feed, &positions)?;
        let computed = self.computed(items.iter().map(|(_, item)| item))?;
        for (((key, item), change), computed) in items.into_iter().zip(changes).zip(computed) {
            let (lsn, operation) = item.header().version();
            let change = change.ok_or_else(|| {
                let number = item.header().number;
                Error::corrupt(format!("item number {number}: commit {lsn} is not in the change log"))
            })?;
            let state = self.version(compiled, item, computed)?;
            let bytes = Change::without_carried(&change)?;
            let change = CopiedChange { operation, bytes, image: None };
            let is_there = self.items_are_there;
            self.queue(queues, CopiedKey { key, lsn, change: Some(change), state, is_there })?;
        }
        Ok(())
    }

    fn read_receipts(&self, places: Vec<(Bytes, Bytes)>, queues: &mut Queues) -> Result<()> {
        let mut named = Vec::with_capacity(places.len());
        for (place, _) in &places {
            named.push(keys::decode_receipt_place(place)?);
        }
        let records: Vec<Bytes> = named.iter().map(|(_, record)| record.clone()).collect();
        let values = self.snapshot.multi_get(Family::Meta, &records)?;
        for ((lsn, record), value) in named.into_iter().zip(values) {
            let stored = value.map(|value| StoredReceipt::decode(&value)).transpose()?;
            // A place without a receipt is left over, which is for `check` to find.
            let Some(stored) = stored.filter(|stored| stored.lsn == lsn) else { continue };
            let key = keys::logical_of_receipt(&record)?;
            let state = CopiedState::Receipt(Box::new((record, stored)));
            self.queue(queues, CopiedKey { key, lsn, change: None, state, is_there: false })?;
        }
        Ok(())
    }

    /// Returns whether any entry can be wanted that is not about an item as it is now.
    fn keeps_older(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.is_complete_at(u64::MAX))
    }

    /// Returns whether an entry is wanted that is not about an item as it is now: of a log that has all versions from some
    /// commit on, those behind it, and images that a change behind it may show.
    fn is_kept(&self, entry: &LogEntry) -> bool {
        self.log.as_ref().is_some_and(|log| {
            log.is_complete_at(entry.position.0) || (!log.is_never() && entry.image.is_some())
        })
    }

    fn read_older(&self, mut entries: Vec<LogEntry>, queues: &mut Queues) -> Result<()> {
        entries.retain(|entry| self.is_kept(entry));
        let items = self.newest(&entries)?;
        for (entry, item) in entries.into_iter().zip(items) {
            if !is_of(&entry, item.as_ref()) {
                self.queue(queues, copied(entry, CopiedState::Unchanged)?)?;
            }
        }
        Ok(())
    }

    fn read_changes(
        &self,
        compiled: &CompiledDefinition,
        entries: Vec<LogEntry>,
        queues: &mut Queues,
    ) -> Result<()> {
        let items = self.newest(&entries)?;
        let none: Vec<Option<Bytes>> = vec![None; items.len()];
        let computed = match self.layout.has_computed {
            true => self.snapshot.multi_get(
                Family::Meta,
                &entries.iter().map(|entry| keys::computed(entry.change.number)).collect::<Vec<_>>(),
            )?,
            false => none,
        };
        for ((entry, item), computed) in entries.into_iter().zip(items).zip(computed) {
            let is_kept = self.is_kept(&entry);
            let copied = match item {
                Some(item) if is_of(&entry, Some(&item)) => {
                    let state = self.version(compiled, item, computed)?;
                    copied(entry, state)?
                }
                None if entry.change.kind.is_removal() => {
                    let gone = copied(entry, CopiedState::Gone)?;
                    CopiedKey { change: gone.change.filter(|_| is_kept), ..gone }
                }
                // If there is a newer version, a newer entry brings it.
                _ if is_kept => copied(entry, CopiedState::Unchanged)?,
                _ => continue,
            };
            self.queue(queues, copied)?;
        }
        Ok(())
    }

    /// Returns the items that entries are about, as they are now.
    fn newest(&self, entries: &[LogEntry]) -> Result<Vec<Option<Item>>> {
        let item_keys: Vec<Bytes> = entries.iter().map(|entry| entry.change.item_key.clone()).collect();
        let values = self.snapshot.multi_get(Family::Item, &item_keys)?;
        values.into_iter().map(|value| value.map(Item::open).transpose()).collect()
    }

    /// Returns the records of computed entries, where there can be any.
    fn computed<'a>(&self, items: impl ExactSizeIterator<Item = &'a Item>) -> Result<Vec<Option<Bytes>>> {
        if !self.layout.has_computed {
            return Ok(vec![None; items.len()]);
        }
        let records: Vec<Bytes> = items.map(|item| keys::computed(item.header().number)).collect();
        Ok(self.snapshot.multi_get(Family::Meta, &records)?)
    }

    fn version(
        &self,
        compiled: &CompiledDefinition,
        item: Item,
        computed: Option<Bytes>,
    ) -> Result<CopiedState> {
        let version = CopiedVersion::prepare(compiled, &self.layout, item, computed)?;
        Ok(CopiedState::Is(Box::new(version)))
    }

    /// Queues a key for the child that it belongs to.
    fn queue(&self, queues: &mut Queues, copied: CopiedKey) -> Result<()> {
        let is_behind = |child: &Child| child.lower.as_ref().is_some_and(|lower| lower[..] <= copied.key[..]);
        let place = self
            .children
            .partition_point(is_behind)
            .checked_sub(1)
            .ok_or_else(|| Error::corrupt("an item lies before the range of its partition"))?;
        queues[place].push_back(copied);
        Ok(())
    }
}

/// So many times as long as a step took, the copy rests after it.
const RESTS_PER_STEP: u32 = 2;

/// How often it is asked whether the store has caught up.
const PRESSURE_POLL_PERIOD: Duration = Duration::from_millis(10);

/// Longest rest between two steps.
const REST_MAX: Duration = Duration::from_millis(100);

/// Returns whether an entry is about this version of an item.
fn is_of(entry: &LogEntry, item: Option<&Item>) -> bool {
    !entry.change.kind.is_removal() && item.is_some_and(|item| item.header().version() == entry.position)
}

fn copied(entry: LogEntry, state: CopiedState) -> Result<CopiedKey> {
    let LogEntry { position: (lsn, operation), change, image, bytes } = entry;
    let bytes = Change::without_carried(&bytes)?;
    let change_there = CopiedChange { operation, bytes, image };
    Ok(CopiedKey { key: change.item_key, lsn, change: Some(change_there), state, is_there: false })
}

/// Runs something that takes its time, where it keeps no other task waiting.
pub(super) async fn on_blocking_thread<T: Send + 'static>(
    run: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(run).await.unwrap_or_else(|failure| {
        Err(Error::new(ErrorKind::Internal, format!("a step of a copy was not finished: {failure}")))
    })
}
