//! The bounds, at them and one past them.

use armilla_value::{Object, Value};

use super::{environment, evaluated, object, scope, shown, value};
use crate::limits::{DEPTH_MAX, EVALUATION_BYTES_MAX, EVALUATION_STEPS_MAX, EXCERPT_BYTES_MAX};
use crate::measure::{bson_bytes, check_depth, excerpt};
use crate::tree::Budget;
use crate::{Accumulator, Expression};

#[test]
fn bytes_and_steps() {
    let budget = Budget::default();
    assert!(budget.charge(EVALUATION_BYTES_MAX).is_ok());
    assert_eq!(budget.charge(1).unwrap_err().code, 146);
    budget.release_to(0);
    assert!(budget.charge(1).is_ok());
    let budget = Budget::default();
    assert!(budget.step(EVALUATION_STEPS_MAX).is_ok());
    assert_eq!(budget.step(1).unwrap_err().code, 50);
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |inner, level| match level % 2 {
        0 => Value::Array(vec![inner]),
        _ => Value::Object(Object::from([("a", inner)])),
    })
}

#[test]
fn levels() {
    assert!(check_depth(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(check_depth(&nested(DEPTH_MAX + 1)).unwrap_err().code, 15);
    // One level more than the document has, by each of the ways.
    let mut document = Object::new();
    document.insert("deep", nested(DEPTH_MAX));
    for expression in [r#"["$deep"]"#, r#"{"a": "$deep"}"#, r#"{"$map": {"input": [1], "in": "$deep"}}"#] {
        assert_eq!(evaluated(&document, expression), "error 15", "{expression}");
        let expression = Expression::parse(&value(expression), &scope()).unwrap();
        assert_eq!(expression.evaluate_borrowed(&document, &environment()).unwrap_err().code, 15);
    }
    assert_ne!(evaluated(&document, r#""$deep""#), "error 15");
    let accumulator = Accumulator::parse("a", &value(r#"{"$push": ["$deep"]}"#), &scope()).unwrap();
    assert!(accumulator.add(&mut accumulator.begin(), &document, &environment()).is_ok());
    let accumulator = Accumulator::parse("a", &value(r#"{"$push": {"x": "$deep"}}"#), &scope()).unwrap();
    assert_eq!(accumulator.add(&mut accumulator.begin(), &document, &environment()).unwrap_err().code, 15);
}

#[test]
fn long_values_are_cut_in_messages() {
    let fits = Value::String("é".repeat((EXCERPT_BYTES_MAX - 2) / 2));
    assert_eq!(excerpt(&fits).len(), EXCERPT_BYTES_MAX);
    let long = Value::String("é".repeat(EXCERPT_BYTES_MAX));
    let cut = excerpt(&long);
    assert!(cut.ends_with("...") && cut.len() <= EXCERPT_BYTES_MAX + 3);
}

#[test]
fn deprecated_types() {
    let document = object(
        r#"{"u": {"$undefined": true}, "c": {"$code": "f"}, "s": {"$symbol": "b"}, "list": [1, {"$undefined": true}]}"#,
    );
    for (expression, expected) in [
        (r#"{"$type": "$u"}"#, "'undefined'"),
        (r#"{"$type": "$c"}"#, "'javascript'"),
        (r#"{"$type": "$s"}"#, "'symbol'"),
        (r#"{"$ifNull": ["$u", 1]}"#, "1"),
        (r#"{"$add": [1, "$u"]}"#, "null"),
        (r#"{"$subtract": [1, "$u"]}"#, "null"),
        (r#"{"$toUpper": "$u"}"#, "''"),
        (r#"{"$concat": ["a", "$u"]}"#, "null"),
        (r#"{"$year": "$u"}"#, "null"),
        (r#"{"$and": ["$u"]}"#, "false"),
        (r#"{"$eq": ["$u", "$missing"]}"#, "true"),
        (r#"{"$eq": ["$u", null]}"#, "false"),
        (r#"{"$gt": ["$s", "a"]}"#, "true"),
        (r#"{"$max": "$list"}"#, "1"),
    ] {
        assert_eq!(evaluated(&document, expression), expected, "{expression}");
    }
    assert_eq!(bson_bytes(&object(r#"{"u": {"$undefined": true}, "c": {"$code": "f"}}"#)), 5 + 3 + 3 + 6);
    assert_eq!(shown(&value(r#"{"a": 1}"#)), "{a: 1}");
}
