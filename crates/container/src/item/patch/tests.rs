use armilla_value::{PropertyPath, json};

use super::*;

fn pointer(text: &str) -> Pointer {
    Pointer::parse(text).unwrap()
}

fn value(text: &str) -> Value {
    json::parse(text.as_bytes()).unwrap()
}

fn operation(text: &str) -> Operation {
    let parts: Vec<&str> = text.splitn(3, ' ').collect();
    let path = pointer(parts[1]);
    match parts[0] {
        "add" => Operation::Add { path, value: value(parts[2]) },
        "set" => Operation::Set { path, value: value(parts[2]) },
        "replace" => Operation::Replace { path, value: value(parts[2]) },
        "remove" => Operation::Remove { path },
        "incr" => Operation::Increment { path, by: value(parts[2]) },
        "move" => Operation::Move { from: path, path: pointer(parts[2]) },
        other => panic!("unknown operation {other}"),
    }
}

#[track_caller]
fn check(item: &str, operations: &[&str], expected: std::result::Result<&str, &str>) {
    let patch = Patch::new(operations.iter().map(|text| operation(text)).collect(), 0).unwrap();
    let key = [PropertyPath::parse("/pk/inner").unwrap()];
    let result = patch.check_targets(&key).and_then(|()| patch.apply(value(item), false));
    let actual = result.map(|value| json::to_string(&value)).map_err(|error| error.message);
    match (&actual, expected) {
        (Ok(actual), Ok(expected)) => assert_eq!(actual, expected),
        (Err(actual), Err(expected)) => assert!(actual.contains(expected), "{actual}"),
        _ => panic!("{operations:?}: {actual:?}"),
    }
}

#[test]
fn add() {
    check(r#"{"a":1}"#, &["add /b 2"], Ok(r#"{"a":1,"b":2}"#));
    check(r#"{"a":1,"b":0}"#, &["add /a 2"], Ok(r#"{"a":2,"b":0}"#));
    check(r#"{"a":[1,2]}"#, &["add /a/0 0"], Ok(r#"{"a":[0,1,2]}"#));
    check(r#"{"a":[1,2]}"#, &["add /a/2 3"], Ok(r#"{"a":[1,2,3]}"#));
    check(r#"{"a":[1,2]}"#, &["add /a/- 3"], Ok(r#"{"a":[1,2,3]}"#));
    check(r#"{"a":[1,2]}"#, &["add /a/3 3"], Err("beyond the end"));
    check(r#"{"a":[1,2]}"#, &["add /a/x 3"], Err("names no element"));
    check(r#"{"a":[1,2]}"#, &["add /a/01 3"], Err("names no element"));
    check(r#"{"a":1}"#, &["add /b/c 3"], Err("does not exist"));
    check(r#"{"a":1}"#, &["add /a/c 3"], Err("inside a scalar"));
}

#[test]
fn set() {
    check(r#"{"a":[1,2]}"#, &["set /a/0 0"], Ok(r#"{"a":[0,2]}"#));
    check(r#"{"a":[1,2]}"#, &["set /a/2 3"], Ok(r#"{"a":[1,2,3]}"#));
    check(r#"{"a":{}}"#, &["set /a/b {\"c\":[]}"], Ok(r#"{"a":{"b":{"c":[]}}}"#));
    check(r#"{"a":[1,2]}"#, &["set /a/3 3"], Err("beyond the end"));
}

#[test]
fn replace_and_remove_need_a_target() {
    check(r#"{"a":[1,2]}"#, &["replace /a/1 9"], Ok(r#"{"a":[1,9]}"#));
    check(r#"{"a":1}"#, &["replace /b 9"], Err("does not exist"));
    check(r#"{"a":[1,2],"b":3}"#, &["remove /a/0", "remove /b"], Ok(r#"{"a":[2]}"#));
    check(r#"{"a":[1]}"#, &["remove /a/1"], Err("does not exist"));
    check(r#"{"a":[1]}"#, &["remove /b"], Err("does not exist"));
}

#[test]
fn increment_numbers() {
    check(r#"{"n":1}"#, &["incr /n 2"], Ok(r#"{"n":3}"#));
    check(r#"{"n":1}"#, &["incr /n -0.5"], Ok(r#"{"n":0.5}"#));
    check(r#"{}"#, &["incr /n 5"], Ok(r#"{"n":5}"#));
    check(r#"{"n":9007199254740993}"#, &["incr /n 1"], Ok(r#"{"n":9007199254740994}"#));
    check(r#"{"n":"1"}"#, &["incr /n 1"], Err("does not hold a number"));
    check(r#"{"n":[1]}"#, &["incr /n/0 1"], Ok(r#"{"n":[2]}"#));
    check(r#"{"n":[1]}"#, &["incr /n/1 1"], Err("does not exist"));
    check(r#"{"n":1e308}"#, &["incr /n 1e308"], Err("does not hold a number"));
}

#[test]
fn move_values() {
    check(r#"{"a":1,"b":2}"#, &["move /a /c"], Ok(r#"{"b":2,"c":1}"#));
    check(r#"{"a":1,"b":2}"#, &["move /a /b"], Ok(r#"{"b":1}"#));
    check(r#"{"a":[1,2,3]}"#, &["move /a/0 /a/2"], Ok(r#"{"a":[2,3,1]}"#));
    check(r#"{"a":{"b":1}}"#, &["move /a /a/b"], Err("into itself"));
    check(r#"{"a":{"b":1}}"#, &["move /x /y"], Err("does not exist"));
}

#[test]
fn identity_is_protected() {
    check(r#"{"id":"1"}"#, &["set /id \"2\""], Err("item's id"));
    check(r#"{"id":"1"}"#, &["move /id /x"], Err("item's id"));
    check(r#"{"x":1}"#, &["set /_ts 1"], Err("system property '_ts'"));
    check(r#"{"pk":{"inner":1}}"#, &["set /pk/inner 2"], Err("partition key"));
    check(r#"{"pk":{"inner":1}}"#, &["remove /pk"], Err("partition key"));
    check(r#"{"pk":{"inner":1}}"#, &["set /pk/other 2"], Ok(r#"{"pk":{"inner":1,"other":2}}"#));
}

#[test]
fn pointers() {
    assert_eq!(pointer("/a~1b/~0c").tokens, ["a/b", "~c"]);
    for bad in ["", "a", "/", "/a//b", "/a~", "/a~2", "/a/"] {
        assert!(Pointer::parse(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn number_of_operations_is_bounded() {
    let one = || Operation::Remove { path: pointer("/a") };
    assert!(Patch::new(vec![], 0).is_err());
    assert!(Patch::new(vec![one(); PATCH_OPERATIONS_MAX], 0).is_ok());
    assert!(Patch::new(vec![one(); PATCH_OPERATIONS_MAX + 1], 0).is_err());
}

#[test]
fn operations_see_each_other() {
    check(r#"{"a":[]}"#, &["add /a/- 1", "add /a/- 2", "move /a/0 /first"], Ok(r#"{"a":[2],"first":1}"#));
}

#[test]
fn values_of_text_have_types_where_the_container_has_them() {
    let operations = ["set /a 5", r#"add /b {"$date":{"$numberLong":"5"}}"#, "incr /c 1", "incr /d 1"];
    let patch = Patch::new(operations.iter().map(|text| operation(text)).collect(), 0).unwrap();
    let item = || json::parse_typed(br#"{"c":2147483646,"d":2147483647}"#).unwrap();
    let shown = |patch: &Patch, has_types| format!("{:?}", patch.apply(item(), has_types).unwrap());
    let given = shown(&patch, true);
    assert!(given.contains("Int64(5)") && given.contains("Object"), "{given}");
    let text = patch.from_text();
    assert_eq!(shown(&text, false), given);
    let typed = text.apply(item(), true).unwrap();
    let expected = [Value::Int32(5), Value::Date(5), Value::Int32(i32::MAX), Value::Int64(2_147_483_648)];
    for (name, expected) in ["a", "b", "c", "d"].iter().zip(expected) {
        assert_eq!(format!("{:?}", typed.get(name).unwrap()), format!("{expected:?}"), "{name}");
    }
}
