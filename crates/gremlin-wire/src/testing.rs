//! A strategy of proptest over values, for tests here and elsewhere.
//!
//! What it makes comes back the same from GraphSON 3 and from GraphBinary: no entries of maps (they come back as
//! maps), no owners of properties (GraphBinary does not tell them), no versions and partitions (no format does).

use std::sync::Arc;

use armilla_gremlin_value::{
    Bytecode, Edge, Instruction, Map, Path, Predicate, PredicateKind, Property, Token, TokenKind, Tree,
    TreeBranch, Value, Vertex, VertexProperty,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::predicates::{self, Takes};

fn name() -> impl Strategy<Value = Arc<str>> + Clone {
    "[a-z][a-zA-Z0-9 \"é]{0,7}".prop_map(Arc::from)
}

/// Makes values that have no others in them.
pub fn scalar() -> BoxedStrategy<Value> {
    let decimal = (any::<i64>(), 1_u32..8).prop_map(|(number, places)| {
        let unit = 10_u64.pow(places);
        let (size, sign) = (number.unsigned_abs(), if number < 0 { "-" } else { "" });
        Value::BigDecimal(
            format!("{sign}{}.{:0width$}", size / unit, size % unit, width = places as usize).into(),
        )
    });
    let date = (-60_000_000_000_000_i64..250_000_000_000_000, -1080_i32..=1080)
        .prop_map(|(milliseconds, minutes)| Value::Date { milliseconds, offset_seconds: minutes * 60 });
    let tokens: Vec<Token> = TokenKind::ALL
        .iter()
        .flat_map(|(kind, _, words)| words.iter().filter_map(|word| Token::find(*kind, word)))
        .collect();
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i8>().prop_map(Value::Byte),
        any::<i16>().prop_map(Value::Int16),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
        any::<i128>().prop_map(Value::BigInteger),
        any::<f32>().prop_map(Value::Float),
        any::<f64>().prop_map(Value::Double),
        decimal,
        any::<char>().prop_map(Value::Char),
        any::<String>().prop_map(|text| Value::String(text.into())),
        any::<u128>().prop_map(Value::Uuid),
        date,
        any::<i64>().prop_map(|nanoseconds| Value::Duration(i128::from(nanoseconds))),
        vec(any::<u8>(), 0..12).prop_map(|bytes| Value::Bytes(bytes.into())),
        proptest::sample::select(tokens).prop_map(Value::Token),
    ]
    .boxed()
}

/// Makes values of every kind, a few levels deep.
pub fn value() -> BoxedStrategy<Value> {
    scalar()
        .prop_recursive(4, 48, 4, |inner| {
            let inner = inner.boxed();
            let list = vec(inner.clone(), 0..4);
            prop_oneof![
                list.clone().prop_map(|items| Value::List(items.into())),
                list.clone().prop_map(|items| Value::Set(items.into())),
                vec((inner.clone(), 0_u64..5), 0..4).prop_map(|items| Value::BulkSet(items.into())),
                vec((inner.clone(), inner.clone()), 0..4)
                    .prop_map(|entries| Value::Map(Arc::new(Map { entries }))),
                vertex(inner.clone()),
                edge(inner.clone()),
                vertex_property(inner.clone()).prop_map(Value::VertexProperty),
                property(inner.clone()).prop_map(Value::Property),
                vec((vec(name(), 0..3), inner.clone()), 0..4).prop_map(|steps| {
                    let (labels, objects) = steps.into_iter().unzip();
                    Value::Path(Arc::new(Path { labels, objects }))
                }),
                tree(inner.clone()),
                predicate(inner.clone()),
                (vec(instruction(inner.clone()), 0..2), vec(instruction(inner.clone()), 0..4))
                    .prop_map(|(sources, steps)| Value::Traversal(Arc::new(Bytecode { sources, steps }))),
                ("[A-Z][a-z]{1,5}Strategy", vec((name(), inner), 0..3)).prop_map(|(name, configuration)| {
                    Value::Strategy { name: name.into(), configuration: Arc::new(configuration) }
                }),
                metrics(),
            ]
        })
        .boxed()
}

fn property(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Arc<Property>> {
    (name(), inner).prop_map(|(key, value)| Arc::new(Property { key, value, element: None }))
}

fn vertex_property(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Arc<VertexProperty>> {
    (scalar(), name(), inner.clone(), vec(property(inner), 0..3)).prop_map(|(id, key, value, properties)| {
        Arc::new(VertexProperty { id, key, value, properties, vertex: None })
    })
}

fn vertex(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let of_key = vec(vertex_property(inner), 1..3);
    let properties = proptest::option::of(proptest::collection::btree_map(name(), of_key, 0..3));
    (scalar(), name(), properties).prop_map(|(id, label, properties)| {
        let properties = properties.map(|by_key| {
            let rename = |key: &Arc<str>, property: &Arc<VertexProperty>| {
                Arc::new(VertexProperty { key: key.clone(), ..VertexProperty::clone(property) })
            };
            let of_key = |(key, values): (Arc<str>, Vec<Arc<VertexProperty>>)| {
                let values = values.iter().map(|property| rename(&key, property)).collect();
                (key, values)
            };
            Arc::new(by_key.into_iter().map(of_key).collect())
        });
        Value::Vertex(Arc::new(Vertex { id, label, partition: None, properties, version: None }))
    })
}

fn edge(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let properties = proptest::option::of(vec(property(inner), 0..3).prop_map(Arc::new));
    (scalar(), name(), scalar(), name(), scalar(), name(), properties).prop_map(
        |(id, label, out_id, out_label, in_id, in_label, properties)| {
            Value::Edge(Arc::new(Edge {
                id,
                label,
                partition: None,
                out_id,
                out_label,
                in_id,
                in_label,
                in_partition: None,
                properties,
                version: None,
            }))
        },
    )
}

fn tree(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let leaf = inner.clone().prop_map(|key| TreeBranch { key, below: Tree::default() });
    let branch =
        (inner, vec(leaf, 0..3)).prop_map(|(key, branches)| TreeBranch { key, below: Tree { branches } });
    vec(branch, 0..3).prop_map(|branches| Value::Tree(Arc::new(Tree { branches })))
}

const KINDS: [PredicateKind; 8] = [
    PredicateKind::Eq,
    PredicateKind::Gte,
    PredicateKind::Between,
    PredicateKind::Outside,
    PredicateKind::Within,
    PredicateKind::Without,
    PredicateKind::Regex,
    PredicateKind::NotStartingWith,
];

fn simple_predicate(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Predicate> {
    (proptest::sample::select(KINDS.to_vec()), vec(inner, 2)).prop_map(|(kind, mut values)| {
        if predicates::takes(kind) == Takes::One {
            values.truncate(1);
        }
        Predicate { kind, values }
    })
}

fn predicate(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let kinds = vec![None, Some(PredicateKind::And), Some(PredicateKind::Or), Some(PredicateKind::Not)];
    (proptest::sample::select(kinds), vec(simple_predicate(inner), 2)).prop_map(|(joined, mut parts)| {
        let kept = if matches!(joined, None | Some(PredicateKind::Not)) { 1 } else { 2 };
        parts.truncate(kept);
        let mut values: Vec<Value> = parts.into_iter().map(|part| Value::Predicate(Arc::new(part))).collect();
        match joined {
            None => values.pop().unwrap_or(Value::Null),
            Some(kind) => Value::Predicate(Arc::new(Predicate { kind, values })),
        }
    })
}

fn instruction(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Instruction> {
    (name(), vec(inner, 0..3)).prop_map(|(name, arguments)| Instruction { name, arguments, position: None })
}

fn metrics() -> impl Strategy<Value = Value> {
    let entry = |name: &str, value: Value| (Value::String(name.into()), value);
    let duration = |nanoseconds: u32| Value::Double(f64::from(nanoseconds) / 1e6);
    let step = (any::<u32>(), name(), name(), any::<i64>()).prop_map(move |(taken, name, id, count)| {
        let counts = Map { entries: vec![entry("traverserCount", Value::Int64(count))] };
        let annotations = Map { entries: vec![entry("percentDur", Value::Double(0.5))] };
        let entries = vec![
            entry("dur", duration(taken)),
            entry("counts", Value::Map(counts.into())),
            entry("name", Value::String(name)),
            entry("annotations", Value::Map(annotations.into())),
            entry("id", Value::String(id)),
            entry("metrics", Value::List(Arc::default())),
        ];
        Value::Metrics(Arc::new(Map { entries }))
    });
    (any::<u32>(), vec(step, 0..3)).prop_map(move |(taken, steps)| {
        let entries = vec![entry("dur", duration(taken)), entry("metrics", Value::List(steps.into()))];
        Value::Metrics(Arc::new(Map { entries }))
    })
}
