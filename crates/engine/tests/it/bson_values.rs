//! Values of types that JSON lacks, through the engine: they come back as they were, and plans of a front end find them, by
//! the index and without one, before and after a split.

use std::sync::Arc;

use armilla_engine::plans::{
    Aggregate, BoundQuery, BoundSource, Comparison, Expr, Function, Grouping, OrderKey, PathStep, Projection,
    SourceKind, SubqueryKind, Window,
};
use armilla_engine::{ItemBody, Precondition, Query, QueryRequest, WriteMode, check};
use armilla_value::{Decimal, Legacy, Object, Value};

use crate::reshaping::split;
use crate::support::{Fixture, defined, partition_key, value};

fn decimal(text: &str) -> Value {
    Value::Decimal128(text.parse::<Decimal>().unwrap().to_bytes())
}

/// Different values, but for the first five, which are one number.
fn values() -> Vec<Value> {
    vec![
        Value::Int32(7),
        Value::Int64(7),
        Value::Double(7.0),
        decimal("7"),
        decimal("7.00"),
        Value::Int64(9_007_199_254_740_993),
        Value::Double(9_007_199_254_740_992.0),
        decimal("0.1"),
        Value::Double(0.1),
        Value::Date(-1),
        Value::Date(0),
        Value::Date(1_700_000_000_000),
        Value::ObjectId([1; 12]),
        Value::ObjectId([2; 12]),
        Value::Binary { subtype: 0, bytes: vec![9] },
        Value::Binary { subtype: 4, bytes: vec![9; 16] },
        Value::Binary { subtype: 0, bytes: vec![9; 400] },
        Value::Timestamp { seconds: 1, increment: 2 },
        Value::Timestamp { seconds: 2, increment: 1 },
        Value::Regex { pattern: "a".into(), options: "i".into() },
        Legacy::Undefined.into(),
        Legacy::Symbol("a".into()).into(),
        Legacy::Code("f()".into()).into(),
        Legacy::CodeWithScope { code: "f()".into(), scope: Object::from([("x", Value::Int32(1))]) }.into(),
        Legacy::DbPointer { namespace: "d.c".into(), id: [3; 12] }.into(),
        Value::MinKey,
        Value::MaxKey,
        Value::from("a"),
        Value::Null,
    ]
}

fn path() -> Expr {
    Expr::Path { slot: 0, steps: vec![PathStep::Name("v".to_owned())] }
}

fn compare(operator: Comparison, operand: Expr, constant: &Value) -> Expr {
    Expr::Compare(operator, Box::new(operand), Box::new(Expr::constant(constant.clone())))
}

/// What a document database asks by `{v: constant}`.
fn equal(constant: &Value) -> Expr {
    let contains = Expr::Call(Function::ArrayContains, vec![path(), Expr::constant(constant.clone())]);
    Expr::Or(vec![compare(Comparison::Equal, path(), constant), contains])
}

/// What it asks by `{v: {$gte: constant}}`.
fn at_least(constant: &Value) -> Expr {
    let elements = BoundQuery {
        sources: vec![BoundSource { slot: 1, kind: SourceKind::Elements(path()) }],
        filter: Some(compare(Comparison::GreaterOrEqual, Expr::Slot(1), constant)),
        projection: Projection::Value(Expr::Slot(1)),
        ..BoundQuery::items()
    };
    let exists = Expr::Subquery(SubqueryKind::Exists, Box::new(elements));
    Expr::Or(vec![compare(Comparison::GreaterOrEqual, path(), constant), exists])
}

fn filtered(filter: Expr) -> BoundQuery {
    let id = Expr::Path { slot: 0, steps: vec![PathStep::Name("id".to_owned())] };
    BoundQuery { filter: Some(filter), projection: Projection::Value(id), ..BoundQuery::items() }
}

fn counted(filter: Expr) -> BoundQuery {
    BoundQuery {
        grouping: Some(Grouping {
            keys: Vec::new(),
            aggregates: vec![(Aggregate::Count, Expr::constant(1.into()))],
        }),
        projection: Projection::Value(Expr::Aggregate(0)),
        ..filtered(filter)
    }
}

async fn rows(fixture: &Fixture, container: &str, plan: BoundQuery) -> Vec<String> {
    let request = QueryRequest { rows_max: Some(1_000), ..QueryRequest::of(Query::Plan(Arc::new(plan))) };
    let page =
        fixture.engine.query_items(&fixture.caller, &fixture.container(container), request).await.unwrap();
    assert!(page.continuation.is_none());
    let text = String::from_utf8(page.rows).unwrap();
    text.split(',').filter(|row| !row.is_empty()).map(|row| row.trim_matches('"').to_owned()).collect()
}

async fn sorted(fixture: &Fixture, container: &str, plan: BoundQuery) -> Vec<String> {
    let mut rows = rows(fixture, container, plan).await;
    rows.sort();
    rows
}

#[tokio::test]
async fn values_come_back_and_are_found() {
    let fixture = Fixture::with_container().await;
    let unindexed = r#"{"id":"scanned","partitionKey":{"paths":["/pk"]},"indexingPolicy":
        {"includedPaths":[{"path":"/id/?"}],"excludedPaths":[{"path":"/*"}]}}"#;
    fixture.engine.create_container(&fixture.caller, "d", defined(&value(unindexed)), None).await.unwrap();
    let values = values();
    for container in ["c", "scanned"] {
        let handle = fixture.container(container);
        for (number, value) in values.iter().enumerate() {
            // Alone, and as an element.
            for (kind, value) in [("s", value.clone()), ("e", Value::Array(vec![value.clone()]))] {
                let pk = format!("p{}", number % 5);
                let id = format!("{kind}{number}");
                let body = Object::from([("id", id.as_str()), ("pk", pk.as_str())]);
                let body: Object = body.into_iter().chain([("v".to_owned(), value)]).collect();
                let body = ItemBody::Value(Box::new(Value::Object(body)));
                let (key, free, none) = (partition_key(&pk), Precondition::None, Default::default());
                let mode = WriteMode::Create;
                fixture
                    .engine
                    .write_item(&fixture.caller, &handle, mode, Some(&key), body, free, &none)
                    .await
                    .unwrap();
            }
        }
    }
    for round in 0..2 {
        for (number, value) in values.iter().enumerate() {
            let pk = format!("p{}", number % 5);
            let read = fixture.read_item(&fixture.caller, "c", &format!("s{number}"), &pk).unwrap();
            assert_eq!(&read.item.stored().root().get("v").unwrap().to_value(), value);

            let numbers = if number < 5 { 0..5 } else { number..number + 1 };
            let mut expected: Vec<String> =
                numbers.flat_map(|number| [format!("e{number}"), format!("s{number}")]).collect();
            expected.sort();
            for container in ["c", "scanned"] {
                let found = sorted(&fixture, container, filtered(equal(value))).await;
                assert_eq!(found, expected, "{container} {round}: {value:?}");
                let count = rows(&fixture, container, counted(equal(value))).await;
                assert_eq!(count, [expected.len().to_string()], "{container} {round}: {value:?}");
            }
            let by_index = sorted(&fixture, "c", filtered(at_least(value))).await;
            let by_scan = sorted(&fixture, "scanned", filtered(at_least(value))).await;
            assert_eq!(by_index, by_scan, "{value:?}");
            assert!(by_index.contains(&format!("s{number}")), "{value:?}");
        }
        let dates = sorted(&fixture, "c", filtered(at_least(&Value::Date(0)))).await;
        assert_eq!(dates, ["e10", "e11", "s10", "s11"]);
        let ids = BoundQuery {
            order: vec![OrderKey { expr: path(), descending: true }],
            window: Window { offset: 0, limit: Some(2) },
            ..filtered(compare(Comparison::Greater, path(), &Value::ObjectId([0; 12])))
        };
        assert_eq!(rows(&fixture, "c", ids).await, ["s13", "s12"]);
        if round == 0 {
            split(&fixture, None, None).await;
        }
    }
    assert_eq!(check(&fixture.engine, &mut |_, _| {}).unwrap().problems, Vec::<String>::new());
}
