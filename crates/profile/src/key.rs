//! The partition key of a container: how many there are, what they look like, which have the most.

use armilla_value::{Component, Object, PartitionKey, Value};

use crate::bottom::Bottom;
use crate::describe::{is_date, rank_correlation};
use crate::hash;
use crate::limits::{
    DISTINCT_EXACT_MAX, KEY_PREFIX_BYTES, KEY_TEXT_BYTES_MAX, LARGEST_COUNTED, LARGEST_MAX,
    ORDER_KEY_BYTES_MAX, ORDER_MAX,
};
use crate::path::ENTRY_BYTES;
use crate::profile::KeyProfile;

/// What was seen of the keys.
#[derive(Debug, Default)]
pub(crate) struct KeyState {
    paths: Vec<Vec<String>>,
    told: KeyProfile,
    partitions: Bottom<u64, Partition>,
    heavy: Vec<Heavy>,
    /// The beginnings of long keys, with the keys.
    prefixes: Bottom<(u64, u64), ()>,
    /// Keys that sort, with when their items were written.
    order: Bottom<u64, Option<(Vec<u8>, i64)>>,
}

/// A logical partition.
#[derive(Debug, Clone, Default)]
struct Partition {
    text: String,
    items: u64,
    bytes: u64,
}

/// A logical partition that may be one of the largest (Space-Saving, by bytes).
#[derive(Debug, Clone)]
struct Heavy {
    hash: u64,
    partition: Partition,
    overestimate: u64,
}

impl KeyState {
    pub(crate) fn new(paths: &[Vec<String>]) -> KeyState {
        KeyState { paths: paths.to_vec(), ..KeyState::default() }
    }

    /// Looks at an item of this many bytes; `item` tells it from others.
    pub(crate) fn add(&mut self, object: &Object, bytes: u64, written: Option<i64>, item: u64) {
        if self.paths.is_empty() {
            return;
        }
        let component = |path: &Vec<String>| at(object, path).map_or(Component::Undefined, Component::of);
        let key = PartitionKey(self.paths.iter().map(component).collect());
        let mut key_bytes = Vec::new();
        key.key_bytes(&mut key_bytes);
        let hash = hash::of_bytes(&key_bytes);
        let is_missing = self.describe(&key, object.get("id").and_then(Value::as_str));
        if let Some(prefix) = key.0.iter().find_map(long_prefix) {
            self.prefixes.place((hash::of_bytes(prefix), hash), DISTINCT_EXACT_MAX);
        }
        self.weigh(&key, hash, bytes);
        if let Some(written) = written.filter(|_| !is_missing)
            && let Some(place) = self.order.place(hash::mix(item, hash), ORDER_MAX)
        {
            key_bytes.truncate(ORDER_KEY_BYTES_MAX);
            key_bytes.shrink_to_fit();
            *place = Some((key_bytes, written));
        }
    }

    /// Counts what a key looks like; says whether there is none.
    fn describe(&mut self, key: &PartitionKey, id: Option<&str>) -> bool {
        let told = &mut self.told;
        let all = |is: fn(&Component) -> bool| u64::from(key.0.iter().all(is));
        let text = |component: Option<&Component>, is: &dyn Fn(&str) -> bool| {
            u64::from(matches!(component, Some(Component::String(text)) if is(text)))
        };
        let missing = all(|component| matches!(component, Component::Undefined | Component::Null));
        told.missing += missing;
        told.numbers += all(|component| matches!(component, Component::Number(_)));
        told.texts += all(|component| matches!(component, Component::String(_)));
        told.ids += text(key.0.last(), &|text| Some(text) == id);
        told.dates += text(key.0.first(), &is_date);
        told.bytes_max = told.bytes_max.max(key.bytes_len() as u64);
        missing > 0
    }

    /// Adds an item to its logical partition.
    fn weigh(&mut self, key: &PartitionKey, hash: u64, bytes: u64) {
        if let Some(partition) = self.partitions.place(hash, DISTINCT_EXACT_MAX) {
            if partition.items == 0 {
                partition.text = told_text(key);
            }
            partition.items += 1;
            partition.bytes += bytes;
        }
        if let Some(heavy) = self.heavy.iter_mut().find(|heavy| heavy.hash == hash) {
            heavy.partition.items += 1;
            heavy.partition.bytes += bytes;
            return;
        }
        let partition = Partition { text: told_text(key), items: 1, bytes };
        if self.heavy.len() < LARGEST_COUNTED {
            self.heavy.push(Heavy { hash, partition, overestimate: 0 });
        } else if let Some(least) = self.heavy.iter_mut().min_by_key(|heavy| heavy.partition.bytes) {
            let overestimate = least.partition.bytes;
            *least = Heavy { hash, partition, overestimate };
            least.partition.bytes += overestimate;
        }
    }

    /// Returns the bytes that this takes, at most.
    pub(crate) fn bytes(&self) -> usize {
        let partitions = self.partitions.len() + self.heavy.len();
        partitions * (KEY_TEXT_BYTES_MAX + size_of::<Heavy>() + ENTRY_BYTES)
            + self.prefixes.len() * ENTRY_BYTES
            + self.order.len() * (ORDER_KEY_BYTES_MAX + 2 * ENTRY_BYTES)
    }

    pub(crate) fn finish(self) -> KeyProfile {
        let mut told = self.told;
        told.distinct = self.partitions.distinct();
        let mut largest: Vec<Partition> = if self.partitions.is_cut() {
            // What may belong to others is taken off: no partition is told larger than it is.
            let counted = self.heavy.into_iter().map(|heavy| Partition {
                bytes: heavy.partition.bytes - heavy.overestimate,
                ..heavy.partition
            });
            counted.collect()
        } else {
            self.partitions.into_kept().into_values().collect()
        };
        largest.sort_by(|one, other| other.bytes.cmp(&one.bytes).then_with(|| one.text.cmp(&other.text)));
        largest.truncate(LARGEST_MAX);
        told.largest =
            largest.into_iter().map(|partition| (partition.text, partition.items, partition.bytes)).collect();
        let prefixes: Vec<u64> = self.prefixes.iter().map(|((prefix, _), ())| prefix).collect();
        let shared = prefixes.chunk_by(|one, other| one == other).filter(|keys| keys.len() > 1);
        told.prefix_shared = shared.map(|keys| keys.len() as u64).sum();
        let (keys, times): (Vec<Vec<u8>>, Vec<i64>) = self.order.into_kept().into_values().flatten().unzip();
        told.monotone = rank_correlation(&keys, &times);
        told
    }
}

/// Walks down through objects alone.
fn at<'i>(item: &'i Object, path: &[String]) -> Option<&'i Value> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(item.get(first)?, |value, name| value.get(name))
}

/// The beginning of a text that may go on behind what the first version of the hash looks at.
fn long_prefix(component: &Component) -> Option<&[u8]> {
    match component {
        Component::String(text) if text.len() >= KEY_PREFIX_BYTES => {
            Some(&text.as_bytes()[..KEY_PREFIX_BYTES])
        }
        _ => None,
    }
}

/// The key as requests carry it, cut if it is long.
fn told_text(key: &PartitionKey) -> String {
    let mut text = key.to_json();
    // It is ASCII: any place is one to cut at.
    text.truncate(KEY_TEXT_BYTES_MAX);
    text.shrink_to_fit();
    text
}

#[cfg(test)]
mod tests;
