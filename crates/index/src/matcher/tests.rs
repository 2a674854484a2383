//! Which path wins.

use std::collections::BTreeMap;

use armilla_value::json;
use expect_test::expect;
use proptest::prelude::*;

use super::*;
use crate::paths::PropertyRoute;

fn policy(included: &[&str], excluded: &[&str]) -> IndexingPolicy {
    let list = |paths: &[&str]| {
        let paths: Vec<String> = paths.iter().map(|path| format!(r#"{{"path":"{path}"}}"#)).collect();
        format!("[{}]", paths.join(","))
    };
    let text = format!(r#"{{"includedPaths":{},"excludedPaths":{}}}"#, list(included), list(excluded));
    IndexingPolicy::from_value(&json::parse(text.as_bytes()).unwrap()).unwrap()
}

#[test]
fn precedence() {
    #[rustfmt::skip]
    let policies: [(&[&str], &[&str]); 9] = [
        (&["/*"], &[]),
        (&[], &["/*"]),
        (&["/*"], &["/a/*"]),
        (&["/*"], &["/a/?"]),
        (&["/a/?"], &["/*"]),
        (&["/*", "/a/b/*"], &["/a/*"]),
        (&["/a/*"], &["/*", "/a/b/*", "/a/?"]),
        (&["/a/?", "/a/b/c/?"], &["/*", "/a/*", "/a/b/*"]),
        (&["/a/[]/*"], &["/*", "/a/[]/b/?"]),
    ];
    let leaves = ["/_etag", "/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/[]", "/a/[]/b", "/a/[]/b/c", "/x"];
    let mut shown = String::new();
    for (included, excluded) in policies {
        let matcher = Matcher::new(&policy(included, excluded));
        let indexed = leaves
            .into_iter()
            .filter(|leaf| matcher.is_path_indexed(PropertyRoute::parse(leaf).unwrap().segments()));
        let indexed: Vec<&str> = indexed.collect();
        let (included, excluded) = (included.join(" "), excluded.join(" "));
        shown.push_str(&format!("+ {included:<14} - {excluded:<18} => {}\n", indexed.join(" ")));
    }
    expect![[r#"
        + /*             -                    => /a /a/b /a/b/c /a/b/c/d /a/[] /a/[]/b /a/[]/b/c /x
        +                - /*                 => 
        + /*             - /a/*               => /x
        + /*             - /a/?               => /a/b /a/b/c /a/b/c/d /a/[] /a/[]/b /a/[]/b/c /x
        + /a/?           - /*                 => /a
        + /* /a/b/*      - /a/*               => /a/b /a/b/c /a/b/c/d /x
        + /a/*           - /* /a/b/* /a/?     => /a/[] /a/[]/b /a/[]/b/c
        + /a/? /a/b/c/?  - /* /a/* /a/b/*     => /a /a/b/c
        + /a/[]/*        - /* /a/[]/b/?       => /a/[] /a/[]/b/c
    "#]]
    .assert_eq(&shown);
}

#[test]
fn mode_none_indexes_nothing() {
    let none = json::parse(br#"{"indexingMode":"none"}"#).unwrap();
    let matcher = Matcher::new(&IndexingPolicy::from_value(&none).unwrap());
    assert!(matcher.is_barren(matcher.root()));
    assert!(!matcher.is_path_indexed(PropertyRoute::parse("/id").unwrap().segments()));
}

/// The rule as the documentation puts it: of all paths that cover a leaf, the most precise decides.
fn decide(paths: &BTreeMap<IndexKey, bool>, leaf: &[PathSegment]) -> bool {
    let covering = paths.iter().filter(|((segments, end), _)| match end {
        PathEnd::Scalar => *segments == leaf,
        PathEnd::Subtree => leaf.starts_with(segments),
    });
    let precision = |((segments, end), _): &(&IndexKey, &bool)| (segments.len(), *end == PathEnd::Scalar);
    covering.max_by_key(precision).is_some_and(|(_, indexed)| *indexed)
}

type IndexKey = (Vec<PathSegment>, PathEnd);

fn any_segment() -> impl Strategy<Value = PathSegment> {
    prop_oneof![
        3 => "[ab]".prop_map(PathSegment::Property),
        // More names than are searched one by one.
        1 => "[c-z]".prop_map(PathSegment::Property),
        1 => Just(PathSegment::Elements),
    ]
}

fn text_of(segments: &[PathSegment], end: PathEnd) -> String {
    let step = |segment: &PathSegment| match segment {
        PathSegment::Property(name) => format!("/{name}"),
        PathSegment::Elements => "/[]".to_owned(),
    };
    let steps: String = segments.iter().map(step).collect();
    steps + if end == PathEnd::Scalar { "/?" } else { "/*" }
}

proptest! {
    #[test]
    fn the_most_precise_path_wins(
        root in any::<bool>(),
        paths in prop::collection::btree_map(
            (
                prop::collection::vec(any_segment(), 1..4),
                prop_oneof![Just(PathEnd::Scalar), Just(PathEnd::Subtree)],
            ),
            any::<bool>(),
            0..40,
        ),
        leaves in prop::collection::vec(prop::collection::vec(any_segment(), 1..5), 1..20),
    ) {
        let mut paths = paths;
        paths.insert((Vec::new(), PathEnd::Subtree), root);
        let with = |indexed: bool| -> Vec<String> {
            let chosen = paths.iter().filter(|(_, own)| **own == indexed);
            chosen.map(|((segments, end), _)| text_of(segments, *end)).collect()
        };
        let (included, excluded) = (with(true), with(false));
        let included: Vec<&str> = included.iter().map(String::as_str).collect();
        let excluded: Vec<&str> = excluded.iter().map(String::as_str).collect();
        let matcher = Matcher::new(&policy(&included, &excluded));
        for leaf in leaves {
            let expected = decide(&paths, &leaf);
            prop_assert_eq!(matcher.is_path_indexed(&leaf), expected, "{:?}", &leaf);
            // A walk may skip what is barren: nothing indexed may lie there.
            let mut position = matcher.root();
            for segment in &leaf {
                prop_assert!(!expected || !matcher.is_barren(position));
                position = match segment {
                    PathSegment::Property(name) => matcher.property(position, name),
                    PathSegment::Elements => matcher.elements(position),
                };
            }
            prop_assert!(!expected || !matcher.is_barren(position));
        }
    }
}
