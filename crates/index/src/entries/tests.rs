//! Which entries items have.

use std::collections::BTreeSet;

use armilla_value::{Object, Stored, json, stored};
use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;
use crate::range::composite_terms_of;
use crate::testing::{self, matcher, policy};

type Entries = BTreeSet<(IndexId, Vec<u8>)>;

fn entries_of(matcher: &Matcher, item: &Value, computed: &Computed) -> (Entries, Vec<IndexId>) {
    let bytes = stored::encode_value(item, &[]).unwrap();
    let mut entries = Entries::new();
    let incomplete =
        visit_entries(matcher, Stored::open(&bytes).unwrap().root(), TS_VALUE, computed, |id, term| {
            entries.insert((id, term.to_vec()));
        });
    (entries, incomplete)
}

const TS_VALUE: u32 = 1_700_000_000;

/// Every path of a value with the value there, the value itself included.
fn walk(path: &mut Vec<PathSegment>, value: &Value, visit: &mut impl FnMut(&[PathSegment], &Value)) {
    if !path.is_empty() {
        visit(path, value);
    }
    match value {
        Value::Object(object) => {
            for (name, member) in object.iter() {
                path.push(PathSegment::Property(name.to_owned()));
                walk(path, member, visit);
                path.pop();
            }
        }
        Value::Array(elements) => {
            path.push(PathSegment::Elements);
            elements.iter().for_each(|element| walk(path, element, visit));
            path.pop();
        }
        _ => {}
    }
}

/// The item as queries see it: computed properties in the place of stored ones.
fn seen(item: &Value, computed: &Computed) -> Value {
    let mut object = item.as_object().unwrap().clone();
    for (name, value) in computed {
        object.remove(name);
        if let Some(value) = value {
            object.insert(name, value.clone());
        }
    }
    object.insert("_ts", Value::from(TS_VALUE));
    Value::Object(object)
}

/// The rule, spelled out: an entry for every value at an indexed path, and for the lack of an explicit one.
fn expected_entries(matcher: &Matcher, item: &Value, computed: &Computed, explicit: &[&str]) -> Entries {
    let item = seen(item, computed);
    let mut entries = Entries::new();
    let mut paths = BTreeSet::new();
    walk(&mut Vec::new(), &item, &mut |path, value| {
        paths.insert(path.to_vec());
        if matcher.is_path_indexed(path) {
            entries.insert((IndexId::of_path(path), term::of(Some(value))));
        }
    });
    for path in explicit {
        let segments: Vec<_> = path.split('/').map(|name| PathSegment::Property(name.to_owned())).collect();
        assert!(matcher.has_undefined_entries(&segments), "{path}");
        if !paths.contains(&segments) {
            entries.insert((IndexId::of_path(&segments), term::of(None)));
        }
    }
    entries
}

/// Shows the entries of an item, those of composite indexes by component.
#[track_caller]
fn check_entries(policy_text: &str, item: &str, expect: Expect) {
    let matcher = matcher(policy_text);
    let item = json::parse(item.as_bytes()).unwrap();
    let (entries, incomplete) = entries_of(&matcher, &item, &[]);
    let mut names = std::collections::HashMap::new();
    let bytes = stored::encode_value(&item, &[]).unwrap();
    visit_paths(&matcher, Stored::open(&bytes).unwrap().root(), &[], |path| {
        let text: String = path.segments().iter().map(segment_text).collect();
        names.insert(IndexId(path.fingerprint()), text);
    });
    for path in matcher.explicit() {
        names.insert(path.id, format!("/{}", path.names.join("/")));
    }
    for name in ["id", "_ts"] {
        names.insert(IndexId::of_property(name), format!("/{name}"));
    }
    let value = |term: &[u8]| match term::decode(term) {
        Some(Some(value)) => json::to_string(&value),
        Some(None) => "undefined".to_owned(),
        None => format!("cut {:02x}", term[0]),
    };
    let mut shown: Vec<String> = entries
        .iter()
        .map(|(id, term)| match matcher.composites().iter().find(|index| index.id == *id) {
            None => format!("{} {}", names[id], value(term)),
            Some(index) => {
                let descending: Vec<bool> = index.paths.iter().map(|(_, descending)| *descending).collect();
                let parts = composite_terms_of(term, &descending).unwrap();
                let parts: Vec<String> = parts.iter().map(|term| value(term)).collect();
                format!("{} ({})", if index.is_tuple { "tuple" } else { "composite" }, parts.join(", "))
            }
        })
        .collect();
    shown.sort();
    if !incomplete.is_empty() {
        shown.push(format!("{} incomplete", incomplete.len()));
    }
    expect.assert_eq(&shown.join("\n"));
}

fn segment_text(segment: &PathSegment) -> String {
    match segment {
        PathSegment::Property(name) => format!("/{name}"),
        PathSegment::Elements => "/[]".to_owned(),
    }
}

#[test]
fn every_value_has_an_entry_under_the_default_policy() {
    check_entries(
        "{}",
        r#"{"id":"1","n":1.0,"o":{"x":"y"},"tags":["a","b","a",[1],{"k":1}],"none":null,"_etag":"e","_ts":5}"#,
        expect![[r#"
            /_ts 1700000000
            /id "1"
            /n 1
            /none null
            /o cut 28
            /o/x "y"
            /tags cut 20
            /tags/[] "a"
            /tags/[] "b"
            /tags/[] cut 20
            /tags/[] cut 28
            /tags/[]/[] 1
            /tags/[]/k 1"#]],
    );
}

#[test]
fn explicit_paths_have_undefined_entries_and_wildcards_none() {
    let policy = r#"{"includedPaths":[{"path":"/a/?"},{"path":"/b/c/?"},{"path":"/d/*"},{"path":"/e/[]/f/?"},{"path":"/id/?"},{"path":"/_ts/?"}],"excludedPaths":[{"path":"/*"}]}"#;
    check_entries(
        policy,
        r#"{"id":"1","x":1}"#,
        expect![[r#"
            /_ts 1700000000
            /a undefined
            /b/c undefined
            /id "1""#]],
    );
    check_entries(
        policy,
        r#"{"id":"1","a":[1],"b":[{"c":1}],"d":{"x":[2]},"e":[{"f":1},{"g":2},{"f":{"h":3}}]}"#,
        expect![[r#"
            /_ts 1700000000
            /a cut 20
            /b/c undefined
            /d cut 28
            /d/x cut 20
            /d/x/[] 2
            /e/[]/f 1
            /e/[]/f cut 28
            /id "1""#]],
    );
}

#[test]
fn modes_and_system_properties() {
    check_entries(r#"{"indexingMode":"none"}"#, r#"{"id":"1","a":1}"#, expect![""]);
    check_entries(
        r#"{"excludedPaths":[{"path":"/*"}]}"#,
        r#"{"id":"1","a":1}"#,
        expect![[r#"
            /_ts 1700000000
            /id "1""#]],
    );
    let route = |path: &str| -> Vec<PathSegment> {
        path.split('/').map(|name| PathSegment::Property(name.to_owned())).collect()
    };
    let default = matcher("{}");
    for (path, indexed) in [
        ("id", true),
        ("_ts", true),
        ("_rid", false),
        ("_self", false),
        ("_etag", false),
        ("_attachments", false),
        ("_ts/x", false),
        ("_x", true),
        ("a/_rid", true),
    ] {
        assert_eq!(default.is_path_indexed(&route(path)), indexed, "{path}");
    }
    assert!(!default.is_path_indexed(&[]));
    let none = matcher(r#"{"indexingMode":"none"}"#);
    assert!(!none.is_path_indexed(&route("id")) && !none.has_undefined_entries(&route("id")));
    // An excluded id has its entries all the same.
    let excluded =
        matcher(r#"{"includedPaths":[{"path":"/*"}],"excludedPaths":[{"path":"/id/?"},{"path":"/_ts/?"}]}"#);
    assert!(excluded.is_path_indexed(&route("id")) && excluded.has_undefined_entries(&route("_ts")));
    // The index does not have what is not stored: such composite indexes are not there.
    let etag = matcher(
        r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/_etag"}],[{"path":"/a"},{"path":"/_ts"}]]}"#,
    );
    assert_eq!(etag.composites().len(), 1);
}

#[test]
fn composite_entries() {
    let pair = r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]],"excludedPaths":[{"path":"/*"}]}"#;
    let head = "/_ts 1700000000\n/id \"1\"\n";
    for (item, expected) in [
        (r#"{"id":"1","a":1,"b":"x"}"#, "composite (1, \"x\")"),
        (r#"{"id":"1","b":[1]}"#, "composite (undefined, undefined)"),
        (r#"{"id":"1","a":{"x":1},"b":null}"#, "composite (undefined, null)"),
    ] {
        let expected = format!("{head}{expected}");
        let (entries, _) = entries_of(&matcher(pair), &json::parse(item.as_bytes()).unwrap(), &[]);
        assert_eq!(entries.len(), 3, "{expected}");
    }
    check_entries(
        r#"{"compositeIndexes":[[{"path":"/rows/[]/k"},{"path":"/rows/[]/v","order":"descending"},{"path":"/_ts"}]],"excludedPaths":[{"path":"/*"}]}"#,
        r#"{"id":"1","rows":[{"k":1,"v":"x"},{"k":2},{"k":1,"v":"x"},7]}"#,
        expect![[r#"
            /_ts 1700000000
            /id "1"
            composite (1, "x", 1700000000)
            composite (2, undefined, 1700000000)
            composite (undefined, undefined, 1700000000)"#]],
    );
    check_entries(
        r#"{"includedPaths":[{"path":"/rows/[]/{k, v/w}/?"}],"excludedPaths":[{"path":"/*"}]}"#,
        r#"{"id":"1","rows":[{"k":1,"v":{"w":2}},{"v":{"w":[]}}]}"#,
        expect![[r#"
            /_ts 1700000000
            /id "1"
            tuple (1, 2)
            tuple (undefined, undefined)"#]],
    );
    check_entries(
        r#"{"includedPaths":[{"path":"/rows/[]/{k, v/w}/?"}],"excludedPaths":[{"path":"/*"}]}"#,
        r#"{"id":"1","rows":[]}"#,
        expect![[r#"
            /_ts 1700000000
            /id "1""#]],
    );
    check_entries(
        r#"{"compositeIndexes":[[{"path":"/a/[]"},{"path":"/b/[]"}]],"excludedPaths":[{"path":"/*"}]}"#,
        r#"{"id":"1","a":[1,2],"b":[]}"#,
        expect![[r#"
            /_ts 1700000000
            /id "1"
            composite (1, undefined)
            composite (2, undefined)"#]],
    );
}

#[test]
fn too_many_combinations_are_none_at_all() {
    let policy =
        r#"{"compositeIndexes":[[{"path":"/a/[]"},{"path":"/b/[]"}]],"excludedPaths":[{"path":"/*"}]}"#;
    for (left, right, is_complete) in
        [(100, 100, true), (100, 101, false), (1, 10_000, true), (1, 10_001, false)]
    {
        let list = |count: i64| Value::Array((0..count).map(Value::Int64).collect());
        let item =
            Value::Object(Object::from([("id", Value::from("1")), ("a", list(left)), ("b", list(right))]));
        let (entries, incomplete) = entries_of(&matcher(policy), &item, &[]);
        assert_eq!(entries.len(), if is_complete { 2 + (left * right) as usize } else { 2 });
        assert_eq!(incomplete.is_empty(), is_complete);
    }
}

#[test]
fn computed_properties_hide_stored_ones() {
    let text = r#"{"includedPaths":[{"path":"/*"},{"path":"/low/?"},{"path":"/deep/*"}],"compositeIndexes":[[{"path":"/low"},{"path":"/a"}],[{"path":"/only"},{"path":"/a"}]]}"#;
    let matcher = Matcher::with_computed(&policy(text), &["low", "deep", "unnamed", "only"]);
    let path = |name: &str| vec![PathSegment::Property(name.to_owned())];
    for (name, indexed) in [("low", true), ("deep", true), ("unnamed", false), ("only", false), ("a", true)] {
        assert_eq!(matcher.is_path_indexed(&path(name)), indexed, "{name}");
        assert_eq!(matcher.is_computed(&path(name)), name != "a", "{name}");
    }
    assert_eq!(matcher.indexed_computed().collect::<Vec<_>>(), ["low", "deep", "only"]);
    let item = json::parse(br#"{"id":"1","a":1,"low":"STORED","unnamed":"stored","only":2}"#).unwrap();
    let computed = [
        ("low".to_owned(), Some(Value::from("low"))),
        ("deep".to_owned(), Some(json::parse(br#"{"x":[1]}"#).unwrap())),
        ("unnamed".to_owned(), Some(Value::from("computed"))),
        ("only".to_owned(), None),
    ];
    let (entries, _) = entries_of(&matcher, &item, &computed);
    let of = |name: &str| -> Vec<Option<Option<Value>>> {
        let id = IndexId::of_property(name);
        entries.iter().filter(|(own, _)| *own == id).map(|(_, term)| term::decode(term)).collect()
    };
    assert_eq!(of("low"), [Some(Some(Value::from("low")))]);
    assert_eq!(of("deep"), [None]);
    assert!(of("unnamed").is_empty());
    assert!(of("only").is_empty());
    let composites: Vec<_> = matcher
        .composites()
        .iter()
        .map(|index| {
            let (_, term) = entries.iter().find(|(id, _)| *id == index.id).unwrap();
            composite_terms_of(term, &[false, false]).unwrap()
        })
        .collect();
    let one = || term::of(Some(&Value::Int64(1)));
    assert_eq!(composites, [vec![term::of(Some(&Value::from("low"))), one()], vec![term::of(None), one()]]);
    // Without its value it is undefined, whatever is stored.
    let (entries, _) = entries_of(&matcher, &item, &[]);
    assert!(entries.contains(&(IndexId::of_property("low"), term::of(None))));
}

#[test]
fn ids_stay() {
    let policy = policy(
        r#"{"includedPaths":[{"path":"/*"},{"path":"/t/[]/{a, b}/?"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]]}"#,
    );
    let shown: Vec<String> =
        Matcher::new(&policy).composites().iter().map(|index| format!("{:016x}", index.id.0)).collect();
    let path = [PathSegment::Property("a".into()), PathSegment::Elements, PathSegment::Property("b".into())];
    expect!["21af0f3763b15518 27a2647532c28341 49bce4e303d1cd78 0efedae8811da42d"].assert_eq(&format!(
        "{} {:016x} {:016x}",
        shown.join(" "),
        IndexId::of_path(&path).0,
        IndexId::of_property("_ts").0
    ));
}

fn included() -> impl Strategy<Value = BTreeSet<(Vec<String>, bool, bool)>> {
    let segment = prop_oneof![4 => "[a-d]", 1 => Just("[]".to_owned())];
    let path = ("[a-d]", prop::collection::vec(segment, 0..3))
        .prop_map(|(first, rest)| std::iter::once(first).chain(rest).collect::<Vec<_>>());
    prop::collection::btree_set((path, any::<bool>(), any::<bool>()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn entries_are_those_of_the_rule(
        item in testing::item(),
        root in any::<bool>(),
        paths in included(),
        computed in prop::option::of(prop::option::of(testing::value())),
    ) {
        // One path is not both: the first word counts.
        let mut seen = BTreeSet::new();
        let (mut included, mut excluded, mut explicit) = (Vec::new(), Vec::new(), Vec::new());
        let list = if root { &mut included } else { &mut excluded };
        list.push("/*".to_owned());
        for (segments, scalar, indexed) in &paths {
            let text = format!("/{}/{}", segments.join("/"), if *scalar { "?" } else { "*" });
            if !seen.insert(text.clone()) {
                continue;
            }
            if *indexed && *scalar && !segments.contains(&"[]".to_owned()) {
                explicit.push(segments.join("/"));
            }
            if *indexed { included.push(text) } else { excluded.push(text) }
        }
        let list = |paths: &[String]| {
            let paths: Vec<String> = paths.iter().map(|path| format!(r#"{{"path":"{path}"}}"#)).collect();
            paths.join(",")
        };
        let text = format!(r#"{{"includedPaths":[{}],"excludedPaths":[{}]}}"#, list(&included), list(&excluded));
        let names: Vec<&str> = computed.iter().map(|_| "b").collect();
        let computed: Vec<_> = computed.into_iter().map(|value| ("b".to_owned(), value)).collect();
        let matcher = Matcher::with_computed(&policy(&text), &names);
        let explicit: Vec<&str> = explicit.iter().map(String::as_str).collect();
        let (entries, incomplete) = entries_of(&matcher, &item, &computed);
        prop_assert!(incomplete.is_empty());
        prop_assert_eq!(entries, expected_entries(&matcher, &item, &computed, &explicit), "{}", text);
    }

    #[test]
    fn every_entry_of_a_path_can_be_named(item in testing::item()) {
        let matcher = matcher("{}");
        let bytes = stored::encode_value(&item, &[]).unwrap();
        let root = Stored::open(&bytes).unwrap().root();
        let mut named = BTreeSet::from([IndexId::of_property("_ts")]);
        visit_paths(&matcher, root, &[], |path| {
            assert_eq!(IndexId::of_path(&path.segments()), IndexId(path.fingerprint()));
            named.insert(IndexId(path.fingerprint()));
        });
        let (entries, _) = entries_of(&matcher, &item, &[]);
        prop_assert_eq!(entries.into_iter().map(|(id, _)| id).collect::<BTreeSet<_>>(), named);
    }
}
