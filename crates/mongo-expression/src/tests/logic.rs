//! Truth, comparison, choices, variables, and what is wrong about expressions as such.

use super::{check, environment, evaluated, object, scope, value};
use armilla_value::Value;

use crate::{Expression, Scope};

#[test]
fn paths() {
    check(
        r#"{"a": {"b": 1}, "c": [{"d": 1}, {"d": 2}, 3, {}, [{"d": 9}]], "n": null, "e": [], "deep": [{"x": [{"y": 1}, {"y": 2}]}, {"x": {"y": 3}}]}"#,
        &[
            (r#""$a.b""#, "1"),
            (r#""$a.b.c""#, "missing"),
            (r#""$n""#, "null"),
            (r#""$n.x""#, "missing"),
            (r#""$c.d""#, "[1, 2]"),
            (r#""$c.0""#, "[]"),
            (r#""$e.x""#, "[]"),
            (r#""$deep.x.y""#, "[[1, 2], 3]"),
            (r#""$$ROOT.a""#, "{b: 1}"),
            (r#""$$CURRENT.a.b""#, "1"),
            (r#""$$REMOVE""#, "missing"),
            (r#""$$NOW""#, "date(2020-09-13T12:26:40.000Z)"),
            (r#""$$CLUSTER_TIME""#, r#"{"$timestamp":{"t":1600000000,"i":7}}"#),
            (r#""$$USER_ROLES.role""#, "['read']"),
            (r#""$$limit""#, "5"),
            (r#""$$nested.a.b""#, "[1, 2]"),
            (r#""$$KEEP""#, "'keep'"),
            (r#""$$unknown""#, "error 17276"),
            (r#""$$""#, "error 16869"),
            (r#""$""#, "error 16872"),
            (r#""$a.""#, "error 40353"),
            (r#""$a..b""#, "error 15998"),
            (r#""$a.$b""#, "error 16410"),
            (r#""plain""#, "'plain'"),
            (r#"["$a.b", "$zzz", 3]"#, "[1, null, 3]"),
            (r#"{"x": "$a.b", "y": "$zzz", "z": {"w": "$$REMOVE"}}"#, "{x: 1, z: {}}"),
            (r#"{"x.y": 1}"#, "error 16412"),
            (r#"{"x": 1, "$y": 1}"#, "error 16410"),
            (r#"{"$add": [1], "$x": 1}"#, "error 15983"),
            (r#"{"$nope": 1}"#, "error 168"),
            (r#"{"$literal": {"$add": "$x"}}"#, "{$add: '$x'}"),
            (r#"{"$function": {"body": "x"}}"#, "error 238"),
        ],
    );
}

#[test]
fn truth_and_comparison() {
    check(
        r#"{"a": 5, "s": "x", "n": null, "arr": [1]}"#,
        &[
            (r#"{"$and": []}"#, "true"),
            (r#"{"$or": []}"#, "false"),
            (r#"{"$and": [1, "", [], {}]}"#, "true"),
            (r#"{"$and": [1, 0]}"#, "false"),
            (r#"{"$or": [0, null, "$zzz", {"$numberDecimal": "0.0"}]}"#, "false"),
            (r#"{"$or": [0, {"$numberDouble": "NaN"}]}"#, "true"),
            (r#"{"$and": [false, {"$divide": ["$a", 0]}]}"#, "false"),
            (r#"{"$not": ["$n"]}"#, "true"),
            (r#"{"$not": [1, 2]}"#, "error 16020"),
            (r#"{"$eq": [1, 1.0]}"#, "true"),
            (r#"{"$eq": [1, {"$numberDecimal": "1.00"}]}"#, "true"),
            (r#"{"$eq": ["$zzz", null]}"#, "false"),
            (r#"{"$lt": ["$zzz", null]}"#, "true"),
            (r#"{"$gt": ["$zzz", {"$minKey": 1}]}"#, "true"),
            (r#"{"$gt": ["a", 1]}"#, "true"),
            (r#"{"$gt": [[], "a"]}"#, "true"),
            (r#"{"$ne": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}"#, "true"),
            (r#"{"$cmp": [1, 2]}"#, "-1"),
            (r#"{"$cmp": [2, 2]}"#, "0"),
            (r#"{"$cmp": [3, 2]}"#, "1"),
            (r#"{"$gte": [{"$long": "9007199254740993"}, 9007199254740992.0]}"#, "true"),
            (r#"{"$eq": [1]}"#, "error 16020"),
        ],
    );
}

#[test]
fn choices() {
    check(
        r#"{"a": 5, "n": null}"#,
        &[
            (r#"{"$cond": [true, 1, 2]}"#, "1"),
            (r#"{"$cond": {"if": {"$gt": ["$a", 9]}, "then": "y", "else": "$zzz"}}"#, "missing"),
            (r#"{"$cond": [true, 1, {"$divide": ["$a", 0]}]}"#, "1"),
            (r#"{"$cond": {"if": 1, "then": 2}}"#, "error 17082"),
            (r#"{"$cond": {"if": 1, "then": 2, "else": 3, "x": 4}}"#, "error 17083"),
            (r#"{"$cond": [1, 2]}"#, "error 16020"),
            (r#"{"$ifNull": ["$n", "$zzz", 3]}"#, "3"),
            (r#"{"$ifNull": ["$n", "$zzz"]}"#, "missing"),
            (r#"{"$ifNull": ["$a", 1]}"#, "5"),
            (r#"{"$ifNull": ["$a"]}"#, "error 1257300"),
            (
                r#"{"$switch": {"branches": [{"case": {"$eq": ["$a", 5]}, "then": "five"}], "default": 0}}"#,
                "'five'",
            ),
            (r#"{"$switch": {"branches": [{"case": false, "then": 1}], "default": 0}}"#, "0"),
            (r#"{"$switch": {"branches": [{"case": false, "then": 1}]}}"#, "error 40066"),
            (r#"{"$switch": {"branches": []}}"#, "error 40068"),
            (r#"{"$switch": {"branches": [{"case": 1}]}}"#, "error 40065"),
            (r#"{"$switch": 1}"#, "error 40060"),
            (r#"{"$let": {"vars": {"x": "$a", "y": 2}, "in": {"$add": ["$$x", "$$y"]}}}"#, "7"),
            (
                r#"{"$let": {"vars": {"x": 1}, "in": {"$let": {"vars": {"x": 2, "y": "$$x"}, "in": ["$$x", "$$y"]}}}}"#,
                "[2, 1]",
            ),
            (r#"{"$let": {"vars": {"CURRENT": {"a": 9}}, "in": ["$a", "$$ROOT.a"]}}"#, "[9, 5]"),
            (r#"{"$let": {"vars": {"X": 1}, "in": 1}}"#, "error 16867"),
            (r#"{"$let": {"vars": {"x": 1}, "in": "$$y"}}"#, "error 17276"),
            (r#"{"$let": {"vars": {"x": 1}}}"#, "error 16877"),
        ],
    );
}

#[test]
fn what_is_nested_too_deep() {
    let deep = |levels| (0..levels).fold(value("1"), |inner, _| Value::Array(vec![inner]));
    assert!(Expression::parse(&deep(199), &Scope::default()).is_ok());
    let deep = deep(200);
    assert_eq!(Expression::parse(&deep, &Scope::default()).unwrap_err().code, 15);
    // A value that grows by a level with each step.
    let document = object("{}");
    let grown = |steps: i32| {
        evaluated(
            &document,
            &format!(
                r#"{{"$size": {{"$reduce": {{"input": {{"$range": [0, {steps}]}}, "initialValue": [], "in": ["$$value"]}}}}}}"#
            ),
        )
    };
    assert_eq!(grown(199), "1");
    assert_eq!(grown(200), "error 15");
}

#[test]
fn what_takes_too_much_memory() {
    let document = object(r#"{"s": "0123456789"}"#);
    for expression in [
        r#"{"$range": [0, 2000000000]}"#,
        r#"{"$reduce": {"input": {"$range": [0, 40]}, "initialValue": "$s", "in": {"$concat": ["$$value", "$$value"]}}}"#,
        r#"{"$reduce": {"input": {"$range": [0, 40]}, "initialValue": [1], "in": {"$concatArrays": ["$$value", "$$value"]}}}"#,
        r#"{"$reduce": {"input": {"$range": [0, 40]}, "initialValue": [1], "in": ["$$value", "$$value"]}}"#,
    ] {
        assert_eq!(evaluated(&document, expression), "error 146", "{expression}");
    }
    let endless =
        r#"{"$map": {"input": {"$range": [0, 1000000]}, "in": {"$size": {"$range": [0, 1000000]}}}}"#;
    assert_eq!(evaluated(&document, endless), "error 50");
    // What a step leaves behind does not count.
    let sum = r#"{"$reduce": {"input": {"$range": [0, 3000]}, "initialValue": 0, "in": {"$add": ["$$value", {"$size": {"$range": [0, 1000]}}]}}}"#;
    assert_eq!(evaluated(&document, sum), "3000000");
}

#[test]
fn further_variables_and_parts_of_documents() {
    let scope = scope().with(["order"]).unwrap();
    let expression = Expression::parse(&value(r#"["$$order.a", "$$limit"]"#), &scope).unwrap();
    let given = [("order", value(r#"{"a": 3}"#)), ("limit", value("9"))];
    let result = expression.evaluate_with(&object("{}"), &environment(), &given).unwrap().unwrap();
    assert_eq!(super::shown(&result), "[3, 9]");

    let expression =
        Expression::parse(&value(r#"["$a", "$$ROOT.a", "$$CURRENT"]"#), &Scope::default()).unwrap();
    let (root, current) = (object(r#"{"a": 1}"#), object(r#"{"a": 2}"#));
    let result = expression.evaluate_within(&root, &current, &environment()).unwrap().unwrap();
    assert_eq!(super::shown(&result), "[2, 1, {a: 2}]");
    assert!(Scope::default().with(["1x"]).is_err());
}

#[test]
fn what_is_constant() {
    let parse = |text: &str| Expression::parse(&value(text), &scope()).unwrap();
    assert!(parse(r#"{"$add": [1, {"$multiply": [2, 3]}]}"#).as_constant().is_some());
    assert!(parse(r#"{"a": [1, {"$literal": 2}]}"#).as_constant().is_some());
    assert!(parse(r#"{"$divide": [1, 0]}"#).as_constant().is_none());
    assert!(parse(r#""$$limit""#).as_constant().is_none());
    assert!(parse(r#"{"$rand": {}}"#).as_constant().is_none());
    assert_eq!(parse(r#""$a.b""#).as_path().unwrap().names().len(), 2);
}

#[test]
fn draws_differ_and_repeat() {
    let draw = || {
        let expression = Expression::parse(&value(r#"{"$rand": {}}"#), &scope()).unwrap();
        let once = || expression.evaluate(&object("{}"), &environment()).unwrap().unwrap().as_f64().unwrap();
        (once(), once())
    };
    let (first, second) = draw();
    assert_ne!(first, second);
    assert!((0.0..1.0).contains(&first));
    assert_eq!(draw(), (first, second));
}
