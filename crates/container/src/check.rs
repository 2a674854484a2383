//! Verifying a physical partition: that everything stored about its items agrees.
//!
//! Reads one snapshot from front to back, so it finds what a crash, a bug or a bad disk left behind: items
//! without numbers, numbers without items, gaps in the change log, counters and sizes that are off, index entries that
//! are missing or left over.

use armilla_kv::{Family, Scan, Snapshot};
use armilla_value::{PartitionKey, extract};
use bytes::Bytes;

use crate::check::rebuild::name_of;
use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{Error, Result};
use crate::feed::Change;
use crate::index::state::IndexState;
use crate::item::keys;
use crate::item::number::sequence_in;
use crate::item::{Item, Stamp};
use crate::map::ranges::Range;
use crate::partition::counters::{Counters, LogicalSize, SizeChange};
use crate::unique;
use crate::write;

mod changes;
mod index;
mod index_seen;
pub(crate) mod rebuild;
mod receipts;

use index_seen::IndexSeen;

/// Problems after which a check gives up listing more of the same partition.
const PROBLEMS_MAX: usize = 100;

/// Something that does not agree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The physical partition.
    pub range_id: u32,
    /// What is wrong.
    pub message: String,
}

/// What a check saw.
#[derive(Debug, Clone, Default)]
pub struct CheckSummary {
    /// Items that were read.
    pub items: u64,
    /// Their bytes, keys and values.
    pub bytes: u64,
    /// The bytes of the keys of the index entries that they should have.
    pub index_bytes: u64,
    /// Entries of the change log.
    pub changes: u64,
    /// Entries of the index.
    pub entries: u64,
    /// What does not agree.
    pub problems: Vec<Problem>,
}

/// Verifies one physical partition. `progress` is told after every page how many items were read so far.
pub fn check_partition(
    container: &Container,
    range_id: u32,
    progress: &mut dyn FnMut(u64),
) -> Result<CheckSummary> {
    let map = container.map_now();
    let slot = map.find(range_id).ok_or_else(|| Error::invalid(format!("there is no range {range_id}")))?;
    let partition = container.partition(slot)?;
    let snapshot = partition.space().snapshot()?;
    let compiled = container.compiled();
    let counters = match snapshot.get(Family::Meta, keys::COUNTERS)? {
        Some(bytes) => Counters::decode(&bytes)?,
        None => Counters { lsn: slot.range.lsn_base, ..Counters::default() },
    };
    let get = |family, key: &[u8]| snapshot.get(family, key);
    let state = IndexState::load(get, |bytes| partition.layouts(bytes), &counters, &compiled.layout)?;
    let mut check = Check {
        index: IndexSeen::new(state),
        snapshot: snapshot.as_ref(),
        compiled: &compiled,
        range: &slot.range,
        counters,
        summary: CheckSummary::default(),
        logical: None,
        logical_partitions: 0,
        expiries: 0,
        reservations: 0,
    };
    check.items(progress)?;
    check.numbers()?;
    check.changes()?;
    check.entries()?;
    check.records()?;
    Ok(check.summary)
}

struct Check<'a> {
    index: IndexSeen,
    snapshot: &'a dyn Snapshot,
    compiled: &'a CompiledDefinition,
    range: &'a Range,
    counters: Counters,
    summary: CheckSummary,
    /// The logical partition that the items being read belong to, and what it holds so far.
    logical: Option<(Bytes, LogicalSize)>,
    logical_partitions: u64,
    /// Items with a time to live of their own.
    expiries: u64,
    /// How many values of unique keys the items have.
    reservations: u64,
}

impl Check<'_> {
    fn problem(&mut self, message: String) {
        if self.summary.problems.len() < PROBLEMS_MAX {
            self.summary.problems.push(Problem { range_id: self.range.id, message });
        }
    }

    fn scan(
        &mut self,
        family: Family,
        mut each: impl FnMut(&mut Self, &Bytes, &Bytes) -> Result<()>,
    ) -> Result<()> {
        let mut scan = Scan::prefix(family, b"");
        loop {
            let page = self.snapshot.scan(&scan)?;
            for (key, value) in &page.entries {
                each(self, key, value)?;
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(key),
                _ => return Ok(()),
            }
        }
    }

    fn items(&mut self, progress: &mut dyn FnMut(u64)) -> Result<()> {
        const PROGRESS_EVERY: u64 = 10_000;
        self.scan(Family::Item, |check, key, value| {
            check.summary.items += 1;
            check.summary.bytes += (key.len() + value.len()) as u64;
            if check.summary.items.is_multiple_of(PROGRESS_EVERY) {
                progress(check.summary.items);
            }
            match Item::open(value.clone()) {
                Ok(item) => check.item(key, &item),
                Err(error) => {
                    let name = name_of(check.compiled, key);
                    check.problem(format!("{name}: {error}"));
                    Ok(())
                }
            }
        })?;
        self.end_logical_partition(None)?;
        progress(self.summary.items);
        let CheckSummary { items, bytes, index_bytes, .. } = self.summary;
        let (counted, found) = (self.counters.size(), LogicalSize { items, bytes, index_bytes });
        if counted != found {
            self.problem(format!(
                "the counters say {}, there are {}",
                counted.described(),
                found.described()
            ));
        }
        Ok(())
    }

    fn item(&mut self, key: &Bytes, item: &Item) -> Result<()> {
        let header = *item.header();
        let name = format!("item with number {}", header.number);
        if let Err(damage) = item.stored().verify() {
            self.problem(format!("{name}: its stored form is damaged: {damage}"));
            return Ok(());
        }
        let root = item.stored().root();
        let definition = &self.compiled.definition.partition_key;
        let Some((hashed, rest)) = keys::split_item_key(key, definition.version, definition.paths.len())
        else {
            self.problem(format!("{name}: its key is cut short"));
            return Ok(());
        };
        let Ok((partition_key, used)) = PartitionKey::from_key_bytes(rest) else {
            self.problem(format!("{name}: the partition key in its key is damaged"));
            return Ok(());
        };
        if partition_key != *definition.meant(&extract(root, &definition.paths)) {
            self.problem(format!("{name}: its partition key is not the one in its key"));
        }
        if root.get("id").and_then(|id| id.as_str()).is_none_or(|id| id.as_bytes() != &rest[used..]) {
            self.problem(format!("{name}: its id is not the one in its key"));
        }
        match write::locate(self.compiled, &partition_key) {
            Ok((expected, _)) if expected == hashed => {}
            _ => self.problem(format!("{name}: its hashed key is not that of its partition key")),
        }
        if hashed < self.range.min || hashed >= self.range.max {
            self.problem(format!("{name}: its hashed key lies outside the partition's range"));
        }
        if header.lsn > self.counters.lsn {
            self.problem(format!(
                "{name}: its commit {} is newer than the counters' {}",
                header.lsn, self.counters.lsn
            ));
        }
        for given in std::iter::once(header.number).chain(header.stamp.map(Stamp::number)) {
            if sequence_in(self.range.id, given).is_some_and(|sequence| sequence > self.counters.sequence) {
                let newest = self.counters.sequence;
                self.problem(format!("{name}: it has the number {given}, the counters have given {newest}"));
            }
        }
        match self.snapshot.get(Family::Number, &keys::number(header.number))? {
            Some(named) if named == key => {}
            Some(_) => self.problem(format!("{name}: its number belongs to another key")),
            None => self.problem(format!("{name}: its number has no entry")),
        }
        match self.snapshot.get(Family::Feed, &keys::feed(header.lsn, header.operation))? {
            None => self.problem(format!("{name}: commit {} is not in the change log", header.lsn)),
            Some(bytes) => match Change::decode(&bytes) {
                Ok(change) if change.carried.as_ref().is_some_and(|carried| carried != item.bytes()) => {
                    self.problem(format!("{name}: the change log carries another version at {}", header.lsn));
                }
                Ok(change) if change.item_key == key && !change.kind.is_removal() => {}
                Ok(_) => self.problem(format!("{name}: the change log has something else at {}", header.lsn)),
                Err(error) => self.problem(format!("{name}: {error}")),
            },
        }
        if let Some(last_second) = header.own_expiry() {
            self.expiries += 1;
            let record = self.snapshot.get(Family::Meta, &keys::expiry(last_second, header.number))?;
            if record.is_none_or(|value| !value.is_empty()) {
                self.problem(format!("{name}: it lives until {last_second}, which no empty record says"));
            }
        }
        let logical_length = key.len() - rest.len() + used;
        let index_bytes = self.item_entries(item, &name)?;
        self.summary.index_bytes += index_bytes;
        let value_bytes = Some(item.bytes().len());
        let change = SizeChange::of_item(key, None, value_bytes, index_bytes as i64);
        self.add_to_logical_partition(key.slice(..logical_length), &change)?;
        let id = &rest[used..];
        let (_, logical) = write::locate(self.compiled, &partition_key)?;
        // Of one that is being built, items of before may lack theirs.
        for values in self.compiled.unique.values(root).iter().filter(|values| !values.is_building) {
            self.reservations += 1;
            let reservation = values.reservation(&logical);
            if self.snapshot.get(Family::Meta, &reservation)?.as_deref() != Some(id) {
                let shown = self.compiled.unique.shown(values.slot);
                self.problem(format!("{name}: unique key {shown} is not reserved for it"));
            }
        }
        Ok(())
    }

    fn add_to_logical_partition(&mut self, logical: Bytes, change: &SizeChange) -> Result<()> {
        if self.logical.as_ref().is_none_or(|(current, _)| *current != logical) {
            self.end_logical_partition(Some(logical))?;
        }
        if let Some((_, size)) = &mut self.logical
            && let Some(larger) = size.changed(change)
        {
            *size = larger;
        }
        Ok(())
    }

    fn end_logical_partition(&mut self, next: Option<Bytes>) -> Result<()> {
        let ended = std::mem::replace(&mut self.logical, next.map(|key| (key, LogicalSize::default())));
        let Some((key, size)) = ended else { return Ok(()) };
        self.logical_partitions += 1;
        let record = [&[keys::SIZE_TAG], &key[..]].concat();
        let name = format!("the logical partition {} holds {}", shown(&key), size.described());
        let stored = self.snapshot.get(Family::Meta, &record)?;
        match stored.map(|bytes| LogicalSize::decode(&bytes)) {
            Some(Ok(stored)) if stored == size => {}
            Some(Ok(stored)) => self.problem(format!("{name}, its record says {}", stored.described())),
            Some(Err(error)) => self.problem(format!("{name}: {error}")),
            None => self.problem(format!("{name}, it has no record")),
        }
        Ok(())
    }

    fn numbers(&mut self) -> Result<()> {
        let mut count = 0;
        self.scan(Family::Number, |_, _, _| {
            count += 1;
            Ok(())
        })?;
        // Every item has its own number, so as many numbers as items means that none is left over.
        if count != self.summary.items {
            let items = self.summary.items;
            self.problem(format!("there are {count} item numbers for {items} items"));
            self.lost_items()?;
        }
        Ok(())
    }

    /// Names the items that are gone while their numbers are still there.
    fn lost_items(&mut self) -> Result<()> {
        self.scan(Family::Number, |check, _, item_key| {
            if check.snapshot.get(Family::Item, item_key)?.is_none() {
                let name = name_of(check.compiled, item_key);
                check.problem(format!("{name} is lost: only its number is left"));
            }
            Ok(())
        })
    }

    fn records(&mut self) -> Result<()> {
        let (mut sizes, mut reservations, mut counts, mut names, mut computed) = (0, 0, 0, 0, 0);
        let (mut expiries, mut receipts, mut places) = (0, 0, 0);
        let single = [
            keys::COUNTERS,
            keys::INDEX_LAYOUTS,
            keys::INDEX_PROGRESS,
            keys::INDEX_CROWDED,
            keys::TRIM_STATE,
            keys::MERGED,
            keys::GIVEN_WAY,
        ];
        self.scan(Family::Meta, |check, key, value| {
            match key.first() {
                _ if single.contains(&&key[..]) => {}
                Some(&keys::SIZE_TAG) => sizes += 1,
                Some(&keys::UNIQUE_TAG) => {
                    match unique::slot_of(key, &check.compiled.definition.partition_key) {
                        Some(slot) if check.compiled.definition.is_unfinished(slot) => {}
                        _ => reservations += 1,
                    }
                }
                Some(&keys::INDEX_COUNT_TAG) => counts += 1,
                Some(&keys::INDEX_NAME_TAG) => names += 1,
                Some(&keys::COMPUTED_TAG) => computed += 1,
                Some(&keys::EXPIRY_TAG) => expiries += 1,
                Some(&keys::RECEIPT_TAG) => receipts += 1,
                Some(&keys::RECEIPT_PLACE_TAG) => {
                    places += 1;
                    check.receipt(key, value)?;
                }
                _ => check.problem(format!("the record {} is of no known kind", shown(key))),
            }
            Ok(())
        })?;
        let IndexSeen { indexes, computed: expected_computed, .. } = self.index;
        if (counts, names) != (indexes, indexes) {
            self.problem(format!(
                "there are {counts} counts and {names} names of indexes for {indexes} indexes"
            ));
        }
        if computed != expected_computed {
            self.problem(format!(
                "there are {computed} records of computed entries, {expected_computed} of them are those of items"
            ));
        }
        if sizes != self.logical_partitions {
            let found = self.logical_partitions;
            self.problem(format!("there are {sizes} sizes of logical partitions for {found} of them"));
        }
        // Each of them was looked up, so as many as that means that none is left over.
        if expiries != self.expiries {
            let expected = self.expiries;
            self.problem(format!("there are {expiries} records of times to live, {expected} are expected"));
        }
        // Each place was looked at, and no two are of one receipt.
        if receipts != places {
            self.problem(format!("there are {receipts} receipts, {places} places of them"));
        }
        let expected = self.reservations;
        if reservations != expected {
            self.problem(format!(
                "there are {reservations} unique-key reservations, {expected} are expected"
            ));
        }
        Ok(())
    }
}

fn shown(key: &[u8]) -> String {
    const BYTES_MAX: usize = 40;
    let mut text: String = key.iter().take(BYTES_MAX).map(|byte| format!("{byte:02x}")).collect();
    if key.len() > BYTES_MAX {
        text.push_str("...");
    }
    text
}
