use armilla_value::json;
use armilla_value::{Decimal, Legacy};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]{0,3}", ".{0,8}", Just("$id".to_owned()), Just("\0\"\\\u{10ffff}".to_owned())]
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..2_000_u64, any::<u64>(), Just(u64::MAX), Just(i64::MAX as u64)]
}

fn object_of(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Object> {
    proptest::collection::vec((text(), inner), 0..4).prop_map(Object::from)
}

fn scalar() -> impl Strategy<Value = Value> {
    let double =
        any::<u64>().prop_map(f64::from_bits).prop_filter("equal to itself", |number| !number.is_nan());
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        double.prop_map(Value::Double),
        select(vec![0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY]).prop_map(Value::Double),
        any::<[u8; 16]>().prop_map(Value::Decimal128),
        text().prop_map(Value::String),
        any::<[u8; 12]>().prop_map(Value::ObjectId),
        any::<i64>().prop_map(Value::Date),
        (any::<u8>(), any::<Vec<u8>>()).prop_map(|(subtype, bytes)| Value::Binary { subtype, bytes }),
        (any::<u32>(), any::<u32>()).prop_map(|(seconds, increment)| Value::Timestamp { seconds, increment }),
        (text(), text())
            .prop_map(|(pattern, options)| Value::Regex { pattern: pattern.into(), options: options.into() }),
        Just(Value::MinKey),
        Just(Value::MaxKey),
        Just(Legacy::Undefined.into()),
        text().prop_map(|code| Legacy::Code(code).into()),
        text().prop_map(|text| Legacy::Symbol(text).into()),
        (text(), any::<[u8; 12]>()).prop_map(|(namespace, id)| Legacy::DbPointer { namespace, id }.into()),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            object_of(inner.clone()).prop_map(Value::Object),
            (text(), object_of(inner)).prop_map(|(code, scope)| Legacy::CodeWithScope { code, scope }.into()),
        ]
    })
}

fn key() -> impl Strategy<Value = PartitionKey> {
    let component = prop_oneof![
        Just(Component::Undefined),
        Just(Component::Null),
        any::<bool>().prop_map(Component::Bool),
        any::<f64>().prop_map(Component::Number),
        select(vec![0.0, -0.0, 7.0, 0.5, f64::INFINITY]).prop_map(Component::Number),
        text().prop_map(Component::String),
    ];
    proptest::collection::vec(component, 0..3).prop_map(PartitionKey)
}

fn tally() -> impl Strategy<Value = Tally> {
    proptest::collection::vec(number(), FIGURES.len()).prop_map(|numbers| {
        let mut tally = Tally::default();
        for ((_, figure), number) in FIGURES.into_iter().zip(numbers) {
            *figure(&mut tally) = number;
        }
        tally
    })
}

fn example() -> impl Strategy<Value = Example> {
    let parameters = proptest::collection::vec((text(), any_value()), 0..3);
    (option::of(key()), option::of(text()), text(), parameters, number(), number()).prop_map(
        |(key, id, text, parameters, charge, rows)| Example { key, id, text, parameters, charge, rows },
    )
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        any::<u32>(),
        select(ShapeKind::ALL.to_vec()),
        text(),
        tally(),
        proptest::collection::btree_map(any::<i64>(), tally(), 0..3),
        proptest::collection::vec(example(), 0..3),
    )
        .prop_map(|(id, kind, text, total, hours, examples)| Shape {
            id,
            kind,
            text,
            total,
            hours,
            examples,
        })
}

fn changes() -> impl Strategy<Value = Changes> {
    let path = (number(), number(), number(), number()).prop_map(|(changed, appended, shortened, alone)| {
        PathChanges { changed, appended, shortened, alone }
    });
    let paths = proptest::collection::btree_map(text(), path, 0..3);
    let entity = (number(), number(), number(), paths).prop_map(|(compared, bytes, changed_bytes, paths)| {
        EntityChanges { compared, bytes, changed_bytes, paths }
    });
    let item =
        (key(), text(), number(), number(), number()).prop_map(|(key, id, count, appends, overestimate)| {
            ItemChanges { key, id, count, appends, overestimate }
        });
    (proptest::collection::btree_map(text(), entity, 0..3), proptest::collection::vec(item, 0..3))
        .prop_map(|(entities, items)| Changes { entities, items })
}

fn container() -> impl Strategy<Value = ContainerRequests> {
    let key = (key(), number(), number(), number()).prop_map(|(key, count, charge, overestimate)| KeyTally {
        key,
        count,
        charge,
        overestimate,
    });
    (proptest::collection::vec(shape(), 0..3), tally(), proptest::collection::vec(key, 0..3), changes())
        .prop_map(|(shapes, beyond, keys, changes)| ContainerRequests { shapes, beyond, keys, changes })
}

fn link() -> impl Strategy<Value = Link> {
    let slot = prop_oneof![Just(Slot::Id), Just(Slot::Key), text().prop_map(Slot::Parameter)];
    (
        (number(), any::<u32>(), option::of(text()), text()),
        (number(), any::<u32>(), slot),
        (number(), number(), number(), number(), number(), number()),
    )
        .prop_map(|(from, to, figures)| Link {
            from_container: from.0,
            from_shape: from.1,
            entity: from.2,
            path: from.3,
            to_container: to.0,
            to_shape: to.1,
            slot: to.2,
            origins: figures.0,
            rows: figures.1,
            followed: figures.2,
            follows: figures.3,
            charge: figures.4,
            micros: figures.5,
        })
}

fn report() -> impl Strategy<Value = Report> {
    (
        any::<i64>(),
        any::<i64>(),
        proptest::collection::btree_map(number(), container(), 0..3),
        proptest::collection::vec(link(), 0..3),
    )
        .prop_map(|(since_ms, until_ms, containers, links)| Report {
            since_ms,
            until_ms,
            containers,
            links,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_a_report_is_lost(report in report()) {
        let written = to_value(&report);
        prop_assert_eq!(from_value(&written), Ok(report.clone()));
        // By way of text as well.
        let text = json::to_string(&written);
        let read = json::parse(text.as_bytes()).unwrap();
        prop_assert_eq!(from_value(&read), Ok(report));
    }

    #[test]
    fn any_value_is_read_or_refused(value in any_value()) {
        let _ = from_value(&value);
        let _ = value::from_plain(&value);
        let inside = Object::from([("version", Value::Int64(1)), ("containers", value)]);
        let _ = from_value(&Value::Object(inside));
    }
}

#[test]
fn errors_say_where_they_are() {
    let base = r#""version":1,"sinceMs":0,"untilMs":1"#;
    for (text, expected) in [
        ("7".to_owned(), "expected an object"),
        ("{}".to_owned(), "version is missing"),
        (r#"{"version":2}"#.to_owned(), "version 2 of a report is not known here, only version 1"),
        (r#"{"version":1}"#.to_owned(), "sinceMs is missing"),
        (format!(r#"{{{base},"links":7}}"#), "links: expected an array"),
        (
            format!(r#"{{{base},"containers":{{"x":{{}}}}}}"#),
            "containers: x: expected the resource id of a container as a number",
        ),
        (
            format!(r#"{{{base},"containers":{{"5":{{"shapes":[{{"id":1,"kind":"reed"}}]}}}}}}"#),
            "containers: 5: shapes: 0: kind: expected one of read, create, replace, patch, delete, query, procedure, \
             batch, list, changes",
        ),
        (
            format!(r#"{{{base},"containers":{{"5":{{"beyond":{{"count":-1}}}}}}}}"#),
            "containers: 5: beyond: count: expected a whole number from 0 on",
        ),
    ] {
        let value = json::parse(text.as_bytes()).unwrap();
        assert_eq!(from_value(&value), Err(expected.to_owned()), "{text}");
    }
}

#[test]
fn what_is_missing_counts_as_nothing() {
    let text = r#"{"version":1,"sinceMs":5,"untilMs":6,"later":true,"containers":{"7":{"shapes":[{"id":1,"kind":"list"}]}}}"#;
    let report = from_value(&json::parse(text.as_bytes()).unwrap()).unwrap();
    assert_eq!(report.containers[&7].shapes[0].total, Tally::default());
    assert!(report.links.is_empty());
}

#[test]
fn values_of_all_types_are_told_apart() {
    let decimal = Value::Decimal128("1.50".parse::<Decimal>().unwrap().to_bytes());
    for (value, expected) in [
        (Value::Int64(5), "5"),
        (Value::Int32(5), r#"{"$int":5}"#),
        (Value::Double(5.0), "5.0"),
        (Value::Double(f64::INFINITY), r#"{"$double":"7ff0000000000000"}"#),
        (Value::ObjectId([7; 12]), r#"{"$id":"070707070707070707070707"}"#),
        (decimal, r#"{"$decimal":"96000000000000000000000000003c30"}"#),
        (Object::from([("$id", "x")]).into(), r#"{"$object":[["$id","x"]]}"#),
        (Object::from([("id", "x")]).into(), r#"{"id":"x"}"#),
    ] {
        let plain = value::to_plain(&value);
        assert_eq!(json::to_string(&plain), expected);
        assert_eq!(value::from_plain(&plain), Ok(value));
    }
    assert!(value::from_plain(&Object::from([("$what", 1)]).into()).is_err());
}
