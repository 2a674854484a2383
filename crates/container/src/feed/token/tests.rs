use super::*;

fn hashed(hex: &str) -> HashedKey {
    HashedKey::from_hex(hex).unwrap()
}

fn arc(min: &str, max: &str, after: u64) -> Arc {
    Arc { min: hashed(min), max: hashed(max), after }
}

fn parsed(token: &str, min: &str, max: &str) -> Option<Vec<Arc>> {
    read(token, &hashed(min), &hashed(max)).ok()
}

#[test]
fn tokens_are_read_for_any_part_of_their_scope() {
    let two = "F1;-40-7;40-FF-9";
    for (token, min, max, expected) in [
        ("0", "", "FF", vec![arc("", "FF", 0)]),
        ("42", "10", "20", vec![arc("10", "20", 42)]),
        ("18446744073709551615", "", "FF", vec![arc("", "FF", u64::MAX)]),
        (two, "", "FF", vec![arc("", "40", 7), arc("40", "FF", 9)]),
        (two, "10", "50", vec![arc("10", "40", 7), arc("40", "50", 9)]),
        (two, "10", "40", vec![arc("10", "40", 7)]),
        (two, "40", "4000", vec![arc("40", "4000", 9)]),
        ("F1;10-20-5", "10", "20", vec![arc("10", "20", 5)]),
        // Zeros at the end of a bound mean nothing.
        ("F1;1000-20-5", "10", "20", vec![arc("1000", "20", 5)]),
    ] {
        assert_eq!(parsed(token, min, max), Some(expected), "{token} {min} {max}");
    }
}

#[test]
fn what_is_no_token_of_the_scope_is_refused() {
    for (token, min, max) in [
        ("", "", "FF"),
        ("x", "", "FF"),
        ("-1", "", "FF"),
        ("+1", "", "FF"),
        (" 1", "", "FF"),
        ("1.0", "", "FF"),
        ("18446744073709551616", "", "FF"),
        ("F1", "", "FF"),
        ("F1;", "", "FF"),
        ("F2;-FF-1", "", "FF"),
        ("L1;-FF-1", "", "FF"),
        ("F1;-FF", "", "FF"),
        ("F1;-FF-1-2", "", "FF"),
        ("F1;-FF-x", "", "FF"),
        ("F1;-FF--1", "", "FF"),
        ("F1;-F-1", "", "FF"),
        ("F1;FF--1", "", "FF"),
        // A gap, the wrong order, an end too early, a start too late, a part beside it.
        ("F1;-10-1;20-FF-1", "", "FF"),
        ("F1;20-FF-1;-20-1", "", "FF"),
        ("F1;-20-1;10-FF-1", "", "FF"),
        ("F1;-10-1", "", "FF"),
        ("F1;10-FF-1", "", "FF"),
        ("F1;10-20-1", "30", "40"),
    ] {
        assert_eq!(parsed(token, min, max), None, "{token} {min} {max}");
    }
}

#[test]
fn tokens_are_as_short_as_can_be() {
    for (arcs, expected) in [
        (vec![arc("", "FF", 7)], "7"),
        (vec![arc("", "20", 7), arc("20", "40", 7), arc("40", "FF", 7)], "7"),
        (vec![arc("", "20", 7), arc("20", "40", 8), arc("40", "FF", 8)], "F1;-20-7;20-FF-8"),
        (vec![arc("10", "20", 7), arc("20", "40", 8), arc("40", "50", 7)], "F1;10-20-7;20-40-8;40-50-7"),
    ] {
        let (min, max) = (arcs[0].min.clone(), arcs[arcs.len() - 1].max.clone());
        let token = write(arcs);
        assert_eq!(token, expected);
        assert_eq!(write(read(&token, &min, &max).unwrap()), expected);
    }
}

#[test]
fn number_of_arcs_is_bounded() {
    let token = |count: usize| {
        let arcs: Vec<Arc> = (0..count)
            .map(|place| arc(&format!("{place:04X}"), &format!("{:04X}", place + 1), place as u64))
            .collect();
        arcs::write(PREFIX, &arcs)
    };
    let end = |count: usize| format!("{count:04X}");
    assert!(parsed(&token(FEED_TOKEN_ARCS_MAX), "0000", &end(FEED_TOKEN_ARCS_MAX)).is_some());
    assert!(parsed(&token(FEED_TOKEN_ARCS_MAX + 1), "0000", &end(FEED_TOKEN_ARCS_MAX + 1)).is_none());
}
