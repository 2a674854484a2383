use super::*;
use crate::testing::{Chance, sample};

#[track_caller]
fn key(paths: &[&[&str]], items: &[impl AsRef<[u8]>]) -> KeyProfile {
    sample(paths, items).0.key
}

#[test]
fn what_keys_look_like() {
    let told = key(
        &[&["at", "key"]],
        &[
            r#"{"id":"1","at":{"key":"2024-05-31"}}"#,
            r#"{"id":"2","at":{"key":"2"}}"#,
            r#"{"id":"3","at":{"key":7}}"#,
            r#"{"id":"4","at":{"key":7.0}}"#,
            r#"{"id":"5","at":{"key":null}}"#,
            r#"{"id":"6","at":5}"#,
            r#"{"id":"7","at":{"key":[1]}}"#,
        ],
    );
    assert_eq!(told.distinct, 5, "a date, a text, a number, null, and none");
    assert_eq!((told.missing, told.numbers, told.texts), (3, 2, 2));
    assert_eq!((told.ids, told.dates, told.bytes_max, told.prefix_shared), (1, 1, 10, 0));
    let keys: Vec<(&str, u64)> = told.largest.iter().map(|(key, items, _)| (key.as_str(), *items)).collect();
    assert_eq!(keys, [("[7]", 2), ("[{}]", 2), ("[\"2024-05-31\"]", 1), ("[null]", 1), ("[\"2\"]", 1)]);
}

#[test]
fn a_key_of_several_levels() {
    let told = key(
        &[&["tenant"], &["id"]],
        &[
            r#"{"id":"1","tenant":"2024-01-01"}"#,
            r#"{"id":"2","tenant":5}"#,
            r#"{"id":"3"}"#,
            r#"{"tenant":null}"#,
        ],
    );
    assert_eq!((told.distinct, told.missing, told.numbers, told.texts), (4, 1, 0, 1));
    assert_eq!((told.ids, told.dates, told.bytes_max), (3, 1, 11));
    assert_eq!(told.largest[0].0, "[\"2024-01-01\",\"1\"]");
}

#[test]
fn without_a_partition_key_there_is_nothing_to_tell() {
    assert_eq!(key(&[], &[r#"{"id":"1"}"#]), KeyProfile::default());
}

#[test]
fn long_keys_that_begin_alike() {
    let item = |key: String| format!(r#"{{"id":"1","key":"{key}"}}"#);
    let x = "x".repeat(KEY_PREFIX_BYTES);
    let shorter = "x".repeat(KEY_PREFIX_BYTES - 1);
    let told = key(
        &[&["key"]],
        &[
            item(x.clone()),
            item(format!("{x}a")),
            item(format!("{x}b")),
            item(format!("{x}b")),
            item(shorter.clone()),
            item(format!("{shorter}ya")),
        ],
    );
    assert_eq!((told.distinct, told.prefix_shared), (5, 3));
}

#[test]
fn keys_that_grow_with_the_time_of_writing() {
    let series = |key: &dyn Fn(i64) -> String| {
        let items: Vec<String> = (0..50)
            .map(|time| format!(r#"{{"id":"{time}","key":{},"_ts":{}}}"#, key(time), 1_000 + time))
            .collect();
        super::tests::key(&[&["key"]], &items).monotone
    };
    assert_eq!(series(&|time| format!("{time}")), 1.0);
    assert_eq!(series(&|time| format!("{}", -time)), -1.0);
    let by_day = series(&|time| format!("\"2024-01-{:02}\"", time / 2 + 1));
    assert!((0.99..1.0).contains(&by_day), "{by_day}");
    assert_eq!(series(&|_| "7".to_owned()), 0.0);
    let mut chance = Chance(1);
    let numbers: Vec<u64> = (0..50).map(|_| chance.below(1_000)).collect();
    assert!(series(&|time| format!("{}", numbers[time as usize])).abs() < 0.5);
}

#[test]
fn the_largest_partition_is_found_among_more_than_can_be_counted() {
    let count = DISTINCT_EXACT_MAX + 500;
    let mut items = Vec::new();
    for number in 0..count {
        items.push(format!(r#"{{"id":"{number}","key":"small {number}"}}"#));
        if number % 10 == 0 {
            items.push(format!(r#"{{"id":"{number}","key":"large"}}"#));
        }
    }
    let told = key(&[&["key"]], &items);
    let (text, items, bytes) = &told.largest[0];
    let one = r#"{"id":"1000","key":"large"}"#.len() as u64;
    assert_eq!(text, "[\"large\"]");
    assert!((count as u64 / 20..=count as u64 / 10 + 1).contains(items), "{items}");
    assert!(*bytes <= one * (count as u64 / 10 + 1), "{bytes}");
    assert_eq!(told.largest.len(), LARGEST_MAX);
    let error = told.distinct as f64 / (count + 1) as f64 - 1.0;
    assert!(error.abs() < 0.05, "{error}");
}

#[test]
fn a_long_key_is_cut_when_it_is_told() {
    let item = |length| format!(r#"{{"key":"{}"}}"#, "é".repeat(length));
    let told = key(&[&["key"]], &[item(1_000)]);
    assert_eq!(told.largest[0].0.len(), KEY_TEXT_BYTES_MAX);
    assert_eq!(told.bytes_max, 2_000);
}
