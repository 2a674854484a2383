//! What a container must hold: all that was ever done to each of its items, as far as it is known.
//!
//! A history has one writer, so what was done to an item is one list. A write that was under way when the server was
//! killed is looked up afterwards; only where an item may have expired meanwhile can both be true, that it was made and
//! that it was not (`Event::is_certain`).
//!
//! Expiry itself is no event: it is known when an item is gone for its readers, never when it is removed.

use armilla_env::Random;
use armilla_value::{Object, Value, json};

use crate::spec::Spec;

/// Properties that the server adds to an item.
const SYSTEM_PROPERTIES: [&str; 6] = ["_rid", "_self", "_etag", "_attachments", "_ts", "_lsn"];

/// What a client wrote. No two writes of a history have the same sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Content {
    /// Names the write.
    pub(crate) sequence: u64,
    /// The item's own time to live.
    pub(crate) ttl: Option<i32>,
    /// Length of the filling, which is made from its seed.
    pub(crate) filling_bytes: usize,
    /// What the filling is made from.
    pub(crate) filling_seed: u64,
}

impl Content {
    /// Returns the item's JSON.
    pub(crate) fn json(&self, id: &str, key: &str) -> String {
        let mut text = format!("{{\"id\":\"{id}\",\"pk\":\"{key}\",\"sequence\":{}", self.sequence);
        if let Some(ttl) = self.ttl {
            text.push_str(&format!(",\"ttl\":{ttl}"));
        }
        text.push_str(",\"filling\":\"");
        Random::new(self.filling_seed).push_text(self.filling_bytes, &mut text);
        text.push_str("\"}");
        text
    }

    /// Says whether an item as the server shows it has this content.
    pub(crate) fn is_that_of(&self, id: &str, key: &str, shown: &Value) -> bool {
        let own = json::parse(self.json(id, key).as_bytes()).expect("content is JSON");
        let Some(object) = shown.as_object() else { return false };
        let is_own = |(name, _): &(&str, &Value)| !SYSTEM_PROPERTIES.contains(name);
        let shown: Object = object.iter().filter(is_own).map(|(name, value)| (name, value.clone())).collect();
        own.as_object() == Some(&shown)
    }
}

/// A version of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Put {
    pub(crate) content: Content,
    /// When it was written, in seconds since 1970; unknown if it had expired before anybody saw it.
    pub(crate) ts: Option<i64>,
    /// Whether there was no item before it, if that is known.
    pub(crate) is_create: Option<bool>,
}

/// What was done to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EventKind {
    Put(Put),
    Delete,
}

/// One thing that was done to an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The commit, once it is known.
    pub(crate) lsn: Option<u64>,
    /// The transaction that it was part of.
    pub(crate) transaction: Option<u64>,
    /// Whether it is known to have happened. If it is not, the item is gone, by this event or by its expiry.
    pub(crate) is_certain: bool,
}

impl Event {
    /// Returns the version that it made.
    pub(crate) fn put(&self) -> Option<&Put> {
        match &self.kind {
            EventKind::Put(put) => Some(put),
            EventKind::Delete => None,
        }
    }
}

/// Whether an item is there for readers, at a moment between two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Live,
    Gone,
    /// It expires between the two moments.
    Unsure,
}

/// One item.
#[derive(Debug, Clone)]
pub(crate) struct Slot {
    /// The index of its partition key.
    pub(crate) key: usize,
    pub(crate) id: String,
    /// What was done to it, oldest first.
    pub(crate) events: Vec<Event>,
}

/// All items of a history.
#[derive(Debug, Clone)]
pub(crate) struct Model {
    pub(crate) spec: Spec,
    pub(crate) slots: Vec<Slot>,
    sequence: u64,
    transactions: u64,
}

impl Model {
    /// Returns the empty container of a history.
    pub(crate) fn new(spec: Spec) -> Model {
        let keys = 0..spec.keys.len();
        let slots = keys.flat_map(|key| {
            let slot = move |id| Slot { key, id: format!("item-{id}"), events: Vec::new() };
            (0..spec.ids_per_key).map(slot)
        });
        Model { slots: slots.collect(), spec, sequence: 0, transactions: 0 }
    }

    /// Returns the item with that key and id.
    pub(crate) fn find(&self, key: &str, id: &str) -> Option<usize> {
        self.slots.iter().position(|slot| slot.id == id && self.spec.keys[slot.key].name == key)
    }

    /// Returns the value of an item's partition key.
    pub(crate) fn key_name(&self, slot: usize) -> &str {
        &self.spec.keys[self.slots[slot].key].name
    }

    /// Returns how an item is called in messages.
    pub(crate) fn name(&self, slot: usize) -> String {
        format!("{}/{}", self.key_name(slot), self.slots[slot].id)
    }

    /// Returns the number of a new write.
    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Returns the number of a new transaction.
    pub(crate) fn next_transaction(&mut self) -> u64 {
        self.transactions += 1;
        self.transactions
    }

    /// Returns how many events each item has.
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.slots.iter().map(|slot| slot.events.len()).collect()
    }

    /// Returns the last second in which a version is there, if it ever goes.
    pub(crate) fn last_second(&self, put: &Put) -> Option<i64> {
        let ttl = put.content.ttl.or(self.spec.default_ttl).filter(|_| self.spec.default_ttl.is_some())?;
        (ttl > 0).then(|| put.ts.map_or(i64::MIN, |ts| ts + i64::from(ttl)))
    }

    /// Says whether a version is there at a moment between two, in seconds.
    pub(crate) fn life_of(&self, put: &Put, from: i64, to: i64) -> Life {
        match self.last_second(put) {
            None => Life::Live,
            Some(last) if to <= last => Life::Live,
            Some(last) if from > last => Life::Gone,
            Some(_) => Life::Unsure,
        }
    }

    /// Says whether an item is there at a moment between two.
    pub(crate) fn life(&self, slot: usize, from: i64, to: i64) -> Life {
        match self.slots[slot].events.last() {
            Some(Event { kind: EventKind::Put(put), is_certain: true, .. }) => self.life_of(put, from, to),
            _ => Life::Gone,
        }
    }

    /// Returns what an item was last known to be.
    pub(crate) fn newest(&self, slot: usize) -> Option<&Put> {
        self.slots[slot].events.last().filter(|event| event.is_certain).and_then(Event::put)
    }

    /// Says how an item came to be what it is.
    pub(crate) fn describe(&self, slot: usize) -> String {
        let mut text = format!("{}:", self.name(slot));
        for (index, event) in self.slots[slot].events.iter().enumerate() {
            let lsn = event.lsn.map_or("?".to_owned(), |lsn| lsn.to_string());
            let doubt = if event.is_certain { "" } else { " perhaps" };
            let transaction = event.transaction.map_or(String::new(), |own| format!(" in transaction {own}"));
            match &event.kind {
                EventKind::Put(Put { content, ts, is_create }) => text.push_str(&format!(
                    " [{index}{doubt} sequence {} commit {lsn} at {ts:?} ttl {:?} create {is_create:?}{transaction}]",
                    content.sequence, content.ttl
                )),
                EventKind::Delete => text.push_str(&format!(" [{index}{doubt} delete commit {lsn}{transaction}]")),
            }
        }
        text
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns a model with one key and some ids, with a default time to live.
    pub(crate) fn model(ids: usize, default_ttl: Option<i32>) -> Model {
        let mut spec = Spec::draw(1, 1, 0);
        spec.keys.truncate(1);
        spec.ids_per_key = ids;
        spec.default_ttl = default_ttl;
        Model::new(spec)
    }

    /// Returns a version.
    pub(crate) fn put(sequence: u64, ts: i64, ttl: Option<i32>, is_create: bool) -> Event {
        let content = Content { sequence, ttl, filling_bytes: 3, filling_seed: sequence };
        let kind = EventKind::Put(Put { content, ts: Some(ts), is_create: Some(is_create) });
        Event { kind, lsn: Some(sequence), transaction: None, is_certain: true }
    }

    /// Returns a delete.
    pub(crate) fn delete(lsn: u64) -> Event {
        Event { kind: EventKind::Delete, lsn: Some(lsn), transaction: None, is_certain: true }
    }

    #[test]
    fn items_live_as_long_as_they_say() {
        for (default_ttl, ttl, from, to, expected) in [
            (None, Some(1), 500, 500, Life::Live),
            (Some(-1), None, 500, 500, Life::Live),
            (Some(-1), Some(2), 100, 102, Life::Live),
            (Some(-1), Some(2), 102, 103, Life::Unsure),
            (Some(-1), Some(2), 103, 103, Life::Gone),
            (Some(1), None, 102, 103, Life::Gone),
            (Some(1), Some(-1), 500, 500, Life::Live),
            (Some(1), Some(3), 103, 103, Life::Live),
        ] {
            let mut model = model(1, default_ttl);
            assert_eq!(model.life(0, from, to), Life::Gone);
            model.slots[0].events.push(put(1, 100, ttl, true));
            assert_eq!(model.life(0, from, to), expected, "{default_ttl:?} {ttl:?} {from} {to}");
            model.slots[0].events[0].is_certain = false;
            assert_eq!(model.life(0, from, to), Life::Gone);
            model.slots[0].events.push(delete(2));
            assert_eq!(model.life(0, from, to), Life::Gone);
        }
    }

    #[test]
    fn contents_are_told_apart() {
        let content = Content { sequence: 4, ttl: Some(5), filling_bytes: 7, filling_seed: 2 };
        let shown = |text: String| json::parse(text.as_bytes()).unwrap();
        let whole = content.json("i", "k").replacen('{', r#"{"_rid":"r","_ts":1,"_lsn":4,"#, 1);
        assert!(content.is_that_of("i", "k", &shown(whole.clone())));
        assert!(!content.is_that_of("j", "k", &shown(whole.clone())));
        assert!(!content.is_that_of("i", "k", &shown(whole.replace("\"ttl\":5,", ""))));
        assert!(!content.is_that_of("i", "k", &shown(whole.replace("_lsn", "_other"))));
        assert!(!content.is_that_of("i", "k", &Value::Null));
    }
}
