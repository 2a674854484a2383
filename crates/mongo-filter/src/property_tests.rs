//! Random documents and filters: a second, plain way to decide must agree, and nothing may panic.

use armilla_mongo_expression::{Environment, Scope};
use armilla_value::{Object, Value};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::projection::AddFields;
use crate::schema::Schema;
use crate::{Filter, Matched, Projection, Sort};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-2i32..4).prop_map(Value::Int32),
        (-2i64..4).prop_map(Value::Int64),
        select(vec![-1.5, 0.0, 1.0, 1.5, 2.0, f64::NAN]).prop_map(Value::Double),
        select(vec!["", "a", "b"]).prop_map(Value::from),
        Just(Value::MinKey),
        Just(Value::MaxKey),
        Just(crate::types::undefined()),
    ]
}

fn name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "0", "1"]).prop_map(str::to_owned)
}

fn object_of(value: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Object> {
    vec((name(), value), 0..4).prop_map(Object::from)
}

fn value() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name(), inner), 0..3).prop_map(|members| Value::Object(Object::from(members))),
        ]
    })
}

fn document() -> impl Strategy<Value = Object> {
    object_of(value())
}

fn path() -> impl Strategy<Value = String> {
    vec(name(), 1..4).prop_map(|names| names.join("."))
}

/// A condition in plain form.
#[derive(Debug, Clone)]
enum Plain {
    Compare(String, &'static str, Value),
    In(String, bool, Vec<Value>),
    Exists(String, bool),
    Size(String, usize),
    Not(String, &'static str, Value),
    Logic(&'static str, Vec<Plain>),
    Elements(String, &'static str, Value),
}

const COMPARISONS: [&str; 6] = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"];
const RANGES: [&str; 5] = ["$eq", "$gt", "$gte", "$lt", "$lte"];

fn operand() -> impl Strategy<Value = Value> {
    value().prop_filter("no filter compares with undefined", |value| !crate::types::is_undefined(value))
}

fn plain() -> impl Strategy<Value = Plain> {
    let leaf = prop_oneof![
        4 => (path(), select(COMPARISONS.to_vec()), operand()).prop_map(|(p, o, v)| Plain::Compare(p, o, v)),
        2 => (path(), any::<bool>(), vec(operand(), 0..4)).prop_map(|(p, n, v)| Plain::In(p, n, v)),
        1 => (path(), any::<bool>()).prop_map(|(p, e)| Plain::Exists(p, e)),
        1 => (path(), 0usize..4).prop_map(|(p, s)| Plain::Size(p, s)),
        1 => (path(), select(RANGES.to_vec()), operand()).prop_map(|(p, o, v)| Plain::Not(p, o, v)),
        1 => (path(), select(RANGES.to_vec()), operand()).prop_map(|(p, o, v)| Plain::Elements(p, o, v)),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        (select(vec!["$and", "$or", "$nor"]), vec(inner, 1..4)).prop_map(|(o, parts)| Plain::Logic(o, parts))
    })
}

fn single(name: &str, value: Value) -> Object {
    Object::from(vec![(name.to_owned(), value)])
}

impl Plain {
    fn query(&self) -> Object {
        match self {
            Plain::Compare(path, operator, value) => single(path, single(operator, value.clone()).into()),
            Plain::In(path, is_negated, values) => {
                let operator = if *is_negated { "$nin" } else { "$in" };
                single(path, single(operator, Value::Array(values.clone())).into())
            }
            Plain::Exists(path, wanted) => single(path, single("$exists", Value::Bool(*wanted)).into()),
            Plain::Size(path, size) => single(path, single("$size", Value::Int64(*size as i64)).into()),
            Plain::Not(path, operator, value) => {
                single(path, single("$not", single(operator, value.clone()).into()).into())
            }
            Plain::Elements(path, operator, value) => {
                single(path, single("$elemMatch", single(operator, value.clone()).into()).into())
            }
            Plain::Logic(operator, parts) => {
                single(operator, Value::Array(parts.iter().map(|part| part.query().into()).collect()))
            }
        }
    }

    fn holds(&self, document: &Object) -> bool {
        let names = |path: &str| path.split('.').map(str::to_owned).collect::<Vec<_>>();
        let reached = |path: &str| {
            let mut ends = Vec::new();
            reach(&Value::Object(document.clone()), &names(path), &mut ends);
            ends
        };
        // What the path ends at, and where that is an array its elements too.
        let spread = |path: &str| {
            let mut values = Vec::new();
            for (end, is_named) in reached(path) {
                if let (Some(Value::Array(elements)), false) = (&end, is_named) {
                    values.extend(elements.iter().cloned().map(Some));
                }
                values.push(end);
            }
            values
        };
        match self {
            Plain::Compare(path, "$ne", value) => {
                !spread(path).iter().any(|own| compares(own.as_ref(), "$eq", value))
            }
            Plain::Compare(path, operator, value) => {
                spread(path).iter().any(|own| compares(own.as_ref(), operator, value))
            }
            Plain::Not(path, operator, value) => {
                !spread(path).iter().any(|own| compares(own.as_ref(), operator, value))
            }
            Plain::In(path, is_negated, values) => {
                let is_in = spread(path)
                    .iter()
                    .any(|own| values.iter().any(|value| compares(own.as_ref(), "$eq", value)));
                is_in != *is_negated
            }
            Plain::Exists(path, wanted) => reached(path).iter().any(|(end, _)| end.is_some()) == *wanted,
            Plain::Size(path, size) => reached(path)
                .iter()
                .any(|(end, _)| matches!(end, Some(Value::Array(elements)) if elements.len() == *size)),
            Plain::Elements(path, operator, value) => reached(path).iter().any(|(end, _)| match end {
                Some(Value::Array(elements)) => {
                    elements.iter().any(|own| compares(Some(own), operator, value))
                }
                _ => false,
            }),
            Plain::Logic(operator, parts) => {
                let mut holds = parts.iter().map(|part| part.holds(document));
                match *operator {
                    "$and" => holds.all(|holds| holds),
                    "$or" => holds.any(|holds| holds),
                    _ => !holds.any(|holds| holds),
                }
            }
        }
    }
}

/// Gathers what a path ends at, and whether its last name was a place in an array.
fn reach(value: &Value, names: &[String], ends: &mut Vec<(Option<Value>, bool)>) {
    let Some((first, rest)) = names.split_first() else {
        ends.push((Some(value.clone()), false));
        return;
    };
    match value {
        Value::Object(object) => match object.get(first) {
            Some(member) => reach(member, rest, ends),
            None => ends.push((None, false)),
        },
        Value::Array(elements) => {
            for element in elements.iter().filter(|element| matches!(element, Value::Object(_))) {
                reach(element, names, ends);
            }
            if let Some(element) = first.parse::<usize>().ok().and_then(|place| elements.get(place)) {
                match element {
                    _ if rest.is_empty() => ends.push((Some(element.clone()), true)),
                    Value::Object(_) | Value::Array(_) => reach(element, rest, ends),
                    _ => {}
                }
            }
        }
        _ => ends.push((None, false)),
    }
}

/// Names the class of a value.
fn class(value: Option<&Value>) -> &'static str {
    match value {
        None => "nothing",
        Some(value) if crate::types::is_undefined(value) => "nothing",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "bool",
        Some(Value::Int32(_) | Value::Int64(_) | Value::Double(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
        Some(Value::MinKey) => "lowest",
        Some(_) => "highest",
    }
}

fn compares(own: Option<&Value>, operator: &str, operand: &Value) -> bool {
    let (class, operand_class) = (class(own), class(Some(operand)));
    let is_with_equal = matches!(operator, "$eq" | "$gte" | "$lte");
    let is_nan = |value: Option<&Value>| matches!(value, Some(Value::Double(number)) if number.is_nan());
    if operand_class == "null" {
        return is_with_equal && matches!(class, "nothing" | "null");
    }
    if operand_class == "lowest" {
        return if class == "lowest" { is_with_equal } else { matches!(operator, "$gt" | "$gte") };
    }
    if operand_class == "highest" {
        return if class == "highest" { is_with_equal } else { matches!(operator, "$lt" | "$lte") };
    }
    let Some(own) = own.filter(|_| class == operand_class) else { return false };
    if is_nan(Some(own)) || is_nan(Some(operand)) {
        return is_with_equal && is_nan(Some(own)) && is_nan(Some(operand));
    }
    let order = armilla_value::mongo_cmp(own, operand);
    match operator {
        "$eq" => order.is_eq(),
        "$gt" => order.is_gt(),
        "$gte" => order.is_ge(),
        "$lt" => order.is_lt(),
        _ => order.is_le(),
    }
}

/// Values that look like filters, projections and schemas.
fn wild() -> impl Strategy<Value = Value> {
    let names = vec![
        "a",
        "a.b",
        "a.$",
        "",
        "a.",
        "$",
        "_id",
        "$and",
        "$or",
        "$nor",
        "$not",
        "$eq",
        "$gt",
        "$in",
        "$nin",
        "$all",
        "$elemMatch",
        "$size",
        "$mod",
        "$type",
        "$regex",
        "$options",
        "$exists",
        "$bitsAllSet",
        "$geoWithin",
        "$geoIntersects",
        "$near",
        "$nearSphere",
        "$geometry",
        "$box",
        "$center",
        "$centerSphere",
        "$polygon",
        "$maxDistance",
        "type",
        "coordinates",
        "geometries",
        "$jsonSchema",
        "properties",
        "items",
        "required",
        "bsonType",
        "not",
        "anyOf",
        "dependencies",
        "$slice",
        "$meta",
        "$expr",
        "$comment",
        "$sampleRate",
        "$literal",
    ];
    let leaf = prop_oneof![
        3 => scalar(),
        1 => select(vec!["Point", "Polygon", "string", "sortKey", "(", "^a", "$a", "$$ROOT"]).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::Int64),
        1 => any::<f64>().prop_map(Value::Double),
        1 => Just(Value::Regex { pattern: "a".into(), options: "i".into() }),
    ];
    leaf.prop_recursive(5, 40, 4, move |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((select(names.clone()).prop_map(str::to_owned), inner), 0..4)
                .prop_map(|members| Value::Object(Object::from(members))),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn two_ways_to_decide_agree(plain in plain(), document in document()) {
        let filter = Filter::parse(&plain.query(), &Scope::default()).expect("a good filter");
        let is_match = filter.matches(&document, &Environment::default()).expect("matching does not fail");
        prop_assert_eq!(is_match, plain.holds(&document), "{:?}", plain.query());
        let found = filter.find(&document, &Environment::default()).expect("matching does not fail");
        prop_assert_eq!(found.is_some(), is_match);
    }

    #[test]
    fn nothing_panics(wild in wild(), document in document(), other in wild()) {
        let environment = Environment::default();
        let scope = Scope::default();
        let specification = match wild {
            Value::Object(object) => object,
            value => single("a", value),
        };
        let mut documents = vec![document];
        documents.extend(other.as_object().cloned());
        let filter = Filter::parse(&specification, &scope).ok();
        if let Some(filter) = &filter {
            for document in &documents {
                let _ = filter.find(document, &environment);
                let _ = filter.failure(document, &environment);
                let _ = filter.near().map(|near| near.distance(document));
            }
            let _ = filter.matches_value(&other, &environment);
            let _ = filter.equalities();
        }
        let matched = Matched { position: Some(1) };
        for projection in [
            Projection::parse(&specification, filter.as_ref(), &scope),
            Projection::parse_aggregation(&specification, &scope),
        ].into_iter().flatten() {
            for document in &documents {
                let _ = projection.apply(document, &matched, &environment);
            }
        }
        if let Ok(add_fields) = AddFields::parse(&specification, &scope) {
            for document in &documents {
                let added = add_fields.apply(document, &environment);
                prop_assert_eq!(
                    added.ok().map(crate::testing::text),
                    add_fields.apply_owned(document.clone(), &environment).ok().map(crate::testing::text)
                );
            }
        }
        let _ = Schema::parse(&Value::Object(specification.clone())).map(|schema| schema.matches(&documents[0]));
        if let Ok(sort) = Sort::parse(&specification) {
            for document in &documents {
                let _ = sort.key(document);
            }
        }
    }

    #[test]
    fn orders_are_total(paths in vec((path(), any::<bool>()), 1..3), documents in vec(document(), 3)) {
        let specification: Object =
            paths.into_iter().map(|(path, up)| (path, Value::Int32(if up { 1 } else { -1 }))).collect();
        let sort = Sort::parse(&specification).expect("a good order");
        let keys: Vec<_> = documents.iter().filter_map(|document| sort.key(document).ok()).collect();
        for a in &keys {
            prop_assert_eq!(a.0.len(), sort.keys.len());
            for b in &keys {
                prop_assert_eq!(sort.compare(a, b), sort.compare(b, a).reverse());
                for c in &keys {
                    if sort.compare(a, b).is_le() && sort.compare(b, c).is_le() {
                        prop_assert!(sort.compare(a, c).is_le());
                    }
                }
            }
        }
    }

    #[test]
    fn what_one_keeps_the_other_drops(paths in vec(name(), 1..3), document in document()) {
        let specify = |value: i32| -> Object {
            let mut members: Vec<(String, Value)> =
                paths.iter().map(|path| (path.clone(), Value::Int32(value))).collect();
            members.push(("_id".to_owned(), Value::Int32(0)));
            Object::from(members)
        };
        let apply = |specification: Object| {
            let projection = Projection::parse(&specification, None, &Scope::default()).expect("a good projection");
            projection.apply(&document, &Matched::default(), &Environment::default()).expect("applying does not fail")
        };
        let (kept, rest) = (apply(specify(1)), apply(specify(0)));
        prop_assert_eq!(kept.len() + rest.len(), document.len());
        for (name, value) in document.iter() {
            let in_which = if paths.iter().any(|path| path == name) { &kept } else { &rest };
            let own = in_which.get(name).map(|own| crate::testing::text(own.clone()));
            prop_assert_eq!(own, Some(crate::testing::text(value.clone())));
        }
    }
}
