use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

fn hundredths(amount: u64) -> RequestUnits {
    RequestUnits::from_hundredths(amount)
}

fn names(keys: &[HotKey]) -> Vec<String> {
    keys.iter().map(|key| String::from_utf8_lossy(&key.logical).into_owned()).collect()
}

#[test]
fn few_keys_are_exact_and_ordered_by_charge() {
    let mut hot = HotKeys::default();
    for (key, charge) in [("b", 5), ("a", 5), ("c", 7), ("b", 1), ("free", 0)] {
        hot.record(0, key.as_bytes(), hundredths(charge));
    }
    let hottest = hot.hottest(0);
    assert_eq!(names(&hottest), ["c", "b", "a"]);
    let amounts: Vec<_> =
        hottest.iter().map(|key| (key.charge.hundredths(), key.overestimate.hundredths())).collect();
    assert_eq!(amounts, [(7, 0), (6, 0), (5, 0)]);
}

#[test]
fn at_most_so_many_are_named_and_counted() {
    let mut hot = HotKeys::default();
    for index in 0..HOT_KEYS_COUNTED {
        hot.record(0, &index.to_le_bytes(), hundredths(100 + index as u64));
    }
    assert_eq!(hot.current.hashes.len(), HOT_KEYS_COUNTED);
    assert!(hot.current.overestimates.iter().all(|guess| *guess == 0), "at the bound all are exact");
    assert_eq!(hot.hottest(0).len(), HOT_KEYS_MAX);
    hot.record(0, b"one more", hundredths(1));
    assert_eq!(hot.current.hashes.len(), HOT_KEYS_COUNTED);
    let place = hot.current.find(hash(b"one more"), b"one more").expect("took a place");
    assert_eq!((hot.current.charges[place], hot.current.overestimates[place]), (101, 100));
    assert!(
        hot.current.find(hash(&0_usize.to_le_bytes()), &0_usize.to_le_bytes()).is_none(),
        "of the smallest"
    );
}

#[test]
fn keys_are_counted_up_to_a_length() {
    let mut hot = HotKeys::default();
    let longest = vec![1; HOT_KEY_BYTES_MAX];
    let longer = vec![2; HOT_KEY_BYTES_MAX + 1];
    hot.record(0, &longest, hundredths(1));
    hot.record(0, &longer, hundredths(1));
    hot.record(0, b"", hundredths(1));
    let lengths: Vec<_> = hot.hottest(0).iter().map(|key| key.logical.len()).collect();
    assert_eq!(lengths, [0, HOT_KEY_BYTES_MAX]);
}

#[test]
fn where_many_keys_cost_alike_none_is_hot_and_one_hot_key_stands_out() {
    let mut hot = HotKeys::default();
    for index in 0_u64..10_000 {
        hot.record(0, &index.to_le_bytes(), hundredths(100));
    }
    assert!(hot.hottest(0).is_empty());
    for index in 0_u64..10_000 {
        hot.record(60, &index.to_le_bytes(), hundredths(100));
        if index % 4 == 0 {
            hot.record(60, b"hot", hundredths(100));
        }
    }
    let hottest = hot.hottest(60);
    assert_eq!(names(&hottest), ["hot"]);
    let charge = hottest[0].charge.hundredths();
    assert!((250_000..300_000).contains(&charge), "{charge}");
}

#[test]
fn a_minute_fades_while_the_next_one_runs() {
    let mut hot = HotKeys::default();
    hot.record(59, b"key", hundredths(6_000));
    for (second, charge) in [(59, 6_000), (60, 6_000), (90, 3_000), (119, 100)] {
        let hottest = hot.hottest(second);
        assert_eq!(hottest[0].charge.hundredths(), charge, "at {second}");
    }
    hot.record(119, b"key", hundredths(1_000));
    assert_eq!(hot.hottest(119)[0].charge.hundredths(), 1_100, "both minutes count");
    assert_eq!(hot.hottest(120)[0].charge.hundredths(), 1_000);
    assert!(hot.hottest(180).is_empty());
    assert!(hot.hottest(-5).is_empty());
}

#[test]
fn keys_that_share_a_hash_stay_apart() {
    let mut sketch = Sketch::default();
    sketch.add(b"one", 5);
    sketch.add(b"two", 7);
    // As if both hashed alike.
    let shared = hash(b"one");
    sketch.hashes[1] = shared;
    assert_eq!(sketch.find(shared, b"one"), Some(0));
    assert_eq!(sketch.find(shared, b"two"), Some(1));
    assert_eq!(sketch.find(shared, b"three"), None);
}

#[test]
fn hashes_differ_for_keys_that_differ_little() {
    let mut seen = HashMap::new();
    for length in 0..40_usize {
        for last in 0..4_u8 {
            let mut key = vec![0; length];
            if let Some(byte) = key.last_mut() {
                *byte = last;
            }
            if length > 0 || last == 0 {
                assert_eq!(seen.insert(hash(&key), key.clone()), None, "{key:?}");
            }
        }
    }
}

proptest! {
    /// The true charge lies within what is shown, and every key with more than one part in 64 is counted.
    #[test]
    fn estimates_hold_for_any_stream(stream in prop::collection::vec((0_u16..400, 1_u64..1_000), 1..2_000)) {
        let mut sketch = Sketch::default();
        let mut truth: HashMap<u16, u64> = HashMap::new();
        for (key, charge) in &stream {
            sketch.add(&key.to_le_bytes(), *charge);
            *truth.entry(*key).or_default() += charge;
        }
        let total: u64 = truth.values().sum();
        let counted: HashMap<Vec<u8>, Count> = sketch.counts().map(|(key, count)| (key.to_vec(), count)).collect();
        prop_assert!(counted.len() <= HOT_KEYS_COUNTED);
        prop_assert_eq!(counted.values().map(|count| count.charge).sum::<u64>(), total);
        for (key, charge) in truth {
            match counted.get(&key.to_le_bytes()[..]) {
                Some(count) => {
                    prop_assert!(charge <= count.charge && charge >= count.charge - count.overestimate);
                }
                None => prop_assert!(charge <= total / HOT_KEYS_COUNTED as u64),
            }
        }
    }
}
