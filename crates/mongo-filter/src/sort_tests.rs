//! The order of documents, through arrays and across types.

use super::Sort;
use crate::testing::{object, text};

fn sort(specification: &str) -> Sort {
    Sort::parse(&object(specification)).unwrap_or_else(|error| panic!("{specification}: {error:?}"))
}

fn code(specification: &str) -> i32 {
    Sort::parse(&object(specification)).expect_err("a bad order").code
}

/// Checks that documents are in order, each before the next.
#[track_caller]
fn check_ascending(specification: &str, documents: &[&str]) {
    let sort = sort(specification);
    let keys: Vec<_> = documents.iter().map(|document| sort.key(&object(document)).expect("a key")).collect();
    for (index, pair) in keys.windows(2).enumerate() {
        assert!(
            sort.compare(&pair[0], &pair[1]).is_lt() && sort.compare(&pair[1], &pair[0]).is_gt(),
            "{specification}: {} {}",
            documents[index],
            documents[index + 1]
        );
    }
}

#[test]
fn every_class_in_its_place() {
    let documents = [
        "{a: MinKey}",
        "{a: []}",
        "{}",
        "{a: NaN}",
        "{a: -1}",
        "{a: 0.5}",
        "{a: d1}",
        "{a: i2}",
        "{a: 'B'}",
        "{a: 'a'}",
        "{a: {}}",
        "{a: {b: 1}}",
        "{a: [[1]]}",
        "{a: {$binary: {base64: '', subType: '00'}}}",
        "{a: {$oid: '000000000000000000000001'}}",
        "{a: false}",
        "{a: true}",
        "{a: {$date: {$numberLong: '-1'}}}",
        "{a: {$timestamp: {t: 1, i: 1}}}",
        "{a: {$regularExpression: {pattern: 'x', options: ''}}}",
        "{a: MaxKey}",
    ];
    check_ascending("{a: 1}", &documents);
    let reversed: Vec<&str> = documents.into_iter().rev().collect();
    check_ascending("{a: -1}", &reversed);
}

#[test]
fn arrays_stand_at_their_first_element() {
    check_ascending("{a: 1}", &["{a: []}", "{a: [null]}", "{a: [9, 1]}", "{a: 2}", "{a: [3, 8]}"]);
    check_ascending("{a: -1}", &["{a: [9, 1]}", "{a: [3, 8]}", "{a: 2}", "{a: [null]}", "{a: []}"]);
    check_ascending("{'a.b': 1}", &["{a: []}", "{a: [{b: 5}, {b: 1}]}", "{a: {b: 3}}"]);
    check_ascending("{'a.b': 1}", &["{a: [{b: []}]}", "{a: [{b: 1}, {}]}", "{a: [{b: [4, 2]}]}"]);
}

#[test]
fn keys() {
    for (specification, document, expected) in [
        ("{a: 1, b: 1}", "{a: 1}", "[1,null]"),
        ("{a: 1}", "{a: undefined}", "[{\"$undefined\":true}]"),
        ("{a: 1}", "{a: []}", "[{\"$undefined\":true}]"),
        ("{'a.b': 1}", "{a: []}", "[null]"),
        ("{'a.b': 1}", "{a: 5}", "[null]"),
        ("{'a.b': 1}", "{a: [5]}", "[null]"),
        ("{'a.b': -1}", "{a: [5, {b: 7}]}", "[7]"),
        ("{'a.b': 1}", "{a: [[{b: 7}]]}", "[null]"),
        ("{'a.0': 1}", "{a: [7, 8]}", "[7]"),
        ("{'a.1.b': 1}", "{a: [{b: 1}, {b: 2}]}", "[2]"),
        ("{'a.0': 1}", "{a: [[3, 2]]}", "[2]"),
        ("{'a.7': 1}", "{a: [{'7': 3}]}", "[3]"),
        ("{a: 1}", "{a: [[3, 2], [1]]}", "[[1]]"),
        // Elements of one array give their keys together.
        ("{'a.b': 1, 'a.c': 1}", "{a: [{b: 1, c: 5}, {b: 2, c: 1}]}", "[1,5]"),
        ("{'a.b': -1, 'a.c': 1}", "{a: [{b: 1, c: 5}, {b: 2, c: 1}, {b: 2, c: 0}]}", "[2,0]"),
        ("{'a.b': 1, c: 1}", "{a: [{b: 4}, {b: 3}], c: 9}", "[3,9]"),
        ("{'a.b': 1, 'a.c': 1}", "{a: {b: [2, 1], c: 4}}", "[1,4]"),
        ("{'a.b': 1, 'a.b.c': 1}", "{a: {b: [{c: 2}, {c: 1}]}}", "[{\"c\":1},1]"),
        ("{'a.b': 1, 'a.d': 1}", "{a: [{b: [4, 3], d: 1}, {b: [5], d: 0}]}", "[3,1]"),
    ] {
        let key = sort(specification)
            .key(&object(document))
            .unwrap_or_else(|error| panic!("{document}: {error:?}"));
        assert_eq!(text(key.0), expected, "{specification} {document}");
    }
}

#[test]
fn two_arrays_side_by_side_are_refused() {
    let sort = sort("{a: 1, b: 1}");
    let error = sort.key(&object("{a: [1], b: [2]}")).expect_err("parallel arrays");
    assert_eq!((error.code, error.message.as_str()), (2, "cannot sort with keys that are parallel arrays"));
    assert!(sort.key(&object("{a: [1], b: 2}")).is_ok());
}

#[test]
fn what_is_refused() {
    for (specification, expected) in [
        ("{a: 0}", 15975),
        ("{a: 2}", 15975),
        ("{a: NaN}", 15975),
        ("{a: 'x'}", 15974),
        ("{a: true}", 15974),
        ("{a: null}", 15974),
        ("{a: {b: 1}}", 17312),
        ("{a: {$meta: 'textScore'}}", 40218),
        ("{a: {$meta: 'other'}}", 31138),
        ("{'': 1}", 40352),
        ("{'a.': 1}", 40353),
        ("{'.a': 1}", 15998),
        ("{'a..b': 1}", 15998),
        ("{'$a': 1}", 16410),
    ] {
        assert_eq!(code(specification), expected, "{specification}");
    }
    assert_eq!(sort("{a: 1.0, b: -1.0, c: d1, d: i1}").keys.len(), 4);
    assert_eq!(sort("{}").keys.len(), 0);
    let many = |count: usize| {
        let members: Vec<String> = (0..count).map(|index| format!("a{index}: 1")).collect();
        Sort::parse(&object(&format!("{{{}}}", members.join(", ")))).map(|sort| sort.keys.len())
    };
    assert_eq!(many(32), Ok(32));
    assert_eq!(many(33).expect_err("too many").code, 13103);
}
