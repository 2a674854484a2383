//! Lists of entries, their records and their differences.

use std::collections::BTreeSet;

use armilla_value::{Stored, stored};
use proptest::prelude::*;

use super::*;
use crate::definition::ContainerDefinition;

fn layout(policy: &str) -> Layout {
    let text = format!(r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy}}}"#);
    let value = armilla_value::json::parse(text.as_bytes()).unwrap();
    Layout::of(&ContainerDefinition::from_value(&value).unwrap())
}

fn list(item: &str) -> EntryList {
    let bytes = stored::encode(item.as_bytes(), &[]).unwrap();
    EntryList::of(&layout("{}"), Part::Content, Stored::open(&bytes).unwrap().root(), 0, &[])
}

fn item(numbers: &BTreeSet<u32>, texts: &BTreeSet<String>) -> String {
    let numbers: Vec<String> = numbers.iter().rev().map(u32::to_string).collect();
    let texts: Vec<String> = texts.iter().rev().map(|text| format!("{text:?}")).collect();
    format!(r#"{{"id":"1","a":[{}],"b":[{}]}}"#, numbers.join(","), texts.join(","))
}

fn keys(list: &EntryList) -> BTreeSet<Vec<u8>> {
    list.clone().into_keys(7).map(|key| key.to_vec()).collect()
}

proptest! {
    #[test]
    fn differences_are_those_of_sets(
        old in (prop::collection::btree_set(0u32..20, 0..10), prop::collection::btree_set("[a-c]{0,3}", 0..10)),
        new in (prop::collection::btree_set(0u32..20, 0..10), prop::collection::btree_set("[a-c]{0,3}", 0..10)),
    ) {
        let (old, new) = (list(&item(&old.0, &old.1)), list(&item(&new.0, &new.1)));
        let (old_keys, new_keys) = (keys(&old), keys(&new));
        let mut change = EntryChange::default();
        change.add(old, new, 7);
        let of = |comes: bool| -> BTreeSet<Vec<u8>> {
            change.keys.iter().filter(|(_, own)| *own == comes).map(|(key, _)| key.to_vec()).collect()
        };
        prop_assert_eq!(of(true), new_keys.difference(&old_keys).cloned().collect());
        prop_assert_eq!(of(false), old_keys.difference(&new_keys).cloned().collect());
        let ids: BTreeSet<IndexId> = change.counts.iter().map(|(id, _)| *id).collect();
        prop_assert_eq!(ids.len(), change.counts.len(), "every index comes once");
        for (id, by) in &change.counts {
            let count = |keys: &BTreeSet<Vec<u8>>| keys.iter().filter(|key| key.starts_with(&id.0.to_be_bytes())).count();
            prop_assert_eq!(*by, count(&new_keys) as i64 - count(&old_keys) as i64);
        }
    }

    #[test]
    fn records_come_back(numbers in prop::collection::btree_set(0u32..1_000, 0..30), crowded in prop::collection::vec(any::<u64>(), 0..9)) {
        let mut written = list(&item(&numbers, &BTreeSet::new()));
        written.crowded = crowded.into_iter().map(IndexId).collect();
        let bytes = written.encode();
        let read = EntryList::decode(&bytes).unwrap();
        prop_assert_eq!(keys(&read), keys(&written));
        prop_assert_eq!(&read.crowded, &written.crowded);
        for length in 0..bytes.len() {
            // What is cut is refused, or is a shorter list.
            if let Ok(shorter) = EntryList::decode(&bytes[..length]) {
                prop_assert!(shorter.spans.len() < read.spans.len());
            }
        }
    }

    #[test]
    fn no_record_panics(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
        let _ = EntryList::decode(&bytes);
        let _ = EntryList::decode(&[&[FORMAT_VERSION, 0], &bytes[..]].concat());
    }
}

#[test]
fn lists_of_parts_make_one() {
    let bytes = stored::encode(br#"{"id":"1","a":[3,1,2]}"#, &[]).unwrap();
    let root = Stored::open(&bytes).unwrap().root();
    let layout = layout(r#"{"compositeIndexes":[[{"path":"/id"},{"path":"/_ts"}]]}"#);
    let part = |part| EntryList::of(&layout, part, root, 5, &[]);
    let (content, stamp) = (part(Part::Content), part(Part::Stamp));
    assert_eq!((content.spans.len(), stamp.spans.len()), (5, 2));
    let merged = EntryList::merged([content.clone(), stamp.clone()]);
    assert_eq!(keys(&merged), keys(&content).union(&keys(&stamp)).cloned().collect());
    assert!(merged.iter().map(|(_, entry)| entry.to_vec()).is_sorted());
}

#[test]
fn what_is_left_out_depends_on_the_item_alone() {
    let array = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
    let half = CONTENT_ENTRIES_MAX / 2;
    // Two that fit together, two that do not: the larger one goes.
    for (left, right, crowded) in
        [(half - 10, half - 10, None), (half, half + 9, Some("b")), (half + 9, half, Some("a"))]
    {
        let list = list(&format!(r#"{{"id":"1","a":[{}],"b":[{}]}}"#, array(left), array(right)));
        let expected: Vec<IndexId> = crowded
            .into_iter()
            .map(|name: &str| {
                use armilla_index::paths::PathSegment;
                IndexId::of_path(&[PathSegment::Property(name.to_owned()), PathSegment::Elements])
            })
            .collect();
        assert_eq!(list.crowded, expected);
        assert!(list.spans.len() <= CONTENT_ENTRIES_MAX);
    }
    // More indexes than are named.
    let wide = |indexes: usize| {
        let each = CONTENT_ENTRIES_MAX / 3;
        let members: Vec<String> = (0..indexes).map(|n| format!(r#""m{n}":[{}]"#, array(each))).collect();
        list(&format!(r#"{{"id":"1",{}}}"#, members.join(",")))
    };
    assert_eq!(wide(ITEM_CROWDED_INDEXES_MAX + 2).crowded.len(), ITEM_CROWDED_INDEXES_MAX);
    let too_wide = wide(ITEM_CROWDED_INDEXES_MAX + 3);
    assert_eq!(too_wide.crowded, [Crowded::EVERY]);
    assert_eq!(too_wide.spans.len(), 1);
    // So many that they are not even sorted.
    let members: Vec<String> =
        (0..20).map(|n| format!(r#""m{n}":[{}]"#, array(CONTENT_ENTRIES_MAX / 2))).collect();
    let overflown = list(&format!(r#"{{{},"id":"1"}}"#, members.join(",")));
    assert_eq!((overflown.crowded.as_slice(), overflown.spans.len()), (&[Crowded::EVERY][..], 1));
}

#[test]
fn long_terms_are_bounded_in_bytes() {
    let text = |n: usize| format!(r#""{n:0>300}""#);
    let count = CONTENT_ENTRY_BYTES_MAX / 275 + 100;
    let texts: Vec<String> = (0..count).map(text).collect();
    let list = list(&format!(r#"{{"id":"1","a":[{}],"b":1}}"#, texts.join(",")));
    assert_eq!(list.crowded.len(), 1);
    assert_eq!(list.spans.len(), 3);
}
