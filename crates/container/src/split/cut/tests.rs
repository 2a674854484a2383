use armilla_value::initial_bounds;
use proptest::prelude::*;

use super::*;

fn key(hex: &str) -> HashedKey {
    HashedKey::from_hex(hex).unwrap()
}

#[test]
fn middles() {
    use HashVersion::{MultiHash, V1, V2};
    const E: &str = "3B310042FC8EA24E4CB78FD8BFEDBAA7";
    let half = "1FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF";
    let deep = format!("{E}{half}");
    let end = format!("{E}FF");
    for (version, levels, min, max, expected) in [
        (V2, 1, "", "FF", Some(half)),
        (V2, 1, "", half, Some("0FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")),
        (V2, 1, half, "FF", Some("2FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF")),
        (V2, 1, "20", "30", Some("28000000000000000000000000000000")),
        // Nothing can lie beyond the space of hashes, and nothing between two neighbours.
        (V2, 1, "40", "FF", None),
        (V2, 1, "00000000000000000000000000000001", "00000000000000000000000000000002", None),
        (
            V2,
            1,
            "00000000000000000000000000000001",
            "00000000000000000000000000000003",
            Some("00000000000000000000000000000002"),
        ),
        (MultiHash, 3, "", "FF", Some(half)),
        // One value of the first level: the second is cut.
        (MultiHash, 2, E, &end, Some(&deep)),
        (MultiHash, 1, E, &end, None),
        (V1, 1, "", "FF", Some("05C1DFFFFFFFFC")),
        (V1, 1, "FE", "FF", None),
    ] {
        let cut = middle(&key(min), &key(max), version, levels);
        assert_eq!(cut, expected.map(key), "{version:?} {min}..{max}");
    }
    for version in [V1, V2, MultiHash] {
        let cut = middle(&HashedKey::MIN, &HashedKey::MAX, version, 1);
        assert_eq!(cut, initial_bounds(2, version).pop(), "{version:?}: as a new container of two is cut");
    }
}

#[test]
fn repeated_halving_ends_at_single_hashes() {
    for (version, levels, halvings) in
        [(HashVersion::V1, 1, 30), (HashVersion::V2, 1, 120), (HashVersion::MultiHash, 3, 370)]
    {
        let (min, mut max) = (HashedKey::MIN, HashedKey::MAX);
        let mut last = width(&min, &max, version, levels);
        let mut count = 0;
        while let Some(cut) = middle(&min, &max, version, levels) {
            max = cut;
            let now = width(&min, &max, version, levels);
            assert!(now < last, "{version:?}: {now:?} after {last:?}");
            last = now;
            count += 1;
        }
        assert!(count >= halvings, "{version:?}: {count}");
    }
}

proptest! {
    #[test]
    fn a_middle_is_inside_and_halves_are_alike(low in 0..HASHES, other in 0..HASHES, level in 0..HASHES) {
        let (low, high) = (low.min(other), low.max(other));
        let bound = |digit: u128| HashedKey::from_bytes(&digit.to_be_bytes());
        if let Some(cut) = middle(&bound(low), &bound(high), HashVersion::V2, 1) {
            prop_assert!(bound(low) < cut && cut < bound(high));
            let left = width(&bound(low), &cut, HashVersion::V2, 1)[0];
            let right = width(&cut, &bound(high), HashVersion::V2, 1)[0];
            prop_assert!(left.abs_diff(right) <= 1);
        } else {
            prop_assert!(high - low <= 1);
        }
        let deep = HashedKey::from_bytes(&[low.to_be_bytes(), level.to_be_bytes()].concat());
        if let Some(cut) = middle(&deep, &bound(high), HashVersion::MultiHash, 2) {
            prop_assert!(deep < cut && cut < bound(high));
        }
    }

    #[test]
    fn a_middle_of_bytes_is_the_best_there_is(sizes in prop::collection::vec((0..4u8, 1..100u64), 1..30)) {
        // Keys grow by 0 to 3, so that some come twice.
        let mut last = 0;
        let runs: Vec<(u8, u64)> = sizes.iter().map(|(step, bytes)| { last += step; (last, *bytes) }).collect();
        let total: u64 = runs.iter().map(|(_, bytes)| bytes).sum();
        let left_of = |cut: u8| runs.iter().filter(|(key, _)| *key < cut).map(|(_, bytes)| bytes).sum::<u64>();
        let mut finder = Middle::new(total / 2);
        let found = runs.iter().find_map(|(key, bytes)| finder.add(HashedKey::from_bytes(&[*key]), *bytes));
        let found = found.or_else(|| finder.finish());
        let best = runs.iter().map(|(key, _)| left_of(*key)).filter(|left| *left > 0)
            .map(|left| left.abs_diff(total / 2)).min();
        let found = found.map(|cut| left_of(cut.as_bytes()[0]).abs_diff(total / 2));
        prop_assert_eq!(found, best);
    }
}
