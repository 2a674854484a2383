//! Layouts: their texts, and what may be used of them.

use armilla_value::json;

use super::*;

fn layout(policy: &str, computed: &str) -> Arc<Layout> {
    let text = format!(
        r#"{{"id":"c","partitionKey":{{"paths":["/pk"]}},"indexingPolicy":{policy},"computedProperties":{computed}}}"#
    );
    let value = json::parse(text.as_bytes()).unwrap();
    Arc::new(Layout::of(&ContainerDefinition::from_value(&value).unwrap()))
}

fn path(text: &str) -> Vec<PathSegment> {
    armilla_index::paths::PropertyRoute::parse(text).unwrap().segments().to_vec()
}

const COMPUTED: &str =
    r#"[{"name":"x","query":"SELECT VALUE 1 FROM c"},{"name":"y","query":"SELECT VALUE 2 FROM c"}]"#;

#[test]
fn what_has_no_say_makes_no_difference() {
    let base = layout("{}", "[]");
    let same = [
        r#"{"indexingMode":"lazy"}"#,
        r#"{"automatic":false}"#,
        r#"{"includedPaths":[{"path":"/"}]}"#,
        r#"{"compositeIndexes":[]}"#,
        r#"{"spatialIndexes":[{"path":"/loc/*","types":["Point"]}]}"#,
    ];
    for policy in same {
        assert!(*layout(policy, "[]") == *base, "{policy}");
    }
    let different = [
        (r#"{"indexingMode":"none"}"#, "[]"),
        (r#"{"includedPaths":[{"path":"/*"},{"path":"/a/?"}]}"#, "[]"),
        (r#"{"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}"#, "[]"),
        // A computed property hides a stored one.
        ("{}", COMPUTED),
    ];
    for (policy, computed) in different {
        assert!(*layout(policy, computed) != *base, "{policy}");
    }
    // The query of one that has no entries does not matter.
    let other = COMPUTED.replace("VALUE 1", "VALUE 3");
    assert!(*layout("{}", COMPUTED) == *layout("{}", &other));
    let named = r#"{"includedPaths":[{"path":"/*"},{"path":"/x/?"}]}"#;
    assert!(*layout(named, COMPUTED) != *layout(named, &other));
    assert!(*layout(r#"{"indexingMode":"none"}"#, "[]") == Layout::nothing());
}

#[test]
fn records_come_back() {
    let policies = [
        "{}",
        r#"{"indexingMode":"none"}"#,
        r#"{"includedPaths":[{"path":"/x/?"},{"path":"/t/[]/{a, b}/?"}],"excludedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/y"},{"path":"/b","order":"descending"}]]}"#,
    ];
    for target in policies {
        for built in [None, Some(policies[0]), Some(policies[1]), Some(policies[2])] {
            let layouts =
                Layouts { target: layout(target, COMPUTED), built: built.map(|built| layout(built, "[]")) };
            let bytes = layouts.encode();
            let read = Layouts::decode(&bytes).unwrap();
            assert!(*read.target == *layouts.target);
            assert_eq!(read.built.is_some(), layouts.built.is_some());
            assert!(read.built.as_deref() == layouts.built.as_deref());
            assert_eq!(read.encode(), bytes);
            assert_eq!(read.target.matcher.composites(), layouts.target.matcher.composites());
            assert_eq!(read.target.has_computed, layouts.target.has_computed);
        }
    }
    let mixed = layout(policies[2], COMPUTED).mixed(None).unwrap();
    assert!(mixed.mixed(None).is_none());
    let read = Layouts::decode(&Layouts::of(Arc::new(mixed)).encode()).unwrap();
    assert!(*read.target != *layout(policies[2], COMPUTED));
    for bytes in [&b""[..], b"\x01", b"\x02{}", b"\x01{}", b"\x01{\"target\":1,\"built\":false}"] {
        assert!(Layouts::decode(bytes).is_err());
    }
    let progress = Progress { after: 1, end: 2, done: 3, total: 4 };
    assert_eq!(Progress::decode(&progress.encode()).unwrap(), progress);
    assert!(Progress::decode(&progress.encode()[1..]).is_err());
}

#[test]
fn crowded_indexes_are_counted_up_to_a_bound() {
    let mut crowded = Crowded::default();
    for n in 1..=CROWDED_INDEXES_MAX as u64 {
        crowded.add(IndexId(n));
        crowded.add(IndexId(n));
    }
    assert!(crowded.contains(IndexId(1)) && !crowded.contains(IndexId(u64::MAX)));
    assert_eq!(Crowded::decode(&crowded.encode()).unwrap(), crowded);
    crowded.remove(IndexId(1));
    assert!(crowded.contains(IndexId(1)));
    crowded.remove(IndexId(1));
    assert!(!crowded.contains(IndexId(1)));
    crowded.add(IndexId(1));
    // One past the bound: nothing is known any more, and nothing makes it known again.
    crowded.add(IndexId(u64::MAX));
    assert!(crowded.contains(IndexId(u64::MAX - 1)));
    crowded.remove(IndexId(u64::MAX));
    assert!(crowded.contains(IndexId(u64::MAX - 1)));
    assert!(
        Crowded::decode(b"\x01abc").is_err()
            && Crowded::decode(b"").is_err()
            && Crowded::decode(b"\x02").is_err()
    );
}

#[test]
fn only_what_all_layouts_have_is_usable() {
    let all = layout("{}", "[]");
    let some = layout(
        r#"{"includedPaths":[{"path":"/a/?"}],"excludedPaths":[{"path":"/*"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b"}]]}"#,
        "[]",
    );
    let none = Arc::new(Layout::nothing());
    let usable = |wanted: &Arc<Layout>, target: &Arc<Layout>, built: Option<&Arc<Layout>>| {
        let layouts = Layouts { target: target.clone(), built: built.cloned() };
        let usable = Usable::new(wanted, &layouts, Arc::default(), true);
        let paths = ["/a", "/b", "/id"].map(|name| usable.is_path_usable(&path(name)));
        (paths, usable.has_undefined_entries(&path("/a")), usable.composites().len())
    };
    assert_eq!(usable(&all, &all, None), ([true, true, true], false, 0));
    assert_eq!(usable(&some, &some, None), ([true, false, true], true, 1));
    assert_eq!(usable(&some, &some, Some(&all)), ([true, false, true], false, 0));
    assert_eq!(usable(&some, &all, None), ([true, false, true], false, 0));
    assert_eq!(usable(&all, &some, Some(&none)), ([false, false, false], false, 0));
    assert_eq!(usable(&none, &all, None), ([false, false, false], false, 0));
}

#[test]
fn names() {
    let layout = layout(
        r#"{"includedPaths":[{"path":"/*"},{"path":"/\"a b\"/[]/c/?"},{"path":"/t/[]/{a, b}/?"}],"compositeIndexes":[[{"path":"/a"},{"path":"/b","order":"descending"}]]}"#,
        "[]",
    );
    let name = |id: IndexId| layout.name(id).map(str::to_owned);
    assert_eq!(name(IndexId::of_property("id")).as_deref(), Some("/id/?"));
    assert_eq!(name(IndexId::of_path(&path("/\"a b\"/[]/c"))).as_deref(), Some("/\"a b\"/[]/c/?"));
    let composites: Vec<_> =
        layout.matcher.composites().iter().map(|index| name(index.id).unwrap()).collect();
    assert_eq!(composites, ["/t/[]/{a, b}/?", "/a ASC, /b DESC"]);
    assert_eq!(name(IndexId::of_path(&path("/z"))), None);
    for length in
        [INDEX_PATH_TEXT_BYTES_MAX - 4, INDEX_PATH_TEXT_BYTES_MAX - 3, INDEX_PATH_TEXT_BYTES_MAX, 100_000]
    {
        let text = path_text(&[PathSegment::Property("é".repeat(length / 2))]);
        assert!(text.len() <= INDEX_PATH_TEXT_BYTES_MAX && text.len() > 500, "{}", text.len());
        let text = path_text(&[PathSegment::Property("n".repeat(length))]);
        assert_eq!(text.ends_with("..."), length > INDEX_PATH_TEXT_BYTES_MAX - 3, "{length}");
    }
}
