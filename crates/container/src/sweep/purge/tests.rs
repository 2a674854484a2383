use armilla_index::{IndexId, entry_key, term};
use armilla_value::Value;

use super::*;

fn entry(ts: u32, number: u64) -> Bytes {
    let term = term::of(Some(&Value::Int64(i64::from(ts))));
    entry_key(IndexId::of_property("_ts"), &term, number)
}

#[test]
fn a_look_goes_on_where_something_is_left() {
    let found = || Found {
        due: Vec::new(),
        own_count: 2,
        entries: vec![entry(1, 1), entry(2, 2), entry(3, 3)],
        from: Some(entry(9, 9)),
        more: false,
    };
    let expected = [entry(1, 1), entry(1, 1), entry(1, 1), entry(2, 2), entry(3, 3), entry(9, 9)];
    for (dealt_with, expected) in expected.into_iter().enumerate() {
        assert_eq!(found().next_start(dealt_with), Some(expected), "{dealt_with}");
    }
    let own_only = || Found { entries: Vec::new(), ..found() };
    for dealt_with in 0..=2 {
        assert_eq!(own_only().next_start(dealt_with), Some(entry(9, 9)));
    }
}
