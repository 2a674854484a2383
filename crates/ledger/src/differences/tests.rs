use proptest::prelude::*;

use super::*;

/// The differences as lines of a path and how it differs, and the bytes.
fn show(before: &str, after: &str) -> (Vec<String>, u64) {
    let found = compare(before.as_bytes(), after.as_bytes()).unwrap();
    assert!(!found.has_more);
    let line = |(path, difference): (&String, &Difference)| {
        let mut line = path.clone();
        for (is_so, word) in [
            (difference.is_appended, " appended"),
            (difference.is_shortened, " shortened"),
            (difference.is_other, ""),
        ] {
            if is_so {
                line.push_str(word);
            }
        }
        line
    };
    (found.paths.iter().map(line).collect(), found.bytes)
}

#[test]
fn differences_are_told_at_their_paths() {
    let table: &[(&str, &str, &[&str], u64)] = &[
        (r#"{"id":"1","a":1}"#, r#"{"id":"1","a":1}"#, &[], 0),
        // Spelled otherwise.
        (r#"{"a":1,"b":["x"],"c":"d"}"#, r#" { "c" : "\u0064", "b":[ "x" ], "a":1.0 } "#, &[], 0),
        // What the server changes.
        (r#"{"a":1,"_ts":1,"_etag":"x"}"#, r#"{"_ts":2,"a":1,"_etag":"y","_rid":"z"}"#, &[], 0),
        (r#"{"a":1}"#, r#"{"a":22}"#, &["/a"], 2),
        (r#"{"a":1,"b":"x"}"#, r#"{"a":1}"#, &["/b"], 3),
        (r#"{"a":1}"#, r#"{"a":1,"b":{"c":[1,2],"d":"x"}}"#, &["/b"], 5),
        (r#"{"a":{"b":1,"c":2}}"#, r#"{"a":{"b":1,"c":33}}"#, &["/a/c"], 2),
        (r#"{"a":{"_ts":1}}"#, r#"{"a":{"_ts":2}}"#, &["/a/_ts"], 1),
        (r#"{"a":{"b":1}}"#, r#"{"a":"text"}"#, &["/a"], 6),
        (r#"{"a":[1]}"#, r#"{"a":{}}"#, &["/a"], 2),
        (r#"{"a":null}"#, r#"{"a":false}"#, &["/a"], 5),
        // Arrays.
        (r#"{"t":[]}"#, r#"{"t":["a"]}"#, &["/t appended"], 3),
        (r#"{"t":["a"]}"#, r#"{"t":["a","bb",{"c":1}]}"#, &["/t appended"], 5),
        (r#"{"t":["a","bb"]}"#, r#"{"t":["a"]}"#, &["/t shortened"], 4),
        (r#"{"t":["a","bb","c"]}"#, r#"{"t":["a","c"]}"#, &["/t shortened"], 4),
        (r#"{"t":["a"]}"#, r#"{"t":[]}"#, &["/t shortened"], 3),
        (r#"{"t":["a","b"]}"#, r#"{"t":["a","x"]}"#, &["/t/[]"], 3),
        (r#"{"t":["a","b"]}"#, r#"{"t":["new","a","b"]}"#, &["/t/[]"], 5),
        (r#"{"t":["a","b"]}"#, r#"{"t":["x","y","z"]}"#, &["/t/[]"], 9),
        (r#"{"t":[{"n":1,"m":5},{"n":2}]}"#, r#"{"t":[{"n":1,"m":66},{"n":3}]}"#, &["/t/[]/m", "/t/[]/n"], 3),
        (
            r#"{"t":[{"n":[1]},{"n":[1]}]}"#,
            r#"{"t":[{"n":[1,2]},{"n":[]}]}"#,
            &["/t/[]/n appended shortened"],
            2,
        ),
        (r#"{"t":[1,2.0]}"#, r#"{"t":[1.0,2]}"#, &[], 0),
    ];
    for (before, after, paths, bytes) in table {
        let (found, found_bytes) = show(before, after);
        assert_eq!(found, *paths, "{before} {after}");
        assert_eq!(found_bytes, *bytes, "{before} {after}");
    }
}

#[test]
fn an_append_alone_is_known_as_such() {
    for (before, after, is_append, is_alone) in [
        (r#"{"t":[1]}"#, r#"{"t":[1,2]}"#, true, true),
        (r#"{"t":[1],"_ts":1}"#, r#"{"t":[1,2],"_ts":2}"#, true, true),
        (r#"{"t":[1],"n":1}"#, r#"{"t":[1,2],"n":2}"#, false, false),
        (r#"{"t":[1]}"#, r#"{"t":[2]}"#, false, true),
        (r#"{"t":[1]}"#, r#"{"t":[1]}"#, false, false),
        (r#"{"t":[[1],[1]]}"#, r#"{"t":[[1,2],[1,3]]}"#, true, true),
        (r#"{"t":[[1],[1]]}"#, r#"{"t":[[1,2],[]]}"#, false, true),
    ] {
        let found = compare(before.as_bytes(), after.as_bytes()).unwrap();
        assert_eq!((found.is_append(), found.is_alone()), (is_append, is_alone), "{before} {after}");
    }
}

#[test]
fn what_is_no_item_is_not_compared() {
    for text in ["", "1", "[]", "{", "{\"a\"}", "{\"a\":1,}", "{} {}", "\u{feff}{}"] {
        assert_eq!(compare(text.as_bytes(), b"{}"), None, "{text}");
        assert_eq!(compare(b"{}", text.as_bytes()), None, "{text}");
    }
}

#[test]
fn differences_are_told_within_bounds() {
    let wide = |count: usize, value: u32| {
        let members: Vec<String> = (0..count).map(|at| format!("\"m{at}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    };
    let differences = |count: usize| compare(wide(count, 1).as_bytes(), wide(count, 2).as_bytes()).unwrap();
    assert!(!differences(ENTITY_PATHS_MAX).has_more);
    let over = differences(ENTITY_PATHS_MAX + 1);
    assert!(over.has_more);
    assert_eq!((over.paths.len(), over.bytes), (ENTITY_PATHS_MAX, ENTITY_PATHS_MAX as u64 + 1));
    let named = |length: usize, value: u32| format!("{{\"{}\":{value}}}", "n".repeat(length));
    let differences =
        |length: usize| compare(named(length, 1).as_bytes(), named(length, 2).as_bytes()).unwrap();
    assert!(differences(PATH_BYTES_MAX - 1).is_alone());
    assert!(!differences(PATH_BYTES_MAX).is_alone());
    // Depth, far beyond what items may have.
    for depth in [COMPARED_DEPTH_MAX - 2, COMPARED_DEPTH_MAX, 100_000] {
        for (open, close) in [("{\"a\":", "}"), ("[", "]")] {
            let deep = |value: u32| {
                format!("{{\"x\":{}{value}{}}}", open.repeat(depth), close.repeat(depth)).into_bytes()
            };
            assert_ne!(compare(&deep(1), &deep(2)).unwrap().bytes, 0, "{depth}");
            assert_ne!(compare(&deep(1), b"{}").unwrap().bytes, 0, "{depth}");
            assert_eq!(compare(&deep(1), &deep(1)).unwrap(), Differences::default());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_taken(before in "[{}\\[\\]:,\"ab12 ]{0,40}", after in "[{}\\[\\]:,\"ab12 ]{0,40}") {
        compare(before.as_bytes(), after.as_bytes());
        compare(format!("{{\"a\":{before}}}").as_bytes(), format!("{{\"a\":{after}}}").as_bytes());
    }
}
