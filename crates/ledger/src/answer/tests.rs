use super::*;

fn read(rows: &[&str]) -> Answer {
    Answer::read(rows.iter().map(|row| row.as_bytes()))
}

/// The paths at which a text is.
fn at(answer: &Answer, text: &str) -> Vec<String> {
    let hash = values::of_text(text).unwrap();
    answer.paths_of(hash).map(|place| answer.paths[usize::from(place)].path.to_string()).collect()
}

fn rows_of(answer: &Answer, path: &str) -> Option<u64> {
    answer.paths.iter().find(|known| &*known.path == path).map(|known| known.rows)
}

#[test]
fn values_are_found_at_their_paths() {
    let answer = read(&[
        r#"{"id":"post-1","userId":"user-1","tags":["rust","data"],"a":{"b":{"c":"deep"}},"n":5,"x":true}"#,
        r#" {"id":"post-2","userId":"user-1","tags":[],"_etag":"\"abc\"","_ts":1600000000}"#,
    ]);
    assert_eq!(at(&answer, "post-2"), ["/id"]);
    assert_eq!(at(&answer, "user-1"), ["/userId"]);
    assert_eq!(at(&answer, "data"), ["/tags/[]"]);
    assert_eq!(at(&answer, "deep"), ["/a/b/c"]);
    assert_eq!(at(&answer, "user-2"), Vec::<String>::new());
    let mut paths: Vec<_> = answer.paths.iter().map(|path| (&*path.path, path.rows)).collect();
    paths.sort_unstable();
    assert_eq!(paths, [("/a/b/c", 1), ("/id", 2), ("/tags/[]", 1), ("/userId", 2)]);
    assert_eq!(answer.hashes.len(), 6);
}

#[test]
fn rows_may_be_scalars_and_arrays() {
    let answer = read(&["\"user-1\"", "1234", "[\"user-2\"]", "7", "null", "", "{", "[1,"]);
    assert_eq!(at(&answer, "user-1"), [""]);
    assert_eq!(at(&answer, "user-2"), ["/[]"]);
    assert_eq!(rows_of(&answer, ""), Some(2));
}

#[test]
fn a_value_at_several_paths_is_at_all_of_them() {
    let answer = read(&[r#"{"id":"abc","pk":"abc","other":"abc"}"#]);
    assert_eq!(at(&answer, "abc"), ["/id", "/pk", "/other"]);
}

#[test]
fn what_items_say_they_are_is_told_and_no_value() {
    let answer = read(&[r#"{"type":"post","id":"post"}"#, r#"{"id":"post-2"}"#]);
    assert_eq!(answer.entity, Entity::Said("post".into()));
    assert_eq!(at(&answer, "post"), ["/id"]);
    let answer = read(&[r#"{"type":"post"}"#, r#"{"type":"comment"}"#]);
    assert_eq!(answer.entity, Entity::Mixed);
    assert_eq!(at(&answer, "post"), ["/type"]);
    assert_eq!(read(&["{}"]).entity, Entity::Unsaid);
}

#[test]
fn what_answers_say_together() {
    let said = |name: &str| Entity::Said(name.into());
    for (one, other, both) in [
        (Entity::Unsaid, Entity::Unsaid, Entity::Unsaid),
        (Entity::Unsaid, said("a"), said("a")),
        (said("a"), Entity::Unsaid, said("a")),
        (said("a"), said("a"), said("a")),
        (said("a"), said("b"), Entity::Mixed),
        (Entity::Unsaid, Entity::Mixed, Entity::Mixed),
        (said("a"), Entity::Mixed, Entity::Mixed),
        (Entity::Mixed, said("a"), Entity::Mixed),
    ] {
        let mut merged = one.clone();
        merged.merge(&other);
        assert_eq!(merged, both, "{one:?} {other:?}");
    }
}

#[test]
fn answers_are_read_within_bounds() {
    // Rows.
    let many: Vec<String> = (0..ORIGIN_ROWS_MAX + 5).map(|row| format!("\"value-{row}\"")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(rows_of(&read(&many), ""), Some(ORIGIN_ROWS_MAX as u64));
    // Bytes.
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(ORIGIN_BYTES_MAX / 4));
    assert_eq!(rows_of(&read(&[large.as_str(); 5]), "/a"), Some(3));
    // Values of a row, those outside of arrays first; elements of an array.
    let members = |count: usize| {
        let members: Vec<String> = (0..count).map(|at| format!("\"m{at}\":\"value-{at}\"")).collect();
        members.join(",")
    };
    let elements: Vec<String> = (0..100).map(|at| format!("\"element-{at}\"")).collect();
    let row = format!("{{\"list\":[{}],{}}}", elements.join(","), members(60));
    let answer = read(&[&row]);
    assert_eq!(answer.hashes.len(), ROW_VALUES_MAX);
    assert_eq!(at(&answer, "value-59"), ["/m59"]);
    assert_eq!(at(&answer, "element-3"), ["/list/[]"]);
    assert!(at(&answer, "element-4").is_empty());
    let answer = read(&[&format!("[{}]", elements.join(","))]);
    assert_eq!(answer.hashes.len(), ROW_ELEMENTS_MAX);
    // Values of all rows.
    let rows: Vec<String> = (0..200)
        .map(|row| {
            let members: Vec<String> = (0..64).map(|at| format!("\"m{at}\":\"value-{row}-{at}\"")).collect();
            format!("{{{}}}", members.join(","))
        })
        .collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(read(&rows).hashes.len(), ORIGIN_VALUES_MAX);
    // Paths.
    let rows: Vec<String> =
        (0..200).map(|row| format!("{{\"a{row}\":\"abc\",\"b{row}\":\"abc\"}}")).collect();
    let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
    assert_eq!(read(&rows).paths.len(), ORIGIN_PATHS_MAX);
    // Depth, and the length of a path.
    let deep = |depth: usize| format!("{}\"deep\"{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    assert_eq!(at(&read(&[&deep(ROW_DEPTH_MAX)]), "deep").len(), 1);
    assert!(at(&read(&[&deep(ROW_DEPTH_MAX + 1)]), "deep").is_empty());
    let named = |length: usize| format!("{{\"{}\":\"abc\"}}", "n".repeat(length));
    assert_eq!(at(&read(&[&named(PATH_BYTES_MAX - 1)]), "abc").len(), 1);
    assert!(at(&read(&[&named(PATH_BYTES_MAX)]), "abc").is_empty());
}
