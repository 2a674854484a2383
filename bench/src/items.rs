//! The items that all parts read and write: the same bodies, keys and stored forms everywhere.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use armilla_crash::random::Random;
use armilla_value::{Component, PartitionKey};

/// Items of one logical partition.
const ITEMS_PER_PARTITION_KEY: usize = 10;

/// The names of everything.
pub(crate) const DATABASE: &str = "bench";
pub(crate) const CONTAINER: &str = "items";

/// The items of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Items {
    pub(crate) count: usize,
    item_bytes: usize,
}

impl Items {
    pub(crate) fn new(count: usize, item_bytes: usize) -> Result<Items> {
        ensure!(count > 0, "there must be an item");
        let items = Items { count, item_bytes };
        // Odd items are the longest ones.
        let least = items.body_with(1, 0, 0).len();
        ensure!(item_bytes >= least, "an item has at least {least} bytes");
        Ok(items)
    }

    pub(crate) fn id(self, index: usize) -> String {
        format!("item-{index:08}")
    }

    /// Returns the value of the partition key.
    pub(crate) fn key(self, index: usize) -> String {
        format!("customer-{:07}", index / ITEMS_PER_PARTITION_KEY)
    }

    pub(crate) fn partition_key(self, index: usize) -> PartitionKey {
        PartitionKey(vec![Component::String(self.key(index))])
    }

    /// Returns an item's JSON; versions of one item differ in a few properties.
    pub(crate) fn body(self, index: usize, version: u64) -> String {
        let filling = self.item_bytes - self.body_with(index, version, 0).len();
        self.body_with(index, version, filling)
    }

    fn body_with(self, index: usize, version: u64, filling: usize) -> String {
        let mut text = String::with_capacity(self.item_bytes);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"id\":\"{}\",\"customer\":\"{}\",\"kind\":\"order\",\"version\":{},\"price\":{}.25,\
             \"open\":{},\"lines\":[{{\"sku\":\"A-{:04}\",\"count\":{}}},{{\"sku\":\"B-{:04}\",\"count\":{}}}],\
             \"address\":{{\"city\":\"Oslo\",\"zip\":\"{:04}\"}},\"note\":\"",
            self.id(index),
            self.key(index),
            1_000_000 + version % 1_000_000,
            100 + index % 900,
            index.is_multiple_of(2),
            index % 10_000,
            1 + index % 9,
            (index / 7) % 10_000,
            1 + index % 5,
            index % 10_000,
        );
        Random::new(index as u64).push_text(filling, &mut text);
        text.push_str("\"}");
        text
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn items_have_the_asked_length() {
        let items = Items::new(1_000_000, 400).unwrap();
        for index in [0, 1, 9, 10, 999_999] {
            for version in [0, 1, 12_345_678] {
                let body = items.body(index, version);
                assert_eq!(body.len(), 400);
                let parsed = json::parse(body.as_bytes()).unwrap();
                assert_eq!(parsed.get("id").unwrap().as_str(), Some(items.id(index).as_str()));
                assert_eq!(parsed.get("customer").unwrap().as_str(), Some(items.key(index).as_str()));
            }
        }
        assert!(Items::new(1, 10).is_err());
        assert!(Items::new(0, 400).is_err());
        let least = items.body_with(1, 0, 0).len();
        assert!(Items::new(1, least).is_ok());
        assert!(Items::new(1, least - 1).is_err());
    }
}
