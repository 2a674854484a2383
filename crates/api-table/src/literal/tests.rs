//! Tests of literals.

use proptest::prelude::*;

use super::{Scanned, scan};
use crate::edm::{EdmValue, Ticks, parse_guid};

#[track_caller]
fn check(text: &str, value: Option<EdmValue>, rest: &str) {
    match scan(text) {
        Scanned::Literal(literal) => {
            assert_eq!(format!("{:?}", literal.value), format!("{value:?}"), "{text}");
            assert_eq!(&text[literal.length..], rest, "{text}");
        }
        other => panic!("{text}: {other:?}"),
    }
}

fn string(text: &str) -> Option<EdmValue> {
    Some(EdmValue::String(text.to_owned()))
}

#[test]
fn literals_are_read() {
    check("''", string(""), "");
    check("'a b' and", string("a b"), " and");
    check("'it''s'", string("it's"), "");
    check("'''a'''", string("'a'"), "");
    check("''''", string("'"), "");
    check("'a')", string("a"), ")");
    check("'é😀'x", string("é😀"), "x");
    check("0", Some(EdmValue::Int32(0)), "");
    check("-5)", Some(EdmValue::Int32(-5)), ")");
    check("007", Some(EdmValue::Int32(7)), "");
    check("2147483647", Some(EdmValue::Int32(i32::MAX)), "");
    check("2147483648", Some(EdmValue::Int64(2_147_483_648)), "");
    check("-9223372036854775808", Some(EdmValue::Int64(i64::MIN)), "");
    check("9223372036854775808", Some(EdmValue::Double(9_223_372_036_854_775_808.0)), "");
    check("5L", Some(EdmValue::Int64(5)), "");
    check("-5l ", Some(EdmValue::Int64(-5)), " ");
    check("5d", Some(EdmValue::Double(5.0)), "");
    check("5D", Some(EdmValue::Double(5.0)), "");
    check("5.5f", Some(EdmValue::Double(5.5)), "");
    check("5F", Some(EdmValue::Double(5.0)), "");
    check("5.25m", Some(EdmValue::Double(5.25)), "");
    check("5M", Some(EdmValue::Double(5.0)), "");
    check("1.5", Some(EdmValue::Double(1.5)), "");
    check("-1.5e3", Some(EdmValue::Double(-1500.0)), "");
    check("1E+2", Some(EdmValue::Double(100.0)), "");
    check("1e-2)", Some(EdmValue::Double(0.01)), ")");
    check("true", Some(EdmValue::Boolean(true)), "");
    check("False and", Some(EdmValue::Boolean(false)), " and");
    check("null", None, "");
    check("NULL", None, "");
    check("NaN", Some(EdmValue::Double(f64::NAN)), "");
    check("INF", Some(EdmValue::Double(f64::INFINITY)), "");
    check("-INF", Some(EdmValue::Double(f64::NEG_INFINITY)), "");
    let time = Ticks::parse("2022-05-06T00:47:36.5851144Z").map(EdmValue::DateTime);
    check("datetime'2022-05-06T00:47:36.5851144Z'", time.clone(), "");
    check("DateTime'2022-05-06T02:47:36.5851144+02:00'", time.clone(), "");
    check("datetimeoffset'2022-05-06T00:47:36.5851144Z'", time, "");
    let guid = parse_guid("c9da6455-213d-42c9-9a79-3e9149a57833").map(EdmValue::Guid);
    check("guid'c9da6455-213d-42c9-9a79-3e9149a57833'", guid.clone(), "");
    check("GUID'C9DA6455-213D-42C9-9A79-3E9149A57833')", guid, ")");
    check("X'62696E'", Some(EdmValue::Binary(b"bin".to_vec())), "");
    check("x'62696e'", Some(EdmValue::Binary(b"bin".to_vec())), "");
    check("binary'00fF'", Some(EdmValue::Binary(vec![0, 255])), "");
    check("binary''", Some(EdmValue::Binary(vec![])), "");
}

#[test]
fn names_are_told_from_literals() {
    for (text, length) in [
        ("a", 1),
        ("age gt", 3),
        ("_x1)", 3),
        ("trueish", 7),
        ("nullable", 8),
        ("nan", 3),
        ("INFO", 4),
        ("啊齄丂狛狜 eq", 15),
        ("X", 1),
        ("datetime eq", 8),
        ("eq", 2),
    ] {
        assert_eq!(scan(text), Scanned::Name(length), "{text}");
    }
}

#[test]
fn other_text_is_neither() {
    for text in [
        "",
        "'",
        "'a",
        "'a''",
        "-",
        "-a",
        "5.",
        "5.e1",
        "5e",
        "5e+",
        "5x",
        "5LL",
        "5.5L",
        "-INFO",
        "1e999",
        "9223372036854775808L",
        "(",
        ")",
        "=",
        "@p",
        "$x",
        " a",
        "date'2020-01-01'",
        "datetime'x'",
        "datetime'2022-02-30T00:00:00Z'",
        "guid'x'",
        "X'6'",
        "X'6g'",
        "binary'é1'",
        "X'62",
        "a'b'",
        "true'x'",
    ] {
        assert_eq!(scan(text), Scanned::Neither, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text: String, near in "[-'XxL.eE0-9a-fINé ]{0,12}") {
        for text in [text, near] {
            match scan(&text) {
                Scanned::Literal(literal) => prop_assert!(text.is_char_boundary(literal.length)),
                Scanned::Name(length) => prop_assert!(length > 0 && text.is_char_boundary(length)),
                Scanned::Neither => {}
            }
        }
    }

    #[test]
    fn strings_and_numbers_round_trip(text: String, integer: i64, double: f64) {
        check(&format!("'{}' x", text.replace('\'', "''")), string(&text), " x");
        check(&format!("{integer}L"), Some(EdmValue::Int64(integer)), "");
        check(&format!("{double:?}"), Some(EdmValue::Double(double)), "");
    }
}
