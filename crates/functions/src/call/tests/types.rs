//! Type tests and choice.

use super::{check, with_context};
use crate::testing::{datum, show};
use crate::{Function, call};

#[test]
fn type_tests_are_never_undefined() {
    // Which of the data each function says yes to.
    let data = [
        ("undefined", ""),
        ("null", "defined null primitive"),
        ("true", "defined bool primitive"),
        ("5", "defined number finite_number integer primitive"),
        ("5.0", "defined number finite_number integer primitive"),
        ("5.5", "defined number finite_number primitive"),
        ("9223372036854775807", "defined number finite_number integer primitive"),
        ("-9223372036854775808", "defined number finite_number integer primitive"),
        ("18446744073709551615", "defined number finite_number primitive"),
        ("NaN", "defined number primitive"),
        ("Infinity", "defined number primitive"),
        ("'a'", "defined string primitive"),
        ("'2020-01-02T03:04:05.1234567Z'", "defined string datetime primitive"),
        ("'2020-01-02'", "defined string datetime primitive"),
        ("'2020-02-30'", "defined string primitive"),
        ("[]", "array defined"),
        ("{}", "defined object"),
        ("{'$oid':'0102030405060708090a0b0c'}", "defined"),
        ("{'$numberDecimal':'1'}", "defined number finite_number primitive"),
    ];
    let names = [
        "array",
        "bool",
        "datetime",
        "defined",
        "finite_number",
        "integer",
        "null",
        "number",
        "object",
        "primitive",
        "string",
    ];
    for (text, yes) in data {
        for name in names {
            let expected = yes.split(' ').any(|own| own == name).to_string();
            check(&[(format!("IS_{name}({text})").as_str(), expected.as_str())]);
        }
    }
    check(&[("IS_BOOLEAN(false)", "true")]);
}

#[test]
fn choice() {
    check(&[
        ("IIF(true, 1, 2)", "1"),
        ("IIF(false, 1, 2)", "2"),
        ("IIF(123, 1, 2)", "2"),
        ("IIF('true', 1, 2)", "2"),
        ("IIF(null, 1, 2)", "2"),
        ("IIF(undefined, 1, 2)", "2"),
        ("IIF(true, undefined, 2)", "undefined"),
        ("IIF(true, 1, undefined)", "1"),
        ("IIF(false, undefined, [1])", "[1]"),
        ("CHOOSE(1, 'a', 2)", "\"a\""),
        ("CHOOSE(2, 'a', 2)", "2"),
        ("CHOOSE(2.0, 'a', 2)", "2"),
        ("CHOOSE(0, 'a', 2)", "undefined"),
        ("CHOOSE(3, 'a', 2)", "undefined"),
        ("CHOOSE(-1, 'a', 2)", "undefined"),
        ("CHOOSE(1.5, 'a', 2)", "undefined"),
        ("CHOOSE('1', 'a', 2)", "undefined"),
        ("CHOOSE(undefined, 'a', 2)", "undefined"),
        ("CHOOSE(2, undefined, {'a': 1})", "{\"a\":1}"),
        ("CHOOSE(1, undefined, 2)", "undefined"),
    ]);
    let args = [datum("true"), datum("1"), datum("undefined")];
    with_context(false, |context| assert_eq!(show(&call(Function::Iif, &args, context)), "1"));
}
