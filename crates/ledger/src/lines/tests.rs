use proptest::prelude::*;

use super::*;

#[track_caller]
fn read(text: &str) -> Line {
    read_line(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

#[test]
fn each_op_is_read_and_written_as_it_was() {
    for text in [
        r#"{"container":"posts","op":"read","id":"1","partitionKey":["x"]}"#,
        r#"{"container":"blog/posts","op":"create","item":{"id":"1","n":1.5},"count":3}"#,
        r#"{"container":"posts","op":"upsert","item":{"id":"1"},"partitionKey":[1,null,true,{},0.5]}"#,
        r#"{"container":"posts","op":"replace","id":"1","item":{"id":"1"}}"#,
        r#"{"container":"posts","op":"patch","id":"1","operations":[{"op":"incr","path":"/n","value":1}]}"#,
        r#"{"container":"posts","op":"delete","id":"1","perSecond":2.5}"#,
        r#"{"container":"posts","op":"query","query":"SELECT * FROM c WHERE c.a = @a","parameters":[{"name":"@a","value":[1]}],"partitionKey":["x"],"count":10}"#,
        r#"{"container":"posts","op":"query","query":"SELECT * FROM c","caller":"home page 5"}"#,
        r#"{"container":"posts","op":"procedure","name":"close","arguments":[1,"a"],"partitionKey":[]}"#,
        r#"{"container":"posts","op":"list"}"#,
        r#"{"container":"posts","op":"changes"}"#,
    ] {
        assert_eq!(write_line(&read(text)), text);
    }
    let line = read(r#" {"op":"replace","item":{"id":"7"},"container":"posts"} "#);
    assert_eq!(
        line.asked,
        Asked::Replace { id: "7".to_owned(), item: json::parse(b"{\"id\":\"7\"}").unwrap() }
    );
    assert_eq!((line.count, line.per_second, line.caller), (1, None, None));
}

#[test]
fn lines_are_noted_as_what_was_asked() {
    let mut item = Vec::new();
    let line = read(r#"{"container":"posts","op":"upsert","item":{"type":"post"}}"#);
    assert!(matches!(line.act(&mut item), Act::Create { item: br#"{"type":"post"}"# }));
    let line = read(
        r#"{"container":"posts","op":"query","query":"SELECT 1","parameters":[{"name":"@a","value":1}]}"#,
    );
    let Act::Query { text: "SELECT 1", parameters: [(name, Value::Int64(1))] } = line.act(&mut item) else {
        panic!("{line:?}")
    };
    assert_eq!(name, "@a");
}

#[test]
fn errors_say_what_is_wrong_and_what_is_expected() {
    for (text, expected) in [
        ("", "the line is not JSON: unexpected end of text at line 1 column 1"),
        ("{\"op\":}", "the line is not JSON: expected a value at line 1 column 7"),
        (
            "[]",
            r#"expected an object such as {"container":"posts","op":"read","id":"1","partitionKey":["1"]}, found an array"#,
        ),
        ("{}", "a line needs op"),
        (r#"{"op":5}"#, "op: expected a text, found a number"),
        (
            r#"{"op":"get"}"#,
            "op \"get\" is not known: expected one of read, create, replace, upsert, patch, delete, query, procedure, \
             list, changes",
        ),
        (r#"{"op":"list"}"#, "a line needs container"),
        (r#"{"op":"list","container":""}"#, "container: expected a text, found an empty one"),
        (r#"{"op":"read","container":"a"}"#, "a line with op read needs id"),
        (
            r#"{"op":"read","container":"a","id":"1","query":"x"}"#,
            "\"query\" is no member of a line with op read: expected id, container, op, partitionKey, count, \
             perSecond, caller",
        ),
        (
            r#"{"op":"create","container":"a","item":[]}"#,
            "item: expected the whole item as an object, found an array",
        ),
        (
            r#"{"op":"replace","container":"a","item":{}}"#,
            "a line with op replace needs id, or an item that has one",
        ),
        (
            r#"{"op":"patch","container":"a","id":"1","operations":{}}"#,
            "operations: expected an array, found an object",
        ),
        (
            r#"{"op":"query","container":"a","query":"x","parameters":[{"name":"@a"}]}"#,
            r#"parameters: 0: expected an object such as {"name":"@a","value":1}"#,
        ),
        (
            r#"{"op":"query","container":"a","query":"x","parameters":[{"name":"a","value":1}]}"#,
            "parameters: 0: expected a name that begins with @, found \"a\"",
        ),
        (
            r#"{"op":"list","container":"a","partitionKey":"x"}"#,
            r#"partitionKey: expected an array of scalars such as ["x"], with {} where there is none, found a text"#,
        ),
        (
            r#"{"op":"list","container":"a","partitionKey":[[]]}"#,
            r#"partitionKey: expected an array of scalars such as ["x"], with {} where there is none, found an array in it"#,
        ),
        (r#"{"op":"list","container":"a","count":0}"#, "count: expected a whole number from 1 on, found 0"),
        (
            r#"{"op":"list","container":"a","count":1.5}"#,
            "count: expected a whole number from 1 on, found 1.5",
        ),
        (r#"{"op":"list","container":"a","perSecond":-1}"#, "perSecond: expected a number above 0, found -1"),
        (
            r#"{"op":"list","container":"a","perSecond":"2"}"#,
            "perSecond: expected a number above 0, found a text",
        ),
        (r#"{"op":"list","container":"a","caller":null}"#, "caller: expected a text, found null"),
    ] {
        assert_eq!(read_line(text.as_bytes()), Err(expected.to_owned()), "{text}");
    }
    let long = vec![b' '; LINE_BYTES_MAX + 1];
    assert_eq!(read_line(&long), Err("the line has 4194305 bytes, and at most 4194304 are read".to_owned()));
}

fn plain_value() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_map(Value::Double),
        ".{0,5}".prop_map(Value::String),
    ];
    scalar.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
            proptest::collection::vec((".{0,3}", inner), 0..3)
                .prop_map(|members| Value::from(Object::from(members))),
        ]
    })
}

fn line() -> impl Strategy<Value = Line> {
    let members = || proptest::collection::vec(("[a-c]", plain_value()), 0..3);
    let item = || members().prop_map(|members| Value::from(Object::from(members)));
    let values = || proptest::collection::vec(plain_value(), 0..3);
    let parameters = proptest::collection::vec(("@[a-z]{1,3}", plain_value()), 0..3);
    let asked = prop_oneof![
        ".{1,5}".prop_map(|id| Asked::Read { id }),
        item().prop_map(|item| Asked::Create { item }),
        item().prop_map(|item| Asked::Upsert { item }),
        (".{1,5}", item()).prop_map(|(id, item)| Asked::Replace { id, item }),
        (".{1,5}", values()).prop_map(|(id, operations)| Asked::Patch { id, operations }),
        ".{1,5}".prop_map(|id| Asked::Delete { id }),
        (".{1,9}", parameters).prop_map(|(text, parameters)| Asked::Query { text, parameters }),
        (".{1,5}", values()).prop_map(|(name, arguments)| Asked::Procedure { name, arguments }),
        Just(Asked::List),
        Just(Asked::Changes),
    ];
    let component = prop_oneof![
        Just(Component::Undefined),
        Just(Component::Null),
        any::<bool>().prop_map(Component::Bool),
        any::<f64>().prop_map(Component::Number),
        (-100_000_i32..100_000).prop_map(|number| Component::Number(f64::from(number))),
        ".{0,5}".prop_map(Component::String),
    ];
    let key = proptest::option::of(proptest::collection::vec(component, 0..3).prop_map(PartitionKey));
    let per_second = proptest::option::of(0.001..1e9_f64);
    (".{1,5}", asked, key, 1..i64::MAX as u64, per_second, proptest::option::of(".{1,5}")).prop_map(
        |(container, asked, key, count, per_second, caller)| Line {
            container,
            asked,
            key,
            count,
            per_second,
            caller,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_are_read_back(line in line()) {
        let written = write_line(&line);
        prop_assert!(!written.contains('\n'));
        prop_assert_eq!(read_line(written.as_bytes()), Ok(line));
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in "[{}\\[\\]:,\"a-z@1 ]{0,60}", op in 0..MEMBERS.len()) {
        let _ = read_line(text.as_bytes());
        let _ = read_line(format!("{{\"container\":\"a\",\"op\":\"{}\",{text}}}", MEMBERS[op].0).as_bytes());
    }
}
