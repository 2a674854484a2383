//! The items that all parts read and write: the same bodies, keys and stored forms everywhere.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use armilla_env::Random;
use armilla_value::{Component, PartitionKey};

/// Items of one logical partition.
const ITEMS_PER_PARTITION_KEY: usize = 10;

/// The names of everything.
pub(crate) const DATABASE: &str = "bench";
pub(crate) const CONTAINER: &str = "items";

/// Properties of a flat item, besides its id and its partition key.
pub(crate) const FLAT_PROPERTIES: usize = 30;

/// What an item looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A few properties, a list, an object, and text to fill it up to so many bytes.
    Order { item_bytes: usize },
    /// Many short properties `p00`, `p01` and so on, all of them in the item itself.
    Flat,
}

/// The items of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Items {
    pub(crate) count: usize,
    shape: Shape,
}

impl Items {
    pub(crate) fn new(count: usize, item_bytes: usize) -> Result<Items> {
        ensure!(count > 0, "there must be an item");
        let items = Items { count, shape: Shape::Order { item_bytes } };
        // Odd items are the longest ones.
        let least = items.order(1, 0, 0).len();
        ensure!(item_bytes >= least, "an item has at least {least} bytes");
        Ok(items)
    }

    /// Returns items with many short properties, of about 430 bytes.
    pub(crate) fn flat(count: usize) -> Result<Items> {
        ensure!(count > 0, "there must be an item");
        Ok(Items { count, shape: Shape::Flat })
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
        match self.shape {
            Shape::Order { item_bytes } => {
                let filling = item_bytes - self.order(index, version, 0).len();
                self.order(index, version, filling)
            }
            Shape::Flat => self.flat_body(index, version),
        }
    }

    fn flat_body(self, index: usize, version: u64) -> String {
        let mut text = format!("{{\"id\":\"{}\",\"customer\":\"{}\"", self.id(index), self.key(index));
        let mut random = Random::of_part(index as u64, version);
        for property in 0..FLAT_PROPERTIES {
            // Writing to a string cannot fail.
            let _ = write!(text, ",\"{}\":", flat_property(property));
            if property.is_multiple_of(2) {
                let _ = write!(text, "{}", 10_000 + random.below(90_000));
            } else {
                text.push('"');
                random.push_text(4, &mut text);
                text.push('"');
            }
        }
        text.push('}');
        text
    }

    fn order(self, index: usize, version: u64, filling: usize) -> String {
        let mut text = String::with_capacity(512);
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

/// Finds the orders in a text, such as a page of them: the index and the version of each, the latter below a million.
pub(crate) fn find_orders(text: &str) -> impl Iterator<Item = (usize, u64)> {
    const ID: &str = "{\"id\":\"item-";
    const VERSION: &str = "\"version\":1";
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[rest.find(ID)? + ID.len()..];
        let index = rest.get(..8)?.parse().ok()?;
        rest = &rest[rest.find(VERSION)? + VERSION.len()..];
        Some((index, rest.get(..6)?.parse().ok()?))
    })
}

/// Returns which of so many items comes at some position of a pass in which none comes twice, and no two that follow each
/// other are near each other. Passes differ in their order.
pub(crate) fn scattered(count: usize, pass: usize, position: usize) -> usize {
    const GOLDEN_RATIO: f64 = 0.618_033_988_75;
    let is_coprime = |stride: usize| {
        let (mut larger, mut smaller) = (count, stride);
        while smaller > 0 {
            (larger, smaller) = (smaller, larger % smaller);
        }
        larger == 1
    };
    let least = (count as f64 * GOLDEN_RATIO / (pass + 1) as f64) as usize;
    let stride = (least.max(1)..).find(|stride| is_coprime(*stride)).expect("there is always a larger prime");
    (position as u128 * stride as u128 % count as u128) as usize
}

/// Returns the name of a property of a flat item.
pub(crate) fn flat_property(number: usize) -> String {
    format!("p{number:02}")
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
        let least = items.order(1, 0, 0).len();
        assert!(Items::new(1, least).is_ok());
        assert!(Items::new(1, least - 1).is_err());
    }

    #[test]
    fn orders_are_found_in_a_page() {
        let items = Items::new(100, 400).unwrap();
        let expected = [(0, 0), (99, 999_999), (7, 12)];
        let bodies = expected.map(|(index, version)| items.body(index, version));
        let page = format!("{{\"Documents\":[{}],\"_count\":3}}", bodies.join(","));
        assert_eq!(find_orders(&page).collect::<Vec<_>>(), expected);
        for text in
            ["", "{}", "{\"id\":\"item-0000", "{\"id\":\"item-00000001\"", "{\"id\":\"item-0000000x\"}"]
        {
            assert_eq!(find_orders(text).count(), 0, "{text}");
        }
    }

    #[test]
    fn every_item_has_one_place_in_a_pass() {
        for count in [1, 2, 3, 10, 97, 1_000, 4_096] {
            for pass in [0, 1, 9] {
                let mut seen: Vec<_> = (0..count).map(|position| scattered(count, pass, position)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "{count} items, pass {pass}");
            }
        }
        assert_ne!(scattered(1_000, 1, 5), scattered(1_000, 2, 5));
    }

    #[test]
    fn flat_items_have_their_properties() {
        let items = Items::flat(1_000).unwrap();
        for (index, version) in [(0, 0), (999, 7)] {
            let body = items.body(index, version);
            assert!((400..450).contains(&body.len()), "{}", body.len());
            let parsed = json::parse(body.as_bytes()).unwrap();
            assert_eq!(parsed.as_object().unwrap().len(), FLAT_PROPERTIES + 2);
            assert_eq!(parsed.get("id").unwrap().as_str(), Some(items.id(index).as_str()));
            assert!(parsed.get(&flat_property(FLAT_PROPERTIES - 1)).is_some());
        }
        assert!(Items::flat(0).is_err());
    }
}
