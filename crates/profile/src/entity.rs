//! One sort of items: its paths, found by walking through each item once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use armilla_value::{Object, Value, json};

use crate::bottom::Bottom;
use crate::hash;
use crate::limits::{
    BEYOND_EXACT_MAX, CARD_MEMBERS_MAX, CARD_VALUE_BYTES_MAX, ENTITY_PATHS_MAX, EXAMPLE_BYTES_MAX,
    EXAMPLES_MAX, NAME_BYTES_MAX, NAMES_MAX, OBJECT_BYTES, OBJECT_MEMBERS_MAX, OBJECTS_MAX, PATH_BYTES_MAX,
    PATHS_MAX,
};
use crate::path::{ENTRY_BYTES, Measure, PathState, Visit, push_name};
use crate::profile::Entity;
use crate::sketches::{EntitySketches, KeptObject};

/// What all sorts of items of a container share.
#[derive(Debug, Default)]
pub(crate) struct Room {
    /// How often the detail of paths was halved.
    pub(crate) level: u32,
    /// What the paths keep, in bytes.
    pub(crate) used: usize,
    /// Paths that are told.
    pub(crate) paths: usize,
    /// How often the number of kept objects was halved.
    pub(crate) objects_level: u32,
    /// Objects that are kept.
    pub(crate) objects: usize,
    /// The names of members that are kept, by their hashes.
    pub(crate) names: BTreeMap<u64, String>,
    scratch: Vec<u8>,
}

impl Room {
    /// Takes the names of members; returns the names and values that have room, as hashes, in the order of the names.
    pub(crate) fn keep(&mut self, members: &[SmallMember<'_>], limit: usize) -> Vec<(u64, u64)> {
        let mut kept = Vec::with_capacity(members.len().min(limit));
        for member in members.iter().take(limit) {
            if !self.names.contains_key(&member.name_hash) {
                if self.names.len() >= NAMES_MAX {
                    continue;
                }
                self.names.insert(member.name_hash, member.name.to_owned());
            }
            kept.push((member.name_hash, member.value_hash));
        }
        kept.sort_unstable();
        kept
    }

    fn scalar_bytes(&mut self, scalar: &Value) -> u64 {
        self.scratch.clear();
        json::write(scalar, &mut self.scratch);
        self.scratch.len() as u64
    }

    fn name_bytes(&mut self, name: &str) -> u64 {
        self.scratch.clear();
        json::write_string(name, &mut self.scratch);
        self.scratch.len() as u64
    }
}

/// A member with a short value that may be compared with others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmallMember<'i> {
    name: &'i str,
    name_hash: u64,
    value_hash: u64,
}

/// What was seen of one sort of items.
#[derive(Debug, Default)]
pub(crate) struct EntityState {
    items: u64,
    bytes: u64,
    bytes_max: u64,
    examples: BTreeSet<(Reverse<u64>, String)>,
    places: BTreeMap<String, usize>,
    paths: Vec<PathState>,
    beyond: Bottom<u64, ()>,
    /// Objects of paths, to find copies among them: chosen by their hashes, so that it is a fair sample.
    objects: BTreeMap<usize, Bottom<u64, KeptObject>>,
}

impl EntityState {
    /// Looks at an item of this many bytes; returns its small members.
    pub(crate) fn add<'i>(
        &mut self,
        item: &'i Object,
        bytes: u64,
        visit: &Visit,
        room: &mut Room,
    ) -> Vec<SmallMember<'i>> {
        self.items += 1;
        self.bytes += bytes;
        self.bytes_max = self.bytes_max.max(bytes);
        if let Some(id) = item.get("id").and_then(Value::as_str).filter(|id| id.len() <= EXAMPLE_BYTES_MAX) {
            self.examples.insert((Reverse(bytes), id.to_owned()));
            if self.examples.len() > EXAMPLES_MAX {
                self.examples.pop_last();
            }
        }
        let mut walk = Walk { entity: self, room, visit, text: String::new(), objects: 0 };
        walk.members(item, Way { hash: 0, fits: true }).1
    }

    /// Keeps less of each path; returns what is kept in all, in bytes.
    pub(crate) fn shrink_paths(&mut self, level: u32) -> usize {
        let mut used = 0;
        for path in &mut self.paths {
            path.shrink(level);
            used += path.cost();
        }
        used
    }

    /// Keeps fewer objects of each path; returns how many are kept in all.
    pub(crate) fn shrink_objects(&mut self, level: u32) -> usize {
        let mut kept = 0;
        for objects in self.objects.values_mut() {
            objects.shrink(objects_max(level));
            kept += objects.len();
        }
        kept
    }

    /// Returns the bytes of what [`Room`] does not count, at most.
    pub(crate) fn base_bytes(&self) -> usize {
        let texts: usize = self.places.keys().map(String::len).sum();
        texts
            + self.paths.len() * (2 * size_of::<PathState>() + 2 * ENTRY_BYTES)
            + self.beyond.len() * ENTRY_BYTES
            + self.examples.len() * (EXAMPLE_BYTES_MAX + ENTRY_BYTES)
    }

    pub(crate) fn finish(self) -> (Entity, EntitySketches) {
        let mut entity = Entity {
            items: self.items,
            bytes: self.bytes,
            bytes_max: self.bytes_max,
            paths_beyond: self.beyond.distinct(),
            examples: self.examples.into_iter().map(|(_, id)| id).collect(),
            ..Entity::default()
        };
        let mut sketches = EntitySketches::default();
        let mut paths: Vec<Option<PathState>> = self.paths.into_iter().map(Some).collect();
        let mut objects = self.objects;
        for (text, place) in self.places {
            let Some(path) = paths.get_mut(place).and_then(Option::take) else { continue };
            let (told, sketch) = path.finish();
            if let Some(objects) = objects.remove(&place) {
                let kept: Vec<KeptObject> = objects.into_kept().into_values().collect();
                sketches.objects.insert(text.clone(), kept);
            }
            if !sketch.hashes.is_empty() {
                sketches.paths.insert(text.clone(), sketch);
            }
            entity.paths.insert(text, told);
        }
        (entity, sketches)
    }
}

fn objects_max(level: u32) -> usize {
    (OBJECTS_MAX >> level).max(1)
}

/// Where a walk is.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// The names on the way, as one hash.
    hash: u64,
    /// Whether they are short enough to be told.
    fits: bool,
}

/// The step into an array, as the hash of a name that no member has.
const ELEMENTS: u64 = 0x4528_21E6_38D0_1377;

struct Walk<'w> {
    entity: &'w mut EntityState,
    room: &'w mut Room,
    visit: &'w Visit,
    /// The path as text, as far as it fits.
    text: String,
    /// Objects that were met in this item.
    objects: u64,
}

impl Walk<'_> {
    fn value(&mut self, value: &Value, way: Way) -> Measure {
        // Its place is taken before those of what lies below it: a path is not told without the one above it.
        let place = self.place(way);
        let measure = match value {
            Value::Object(object) => {
                let (measure, members) = self.members(object, way);
                if let Some(place) = place {
                    self.keep_object(place, measure.hash, &members);
                }
                measure
            }
            Value::Array(elements) => self.elements(elements, way),
            scalar => Measure { hash: hash::of_scalar(scalar), bytes: self.room.scalar_bytes(scalar) },
        };
        if let Some(path) = place.and_then(|place| self.entity.paths.get_mut(place)) {
            let before = path.cost();
            path.record(value, measure, self.visit, self.room.level);
            self.room.used = (self.room.used + path.cost()).saturating_sub(before);
        }
        measure
    }

    fn members<'i>(&mut self, object: &'i Object, way: Way) -> (Measure, Vec<SmallMember<'i>>) {
        let mut small = Vec::new();
        let mut sum = 0_u64;
        let mut bytes = 2 + object.len().saturating_sub(1) as u64;
        for (name, value) in object.iter() {
            let name_hash = hash::of_bytes(name.as_bytes());
            let length = self.text.len();
            // A quoted name may be twice as long, and has its quotes.
            let fits = way.fits && length + 2 * name.len() + 3 <= PATH_BYTES_MAX;
            if fits {
                push_name(&mut self.text, name);
            }
            let measure = self.value(value, Way { hash: hash::mix(way.hash, name_hash), fits });
            self.text.truncate(length);
            sum = sum.wrapping_add(hash::of_member(name_hash, measure.hash));
            bytes += self.room.name_bytes(name) + 1 + measure.bytes;
            let is_small = hash::is_link(measure.hash)
                && measure.bytes <= CARD_VALUE_BYTES_MAX as u64 + 2
                && name.len() <= NAME_BYTES_MAX;
            if is_small && small.len() < CARD_MEMBERS_MAX {
                small.push(SmallMember { name, name_hash, value_hash: measure.hash });
            }
        }
        (Measure { hash: hash::of_object(sum), bytes }, small)
    }

    fn elements(&mut self, elements: &[Value], way: Way) -> Measure {
        let length = self.text.len();
        let fits = way.fits && length + 3 <= PATH_BYTES_MAX;
        if fits {
            self.text.push_str("/[]");
        }
        let below = Way { hash: hash::mix(way.hash, ELEMENTS), fits };
        let mut mixed = ELEMENTS;
        let mut bytes = 2 + elements.len().saturating_sub(1) as u64;
        for element in elements {
            let measure = self.value(element, below);
            mixed = hash::mix(mixed, measure.hash);
            bytes += measure.bytes;
        }
        self.text.truncate(length);
        Measure { hash: hash::of_array(mixed), bytes }
    }

    /// Finds the path or makes room for it; counts it if there is none.
    fn place(&mut self, way: Way) -> Option<usize> {
        if way.fits {
            if let Some(place) = self.entity.places.get(self.text.as_str()) {
                return Some(*place);
            }
            if self.entity.paths.len() < ENTITY_PATHS_MAX && self.room.paths < PATHS_MAX {
                let place = self.entity.paths.len();
                self.entity.places.insert(self.text.clone(), place);
                self.entity.paths.push(PathState::default());
                self.room.paths += 1;
                return Some(place);
            }
        }
        self.entity.beyond.place(way.hash, BEYOND_EXACT_MAX);
        None
    }

    fn keep_object(&mut self, place: usize, hash: u64, members: &[SmallMember<'_>]) {
        if members.len() < 2 {
            return;
        }
        self.objects += 1;
        let chance = hash::mix(hash::mix(self.visit.key, self.objects), hash);
        let objects = self.entity.objects.entry(place).or_default();
        let before = objects.len();
        if let Some(object) = objects.place(chance, objects_max(self.room.objects_level)) {
            object.item = self.visit.key;
            object.members = self.room.keep(members, OBJECT_MEMBERS_MAX);
        }
        self.room.objects = self.room.objects + objects.len() - before;
    }
}

/// Returns what the kept objects take at most.
pub(crate) fn objects_bytes(room: &Room) -> usize {
    room.objects * (OBJECT_BYTES + ENTRY_BYTES)
}
