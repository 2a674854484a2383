//! Functions over arrays, sets and objects.

use super::{check, check_wrong_types, with_context};
use crate::limits::RESULT_BYTES_MAX;
use crate::{Datum, Function, call};

#[test]
fn folds() {
    check(&[
        ("ARRAY_SUM([1, 2, 3.5])", "6.5"),
        ("ARRAY_SUM([])", "undefined"),
        ("ARRAY_SUM([1, '2'])", "undefined"),
        ("ARRAY_SUM([1, null])", "undefined"),
        ("ARRAY_AVG([1, 2, 3, 4])", "2.5"),
        ("ARRAY_AVG([])", "undefined"),
        ("ARRAY_AVG([1, true])", "undefined"),
        ("ARRAY_MEDIAN([1, 2, 3, 4])", "2.5"),
        ("ARRAY_MEDIAN([7.8, 2.0, 3.3, 4.7, 1.0])", "3.3"),
        ("ARRAY_MEDIAN([1, -2.7, 3, -4])", "-0.8500000000000001"),
        ("ARRAY_MEDIAN([5])", "5"),
        ("ARRAY_MEDIAN([])", "undefined"),
        ("ARRAY_MEDIAN(['abc', 'ABC'])", "undefined"),
        ("ARRAY_MEDIAN([12, 'abc', true, false, null])", "undefined"),
        ("ARRAY_MIN([3, 1, 2])", "1"),
        ("ARRAY_MAX([3, 1, 2])", "3"),
        ("ARRAY_MIN([12, 'abc', true, false, null])", "null"),
        ("ARRAY_MAX([12, 'abc', true, false, null])", "\"abc\""),
        ("ARRAY_MAX(['abc', [1], {}])", "{}"),
        ("ARRAY_MIN([[2], [1, 5], {}])", "[1,5]"),
        ("ARRAY_MIN([])", "undefined"),
        ("ARRAY_MAX([])", "undefined"),
        ("ARRAY_LENGTH([1, [2, 3], null])", "3"),
        ("ARRAY_LENGTH([])", "0"),
    ]);
    for name in ["ARRAY_SUM", "ARRAY_AVG", "ARRAY_MEDIAN", "ARRAY_MIN", "ARRAY_MAX", "ARRAY_LENGTH"] {
        check_wrong_types(&format!("{name}([1])"), &["[1]"]);
    }
}

#[test]
fn containment() {
    check(&[
        ("ARRAY_CONTAINS(['a', 'b'], 'a')", "true"),
        ("ARRAY_CONTAINS(['a', 'b'], 'c')", "false"),
        ("ARRAY_CONTAINS([], 'c')", "false"),
        ("ARRAY_CONTAINS([1, 2], 2.0)", "true"),
        ("ARRAY_CONTAINS([1, null], null)", "true"),
        ("ARRAY_CONTAINS([1], null)", "false"),
        ("ARRAY_CONTAINS([[1, 2]], [1, 2])", "true"),
        ("ARRAY_CONTAINS([1], undefined)", "undefined"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'b': 2, 'a': 1})", "true"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1})", "false"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1}, false)", "false"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1}, undefined)", "false"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1}, true)", "true"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 2}, true)", "false"),
        ("ARRAY_CONTAINS([{'a': 1, 'b': 2}], {'a': 1, 'c': 2}, true)", "false"),
        ("ARRAY_CONTAINS([1, {}], {}, true)", "true"),
        ("ARRAY_CONTAINS([1, [1]], {}, true)", "false"),
        ("ARRAY_CONTAINS([1, 2], 2, true)", "true"),
        // Ours: members inside members have to be equal as a whole.
        ("ARRAY_CONTAINS([{'a': {'b': 1, 'c': 2}}], {'a': {'b': 1}}, true)", "false"),
        ("ARRAY_CONTAINS([1], 1, null)", "undefined"),
        ("ARRAY_CONTAINS([1], 1, 'true')", "undefined"),
        ("ARRAY_CONTAINS(null, 1)", "undefined"),
        ("ARRAY_CONTAINS('a', 'a')", "undefined"),
        ("ARRAY_CONTAINS({'a': 1}, 1)", "undefined"),
        ("ARRAY_CONTAINS(undefined, 1)", "undefined"),
        ("ARRAY_CONTAINS_ALL([1, true, '3', [1,2,3]], 1, true, '3', [1,2,3])", "true"),
        ("ARRAY_CONTAINS_ALL([1, 2, 3, 4], 2, 3, 4, 5)", "false"),
        ("ARRAY_CONTAINS_ALL([1, 2, 3, 4], 1, undefined)", "undefined"),
        ("ARRAY_CONTAINS_ALL([1, 2, 3, 4], undefined, 5)", "false"),
        ("ARRAY_CONTAINS_ALL([], 1, 2)", "false"),
        ("ARRAY_CONTAINS_ALL(null, 1)", "undefined"),
        ("ARRAY_CONTAINS_ANY([1, 2, 3, 4], 2, 5)", "true"),
        ("ARRAY_CONTAINS_ANY([1, 2, 3, 4], 5, 6)", "false"),
        ("ARRAY_CONTAINS_ANY([1, 2, 3, 4], undefined, 1)", "true"),
        ("ARRAY_CONTAINS_ANY([1, 2, 3, 4], 5, undefined)", "undefined"),
        ("ARRAY_CONTAINS_ANY([], 1)", "false"),
        ("ARRAY_CONTAINS_ANY('a', 'a')", "undefined"),
    ]);
}

#[test]
fn concat_and_slice() {
    check(&[
        ("ARRAY_CONCAT([1, 'a'], [null])", "[1,\"a\",null]"),
        ("ARRAY_CONCAT([], [], [{'a': [1]}])", "[{\"a\":[1]}]"),
        ("ARRAY_CONCAT([], [])", "[]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 1)", "[2,3,4]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 0, 2)", "[1,2]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 0, 12)", "[1,2,3,4]"),
        ("ARRAY_SLICE([1, 2, 3, 4], -1)", "[4]"),
        ("ARRAY_SLICE([1, 2, 3, 4], -2, 1)", "[3]"),
        ("ARRAY_SLICE([1, 2, 3, 4], -9, 2)", "[1,2]"),
        ("ARRAY_SLICE([1, 2, 3, 4], -9223372036854775808)", "[1,2,3,4]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 4)", "[]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 1e300)", "[]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 1, 0)", "[]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 1, -1)", "[]"),
        ("ARRAY_SLICE([1, 2, 3, 4], 0.5)", "undefined"),
        ("ARRAY_SLICE([1, 2, 3, 4], 0, 1.5)", "undefined"),
        ("ARRAY_SLICE([1, 2, 3, 4], 1.0)", "[2,3,4]"),
    ]);
    check_wrong_types("ARRAY_CONCAT([1], [2], [3])", &["[1]", "[1]", "[1]"]);
    check_wrong_types("ARRAY_SLICE([1], 0, 1)", &["[1]", "1", "1"]);
}

#[test]
fn sets() {
    check(&[
        ("SETUNION([1, 2, 3, 4], [3, 4, 5, 6])", "[1,2,3,4,5,6]"),
        ("SETUNION([1, 1.0, '1'], [1, 1])", "[1,\"1\"]"),
        ("SETUNION([{'a': 1, 'b': 2}], [{'b': 2, 'a': 1}])", "[{\"a\":1,\"b\":2}]"),
        ("SETUNION([], [])", "[]"),
        ("SETINTERSECT([1, 2, 3, 4], [3, 4, 5, 6])", "[3,4]"),
        ("SETINTERSECT([1, 2, 3, 4], [1, 1, 1, 1])", "[1]"),
        ("SETINTERSECT([1, 2, 'A', 'B'], ['A', 1])", "[\"A\",1]"),
        ("SETINTERSECT([1, 2], [])", "[]"),
        ("SETDIFFERENCE([1, 2, 3], [1, 2, 6, 7])", "[3]"),
        ("SETDIFFERENCE([1, 1, 1, 1], [2, 3, 4])", "[1]"),
        ("SETDIFFERENCE([], [1])", "[]"),
        ("SETDIFFERENCE([null, [1]], [[1]])", "[null]"),
        ("SETEQUAL([1, 2, 3], [3, 2, 1])", "true"),
        ("SETEQUAL([1, 2, 3, 3], [1, 2, 2, 3, 1, 2])", "true"),
        ("SETEQUAL([], [1, 2, 3])", "false"),
        ("SETEQUAL([], [])", "true"),
        ("SETEQUAL([1, true, 'abc'], [true, 1, 'abc'])", "true"),
    ]);
    for name in ["SETUNION", "SETINTERSECT", "SETDIFFERENCE", "SETEQUAL"] {
        check_wrong_types(&format!("{name}([1], [2])"), &["[1]", "[1]"]);
    }
}

#[test]
fn objects() {
    check(&[
        ("OBJECTTOARRAY({'a': '1', 'b': [2]})", r#"[{"k":"a","v":"1"},{"k":"b","v":[2]}]"#),
        ("OBJECTTOARRAY({'a': 1}, 'name')", r#"[{"name":"a","v":1}]"#),
        ("OBJECTTOARRAY({'a': 1}, 'key', 'value')", r#"[{"key":"a","value":1}]"#),
        ("OBJECTTOARRAY({})", "[]"),
        ("OBJECTTOARRAY({'a': 1}, null)", "undefined"),
    ]);
    check_wrong_types("OBJECTTOARRAY({'a': 1}, 'k', 'v')", &["{'a':1}", "'s'", "'s'"]);
}

#[test]
fn results_are_bounded() {
    with_context(false, |context| {
        let run = |function: Function, args: &[Datum<'_>]| call(function, args, context).into_static();
        // Two arrays and their one string each.
        let value_bytes = size_of::<armilla_value::Value>();
        let text = "x".repeat(RESULT_BYTES_MAX / 2 - 2 * value_bytes);
        let array = |text: &str| Datum::from(vec![armilla_value::Value::from(text)]);
        let (at_bound, beyond) = (array(&text), array(&format!("{text}x")));
        for function in [Function::ArrayConcat, Function::SetUnion] {
            assert!(run(function, &[at_bound.clone(), at_bound.clone()]).is_array());
            assert!(run(function, &[at_bound.clone(), beyond.clone()]).is_undefined());
        }
        let object = Datum::from_owned(
            (0..100).map(|n: i32| (n.to_string(), 0)).collect::<armilla_value::Object>().into(),
        );
        let label = "x".repeat(RESULT_BYTES_MAX / 100);
        assert!(run(Function::ObjectToArray, &[object.clone(), Datum::text(&label[..1000])]).is_array());
        assert!(run(Function::ObjectToArray, &[object, Datum::text(&label)]).is_undefined());
    });
}
