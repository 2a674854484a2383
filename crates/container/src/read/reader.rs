//! Reading a container for queries: one reader for each physical partition that a scope touches, as of one moment.
//!
//! A reader owns a snapshot of its partition, so that items, entries, counts and the layouts of the index agree,
//! whatever is written meanwhile. Items come through the cache in front of the store where the newest version is
//! the one that the snapshot has.

use std::ops::{Bound, ControlFlow};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use armilla_governor::{Admitted, Claim, OperationKind};
use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, KeyRange, Matcher, split_entry};
use armilla_kv::{Direction, Family, Scan, Snapshot, Space};
use armilla_value::{Component, HashVersion, HashedKey, PartitionKey};
use bytes::Bytes;

use crate::apply::{Draft, decode_count};
use crate::compiled_definition::CompiledDefinition;
use crate::container::{Container, check_session};
use crate::definition::ContainerDefinition;
use crate::error::{Error, Position, Result};
use crate::index::layout::Usable;
use crate::index::state::IndexState;
use crate::item::expiry::Expiry;
use crate::item::keys::{self, LogicalKey};
use crate::item::{ContainerIdentity, Item};
use crate::limits::{EXPIRED_LOOK_ENTRIES, LOGICAL_ITEMS_AT_ONCE, LOGICAL_KEPT_BYTES_MAX};
use crate::map::Slot;
use crate::partition::Partition;
use crate::partition::counters::{Counters, LogicalSize};
use crate::read::list::ListScope;
use crate::read::session::SessionToken;
use crate::sweep::due;
use crate::throughput::{ReadCost, RequestUnits};
use crate::write;

/// Which items to read.
pub type ReadScope = ListScope;

/// One physical partition, or a part of it, as of one moment.
pub struct PartitionReader {
    space: Arc<dyn Space>,
    snapshot: Box<dyn Snapshot>,
    // Behind what reads it: a partition that was replaced is cleared away once its last reader is gone.
    pub(super) partition: Arc<Partition>,
    slot: Arc<Slot>,
    compiled: Arc<CompiledDefinition>,
    identity: Arc<ContainerIdentity>,
    min: HashedKey,
    max: HashedKey,
    covers_all: bool,
    /// Which items have expired, as of the reader's moment.
    pub(super) expiry: Expiry,
    /// Whether expired items may be stored, once that was asked.
    may_hold_expired: OnceLock<bool>,
    /// The one logical partition that is read.
    logical: Option<LogicalKey>,
    /// Its key, where a caller has named it.
    partition_key: Option<PartitionKey>,
    pub(super) counters: Counters,
    item_count: u64,
    usable: Usable,
    /// The numbers of the logical partition's items, once they were asked for.
    logical_numbers: OnceLock<LogicalNumbers>,
}

/// The numbers of a logical partition's items, in order.
struct LogicalNumbers {
    numbers: Vec<u64>,
    /// The items themselves, in the same order, where they are few.
    items: Option<Vec<Item>>,
}

impl Container {
    /// Returns a reader for each physical partition that a scope touches, in the order of their ranges.
    pub fn readers(&self, scope: &ReadScope, session: &SessionToken) -> Result<Vec<PartitionReader>> {
        self.settled(|| self.settled_readers(scope, session))
    }

    fn settled_readers(&self, scope: &ReadScope, session: &SessionToken) -> Result<Vec<PartitionReader>> {
        let compiled = self.compiled();
        if let ListScope::PartitionKey(key) = scope
            && compiled.definition.partition_key.is_whole(key)
        {
            let (hashed, logical) = write::locate(&compiled, key)?;
            let (slot, _) = self.route(&hashed)?;
            let mut reader = self.reader(&compiled, &slot, session, just(hashed), Some(logical))?;
            reader.partition_key = Some(key.clone());
            return Ok(vec![reader]);
        }
        let map = self.map_now();
        let (min, max) = self.scope_bounds(&compiled, &map, scope)?;
        let mut readers = Vec::new();
        for slot in &map.slots {
            let bounds = ((&min).max(&slot.range.min).clone(), (&max).min(&slot.range.max).clone());
            if bounds.0 < bounds.1 {
                readers.push(self.reader(&compiled, slot, session, bounds, None)?);
            }
        }
        Ok(readers)
    }

    /// Returns a reader of the physical partition that a logical one lies in.
    pub fn reader_around(&self, key: &PartitionKey, session: &SessionToken) -> Result<PartitionReader> {
        self.settled(|| self.settled_reader_around(key, session))
    }

    fn settled_reader_around(&self, key: &PartitionKey, session: &SessionToken) -> Result<PartitionReader> {
        let compiled = self.compiled();
        let (hashed, _) = write::locate(&compiled, key)?;
        let (slot, _) = self.route(&hashed)?;
        let bounds = (slot.range.min.clone(), slot.range.max.clone());
        self.reader(&compiled, &slot, session, bounds, None)
    }

    /// Returns a reader of one logical partition, and the draft of a transaction on its snapshot.
    pub(crate) fn draft_on(
        &self,
        compiled: &Arc<CompiledDefinition>,
        slot: &Arc<Slot>,
        logical: &LogicalKey,
        hashed: HashedKey,
        cost: ReadCost,
    ) -> Result<(PartitionReader, Draft)> {
        let session = SessionToken::default();
        let bounds = just(hashed);
        let (reader, index) =
            self.reader_and_index(compiled, slot, &session, bounds, Some(logical.clone()))?;
        let (partition, space, counters) =
            (reader.partition.clone(), reader.space.clone(), reader.counters.clone());
        let now = reader.expiry.now();
        let draft = Draft::new(partition, space, compiled.clone(), counters, index, cost, now);
        Ok((reader, draft))
    }

    fn reader(
        &self,
        compiled: &Arc<CompiledDefinition>,
        slot: &Arc<Slot>,
        session: &SessionToken,
        bounds: (HashedKey, HashedKey),
        logical: Option<LogicalKey>,
    ) -> Result<PartitionReader> {
        self.reader_and_index(compiled, slot, session, bounds, logical).map(|(reader, _)| reader)
    }

    fn reader_and_index(
        &self,
        compiled: &Arc<CompiledDefinition>,
        slot: &Arc<Slot>,
        session: &SessionToken,
        (min, max): (HashedKey, HashedKey),
        logical: Option<LogicalKey>,
    ) -> Result<(PartitionReader, IndexState)> {
        let partition = self.partition(slot)?;
        check_session(slot, &partition, session)?;
        let read = || -> Result<(PartitionReader, IndexState)> {
            let space = partition.space();
            let snapshot = space.snapshot()?;
            let counters = match snapshot.get(Family::Meta, keys::COUNTERS)? {
                Some(bytes) => Counters::decode(&bytes)?,
                None => Counters { lsn: slot.range.lsn_base, ..Counters::default() },
            };
            let get = |family, key: &[u8]| snapshot.get(family, key);
            let index = match partition.index_of_snapshot(counters.lsn) {
                Some(known) => known,
                None => IndexState::load(get, |bytes| partition.layouts(bytes), &counters, &compiled.layout)?,
            };
            let item_count = match &logical {
                None => counters.items,
                Some(logical) => match snapshot.get(Family::Meta, &keys::size(logical))? {
                    Some(bytes) => LogicalSize::decode(&bytes)?.items,
                    None => 0,
                },
            };
            let reader = PartitionReader {
                covers_all: logical.is_none() && min == slot.range.min && max == slot.range.max,
                expiry: compiled.expiry(partition.now_seconds()),
                may_hold_expired: OnceLock::new(),
                usable: Usable::new(
                    &compiled.layout,
                    &index.layouts,
                    index.crowded.clone(),
                    compiled.evaluates(),
                ),
                partition: partition.clone(),
                slot: slot.clone(),
                space,
                snapshot,
                compiled: compiled.clone(),
                identity: self.shared_identity().clone(),
                min,
                max,
                logical,
                partition_key: None,
                counters,
                item_count,
                logical_numbers: OnceLock::new(),
            };
            Ok((reader, index))
        };
        read().map_err(|error| self.failed(error, &partition))
    }
}

fn stored_bytes(items: &[(Bytes, Item)]) -> usize {
    items.iter().map(|(_, item)| item.raw().0.len()).sum()
}

/// Returns the bounds of one hashed key: nothing lies between a hash and the same with a zero behind it.
fn just(hashed: HashedKey) -> (HashedKey, HashedKey) {
    let beyond = HashedKey::from_bytes(&[hashed.as_bytes(), &[0]].concat());
    (hashed, beyond)
}

impl PartitionReader {
    /// Returns the snapshot that is read.
    pub(crate) fn snapshot(&self) -> &dyn Snapshot {
        self.snapshot.as_ref()
    }

    /// Asks whether the physical partition may serve something now.
    pub fn admit(&self, claim: impl Into<Claim>) -> Result<Admitted> {
        self.slot.admit(self.partition.env.clock.as_ref(), claim.into(), self.logical_bytes())
    }

    /// Takes down what was read here cost.
    pub fn spend(&self, claim: impl Into<Claim>, charge: RequestUnits, took: Duration) {
        let clock = self.partition.env.clock.as_ref();
        self.slot.spend(clock, OperationKind::Query, claim.into(), self.logical_bytes(), charge, took);
    }

    fn logical_bytes(&self) -> Option<&[u8]> {
        self.logical.as_ref().map(|logical| &logical.as_bytes()[..])
    }

    /// Returns the id of the physical partition.
    pub fn range_id(&self) -> u32 {
        self.partition.range_id
    }

    /// Returns the part of the ring that is covered: the first hashed key, and the first one beyond.
    pub fn bounds(&self) -> (HashedKey, HashedKey) {
        (self.min.clone(), self.max.clone())
    }

    /// Returns whether the whole physical partition is covered, and all its index entries are of items in it that are
    /// there: none of them is still stored although it has expired.
    pub fn is_whole(&self) -> bool {
        self.covers_all && !self.may_hold_expired()
    }

    /// Returns whether every item of the physical partition is there for the reader.
    pub(super) fn sees_all(&self) -> bool {
        self.covers_all && !self.expiry.is_on() && !self.expiry.has_deleted_keys()
    }

    /// Returns whether [`PartitionReader::item_count`] counts exactly the items that the reader gives.
    pub fn is_counted(&self) -> bool {
        (self.covers_all || self.logical.is_some()) && !self.may_hold_expired()
    }

    /// Returns whether some item of the physical partition may still be stored although it has expired. Who cannot tell
    /// from a look at the first few says yes.
    fn may_hold_expired(&self) -> bool {
        // A caller that reads on meets the same failure.
        *self.may_hold_expired.get_or_init(|| self.look_for_expired().unwrap_or(true))
    }

    fn look_for_expired(&self) -> Result<bool> {
        if self.expiry.has_deleted_keys() {
            return Ok(true);
        }
        if !self.expiry.is_on() {
            return Ok(false);
        }
        let mut own = due::due_records(&self.expiry);
        own.entries_max = 1;
        if !self.read(self.snapshot.scan(&own))?.entries.is_empty() {
            return Ok(true);
        }
        let Some(range) = due::due_stamps(&self.expiry) else { return Ok(false) };
        if !due::has_all_stamps(&self.usable) {
            return Ok(true);
        }
        // Those with a longer time of their own are among them.
        let mut numbers = Vec::new();
        if self.entry_numbers(&range, EXPIRED_LOOK_ENTRIES, &mut numbers)?.is_some() {
            return Ok(true);
        }
        let keys: Vec<Bytes> = self.item_keys(&numbers)?.into_iter().flatten().collect();
        for value in self.read(self.snapshot.multi_get(Family::Item, &keys))?.into_iter().flatten() {
            if self.expiry.is_over(&Item::open(value)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether exactly one logical partition is covered.
    pub fn logical(&self) -> bool {
        self.logical.is_some()
    }

    /// Returns the text that all items have at a path, where one logical partition is covered and the path is of its key.
    pub fn key_text(&self, path: &[PathSegment]) -> Option<&str> {
        let is_path = |names: &[String]| {
            names.len() == path.len()
                && names.iter().zip(path).all(
                    |(name, segment)| matches!(segment, PathSegment::Property(property) if property == name),
                )
        };
        let paths = &self.compiled.definition.partition_key.paths;
        let at = paths.iter().position(|path| is_path(path.names()))?;
        match self.partition_key.as_ref()?.0.get(at)? {
            Component::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns how many items there are: in the logical partition if one is covered, else in the physical one. Items that
    /// have expired count as long as they are stored.
    pub fn item_count(&self) -> u64 {
        self.item_count
    }

    /// Returns how many items the physical partition has, and their bytes.
    pub fn totals(&self) -> (u64, u64) {
        (self.counters.items, self.counters.bytes)
    }

    /// Returns where the partition was at the reader's moment.
    pub fn position(&self) -> Position {
        Position { range_id: self.partition.range_id, lsn: self.counters.lsn }
    }

    /// Returns what items need to know to show themselves.
    pub fn identity(&self) -> &ContainerIdentity {
        &self.identity
    }

    /// Returns the container's definition when the reader was made.
    pub fn definition(&self) -> &ContainerDefinition {
        &self.compiled.definition
    }

    /// Returns what the container's policy says, whether or not the index is built that far.
    pub fn policy(&self) -> &Matcher {
        self.compiled.matcher()
    }

    /// Returns which indexes are complete.
    pub fn usable(&self) -> &Usable {
        &self.usable
    }

    /// Returns the number of entries that an index has in the physical partition.
    pub fn index_entries(&self, index: IndexId) -> Result<u64> {
        let record = self.read(self.snapshot.get(Family::Meta, &keys::index_count(index)))?;
        record.map_or(Ok(0), |bytes| decode_count(&bytes))
    }

    /// Returns what an index of the physical partition is called, if it has entries: a path, or the definition of a
    /// composite index.
    pub fn index_name(&self, index: IndexId) -> Result<Option<String>> {
        let record = self.read(self.snapshot.get(Family::Meta, &keys::index_name(index)))?;
        Ok(record.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Adds up to `entries_max` keys of index entries to `out`, in the order of the walk. Returns whether there may
    /// be more behind the last; that is where to go on. Entries are those of the physical partition: items outside
    /// of the reader's bounds have theirs among them.
    pub fn entries(
        &self,
        range: &KeyRange,
        direction: Direction,
        entries_max: usize,
        out: &mut Vec<Bytes>,
    ) -> Result<bool> {
        if range.is_empty() {
            return Ok(false);
        }
        let mut scan = Scan::prefix(Family::Index, b"");
        scan.lower = range.lower.clone();
        scan.upper = range.upper.clone();
        scan.direction = direction;
        scan.entries_max = entries_max;
        let page = self.read(self.snapshot.scan(&scan))?;
        out.extend(page.entries.into_iter().map(|(key, _)| key));
        Ok(page.more)
    }

    /// Counts the entries of a range, up to a number of them.
    pub fn count_entries(&self, range: &KeyRange, entries_max: u64) -> Result<u64> {
        let mut count = 0;
        self.visit_entries(range, |_| {
            count += 1;
            if count < entries_max { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(count)
    }

    /// Adds the item numbers of up to `numbers_max` entries of a range to `out`, in the order of the entries. Returns the
    /// entry behind which there may be more.
    pub fn entry_numbers(
        &self,
        range: &KeyRange,
        numbers_max: usize,
        out: &mut Vec<u64>,
    ) -> Result<Option<Bytes>> {
        let end = out.len().saturating_add(numbers_max.max(1));
        let mut last = None;
        let mut is_damaged = false;
        self.visit_entries(range, |entry| match split_entry(entry) {
            Some((_, _, number)) => {
                out.push(number);
                if out.len() < end {
                    return ControlFlow::Continue(());
                }
                last = Some(Bytes::copy_from_slice(entry));
                ControlFlow::Break(())
            }
            None => {
                is_damaged = true;
                ControlFlow::Break(())
            }
        })?;
        if is_damaged {
            return Err(Error::corrupt("an index entry is cut short"));
        }
        Ok(last)
    }

    fn visit_entries(&self, range: &KeyRange, mut visit: impl FnMut(&[u8]) -> ControlFlow<()>) -> Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        let mut scan = Scan::prefix(Family::Index, b"");
        scan.lower = range.lower.clone();
        scan.upper = range.upper.clone();
        self.read(self.snapshot.visit_keys(&scan, &mut visit))
    }

    /// Adds the item of each number to `out`; nothing where there is none, it has expired, or it is outside of the bounds.
    pub fn load(&self, numbers: &[u64], out: &mut Vec<Option<Item>>) -> Result<()> {
        if let Some(kept) = self.kept_items() {
            let find = |number| kept.binary_search_by_key(number, |item| item.header().number).ok();
            out.extend(numbers.iter().map(|number| find(number).map(|at| kept[at].clone())));
            return Ok(());
        }
        let keyed = self.load_keyed(numbers, |key| self.covers(key))?;
        let seen = |(key, item): (Bytes, Item)| (!self.expiry.hides(&key, &item)).then_some(item);
        out.extend(keyed.into_iter().map(|keyed| keyed.and_then(seen)));
        Ok(())
    }

    /// Returns the item of each number with its key, expired or not, if the key is wanted.
    pub(super) fn load_keyed(
        &self,
        numbers: &[u64],
        is_wanted: impl Fn(&[u8]) -> Result<bool>,
    ) -> Result<Vec<Option<(Bytes, Item)>>> {
        let keys = self.item_keys(numbers)?;
        let mut wanted = Vec::with_capacity(keys.len());
        let mut positions = Vec::with_capacity(keys.len());
        for (position, key) in keys.into_iter().enumerate() {
            if let Some(key) = key
                && is_wanted(&key)?
            {
                wanted.push(key);
                positions.push(position);
            }
        }
        let mut loaded: Vec<Option<(Bytes, Item)>> = Vec::new();
        loaded.resize_with(numbers.len(), || None);
        let newest = self.read(self.space.multi_get(Family::Item, &wanted))?;
        let mut replaced = Vec::new();
        let mut replaced_positions = Vec::new();
        for ((value, key), position) in newest.into_iter().zip(wanted).zip(positions) {
            let item = value.map(Item::open).transpose()?;
            match item.filter(|item| item.header().lsn <= self.counters.lsn) {
                Some(item) => loaded[position] = Some((key, item)),
                None => {
                    replaced.push(key);
                    replaced_positions.push(position);
                }
            }
        }
        if !replaced.is_empty() {
            let older = self.read(self.snapshot.multi_get(Family::Item, &replaced))?;
            for ((value, key), position) in older.into_iter().zip(replaced).zip(replaced_positions) {
                loaded[position] = value.map(Item::open).transpose()?.map(|item| (key, item));
            }
        }
        // A key outlives its item: another may have it now.
        for (keyed, number) in loaded.iter_mut().zip(numbers) {
            keyed.take_if(|(_, item)| item.header().number != *number);
        }
        Ok(loaded)
    }

    /// Returns the item with an id, where one logical partition is covered.
    pub fn point(&self, id: &str) -> Result<Option<Item>> {
        let Some(logical) = &self.logical else { return Ok(None) };
        let item =
            self.read(self.snapshot.get(Family::Item, &logical.item(id)))?.map(Item::open).transpose()?;
        Ok(item.filter(|item| !self.expiry.hides(&logical.item(id), item)))
    }

    /// Adds up to `items_max` items in the order of their keys to `out`, from behind the key `after`. Returns whether
    /// there may be more.
    pub fn scan(&self, after: Option<&[u8]>, items_max: usize, out: &mut Vec<(Bytes, Item)>) -> Result<bool> {
        let Some(mut scan) = self.scan_behind(after, items_max) else { return Ok(false) };
        loop {
            let page = self.read(self.snapshot.scan(&scan))?;
            let last = page.entries.last().map(|(key, _)| key.clone());
            let before = out.len();
            out.reserve(page.entries.len());
            for (key, value) in page.entries {
                let item = Item::open(value)?;
                if !self.expiry.hides(&key, &item) {
                    out.push((key, item));
                }
            }
            match last {
                // A page of expired items would look like the end.
                Some(last) if page.more && out.len() == before => scan = scan.after(&last),
                _ => return Ok(page.more),
            }
        }
    }

    /// Returns the scan of the items behind a key; nothing where there can be none.
    fn scan_behind(&self, after: Option<&[u8]>, items_max: usize) -> Option<Scan> {
        let mut scan = match &self.logical {
            Some(logical) => Scan::prefix(Family::Item, logical.as_bytes()),
            None => {
                let mut scan = Scan::prefix(Family::Item, b"");
                let from = |hashed| keys::from_hashed(hashed, self.version(), self.levels());
                scan.lower = Bound::Included(from(&self.min)?);
                scan.upper = from(&self.max).map_or(Bound::Unbounded, Bound::Excluded);
                scan
            }
        };
        if let Some(after) = after {
            let is_behind = matches!(&scan.lower, Bound::Included(lower) if after >= &lower[..]);
            if is_behind {
                scan.lower = Bound::Excluded(Bytes::copy_from_slice(after));
            }
        }
        scan.entries_max = items_max;
        Some(scan)
    }

    /// Adds up to `numbers_max` numbers of items to `out`, in order, from behind `after`. Returns whether there may be
    /// more. Those of items outside of the bounds, or expired ones, are among them; loading gives nothing for them.
    pub fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        if self.logical.is_some() {
            let all = &self.logical_numbers()?.numbers;
            let start = all.partition_point(|number| *number <= after);
            let end = start.saturating_add(numbers_max.max(1)).min(all.len());
            out.extend_from_slice(&all[start..end]);
            return Ok(end < all.len());
        }
        let mut scan = Scan::prefix(Family::Number, b"");
        scan.lower = Bound::Excluded(keys::number(after));
        scan.entries_max = numbers_max;
        let page = self.read(self.snapshot.scan(&scan))?;
        let mut known = Vec::with_capacity(page.entries.len());
        for (number, key) in &page.entries {
            let number = keys::decode_number(number)?;
            out.push(number);
            known.push((number, &key[..]));
        }
        self.partition.remember_keys(known);
        Ok(page.more)
    }

    /// Returns the numbers of all items of the logical partition, in order. Those of the whole physical partition, which
    /// lie in order already, may be a million times as many.
    fn logical_numbers(&self) -> Result<&LogicalNumbers> {
        if let Some(known) = self.logical_numbers.get() {
            return Ok(known);
        }
        let mut numbers = Vec::new();
        let mut items = Vec::new();
        let mut after: Option<Bytes> = None;
        loop {
            items.clear();
            let more = self.scan(after.as_deref(), LOGICAL_ITEMS_AT_ONCE, &mut items)?;
            if after.is_none() && !more && stored_bytes(&items) <= LOGICAL_KEPT_BYTES_MAX {
                let mut items: Vec<Item> = items.into_iter().map(|(_, item)| item).collect();
                items.sort_unstable_by_key(|item| item.header().number);
                let numbers = items.iter().map(|item| item.header().number).collect();
                return Ok(self
                    .logical_numbers
                    .get_or_init(|| LogicalNumbers { numbers, items: Some(items) }));
            }
            numbers.extend(items.iter().map(|(_, item)| item.header().number));
            let known = items.iter().map(|(key, item)| (item.header().number, &key[..]));
            self.partition.remember_keys(known);
            match items.last() {
                Some((key, _)) if more => after = Some(key.clone()),
                _ => break,
            }
        }
        numbers.sort_unstable();
        Ok(self.logical_numbers.get_or_init(|| LogicalNumbers { numbers, items: None }))
    }

    /// Returns the items of a logical partition that were read for their numbers and kept.
    fn kept_items(&self) -> Option<&[Item]> {
        self.logical_numbers.get()?.items.as_deref()
    }

    /// Returns the key of the item with a number, if there is one, inside the bounds or not.
    pub fn item_key_of(&self, number: u64) -> Result<Option<Bytes>> {
        Ok(self.item_keys(&[number])?.pop().flatten())
    }

    fn item_keys(&self, numbers: &[u64]) -> Result<Vec<Option<Bytes>>> {
        let mut found = self.partition.known_keys(numbers);
        let missing: Vec<usize> =
            found.iter().enumerate().filter(|(_, key)| key.is_none()).map(|(at, _)| at).collect();
        if missing.is_empty() {
            return Ok(found);
        }
        let number_keys: Vec<Bytes> = missing.iter().map(|at| keys::number(numbers[*at])).collect();
        let read = self.read(self.snapshot.multi_get(Family::Number, &number_keys))?;
        for (at, key) in missing.iter().zip(read) {
            found[*at] = key;
        }
        let known = missing.iter().filter_map(|at| Some((numbers[*at], found[*at].as_deref()?)));
        self.partition.remember_keys(known);
        Ok(found)
    }

    /// Returns whether the reader covers an item with this key.
    pub(super) fn covers(&self, key: &[u8]) -> Result<bool> {
        if let Some(logical) = &self.logical {
            return Ok(key.starts_with(logical.as_bytes()));
        }
        if self.covers_all {
            return Ok(true);
        }
        let hashed = keys::hashed(key, self.version(), self.levels())
            .ok_or_else(|| Error::corrupt("the key of an item is cut short"))?;
        Ok(self.min <= hashed && hashed < self.max)
    }

    fn version(&self) -> HashVersion {
        self.compiled.definition.partition_key.version
    }

    fn levels(&self) -> usize {
        self.compiled.definition.partition_key.paths.len()
    }

    fn read<T>(&self, result: armilla_kv::Result<T>) -> Result<T> {
        result.map_err(|error| Error { position: Some(self.position()), ..Error::from(error) })
    }
}
