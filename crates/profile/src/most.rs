//! The most frequent value of a path, found in bounded space.
//!
//! Space-Saving (Metwally, Agrawal, El Abbadi 2005): a fixed number of values is counted; one that is not among them
//! takes the place of the least frequent and starts from its count, which is noted as what it may be overestimated by.
//! What is told is never too high: the overestimate is taken off, unless the true count is known from elsewhere.

use armilla_value::{Value, json};

/// What a place takes beside the text of its value.
const PLACE_BYTES: usize = 72;

/// The values that may be the most frequent.
#[derive(Debug, Default)]
pub(crate) struct Most {
    places: Vec<Place>,
    value_bytes: usize,
}

#[derive(Debug)]
struct Place {
    hash: u64,
    value: Value,
    bytes: usize,
    count: u64,
    overestimate: u64,
}

impl Most {
    /// Counts a value that is this long as JSON.
    pub(crate) fn add(&mut self, hash: u64, value: &Value, bytes: usize, limit: usize) {
        if let Some(place) = self.places.iter_mut().find(|place| place.hash == hash) {
            place.count += 1;
            return;
        }
        self.value_bytes += bytes;
        if self.places.len() < limit {
            self.places.push(Place { hash, value: value.clone(), bytes, count: 1, overestimate: 0 });
            return;
        }
        if let Some(place) = self.places.iter_mut().min_by_key(|place| place.count) {
            self.value_bytes -= place.bytes;
            let least = place.count;
            *place = Place { hash, value: value.clone(), bytes, count: least + 1, overestimate: least };
        }
    }

    /// Drops the least frequent until no more are counted than these.
    pub(crate) fn shrink(&mut self, limit: usize) {
        if self.places.len() <= limit {
            return;
        }
        self.places.sort_by_key(|place| std::cmp::Reverse(place.count));
        self.places.truncate(limit);
        self.places.shrink_to_fit();
        self.value_bytes = self.places.iter().map(|place| place.bytes).sum();
    }

    /// Returns the most frequent value and how often it came; `exact` knows the true count of some by their hashes.
    /// Of equally frequent ones it is the first by its text.
    pub(crate) fn best(self, exact: impl Fn(u64) -> Option<u64>) -> Option<(Value, u64)> {
        let count = |place: &Place| exact(place.hash).unwrap_or(place.count - place.overestimate);
        let most = self.places.iter().map(count).max()?;
        let mut best: Vec<Value> =
            self.places.into_iter().filter(|place| count(place) == most).map(|place| place.value).collect();
        best.sort_by_cached_key(json::to_string);
        best.into_iter().next().map(|value| (value, most))
    }

    /// Returns the bytes that this takes, at most.
    pub(crate) fn cost(&self) -> usize {
        match self.places.len() {
            0 => 0,
            places => places.next_power_of_two().max(4) * PLACE_BYTES + self.value_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;

    fn most(values: &[&str], limit: usize) -> Most {
        let mut most = Most::default();
        for value in values {
            most.add(hash::of_text(value), &Value::from(*value), value.len(), limit);
        }
        most
    }

    #[test]
    fn the_most_frequent_value_is_exact_while_all_have_a_place() {
        let unknown = |_| None;
        assert_eq!(most(&[], 4).best(unknown), None);
        assert_eq!(most(&["a", "b", "b", "c"], 4).best(unknown), Some((Value::from("b"), 2)));
        assert_eq!(
            most(&["b", "a", "c"], 4).best(unknown),
            Some((Value::from("a"), 1)),
            "the first by its text"
        );
    }

    #[test]
    fn beyond_that_it_is_never_told_too_high() {
        let values: Vec<String> = (0..1_000).map(|number| format!("{number}")).collect();
        let mut texts: Vec<&str> = values.iter().map(String::as_str).collect();
        assert_eq!(most(&texts, 4).best(|_| None).map(|(_, count)| count), Some(1));
        for place in 0..400 {
            texts.insert(place * 3, "x");
        }
        let (value, count) = most(&texts, 4).best(|_| None).unwrap();
        assert_eq!(value, Value::from("x"));
        assert!((100..=400).contains(&count), "{count}");
        assert_eq!(most(&texts, 4).best(|_| Some(7)).map(|(_, count)| count), Some(7));
    }

    #[test]
    fn shrinking_keeps_the_most_frequent() {
        let mut most = most(&["a", "b", "b", "c", "c", "c", "long value"], 8);
        assert_eq!(most.cost(), 4 * PLACE_BYTES + 13);
        most.shrink(2);
        assert_eq!(most.cost(), 4 * PLACE_BYTES + 2);
        assert_eq!(most.best(|_| None), Some((Value::from("c"), 3)));
    }
}
