//! Bounded sorts against sorting everything.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn the_best_rows_are_kept(
        rows in proptest::collection::vec((0u8..20, 0usize..3, 0u64..9, 0usize..50), 0..80),
        rows_max in 1u64..30,
        bytes_max in proptest::option::of(1usize..300),
        backwards in any::<bool>(),
    ) {
        let memory = Memory::new();
        let mut sorted = SortedRows::new(&memory, Some(rows_max), bytes_max);
        let mut all = Vec::new();
        for (index, (key, source, number, bytes)) in rows.into_iter().enumerate() {
            let row_key = RowKey::new(vec![key], source, number, index as u64, backwards);
            prop_assert_eq!(row_key.number(backwards), number);
            all.push((row_key.clone(), bytes));
            if sorted.has_room(&[key], source) {
                sorted.insert(row_key, bytes, bytes, None).unwrap();
            } else {
                sorted.forget_one();
            }
        }
        all.sort();
        let (mut bytes_so_far, mut count) = (0, 0);
        for (key, bytes) in &all {
            // What a page still has room for is there.
            if count == rows_max || bytes_max.is_some_and(|bytes_max| count > 0 && bytes_so_far >= bytes_max) {
                break;
            }
            prop_assert_eq!(sorted.pop_first(), Some((key.clone(), *bytes)));
            bytes_so_far += bytes;
            count += 1;
        }
        prop_assert!(count == all.len() as u64 || !sorted.is_empty());
    }

    #[test]
    fn equal_rows_are_kept_once_at_their_best_place(rows in proptest::collection::vec((0u8..20, 0u128..6), 0..60)) {
        let memory = Memory::new();
        let mut sorted = SortedRows::new(&memory, None, None);
        let mut best: std::collections::BTreeMap<u128, RowKey> = Default::default();
        for (index, (key, identity)) in rows.into_iter().enumerate() {
            let row_key = RowKey::new(vec![key], 0, index as u64, 0, false);
            let place = best.entry(identity).or_insert_with(|| row_key.clone());
            *place = row_key.clone().min(place.clone());
            sorted.insert(row_key, identity, 1, Some(identity)).unwrap();
        }
        let mut expected: Vec<(RowKey, u128)> = best.into_iter().map(|(identity, key)| (key, identity)).collect();
        expected.sort();
        let found: Vec<(RowKey, u128)> = std::iter::from_fn(|| sorted.pop_first()).collect();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn memory_is_given_back() {
    let memory = Memory::with_limit(10_000);
    for _ in 0..100 {
        let mut sorted = SortedRows::new(&memory, Some(3), None);
        for number in 0..50 {
            sorted.insert(RowKey::new(vec![number as u8], 0, number, 0, false), (), 1_000, None).unwrap();
        }
    }
    memory.take(10_000, "everything").unwrap();
    assert!(memory.take(1, "one more").is_err());
}
