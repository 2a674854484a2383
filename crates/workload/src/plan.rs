//! What workers do: the kinds of operations of a workload, and which comes next.
//!
//! A plan knows items and no side: the same operations, drawn from the same seed, go to every side.

use armilla_env::Random;

use crate::items::Items;
use crate::queries::Query;
use crate::words::push_words;

/// Logical partitions of the workload `script`, each with its counter.
pub(crate) const SCRIPT_KEYS: usize = 256;

/// The id of the item that counts, in every logical partition.
pub(crate) const COUNTER: &str = "counter";

/// Bytes of filling in an entry.
const ENTRY_NOTE_BYTES: usize = 200;

/// What a measurement does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Reads items by id and key.
    PointRead,
    /// Writes new versions of items.
    Write,
    /// Does both.
    Mixed {
        /// Of a hundred operations.
        read_percent: u8,
    },
    /// Asks one query.
    Query(Query),
    /// Puts an entry in and counts it, in one transaction.
    Script,
}

/// One operation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Operation {
    /// Reads an item.
    Read {
        /// Which.
        index: usize,
    },
    /// Writes an item, whether it is there or not.
    Write {
        /// Which.
        index: usize,
        /// Its new version.
        version: u64,
    },
    /// Asks a query to its end.
    Query {
        /// Which.
        query: Query,
        /// The item that it is about.
        index: usize,
    },
    /// Puts an entry in and counts it.
    AddEntry(Entry),
}

/// An entry of the workload `script`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The value of the partition key.
    pub(crate) customer: String,
    /// The item.
    pub(crate) json: String,
}

impl Plan {
    /// Returns the names of the kinds of operations.
    pub(crate) fn kinds(self) -> &'static [&'static str] {
        match self {
            Plan::PointRead => &["read"],
            Plan::Write => &["write"],
            Plan::Mixed { .. } => &["read", "write"],
            Plan::Query(_) => &["query"],
            Plan::Script => &["execute"],
        }
    }

    /// Returns one stream of operations, which differs from all others of the seed.
    pub(crate) fn draws(self, items: &Items, seed: u64, stream: usize) -> Draws {
        let random = Random::of_part(seed, stream as u64 + 1);
        Draws { plan: self, items: items.clone(), random, stream, sequence: 0 }
    }
}

/// One stream of operations, for one worker.
#[derive(Debug, Clone)]
pub(crate) struct Draws {
    plan: Plan,
    items: Items,
    random: Random,
    stream: usize,
    sequence: u64,
}

impl Draws {
    /// Returns the next operation and its kind.
    pub(crate) fn next(&mut self) -> (usize, Operation) {
        self.sequence += 1;
        let index = self.random.index(self.items.count());
        let write = Operation::Write { index, version: self.sequence };
        match self.plan {
            Plan::PointRead => (0, Operation::Read { index }),
            Plan::Write => (0, write),
            Plan::Mixed { read_percent } => match self.random.below(100) < u64::from(read_percent) {
                true => (0, Operation::Read { index }),
                false => (1, write),
            },
            Plan::Query(query) => (0, Operation::Query { query, index }),
            Plan::Script => (0, Operation::AddEntry(self.entry())),
        }
    }

    fn entry(&mut self) -> Entry {
        let customer = script_customer(self.random.index(SCRIPT_KEYS));
        let (amount, day) = (self.random.below(100_000), self.random.below(366));
        let mut json = format!(
            "{{\"id\":\"entry-{}-{}\",\"customer\":\"{customer}\",\"kind\":\"entry\",\"amount\":{amount},\
             \"day\":{day},\"note\":\"",
            self.stream, self.sequence
        );
        push_words(&mut self.random, ENTRY_NOTE_BYTES, &mut json);
        json.push_str("\"}");
        Entry { customer, json }
    }
}

/// Returns a logical partition of the workload `script`.
pub(crate) fn script_customer(key: usize) -> String {
    format!("customer-{key:04}")
}

/// Returns the item that counts in a logical partition.
pub(crate) fn counter_json(customer: &str) -> String {
    format!(r#"{{"id":"{COUNTER}","customer":"{customer}","kind":"counter","count":0}}"#)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use armilla_value::json;

    use super::*;

    fn operations(plan: Plan, stream: usize, count: usize) -> Vec<(usize, Operation)> {
        let items = Items::new(1_000, 400, 1).unwrap();
        let mut draws = plan.draws(&items, 9, stream);
        (0..count).map(|_| draws.next()).collect()
    }

    #[test]
    fn a_seed_repeats_the_operations_and_streams_differ() {
        let plan = Plan::Mixed { read_percent: 50 };
        assert_eq!(operations(plan, 0, 20), operations(plan, 0, 20));
        assert_ne!(operations(plan, 0, 20), operations(plan, 1, 20));
    }

    #[test]
    fn shares_of_a_mix() {
        for (read_percent, expected) in [(0, 0..=0), (100, 1_000..=1_000), (80, 740..=860)] {
            let drawn = operations(Plan::Mixed { read_percent }, 3, 1_000);
            let reads = drawn.iter().filter(|(kind, _)| *kind == 0).count();
            assert!(expected.contains(&reads), "{read_percent}: {reads}");
            assert!(drawn.iter().all(|(kind, one)| (*kind == 0) == matches!(one, Operation::Read { .. })));
        }
    }

    #[test]
    fn kinds_are_known() {
        let plans = [Plan::PointRead, Plan::Write, Plan::Mixed { read_percent: 50 }, Plan::Script];
        for plan in plans.into_iter().chain(Query::ALL.map(Plan::Query)) {
            let drawn = operations(plan, 0, 100);
            assert!(drawn.iter().all(|(kind, _)| *kind < plan.kinds().len()), "{plan:?}");
        }
    }

    #[test]
    fn entries_are_json_with_ids_of_their_own() {
        let mut ids = BTreeSet::new();
        for stream in 0..3 {
            for (_, operation) in operations(Plan::Script, stream, 50) {
                let Operation::AddEntry(entry) = operation else { panic!("{operation:?}") };
                let parsed = json::parse(entry.json.as_bytes()).unwrap();
                assert_eq!(parsed.get("customer").unwrap().as_str(), Some(entry.customer.as_str()));
                assert!(ids.insert(parsed.get("id").unwrap().as_str().unwrap().to_owned()));
            }
        }
        assert!(json::parse(counter_json("a").as_bytes()).is_ok());
    }
}
