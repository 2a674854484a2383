//! The ledger itself: where requests are written down, and where the report comes from.
//!
//! What a request costs that is not written down is [`Ledger::wants`]. The rest is a few short locks: of the shard that
//! its container is in, and of the links while any answer is watched.
//!
//! Not here: bounds (`limits`), what is told (`report`).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};

use armilla_value::PartitionKey;
use parking_lot::Mutex;

use crate::answer::Answer;
use crate::changes::Change;
use crate::differences;
use crate::entity;
use crate::gate::{Gate, Rate};
use crate::hash;
use crate::limits::{
    ALL_A_SECOND, CHANGES_A_SECOND, ORIGIN_MS, ORIGINS_A_SECOND, ORIGINS_BEFORE, PLAIN_TEXT_CHARS_MAX,
    REQUEST_VALUES_MAX,
};
use crate::links::{Follower, Links, ShapeRef, Spot};
use crate::note::{Act, Note, Outcome};
use crate::report::{Report, ShapeKind};
use crate::room::Rooms;
use crate::shape::{self, Template};
use crate::shard::{CONTAINER_BYTES, Restored, SHAPE_BYTES, ShapeName, Shard};
use crate::texts::Texts;
use crate::values;
use crate::weight::Weight;

/// Locks over the containers.
const SHARDS: usize = 16;

/// A bounded record of what was asked of an account.
#[derive(Debug)]
pub struct Ledger {
    is_on: AtomicBool,
    rate: Rate,
    answers: Gate,
    changes: Gate,
    /// When the first request was written down, or [`NEVER`].
    since_ms: AtomicI64,
    shards: [Mutex<Shard>; SHARDS],
    rooms: Rooms,
    texts: Texts,
    links: Mutex<Links>,
    /// Until when an answer is watched, or [`NEVER`].
    watched_until_ms: AtomicI64,
}

const NEVER: i64 = i64::MIN;

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new()
    }
}

impl Ledger {
    /// Returns a ledger in which nothing is written. It is on.
    pub fn new() -> Ledger {
        Ledger {
            is_on: AtomicBool::new(true),
            rate: Rate::new(),
            answers: Gate::new(ORIGINS_A_SECOND),
            changes: Gate::new(CHANGES_A_SECOND),
            since_ms: AtomicI64::new(NEVER),
            shards: std::array::from_fn(|_| Mutex::default()),
            rooms: Rooms::new(),
            texts: Texts::default(),
            links: Mutex::default(),
            watched_until_ms: AtomicI64::new(NEVER),
        }
    }

    /// Begins or ends writing. What is written stays.
    pub fn set_on(&self, is_on: bool) {
        self.is_on.store(is_on, Relaxed);
    }

    /// Tells whether anything is written.
    pub fn is_on(&self) -> bool {
        self.is_on.load(Relaxed)
    }

    /// Tells whether a request that is served now is to be written down, and how many it stands for then.
    #[inline]
    pub fn wants(&self, now_ms: i64) -> Option<Weight> {
        if self.is_on() { self.rate.weigh(now_ms) } else { None }
    }

    /// Tells whether the answer to a request is to be watched.
    #[inline]
    pub fn wants_answer(&self, now_ms: i64) -> bool {
        self.is_on() && self.rate.in_second(now_ms) < ORIGINS_BEFORE && self.answers.opens(now_ms)
    }

    /// Tells whether a write is to be compared with what was there.
    #[inline]
    pub fn wants_change(&self, now_ms: i64) -> bool {
        self.is_on() && self.changes.opens(now_ms)
    }

    /// Writes a request down.
    pub fn note(&self, now_ms: i64, weight: Weight, note: &Note<'_>) {
        if !self.is_on() {
            return;
        }
        self.begin(now_ms);
        let named = Named::of(&note.act, &self.texts);
        let shape = self.shard(note.container).lock().note(now_ms, weight, note, &named.name(), &self.rooms);
        // One that was throttled comes again.
        let Some(shape) = shape.filter(|_| note.outcome != Outcome::Throttled) else { return };
        // Where not every request is written down, what follows an answer cannot be told.
        let is_some_of_many = self.rate.in_second(now_ms) >= ALL_A_SECOND;
        if is_some_of_many || now_ms >= self.watched_until_ms.load(Relaxed) {
            return;
        }
        let values = named.values(note);
        if values.is_empty() {
            return;
        }
        let follower = Follower {
            shape: ShapeRef { container: note.container, shape },
            values: &values,
            weight,
            charge: note.took.charge,
            micros: note.took.micros,
            is_continued: note.took.is_continued,
        };
        self.links.lock().follow(now_ms, &follower);
    }

    /// Watches the answer to a request: the JSON text of each of its rows, whole items or any other values.
    pub fn watch_answer<'r>(&self, now_ms: i64, note: &Note<'_>, rows: impl Iterator<Item = &'r [u8]>) {
        if !self.is_on() {
            return;
        }
        self.begin(now_ms);
        let named = Named::of(&note.act, &self.texts);
        let answer = Answer::read(rows);
        if answer.is_empty() {
            return;
        }
        let shape =
            self.shard(note.container).lock().shape(now_ms, note.container, &named.name(), &self.rooms);
        let Some(shape) = shape else { return };
        let shape = ShapeRef { container: note.container, shape };
        if self.links.lock().watch(now_ms, shape, named.values(note), answer) {
            self.watched_until_ms.fetch_max(now_ms.saturating_add(ORIGIN_MS), Relaxed);
        }
    }

    /// Compares what was written with what was there, both the JSON text of an item.
    pub fn changed(
        &self,
        now_ms: i64,
        container: u64,
        key: &PartitionKey,
        id: &str,
        before: &[u8],
        after: &[u8],
    ) {
        if !self.is_on() {
            return;
        }
        let Some(differences) = differences::compare(before, after) else { return };
        self.begin(now_ms);
        let said = entity::said(after);
        let entity = said.as_ref().map_or("", |said| &*said.entity);
        let change = Change { entity, key, id, bytes: after.len() as u64, differences: &differences };
        self.shard(container).lock().changed(now_ms, container, &change, &self.rooms);
    }

    /// Tells what was written.
    pub fn report(&self, now_ms: i64) -> Report {
        let since_ms = match self.since_ms.load(Relaxed) {
            NEVER => now_ms,
            since_ms => since_ms,
        };
        let mut containers = BTreeMap::new();
        for shard in &self.shards {
            containers.extend(shard.lock().told(now_ms));
        }
        let mut known: BTreeSet<ShapeRef> = BTreeSet::new();
        for (container, requests) in &containers {
            known.extend(
                requests.shapes.iter().map(|shape| ShapeRef { container: *container, shape: shape.id }),
            );
        }
        let links = self.links.lock().told(|shape| known.contains(&shape));
        Report { since_ms, until_ms: now_ms, containers, links }
    }

    /// Takes what an earlier report told back in.
    pub fn restore(&self, report: &Report) {
        if report.containers.is_empty() {
            return;
        }
        self.begin(report.since_ms);
        let keeps_ids = self.reserve_ids(report);
        let mut ids: BTreeMap<ShapeRef, ShapeRef> = BTreeMap::new();
        for (container, told) in &report.containers {
            let id = *container;
            let mut renamed = |before, now| {
                ids.insert(ShapeRef { container: id, shape: before }, ShapeRef { container: id, shape: now });
            };
            let restored = Restored { id, told, keeps_ids };
            self.shard(id).lock().restore(report.until_ms, restored, &self.rooms, &mut renamed);
        }
        let mut links = self.links.lock();
        links.restore(report.until_ms, &report.links, |shape| ids.get(&shape).copied());
    }

    /// Forgets everything.
    pub fn forget(&self) {
        for shard in &self.shards {
            shard.lock().forget(&self.rooms);
        }
        *self.links.lock() = Links::default();
        self.texts.forget();
        self.since_ms.store(NEVER, Relaxed);
        self.watched_until_ms.store(NEVER, Relaxed);
    }

    /// Forgets a container, as when it was deleted.
    pub fn forget_container(&self, container: u64) {
        self.shard(container).lock().forget_container(container, &self.rooms);
        self.links.lock().forget_container(container);
    }

    /// Returns how many bytes are held: an estimate that counts what the allocator adds.
    pub fn memory(&self) -> usize {
        let counted = [(&self.rooms.containers, CONTAINER_BYTES), (&self.rooms.shapes, SHAPE_BYTES)];
        let counted = counted.iter().map(|(room, bytes)| room.used() * bytes);
        let links = self.links.lock().bytes();
        size_of::<Ledger>() + counted.sum::<usize>() + self.rooms.bytes() + self.texts.bytes() + links
    }

    fn shard(&self, container: u64) -> &Mutex<Shard> {
        &self.shards[hash::mix(1, container) as usize % SHARDS]
    }

    /// Takes down when the first request was; an earlier time counts.
    fn begin(&self, now_ms: i64) {
        let since_ms = self.since_ms.load(Relaxed);
        if since_ms == NEVER {
            let _ = self.since_ms.compare_exchange(NEVER, now_ms, Relaxed, Relaxed);
        }
        if now_ms < self.since_ms.load(Relaxed) {
            self.since_ms.fetch_min(now_ms, Relaxed);
        }
    }

    /// Tells whether the shapes of a report can keep their ids, and makes sure that no other gets them.
    fn reserve_ids(&self, report: &Report) -> bool {
        let mut ids = BTreeSet::new();
        let shapes = report.containers.values().flat_map(|requests| &requests.shapes);
        let are_different = shapes.map(|shape| shape.id).all(|id| ids.insert(id));
        let next = ids.last().and_then(|last| last.checked_add(1)).filter(|_| are_different);
        // None was given yet.
        next.is_some_and(|next| self.rooms.next_shape.compare_exchange(1, next, Relaxed, Relaxed).is_ok())
    }
}

/// What a request's shape is called, and what of its values stands in it.
enum Named<'n> {
    Query(Arc<Template>),
    Other(ShapeKind, std::borrow::Cow<'n, str>),
}

impl<'n> Named<'n> {
    fn of(act: &Act<'n>, texts: &Texts) -> Named<'n> {
        let text = match *act {
            Act::Query { text, .. } => return Named::Query(texts.template(text)),
            Act::Create { item } => entity::said(item).map(|said| said.entity).unwrap_or_default(),
            Act::Procedure { name } if name.len() > PLAIN_TEXT_CHARS_MAX => shape::plain(name).into(),
            Act::Procedure { name } => name.into(),
            Act::Read { .. } | Act::Replace { .. } | Act::Patch { .. } | Act::Delete { .. } => "".into(),
            Act::Batch | Act::List | Act::Changes => "".into(),
        };
        Named::Other(ShapeKind::of(act), text)
    }

    fn name(&self) -> ShapeName<'_> {
        match self {
            Named::Query(template) => ShapeName::hashed(ShapeKind::Query, &template.text, template.hash),
            Named::Other(kind, text) => ShapeName::new(*kind, text),
        }
    }

    /// Returns the values that a request is about, and where in it they stand.
    fn values(&self, note: &Note<'_>) -> Vec<(Spot, u64)> {
        let mut found = Vec::new();
        let id = match note.act {
            Act::Read { id } | Act::Replace { id } | Act::Patch { id } | Act::Delete { id } => {
                values::of_text(id)
            }
            _ => None,
        };
        found.extend(id.map(|id| (Spot::Id, id)));
        let components = note.key.into_iter().flat_map(|key| &key.0).filter_map(values::of_component);
        found.extend(components.filter(|component| Some(*component) != id).map(|hash| (Spot::Key, hash)));
        if let (Named::Query(template), Act::Query { parameters, .. }) = (self, note.act) {
            template.each_value(parameters, &mut |at, value| {
                let Ok(at) = u16::try_from(at) else { return };
                values::each_of(value, &mut |hash| {
                    if found.len() < REQUEST_VALUES_MAX {
                        found.push((Spot::Parameter(at), hash));
                    }
                });
            });
        }
        found
    }
}

#[cfg(test)]
mod tests;
