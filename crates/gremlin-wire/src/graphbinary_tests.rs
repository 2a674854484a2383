//! Tests of GraphBinary: lengths that lie, types of other writers, any bytes.

use proptest::prelude::*;

use super::*;
use crate::error::Fault;
use crate::{Format, Materialize, read_value, write_value};

fn read(hex: &str) -> Result<String, String> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| *byte != b' ').collect();
    let bytes: Vec<u8> = digits
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect();
    match read_value(Format::GraphBinary, &bytes) {
        Ok(value) => Ok(format!("{value:?}")),
        Err(error) => Err(format!("{} {error}", error.code())),
    }
}

#[test]
fn types_of_other_writers_are_read() {
    let cases = [
        ("0101", "Null"),
        ("0301", "Null"),
        ("0400 0000000000000007", "Date { milliseconds: 7, offset_seconds: 0 }"),
        ("0500 0000000000000007", "Date { milliseconds: 7, offset_seconds: 0 }"),
        ("8300 0000000000000001 000f4240", "Date { milliseconds: 1001, offset_seconds: 0 }"),
        ("8400 000007b2 01 02", "Date { milliseconds: 86400000, offset_seconds: 0 }"),
        ("8500 000007b2 01 02 00000000000f4240", "Date { milliseconds: 86400001, offset_seconds: 0 }"),
        ("0600 00000003 612e42", "Strategy { name: \"B\", configuration: [] }"),
        ("1400 00000001 78 0100 00000005", "Int32(5)"),
        ("2300 00000011 0000000000000000000000000000000001", "BigInteger(1)"),
        ("2200 fffffffe 00000001 05", "BigDecimal(\"5E+2\")"),
        (
            "1e00 00000006 77697468696e 00000001 0900 00000000",
            "Predicate(Predicate { kind: Within, values: [] })",
        ),
        ("1800 0300 00000004 66726f6d", "Token(Token { kind: Direction, word: \"OUT\" })"),
    ];
    for (hex, expected) in cases {
        assert_eq!(read(hex).as_deref(), Ok(expected), "{hex}");
    }
}

#[test]
fn wrong_bytes_say_what_is_wrong() {
    let cases = [
        ("", "498 Gremlin Malformed Request: The message ends too early."),
        ("01", "498 Gremlin Malformed Request: The message ends too early."),
        ("0103", "498 Gremlin Malformed Request: A value has an unknown flag, 3."),
        ("fe00", "498 Gremlin Malformed Request: A value has an unknown flag, 0."),
        (
            "0900 7fffffff",
            "498 Gremlin Malformed Request: A length of 2147483647 is not one of this message.",
        ),
        ("0a00 ffffffff", "498 Gremlin Malformed Request: A length of -1 is not one of this message."),
        ("0300 00000001 ff", "498 Gremlin Malformed Request: A string is not UTF-8."),
        ("7f00", "498 Gremlin Malformed Request: Unknown GraphBinary type encountered: 0x7f."),
        ("1d00", "499 Lambdas are not supported; write the traversal with steps instead."),
        ("00 00000001 78", "499 Custom types are not supported: 'x'."),
        ("2000 0300 00000001 78", "498 Gremlin Malformed Request: T has no 'x'."),
        ("2300 00000000", "499 Integers beyond 128 bits are not supported."),
        (
            "2300 00000011 0100000000000000000000000000000000",
            "499 Integers beyond 128 bits are not supported.",
        ),
        (
            "2300 00000011 00ff000000000000000000000000000000",
            "499 Integers beyond 128 bits are not supported.",
        ),
        ("2200 7fffffff 00000001 05", "499 Decimals of more than 10000 places are not supported."),
        (
            "8800 000007b2 0d 01 0000000000000000 00000000",
            "498 Gremlin Malformed Request: There is no such date.",
        ),
        ("8000 ff000000", "498 Gremlin Malformed Request: A character is not UTF-8."),
        ("0100 00000001 00", "498 Gremlin Malformed Request: There are bytes behind the value."),
        (
            "0a00 00000001 0300 00000001 6b 7f00",
            "498 Gremlin Malformed Request: Unknown GraphBinary type encountered: 0x7f. Path: 'k'.",
        ),
    ];
    for (hex, expected) in cases {
        assert_eq!(read(hex).unwrap_err(), expected, "{hex}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested = "090000000001".repeat(100_000);
    assert!(read(&nested).unwrap_err().contains("nested deeper"));
    let tree = format!("2b00{}", "00000001fe01".repeat(100_000));
    assert!(read(&tree).unwrap_err().contains("deeper"));
}

#[test]
fn decimals_are_split_and_joined() {
    let cases = [
        ("0", Some((0, 0)), "0"),
        ("-0.05", Some((-5, 2)), "-0.05"),
        ("12.50", Some((1250, 2)), "12.50"),
        ("1e3", Some((1, -3)), "1E+3"),
        ("1.5E-3", Some((15, 4)), "0.0015"),
        ("1E+3", Some((1, -3)), "1E+3"),
        ("x", None, ""),
        ("1e99999", None, ""),
        ("999999999999999999999999999999999999999999", None, ""),
    ];
    for (text, parts, joined) in cases {
        assert_eq!(decimal::split(text), parts, "{text}");
        if let Some((unscaled, scale)) = parts {
            assert_eq!(&*decimal::join(unscaled, scale).unwrap(), joined);
        }
    }
}

proptest! {
    #[test]
    fn integers_come_back(number in any::<i128>(), shift in 0_u32..128) {
        let number = number >> shift;
        let mut out = Vec::new();
        decimal::write_integer(&mut out, number);
        let read: Result<i128, Fault> = decimal::read_integer(&mut Cursor::new(&out));
        prop_assert_eq!(read.unwrap(), number);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_value(Format::GraphBinary, &bytes);
    }

    #[test]
    fn damaged_bytes_are_read_or_refused(
        value in crate::testing::value(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut out = Vec::new();
        write_value(Format::GraphBinary, &value, Materialize::All, &mut out, 1 << 20).unwrap();
        let at = at.index(out.len());
        out[at] = byte;
        let _ = read_value(Format::GraphBinary, &out);
        out.truncate(cut.index(out.len()));
        let _ = read_value(Format::GraphBinary, &out);
    }
}
