//! Read feeds: all items of a container, of a range of hashed keys, or of one logical partition, page by page.
//!
//! Items come in the order of their numbers, which is the order of insertion, inside each physical partition;
//! those of one logical partition too, unless it is too large to be sorted for every page: then in the order of
//! their ids.
//!
//! A continuation says which arcs of the ring are still to be read and after which number in each, never where
//! in which partition, so it survives restarts, splits and merges.

use std::ops::Bound;

use armilla_governor::{OperationKind, Priority};
use armilla_kv::{Family, Scan, Snapshot};
use armilla_value::{HashedKey, PartitionKey, prefix_range};
use bytes::Bytes;

use crate::committer::Partition;
use crate::container::{Container, Plan, check_session};
use crate::counters::LogicalSize;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::item::Item;
use crate::keys::{self, LogicalKey};
use crate::limits::{
    ORDERED_PARTITION_BYTES_MAX, ORDERED_PARTITION_ITEMS_MAX, PAGE_BYTES_MAX, PAGE_ITEMS_MAX,
};
use crate::map::{Map, Slot};
use crate::session::SessionToken;
use crate::supply::Admission;
use crate::throughput::{ReadCost, RequestUnits, Work, price};
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
    pub priority: Priority,
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
        let plan = self.plan();
        let mut page = PageBuilder::new(self, request);
        match &request.scope {
            ListScope::PartitionKey(key) if plan.definition.partition_key.is_whole(key) => {
                self.list_logical(&plan, key, request, &mut page)?;
            }
            scope => {
                let map = self.map_now();
                let arcs = self.arcs(&plan, &map, scope, request.continuation.as_deref())?;
                self.list_arcs(&plan, &map, arcs, request, &mut page)?;
            }
        }
        Ok(page.finish())
    }

    /// Returns the part of the ring that a scope covers: its first hashed key, and the first one beyond.
    pub(crate) fn scope_bounds(
        &self,
        plan: &Plan,
        map: &Map,
        scope: &ListScope,
    ) -> Result<(HashedKey, HashedKey)> {
        let (min, max) = match scope {
            ListScope::All => (HashedKey::MIN, HashedKey::MAX),
            ListScope::PartitionKey(prefix) => {
                let levels = plan.definition.partition_key.paths.len();
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
        plan: &Plan,
        map: &Map,
        scope: &ListScope,
        continuation: Option<&str>,
    ) -> Result<Vec<Arc>> {
        let (min, max) = self.scope_bounds(plan, map, scope)?;
        let mut arcs = match continuation {
            Some(token) => read_token(token)?,
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
        plan: &Plan,
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
                let walked = self.visit(slot, request, page, None, |partition, page| {
                    walk(plan, slot, partition, &inside, page)
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
                page.continuation = Some(write_token(&left));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads in one partition, if that may be read now, and has it pay for what it added to the page.
    fn visit<T>(
        &self,
        slot: &Slot,
        request: &ListRequest,
        page: &mut PageBuilder<'_>,
        logical: Option<&[u8]>,
        read: impl FnOnce(&Partition, &mut PageBuilder<'_>) -> Result<T>,
    ) -> Result<T> {
        let partition = self.partition(slot)?;
        let clock = self.clock();
        let admission = Admission::ask(slot, clock, OperationKind::Read, request.priority, logical)?;
        page.begin_share(admission.left);
        let done = check_session(slot, &partition, &request.session).and_then(|()| {
            page.positions.push(partition.position());
            read(&partition, page).map_err(|error| self.failed(error, &partition))
        });
        let charge = page.end_share();
        match &done {
            Err(error) if error.charge > charge => admission.spend(slot, logical, error.charge),
            _ => admission.spend(slot, logical, charge),
        }
        done
    }

    fn list_logical(
        &self,
        plan: &Plan,
        key: &PartitionKey,
        request: &ListRequest,
        page: &mut PageBuilder<'_>,
    ) -> Result<()> {
        let (hashed, logical) = write::locate(plan, key)?;
        let (slot, _) = self.route(&hashed)?;
        self.visit(&slot, request, page, Some(logical.as_bytes()), |partition, page| {
            let snapshot = partition.space().snapshot()?;
            let order = match request.continuation.as_deref() {
                Some(token) => LogicalOrder::read(token)?,
                None => LogicalOrder::for_size(snapshot.as_ref(), &logical)?,
            };
            match order {
                LogicalOrder::Numbers { after } => list_by_number(snapshot.as_ref(), &logical, after, page),
                LogicalOrder::Ids { after } => list_by_id(snapshot.as_ref(), &logical, after, page),
            }
        })
    }
}

/// Adds the items of an arc in the order of their numbers. Returns the number after which the page was full.
fn walk(
    plan: &Plan,
    slot: &Slot,
    partition: &Partition,
    arc: &Arc,
    page: &mut PageBuilder<'_>,
) -> Result<Option<u64>> {
    let whole = arc.min == slot.range.min && arc.max == slot.range.max;
    let version = plan.definition.partition_key.version;
    let levels = plan.definition.partition_key.paths.len();
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
                page.entries_skipped += 1;
            }
        }
        let item_keys: Vec<Bytes> = matching.iter().map(|(_, key)| key.clone()).collect();
        let values = snapshot.multi_get(Family::Item, &item_keys)?;
        for ((number, _), value) in matching.iter().zip(values) {
            if page.is_full() {
                return Ok(Some(after));
            }
            let value =
                value.ok_or_else(|| Error::corrupt(format!("the item with number {number} is missing")))?;
            page.push(Item::open(value)?);
            after = *number;
        }
        match entries.entries.last() {
            Some((number, _)) if entries.more => after = keys::decode_number(number)?,
            _ => return Ok(None),
        }
    }
}

/// How the items of one logical partition are ordered, and where the page before ended.
enum LogicalOrder {
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
    fn read(token: &str) -> Result<LogicalOrder> {
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
        for (_, value) in &entries.entries {
            let item = Item::open(value.clone())?;
            if item.header().number > after {
                items.push(item);
            }
        }
        match entries.entries.last() {
            Some((key, _)) if entries.more => scan = scan.after(key),
            _ => break,
        }
    }
    items.sort_by_key(|item| item.header().number);
    let mut last = after;
    for item in items {
        if page.is_full() {
            page.continuation = Some(format!("N1;{last}"));
            return Ok(());
        }
        last = item.header().number;
        page.push(item);
    }
    Ok(())
}

fn list_by_id(
    snapshot: &dyn Snapshot,
    logical: &LogicalKey,
    after: Option<String>,
    page: &mut PageBuilder<'_>,
) -> Result<()> {
    let prefix = logical.as_bytes();
    let mut scan = Scan::prefix(Family::Item, prefix);
    scan.entries_max = page.room() + 1;
    if let Some(id) = &after {
        scan.lower = Bound::Excluded(logical.item(id));
    }
    loop {
        let entries = snapshot.scan(&scan)?;
        let mut last: Option<&Bytes> = None;
        for (key, value) in &entries.entries {
            if page.is_full() {
                let id =
                    last.map_or(after.as_deref().unwrap_or_default().as_bytes(), |key| &key[prefix.len()..]);
                page.continuation = Some(format!("K1;{}", encode_hex(id)));
                return Ok(());
            }
            page.push(Item::open(value.clone())?);
            last = Some(key);
        }
        match last {
            Some(key) if entries.more => scan = scan.after(key),
            _ => return Ok(()),
        }
    }
}

/// A page while it fills.
struct PageBuilder<'a> {
    container: &'a Container,
    items: Vec<Item>,
    item_bytes: Vec<usize>,
    bytes: usize,
    items_max: usize,
    entries_skipped: usize,
    continuation: Option<String>,
    positions: Vec<Position>,
    cost: ReadCost,
    /// What the partition that is being read may still spend, where that counts.
    left: Option<RequestUnits>,
    /// What was read of it, about.
    used: RequestUnits,
    /// Items of the page when its turn came.
    items_before: usize,
    /// What the partitions before it cost.
    spent: RequestUnits,
}

impl<'a> PageBuilder<'a> {
    fn new(container: &'a Container, request: &ListRequest) -> PageBuilder<'a> {
        PageBuilder {
            container,
            items: Vec::new(),
            item_bytes: Vec::new(),
            bytes: 0,
            items_max: request.items_max.clamp(1, PAGE_ITEMS_MAX),
            entries_skipped: 0,
            continuation: None,
            positions: Vec::new(),
            cost: request.cost,
            left: None,
            used: RequestUnits::ZERO,
            items_before: 0,
            spent: RequestUnits::ZERO,
        }
    }

    /// Takes note that another partition is read from now on, and of what it may spend.
    fn begin_share(&mut self, left: Option<RequestUnits>) {
        self.left = left;
        self.used = RequestUnits::ZERO;
        self.items_before = self.items.len();
    }

    /// Returns what the partition that was read last cost.
    fn end_share(&mut self) -> RequestUnits {
        let total = price(&self.work(), self.cost);
        let before = std::mem::replace(&mut self.spent, total);
        RequestUnits::from_hundredths(total.hundredths().saturating_sub(before.hundredths()))
    }

    fn work(&self) -> Work {
        Work::Page { item_bytes: self.item_bytes.clone(), entries_skipped: self.entries_skipped }
    }

    fn room(&self) -> usize {
        self.items_max - self.items.len()
    }

    fn is_full(&self) -> bool {
        let is_spent =
            self.items.len() > self.items_before && self.left.is_some_and(|left| self.used >= left);
        self.room() == 0 || self.bytes >= PAGE_BYTES_MAX || is_spent
    }

    fn push(&mut self, item: Item) {
        let bytes = item.json_bytes(self.container.identity());
        self.bytes += bytes;
        self.used += price(&Work::Read { item_bytes: bytes }, self.cost);
        self.item_bytes.push(bytes);
        self.items.push(item);
    }

    fn finish(self) -> ItemPage {
        ItemPage {
            charge: price(&self.work(), self.cost),
            items: self.items,
            continuation: self.continuation,
            positions: self.positions,
        }
    }
}

/// A part of the ring that is still to be read, beyond a number.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Arc {
    min: HashedKey,
    max: HashedKey,
    after: u64,
}

/// Most arcs in a token: each split of a partition that was being read adds one.
const TOKEN_ARCS_MAX: usize = 64;

fn write_token(arcs: &[Arc]) -> String {
    let mut token = String::from("L1");
    for arc in arcs {
        token.push_str(&format!(";{}-{}-{}", arc.min, arc.max, arc.after));
    }
    token
}

fn read_token(token: &str) -> Result<Vec<Arc>> {
    read_arcs(token).ok_or_else(|| invalid_token(token))
}

fn read_arcs(token: &str) -> Option<Vec<Arc>> {
    let mut arcs: Vec<Arc> = Vec::new();
    for part in token.strip_prefix("L1;")?.split(';') {
        let mut fields = part.split('-');
        let min = HashedKey::from_hex(fields.next()?)?;
        let max = HashedKey::from_hex(fields.next()?)?;
        let after = fields.next()?.parse().ok()?;
        let ordered = arcs.last().is_none_or(|last| last.max <= min) && min < max;
        if fields.next().is_some() || !ordered || arcs.len() == TOKEN_ARCS_MAX {
            return None;
        }
        arcs.push(Arc { min, max, after });
    }
    Some(arcs)
}

fn invalid_token(token: &str) -> Error {
    let shown: String = token.chars().take(80).collect();
    Error::invalid(format!("the continuation token '{shown}' is not one of this request"))
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}
