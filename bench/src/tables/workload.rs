//! What is asked of tables, and the entities that are in them.
//!
//! Two tables: one that is loaded and only read, and one that takes what is written, so that reads find the same at the
//! end of a run as at its beginning.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use armilla_env::Random;
use clap::ValueEnum;

/// The table that is read.
pub(super) const READ_TABLE: &str = "reads";

/// The table that is written.
pub(super) const WRITE_TABLE: &str = "writes";

/// Entities under one partition key of the table that is read: as many as a page holds.
pub(super) const PARTITION_ENTITIES: usize = 1_000;

/// Entities of a change set: as many as are allowed.
pub(super) const BATCH_ENTITIES: usize = 100;

/// Inserts of one connection under one partition key.
const INSERTS_PER_PARTITION: u64 = 1_000;

/// Something that is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// One entity, inserted
    Insert,
    /// One entity, read by its keys
    Get,
    /// A page of 1000 entities of one partition key
    Page1000,
    /// A page of 100 entities of one partition key
    Page100,
    /// A change set of 100 inserts
    Batch,
}

impl Case {
    pub(super) const ALL: [Case; 5] = [Case::Insert, Case::Get, Case::Page1000, Case::Page100, Case::Batch];

    pub(super) fn name(self) -> &'static str {
        match self {
            Case::Insert => "insert",
            Case::Get => "point get",
            Case::Page1000 => "partition query, page of 1000",
            Case::Page100 => "partition query, page of 100",
            Case::Batch => "batch of 100",
        }
    }

    /// Returns the name of its figures.
    pub(super) fn key(self) -> &'static str {
        match self {
            Case::Insert => "insert",
            Case::Get => "get",
            Case::Page1000 => "page1000",
            Case::Page100 => "page100",
            Case::Batch => "batch",
        }
    }

    /// Returns the status of a success.
    pub(super) fn status(self) -> u16 {
        match self {
            Case::Insert => 204,
            Case::Get | Case::Page1000 | Case::Page100 => 200,
            Case::Batch => 202,
        }
    }

    /// Returns how many entities an operation is about.
    pub(super) fn entities(self) -> usize {
        match self {
            Case::Insert | Case::Get => 1,
            Case::Page1000 => PARTITION_ENTITIES,
            Case::Page100 | Case::Batch => BATCH_ENTITIES,
        }
    }
}

/// The entities of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entities {
    pub(super) partitions: usize,
    bytes: usize,
}

impl Entities {
    pub(super) fn new(partitions: usize, bytes: usize) -> Result<Entities> {
        let least = body("p", "r", 0, 0).len() + 2 * KEY_BYTES_MAX;
        ensure!(bytes >= least, "an entity has at least {least} bytes");
        Ok(Entities { partitions, bytes })
    }

    /// Returns a partition key of the table that is read.
    pub(super) fn partition_key(self, partition: usize) -> String {
        format!("customer-{partition:05}")
    }

    /// Returns a row key of the table that is read.
    pub(super) fn row_key(self, row: usize) -> String {
        format!("order-{row:05}")
    }

    /// Returns the JSON of an entity.
    pub(super) fn body(self, partition_key: &str, row_key: &str, number: u64) -> String {
        let filling = self.bytes.saturating_sub(body(partition_key, row_key, number, 0).len());
        body(partition_key, row_key, number, filling)
    }
}

/// Room for keys in the least size of an entity.
const KEY_BYTES_MAX: usize = 32;

/// Every type that clients use often, and text to fill it up.
fn body(partition_key: &str, row_key: &str, number: u64, filling: usize) -> String {
    let mut text = String::with_capacity(512);
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "{{\"PartitionKey\":\"{partition_key}\",\"RowKey\":\"{row_key}\",\"status\":\"open\",\"count\":{},\
         \"price\":{}.25,\"paid\":{},\"cents@odata.type\":\"Edm.Int64\",\"cents\":\"{}\",\
         \"ordered@odata.type\":\"Edm.DateTime\",\"ordered\":\"2026-01-{:02}T12:00:00.0000000Z\",\"note\":\"",
        number % 100,
        100 + number % 900,
        number.is_multiple_of(2),
        1_000_000_000_000 + number % 1_000_000,
        1 + number % 28,
    );
    Random::new(number).push_text(filling, &mut text);
    text.push_str("\"}");
    text
}

/// Keys of entities that were never written before: of one connection in one measurement.
pub(super) struct NewKeys {
    prefix: String,
    next: u64,
}

impl NewKeys {
    /// Begins with a prefix that nobody else has.
    pub(super) fn new(measurement: u64, connection: usize) -> NewKeys {
        NewKeys { prefix: format!("m{measurement}-c{connection}"), next: 0 }
    }

    /// Returns the keys of the next insert, and its number.
    pub(super) fn insert(&mut self) -> (String, String, u64) {
        let number = self.next;
        self.next += 1;
        let partition_key = format!("{}-{}", self.prefix, number / INSERTS_PER_PARTITION);
        (partition_key, format!("order-{number:08}"), number)
    }

    /// Returns the partition key of the next change set, and its number.
    pub(super) fn batch(&mut self) -> (String, u64) {
        let number = self.next;
        self.next += 1;
        (format!("{}-{number}", self.prefix), number)
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn entities_have_their_size() {
        let entities = Entities::new(1, 400).unwrap();
        for number in [0, 1, 99, 1_234_567] {
            let text = entities.body(&entities.partition_key(3), &entities.row_key(7), number);
            assert_eq!(text.len(), 400, "{text}");
            let entity = json::parse(text.as_bytes()).unwrap();
            assert_eq!(entity.get("RowKey").unwrap().as_str(), Some("order-00007"));
        }
        assert!(Entities::new(1, 100).is_err());
    }

    #[test]
    fn new_keys_are_new() {
        let mut keys = NewKeys::new(2, 3);
        let first = keys.insert();
        assert_eq!(first, ("m2-c3-0".to_owned(), "order-00000000".to_owned(), 0));
        assert_ne!(keys.insert(), first);
        assert_eq!(keys.batch(), ("m2-c3-2".to_owned(), 2));
    }
}
