//! The documents that all sides hold: the same values everywhere, as BSON for MongoDB's clients and as JSON for the
//! others.
//!
//! Documents of one customer lie far apart in the order in which they were loaded, so that finding them is a search.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use armilla_env::Random;
use armilla_value::{Object, Value};

/// The names of everything.
pub(super) const DATABASE: &str = "bench";
/// What is loaded, read and updated.
pub(super) const LOADED: &str = "orders";
/// What takes the inserts, so that the loaded documents stay as many as they are. It has the same indexes.
pub(super) const ARRIVALS: &str = "arrivals";

/// The members that have an index.
pub(super) const INDEXED: [&str; 3] = ["customer", "sequence", "category"];

/// Documents of one customer.
pub(super) const PER_CUSTOMER: usize = 10;

/// Different categories, which is less than what fits into the first batch of a cursor.
pub(super) const CATEGORIES: usize = 100;

/// Bytes of a document in BSON.
pub(super) const BSON_BYTES: usize = 395;

/// Bytes of text that bring a document to its size.
const NOTE_BYTES: usize = 119;

/// Documents of one second, by their ids: drivers put the time first.
const PER_SECOND: u64 = 1_000;

/// The seconds in which the loaded documents were made, and those that are inserted later.
const LOADED_SECONDS: u32 = 0x6500_0000;
const ARRIVED_SECONDS: u32 = 0x6600_0000;

/// The documents of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Documents {
    pub(super) count: usize,
}

/// Which document is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// One of those that are loaded, in some version.
    Loaded {
        /// Its place.
        index: usize,
        /// Its version.
        version: u64,
    },
    /// One that comes new.
    New {
        /// Who makes it, which no other does.
        stream: u64,
        /// How many came before it.
        sequence: u64,
    },
}

impl Documents {
    pub(super) fn new(count: usize) -> Result<Documents> {
        ensure!(
            count >= CATEGORIES && count.is_multiple_of(PER_CUSTOMER),
            "there are at least {CATEGORIES} documents, {PER_CUSTOMER} for each customer"
        );
        Ok(Documents { count })
    }

    /// Returns the id of a document.
    pub(super) fn id(self, which: Which) -> [u8; 12] {
        let (first, middle, counter) = match which {
            Which::Loaded { index, .. } => (LOADED_SECONDS, 1, index as u64),
            Which::New { stream, sequence } => (ARRIVED_SECONDS, stream, sequence),
        };
        let mut id = [0; 12];
        // Both bounds are far above what a run makes.
        id[..4].copy_from_slice(&first.wrapping_add((counter / PER_SECOND) as u32).to_be_bytes());
        id[4..9].copy_from_slice(&middle.to_be_bytes()[3..]);
        id[9..].copy_from_slice(&counter.to_be_bytes()[5..]);
        id
    }

    /// Returns the customer of a loaded document.
    pub(super) fn customer(self, index: usize) -> String {
        format!("customer-{:07}", index % (self.count / PER_CUSTOMER))
    }

    /// Returns a document for MongoDB's clients.
    pub(super) fn bson(self, which: Which) -> Object {
        let parts = self.parts(which);
        let line = |(sku, count): (String, i32)| {
            let mut line = Object::new();
            line.insert("sku", sku);
            line.insert("count", Value::Int32(count));
            Value::Object(line)
        };
        let mut address = Object::new();
        address.insert("city", "Oslo");
        address.insert("zip", parts.zip);
        let mut document = Object::new();
        document.insert("_id", Value::ObjectId(self.id(which)));
        document.insert("customer", parts.customer);
        document.insert("sequence", Value::Int32(parts.sequence));
        document.insert("category", parts.category);
        document.insert("version", Value::Int32(parts.version));
        document.insert("count", Value::Int32(0));
        document.insert("price", Value::Double(parts.price));
        document.insert("open", parts.open);
        document.insert("lines", Value::Array(parts.lines.into_iter().map(line).collect()));
        document.insert("address", Value::Object(address));
        document.insert("note", parts.note);
        document
    }

    /// Returns a document as JSON, with its id as text.
    pub(super) fn json(self, which: Which) -> String {
        let parts = self.parts(which);
        let mut text = String::with_capacity(512);
        let [(first_sku, first_count), (second_sku, second_count)] = &parts.lines;
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"id\":\"{}\",\"customer\":\"{}\",\"sequence\":{},\"category\":\"{}\",\"version\":{},\"count\":0,\
             \"price\":{},\"open\":{},\"lines\":[{{\"sku\":\"{first_sku}\",\"count\":{first_count}}},\
             {{\"sku\":\"{second_sku}\",\"count\":{second_count}}}],\
             \"address\":{{\"city\":\"Oslo\",\"zip\":\"{}\"}},\"note\":\"{}\"}}",
            hex(&self.id(which)),
            parts.customer,
            parts.sequence,
            parts.category,
            parts.version,
            parts.price,
            parts.open,
            parts.zip,
            parts.note,
        );
        text
    }

    fn parts(self, which: Which) -> Parts {
        let (index, version, customer) = match which {
            Which::Loaded { index, version } => (index, version, self.customer(index)),
            Which::New { stream, sequence } => {
                let index = self.count + sequence as usize;
                (index, 0, format!("new-{:05}-{:06}", stream % 100_000, sequence / PER_CUSTOMER as u64))
            }
        };
        let mut note = String::with_capacity(NOTE_BYTES);
        Random::new(index as u64).push_text(NOTE_BYTES, &mut note);
        Parts {
            customer,
            sequence: i32::try_from(index).unwrap_or(i32::MAX),
            category: format!("category-{:03}", index % CATEGORIES),
            version: (version % 1_000_000) as i32,
            price: (100 + index % 900) as f64 + 0.25,
            open: index.is_multiple_of(2),
            lines: [
                (format!("A-{:04}", index % 10_000), 1 + (index % 9) as i32),
                (format!("B-{:04}", (index / 7) % 10_000), 1 + (index % 5) as i32),
            ],
            zip: format!("{:04}", index % 10_000),
            note,
        }
    }
}

/// What both forms are written of.
struct Parts {
    customer: String,
    sequence: i32,
    category: String,
    version: i32,
    price: f64,
    open: bool,
    lines: [(String, i32); 2],
    zip: String,
    note: String,
}

/// Writes an id as JSON's sides have it.
pub(super) fn hex(id: &[u8; 12]) -> String {
    id.iter().fold(String::with_capacity(24), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Documents that are drawn, one after the other.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    pub(super) documents: Documents,
    random: Random,
    stream: u64,
    sequence: u64,
}

impl Drawn {
    pub(super) fn new(documents: Documents, seed: u64, stream: u64) -> Drawn {
        Drawn { documents, random: Random::of_part(seed, stream), stream, sequence: 0 }
    }

    /// Returns one of the loaded documents, in a version that nothing else has written.
    pub(super) fn loaded(&mut self) -> Which {
        self.sequence += 1;
        Which::Loaded { index: self.random.index(self.documents.count), version: self.sequence }
    }

    /// Returns a document that was never there.
    pub(super) fn arrival(&mut self) -> Which {
        self.sequence += 1;
        Which::New { stream: self.stream, sequence: self.sequence }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use armilla_mongo_wire::bson;
    use armilla_value::json;

    use super::*;

    #[test]
    fn documents_have_their_size_and_both_forms_say_the_same() {
        let documents = Documents::new(100_000).unwrap();
        let all = [0, 1, 99_999].map(|index| Which::Loaded { index, version: 7 });
        for which in all.into_iter().chain([Which::New { stream: 4_097, sequence: 12 }]) {
            let document = documents.bson(which);
            assert_eq!(bson::encoded_bytes(&document), BSON_BYTES);
            let text = documents.json(which);
            assert!((BSON_BYTES - 40..BSON_BYTES + 40).contains(&text.len()), "{}", text.len());
            let parsed = json::parse(text.as_bytes()).unwrap();
            for name in INDEXED.into_iter().chain(["note"]) {
                let (left, right) = (document.get(name).unwrap(), parsed.get(name).unwrap());
                assert_eq!((left.as_str(), left.as_i64()), (right.as_str(), right.as_i64()), "{name}");
            }
            assert_eq!(parsed.get("id").unwrap().as_str(), Some(hex(&documents.id(which)).as_str()));
        }
        assert!(Documents::new(105).is_err());
        assert!(Documents::new(10).is_err());
    }

    #[test]
    fn ids_and_customers() {
        let documents = Documents::new(1_000).unwrap();
        let mut ids: HashSet<_> =
            (0..1_000).map(|index| documents.id(Which::Loaded { index, version: 0 })).collect();
        assert_eq!(ids.len(), 1_000);
        for stream in 0..3 {
            let mut drawn = Drawn::new(documents, 1, stream);
            for _ in 0..5 {
                assert!(ids.insert(documents.id(drawn.arrival())));
            }
        }
        let of_one = (0..1_000).filter(|index| documents.customer(*index) == documents.customer(42));
        assert_eq!(of_one.count(), PER_CUSTOMER);
    }
}
