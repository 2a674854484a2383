//! The scalars that BSON adds, in queries that came without a text: equal and ordered within their type, whatever finds
//! the items, and numbers of all types by what they are worth.
//!
//! Each filter is checked against a plain reading of what it means, by an index and by a scan.

use std::cmp::Ordering;

use armilla_functions::Aggregate;
use armilla_index::IndexingPolicy;
use armilla_query::bound::{BoundQuery, BoundSource, Grouping, OrderKey, Projection, SourceKind, Window};
use armilla_query::expr::{Expr, PathStep, SubqueryKind};
use armilla_query::source::{MemoryOptions, MemorySource};
use armilla_query::{
    Budget, Comparison, CompiledQuery, Environment, Function, NoUserFunctions, Page, Source, execute,
};
use armilla_value::{Decimal, Legacy, Object, PropertyPath, Value, json, sql_cmp};

use crate::generate::Random;
use crate::without_index::WithoutIndex;

const CASES: u64 = 1_500;

fn decimal(text: &str) -> Value {
    Value::Decimal128(text.parse::<Decimal>().unwrap().to_bytes())
}

fn binary(subtype: u8, bytes: &[u8]) -> Value {
    Value::Binary { subtype, bytes: bytes.to_vec() }
}

/// Few enough to meet each other, and on both sides of every edge.
fn scalar(random: &mut Random) -> Value {
    let long = "long ".repeat(60);
    match random.below(24) {
        0 => Value::Null,
        1 => Value::Bool(random.one_in(2)),
        2 => Value::Int32(random.below(3) as i32),
        3 => Value::Int64(random.below(3) as i64),
        4 => Value::Int64(*random.pick(&[9_007_199_254_740_993, 9_007_199_254_740_992, i64::MAX])),
        5 => {
            Value::Double(*random.pick(&[0.5, -0.0, 1.0, 2.0, 9_007_199_254_740_992.0, 9.223372036854776e18]))
        }
        6 => Value::Double(*random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY])),
        7..=8 => decimal(random.pick::<&str>(&[
            "1",
            "1.00",
            "0.5",
            "2E0",
            "-0",
            "9007199254740993",
            "9007199254740992.5",
            "9223372036854775807",
            "NaN",
            "Infinity",
        ])),
        9 => Value::String((*random.pick(&["", "a", "b"])).to_owned()),
        10..=12 => Value::Date(*random.pick(&[-1, 0, 1, 86_400_000])),
        13..=14 => Value::ObjectId([random.below(3) as u8; 12]),
        15 => binary(random.below(2) as u8, random.pick::<&[u8]>(&[b"", b"a", b"b", b"ab"])),
        16 => binary(0, format!("{long}{}", random.below(2)).as_bytes()),
        17..=18 => Value::Timestamp { seconds: random.below(2) as u32, increment: random.below(2) as u32 },
        19 => Value::Regex { pattern: (*random.pick(&["a", "b"])).into(), options: "i".into() },
        20 => random.pick(&[Value::MinKey, Value::MaxKey]).clone(),
        21 => Legacy::Symbol((*random.pick(&["a", "b", long.as_str()])).to_owned()).into(),
        22 => random
            .pick(&[Legacy::Undefined, Legacy::Code("a".into()), Legacy::Code("b".into())])
            .clone()
            .into(),
        _ => match random.below(2) {
            0 => Legacy::DbPointer { namespace: "d.c".into(), id: [random.below(2) as u8; 12] }.into(),
            _ => {
                let scope = Object::from([("x", random.below(2) as i64)]);
                Legacy::CodeWithScope { code: "c".into(), scope }.into()
            }
        },
    }
}

fn items(random: &mut Random) -> Vec<Value> {
    let count = 20 + random.below(60);
    let item = |number: usize, random: &mut Random| {
        let mut item = Object::from([("id", format!("i{number}")), ("pk", format!("p{}", number % 7))]);
        match random.below(8) {
            0 => {}
            1..=4 => {
                item.insert("a", scalar(random));
            }
            5..=6 => {
                let count = random.below(4);
                item.insert("a", Value::Array((0..count).map(|_| scalar(random)).collect()));
            }
            _ => {
                let count = random.below(3);
                let element = |random: &mut Random| Object::from([("b", scalar(random))]).into();
                item.insert("a", Value::Array((0..count).map(|_| element(random)).collect()));
            }
        }
        Value::Object(item)
    };
    (0..count).map(|number| item(number, random)).collect()
}

fn path() -> Expr {
    Expr::Path { slot: 0, steps: vec![PathStep::Name("a".to_owned())] }
}

fn compare(operator: Comparison, value: Expr, constant: &Value) -> Expr {
    Expr::Compare(operator, Box::new(value), Box::new(Expr::constant(constant.clone())))
}

fn exists(slot: usize, filter: Expr) -> Expr {
    let query = BoundQuery {
        sources: vec![BoundSource { slot, kind: SourceKind::Elements(path()) }],
        filter: Some(filter),
        projection: Projection::Value(Expr::Slot(slot)),
        ..BoundQuery::items()
    };
    Expr::Subquery(SubqueryKind::Exists, Box::new(query))
}

fn contains(values: &[Value]) -> Expr {
    let function = if values.len() == 1 { Function::ArrayContains } else { Function::ArrayContainsAny };
    let mut arguments = vec![path()];
    arguments.extend(values.iter().map(|value| Expr::constant(value.clone())));
    Expr::Call(function, arguments)
}

const OPERATORS: [Comparison; 4] =
    [Comparison::Less, Comparison::LessOrEqual, Comparison::Greater, Comparison::GreaterOrEqual];

/// Says for which value at the path a filter holds.
type Meaning = dyn Fn(Option<&Value>) -> bool;

/// A filter, and what it means for the value at the path.
struct Filter {
    expr: Expr,
    holds: Box<Meaning>,
}

fn is_nan(value: &Value) -> bool {
    match value {
        Value::Double(number) => number.is_nan(),
        Value::Decimal128(bytes) => Decimal::from_bytes(bytes).to_string() == "NaN",
        _ => false,
    }
}

fn equal(left: &Value, right: &Value) -> bool {
    !is_nan(left) && !is_nan(right) && sql_cmp(left, right).is_eq()
}

fn type_of(value: &Value) -> String {
    match value {
        Value::Int32(_) | Value::Int64(_) | Value::Double(_) | Value::Decimal128(_) => "number".to_owned(),
        Value::Legacy(legacy) => format!("{:?}", std::mem::discriminant(&**legacy)),
        value => format!("{:?}", value.kind()),
    }
}

fn holds(operator: Comparison, left: &Value, right: &Value) -> bool {
    let is_ordered = type_of(left) == type_of(right) && !matches!(left, Value::Array(_) | Value::Object(_));
    let order = sql_cmp(left, right);
    is_ordered
        && !is_nan(left)
        && !is_nan(right)
        && match operator {
            Comparison::Less => order == Ordering::Less,
            Comparison::LessOrEqual => order != Ordering::Greater,
            Comparison::Greater => order == Ordering::Greater,
            _ => order != Ordering::Less,
        }
}

fn elements(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).unwrap_or_default()
}

fn filter(random: &mut Random) -> Filter {
    let constant = scalar(random);
    let operator = *random.pick(&OPERATORS);
    match random.below(9) {
        0 => Filter {
            expr: compare(Comparison::Equal, path(), &constant),
            holds: Box::new(move |value| value.is_some_and(|value| equal(value, &constant))),
        },
        1 => Filter {
            expr: compare(Comparison::NotEqual, path(), &constant),
            holds: Box::new(move |value| value.is_some_and(|value| !equal(value, &constant))),
        },
        2 => Filter {
            expr: Expr::Or(vec![
                compare(Comparison::Equal, path(), &constant),
                contains(std::slice::from_ref(&constant)),
            ]),
            holds: Box::new(move |value| {
                value.is_some_and(|value| equal(value, &constant))
                    || elements(value).iter().any(|element| equal(element, &constant))
            }),
        },
        3 => {
            let list: Vec<Value> = (0..1 + random.below(4)).map(|_| scalar(random)).collect();
            let constants = list.iter().map(|value| Expr::constant(value.clone())).collect();
            Filter {
                expr: Expr::Or(vec![Expr::In(Box::new(path()), constants), contains(&list)]),
                holds: Box::new(move |value| {
                    let is_listed = |value: &Value| list.iter().any(|listed| equal(value, listed));
                    value.is_some_and(is_listed) || elements(value).iter().any(is_listed)
                }),
            }
        }
        4 => Filter {
            expr: compare(operator, path(), &constant),
            holds: Box::new(move |value| value.is_some_and(|value| holds(operator, value, &constant))),
        },
        5 => {
            let not = Expr::Not(Box::new(compare(operator, path(), &constant)));
            Filter {
                expr: not,
                holds: Box::new(move |value| {
                    value.is_some_and(|value| {
                        let is_ordered = type_of(value) == type_of(&constant);
                        is_ordered && !holds(operator, value, &constant)
                    })
                }),
            }
        }
        6 => Filter {
            expr: Expr::Or(vec![
                compare(operator, path(), &constant),
                exists(7, compare(operator, Expr::Slot(7), &constant)),
            ]),
            holds: Box::new(move |value| {
                value.is_some_and(|value| holds(operator, value, &constant))
                    || elements(value).iter().any(|element| holds(operator, element, &constant))
            }),
        },
        7 => {
            let other = scalar(random);
            let both = Expr::And(vec![
                compare(Comparison::GreaterOrEqual, Expr::Slot(7), &constant),
                compare(Comparison::Less, Expr::Slot(7), &other),
            ]);
            Filter {
                expr: exists(7, both),
                holds: Box::new(move |value| {
                    elements(value).iter().any(|element| {
                        holds(Comparison::GreaterOrEqual, element, &constant)
                            && holds(Comparison::Less, element, &other)
                    })
                }),
            }
        }
        _ => {
            let member = Expr::Path { slot: 7, steps: vec![PathStep::Name("b".to_owned())] };
            Filter {
                expr: exists(7, compare(Comparison::Equal, member, &constant)),
                holds: Box::new(move |value| {
                    elements(value)
                        .iter()
                        .any(|element| element.get("b").is_some_and(|member| equal(member, &constant)))
                }),
            }
        }
    }
}

fn page(query: &CompiledQuery, sources: &[&dyn Source]) -> Page {
    let environment = Environment {
        now_ticks: 0,
        current_ticks: &|| 0,
        random: &|| 0.5,
        geometry: false,
        functions: &NoUserFunctions,
    };
    let budget = Budget { rows_max: 1_000, ..Budget::default() };
    let page = execute(query, sources, &budget, None, None, &environment).unwrap();
    assert!(page.continuation.is_none());
    page
}

fn rows(page: &Page) -> Vec<String> {
    let text = [b"[", &page.rows[..], b"]"].concat();
    let Value::Array(rows) = json::parse(&text).unwrap() else { panic!("an array") };
    rows.iter().map(json::to_string).collect()
}

fn id() -> Projection {
    Projection::Value(Expr::Path { slot: 0, steps: vec![PathStep::Name("id".to_owned())] })
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let items = items(&mut random);
    let Filter { expr, holds } = filter(&mut random);
    let options = MemoryOptions {
        partition_key: vec![PropertyPath::parse("/pk").unwrap()],
        ..MemoryOptions::default()
    };
    let count = 1 + random.below(3) as u32;
    let sources =
        MemorySource::partitioned(items.clone(), &IndexingPolicy::default(), options, count).unwrap();
    let hidden: Vec<WithoutIndex<'_>> = sources.iter().map(WithoutIndex).collect();
    let indexed: Vec<&dyn Source> = sources.iter().map(|source| source as &dyn Source).collect();
    let scanned: Vec<&dyn Source> = hidden.iter().map(|source| source as &dyn Source).collect();
    let bound = BoundQuery { filter: Some(expr), projection: id(), ..BoundQuery::items() };
    let query = CompiledQuery::from_bound(bound.clone());
    let description = || {
        let items: Vec<String> = items.iter().map(json::to_string).collect();
        format!("seed {seed}\n{}{}", query.plan, items.join("\n"))
    };
    let sorted = |mut rows: Vec<String>| {
        rows.sort();
        rows
    };

    let expected: Vec<String> = items
        .iter()
        .filter(|item| holds(item.get("a")))
        .map(|item| json::to_string(item.get("id").unwrap()))
        .collect();
    let by_index = page(&query, &indexed);
    assert_eq!(sorted(rows(&by_index)), sorted(expected.clone()), "index: {}", description());
    assert_eq!(sorted(rows(&page(&query, &scanned))), sorted(expected.clone()), "scan: {}", description());

    let grouping =
        Grouping { keys: Vec::new(), aggregates: vec![(Aggregate::Count, Expr::constant(1.into()))] };
    let counting = BoundQuery {
        grouping: Some(grouping),
        projection: Projection::Value(Expr::Aggregate(0)),
        ..bound.clone()
    };
    let counting = CompiledQuery::from_bound(counting);
    for sources in [&indexed, &scanned] {
        assert_eq!(rows(&page(&counting, sources)), [expected.len().to_string()], "count: {}", description());
    }

    let window = Window { offset: 0, limit: random.one_in(2).then(|| 1 + random.below(10) as u64) };
    let order = vec![OrderKey { expr: path(), descending: random.one_in(2) }];
    let ordering = BoundQuery { order, window, ..bound };
    let ordering = CompiledQuery::from_bound(ordering);
    let (by_walk, by_sort) = (rows(&page(&ordering, &indexed)), rows(&page(&ordering, &scanned)));
    assert_eq!(by_walk, by_sort, "order: {}", description());
}

#[test]
fn all_types_are_found_by_index_and_by_scan() {
    match std::env::var("ARMILLA_QUERY_SEED").ok().and_then(|text| text.parse().ok()) {
        Some(seed) => check(seed),
        None => (0..CASES).for_each(check),
    }
}
