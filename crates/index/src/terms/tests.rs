//! Which leaves and entries items have.

use std::collections::BTreeSet;

use armilla_value::{Stored, json, stored};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::policy::IndexingPolicy;

fn matcher(policy: &str) -> Matcher {
    Matcher::new(&IndexingPolicy::from_value(&json::parse(policy.as_bytes()).unwrap()).unwrap())
}

fn with_root<T>(item: &str, read: impl FnOnce(Node<'_>) -> T) -> T {
    let bytes = stored::encode(item.as_bytes(), &[]).unwrap();
    read(Stored::open(&bytes).unwrap().root())
}

fn leaves_of(policy: &str, item: &str) -> Leaves {
    with_root(item, |root| leaves(&matcher(policy), root))
}

/// Shows each indexed scalar, and how many distinct leaves there are.
#[track_caller]
fn check_leaves(policy: &str, item: &str, expect: Expect) {
    let mut shown = String::new();
    with_root(item, |root| {
        visit_leaves(&matcher(policy), root, |path, node| {
            for segment in path.segments() {
                match segment {
                    PathSegment::Property(name) => shown.push_str(&format!("/{name}")),
                    PathSegment::Elements => shown.push_str("/[]"),
                }
            }
            shown.push_str(&format!(" {}\n", node.raw()));
        });
    });
    shown.push_str(&format!("{} distinct", leaves_of(policy, item).len()));
    expect.assert_eq(&shown);
}

const DEFAULT: &str = "{}";

#[test]
fn every_scalar_is_a_leaf_under_the_default_policy() {
    let item = r#"{"id":"1","n":1.50,"ok":true,"none":null,"o":{"x":"y","deep":{"z":-0}},"tags":["a","b","a",[1,[2]]],
        "rows":[{"k":1},{"k":2,"l":null},{"k":1}],"empty":{},"void":[],"_etag":"e","a\u0062":"esc\u0061ped"}"#;
    check_leaves(
        DEFAULT,
        item,
        expect![[r#"
            /id "1"
            /n 1.50
            /ok true
            /none null
            /o/x "y"
            /o/deep/z -0
            /tags/[] "a"
            /tags/[] "b"
            /tags/[] "a"
            /tags/[]/[] 1
            /tags/[]/[]/[] 2
            /rows/[]/k 1
            /rows/[]/k 2
            /rows/[]/l null
            /rows/[]/k 1
            /ab "escaped"
            14 distinct"#]],
    );
}

#[test]
fn the_policy_chooses_leaves() {
    let item = r#"{"id":"1","a":{"b":1,"c":{"d":2}},"tags":["x",{"k":"y"}],"big":{"v":[1,2,3]}}"#;
    let excluded = r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/a/*"},{"path":"/big/*"}]}"#;
    check_leaves(
        excluded,
        item,
        expect![[r#"
        /id "1"
        /tags/[] "x"
        /tags/[]/k "y"
        3 distinct"#]],
    );
    let chosen = r#"{"includedPaths":[{"path":"/a/c/*"},{"path":"/tags/[]/?"},{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}]}"#;
    check_leaves(
        chosen,
        item,
        expect![[r#"
        /a/c/d 2
        /tags/[] "x"
        2 distinct"#]],
    );
    check_leaves(r#"{"excludedPaths":[{"path":"/*"}]}"#, item, expect!["0 distinct"]);
    check_leaves(r#"{"indexingMode":"none"}"#, item, expect!["0 distinct"]);
}

#[test]
fn counts_behind_published_charges() {
    let text = "x".repeat(1_300);
    let guid = "0a4ed5b4-2a9f-4f4f-9f24-8a4b9e3a0c11";
    let date = "2019-10-01T10:20:30.1234567Z";
    let rows = [
        ("user", 2, format!(r#"{{"id":"{guid}","username":"thomas.andersen"}}"#)),
        (
            "post",
            7,
            format!(
                r#"{{"id":"{guid}","type":"post","postId":"{guid}","userId":"u","title":"t","content":"{text}","creationDate":"{date}"}}"#
            ),
        ),
        (
            "comment",
            6,
            format!(
                r#"{{"id":"{guid}","type":"comment","postId":"p","userId":"u","content":"{text}","creationDate":"{date}"}}"#
            ),
        ),
        (
            "like",
            5,
            format!(r#"{{"id":"{guid}","type":"like","postId":"p","userId":"u","creationDate":"{date}"}}"#),
        ),
        ("order", 25, ORDER.to_owned()),
        (
            "ten terms",
            10,
            r#"{"id":"1","a":1,"b":2,"c":[1,2,2,1],"d":{"e":1,"f":null,"g":true},"h":"","i":1e3}"#.into(),
        ),
    ];
    for (what, count, item) in rows {
        assert_eq!(leaves_of(DEFAULT, &item).len(), count, "{what}");
    }
}

/// An order with 25 scalar leaves, such as the vendor's sample of about one kilobyte.
const ORDER: &str = r#"{"id":"SO05","account":"Account1","number":"PO18009186470","date":"2005-07-01T00:00:00",
    "subTotal":419.4589,"tax":12.5838,"freight":472.3108,"total":985.018,"paid":true,"note":null,
    "ship":{"name":"Ann","street":"1 Road","city":"Oslo","zip":"0150","country":"NO"},
    "bill":{"name":"Ann","street":"1 Road","city":"Oslo","zip":"0150","country":"NO"},
    "items":[{"quantity":1,"product":760,"price":419.4589},{"quantity":1,"product":761,"price":419.4589}],
    "ttl":60}"#;

#[test]
fn equal_values_are_one_leaf_however_spelled() {
    let same = [
        (r#"{"a":1}"#, r#"{"a":1.0}"#),
        (r#"{"a":100}"#, r#"{"a":1e2}"#),
        (r#"{"a":0}"#, r#"{"a":-0.0}"#),
        (r#"{"a":0.5}"#, r#"{"a":5e-1}"#),
        (r#"{"a":"x"}"#, r#"{"a":"\u0078"}"#),
        (r#"{"a":"x"}"#, r#"{"\u0061":"x"}"#),
        (r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#),
        (r#"{"a":[1,2]}"#, r#"{"a":[2,1,1]}"#),
    ];
    for (left, right) in same {
        assert_eq!(leaves_of(DEFAULT, left), leaves_of(DEFAULT, right), "{left} {right}");
    }
    let different = [
        (r#"{"a":1}"#, r#"{"a":"1"}"#),
        (r#"{"a":true}"#, r#"{"a":"true"}"#),
        (r#"{"a":true}"#, r#"{"a":false}"#),
        (r#"{"a":null}"#, r#"{}"#),
        (r#"{"a":null}"#, r#"{"a":false}"#),
        (r#"{"a":0.5}"#, r#"{"a":0.25}"#),
        (r#"{"a":9007199254740993}"#, r#"{"a":9007199254740992}"#),
        (r#"{"a":""}"#, r#"{"a":"\u0000"}"#),
        (r#"{"a":"12345678"}"#, r#"{"a":"12345678\u0000"}"#),
        (r#"{"a":{"b":1}}"#, r#"{"a":[{"b":1}]}"#),
        (r#"{"a":{"b":1}}"#, r#"{"b":{"a":1}}"#),
        (r#"{"ab":1}"#, r#"{"a":{"b":1}}"#),
    ];
    for (left, right) in different {
        assert_ne!(leaves_of(DEFAULT, left), leaves_of(DEFAULT, right), "{left} {right}");
    }
}

/// Charges follow from fingerprints being equal or not, and stored counts from them: they must not change.
#[test]
fn fingerprints_stay() {
    let fingerprints = leaves_of(DEFAULT, r#"{"a":1,"b":["x",0.5,null]}"#);
    expect!["[125dce436b1ed8a1, 699754982cfb8b6b, 8ff7ad3ff659d120, a4f06e5f3c975a2a]"]
        .assert_eq(&format!("{:016x?}", fingerprints.fingerprints()));
}

#[test]
fn differences() {
    let rows = [
        (r#"{"a":1}"#, r#"{"a":1}"#, (0, 0)),
        (r#"{"a":1}"#, r#"{"a":2}"#, (1, 1)),
        (r#"{"a":1}"#, r#"{}"#, (1, 0)),
        (r#"{}"#, r#"{"a":[1,2,3]}"#, (0, 3)),
        (r#"{"t":["a","b"]}"#, r#"{"t":["b","c","b"]}"#, (1, 1)),
        (r#"{"a":1,"b":1}"#, r#"{"b":1,"c":1}"#, (1, 1)),
    ];
    for (old, new, expected) in rows {
        let difference = Leaves::diff(&leaves_of(DEFAULT, old), &leaves_of(DEFAULT, new));
        assert_eq!(difference, expected, "{old} {new}");
    }
}

proptest! {
    #[test]
    fn differences_are_those_of_sets(
        old in prop::collection::btree_set(0u64..50, 0..40),
        new in prop::collection::btree_set(0u64..50, 0..40),
    ) {
        let of = |set: &BTreeSet<u64>| Leaves::from_unsorted(set.iter().rev().copied().collect());
        let expected = (old.difference(&new).count(), new.difference(&old).count());
        prop_assert_eq!(Leaves::diff(&of(&old), &of(&new)), expected);
    }
}

#[test]
fn composite_entries_of_items() {
    let pair = r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}"#;
    let two = r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b"}],[{"path":"/a"},{"path":"/b","order":"descending"}]]}"#;
    let one_array = r#"{"compositeIndexes":[[{"path":"/rows/[]/k"},{"path":"/rows/[]/v"},{"path":"/a"}]]}"#;
    let two_arrays = r#"{"compositeIndexes":[[{"path":"/rows/[]/k"},{"path":"/tags/[]"}]]}"#;
    let nested = r#"{"compositeIndexes":[[{"path":"/rows/[]/k"},{"path":"/rows/[]/tags/[]"}]]}"#;
    let tuple = r#"{"includedPaths":[{"path":"/*"},{"path":"/rows/[]/{k, v}/?"}]}"#;
    let rows = [
        (DEFAULT, r#"{"a":1,"b":2}"#, 0),
        (pair, r#"{"a":1,"b":2}"#, 1),
        (pair, r#"{"a":1}"#, 1),
        (pair, r#"{}"#, 1),
        (pair, r#"{"a":[1,2],"b":2}"#, 1),
        (two, r#"{"a":1,"b":2}"#, 2),
        (one_array, r#"{"rows":[{"k":1,"v":2},{"k":2},{"k":1,"v":2}],"a":0}"#, 2),
        (one_array, r#"{"rows":[]}"#, 1),
        (one_array, r#"{"rows":7}"#, 1),
        (two_arrays, r#"{"rows":[{"k":1},{"k":2}],"tags":["x","y","z"]}"#, 6),
        (two_arrays, r#"{"rows":[{"k":1},{"k":2}],"tags":[]}"#, 2),
        (nested, r#"{"rows":[{"k":1,"tags":["x","y"]},{"k":2,"tags":["x"]},{"k":3}]}"#, 4),
        (tuple, r#"{"rows":[{"k":1,"v":2},{"k":2,"v":1},{"k":1,"v":2}]}"#, 2),
        (tuple, r#"{"rows":[]}"#, 0),
        (tuple, r#"{}"#, 0),
        (r#"{"indexingMode":"none"}"#, r#"{"a":1}"#, 0),
    ];
    for (policy, item, count) in rows {
        let entries = with_root(item, |root| composite_entries(&matcher(policy), root));
        assert_eq!(entries, count, "{policy} {item}");
    }
}

#[test]
fn composite_entries_at_the_bound_and_one_past() {
    let policy = matcher(r#"{"compositeIndexes":[[{"path":"/a/[]"},{"path":"/b/[]"}]]}"#);
    let item = |left: usize, right: usize| {
        let list = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",");
        format!(r#"{{"a":[{}],"b":[{}]}}"#, list(left), list(right))
    };
    let entries = |left, right| with_root(&item(left, right), |root| composite_entries(&policy, root));
    assert_eq!(entries(100, 100), limits::COMPOSITE_ENTRIES_MAX);
    assert_eq!(entries(73, 137), limits::COMPOSITE_ENTRIES_MAX);
    assert_eq!(entries(1, limits::COMPOSITE_ENTRIES_MAX + 1), limits::COMPOSITE_ENTRIES_MAX);
}
