//! The records of the resource tree, as far as a process has them.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::messages::News;
use crate::neighbours::Written;

/// The records of a copy, and of which keeper it is.
#[derive(Default)]
pub(super) struct TreeCopy {
    pub(super) epoch: u64,
    pub(super) number: u64,
    pub(super) records: BTreeMap<Bytes, Bytes>,
}

/// A record that has changed: its key, what it was, and what it is.
pub(crate) struct Copied {
    pub(crate) key: Bytes,
    pub(crate) before: Option<Bytes>,
    pub(crate) after: Option<Bytes>,
}

impl TreeCopy {
    /// Takes news over. Returns what has changed by them.
    pub(super) fn take(&mut self, news: News) -> Vec<Copied> {
        (self.epoch, self.number) = (news.epoch, news.number);
        let mut next: BTreeMap<Bytes, Option<Bytes>> = BTreeMap::new();
        if news.is_whole {
            next.extend(self.records.keys().map(|key| (key.clone(), None)));
        }
        // Of several changes of a record the last one counts.
        next.extend(news.records);
        let mut changed = Vec::new();
        for (key, after) in next {
            let before = match &after {
                Some(after) => self.records.insert(key.clone(), after.clone()),
                None => self.records.remove(&key),
            };
            if before != after {
                changed.push(Copied { key, before, after });
            }
        }
        changed
    }

    /// Returns the keys of all records of a kind, without what says of which kind they are.
    pub(super) fn keys_of(&self, kind: u8) -> Vec<Vec<u8>> {
        let first = Bytes::copy_from_slice(&[kind]);
        let of_kind =
            self.records.range(first..).map(|(key, _)| key).take_while(|key| key.first() == Some(&kind));
        of_kind.map(|key| key[1..].to_vec()).collect()
    }

    /// Takes note of what this process itself has had stored, and shows by itself.
    pub(super) fn note(&mut self, number: u64, records: Vec<Written>) {
        self.number = number;
        for (key, value) in records {
            match value {
                Some(value) => drop(self.records.insert(key, value)),
                None => drop(self.records.remove(&key)),
            }
        }
    }
}
