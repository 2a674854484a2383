//! The items that all sides hold: orders, the same from the same seed, each made up when it is needed.
//!
//! Properties differ in how many items share a value, which is what queries are about: `customer` (the partition key) a
//! few, `city` one of two hundred, `category` one of twenty, `sequence` none.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::{Result, ensure};
use armilla_env::Random;

use crate::words::push_words;

/// Items of one logical partition.
pub(crate) const ITEMS_PER_KEY: usize = 20;

const CATEGORIES: usize = 20;
const CITIES: usize = 200;

/// Characters of filling text, of which every item has a part.
const FILLING_BYTES: usize = 64 * 1024;

/// The items of a run.
#[derive(Debug, Clone)]
pub(crate) struct Items {
    count: usize,
    item_bytes: usize,
    seed: u64,
    filling: Arc<str>,
}

impl Items {
    /// Returns so many items of so many bytes.
    pub(crate) fn new(count: usize, item_bytes: usize, seed: u64) -> Result<Items> {
        ensure!(count > 0, "there must be an item");
        let mut filling = String::new();
        push_words(&mut Random::of_part(seed, 0), FILLING_BYTES + item_bytes, &mut filling);
        let items = Items { count, item_bytes, seed, filling: filling.into() };
        let least = Items::LEAST_BYTES;
        ensure!(item_bytes >= least, "--item-bytes is {item_bytes}, but an item has at least {least} bytes");
        Ok(items)
    }

    /// Bytes of an item without filling; all properties have a fixed width but `open`.
    pub(crate) const LEAST_BYTES: usize = 300;

    /// Returns how many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns how many logical partitions there are.
    pub(crate) fn key_count(&self) -> usize {
        self.count.div_ceil(ITEMS_PER_KEY)
    }

    /// Returns the items of a logical partition.
    pub(crate) fn of_key(&self, key: usize) -> std::ops::Range<usize> {
        key * ITEMS_PER_KEY..((key + 1) * ITEMS_PER_KEY).min(self.count)
    }

    /// Returns the id of an item.
    pub(crate) fn id(&self, index: usize) -> String {
        format!("item-{index:09}")
    }

    /// Returns the value of an item's partition key.
    pub(crate) fn customer(&self, index: usize) -> String {
        format!("customer-{:09}", index / ITEMS_PER_KEY)
    }

    /// Returns which of the categories an item has.
    pub(crate) fn category(&self, index: usize) -> String {
        format!("category-{:02}", self.random(index, 1).index(CATEGORIES))
    }

    /// Returns which of the cities an item has.
    pub(crate) fn city(&self, index: usize) -> String {
        format!("city-{:03}", self.random(index, 2).index(CITIES))
    }

    /// Returns the choices of one item, the same whenever it is asked for.
    fn random(&self, index: usize, part: u64) -> Random {
        Random::of_part(self.seed ^ part.rotate_right(8), index as u64)
    }

    /// Returns an item's JSON; versions of an item differ in the version alone.
    pub(crate) fn body(&self, index: usize, version: u64) -> String {
        let mut random = self.random(index, 3);
        let mut text = String::with_capacity(self.item_bytes + 16);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"id\":\"{}\",\"customer\":\"{}\",\"kind\":\"order\",\"category\":\"{}\",\"city\":\"{}\",\
             \"sequence\":{index},\"version\":{version},\"price\":{}.25,\"open\":{},\
             \"lines\":[{{\"sku\":\"A-{:04}\",\"count\":{}}},{{\"sku\":\"B-{:04}\",\"count\":{}}}],\"note\":\"",
            self.id(index),
            self.customer(index),
            self.category(index),
            self.city(index),
            100 + random.below(900),
            random.below(2) == 0,
            random.below(10_000),
            1 + random.below(9),
            random.below(10_000),
            1 + random.below(9),
        );
        let length = self.item_bytes.saturating_sub(text.len() + 2);
        let start = random.index(FILLING_BYTES);
        text.push_str(&self.filling[start..start + length]);
        text.push_str("\"}");
        text
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use armilla_value::json;

    use super::*;

    #[test]
    fn items_have_the_asked_length_and_their_properties() {
        for item_bytes in [Items::LEAST_BYTES, 400, 1_000, 100_000] {
            let items = Items::new(1_000_000, item_bytes, 7).unwrap();
            for index in [0, 19, 20, 999_999] {
                for version in [0, 12_345_678_901] {
                    let body = items.body(index, version);
                    assert_eq!(body.len(), item_bytes);
                    let parsed = json::parse(body.as_bytes()).unwrap();
                    let text = |name: &str| parsed.get(name).unwrap().as_str().unwrap().to_owned();
                    assert_eq!(text("id"), items.id(index));
                    assert_eq!(text("customer"), items.customer(index));
                    assert_eq!(text("city"), items.city(index));
                    assert_eq!(text("category"), items.category(index));
                    assert_eq!(parsed.get("sequence").unwrap().as_i64(), Some(index as i64));
                }
            }
        }
    }

    #[test]
    fn sizes_at_the_bound_and_one_past() {
        assert!(Items::new(1, Items::LEAST_BYTES, 1).is_ok());
        assert!(Items::new(1, Items::LEAST_BYTES - 1, 1).is_err());
        assert!(Items::new(0, 400, 1).is_err());
    }

    #[test]
    fn logical_partitions_cover_all_items() {
        for count in [1, 19, 20, 21, 1_000] {
            let items = Items::new(count, 400, 1).unwrap();
            let covered: Vec<usize> = (0..items.key_count()).flat_map(|key| items.of_key(key)).collect();
            assert!(covered.into_iter().eq(0..count), "{count}");
            assert!(items.of_key(0).all(|index| items.customer(index) == items.customer(0)));
        }
    }

    #[test]
    fn values_spread() {
        let items = Items::new(20_000, 400, 1).unwrap();
        let cities: BTreeSet<_> = (0..20_000).map(|index| items.city(index)).collect();
        let categories: BTreeSet<_> = (0..20_000).map(|index| items.category(index)).collect();
        assert_eq!((cities.len(), categories.len()), (CITIES, CATEGORIES));
        assert_eq!(items.body(5, 1), Items::new(20_000, 400, 1).unwrap().body(5, 1));
        assert_ne!(items.body(5, 1), Items::new(20_000, 400, 2).unwrap().body(5, 1));
    }
}
