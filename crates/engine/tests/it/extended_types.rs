//! Containers whose text has types that JSON lacks: what is read as JSON and written back stays what it was, whichever
//! way it is written.

use armilla_engine::{
    BulkOperation, ItemAction, ItemBody, ItemName, Operation, Patch, Pointer, Precondition,
    ResourcePrecondition, Triggers, WriteMode, check,
};
use armilla_value::{Decimal, Legacy, Object, Value, json};

use crate::support::{Fixture, defined, partition_key, value};

const TYPED: &str = r#"{"id":"c","partitionKey":{"paths":["/pk"]},"extendedTypes":true}"#;

async fn fixture() -> Fixture {
    let fixture = Fixture::new().await;
    fixture.engine.create_database(&fixture.caller, "d", None).await.unwrap();
    fixture.engine.create_container(&fixture.caller, "d", defined(&value(TYPED)), None).await.unwrap();
    fixture
}

fn members() -> Vec<(&'static str, Value)> {
    vec![
        ("pk", "a".into()),
        ("int", Value::Int32(5)),
        ("long", Value::Int64(5)),
        ("large", Value::Int64(9_007_199_254_740_993)),
        ("double", Value::Double(5.0)),
        ("tenth", Value::Double(0.1)),
        ("endless", Value::Double(f64::INFINITY)),
        ("decimal", Value::Decimal128("5.00".parse::<Decimal>().unwrap().to_bytes())),
        ("oid", Value::ObjectId([7; 12])),
        ("date", Value::Date(-5)),
        ("bytes", Value::Binary { subtype: 4, bytes: vec![1; 16] }),
        ("moment", Value::Timestamp { seconds: 5, increment: 6 }),
        ("pattern", Value::Regex { pattern: "a\"b".into(), options: "i".into() }),
        ("least", Value::MinKey),
        ("nothing", Legacy::Undefined.into()),
        (
            "code",
            Legacy::CodeWithScope {
                code: "f()".into(),
                scope: Object::from([("x", Value::Int32(1)), ("y", Value::Int64(1))]),
            }
            .into(),
        ),
        ("list", Value::Array(vec![Value::Int64(1), Value::Double(2.0), Value::Date(3)])),
        ("inner", Object::from([("a", Value::Double(1.0)), ("b", Value::ObjectId([8; 12]))]).into()),
        ("$oid", "not one".into()),
    ]
}

fn item(id: &str) -> Value {
    let members = members().into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object([("id".to_owned(), Value::from(id))].into_iter().chain(members).collect())
}

fn stored(fixture: &Fixture, id: &str) -> Value {
    fixture.read_item(&fixture.caller, "c", id, "a").unwrap().item.stored().root().to_value()
}

fn text(fixture: &Fixture, id: &str) -> String {
    let read = fixture.read_item(&fixture.caller, "c", id, "a").unwrap();
    let mut text = Vec::new();
    read.item.write_json(fixture.container("c").identity(), &mut text);
    String::from_utf8(text).unwrap()
}

/// What a client makes of an item whose numbers are all doubles, with whole ones as integers.
fn through_doubles(text: &str) -> String {
    fn changed(value: Value) -> Value {
        match value {
            Value::Int64(number) => Value::Int64(number as f64 as i64),
            Value::Double(number) if number.trunc() == number => Value::Int64(number as i64),
            Value::Array(elements) => Value::Array(elements.into_iter().map(changed).collect()),
            Value::Object(object) => {
                Value::Object(object.into_iter().map(|(name, value)| (name, changed(value))).collect())
            }
            other => other,
        }
    }
    json::to_string(&changed(value(text)))
}

async fn write(fixture: &Fixture, mode: WriteMode, body: ItemBody) {
    let (key, free) = (partition_key("a"), Precondition::None);
    let none = Triggers::default();
    let container = fixture.container("c");
    fixture
        .engine
        .write_item(&fixture.caller, &container, mode, Some(&key), body, free, &none)
        .await
        .unwrap();
}

/// Debug tells types apart that compare as equal.
#[track_caller]
fn assert_same(found: &Value, expected: &Value) {
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
}

#[tokio::test]
async fn what_is_read_and_written_back_stays_what_it_was() {
    let fixture = fixture().await;
    let original = item("1");
    write(&fixture, WriteMode::Create, original.clone().into()).await;
    assert_same(&stored(&fixture, "1"), &original);
    let container = fixture.container("c");
    let (caller, key, free) = (&fixture.caller, partition_key("a"), Precondition::None);
    let script = "function () { const r = getContext().getRequest(); r.setBody(r.getBody()); }";
    fixture.trigger("t", "Pre", "All", script).await;
    for way in ["upsert", "replace", "batch", "bulk", "script", "trigger", "rename"] {
        for shown in [text(&fixture, "1"), through_doubles(&text(&fixture, "1"))] {
            let body = || ItemBody::from(shown.as_str());
            match way {
                "upsert" => write(&fixture, WriteMode::Upsert, body()).await,
                "replace" => {
                    let (name, none) = (ItemName::Id("1"), Triggers::default());
                    let engine = &fixture.engine;
                    engine
                        .replace_item(caller, &container, name, Some(&key), body(), free, &none)
                        .await
                        .unwrap();
                }
                "batch" => {
                    let action = ItemAction::Put {
                        mode: WriteMode::Upsert,
                        id: None,
                        body: body(),
                        precondition: free,
                    };
                    let answer = fixture
                        .engine
                        .execute_batch(caller, &container, Some(&key), vec![action])
                        .await
                        .unwrap();
                    assert!(answer.results.iter().all(Result::is_ok));
                }
                "bulk" => {
                    let action = ItemAction::Put {
                        mode: WriteMode::Replace,
                        id: Some("1".to_owned()),
                        body: body(),
                        precondition: free,
                    };
                    let operation = BulkOperation { partition_key: key.clone(), action };
                    let engine = &fixture.engine;
                    let answer = engine
                        .execute_bulk(caller, &container, Some(0), vec![operation], false)
                        .await
                        .unwrap();
                    assert!(answer.results.iter().all(Result::is_ok));
                }
                "script" => {
                    let script = "function () { const c = getContext().getCollection(); \
                        c.readDocument(c.getAltLink() + '/docs/1', {}, (e, item) => { \
                            if (e) throw e; \
                            c.replaceDocument(item._self, item, {}, (e) => { if (e) throw e; }); }); }";
                    fixture.run_text(script, "a", "[]").await.unwrap();
                }
                "trigger" => {
                    let triggers = Triggers { pre: Some("t".to_owned()), post: None };
                    fixture.put(WriteMode::Upsert, "a", &shown, &triggers).await.unwrap();
                }
                _ => {
                    // There and back again.
                    let none = Triggers::default();
                    let engine = &fixture.engine;
                    let other = shown.replace(r#""id":"1""#, r#""id":"2""#);
                    let name = ItemName::Id("1");
                    let body = ItemBody::from(other.as_str());
                    engine
                        .replace_item(caller, &container, name, Some(&key), body, free, &none)
                        .await
                        .unwrap();
                    assert_same(&stored(&fixture, "2"), &item("2"));
                    let name = ItemName::Id("2");
                    let body = ItemBody::from(shown.as_str());
                    engine
                        .replace_item(caller, &container, name, Some(&key), body, free, &none)
                        .await
                        .unwrap();
                }
            }
            assert_same(&stored(&fixture, "1"), &original);
        }
    }
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn numbers_get_the_types_of_their_text_where_they_are_new() {
    let fixture = fixture().await;
    let number = |fixture: &Fixture| format!("{:?}", stored(fixture, "n").get("n").unwrap());
    let put = |n: &str| ItemBody::from(format!(r#"{{"id":"n","pk":"a","n":{n}}}"#));
    for (text, expected) in [
        ("5", "Int32(5)"),
        ("5.0", "Int32(5)"),
        ("6.0", "Double(6.0)"),
        ("6", "Double(6.0)"),
        ("2147483648", "Int64(2147483648)"),
        ("-2147483648", "Int32(-2147483648)"),
        ("1e2", "Double(100.0)"),
        (r#"{"$numberLong":"7"}"#, "Int64(7)"),
        ("7", "Int64(7)"),
    ] {
        write(&fixture, WriteMode::Upsert, put(text)).await;
        assert_eq!(number(&fixture), expected, "{text}");
    }
    // Who writes values says which types they have.
    let body = Object::from([("id", Value::from("n")), ("pk", "a".into()), ("n", Value::Double(7.0))]);
    write(&fixture, WriteMode::Upsert, Value::Object(body).into()).await;
    assert_eq!(number(&fixture), "Double(7.0)");
}

#[tokio::test]
async fn patches_of_text_have_types() {
    let fixture = fixture().await;
    write(&fixture, WriteMode::Create, item("1").into()).await;
    let pointer = |text: &str| Pointer::parse(text).unwrap();
    let date = value(r#"{"$date":{"$numberLong":"9"}}"#);
    let operations = || {
        vec![
            Operation::Set { path: pointer("/oid"), value: date.clone() },
            Operation::Add { path: pointer("/new"), value: value("[1,{\"a\":2.0}]") },
            Operation::Increment { path: pointer("/int"), by: value("1") },
            Operation::Increment { path: pointer("/long"), by: value("1") },
        ]
    };
    let (key, free, container) = (partition_key("a"), Precondition::None, fixture.container("c"));
    let patch = |patch: Patch| {
        let (engine, caller, name) = (&fixture.engine, &fixture.caller, ItemName::Id("1"));
        engine.patch_item(caller, &container, name, Some(&key), patch, None, free)
    };
    patch(Patch::new(operations(), 100).unwrap().from_text()).await.unwrap();
    let found = stored(&fixture, "1");
    assert_eq!(found.get("oid"), Some(&Value::Date(9)));
    assert_eq!(format!("{:?}", found.get("int").unwrap()), "Int32(6)");
    assert_eq!(format!("{:?}", found.get("long").unwrap()), "Int64(6)");
    let new = Object::from([("a", Value::Double(2.0))]);
    assert_same(found.get("new").unwrap(), &Value::Array(vec![Value::Int32(1), new.into()]));
    assert_eq!(found.get("date"), Some(&Value::Date(-5)), "what is not touched keeps its type");
    // Values are taken as they are.
    patch(Patch::new(operations(), 100).unwrap()).await.unwrap();
    assert_eq!(stored(&fixture, "1").get("oid"), Some(&date));
}

#[tokio::test]
async fn plain_containers_have_the_types_of_json() {
    let fixture = Fixture::with_container().await;
    let body = r#"{"id":"1","pk":"a","n":5,"oid":{"$oid":"000000000000000000000000"}}"#;
    fixture.upsert("a", body).await;
    let found = stored(&fixture, "1");
    assert_eq!(format!("{:?}", found.get("n").unwrap()), "Int64(5)");
    assert!(matches!(found.get("oid"), Some(Value::Object(_))));
    // The flag can be set later; what is written from then on has types.
    let changed = defined(&value(TYPED));
    let none = ResourcePrecondition::None;
    fixture.engine.replace_container(&fixture.caller, "d", "c", changed, none).await.unwrap();
    fixture.upsert("a", body).await;
    let found = stored(&fixture, "1");
    assert_eq!(format!("{:?}", found.get("n").unwrap()), "Int64(5)", "it is what it was");
    assert_eq!(found.get("oid"), Some(&Value::ObjectId([0; 12])));
    // It survives a restart, and clients that do not know of it.
    let fixture = fixture.reopen().await;
    let plain = defined(&value(r#"{"id":"c","partitionKey":{"paths":["/pk"]},"defaultTtl":-1}"#));
    fixture
        .engine
        .replace_container(&fixture.caller, "d", "c", plain, ResourcePrecondition::None)
        .await
        .unwrap();
    assert!(fixture.container("c").definition().has_extended_types());
    let off = defined(&value(&TYPED.replace("true", "false")));
    let none = ResourcePrecondition::None;
    fixture.engine.replace_container(&fixture.caller, "d", "c", off, none).await.unwrap();
    assert!(!fixture.container("c").definition().has_extended_types());
}

#[tokio::test]
async fn numbers_that_are_not_finite_are_shown_alike() {
    let fixture = fixture().await;
    let endless = |negative: bool| Value::Double(if negative { f64::NEG_INFINITY } else { f64::INFINITY });
    let list = Value::Array(vec![endless(false), Value::Double(f64::NAN)]);
    let body = Object::from([("id", "1".into()), ("pk", "a".into()), ("v", endless(true)), ("l", list)]);
    write(&fixture, WriteMode::Create, Value::Object(body).into()).await;
    let wrapped = |text: &str| format!(r#"{{"$numberDouble":"{text}"}}"#);
    assert!(fixture.query("SELECT * FROM c").await.contains(&wrapped("-Infinity")));
    for (query, expected) in [
        ("SELECT VALUE c.v FROM c", wrapped("-Infinity")),
        ("SELECT c.v FROM c", format!(r#"{{"v":{}}}"#, wrapped("-Infinity"))),
        ("SELECT VALUE [c.l[0]] FROM c", format!("[{}]", wrapped("Infinity"))),
        ("SELECT VALUE e FROM c JOIN e IN c.l", format!("{},{}", wrapped("Infinity"), wrapped("NaN"))),
        // What is computed is text, as ever.
        ("SELECT VALUE 1 / 0 FROM c", "\"Infinity\"".to_owned()),
        ("SELECT VALUE -c.v FROM c", "\"Infinity\"".to_owned()),
    ] {
        assert_eq!(fixture.query(query).await, expected, "{query}");
    }
}
