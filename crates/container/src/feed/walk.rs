//! Walking the change log of one physical partition, as of one moment, for a page of a feed.
//!
//! Most entries carry the version that they are about, so the log is all that is read. Of the other entries the newest
//! versions lie with the items and the older ones behind the entries; so a walk reads a piece of the log, then the items
//! that it needs, all at once. They come through the cache in front of the store where the newest version is the one that
//! the snapshot has.
//!
//! A page ends between two commits only.

use std::ops::Bound;
use std::sync::Arc;

use armilla_kv::{Family, Scan, Snapshot, Space};
use armilla_value::PartitionKey;
use bytes::Bytes;

use super::bounds::KeyBounds;
use super::page::FeedPageBuilder;
use super::{Change, FeedChange, FeedMode, FeedStart, LogEntry, find_version, read_log};
use crate::compiled_definition::CompiledDefinition;
use crate::error::{Error, ErrorKind, Result};
use crate::feed::trim::TrimState;
use crate::item::Item;
use crate::item::expiry::Expiry;
use crate::item::keys::{self, LogicalKey};
use crate::limits::{FEED_LOGICAL_ITEMS_MAX, FEED_WALK_ENTRIES, PAGE_BYTES_MAX};
use crate::map::Slot;
use crate::partition::Partition;
use crate::partition::counters::{Counters, LogicalSize};

/// One partition as of one moment. All parts of a page that lie in it are read at the same, so that they come to the
/// same end, and one position is enough for them from there on.
#[derive(Clone)]
pub(super) struct View {
    space: Arc<dyn Space>,
    snapshot: Arc<dyn Snapshot>,
    /// The newest commit of the snapshot.
    pub(super) lsn: u64,
    /// Expired items are no news.
    expiry: Expiry,
}

impl View {
    pub(super) fn take(compiled: &CompiledDefinition, slot: &Slot, partition: &Partition) -> Result<View> {
        let space = partition.space();
        let snapshot: Arc<dyn Snapshot> = space.snapshot()?.into();
        let lsn = match snapshot.get(Family::Meta, keys::COUNTERS)? {
            Some(bytes) => Counters::decode(&bytes)?.lsn,
            None => slot.range.lsn_base,
        };
        Ok(View { space, snapshot, lsn, expiry: compiled.expiry(partition.now_seconds()) })
    }
}

/// What of a partition is wanted.
pub(super) struct Walk<'a> {
    pub(super) compiled: &'a CompiledDefinition,
    pub(super) view: View,
    pub(super) mode: FeedMode,
    pub(super) bounds: KeyBounds,
    /// What was written before this second since 1970 UTC is left out.
    pub(super) since: Option<u32>,
}

/// How far a walk came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walked {
    /// The commit up to which everything was shown.
    pub(super) after: u64,
    /// Whether there was nothing behind it.
    pub(super) is_end: bool,
}

/// Where entries come from.
enum Source {
    /// The log, from here on; `None` behind its end.
    Log(Option<Bound<Bytes>>),
    /// These positions, in their order.
    Positions(std::vec::IntoIter<(u64, u16)>),
}

impl Walk<'_> {
    /// Returns the commit behind which to read a part of the ring so that no version is missed. Fails if some of those
    /// that are asked for are not there any more.
    pub(super) fn complete_start(&self, part: &crate::map::arcs::Arc, start: &FeedStart) -> Result<u64> {
        let state = TrimState::load(|key| self.view.snapshot.get(Family::Meta, key))?;
        let complete_after = state.as_ref().and_then(|state| state.complete_after_in(&part.min, &part.max));
        let oldest = complete_after.unwrap_or(self.view.lsn);
        if part.after >= oldest {
            return Ok(part.after);
        }
        // The commit that a time leads to lies before what is gone if nothing is left of that.
        let since = match start {
            FeedStart::Time(seconds) => Some(*seconds),
            FeedStart::Beginning => Some(0),
            FeedStart::Now | FeedStart::Token(_) => None,
        };
        if let (Some(since), Some(state)) = (since, &state)
            && state.is_complete_since(since)
        {
            return Ok(oldest);
        }
        let asked = match start {
            FeedStart::Beginning => "the beginning".to_owned(),
            FeedStart::Time(seconds) => format!("the second {seconds} since 1970"),
            FeedStart::Now | FeedStart::Token(_) => format!("the position {}", part.after),
        };
        Err(Error::new(
            ErrorKind::FeedExpired,
            format!(
                "{asked} is before what the change feed retains of all versions, which begins behind {oldest}"
            ),
        ))
    }

    /// Adds what came after a commit to a page.
    pub(super) fn fill(&self, after: u64, page: &mut FeedPageBuilder<'_>) -> Result<Walked> {
        if after >= self.view.lsn {
            return Ok(Walked { after, is_end: true });
        }
        let mut source = self.source(after, page)?;
        // The commit whose entries are being read, or were last.
        let mut current = after;
        let mut entries_max = 0;
        loop {
            // As many as there is room for, and one that shows where the page ends; more where few are wanted.
            entries_max = (2 * entries_max).max(page.meter.room() + 1).min(FEED_WALK_ENTRIES);
            let Some(entries) = self.next_entries(&mut source, entries_max)? else { break };
            let mut entries = entries.into_iter().peekable();
            while let Some(next) = entries.peek() {
                if page.is_full() && next.position.0 != current {
                    return Ok(Walked { after: next.position.0 - 1, is_end: false });
                }
                let mut chunk = Vec::new();
                let (mut wanted, wanted_max) = (0, page.changes_at_once());
                while wanted < wanted_max
                    && let Some(entry) = entries.next()
                {
                    let is_wanted = self.wants(&entry);
                    wanted += usize::from(is_wanted);
                    chunk.push((entry, is_wanted));
                }
                for (entry, change) in self.load(chunk)? {
                    if page.is_full() && entry.0 != current {
                        return Ok(Walked { after: entry.0 - 1, is_end: false });
                    }
                    current = entry.0;
                    page.walk(1);
                    match change {
                        Some(change) => page.push(change),
                        None => page.skip(),
                    }
                }
            }
        }
        Ok(Walked { after: self.view.lsn, is_end: true })
    }

    /// Returns where to read from, whichever is less work.
    fn source(&self, after: u64, page: &mut FeedPageBuilder<'_>) -> Result<Source> {
        let log = Source::Log(Some(Bound::Included(keys::feed(after.saturating_add(1), 0))));
        let KeyBounds::Logical(logical) = &self.bounds else { return Ok(log) };
        if self.mode != FeedMode::Latest {
            return Ok(log);
        }
        let items = match self.view.snapshot.get(Family::Meta, &keys::size(logical))? {
            Some(bytes) => LogicalSize::decode(&bytes)?.items,
            None => 0,
        };
        // Every page walks all items of the logical partition, but goes on in the log where the one before ended.
        let pages = items.div_ceil(page.meter.room().max(1) as u64);
        let is_less = items.saturating_mul(pages) < self.view.lsn - after;
        if !is_less || items > FEED_LOGICAL_ITEMS_MAX {
            return Ok(log);
        }
        let positions = self.positions_in(logical, after, page)?;
        Ok(Source::Positions(positions.into_iter()))
    }

    /// Returns the positions of the items of a logical partition that were written after a commit, in their order.
    fn positions_in(
        &self,
        logical: &LogicalKey,
        after: u64,
        page: &mut FeedPageBuilder<'_>,
    ) -> Result<Vec<(u64, u16)>> {
        let mut positions = Vec::new();
        let mut scan = Scan::prefix(Family::Item, logical.as_bytes());
        loop {
            let items = self.view.snapshot.scan(&scan)?;
            for (_, value) in &items.entries {
                let version = Item::open(value.clone())?.header().version();
                if version.0 > after {
                    positions.push(version);
                } else {
                    page.skip();
                }
            }
            match items.entries.last() {
                Some((key, _)) if items.more => scan = scan.after(&key.clone()),
                _ => break,
            }
        }
        positions.sort_unstable();
        Ok(positions)
    }

    fn next_entries(&self, source: &mut Source, entries_max: usize) -> Result<Option<Vec<LogEntry>>> {
        match source {
            Source::Log(next) => {
                let Some(lower) = next.take() else { return Ok(None) };
                let page = read_log(
                    self.view.snapshot.as_ref(),
                    lower,
                    Bound::Unbounded,
                    entries_max,
                    PAGE_BYTES_MAX,
                )?;
                *next = page.next;
                Ok(Some(page.entries))
            }
            Source::Positions(positions) => {
                let chunk: Vec<(u64, u16)> = positions.take(entries_max).collect();
                if chunk.is_empty() {
                    return Ok(None);
                }
                let log_keys: Vec<Bytes> =
                    chunk.iter().map(|(lsn, operation)| keys::feed(*lsn, *operation)).collect();
                let values = self.view.snapshot.multi_get(Family::Feed, &log_keys)?;
                let entry = |(position, bytes): ((u64, u16), Option<Bytes>)| {
                    let bytes = bytes.ok_or_else(|| {
                        Error::corrupt(format!("commit {} is not in the change log", position.0))
                    })?;
                    Ok(LogEntry { position, change: Change::decode(&bytes)?, image: None, bytes })
                };
                chunk.into_iter().zip(values).map(entry).collect::<Result<Vec<_>>>().map(Some)
            }
        }
    }

    /// Returns whether an entry may belong to the page, as far as it tells by itself.
    fn wants(&self, entry: &LogEntry) -> bool {
        let is_shown = match self.mode {
            FeedMode::AllVersions => true,
            FeedMode::Latest => entry.image.is_none() && !entry.change.kind.is_removal(),
        };
        is_shown
            && self.since.is_none_or(|since| entry.change.ts >= since)
            && self.bounds.contains(&entry.change.item_key)
    }

    /// Makes changes of entries, those that are wanted; nothing of those that are stale.
    #[expect(clippy::type_complexity, reason = "it is taken apart at once")]
    fn load(&self, mut entries: Vec<(LogEntry, bool)>) -> Result<Vec<((u64, u16), Option<FeedChange>)>> {
        let is_newest = |entry: &LogEntry| entry.image.is_none() && !entry.change.kind.is_removal();
        let mut items = Vec::with_capacity(entries.len());
        let mut lying_elsewhere = Vec::new();
        for (place, (entry, is_wanted)) in entries.iter_mut().enumerate() {
            let mut item = None;
            if *is_wanted && is_newest(entry) {
                item = entry.change.take_carried(entry.position)?;
                if item.is_none() {
                    lying_elsewhere.push(place);
                }
            }
            items.push(item);
        }
        if !lying_elsewhere.is_empty() {
            self.newest_versions(&entries, lying_elsewhere, &mut items)?;
        }
        let mut changes = Vec::with_capacity(entries.len());
        for (place, (entry, is_wanted)) in entries.into_iter().enumerate() {
            let position = entry.position;
            let change = match is_wanted {
                false => None,
                true => self.change(entry, items[place].take())?,
            };
            changes.push((position, change));
        }
        Ok(changes)
    }

    /// Fetches the items that some of the entries are about, where they are still as the entries left them.
    fn newest_versions(
        &self,
        entries: &[(LogEntry, bool)],
        mut wanted: Vec<usize>,
        items: &mut [Option<Item>],
    ) -> Result<()> {
        // In the order of their keys, so that those that lie side by side are read together.
        wanted.sort_unstable_by(|one, other| {
            entries[*one].0.change.item_key.cmp(&entries[*other].0.change.item_key)
        });
        let entry = |place: usize| &entries[place].0;
        let item_keys = |places: &[usize]| -> Vec<Bytes> {
            places.iter().map(|place| entry(*place).change.item_key.clone()).collect()
        };
        let newest = self.view.space.multi_get(Family::Item, &item_keys(&wanted))?;
        let mut replaced = Vec::new();
        for (place, value) in wanted.into_iter().zip(newest) {
            match value.map(Item::open).transpose()? {
                Some(item) if item.header().version() == entry(place).position => items[place] = Some(item),
                // It may have been written after the snapshot was taken.
                _ => replaced.push(place),
            }
        }
        if !replaced.is_empty() {
            let older = self.view.snapshot.multi_get(Family::Item, &item_keys(&replaced))?;
            for (place, value) in replaced.into_iter().zip(older) {
                let item = value.map(Item::open).transpose()?;
                items[place] = item.filter(|item| item.header().version() == entry(place).position);
            }
        }
        Ok(())
    }

    fn change(&self, entry: LogEntry, newest: Option<Item>) -> Result<Option<FeedChange>> {
        let LogEntry { position, change, image, .. } = entry;
        let lsn = position.0;
        let Change { kind, ts, previous_lsn, .. } = change;
        if self.mode == FeedMode::Latest {
            let item_key = change.item_key.clone();
            let change = |item| FeedChange {
                lsn,
                kind,
                ts,
                previous_lsn,
                item: Some(item),
                previous: None,
                partition_key: PartitionKey(Vec::new()),
                id: String::new(),
            };
            let key = &item_key;
            return Ok(newest.filter(|item| !self.view.expiry.hides(key, item)).map(change));
        }
        let item = match image {
            _ if kind.is_removal() => None,
            Some(image) => Some(Item::open(image)?),
            None => Some(newest.ok_or_else(|| {
                Error::corrupt(format!("a version of commit {lsn} is in the change log and nowhere else"))
            })?),
        };
        let wants_previous = kind.is_removal() || self.compiled.definition.change_feed_previous_images;
        let previous = match wants_previous {
            true => find_version(self.view.snapshot.as_ref(), position, &change)?.map(|(_, item)| item),
            false => None,
        };
        let (partition_key, id) = self.name(&change.item_key)?;
        Ok(Some(FeedChange { lsn, kind, ts, previous_lsn, item, previous, partition_key, id }))
    }

    /// Returns the partition key and the id that an item's key is made of.
    fn name(&self, item_key: &[u8]) -> Result<(PartitionKey, String)> {
        let damaged = || Error::corrupt("the change log has an item's key that is damaged");
        let definition = &self.compiled.definition.partition_key;
        let (_, rest) =
            keys::split_item_key(item_key, definition.version, definition.paths.len()).ok_or_else(damaged)?;
        let (partition_key, used) = PartitionKey::from_key_bytes(rest).map_err(|_| damaged())?;
        let id = String::from_utf8(rest[used..].to_vec()).map_err(|_| damaged())?;
        Ok((partition_key, id))
    }
}
