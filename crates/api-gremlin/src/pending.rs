//! Writes of a traversal that are not done yet.
//!
//! They are gathered so that several of one logical partition are one commit, and so that an element that is written
//! again and again is written once. Whoever looks up an element by its address sees them; before a query they are done.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_engine::{ETag, ItemAction, Precondition, WriteMode};
use armilla_value::{Object, PartitionKey, Value};

/// Where an item lies.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Address {
    pub(crate) key: PartitionKey,
    pub(crate) id: Arc<str>,
}

/// What is to become of an item.
#[derive(Debug, Clone)]
pub(crate) enum Write {
    Create(Object),
    /// The item as it is to be, and the version that it replaces.
    Replace(Object, ETag),
    /// The item as it is to be in the place of one that was to be deleted.
    Overwrite(Object),
    Delete,
}

impl Write {
    /// Returns the item as it will be; none if it is deleted.
    pub(crate) fn body(&self) -> Option<&Object> {
        match self {
            Write::Create(body) | Write::Replace(body, _) | Write::Overwrite(body) => Some(body),
            Write::Delete => None,
        }
    }

    /// Returns what is asked of the engine.
    pub(crate) fn action(self, id: &str) -> ItemAction {
        match self {
            Write::Create(body) => ItemAction::Put {
                mode: WriteMode::Create,
                id: None,
                body: Value::Object(body).into(),
                precondition: Precondition::None,
            },
            Write::Replace(body, etag) => ItemAction::Put {
                mode: WriteMode::Replace,
                id: Some(id.to_owned()),
                body: Value::Object(body).into(),
                precondition: Precondition::Version(Some(etag)),
            },
            Write::Overwrite(body) => ItemAction::Put {
                mode: WriteMode::Upsert,
                id: None,
                body: Value::Object(body).into(),
                precondition: Precondition::None,
            },
            Write::Delete => ItemAction::Delete { id: id.to_owned(), precondition: Precondition::None },
        }
    }
}

/// The writes of one logical partition, in order.
pub(crate) type Group = (PartitionKey, Vec<(Arc<str>, Write)>);

/// Writes that are not done yet, and what is remembered of those that are.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// In the order in which items were first written.
    writes: Vec<Option<(Address, Write)>>,
    places: HashMap<Address, usize>,
    /// What this traversal has written, each with its version, and when it was made.
    done: HashMap<Address, Done>,
    /// How many elements were made.
    created: u64,
}

/// An item that this traversal has written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    /// Its version; none if it was deleted.
    pub(crate) etag: Option<ETag>,
    /// How many elements had been made before it, if it was made.
    pub(crate) created: Option<u64>,
}

impl Pending {
    /// Returns how many writes are not done yet.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns how many elements were made so far.
    pub(crate) fn created(&self) -> u64 {
        self.created
    }

    /// Returns what is to become of an item, if it is to be written.
    pub(crate) fn get(&self, address: &Address) -> Option<&Write> {
        let place = *self.places.get(address)?;
        self.writes.get(place)?.as_ref().map(|(_, write)| write)
    }

    /// Returns what this traversal has made of an item.
    pub(crate) fn done(&self, address: &Address) -> Option<Done> {
        self.done.get(address).copied()
    }

    /// Notes a write, which takes the place of an earlier one of the same item.
    pub(crate) fn put(&mut self, address: Address, write: Write) {
        if matches!(write, Write::Create(_)) {
            let created = Some(self.created);
            self.created += 1;
            self.done.insert(address.clone(), Done { etag: None, created });
        }
        let Some(place) = self.places.get(&address).copied() else {
            self.places.insert(address.clone(), self.writes.len());
            self.writes.push(Some((address, write)));
            return;
        };
        let Some(slot) = self.writes.get_mut(place) else { return };
        *slot = match (slot.take(), write) {
            // It was never there.
            (Some((address, Write::Create(_))), Write::Delete) => {
                self.places.remove(&address);
                None
            }
            // It is still made, or still replaces what it did.
            (Some((address, Write::Create(_))), Write::Replace(body, _) | Write::Create(body)) => {
                Some((address, Write::Create(body)))
            }
            (Some((address, Write::Replace(_, etag))), Write::Replace(body, _)) => {
                Some((address, Write::Replace(body, etag)))
            }
            (Some((address, Write::Delete)), Write::Create(body))
            | (Some((address, Write::Overwrite(_))), Write::Replace(body, _)) => {
                Some((address, Write::Overwrite(body)))
            }
            (_, write) => Some((address, write)),
        };
    }

    /// Takes all writes, by logical partition, in order.
    pub(crate) fn take(&mut self) -> Vec<Group> {
        self.places.clear();
        let mut groups: Vec<Group> = Vec::new();
        let mut group_of: HashMap<PartitionKey, usize> = HashMap::new();
        for (address, write) in std::mem::take(&mut self.writes).into_iter().flatten() {
            let place = *group_of.entry(address.key.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some((_, writes)) => writes.push((address.id, write)),
                None => groups.push((address.key, vec![(address.id, write)])),
            }
        }
        groups
    }

    /// Notes what a write came to.
    pub(crate) fn note(&mut self, address: Address, etag: Option<ETag>) {
        let created = self.done.get(&address).and_then(|done| done.created);
        self.done.insert(address, Done { etag, created });
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::Component;

    use super::*;

    fn address(key: &str, id: &str) -> Address {
        Address { key: PartitionKey(vec![Component::String(key.to_owned())]), id: id.into() }
    }

    fn body(text: &str) -> Object {
        Object::from([("x", Value::from(text))])
    }

    /// Whatever is done to an item, it is written once, under the version that was read first.
    #[test]
    fn writes_of_one_item_become_one() {
        let (first, second) = (ETag::new(1, 0, 0, 0), ETag::new(2, 0, 0, 0));
        let table: [(Vec<Write>, &str); 6] = [
            (vec![Write::Create(body("a")), Write::Replace(body("b"), first)], "create b"),
            (vec![Write::Create(body("a")), Write::Delete], ""),
            (vec![Write::Create(body("a")), Write::Delete, Write::Create(body("c"))], "create c"),
            (vec![Write::Replace(body("a"), first), Write::Replace(body("b"), second)], "replace b true"),
            (vec![Write::Replace(body("a"), first), Write::Delete], "delete"),
            (vec![Write::Delete, Write::Create(body("a"))], "overwrite a"),
        ];
        for (writes, expected) in table {
            let mut pending = Pending::default();
            for write in writes.clone() {
                pending.put(address("p", "1"), write);
            }
            let text = |body: &Object| body.get("x").and_then(Value::as_str).unwrap().to_owned();
            let taken: Vec<String> = pending
                .take()
                .into_iter()
                .flat_map(|(_, writes)| writes)
                .map(|(_, write)| match write {
                    Write::Create(body) => format!("create {}", text(&body)),
                    Write::Replace(body, etag) => format!("replace {} {}", text(&body), etag == first),
                    Write::Overwrite(body) => format!("overwrite {}", text(&body)),
                    Write::Delete => "delete".to_owned(),
                })
                .collect();
            assert_eq!(taken.join(";"), expected, "{writes:?}");
        }
    }

    #[test]
    fn writes_are_taken_by_partition_in_order() {
        let mut pending = Pending::default();
        for (key, id) in [("p", "1"), ("q", "2"), ("p", "3")] {
            pending.put(address(key, id), Write::Create(body(id)));
        }
        assert_eq!((pending.len(), pending.created()), (3, 3));
        let taken: Vec<Vec<String>> = pending
            .take()
            .into_iter()
            .map(|(_, writes)| writes.into_iter().map(|(id, _)| id.to_string()).collect())
            .collect();
        assert_eq!(taken, [vec!["1".to_owned(), "3".to_owned()], vec!["2".to_owned()]]);
        assert_eq!(pending.len(), 0);
    }
}
