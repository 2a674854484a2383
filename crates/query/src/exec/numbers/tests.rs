//! Leapfrog and merge against sets in memory.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

fn collected(numbers: &BTreeSet<u64>) -> NumberStream<'static> {
    NumberStream::Collected(Collected { numbers: numbers.iter().copied().collect(), at: 0, held: None })
}

fn read(mut stream: NumberStream<'_>, from: u64) -> Vec<u64> {
    let mut numbers = Vec::new();
    assert!(!stream.read(from, 100_000, &mut numbers).unwrap());
    numbers
}

proptest! {
    #[test]
    fn galloping_finds_the_first_that_is_not_below(
        numbers in proptest::collection::btree_set(0u64..300, 0..200),
        at_least in 0u64..310,
    ) {
        let numbers: Vec<u64> = numbers.into_iter().collect();
        let expected = numbers.iter().take_while(|number| **number < at_least).count();
        prop_assert_eq!(gallop(&numbers, at_least), expected);
    }

    #[test]
    fn and_is_intersection_and_or_is_union(
        sets in proptest::collection::vec(proptest::collection::btree_set(0u64..120, 0..80), 1..5),
        from in 0u64..130,
    ) {
        let streams = || sets.iter().map(collected).collect::<Vec<_>>();
        let mut all: Vec<u64> = (from..130).filter(|number| sets.iter().all(|set| set.contains(number))).collect();
        prop_assert_eq!(read(NumberStream::And(streams()), from), all.clone());
        let some: Vec<u64> = (from..130).filter(|number| sets.iter().any(|set| set.contains(number))).collect();
        prop_assert_eq!(read(NumberStream::Or(Merge::new(streams())), from), some);
        // Nested: what is in all of them, and in one of them.
        let nested = NumberStream::And(vec![NumberStream::Or(Merge::new(streams())), NumberStream::And(streams())]);
        all.retain(|number| *number >= from);
        prop_assert_eq!(read(nested, from), all);
    }
}

#[test]
fn nothing_is_in_no_sets() {
    assert_eq!(read(NumberStream::And(Vec::new()), 0), []);
    assert_eq!(read(NumberStream::Or(Merge::new(Vec::new())), 0), []);
    let last = BTreeSet::from([u64::MAX]);
    assert_eq!(read(collected(&last), 0), [u64::MAX]);
}
