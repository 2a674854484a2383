//! Sources in memory behave like those of a container.

use armilla_index::IndexingPolicy;
use armilla_index::paths::PathSegment;
use armilla_value::{HashedKey, PartitionKey, PropertyPath, Value, json};

use super::{MemoryOptions, MemorySource};
use crate::source::{Direction, Source, SystemProperty};

fn value(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

fn items(count: usize) -> Vec<Value> {
    let item = |number: usize| value(&format!(r#"{{"id":"i{number}","pk":"p{}","n":{number}}}"#, number % 7));
    (0..count).map(item).collect()
}

fn by_key() -> MemoryOptions {
    MemoryOptions { partition_key: vec![PropertyPath::parse("/pk").unwrap()], ..MemoryOptions::default() }
}

/// Reads everything in batches of a size.
fn scan(source: &MemorySource, size: usize) -> Vec<(Vec<u8>, u64)> {
    let mut all: Vec<(Vec<u8>, u64)> = Vec::new();
    loop {
        let mut batch = Vec::new();
        let after = all.last().map(|(key, _)| key.clone());
        let has_more = source.scan(after.as_deref(), size, &mut batch).unwrap();
        all.extend(batch.into_iter().map(|(key, item)| (key.to_vec(), item.number)));
        if !has_more {
            return all;
        }
    }
}

#[test]
fn partitions_share_the_items_out() {
    for options in [by_key(), MemoryOptions::default()] {
        for count in [1, 2, 5] {
            let policy = IndexingPolicy::default();
            let sources = MemorySource::partitioned(items(50), &policy, options.clone(), count).unwrap();
            assert_eq!(sources.len(), count as usize);
            assert_eq!(sources[0].bounds().0, HashedKey::MIN);
            assert_eq!(sources.last().unwrap().bounds().1, HashedKey::MAX);
            let mut numbers = Vec::new();
            for (id, source) in (0..).zip(&sources) {
                assert!(source.is_whole() && !source.is_logical());
                assert_eq!(source.range_id(), id);
                assert_eq!(source.item_count(), source.totals().0);
                let found = scan(source, 3);
                assert!(found.is_sorted(), "in the order of keys");
                assert_eq!(found.len() as u64, source.item_count());
                numbers.extend(found.into_iter().map(|(_, number)| number));
            }
            numbers.sort_unstable();
            assert_eq!(numbers, (1..=50).collect::<Vec<u64>>());
        }
    }
}

#[test]
fn a_part_gives_its_own_items_only() {
    let whole = MemorySource::new(items(50), &IndexingPolicy::default(), by_key()).unwrap();
    let logical = whole.logical(&PartitionKey::from_json(br#"["p3"]"#).unwrap());
    assert!(logical.is_logical() && !logical.is_whole());
    assert_eq!((logical.item_count(), logical.totals().0), (7, 50));
    assert_eq!(scan(&logical, 2).len(), 7);
    let mut loaded = Vec::new();
    logical.load(&[4, 5, 99], &mut loaded).unwrap();
    assert_eq!(loaded.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(logical.point("i3").unwrap().unwrap().number, 4);
    assert!(logical.point("i4").unwrap().is_none());

    let middle = HashedKey::from_hex("20000000000000000000000000000000").unwrap();
    let (left, right) = (whole.narrowed(&HashedKey::MIN, &middle), whole.narrowed(&middle, &HashedKey::MAX));
    assert!(!left.is_whole() && !right.is_whole());
    assert_eq!(left.item_count() + right.item_count(), 50);
    assert_eq!(scan(&left, 4).len() as u64, left.item_count());
    assert_eq!(scan(&right, 4).len() as u64, right.item_count());
    // A position from a wider source is one here too.
    let last_left = scan(&left, 50).last().unwrap().0.clone();
    let mut found = Vec::new();
    right.scan(Some(&last_left), 100, &mut found).unwrap();
    assert_eq!(found.len() as u64, right.item_count());
    assert!(whole.narrowed(&HashedKey::MIN, &HashedKey::MAX).is_whole());
}

#[test]
fn entries_come_both_ways_and_in_batches() {
    let source = MemorySource::new(items(20), &IndexingPolicy::default(), by_key()).unwrap();
    let index = armilla_index::IndexId::of_property("n");
    let range = armilla_index::KeyRange::prefix(&index.0.to_be_bytes());
    let mut forward = Vec::new();
    assert!(source.entries(&range, Direction::Forward, 19, &mut forward).unwrap());
    forward.clear();
    assert!(!source.entries(&range, Direction::Forward, 20, &mut forward).unwrap());
    let mut reverse = Vec::new();
    assert!(!source.entries(&range, Direction::Reverse, 21, &mut reverse).unwrap());
    reverse.reverse();
    assert_eq!(forward, reverse);
    assert_eq!(source.index_entries(index).unwrap(), 20);
    let mut numbers = Vec::new();
    assert!(source.numbers(3, 2, &mut numbers).unwrap());
    assert_eq!(numbers, [4, 5]);
    assert!(
        !source
            .entries(&armilla_index::KeyRange::empty(), Direction::Forward, 1, &mut numbers_sink())
            .unwrap()
    );
}

fn numbers_sink() -> Vec<bytes::Bytes> {
    Vec::new()
}

#[test]
fn system_properties_are_added_or_the_documents_own() {
    let text = |source: &MemorySource| {
        let mut loaded = Vec::new();
        source.load(&[1], &mut loaded).unwrap();
        let item = loaded.remove(0).unwrap();
        let mut out = Vec::new();
        source.write_json(&item, &mut out);
        assert_eq!(out.len(), item.json_bytes as usize);
        (value(std::str::from_utf8(&out).unwrap()), source.system(&item, SystemProperty::Rid), item.ts)
    };
    let document = value(r#"{"id":"a","_rid":"own","_ts":7}"#);
    let policy = IndexingPolicy::default();
    let added = MemorySource::new(vec![document.clone()], &policy, MemoryOptions::default()).unwrap();
    let (shown, rid, ts) = text(&added);
    assert_ne!(rid, "own");
    assert_eq!((shown.get("_rid").and_then(Value::as_str), ts), (Some(rid.as_str()), 7));
    assert_eq!(shown.get("_ts").and_then(Value::as_i64), Some(7));

    let feed = MemoryOptions { system_properties: false, ..MemoryOptions::default() };
    let own = MemorySource::new(vec![document.clone()], &policy, feed.clone()).unwrap();
    let (shown, rid, ts) = text(&own);
    assert_eq!((&shown, rid.as_str(), ts), (&document, "own", 7));
    let path = |name: &str| [PathSegment::Property(name.to_owned())];
    assert!(own.is_path_usable(&path("_ts")) && own.is_path_in_policy(&path("_rid")));
    let without = MemorySource::new(vec![value(r#"{"a":1}"#)], &policy, feed).unwrap();
    assert!(!without.is_path_usable(&path("_ts")) && !without.has_undefined_entries(&path("id")));
    let (shown, ..) = text(&MemorySource::new(vec![value("{}")], &policy, MemoryOptions::default()).unwrap());
    assert_eq!(shown.as_object().map(|object| object.len()), Some(5));
}

#[test]
fn computed_properties_are_indexed_where_the_policy_names_them() {
    let policy = IndexingPolicy::from_value(&value(
        r#"{"includedPaths":[{"path":"/*"},{"path":"/twice/?"}],"excludedPaths":[]}"#,
    ))
    .unwrap();
    let twice = |root: armilla_value::Node<'_>| Some(Value::Int64(2 * root.get("n")?.as_i64()?));
    let options = MemoryOptions {
        computed: vec![("twice".to_owned(), twice), ("other".to_owned(), twice)],
        ..MemoryOptions::default()
    };
    let source = MemorySource::new(items(3), &policy, options).unwrap();
    let path = |name: &str| [PathSegment::Property(name.to_owned())];
    assert!(source.is_path_usable(&path("twice")) && !source.is_path_usable(&path("other")));
    assert_eq!(source.index_entries(armilla_index::IndexId::of_property("twice")).unwrap(), 3);
}

#[test]
fn what_is_no_document_is_refused() {
    let error = MemorySource::new(vec![value("1")], &IndexingPolicy::default(), MemoryOptions::default());
    assert!(error.err().unwrap().message.starts_with("document 1 cannot be stored"));
}
