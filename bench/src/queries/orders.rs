//! The items that queries are about: orders of about 400 bytes whose properties differ in how many values they have.

use std::fmt::Write as _;

use armilla_env::Random;
use armilla_value::{Component, PartitionKey};

/// Values of the partition key.
const CUSTOMERS: usize = 10_000;
const CATEGORIES: usize = 20;
const CITIES: usize = 1_000;
const TAGS: u64 = 200;
/// Tags of one order, all different.
const TAGS_PER_ORDER: usize = 3;
/// Orders with the same zip code, about.
const ORDERS_PER_ZIP: usize = 10;
const STATUSES: [&str; 5] = ["new", "paid", "packed", "shipped", "returned"];

/// The time of the first order and the milliseconds to the next.
const TS_FIRST: i64 = 1_700_000_000_000;
const TS_STEP: i64 = 137;

/// One name in so many has the letters that the scan looks for.
const RARE_NAME: u64 = 1_000;
const WORDS: [&str; 24] = [
    "Amber", "Basket", "Copper", "Desk", "Ember", "Fountain", "Garden", "Harbour", "Indigo", "Jasmine",
    "Kettle", "Lantern", "Maple", "Needle", "Orchard", "Pebble", "Quilt", "River", "Saddle", "Timber",
    "Umber", "Velvet", "Willow", "Yarrow",
];

/// The orders of a run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Orders {
    pub(super) count: usize,
}

impl Orders {
    /// Returns the choices of one order, the same whenever it is asked for.
    fn random(self, index: usize, part: u64) -> Random {
        Random::of_part(index as u64, part)
    }

    pub(super) fn customer(self, index: usize) -> String {
        format!("customer-{:05}", self.random(index, 1).index(CUSTOMERS))
    }

    pub(super) fn partition_key(self, index: usize) -> PartitionKey {
        PartitionKey(vec![Component::String(self.customer(index))])
    }

    pub(super) fn category(self, index: usize) -> String {
        format!("category-{:02}", self.random(index, 2).index(CATEGORIES))
    }

    pub(super) fn city(self, index: usize) -> String {
        format!("city-{:04}", self.random(index, 3).index(CITIES))
    }

    pub(super) fn zip(self, index: usize) -> String {
        let zips = (self.count / ORDERS_PER_ZIP).max(1);
        format!("{:06}", self.random(index, 4).index(zips))
    }

    /// Returns the time of an order: later for each one.
    pub(super) fn ts(self, index: usize) -> i64 {
        TS_FIRST + TS_STEP * index as i64
    }

    pub(super) fn tags(self, index: usize) -> [String; TAGS_PER_ORDER] {
        let mut random = self.random(index, 5);
        let mut chosen = [u64::MAX; TAGS_PER_ORDER];
        for position in 0..TAGS_PER_ORDER {
            let fresh = loop {
                let tag = random.below(TAGS);
                if !chosen.contains(&tag) {
                    break tag;
                }
            };
            chosen[position] = fresh;
        }
        chosen.map(|tag| format!("tag-{tag:03}"))
    }

    fn name(self, index: usize) -> String {
        let mut random = self.random(index, 6);
        let mut name = String::with_capacity(48);
        for _ in 0..3 {
            name.push_str(WORDS[random.index(WORDS.len())]);
            name.push(' ');
        }
        name.push_str(if random.below(RARE_NAME) == 0 { "PUZZLE" } else { "Set" });
        name
    }

    pub(super) fn id(self, index: usize) -> String {
        format!("order-{index:08}")
    }

    /// Returns an order; versions differ in the quantity alone, which no query asks for.
    pub(super) fn body(self, index: usize, version: u64) -> String {
        let mut random = self.random(index, 7);
        let tags = self.tags(index);
        let mut text = String::with_capacity(512);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{{\"id\":\"{}\",\"pk\":\"{}\",\"category\":\"{}\",\"status\":\"{}\",\
             \"price\":{}.{:02},\"quantity\":{},\"ts\":{},\"city\":\"{}\",\
             \"tags\":[\"{}\",\"{}\",\"{}\"],\"address\":{{\"street\":\"{} {} Street\",\"zip\":\"{}\"}},\
             \"name\":\"{}\",\"note\":\"",
            self.id(index),
            self.customer(index),
            self.category(index),
            STATUSES[random.index(STATUSES.len())],
            1 + random.below(999),
            random.below(100),
            1 + (random.below(9) + version) % 9,
            self.ts(index),
            self.city(index),
            tags[0],
            tags[1],
            tags[2],
            1 + random.below(200),
            WORDS[random.index(WORDS.len())],
            self.zip(index),
            self.name(index),
        );
        random.push_text(112, &mut text);
        text.push_str("\"}");
        text
    }
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    #[test]
    fn orders_are_what_their_parts_say() {
        let orders = Orders { count: 1_000_000 };
        for index in [0, 1, 4_711, 999_999] {
            let body = orders.body(index, 0);
            assert!((380..430).contains(&body.len()), "{} bytes: {body}", body.len());
            let parsed = json::parse(body.as_bytes()).unwrap();
            let text = |name: &str| parsed.get(name).unwrap().as_str().unwrap().to_owned();
            assert_eq!(text("pk"), orders.customer(index));
            assert_eq!(text("category"), orders.category(index));
            assert_eq!(text("city"), orders.city(index));
            assert_eq!(parsed.get("ts").unwrap().as_i64(), Some(orders.ts(index)));
            assert_eq!(
                parsed.get("address").unwrap().get("zip").unwrap().as_str(),
                Some(&*orders.zip(index))
            );
            let tags = orders.tags(index);
            assert!(tags[0] != tags[1] && tags[1] != tags[2] && tags[0] != tags[2]);
            assert_eq!(body, orders.body(index, 0));
            let next = orders.body(index, 1);
            assert!(next != body && next.len() == body.len(), "{next}");
        }
    }

    #[test]
    fn values_occur_about_as_often_as_they_should() {
        let orders = Orders { count: 20_000 };
        let count = |holds: &dyn Fn(usize) -> bool| (0..orders.count).filter(|index| holds(*index)).count();
        for (found, expected) in [
            (count(&|index| orders.city(index) == "city-0007"), orders.count / CITIES),
            (count(&|index| orders.category(index) == "category-07"), orders.count / CATEGORIES),
            (count(&|index| orders.tags(index).contains(&"tag-017".to_owned())), orders.count * 3 / 200),
            (count(&|index| orders.zip(index) == orders.zip(10_000)), ORDERS_PER_ZIP),
            (count(&|index| orders.name(index).contains("ZZ")), orders.count / RARE_NAME as usize),
        ] {
            assert!(found >= expected / 4 && found <= expected * 3, "{found} instead of {expected}");
        }
    }
}
