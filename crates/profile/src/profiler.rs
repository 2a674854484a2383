//! All that is seen of a container's items once it is known what tells their sorts apart.

use std::collections::BTreeMap;

use armilla_value::{Object, Value};

use crate::bottom::Bottom;
use crate::discriminator::Found;
use crate::entity::{EntityState, Room, objects_bytes};
use crate::hash;
use crate::key::KeyState;
use crate::limits::{
    CARD_MEMBERS_MAX, CARDS_MAX, DISTINCT_EXACT_MAX, ENTITIES_MAX, FIELD_VALUE_BYTES_MAX, LEVEL_MAX,
    NAME_BYTES_MAX, OBJECTS_BYTES_MAX, OBJECTS_MAX, PATH_SKETCH_BYTES_MAX, SIZES_MAX,
};
use crate::path::{ENTRY_BYTES, Visit, push_name};
use crate::profile::Profile;
use crate::quantiles::Quantiles;
use crate::sketches::{Card, Sketches};

// The last halving leaves something of everything.
const _: () = assert!(DISTINCT_EXACT_MAX >> LEVEL_MAX > 1);

/// What was seen of a container.
#[derive(Debug)]
pub(crate) struct Profiler {
    key_paths: Vec<Vec<String>>,
    /// The member whose value says what an item is.
    discriminator: Option<String>,
    sorts: usize,
    items: u64,
    bytes: u64,
    sizes: Quantiles,
    written: Option<(i64, i64)>,
    entities: BTreeMap<String, EntityState>,
    key: KeyState,
    /// Small members of items, by the hashes of id and sort.
    cards: Bottom<(u64, u64), Card>,
    room: Room,
}

impl Profiler {
    pub(crate) fn new(key_paths: &[Vec<String>], found: Found) -> Profiler {
        Profiler {
            key_paths: key_paths.to_vec(),
            discriminator: found.discriminator,
            sorts: found.sorts,
            items: 0,
            bytes: 0,
            sizes: Quantiles::default(),
            written: None,
            entities: BTreeMap::new(),
            key: KeyState::new(key_paths),
            cards: Bottom::default(),
            room: Room::default(),
        }
    }

    /// Looks at an item without its system properties, which has this text.
    pub(crate) fn add(&mut self, item: &Object, text: &[u8], written: Option<i64>) {
        let bytes = text.len() as u64;
        self.items += 1;
        self.bytes += bytes;
        self.sizes.add(bytes, SIZES_MAX);
        if let Some(written) = written {
            let (first, last) = self.written.unwrap_or((written, written));
            self.written = Some((first.min(written), last.max(written)));
        }
        let id = item.get("id").and_then(Value::as_str).map(hash::of_text);
        // Another number than the ones that have a meaning.
        let number = u32::try_from(self.items).unwrap_or(u32::MAX).min(u32::MAX - 1);
        let visit = Visit { number, id, key: id.unwrap_or_else(|| hash::of_bytes(text)) };
        self.key.add(item, bytes, written, visit.key);

        let sort = self.sort_of(item);
        let sort_hash = hash::of_text(&sort);
        let members = self.entities.entry(sort).or_default().add(item, bytes, &visit, &mut self.room);
        if let Some(id) = id
            && let Some(card) = self.cards.place((id, sort_hash), CARDS_MAX)
        {
            card.note(id, self.room.keep(&members, CARD_MEMBERS_MAX));
        }
        self.settle();
    }

    /// Which sort an item is of; the empty name if it does not say, or says what has no room.
    fn sort_of(&self, item: &Object) -> String {
        let value = self.discriminator.as_ref().and_then(|name| item.get(name)).and_then(Value::as_str);
        let Some(sort) = value.filter(|sort| sort.len() <= FIELD_VALUE_BYTES_MAX) else {
            return String::new();
        };
        let named = self.entities.len() - usize::from(self.entities.contains_key(""));
        let has_room = named < ENTITIES_MAX || self.entities.contains_key(sort);
        if has_room { sort.to_owned() } else { String::new() }
    }

    /// Keeps less of everything until it fits.
    ///
    /// What is kept at the end depends on what came, not on when it came: a level that is too high for some of the items
    /// is too high for all of them.
    fn settle(&mut self) {
        while self.room.used > PATH_SKETCH_BYTES_MAX && self.room.level < LEVEL_MAX {
            self.room.level += 1;
            let level = self.room.level;
            self.room.used = self.entities.values_mut().map(|entity| entity.shrink_paths(level)).sum();
        }
        while objects_bytes(&self.room) > OBJECTS_BYTES_MAX && OBJECTS_MAX >> self.room.objects_level > 1 {
            self.room.objects_level += 1;
            let level = self.room.objects_level;
            self.room.objects = self.entities.values_mut().map(|entity| entity.shrink_objects(level)).sum();
        }
    }

    /// Returns the bytes that this takes, at most.
    pub(crate) fn memory(&self) -> usize {
        let entities: usize = self.entities.values().map(EntityState::base_bytes).sum();
        let cards = self.cards.len() * (size_of::<Card>() + CARD_MEMBERS_MAX * 16 + 2 * ENTRY_BYTES);
        let names = self.room.names.len() * (NAME_BYTES_MAX + 2 * ENTRY_BYTES);
        let room = self.room.used + objects_bytes(&self.room);
        room + entities + cards + names + self.key.bytes() + self.sizes.len() * ENTRY_BYTES
    }

    pub(crate) fn finish(self, is_whole: bool) -> (Profile, Sketches) {
        let path = |names: &[String]| {
            let mut text = String::new();
            names.iter().for_each(|name| push_name(&mut text, name));
            text
        };
        let mut profile = Profile {
            items: self.items,
            bytes: self.bytes,
            bytes_p50: self.sizes.at(0.5),
            bytes_p99: self.sizes.at(0.99),
            bytes_max: self.sizes.max(),
            discriminator: self.discriminator.map(|name| path(&[name])),
            sorts: self.sorts,
            entities: BTreeMap::new(),
            key: self.key.finish(),
            written: self.written,
        };
        let mut sketches = Sketches {
            is_whole,
            key_paths: self.key_paths.iter().map(|names| path(names)).collect(),
            names: self.room.names,
            entities: BTreeMap::new(),
        };
        let mut sorts: BTreeMap<u64, String> = BTreeMap::new();
        for (sort, state) in self.entities {
            let (entity, entity_sketches) = state.finish();
            sorts.insert(hash::of_text(&sort), sort.clone());
            profile.entities.insert(sort.clone(), entity);
            sketches.entities.insert(sort, entity_sketches);
        }
        for ((_, sort), card) in self.cards.into_kept() {
            let entity = sorts.get(&sort).and_then(|sort| sketches.entities.get_mut(sort));
            if let Some(entity) = entity {
                entity.cards.push(card);
            }
        }
        (profile, sketches)
    }
}

#[cfg(test)]
mod tests;
