//! Makes a partition agree with itself again after parts of it were lost.
//!
//! Items are what counts. Whatever can be worked out from them is thrown away and worked out anew: numbers, reservations of
//! unique keys, sizes, times to live. The index is dropped, and built by the server that opens the partition next, as for one
//! that never had any. Of the change log everything stays that is still true, and items that are not in it are put there.
//! Receipts go: they are good for half an hour, and nothing tells which of them were lost.
//!
//! For a store without other users; a caller that has the partition open must open it again afterwards.

use armilla_kv::{Batch, Family, Scan, Space, block_on};
use armilla_value::PartitionKey;
use bytes::Bytes;

use crate::compiled_definition::CompiledDefinition;
use crate::container::Container;
use crate::error::{Error, Result};
use crate::feed::{Change, ChangeKind, carried};
use crate::item::Item;
use crate::item::keys;
use crate::item::number::sequence_in;
use crate::limits::REBUILD_BATCH_OPS;
use crate::partition::counters::Counters;
use crate::partition::recount::recount;
use crate::write;

/// What came of a partition.
#[derive(Debug, Clone, Default)]
pub struct Rebuilt {
    /// Items that are there.
    pub items: u64,
    /// Items that were there once, as far as something still tells of them, each with its id and partition key.
    pub lost: Vec<String>,
}

/// Makes a partition agree with itself.
pub fn rebuild_partition(container: &Container, range_id: u32) -> Result<Rebuilt> {
    let map = container.map_now();
    let slot = map.find(range_id).ok_or_else(|| Error::invalid(format!("there is no range {range_id}")))?;
    let partition = container.partition(slot)?;
    let space = partition.space();
    let compiled = container.compiled();
    let counters = match space.get(Family::Meta, keys::COUNTERS)?.map(|bytes| Counters::decode(&bytes)) {
        Some(Ok(counters)) => counters,
        _ => Counters { lsn: slot.range.lsn_base, ..Counters::default() },
    };
    let mut rebuild = Rebuild {
        space: space.as_ref(),
        compiled: &compiled,
        range_id,
        counters,
        batch: Batch::new(),
        rebuilt: Rebuilt::default(),
    };
    rebuild.lost_items()?;
    rebuild.forget()?;
    rebuild.changes()?;
    rebuild.items()?;
    rebuild.commit()?;
    let Rebuild { mut counters, rebuilt, .. } = rebuild;
    counters.items = rebuilt.items;
    recount(space.as_ref(), range_id, counters, &compiled.layout)?;
    Ok(rebuilt)
}

struct Rebuild<'a> {
    space: &'a dyn Space,
    compiled: &'a CompiledDefinition,
    range_id: u32,
    counters: Counters,
    batch: Batch,
    rebuilt: Rebuilt,
}

impl Rebuild<'_> {
    /// Calls `each` with all entries of a family as they were before this call.
    fn scan(
        &mut self,
        family: Family,
        mut each: impl FnMut(&mut Self, &Bytes, &Bytes) -> Result<()>,
    ) -> Result<()> {
        self.commit()?;
        let snapshot = self.space.snapshot()?;
        let mut scan = Scan::prefix(family, b"");
        loop {
            let page = snapshot.scan(&scan)?;
            for (key, value) in &page.entries {
                each(self, key, value)?;
                if self.batch.ops().len() >= REBUILD_BATCH_OPS {
                    self.commit()?;
                }
            }
            match page.entries.last() {
                Some((key, _)) if page.more => scan = scan.after(key),
                _ => return self.commit(),
            }
        }
    }

    fn commit(&mut self) -> Result<()> {
        let batch = std::mem::take(&mut self.batch);
        if batch.ops().is_empty() {
            return Ok(());
        }
        Ok(block_on(self.space.commit(batch))?)
    }

    /// Returns an item that can be read and is where it belongs.
    fn item(&self, key: &[u8]) -> Result<Option<Item>> {
        let Some(value) = self.space.get(Family::Item, key)? else { return Ok(None) };
        let item = Item::open(value).ok().filter(|item| item.stored().verify().is_ok());
        Ok(item.filter(|item| {
            let id = item.stored().root().get("id").and_then(|id| id.as_str());
            id.is_some_and(|id| key.ends_with(id.as_bytes()))
        }))
    }

    /// Names the items of which only the numbers are left.
    fn lost_items(&mut self) -> Result<()> {
        self.scan(Family::Number, |rebuild, _, item_key| {
            if rebuild.item(item_key)?.is_none() {
                let name = name_of(rebuild.compiled, item_key);
                rebuild.rebuilt.lost.push(name);
            }
            Ok(())
        })
    }

    /// Throws away what follows from the items.
    fn forget(&mut self) -> Result<()> {
        for family in [Family::Number, Family::Index] {
            self.scan(family, |rebuild, key, _| {
                rebuild.batch.delete(family, key.clone());
                Ok(())
            })?;
        }
        let kept = [keys::COUNTERS, keys::TRIM_STATE, keys::MERGED];
        self.scan(Family::Meta, |rebuild, key, _| {
            if !kept.contains(&&key[..]) {
                rebuild.batch.delete(Family::Meta, key.clone());
            }
            Ok(())
        })
    }

    /// Removes from the change log what tells of versions that are not there any more.
    fn changes(&mut self) -> Result<()> {
        let mut dropped: Option<(u64, u16)> = None;
        self.scan(Family::Feed, |rebuild, key, value| {
            let Ok((position, is_image)) = keys::decode_feed(key) else {
                rebuild.batch.delete(Family::Feed, key.clone());
                return Ok(());
            };
            if is_image {
                if dropped == Some(position) {
                    rebuild.batch.delete(Family::Feed, key.clone());
                }
                return Ok(());
            }
            let change = Change::decode(value).ok();
            let is_true = match &change {
                Some(change) if change.kind.is_removal() => true,
                // That of an item, or of a version of it that was replaced since.
                Some(change) => rebuild.item(&change.item_key)?.is_some_and(|item| {
                    let header = item.header();
                    header.version() >= position && header.number == change.number
                }),
                None => false,
            };
            if is_true {
                if let Some(change) = change {
                    rebuild.forget_carried(key, change)?;
                }
                rebuild.counters.lsn = rebuild.counters.lsn.max(position.0);
            } else {
                dropped = Some(position);
                rebuild.batch.delete(Family::Feed, key.clone());
            }
            Ok(())
        })
    }

    /// Takes out of an entry what it carries, unless that is the item as it is.
    fn forget_carried(&mut self, key: &Bytes, change: Change) -> Result<()> {
        let Some(carried) = &change.carried else { return Ok(()) };
        if self.item(&change.item_key)?.is_none_or(|item| item.bytes() != carried) {
            self.batch.put(Family::Feed, key.clone(), Change { carried: None, ..change }.encode());
        }
        Ok(())
    }

    fn items(&mut self) -> Result<()> {
        self.scan(Family::Item, |rebuild, key, _| {
            let Some(item) = rebuild.item(key)? else {
                let name = name_of(rebuild.compiled, key);
                if !rebuild.rebuilt.lost.contains(&name) {
                    rebuild.rebuilt.lost.push(name);
                }
                rebuild.batch.delete(Family::Item, key.clone());
                return Ok(());
            };
            rebuild.keep(key, &item)
        })
    }

    fn keep(&mut self, key: &Bytes, item: &Item) -> Result<()> {
        let header = *item.header();
        self.rebuilt.items += 1;
        self.counters.lsn = self.counters.lsn.max(header.lsn);
        let given = std::iter::once(header.number).chain(header.stamp.map(crate::item::Stamp::number));
        for sequence in given.filter_map(|number| sequence_in(self.range_id, number)) {
            self.counters.sequence = self.counters.sequence.max(sequence);
        }
        self.batch.put(Family::Number, keys::number(header.number), key.clone());
        let feed = keys::feed(header.lsn, header.operation);
        if self.space.get(Family::Feed, &feed)?.is_none() {
            let change = Change {
                kind: ChangeKind::Create,
                ts: header.ts,
                number: header.number,
                previous_lsn: 0,
                previous_operation: 0,
                item_key: key.clone(),
                carried: carried(self.compiled, item),
            };
            self.batch.put(Family::Feed, feed, change.encode());
        }
        let root = item.stored().root();
        let definition = &self.compiled.definition.partition_key;
        let split = keys::split_item_key(key, definition.version, definition.paths.len());
        let Some((_, rest)) = split else { return Ok(()) };
        let Ok((partition_key, used)) = PartitionKey::from_key_bytes(rest) else { return Ok(()) };
        let (_, logical) = write::locate(self.compiled, &partition_key)?;
        for values in self.compiled.unique.values(root) {
            self.batch.put(Family::Meta, values.reservation(&logical), Bytes::copy_from_slice(&rest[used..]));
        }
        Ok(())
    }
}

/// Says which item a key is that of, as far as it can be read.
pub(crate) fn name_of(compiled: &CompiledDefinition, item_key: &[u8]) -> String {
    let definition = &compiled.definition.partition_key;
    let split = keys::split_item_key(item_key, definition.version, definition.paths.len());
    let read = split.and_then(|(_, rest)| {
        let (partition_key, used) = PartitionKey::from_key_bytes(rest).ok()?;
        Some((partition_key, std::str::from_utf8(rest.get(used..)?).ok()?))
    });
    match read {
        Some((partition_key, id)) => format!("item \"{id}\" of partition key {}", partition_key.to_json()),
        None => format!("item with key {}", item_key.escape_ascii()),
    }
}
