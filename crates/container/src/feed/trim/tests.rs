use super::*;

fn hashed(hex: &str) -> HashedKey {
    HashedKey::from_hex(hex).unwrap()
}

fn arc(min: &str, max: &str, after: u64) -> Arc {
    Arc { min: hashed(min), max: hashed(max), after }
}

fn joined(parts: Vec<Arc>, complete_after: &[u64]) -> TrimState {
    let others: Vec<TrimState> = complete_after.iter().map(|lsn| TrimState::complete_after(*lsn)).collect();
    TrimState::joined(parts, &others, 20)
}

fn states() -> [TrimState; 4] {
    [
        TrimState::never(),
        TrimState::complete_after(7),
        joined(vec![arc("", "40", 7), arc("40", "FF", 9)], &[7, 9]),
        joined(vec![arc("", "20", 9), arc("20", "40", 2), arc("40", "FF", 3)], &[9, 2, 3]),
    ]
}

#[test]
fn states_come_back_as_they_were() {
    for state in states() {
        assert_eq!(TrimState::decode(&state.encode()).unwrap(), state);
    }
    assert_eq!(TrimState::complete_after(7).encode().len(), 39);
}

#[test]
fn states_of_the_first_version_do_not_know_when_versions_went() {
    for state in states() {
        let mut first = state.encode().to_vec();
        first[0] = 1;
        first.drain(35..39);
        assert_eq!(TrimState::decode(&first).unwrap(), state);
    }
    let mut seven = TrimState::complete_after(7);
    assert!(!seven.is_complete_since(u32::MAX - 1));
    assert!(TrimState::complete_after(0).is_complete_since(0));
    assert!(!TrimState::never().is_complete_since(0));
    seven.trim_to((8, 0), Some(100));
    assert!(seven.is_complete_since(100) && !seven.is_complete_since(99));
    // A longer retention brings nothing back.
    seven.trim_to((8, 0), Some(50));
    assert!(!seven.is_complete_since(99));
}

#[test]
fn damaged_states_are_refused() {
    for state in states() {
        let whole = state.encode();
        let ends: Vec<usize> = match state.arcs.len() {
            // Cut behind an arc, it is the record of a state with fewer.
            0 => Vec::new(),
            2 => vec![39, 39 + 2 + 2 + 1 + 8],
            _ => vec![39, 39 + 2 + 2 + 1 + 8, 39 + 2 * 13 + 1],
        };
        for length in (0..whole.len()).filter(|length| !ends.contains(length)) {
            assert!(TrimState::decode(&whole[..length]).is_err(), "{state:?} cut to {length} bytes");
        }
        let mut other = whole.to_vec();
        other[0] = 3;
        assert!(TrimState::decode(&other).is_err());
    }
}

#[test]
fn each_part_of_the_ring_has_its_own_beginning() {
    let [never, seven, two, three] = states();
    for (state, min, max, expected) in [
        (&never, "", "FF", None),
        (&seven, "", "FF", Some(7)),
        (&seven, "10", "20", Some(7)),
        (&two, "", "40", Some(7)),
        (&two, "10", "20", Some(7)),
        (&two, "40", "FF", Some(9)),
        (&two, "10", "50", Some(9)),
        (&three, "20", "40", Some(2)),
        (&three, "40", "50", Some(3)),
        (&three, "", "20", Some(9)),
        // More than one part: the latest is safe.
        (&three, "20", "50", Some(3)),
        (&three, "10", "50", Some(9)),
    ] {
        assert_eq!(state.complete_after_in(&hashed(min), &hashed(max)), expected, "{state:?} {min} {max}");
    }
}

#[test]
fn parts_cover_what_was_asked_for() {
    let [never, seven, two, three] = states();
    for (state, min, max, expected) in [
        (&never, "", "FF", None),
        (&seven, "10", "20", Some(vec![arc("10", "20", 7)])),
        (&two, "", "FF", Some(vec![arc("", "40", 7), arc("40", "FF", 9)])),
        (&two, "50", "60", Some(vec![arc("50", "60", 9)])),
        (&three, "10", "50", Some(vec![arc("10", "20", 9), arc("20", "40", 2), arc("40", "50", 3)])),
    ] {
        assert_eq!(state.parts(&hashed(min), &hashed(max)), expected, "{state:?} {min} {max}");
    }
}

#[test]
fn trimming_goes_one_way() {
    let [mut never, mut seven, mut two, _] = states();
    never.trim_to((8, 1), Some(100));
    assert!(never.is_never());
    assert_eq!(never.trimmed, (8, 1));
    seven.trim_to((6, 0), Some(100));
    assert_eq!(seven, TrimState::complete_after(7));
    seven.trim_to((9, 4), Some(100));
    assert_eq!((seven.complete_after, seven.trimmed), (9, (9, 4)));
    // From before the commit that the one was trimmed to which was trimmed least.
    assert_eq!(two.trimmed, (6, u16::MAX));
    let in_both = |state: &TrimState| {
        let of = |min: &str, max: &str| state.complete_after_in(&hashed(min), &hashed(max)).unwrap();
        (of("10", "20"), of("50", "60"))
    };
    assert_eq!(in_both(&two), (7, 9));
    assert!(two.is_complete_at(8) && !two.is_complete_at(7));
    assert!(two.is_complete_everywhere_at(10) && !two.is_complete_everywhere_at(9));
    // What is dropped from one part is no loss of the other.
    two.look_at(&hashed("11"), 12);
    two.look_at(&hashed("12"), 11);
    two.trim_to((12, 0), Some(100));
    assert_eq!(in_both(&two), (12, 9));
    two.look_at(&hashed("40"), 15);
    two.trim_to((15, 0), Some(100));
    assert_eq!(in_both(&two), (12, 15));
    two.trim_to((20, 0), Some(100));
    assert!(two.has_parts());
    // Behind the merge they are one.
    two.trim_to((21, 0), Some(100));
    assert_eq!(two, TrimState { trimmed: (21, 0), gone_before: 100, ..TrimState::complete_after(21) });
    two.end_complete();
    assert_eq!(two, TrimState::never());
    two.begin_complete(22);
    assert!(two.is_complete_at(23) && !two.is_complete_at(22));
    assert_eq!(two.trimmed, (0, 0));
    // What was there before may be left over, until all of it was looked at.
    assert!(two.is_left_over(22) && !two.is_left_over(23));
    two.trim_to((22, 5), Some(100));
    assert!(two.is_left_over(22));
    two.trim_to((23, 0), Some(100));
    assert!(!two.is_left_over(22));
}

#[test]
fn number_of_parts_is_bounded() {
    let parts = |count: usize| -> Vec<Arc> {
        let bound = |place: usize| HashedKey::from_bytes(&(place as u16).to_be_bytes());
        let part = |place: usize| Arc { min: bound(place), max: bound(place + 1), after: place as u64 };
        (0..count).map(part).collect()
    };
    for count in [TRIM_ARCS_MAX, TRIM_ARCS_MAX + 1, TRIM_ARCS_MAX + 2] {
        let parts = parts(count);
        let state = TrimState::joined(parts.clone(), &[], 1_000);
        assert_eq!(state.arcs.len(), TRIM_ARCS_MAX);
        for (place, part) in parts.iter().enumerate() {
            // What is left out counts as late as the latest.
            let expected = if place < TRIM_ARCS_MAX { part.after } else { count as u64 - 1 };
            assert_eq!(state.complete_after_in(&part.min, &part.max), Some(expected));
        }
    }
}
