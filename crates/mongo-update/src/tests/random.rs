//! Properties of random updates of random documents: nothing panics, and what is said of a change is true.

use armilla_mongo_expression::Scope;
use armilla_mongo_filter::{Filter, Matched};
use armilla_value::{Decimal, Legacy, Object, Value, mongo_cmp};
use proptest::prelude::*;

use super::environment;
use crate::identical::identical_objects;
use crate::path::Name;
use crate::{Update, describe};

/// Few names, so that paths often meet something.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => "[a-c]",
        2 => "[0-3]",
        1 => Just("_id".to_owned()),
        1 => Just("b.c".to_owned()),
        1 => Just(String::new()),
        1 => Just("$x".to_owned()),
    ]
}

fn plain_name() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-c]", 1 => "[0-2]"]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        (-3i32..4).prop_map(Value::Int32),
        any::<i32>().prop_map(Value::Int32),
        (-3i64..4).prop_map(Value::Int64),
        any::<i64>().prop_map(Value::Int64),
        any::<f64>().prop_map(Value::Double),
        (-3i32..4).prop_map(|number| Value::Double(f64::from(number))),
        "[a-c]{0,2}".prop_map(Value::String),
        any::<i64>().prop_map(Value::Date),
        Just(Value::ObjectId([1; 12])),
        (0u32..2, 0u32..2).prop_map(|(seconds, increment)| Value::Timestamp { seconds, increment }),
        (0u128..30, -2i32..3).prop_map(|(coefficient, exponent)| Value::Decimal128(
            Decimal::Finite { negative: false, coefficient, exponent }.to_bytes()
        )),
        any::<[u8; 16]>().prop_map(Value::Decimal128),
        Just(Value::Regex { pattern: "^a".into(), options: "i".into() }),
        Just(Value::Regex { pattern: "(".into(), options: "".into() }),
        prop::sample::select(vec![
            Legacy::Undefined,
            Legacy::Code("a".to_owned()),
            Legacy::CodeWithScope { code: "a".to_owned(), scope: Object::from([("a", f64::NAN)]) },
            Legacy::Symbol("a".to_owned()),
            Legacy::DbPointer { namespace: "a.b".to_owned(), id: [1; 12] },
        ])
        .prop_map(|legacy| Value::Legacy(Box::new(legacy))),
        Just(Value::MinKey),
        Just(Value::MaxKey),
        (any::<u8>(), any::<Vec<u8>>()).prop_map(|(subtype, bytes)| Value::Binary { subtype, bytes }),
    ]
}

fn tree<N: Strategy<Value = String> + 'static>(name: fn() -> N) -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            proptest::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into())),
        ]
    })
}

fn document<N: Strategy<Value = String> + 'static>(name: fn() -> N) -> impl Strategy<Value = Object> {
    proptest::collection::vec((name(), tree(name)), 0..5).prop_map(Object::from)
}

fn path() -> impl Strategy<Value = String> {
    let component = prop_oneof![
        8 => "[a-c]",
        3 => "[0-3]",
        1 => Just("_id".to_owned()),
        2 => Just("$".to_owned()),
        2 => Just("$[]".to_owned()),
        2 => Just("$[i]".to_owned()),
        1 => name(),
    ];
    proptest::collection::vec(component, 1..4).prop_map(|components| components.join("."))
}

fn keyword() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "$each",
        "$position",
        "$slice",
        "$sort",
        "$type",
        "and",
        "or",
        "xor",
        "$gt",
        "$in",
        "$elemMatch",
        "$not",
        "$or",
        "$and",
        "$exists",
        "$regex",
        "$all",
        "$size",
        "$mod",
        "$expr",
    ])
    .prop_map(str::to_owned)
}

fn operand() -> impl Strategy<Value = Value> {
    prop_oneof![
        2 => tree(name),
        2 => (-2i32..3).prop_map(Value::Int32),
        1 => path().prop_map(Value::String),
        2 => proptest::collection::vec((keyword(), tree(keyword)), 1..4)
            .prop_map(|members| Value::Object(members.into())),
        2 => (proptest::collection::vec(tree(plain_name), 0..4), proptest::collection::vec((keyword(), scalar()), 0..3))
            .prop_map(|(each, mut clauses)| {
                clauses.insert(0, ("$each".to_owned(), Value::Array(each)));
                Value::Object(clauses.into())
            }),
    ]
}

fn operator() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "$set",
        "$setOnInsert",
        "$unset",
        "$inc",
        "$mul",
        "$bit",
        "$min",
        "$max",
        "$currentDate",
        "$rename",
        "$push",
        "$addToSet",
        "$pop",
        "$pull",
        "$pullAll",
    ])
    .prop_map(str::to_owned)
}

/// An operand that the operator understands.
fn fitting(operator: &str) -> BoxedStrategy<Value> {
    let number = || {
        prop_oneof![
            any::<i32>().prop_map(Value::Int32),
            any::<i64>().prop_map(Value::Int64),
            (-3i32..4).prop_map(Value::Int32)
        ]
    };
    let values = || proptest::collection::vec(tree(plain_name), 0..4).prop_map(Value::Array);
    match operator {
        "$inc" | "$mul" => number().boxed(),
        "$bit" => (prop::sample::select(vec!["and", "or", "xor"]), number())
            .prop_map(|(operation, number)| Value::Object(Object::from([(operation, number)])))
            .boxed(),
        "$pop" => prop_oneof![Just(Value::Int32(1)), Just(Value::Int32(-1))].boxed(),
        "$rename" => "[a-c](\\.[a-c])?".prop_map(Value::String).boxed(),
        "$currentDate" => any::<bool>().prop_map(Value::Bool).boxed(),
        "$pullAll" => values().boxed(),
        "$push" => (values(), -3i32..4, -3i32..4, any::<bool>())
            .prop_map(|(each, position, slice, is_sorted)| {
                let mut clauses = Object::from([("$each", each)]);
                clauses.insert("$position", Value::Int32(position));
                clauses.insert("$slice", Value::Int32(slice));
                if is_sorted {
                    clauses.insert("$sort", Value::Int32(if slice < 0 { -1 } else { 1 }));
                }
                Value::Object(clauses)
            })
            .boxed(),
        _ => tree(plain_name).boxed(),
    }
}

fn operators() -> impl Strategy<Value = Value> {
    let modifier = operator().prop_flat_map(|operator| {
        let operand = prop_oneof![4 => fitting(&operator), 1 => operand()];
        let operands =
            proptest::collection::vec((prop_oneof![path(), "[a-c](\\.[a-c0-3]){0,2}"], operand), 1..3);
        (Just(operator), operands.prop_map(|members| Value::Object(members.into())))
    });
    proptest::collection::vec(modifier, 1..3).prop_map(|members| Value::Object(members.into()))
}

fn stage() -> impl Strategy<Value = Value> {
    let name = prop::sample::select(vec![
        "$set",
        "$addFields",
        "$unset",
        "$project",
        "$replaceWith",
        "$replaceRoot",
        "$match",
    ]);
    let reference = || path().prop_map(|path| Value::String(format!("${path}")));
    let specification = prop_oneof![
        tree(name_of_expression),
        reference(),
        proptest::collection::vec((path(), prop_oneof![reference(), tree(name_of_expression)]), 0..3)
            .prop_map(|members| Value::Object(members.into())),
    ];
    (name, specification)
        .prop_map(|(name, specification)| Value::Object(Object::from([(name, specification)])))
}

fn name_of_expression() -> impl Strategy<Value = String> {
    prop_oneof![
        2 => name(),
        1 => Just("newRoot".to_owned()),
        1 => prop::sample::select(vec!["$add", "$concatArrays", "$literal", "$mergeObjects"]).prop_map(str::to_owned),
    ]
}

fn update() -> impl Strategy<Value = Value> {
    prop_oneof![
        8 => operators(),
        1 => document(name).prop_map(Value::Object),
        2 => proptest::collection::vec(stage(), 0..3).prop_map(Value::Array),
        1 => tree(name),
    ]
}

fn array_filters() -> impl Strategy<Value = Option<Vec<Value>>> {
    let filter = prop_oneof![
        scalar().prop_map(|value| Object::from([("i", value)])),
        scalar().prop_map(|value| Object::from([("i.a", Object::from([("$gte", value)]))])),
        operand().prop_map(|value| Object::from([("i", value)])),
        document(name),
    ];
    prop_oneof![Just(None), proptest::collection::vec(filter.prop_map(Value::Object), 0..2).prop_map(Some),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn no_update_panics(
        update in update(),
        filters in array_filters(),
        document in document(name),
        position in proptest::option::of(0usize..4),
        query in document(name),
    ) {
        let Ok(update) = Update::parse(&update, filters.as_deref(), None, &Scope::default()) else {
            return Ok(());
        };
        if let Ok(updated) = update.apply(document.clone(), &Matched { position }, &environment()) {
            prop_assert_eq!(updated.is_modified, !identical_objects(&document, &updated.document));
            if let Some(id) = document.get("_id") {
                let new = updated.document.get("_id");
                prop_assert!(new.is_some_and(|new| mongo_cmp(id, new).is_eq()), "_id became {:?}", new);
            }
        }
        if let Ok(filter) = Filter::parse(&query, &Scope::default()) {
            let _ = update.insert(&filter, &environment());
        }
    }

    /// Paths do not touch each other, so what they do together they do one after the other, in their order.
    #[test]
    fn paths_do_together_what_each_does(
        update in operators(),
        document in document(name),
        position in 0usize..4,
    ) {
        let matched = Matched { position: Some(position) };
        let run = |update: &Value, document: &Object| {
            Update::parse(update, None, None, &Scope::default())?.apply(document.clone(), &matched, &environment())
        };
        let Ok(together) = run(&update, &document) else {
            return Ok(());
        };
        let mut steps = Vec::new();
        for (operator, operands) in update.as_object().unwrap().iter() {
            for (path, operand) in operands.as_object().unwrap().iter() {
                let target = if operator == "$rename" { operand.as_str().unwrap() } else { path };
                let order: Vec<Name> = target
                    .split('.')
                    .map(|name| Name(if name == "$" { position.to_string() } else { name.to_owned() }))
                    .collect();
                let operands = Object::from([(path, operand.clone())]);
                steps.push((order, Value::Object(Object::from([(operator, operands)]))));
            }
        }
        // The first step would give the document an `_id`, which the next one may not change any more.
        if !document.contains("_id") && steps.iter().any(|(order, _)| order[0].0 == "_id") {
            return Ok(());
        }
        steps.sort_by(|left, right| left.0.cmp(&right.0));
        let (mut now, mut is_modified) = (document, false);
        for (_, step) in &steps {
            let updated = run(step, &now).unwrap();
            is_modified |= updated.is_modified;
            now = updated.document;
        }
        prop_assert!(identical_objects(&together.document, &now), "{:?} is not {:?}", together.document, now);
        prop_assert_eq!(together.is_modified, is_modified);
    }

    #[test]
    fn setting_twice_is_setting_once(members in document(path), document in document(name)) {
        let update = Value::Object(Object::from([("$set", members)]));
        let Ok(update) = Update::parse(&update, None, None, &Scope::default()) else {
            return Ok(());
        };
        let matched = Matched { position: Some(1) };
        if let Ok(once) = update.apply(document.clone(), &matched, &environment()) {
            let twice = update.apply(once.document.clone(), &matched, &environment()).unwrap();
            prop_assert!(!twice.is_modified);
            prop_assert!(identical_objects(&once.document, &twice.document));
        }
    }

    #[test]
    fn descriptions_lead_from_before_to_after(before in document(plain_name), after in document(plain_name)) {
        check_description(&before, &after)?;
    }

    #[test]
    fn updates_are_described(update in operators(), before in document(plain_name)) {
        let Ok(update) = Update::parse(&update, None, None, &Scope::default()) else {
            return Ok(());
        };
        if let Ok(updated) = update.apply(before.clone(), &Matched::default(), &environment()) {
            check_description(&before, &updated.document)?;
        }
    }
}

fn check_description(before: &Object, after: &Object) -> std::result::Result<(), TestCaseError> {
    let description = describe(before, after);
    let is_empty = |name: &str| match description.get(name) {
        Some(Value::Object(members)) => members.is_empty(),
        Some(Value::Array(elements)) => elements.is_empty(),
        _ => false,
    };
    let says_nothing = ["updatedFields", "removedFields", "truncatedArrays"].into_iter().all(is_empty);
    prop_assert_eq!(says_nothing, identical_objects(before, after));
    // A member at the top whose name looks like a path cannot be told from one, and neither can this test.
    if [before, after]
        .into_iter()
        .any(|object| object.iter().any(|(name, _)| name.contains('.') || name.is_empty()))
    {
        return Ok(());
    }
    let mut rebuilt = Value::Object(before.clone());
    for path in description.get("removedFields").and_then(Value::as_array).unwrap() {
        follow(&mut rebuilt, path.as_str().unwrap(), |parent, name| {
            parent.as_object_mut().unwrap().remove(name).unwrap();
        });
    }
    for truncation in description.get("truncatedArrays").and_then(Value::as_array).unwrap() {
        let length = truncation.get("newSize").and_then(Value::as_i64).unwrap() as usize;
        follow(&mut rebuilt, truncation.get("field").and_then(Value::as_str).unwrap(), |parent, name| {
            member(parent, name).as_array_mut().unwrap().truncate(length);
        });
    }
    for (path, value) in description.get("updatedFields").and_then(Value::as_object).unwrap().iter() {
        follow(&mut rebuilt, path, |parent, name| match parent {
            Value::Array(elements) => {
                let index: usize = name.parse().unwrap();
                if index == elements.len() {
                    elements.push(value.clone());
                } else {
                    elements[index] = value.clone();
                }
            }
            other => {
                other.as_object_mut().unwrap().insert(name, value.clone());
            }
        });
    }
    let (rebuilt, after) = (sorted(&rebuilt), sorted(&Value::Object(after.clone())));
    prop_assert!(crate::identical::identical(&rebuilt, &after), "{:?} is not {:?}", rebuilt, after);
    Ok(())
}

/// Does something to the last member of a path.
fn follow(root: &mut Value, path: &str, act: impl FnOnce(&mut Value, &str)) {
    let names: Vec<&str> = path.split('.').collect();
    let (last, parents) = names.split_last().unwrap();
    let parent = parents.iter().fold(root, |value, name| member(value, name));
    act(parent, last);
}

fn member<'a>(value: &'a mut Value, name: &str) -> &'a mut Value {
    match value {
        Value::Array(elements) => &mut elements[name.parse::<usize>().unwrap()],
        other => other.as_object_mut().unwrap().get_mut(name).unwrap(),
    }
}

/// Returns a value with the members of its objects at the top in the order of names: descriptions do not say where a
/// member moved to.
fn sorted(value: &Value) -> Value {
    let Value::Object(object) = value else {
        return value.clone();
    };
    let mut members: Vec<(String, Value)> =
        object.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    members.sort_by(|left, right| left.0.cmp(&right.0));
    Value::Object(members.into())
}
