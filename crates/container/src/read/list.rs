//! Read feeds: all items of a container, of a range of hashed keys, or of one logical partition, page by page.
//!
//! Items come in the order of their numbers, which is the order of insertion, inside each physical partition;
//! those of one logical partition too, unless it is too large to be sorted for every page: then in the order of
//! their ids.
//!
//! A continuation says which arcs of the ring are still to be read and after which number in each, never where
//! in which partition, so it survives restarts, splits and merges.

use std::ops::Bound;

use armilla_governor::Claim;
use armilla_kv::{Family, Scan, Snapshot};
use armilla_value::{HashedKey, PartitionKey, prefix_range};
use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::Item;
use crate::item::expiry::Expiry;
use crate::item::keys::{self, LogicalKey};
use crate::limits::{ORDERED_PARTITION_BYTES_MAX, ORDERED_PARTITION_ITEMS_MAX};
use crate::map::arcs::{self, Arc, invalid_token};
use crate::map::{Map, Slot};
use crate::partition::Partition;
use crate::partition::counters::LogicalSize;
use crate::read::page::{Metered, PageMeter, Tariff};
use crate::read::session::SessionToken;
use crate::throughput::{ReadCost, RequestUnits};
use crate::write;

/// Which items to list.
#[derive(Debug, Clone)]
pub enum ListScope {
    /// All of them.
    All,
    /// Those of one logical partition, or of all that share the first levels of a hierarchical key.
    PartitionKey(PartitionKey),
    /// Those with hashed keys in a range, inside one physical partition where it is named.
    Range {
        /// The physical partition.
        id: Option<u32>,
        /// The first hashed key; `None` for the partition's own.
        min: Option<HashedKey>,
        /// The first hashed key beyond; `None` for the partition's own.
        max: Option<HashedKey>,
    },
}

/// A page that is asked for.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// Which items.
    pub scope: ListScope,
    /// At most how many of them.
    pub items_max: usize,
    /// Where the page before ended.
    pub continuation: Option<String>,
    /// What the client has seen.
    pub session: SessionToken,
    /// What a read costs.
    pub cost: ReadCost,
    /// Who goes first where there is not enough for all.
    pub claim: Claim,
}

/// Which ids of a logical partition, in their order.
#[derive(Debug, Clone)]
pub struct IdRange {
    /// Where it begins.
    pub lower: Bound<String>,
    /// Where it ends.
    pub upper: Bound<String>,
}

impl IdRange {
    /// All of them.
    pub const ALL: IdRange = IdRange { lower: Bound::Unbounded, upper: Bound::Unbounded };
}

/// A page of items.
pub struct ItemPage {
    /// The items.
    pub items: Vec<Item>,
    /// Where the next page begins, if there is one.
    pub continuation: Option<String>,
    /// What the page cost.
    pub charge: RequestUnits,
    /// How far the partitions are that were read.
    pub positions: Vec<Position>,
}

/// Entries of the number family that are read at once.
const WALK_ENTRIES: usize = 256;

impl Container {
    /// Returns a page of items.
    pub fn list_items(&self, request: &ListRequest) -> Result<ItemPage> {
        self.settled(|| self.list_settled(request))
    }

    fn list_settled(&self, request: &ListRequest) -> Result<ItemPage> {
        let compiled = self.compiled();
        let mut page = PageBuilder::new(self, request);
        match &request.scope {
            ListScope::PartitionKey(key) if compiled.definition.partition_key.is_whole(key) => {
                self.list_logical(&compiled, key, request, &mut page)?;
            }
            scope => {
                let map = self.map_now();
                let arcs = self.arcs(&compiled, &map, scope, request.continuation.as_deref())?;
                self.list_arcs(&compiled, &map, arcs, request, &mut page)?;
            }
        }
        Ok(page.finish())
    }

    /// Returns a page of items of one logical partition in the order of their ids, which is the order in which they lie.
    /// It costs what a query costs that returns them.
    pub fn list_items_by_id(&self, request: &ListRequest, ids: &IdRange) -> Result<ItemPage> {
        self.settled(|| self.list_settled_by_id(request, ids))
    }

    fn list_settled_by_id(&self, request: &ListRequest, ids: &IdRange) -> Result<ItemPage> {
        let compiled = self.compiled();
        let key = match &request.scope {
            ListScope::PartitionKey(key) if compiled.definition.partition_key.is_whole(key) => key,
            _ => {
                return Err(Error::invalid(
                    "items are listed by their ids inside one logical partition only",
                ));
            }
        };
        let after = match request.continuation.as_deref().map(LogicalOrder::read).transpose()? {
            None => None,
            Some(LogicalOrder::Ids { after }) => after,
            Some(LogicalOrder::Numbers { .. }) => {
                return Err(Error::invalid("the continuation is of a list in another order"));
            }
        };
        let mut page = PageBuilder::new(self, request);
        page.meter = page.meter.by(Tariff::Query);
        let (hashed, logical) = write::locate(&compiled, key)?;
        let (slot, _) = self.route(&hashed)?;
        let bytes = Some(&logical.as_bytes()[..]);
        self.visit(&slot, &request.session, request.claim, &mut page, bytes, |partition, page| {
            let snapshot = partition.space().snapshot()?;
            list_by_id(snapshot.as_ref(), &logical, ids, after.clone(), page)
        })?;
        Ok(page.finish())
    }

    /// Returns the part of the ring that a scope covers: its first hashed key, and the first one beyond.
    pub(crate) fn scope_bounds(
        &self,
        compiled: &CompiledDefinition,
        map: &Map,
        scope: &ListScope,
    ) -> Result<(HashedKey, HashedKey)> {
        let (min, max) = match scope {
            ListScope::All => (HashedKey::MIN, HashedKey::MAX),
            ListScope::PartitionKey(prefix) => {
                let levels = compiled.definition.partition_key.paths.len();
                if prefix.0.is_empty() || prefix.0.len() > levels {
                    return Err(Error::new(
                        ErrorKind::PartitionKeyMismatch,
                        format!(
                            "the partition key has {} value(s), the container's has {levels} path(s)",
                            prefix.0.len()
                        ),
                    ));
                }
                prefix_range(prefix)
            }
            ListScope::Range { id: None, min, max } => {
                (min.clone().unwrap_or(HashedKey::MIN), max.clone().unwrap_or(HashedKey::MAX))
            }
            ListScope::Range { id: Some(id), min, max } => {
                let gone = || {
                    Error::new(
                        ErrorKind::RangeGone,
                        format!("range {id} is not a partition of this container any more"),
                    )
                };
                let range = &map.find(*id).ok_or_else(gone)?.range;
                let min = min.clone().unwrap_or_else(|| range.min.clone());
                let max = max.clone().unwrap_or_else(|| range.max.clone());
                if min < range.min || max > range.max {
                    return Err(gone());
                }
                (min, max)
            }
        };
        if min >= max {
            return Err(Error::invalid(format!("the range from '{min}' to '{max}' is empty")));
        }
        Ok((min, max))
    }

    /// Returns the arcs that are still to be read.
    fn arcs(
        &self,
        compiled: &CompiledDefinition,
        map: &Map,
        scope: &ListScope,
        continuation: Option<&str>,
    ) -> Result<Vec<Arc>> {
        let (min, max) = self.scope_bounds(compiled, map, scope)?;
        let mut arcs = match continuation {
            Some(token) => {
                arcs::read(TOKEN_PREFIX, token, TOKEN_ARCS_MAX).ok_or_else(|| invalid_token(token))?
            }
            None => vec![Arc { min: min.clone(), max: min.clone(), after: 0 }],
        };
        // What lies behind the arcs of the token was not begun yet.
        let begun = arcs.last().map_or(min.clone(), |arc| arc.max.clone());
        arcs.push(Arc { min: begun, max: max.clone(), after: 0 });
        // A token of a range is also good for any part of it.
        for arc in &mut arcs {
            arc.min = arc.min.clone().max(min.clone());
            arc.max = arc.max.clone().min(max.clone());
        }
        arcs.retain(|arc| arc.min < arc.max);
        Ok(arcs)
    }

    fn list_arcs(
        &self,
        compiled: &CompiledDefinition,
        map: &Map,
        arcs: Vec<Arc>,
        request: &ListRequest,
        page: &mut PageBuilder<'_>,
    ) -> Result<()> {
        let mut rest = arcs.into_iter();
        while let Some(arc) = rest.next() {
            for slot in &map.slots {
                let (min, max) = ((&arc.min).max(&slot.range.min), (&arc.max).min(&slot.range.max));
                if min >= max {
                    continue;
                }
                let inside = Arc { min: min.clone(), max: max.clone(), after: arc.after };
                let walked =
                    self.visit(slot, &request.session, request.claim, page, None, |partition, page| {
                        walk(compiled, slot, partition, &inside, page)
                    });
                let after = match walked {
                    Ok(None) => continue,
                    Ok(Some(after)) => after,
                    // What there is already is worth showing.
                    Err(error) if error.kind == ErrorKind::Throttled && !page.items.is_empty() => arc.after,
                    Err(error) => return Err(error),
                };
                let mut left = vec![Arc { after, ..inside }, Arc { min: max.clone(), ..arc.clone() }];
                left.extend(rest.filter(|arc| arc.after > 0));
                left.retain(|arc| arc.min < arc.max);
                page.continuation = Some(arcs::write(TOKEN_PREFIX, &left));
                return Ok(());
            }
        }
        Ok(())
    }

    fn list_logical(
        &self,
        compiled: &CompiledDefinition,
        key: &PartitionKey,
        request: &ListRequest,
        page: &mut PageBuilder<'_>,
    ) -> Result<()> {
        let (hashed, logical) = write::locate(compiled, key)?;
        let (slot, _) = self.route(&hashed)?;
        let bytes = Some(&logical.as_bytes()[..]);
        self.visit(&slot, &request.session, request.claim, page, bytes, |partition, page| {
            let snapshot = partition.space().snapshot()?;
            let order = match request.continuation.as_deref() {
                Some(token) => LogicalOrder::read(token)?,
                None => LogicalOrder::for_size(snapshot.as_ref(), &logical)?,
            };
            match order {
                LogicalOrder::Numbers { after } => list_by_number(snapshot.as_ref(), &logical, after, page),
                LogicalOrder::Ids { after } => {
                    list_by_id(snapshot.as_ref(), &logical, &IdRange::ALL, after, page)
                }
            }
        })
    }
}

/// Adds the items of an arc in the order of their numbers. Returns the number after which the page was full.
fn walk(
    compiled: &CompiledDefinition,
    slot: &Slot,
    partition: &Partition,
    arc: &Arc,
    page: &mut PageBuilder<'_>,
) -> Result<Option<u64>> {
    let whole = arc.min == slot.range.min && arc.max == slot.range.max;
    let version = compiled.definition.partition_key.version;
    let levels = compiled.definition.partition_key.paths.len();
    let snapshot = partition.space().snapshot()?;
    let mut after = arc.after;
    let mut scan = Scan::prefix(Family::Number, b"");
    scan.entries_max = page.room().clamp(1, WALK_ENTRIES - 1) + 1;
    loop {
        scan.lower = Bound::Excluded(keys::number(after));
        let entries = snapshot.scan(&scan)?;
        let mut matching = Vec::with_capacity(entries.entries.len());
        for (number, item_key) in &entries.entries {
            let number = keys::decode_number(number)?;
            let inside = whole || {
                let hashed = keys::hashed(item_key, version, levels)
                    .ok_or_else(|| Error::corrupt(format!("the entry of item number {number} is damaged")))?;
                arc.min <= hashed && hashed < arc.max
            };
            if inside {
                matching.push((number, item_key.clone()));
            } else {
                page.meter.entries_skipped += 1;
            }
        }
        let item_keys: Vec<Bytes> = matching.iter().map(|(_, key)| key.clone()).collect();
        let values = snapshot.multi_get(Family::Item, &item_keys)?;
        for ((number, item_key), value) in matching.iter().zip(values) {
            if page.is_full() {
                return Ok(Some(after));
            }
            let value =
                value.ok_or_else(|| Error::corrupt(format!("the item with number {number} is missing")))?;
            page.offer(item_key, Item::open(value)?);
            after = *number;
        }
        match entries.entries.last() {
            Some((number, _)) if entries.more => after = keys::decode_number(number)?,
            _ => return Ok(None),
        }
    }
}

/// How the items of one logical partition are ordered, and where the page before ended.
pub(crate) enum LogicalOrder {
    Numbers { after: u64 },
    Ids { after: Option<String> },
}

impl LogicalOrder {
    fn for_size(snapshot: &dyn Snapshot, logical: &LogicalKey) -> Result<LogicalOrder> {
        let size = match snapshot.get(Family::Meta, &keys::size(logical))? {
            Some(bytes) => LogicalSize::decode(&bytes)?,
            None => LogicalSize::default(),
        };
        let small = size.items <= ORDERED_PARTITION_ITEMS_MAX && size.bytes <= ORDERED_PARTITION_BYTES_MAX;
        Ok(if small { LogicalOrder::Numbers { after: 0 } } else { LogicalOrder::Ids { after: None } })
    }

    /// The order stays that of the first page, however the partition grows meanwhile.
    pub(crate) fn read(token: &str) -> Result<LogicalOrder> {
        let invalid = || invalid_token(token);
        match token.split_once(';').ok_or_else(invalid)? {
            ("N1", number) => Ok(LogicalOrder::Numbers { after: number.parse().map_err(|_| invalid())? }),
            ("K1", id) => {
                let id =
                    decode_hex(id).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(invalid)?;
                Ok(LogicalOrder::Ids { after: Some(id) })
            }
            _ => Err(invalid()),
        }
    }
}

fn list_by_number(
    snapshot: &dyn Snapshot,
    logical: &LogicalKey,
    after: u64,
    page: &mut PageBuilder<'_>,
) -> Result<()> {
    let mut items = Vec::new();
    let mut scan = Scan::prefix(Family::Item, logical.as_bytes());
    loop {
        let entries = snapshot.scan(&scan)?;
        for (key, value) in &entries.entries {
            let item = Item::open(value.clone())?;
            if item.header().number > after {
                items.push((key.clone(), item));
            }
        }
        match entries.entries.last() {
            Some((key, _)) if entries.more => scan = scan.after(key),
            _ => break,
        }
    }
    items.sort_by_key(|(_, item)| item.header().number);
    let mut last = after;
    for (key, item) in items {
        if page.is_full() {
            page.continuation = Some(format!("N1;{last}"));
            return Ok(());
        }
        last = item.header().number;
        page.offer(&key, item);
    }
    Ok(())
}

fn list_by_id(
    snapshot: &dyn Snapshot,
    logical: &LogicalKey,
    ids: &IdRange,
    after: Option<String>,
    page: &mut PageBuilder<'_>,
) -> Result<()> {
    let prefix = logical.as_bytes();
    let mut scan = Scan::prefix(Family::Item, prefix);
    scan.entries_max = page.room() + 1;
    let key = |id: &String| logical.item(id);
    if ids.lower != Bound::Unbounded {
        scan.lower = ids.lower.as_ref().map(key);
    }
    if ids.upper != Bound::Unbounded {
        scan.upper = ids.upper.as_ref().map(key);
    }
    // The page before may have ended before a range that begins later than its own did.
    if let Some(id) = &after
        && is_behind(id, &ids.lower)
    {
        scan.lower = Bound::Excluded(logical.item(id));
    }
    if is_empty(&scan) {
        return Ok(());
    }
    let mut last_id = after.unwrap_or_default().into_bytes();
    loop {
        let entries = snapshot.scan(&scan)?;
        for (key, value) in &entries.entries {
            if page.is_full() {
                page.continuation = Some(format!("K1;{}", encode_hex(&last_id)));
                return Ok(());
            }
            page.offer(key, Item::open(value.clone())?);
            last_id = key[prefix.len()..].to_vec();
        }
        match entries.entries.last() {
            Some((key, _)) if entries.more => scan = scan.after(key),
            _ => return Ok(()),
        }
    }
}

/// Returns whether a range that begins behind an id begins no earlier than this.
fn is_behind(id: &str, lower: &Bound<String>) -> bool {
    match lower {
        Bound::Unbounded => true,
        Bound::Included(lower) | Bound::Excluded(lower) => id >= lower.as_str(),
    }
}

/// Returns whether nothing can lie in the range of a scan.
fn is_empty(scan: &Scan) -> bool {
    match (&scan.lower, &scan.upper) {
        (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
        (
            Bound::Included(lower) | Bound::Excluded(lower),
            Bound::Included(upper) | Bound::Excluded(upper),
        ) => lower >= upper,
        _ => false,
    }
}

/// A page while it fills.
struct PageBuilder<'a> {
    meter: PageMeter<'a>,
    items: Vec<Item>,
    expiry: Expiry,
    continuation: Option<String>,
}

impl<'a> PageBuilder<'a> {
    fn new(container: &'a Container, request: &ListRequest) -> PageBuilder<'a> {
        let meter = PageMeter::new(container.identity(), request.items_max, request.cost);
        PageBuilder { meter, items: Vec::new(), continuation: None, expiry: container.expiry() }
    }

    fn room(&self) -> usize {
        self.meter.room()
    }

    fn is_full(&self) -> bool {
        self.meter.is_full()
    }

    /// Adds an item, unless it has expired.
    fn offer(&mut self, key: &[u8], item: Item) {
        if self.expiry.hides(key, &item) {
            self.meter.entries_skipped += 1;
        } else {
            self.push(item);
        }
    }

    fn push(&mut self, item: Item) {
        self.meter.note(self.meter.json_bytes(&item));
        self.items.push(item);
    }

    fn finish(self) -> ItemPage {
        ItemPage {
            charge: self.meter.charge(),
            items: self.items,
            continuation: self.continuation,
            positions: self.meter.positions,
        }
    }
}

impl<'a> Metered<'a> for PageBuilder<'a> {
    fn meter(&mut self) -> &mut PageMeter<'a> {
        &mut self.meter
    }
}

/// What tokens of arcs begin with.
pub(crate) const TOKEN_PREFIX: &str = "L1";

/// Most arcs in a token: each split of a partition that was being read adds one.
pub(crate) const TOKEN_ARCS_MAX: usize = 64;

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
