//! A source over items in memory, with a real index.
//!
//! For feeds that are no containers (databases, users, offers), and for tests: several partitions, parts of them and
//! single logical partitions behave like those of a container.
//!
//! Invariants:
//! * the index holds exactly what `armilla_index::visit_entries` gives for each item;
//! * an item's number depends on its place among all items alone, so that another cut of the same items into
//!   partitions keeps it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use armilla_index::paths::PathSegment;
use armilla_index::{IndexId, IndexingPolicy, KeyRange, Matcher, entry_key, visit_entries};
use armilla_value::rid::{ContainerRid, DatabaseRid, ItemRid};
use armilla_value::{
    HashVersion, HashedKey, Node, PartitionKey, PropertyPath, Stored, Value, extract, hashed_key,
    initial_bounds, json, stored,
};
use bytes::Bytes;

use super::{CompositeIndex, Direction, Source, SourceItem, SystemProperty};
use crate::error::{Error, ErrorKind, Result};

#[cfg(test)]
mod tests;

/// A computed property of a source in memory: its name, and how it is computed.
pub type MemoryComputed = (String, fn(Node<'_>) -> Option<Value>);

/// How items lie in memory.
#[derive(Clone)]
pub struct MemoryOptions {
    /// Whether the source adds `_rid` and the like; if not, the documents carry their own.
    pub system_properties: bool,
    /// The partition key's paths; without any, items are in the order of insertion on the ring too.
    pub partition_key: Vec<PropertyPath>,
    /// How partition keys are hashed.
    pub hash_version: HashVersion,
    /// Which container the items are said to lie in.
    pub container: ContainerRid,
    /// When items were written that do not say so themselves, in seconds since 1970.
    pub ts: u32,
    /// Computed properties.
    pub computed: Vec<MemoryComputed>,
}

impl Default for MemoryOptions {
    fn default() -> MemoryOptions {
        let database = DatabaseRid::new(1).expect("1 is the number of a database");
        MemoryOptions {
            system_properties: true,
            partition_key: Vec::new(),
            hash_version: HashVersion::V2,
            container: ContainerRid::new(database, 1),
            ts: 0,
            computed: Vec::new(),
        }
    }
}

/// One physical partition in memory, or a part of it.
#[derive(Clone)]
pub struct MemorySource {
    partition: Arc<Partition>,
    bounds: (HashedKey, HashedKey),
    /// The beginning of the keys of the one logical partition that is covered.
    logical: Option<Bytes>,
    item_count: u64,
    is_shut: bool,
}

/// Everything that one physical partition holds.
struct Partition {
    range_id: u32,
    bounds: (HashedKey, HashedKey),
    options: MemoryOptions,
    matcher: Matcher,
    items: BTreeMap<u64, MemoryItem>,
    numbers_by_key: BTreeMap<Bytes, u64>,
    entries: BTreeSet<Bytes>,
    entry_counts: HashMap<IndexId, u64>,
    /// Composite indexes that lack entries, so that they cannot be used.
    incomplete: Vec<IndexId>,
    /// Whether the time stamp in the index is that in every document.
    is_ts_indexed: bool,
    bytes: u64,
}

struct MemoryItem {
    item: SourceItem,
    hashed: HashedKey,
    key: Bytes,
}

/// An item on its way into a partition.
struct Prepared {
    number: u64,
    ts: u32,
    bytes: Bytes,
    hashed: HashedKey,
    key: Bytes,
    has_ts: bool,
}

/// What the server adds to an item.
const SYSTEM_NAMES: [&str; 5] = ["_rid", "_self", "_etag", "_attachments", "_ts"];

/// Returns cuts that are also among those of twice as many partitions, as if each of them had been split.
fn even_cuts(count: u32, version: HashVersion) -> Vec<HashedKey> {
    if version == HashVersion::V1 {
        return initial_bounds(count, version);
    }
    const LAST: u128 = (1 << 126) - 1;
    let count = u128::from(count);
    let cut = |index: u128| index * (LAST / count) + index * (LAST % count) / count;
    (1..count).map(|index| HashedKey::from_bytes(&cut(index).to_be_bytes())).collect()
}

impl MemorySource {
    /// Makes one partition of the whole ring from documents, in the order of insertion.
    pub fn new(items: Vec<Value>, policy: &IndexingPolicy, options: MemoryOptions) -> Result<MemorySource> {
        let mut partitions = MemorySource::partitioned(items, policy, options, 1)?;
        Ok(partitions.remove(0))
    }

    /// Makes several partitions, in the order of the ring; at least one.
    pub fn partitioned(
        items: Vec<Value>,
        policy: &IndexingPolicy,
        options: MemoryOptions,
        count: u32,
    ) -> Result<Vec<MemorySource>> {
        let count = count.max(1);
        let item_count = items.len() as u64;
        let cuts = if options.partition_key.is_empty() {
            let cut = |index: u32| position_of(1 + item_count * u64::from(index) / u64::from(count));
            (1..count).map(cut).collect()
        } else {
            even_cuts(count, options.hash_version)
        };
        let mut prepared = Vec::with_capacity(items.len());
        for (number, item) in (1..).zip(items) {
            prepared.push(Prepared::new(number, &item, &options)?);
        }
        let names: Vec<&str> = options.computed.iter().map(|(name, _)| name.as_str()).collect();
        let matcher = Matcher::with_computed(policy, &names);
        let mut lower = HashedKey::MIN;
        let mut sources = Vec::with_capacity(count as usize);
        let uppers = cuts.into_iter().chain([HashedKey::MAX]);
        for (range_id, upper) in (0..).zip(uppers) {
            let own = prepared.extract_if(.., |item| item.hashed < upper).collect();
            let bounds = (std::mem::replace(&mut lower, upper.clone()), upper);
            let partition = Partition::new(range_id, bounds, own, matcher.clone(), options.clone());
            sources.push(MemorySource::whole(partition));
        }
        Ok(sources)
    }

    /// Returns the part of the source between two positions on the ring.
    pub fn narrowed(&self, min: &HashedKey, max: &HashedKey) -> MemorySource {
        let bounds = (self.bounds.0.clone().max(min.clone()), self.bounds.1.clone().min(max.clone()));
        MemorySource { bounds, ..self.clone() }.counted()
    }

    /// Returns the one logical partition of a key.
    pub fn logical(&self, key: &PartitionKey) -> MemorySource {
        let hashed = hashed_key(key, self.partition.options.hash_version);
        let mut prefix = hashed.as_bytes().to_vec();
        key.key_bytes(&mut prefix);
        let next = HashedKey::from_bytes(&[hashed.as_bytes(), &[0]].concat());
        MemorySource { bounds: (hashed, next), logical: Some(prefix.into()), ..self.clone() }.counted()
    }

    /// Returns the source as one that may not be read now.
    #[must_use]
    pub fn shut(self) -> MemorySource {
        MemorySource { is_shut: true, ..self }
    }

    fn whole(partition: Partition) -> MemorySource {
        let item_count = partition.items.len() as u64;
        let bounds = partition.bounds.clone();
        MemorySource { partition: Arc::new(partition), bounds, logical: None, item_count, is_shut: false }
    }

    fn counted(mut self) -> MemorySource {
        let covered = self.partition.items.values().filter(|item| self.covers(item));
        self.item_count = covered.count() as u64;
        self
    }

    fn covers(&self, item: &MemoryItem) -> bool {
        match &self.logical {
            Some(prefix) => item.key.starts_with(prefix),
            None => self.bounds.0 <= item.hashed && item.hashed < self.bounds.1,
        }
    }
}

/// Returns where an item lies on the ring that has no partition key.
fn position_of(number: u64) -> HashedKey {
    HashedKey::from_bytes(&number.to_be_bytes())
}

impl Prepared {
    fn new(number: u64, value: &Value, options: &MemoryOptions) -> Result<Prepared> {
        let dropped: &[&str] = if options.system_properties { &SYSTEM_NAMES } else { &[] };
        let bytes = stored::encode_value(value, dropped).map_err(|error| {
            Error::new(ErrorKind::Source, format!("document {number} cannot be stored: {error}"))
        })?;
        let own_ts = value.get("_ts").and_then(Value::as_i64).and_then(|ts| u32::try_from(ts).ok());
        let root = Stored::open(&bytes).map_err(damaged)?.root();
        let mut key = Vec::new();
        let hashed = if options.partition_key.is_empty() {
            let hashed = position_of(number);
            key.extend_from_slice(hashed.as_bytes());
            hashed
        } else {
            let partition_key = extract(root, &options.partition_key);
            let hashed = hashed_key(&partition_key, options.hash_version);
            key.extend_from_slice(hashed.as_bytes());
            partition_key.key_bytes(&mut key);
            hashed
        };
        if let Some(id) = root.get("id").and_then(|id| id.as_str()) {
            key.extend_from_slice(id.as_bytes());
        }
        // Nothing says that ids are unique here.
        key.extend_from_slice(&number.to_be_bytes());
        Ok(Prepared {
            number,
            ts: own_ts.unwrap_or(options.ts),
            bytes: bytes.into(),
            hashed,
            key: key.into(),
            has_ts: own_ts.is_some(),
        })
    }
}

fn damaged(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Source, format!("a document in memory cannot be read: {error}"))
}

impl Partition {
    fn new(
        range_id: u32,
        bounds: (HashedKey, HashedKey),
        items: Vec<Prepared>,
        matcher: Matcher,
        options: MemoryOptions,
    ) -> Partition {
        let is_ts_indexed = options.system_properties || items.iter().all(|item| item.has_ts);
        let mut partition = Partition {
            range_id,
            bounds,
            options,
            matcher,
            items: BTreeMap::new(),
            numbers_by_key: BTreeMap::new(),
            entries: BTreeSet::new(),
            entry_counts: HashMap::new(),
            incomplete: Vec::new(),
            is_ts_indexed,
            bytes: 0,
        };
        for item in items {
            partition.add(item);
        }
        partition
    }

    fn add(&mut self, prepared: Prepared) {
        let Prepared { number, ts, bytes, hashed, key, .. } = prepared;
        let mut item = SourceItem { number, ts, json_bytes: 0, stored_at: 0, bytes };
        let mut text = Vec::new();
        self.write_json(&item, &mut text);
        item.json_bytes = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.bytes += u64::from(item.json_bytes);
        let computed: Vec<(String, Option<Value>)> = {
            let root = item.root();
            self.options.computed.iter().map(|(name, compute)| (name.clone(), compute(root))).collect()
        };
        let (entries, entry_counts) = (&mut self.entries, &mut self.entry_counts);
        let incomplete = visit_entries(&self.matcher, item.root(), ts, &computed, |index, term| {
            // An array may hold a value twice.
            if entries.insert(entry_key(index, term, number)) {
                *entry_counts.entry(index).or_default() += 1;
            }
        });
        self.incomplete.extend(incomplete);
        self.numbers_by_key.insert(key.clone(), number);
        self.items.insert(number, MemoryItem { item, hashed, key });
    }

    fn rid(&self, item: &SourceItem) -> String {
        let rid = ItemRid::new(self.options.container, item.number);
        rid.expect("items in memory are few enough to be numbered").encode()
    }

    fn system(&self, item: &SourceItem, property: SystemProperty) -> String {
        if !self.options.system_properties {
            let own = item.root().get(property.name());
            return own.and_then(|own| own.as_str()).map_or_else(String::new, |text| text.into_owned());
        }
        let container = self.options.container;
        match property {
            SystemProperty::Rid => self.rid(item),
            SystemProperty::SelfLink => format!(
                "dbs/{}/colls/{}/docs/{}/",
                container.database().encode(),
                container.encode(),
                self.rid(item)
            ),
            SystemProperty::Etag => format!("\"{:08x}-0000-0000-0000-{:012x}\"", item.ts, item.number),
            SystemProperty::Attachments => "attachments/".to_owned(),
            SystemProperty::Ts => item.ts.to_string(),
        }
    }

    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        let text = item.root().raw().as_bytes();
        if !self.options.system_properties {
            out.extend_from_slice(text);
            return;
        }
        let body = text.strip_suffix(b"}").unwrap_or(text);
        out.extend_from_slice(body);
        if body.len() > 1 {
            out.push(b',');
        }
        let texts = [
            SystemProperty::Rid,
            SystemProperty::SelfLink,
            SystemProperty::Etag,
            SystemProperty::Attachments,
        ];
        for property in texts {
            json::write_string(property.name(), out);
            out.push(b':');
            json::write_string(&self.system(item, property), out);
            out.push(b',');
        }
        out.extend_from_slice(format!("\"_ts\":{}}}", item.ts).as_bytes());
    }
}

impl Source for MemorySource {
    fn range_id(&self) -> u32 {
        self.partition.range_id
    }

    fn bounds(&self) -> (HashedKey, HashedKey) {
        self.bounds.clone()
    }

    fn is_admitted(&self) -> bool {
        !self.is_shut
    }

    fn is_whole(&self) -> bool {
        self.logical.is_none() && self.bounds == self.partition.bounds
    }

    fn is_logical(&self) -> bool {
        self.logical.is_some()
    }

    fn item_count(&self) -> u64 {
        self.item_count
    }

    fn totals(&self) -> (u64, u64) {
        (self.partition.items.len() as u64, self.partition.bytes)
    }

    fn is_path_usable(&self, path: &[PathSegment]) -> bool {
        if !self.partition.is_ts_indexed && matches!(path, [PathSegment::Property(name)] if name == "_ts") {
            return false;
        }
        self.partition.matcher.is_path_indexed(path)
    }

    fn is_path_in_policy(&self, path: &[PathSegment]) -> bool {
        // Where documents carry their own, `_rid` and the like are properties as any other.
        let is_own = |name: &String| SYSTEM_NAMES.contains(&name.as_str());
        let is_own_system = matches!(path, [PathSegment::Property(name)] if is_own(name));
        (is_own_system && !self.partition.options.system_properties)
            || self.partition.matcher.is_path_indexed(path)
    }

    fn has_undefined_entries(&self, path: &[PathSegment]) -> bool {
        self.partition.matcher.has_undefined_entries(path) && !self.lacks_ids(path)
    }

    fn composites(&self) -> Vec<CompositeIndex> {
        let composites = self.composites_in_policy().into_iter();
        composites.filter(|composite| !self.partition.incomplete.contains(&composite.id)).collect()
    }

    fn composites_in_policy(&self) -> Vec<CompositeIndex> {
        let composites = self.partition.matcher.composites().iter();
        composites
            .map(|composite| CompositeIndex {
                id: composite.id,
                paths: composite.paths.clone(),
                is_tuple: composite.is_tuple,
            })
            .collect()
    }

    fn index_entries(&self, id: IndexId) -> Result<u64> {
        Ok(self.partition.entry_counts.get(&id).copied().unwrap_or_default())
    }

    fn entries(
        &self,
        range: &KeyRange,
        direction: Direction,
        entries_max: usize,
        out: &mut Vec<Bytes>,
    ) -> Result<bool> {
        if range.is_empty() {
            return Ok(false);
        }
        let bounds: (Bound<Bytes>, Bound<Bytes>) = (range.lower.clone(), range.upper.clone());
        let mut found = self.partition.entries.range(bounds);
        let mut next = || match direction {
            Direction::Forward => found.next(),
            Direction::Reverse => found.next_back(),
        };
        for _ in 0..entries_max {
            match next() {
                Some(entry) => out.push(entry.clone()),
                None => return Ok(false),
            }
        }
        Ok(next().is_some())
    }

    fn load(&self, numbers: &[u64], out: &mut Vec<Option<SourceItem>>) -> Result<()> {
        out.extend(numbers.iter().map(|number| {
            let item = self.partition.items.get(number).filter(|item| self.covers(item));
            item.map(|item| item.item.clone())
        }));
        Ok(())
    }

    fn scan(
        &self,
        after: Option<&[u8]>,
        items_max: usize,
        out: &mut Vec<(Bytes, SourceItem)>,
    ) -> Result<bool> {
        let start = match (after, &self.logical) {
            (Some(after), _) => Bound::Excluded(Bytes::copy_from_slice(after)),
            (None, Some(prefix)) => Bound::Included(prefix.clone()),
            (None, None) => Bound::Included(Bytes::copy_from_slice(self.bounds.0.as_bytes())),
        };
        let found = self.partition.numbers_by_key.range((start, Bound::Unbounded));
        let items = found.map(|(key, number)| (key, &self.partition.items[number]));
        // What lies below the bounds can come first, as a position may be from a wider source.
        let mut covered = items
            .skip_while(|(_, item)| !self.covers(item) && item.hashed < self.bounds.0)
            .take_while(|(_, item)| self.logical.is_some() || self.covers(item))
            .filter(|(_, item)| self.covers(item));
        for _ in 0..items_max {
            match covered.next() {
                Some((key, item)) => out.push((key.clone(), item.item.clone())),
                None => return Ok(false),
            }
        }
        Ok(covered.next().is_some())
    }

    fn numbers(&self, after: u64, numbers_max: usize, out: &mut Vec<u64>) -> Result<bool> {
        let mut numbers = self.partition.items.range((Bound::Excluded(after), Bound::Unbounded));
        out.extend(numbers.by_ref().take(numbers_max).map(|(number, _)| *number));
        Ok(numbers.next().is_some())
    }

    fn point(&self, id: &str) -> Result<Option<SourceItem>> {
        let has_id = |item: &&MemoryItem| {
            let own = item.item.root().get("id");
            self.covers(item) && own.and_then(|own| own.as_str()).is_some_and(|own| own == id)
        };
        Ok(self.partition.items.values().find(has_id).map(|item| item.item.clone()))
    }

    fn system(&self, item: &SourceItem, property: SystemProperty) -> String {
        self.partition.system(item, property)
    }

    fn write_json(&self, item: &SourceItem, out: &mut Vec<u8>) {
        self.partition.write_json(item, out);
    }
}

impl MemorySource {
    /// Returns whether the path is the id and some document has none: only containers insist on one.
    fn lacks_ids(&self, path: &[PathSegment]) -> bool {
        let is_id = matches!(path, [PathSegment::Property(name)] if name == "id");
        let entries = self.partition.entry_counts.get(&IndexId::of_property("id")).copied();
        is_id && entries.unwrap_or_default() < self.partition.items.len() as u64
    }
}
