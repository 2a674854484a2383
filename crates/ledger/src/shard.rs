//! The containers that share a lock, and the shapes of their requests.
//!
//! A new shape that finds no place pushes out the one with the least charge of those that were not asked for an hour;
//! where there is none the request counts beyond all shapes. A new container does the same among containers.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

use crate::changes::{Change, ChangesTally};
use crate::examples::Examples;
use crate::hash;
use crate::hours::{Hours, hour_of};
use crate::keys::Keys;
use crate::limits::{CONTAINER_SHAPES_MAX, FULL_PAUSE_MS, IDLE_MS};
use crate::note::{Note, Outcome};
use crate::report::{ContainerRequests, Shape, ShapeKind, Tally};
use crate::room::Rooms;
use crate::sizes::{heap, table_entry};
use crate::tally;
use crate::weight::Weight;

/// Some of the containers.
#[derive(Debug, Default)]
pub(crate) struct Shard {
    containers: HashMap<u64, Box<Container>>,
    /// Until when no place is looked for, for a container and for a shape: none was found.
    containers_full_until_ms: Option<i64>,
    full_until_ms: Option<i64>,
}

/// What a shape is known by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShapeName<'t> {
    kind: ShapeKind,
    text: &'t str,
    hash: u64,
}

impl<'t> ShapeName<'t> {
    pub(crate) fn new(kind: ShapeKind, text: &'t str) -> ShapeName<'t> {
        ShapeName::hashed(kind, text, hash::bytes(0, text.as_bytes()))
    }

    /// The same where the hash of the text is at hand.
    pub(crate) fn hashed(kind: ShapeKind, text: &'t str, text_hash: u64) -> ShapeName<'t> {
        ShapeName { kind, text, hash: hash::mix(text_hash, kind as u64 + 1) }
    }
}

/// A container of an earlier report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Restored<'r> {
    pub(crate) id: u64,
    pub(crate) told: &'r ContainerRequests,
    /// Whether the ids of its shapes are free.
    pub(crate) keeps_ids: bool,
}

#[derive(Debug, Default)]
struct Container {
    /// By the hashes of their names.
    shapes: HashMap<u64, Box<ShapeTally>>,
    beyond: Tally,
    keys: Keys,
    changes: ChangesTally,
    last_ms: i64,
    full_until_ms: Option<i64>,
}

#[derive(Debug)]
struct ShapeTally {
    id: u32,
    kind: ShapeKind,
    text: Box<str>,
    total: Tally,
    hours: Hours,
    examples: Examples,
    last_ms: i64,
}

/// What a container and a shape take that the rooms do not count.
pub(crate) const CONTAINER_BYTES: usize = table_entry(size_of::<(u64, usize)>())
    + size_of::<Container>()
    + Keys::SPARE_BYTES
    + ChangesTally::SPARE_BYTES
    + ALLOCATION;
pub(crate) const SHAPE_BYTES: usize =
    table_entry(size_of::<(u64, usize)>()) + size_of::<ShapeTally>() + ALLOCATION;

/// What an allocation takes besides.
const ALLOCATION: usize = 32;

impl Shard {
    /// Writes a request down; returns the id of its shape if that has a place.
    pub(crate) fn note(
        &mut self,
        now_ms: i64,
        weight: Weight,
        note: &Note<'_>,
        name: &ShapeName<'_>,
        rooms: &Rooms,
    ) -> Option<u32> {
        let more = tally::of_request(weight, note);
        if !self.admit_container(now_ms, note.container, rooms) {
            return None;
        }
        let is_known = self.admit_shape(now_ms, note.container, name, rooms);
        let container = self.containers.get_mut(&note.container)?;
        container.last_ms = container.last_ms.max(now_ms);
        if let Some(key) = note.key
            && note.outcome != Outcome::Throttled
        {
            container.keys.count(key, more.count, more.charge, &rooms.keys);
        }
        let shape = container.shapes.get_mut(&name.hash).filter(|_| is_known);
        let Some(shape) = shape else {
            container.beyond.add(&more);
            return None;
        };
        shape.last_ms = shape.last_ms.max(now_ms);
        shape.total.add(&more);
        shape.hours.add(hour_of(now_ms), &more, &rooms.hours);
        shape.examples.offer(note, &rooms.examples);
        Some(shape.id)
    }

    /// Returns the id of a shape, which gets a place if it has none.
    pub(crate) fn shape(
        &mut self,
        now_ms: i64,
        container: u64,
        name: &ShapeName<'_>,
        rooms: &Rooms,
    ) -> Option<u32> {
        if !self.admit_container(now_ms, container, rooms)
            || !self.admit_shape(now_ms, container, name, rooms)
        {
            return None;
        }
        Some(self.containers.get(&container)?.shapes.get(&name.hash)?.id)
    }

    /// Counts a write that was compared with what was there.
    pub(crate) fn changed(&mut self, now_ms: i64, container: u64, change: &Change<'_>, rooms: &Rooms) {
        if !self.admit_container(now_ms, container, rooms) {
            return;
        }
        if let Some(container) = self.containers.get_mut(&container) {
            container.last_ms = container.last_ms.max(now_ms);
            container.changes.count(change, rooms);
        }
    }

    pub(crate) fn told(&self, now_ms: i64) -> impl Iterator<Item = (u64, ContainerRequests)> {
        self.containers.iter().map(move |(id, container)| (*id, container.told(now_ms)))
    }

    /// Adds what an earlier report says of a container; hands over which shape is which now. Shapes may keep their ids
    /// where these are free.
    pub(crate) fn restore(
        &mut self,
        until_ms: i64,
        restored: Restored<'_>,
        rooms: &Rooms,
        ids: &mut impl FnMut(u32, u32),
    ) {
        let Restored { id, told, keeps_ids } = restored;
        if !self.admit_container(until_ms, id, rooms) {
            return;
        }
        for shape in &told.shapes {
            let name = ShapeName::new(shape.kind, &shape.text);
            let is_known = self.admit_shape_as(until_ms, id, &name, keeps_ids.then_some(shape.id), rooms);
            let Some(container) = self.containers.get_mut(&id) else { return };
            let Some(own) = container.shapes.get_mut(&name.hash).filter(|_| is_known) else {
                container.beyond.add(&shape.total);
                continue;
            };
            own.restore(shape, rooms);
            ids(shape.id, own.id);
        }
        if let Some(container) = self.containers.get_mut(&id) {
            container.beyond.add(&told.beyond);
            told.keys.iter().for_each(|key| container.keys.restore(key, &rooms.keys));
            container.changes.restore(&told.changes, rooms);
        }
    }

    pub(crate) fn forget(&mut self, rooms: &Rooms) {
        for (_, container) in self.containers.drain() {
            container.give_back(rooms);
        }
        *self = Shard::default();
    }

    pub(crate) fn forget_container(&mut self, id: u64, rooms: &Rooms) {
        if let Some(container) = self.containers.remove(&id) {
            container.give_back(rooms);
        }
    }

    /// Makes sure that a container has a place; tells whether it has.
    fn admit_container(&mut self, now_ms: i64, id: u64, rooms: &Rooms) -> bool {
        if self.containers.contains_key(&id) {
            return true;
        }
        if !rooms.containers.take(1) {
            if is_paused(self.containers_full_until_ms, now_ms) {
                return false;
            }
            let idle = self.containers.iter().filter(|(_, known)| is_idle(known.last_ms, now_ms));
            let Some((_, least)) = idle.map(|(known, of)| (of.charge(), *known)).min() else {
                self.containers_full_until_ms = Some(now_ms.saturating_add(FULL_PAUSE_MS));
                return false;
            };
            self.forget_container(least, rooms);
            if !rooms.containers.take(1) {
                return false;
            }
        }
        self.containers.insert(id, Box::new(Container { last_ms: now_ms, ..Container::default() }));
        true
    }

    fn admit_shape(&mut self, now_ms: i64, container: u64, name: &ShapeName<'_>, rooms: &Rooms) -> bool {
        self.admit_shape_as(now_ms, container, name, None, rooms)
    }

    /// Makes sure that a shape has a place; tells whether it has. A wanted id is one that no other shape has.
    fn admit_shape_as(
        &mut self,
        now_ms: i64,
        id: u64,
        name: &ShapeName<'_>,
        wanted: Option<u32>,
        rooms: &Rooms,
    ) -> bool {
        let Some(container) = self.containers.get(&id) else { return false };
        if let Some(known) = container.shapes.get(&name.hash) {
            // Another name with the same hash has no place beside it.
            return known.kind == name.kind && *known.text == *name.text;
        }
        if container.shapes.len() >= CONTAINER_SHAPES_MAX && !self.push_out(now_ms, Some(id), rooms) {
            return false;
        }
        while !take_shape(name, rooms) {
            if !self.push_out(now_ms, None, rooms) {
                return false;
            }
        }
        let shape_id = wanted.unwrap_or_else(|| rooms.next_shape.fetch_add(1, Relaxed));
        if let Some(container) = self.containers.get_mut(&id) {
            container.shapes.insert(name.hash, Box::new(ShapeTally::new(shape_id, name, now_ms)));
        }
        true
    }

    /// Pushes out the idle shape with the least charge, of one container or of all.
    fn push_out(&mut self, now_ms: i64, only: Option<u64>, rooms: &Rooms) -> bool {
        let full_until_ms = match only {
            Some(id) => self.containers.get(&id).and_then(|container| container.full_until_ms),
            None => self.full_until_ms,
        };
        if is_paused(full_until_ms, now_ms) {
            return false;
        }
        let containers = self.containers.iter().filter(|(id, _)| only.is_none_or(|only| only == **id));
        let shapes = containers.flat_map(|(id, container)| {
            container.shapes.iter().map(move |(hash, shape)| (shape, *id, *hash))
        });
        let idle = shapes.filter(|(shape, ..)| is_idle(shape.last_ms, now_ms));
        let least = idle.map(|(shape, id, hash)| (shape.total.charge, shape.id, id, hash)).min();
        let Some((_, _, id, hash)) = least else {
            let until_ms = Some(now_ms.saturating_add(FULL_PAUSE_MS));
            match only.and_then(|id| self.containers.get_mut(&id)) {
                Some(container) => container.full_until_ms = until_ms,
                None => self.full_until_ms = until_ms,
            }
            return false;
        };
        let Some(container) = self.containers.get_mut(&id) else { return false };
        if let Some(shape) = container.shapes.remove(&hash) {
            container.beyond.add(&shape.total);
            shape.give_back(rooms);
        }
        true
    }
}

/// Takes the room for a shape.
fn take_shape(name: &ShapeName<'_>, rooms: &Rooms) -> bool {
    if !rooms.shapes.take(1) {
        return false;
    }
    let has_room = rooms.texts.take(heap(name.text.len()));
    if !has_room {
        rooms.shapes.give(1);
    }
    has_room
}

fn is_idle(last_ms: i64, now_ms: i64) -> bool {
    now_ms.saturating_sub(last_ms) > IDLE_MS
}

/// Tells whether it is too early to look again. A clock that was set back does not make it longer.
fn is_paused(until_ms: Option<i64>, now_ms: i64) -> bool {
    until_ms.is_some_and(|until_ms| (until_ms.saturating_sub(FULL_PAUSE_MS)..until_ms).contains(&now_ms))
}

impl Container {
    fn charge(&self) -> u64 {
        let shapes = self.shapes.values().map(|shape| shape.total.charge);
        shapes.fold(self.beyond.charge, u64::saturating_add)
    }

    fn told(&self, now_ms: i64) -> ContainerRequests {
        let mut shapes: Vec<Shape> = self.shapes.values().map(|shape| shape.told(now_ms)).collect();
        shapes.sort_by_key(|shape| (std::cmp::Reverse(shape.total.charge), shape.id));
        ContainerRequests {
            shapes,
            beyond: self.beyond,
            keys: self.keys.told(),
            changes: self.changes.told(),
        }
    }

    fn give_back(&self, rooms: &Rooms) {
        self.shapes.values().for_each(|shape| shape.give_back(rooms));
        self.keys.give_back(&rooms.keys);
        self.changes.give_back(rooms);
        rooms.containers.give(1);
    }
}

impl ShapeTally {
    fn new(id: u32, name: &ShapeName<'_>, now_ms: i64) -> ShapeTally {
        ShapeTally {
            id,
            kind: name.kind,
            text: name.text.into(),
            total: Tally::default(),
            hours: Hours::default(),
            examples: Examples::new(),
            last_ms: now_ms,
        }
    }

    fn restore(&mut self, told: &Shape, rooms: &Rooms) {
        self.total.add(&told.total);
        told.hours.iter().for_each(|(hour, tally)| self.hours.add(*hour, tally, &rooms.hours));
        self.examples.restore(&told.examples, told.total.count, &rooms.examples);
    }

    fn told(&self, now_ms: i64) -> Shape {
        Shape {
            id: self.id,
            kind: self.kind,
            text: self.text.to_string(),
            total: self.total,
            hours: self.hours.told(now_ms),
            examples: self.examples.told().to_vec(),
        }
    }

    fn give_back(&self, rooms: &Rooms) {
        rooms.shapes.give(1);
        rooms.texts.give(heap(self.text.len()));
        self.hours.give_back(&rooms.hours);
        self.examples.give_back(&rooms.examples);
    }
}
