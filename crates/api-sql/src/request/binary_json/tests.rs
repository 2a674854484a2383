use proptest::prelude::*;

use super::writer::{Node, to_binary};
use super::{BinaryJsonError, is_binary, to_text, writer};
use crate::limits::BINARY_JSON_DEPTH_MAX;

const TEXT_MAX: usize = 1 << 20;

fn bytes(hex: &str) -> Vec<u8> {
    hex.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

/// Bytes behind the preamble, and their text.
const READABLE: &[(&str, &str)] = &[
    // Scalars.
    ("D0", "null"),
    ("D1", "false"),
    ("D2", "true"),
    ("00", "0"),
    ("1F", "31"),
    // Numbers.
    ("C8 FF", "255"),
    ("C9 00 80", "-32768"),
    ("CA FF FF FF 7F", "2147483647"),
    ("CB 00 00 00 00 00 00 00 80", "-9223372036854775808"),
    ("C7 FF FF FF FF FF FF FF FF", "18446744073709551615"),
    ("CC 00 00 00 00 00 00 F8 3F", "1.5"),
    ("CC 00 00 00 00 00 00 08 40", "3"),
    ("CC 00 00 00 00 00 00 00 00", "0"),
    ("CC 00 00 00 00 00 00 00 80", "-0.0"),
    ("CC 00 00 00 00 00 00 40 43", "9007199254740992"),
    ("CC 00 00 00 00 00 00 50 43", "1.8014398509481984e16"),
    ("CC 01 00 00 00 00 00 00 00", "5e-324"),
    ("CD 00 00 20 40", "2.5"),
    ("CE 00 00 00 00 00 00 E0 BF", "-0.5"),
    ("CF 00 3E", "1.5"),
    ("CF 01 00", "5.960464477539063e-8"),
    ("CF FF 7B", "65504"),
    ("CF 00 BC", "-1"),
    ("D7 80", "128"),
    ("D8 80", "-128"),
    ("D9 FF FF", "-1"),
    ("DA 00 00 00 80", "-2147483648"),
    ("DB FF FF FF FF FF FF FF 7F", "9223372036854775807"),
    ("DC FF FF FF FF", "4294967295"),
    // Strings.
    ("20", "\"$s\""),
    ("2C", "\"id\""),
    ("3F", "\"_id\""),
    ("80", "\"\""),
    ("83 61 22 0A", r#""a\"\n""#),
    ("82 C3 A9", "\"é\""),
    ("C0 02 68 69", "\"hi\""),
    ("C1 02 00 68 69", "\"hi\""),
    ("C2 02 00 00 00 68 69", "\"hi\""),
    ("71 00 00", "\"\""),
    ("71 01 00 01 02 03", "\"AQID\""),
    ("71 01 01 01 02", "\"AQI=\""),
    ("71 01 02 01", "\"AQ==\""),
    ("71 01 FE 01 02", "\"AQI\""),
    ("71 01 FD 01", "\"AQ\""),
    ("71 01 FF 01 02 03", "\"AQID\""),
    ("72 02 00 00 01 02 03 04 05 06", "\"AQIDBAUG\""),
    ("71 01 00 FF FF FE", "\"///+\""),
    ("73 01 00 FF FF FE", "\"___-\""),
    ("74 01 00 01 FF FE", "\"__4=\""),
    ("74 01 00 FE FF FE", "\"__4\""),
    ("75 10 32 54 76 98 BA DC FE 10 32 54 76 98 BA DC FE", "\"01234567-89ab-cdef-0123-456789abcdef\""),
    ("76 10 32 54 76 98 BA DC FE 10 32 54 76 98 BA DC FE", "\"01234567-89AB-CDEF-0123-456789ABCDEF\""),
    ("77 10 32 54 76 98 BA DC FE 10 32 54 76 98 BA DC FE", r#""\"01234567-89ab-cdef-0123-456789abcdef\"""#),
    ("78 03 21 0F", "\"12f\""),
    ("79 04 BA DC", "\"ABCD\""),
    ("7A 06 13 53 1C", "\"2024-0\""),
    ("7B 02 61 10", "\"ab\""),
    ("7C 03 61 20 08", "\"abc\""),
    ("7D 04 61 40 20 0C", "\"abcd\""),
    ("7E 02 C8 34", "\"Hi\""),
    ("7F 02 00 C8 34", "\"Hi\""),
    // GUID and bytes.
    ("D3 67 45 23 01 AB 89 EF CD 01 23 45 67 89 AB CD EF", "\"01234567-89ab-cdef-0123-456789abcdef\""),
    ("DD 00", "\"\""),
    ("DD 04 DE AD BE EF", "\"3q2+7w==\""),
    ("DE 01 00 FF", "\"/w==\""),
    ("DF 03 00 00 00 01 02 03", "\"AQID\""),
    // Arrays.
    ("E0", "[]"),
    ("E1 E1 E0", "[[[]]]"),
    ("E2 00", "[]"),
    ("E2 03 01 D0 02", "[1,null,2]"),
    ("E3 01 00 05", "[5]"),
    ("E4 01 00 00 00 05", "[5]"),
    ("E5 02 02 02 03", "[2,3]"),
    ("E6 02 00 02 00 02 03", "[2,3]"),
    ("E7 02 00 00 00 02 00 00 00 02 03", "[2,3]"),
    // Objects.
    ("E8", "{}"),
    ("E9 2C 81 31", r#"{"id":"1"}"#),
    ("EA 06 2C 81 31 81 61 00", r#"{"id":"1","a":0}"#),
    ("EB 02 00 2C 01", r#"{"id":1}"#),
    ("EC 02 00 00 00 2C 01", r#"{"id":1}"#),
    ("ED 0A 02 81 61 01 81 62 E5 02 02 02 03", r#"{"a":1,"b":[2,3]}"#),
    ("EE 02 00 01 00 2C 01", r#"{"id":1}"#),
    ("EF 02 00 00 00 01 00 00 00 2C 01", r#"{"id":1}"#),
    // References: offsets count from the preamble.
    ("E2 05 82 68 69 C3 03", r#"["hi","hi"]"#),
    ("E2 06 82 68 69 C4 03 00", r#"["hi","hi"]"#),
    ("E2 07 82 68 69 C5 03 00 00", r#"["hi","hi"]"#),
    ("E2 08 82 68 69 C6 03 00 00 00", r#"["hi","hi"]"#),
    ("EA 0A 82 68 69 E9 2C C3 03 C3 03 00", r#"{"hi":{"id":"hi"},"hi":0}"#),
    ("E2 03 3F C3 03", r#"["_id","_id"]"#),
    // Uniform arrays.
    ("F0 D7 00", "[]"),
    ("F0 D8 02 FF 01", "[-1,1]"),
    ("F0 D9 01 FE FF", "[-2]"),
    ("F0 DA 02 01 00 00 00 02 00 00 00", "[1,2]"),
    ("F0 DB 01 FF FF FF FF FF FF FF FF", "[-1]"),
    ("F0 DC 01 FF FF FF FF", "[4294967295]"),
    ("F0 CD 01 00 00 20 40", "[2.5]"),
    ("F0 CE 01 00 00 00 00 00 00 E0 BF", "[-0.5]"),
    ("F0 CF 02 00 3E 00 00", "[1.5,0]"),
    ("F1 D7 02 00 01 02", "[1,2]"),
    ("F2 F0 D7 02 02 01 02 03 04", "[[1,2],[3,4]]"),
    ("F2 F0 D7 00 02", "[[],[]]"),
    ("F3 F1 D7 01 00 03 00 01 02 03", "[[1],[2],[3]]"),
];

#[test]
fn every_marker_is_read() {
    let mut seen = [false; 256];
    for (hex, expected) in READABLE {
        let body = bytes(&format!("80 {hex}"));
        seen[usize::from(body[1])] = true;
        let text = to_text(&body, TEXT_MAX).unwrap_or_else(|error| panic!("{hex}: {error}"));
        assert_eq!(String::from_utf8(text).unwrap(), *expected, "{hex}");
    }
    // References stand inside, small integers and short strings are runs, user strings are refused.
    let inside = 0xC3..=0xC6;
    let runs = (0x00..=0x3F).chain(0x80..=0xBF);
    let refused = (0x40..=0x70).chain(0xD4..=0xD6).chain(0xF4..=0xFF);
    for marker in inside.chain(runs).chain(refused) {
        seen[marker] = true;
    }
    assert_eq!(seen.iter().position(|seen| !seen), None, "a marker without an example");
}

#[test]
fn malformed_bytes_are_refused() {
    for (hex, position, part) in [
        ("", 1, "end inside"),
        ("D0 D0", 2, "follow"),
        ("40", 1, "dictionary"),
        ("67 00", 1, "dictionary"),
        ("68", 1, "string"),
        ("70", 1, "string"),
        ("D4", 1, "no such marker"),
        ("F4", 1, "no such marker"),
        ("FF", 1, "no such marker"),
        ("C9 00", 2, "end inside"),
        ("82 68", 2, "end inside"),
        ("81 FF", 1, "UTF-8"),
        ("C2 FF FF FF FF", 6, "end inside"),
        ("CC 00 00 00 00 00 00 F0 7F", 1, "finite"),
        ("CC 00 00 00 00 00 00 F8 7F", 1, "finite"),
        ("CD 00 00 80 FF", 1, "finite"),
        ("CF 00 7C", 1, "finite"),
        ("CF 01 7C", 1, "finite"),
        ("71 01 03 01", 1, "padding"),
        ("71 01 FC 01", 1, "padding"),
        ("71 00 01", 1, "padding"),
        ("71 01 00 01 02", 4, "end inside"),
        ("7B 01 7F 01", 1, "ASCII"),
        ("7B 01 FF 0F", 1, "ASCII"),
        ("7E 02 C8", 3, "end inside"),
        ("E1", 2, "end inside"),
        ("E2 02 00", 1, "longer"),
        ("E2 01 C9 00 00", 4, "end inside"), // the item reaches over the end of its array
        ("E5 01 02 00", 1, "number of elements"),
        ("E5 02 01 00 00", 1, "number of elements"),
        ("E5 00 01", 1, "number of elements"),
        ("E9 01 01", 2, "string"),
        ("E9 D0 01", 2, "string"),
        ("EA 01 2C", 4, "end inside"),
        ("E2 02 C3 00", 3, "point back"), // the preamble
        ("E2 02 C3 03", 3, "point back"), // itself
        ("E2 03 C3 05 80", 3, "point back"),
        ("E2 05 80 C3 03 C3 04", 4, "string"), // a reference to a reference
        ("E2 03 05 C3 03", 3, "string"),       // a number
        ("E2 05 C9 00 BF C3 05", 6, "end inside"), // a string that reaches over its reference
        ("F0 C8 01 00", 2, "uniform"),
        ("F0 D0 00", 2, "uniform"),
        ("F0 DA 01 00 00", 4, "end inside"),
        ("F2 F1 D7 00 00", 2, "uniform"),
        ("F3 F0 D7 00 00 00 00", 2, "uniform"),
        ("F2 F0 D0 00 01", 3, "uniform"),
    ] {
        match to_text(&bytes(&format!("80 {hex}")), TEXT_MAX) {
            Err(BinaryJsonError::Malformed { position: found, reason }) => {
                assert!(reason.contains(part), "{hex}: {reason}");
                assert_eq!(found, position, "{hex}: {reason}");
            }
            other => panic!("{hex}: {other:?}"),
        }
    }
}

#[test]
fn the_first_byte_decides() {
    assert!(is_binary(&[0x80]) && is_binary(&[0x80, 0xD0]));
    assert!(!is_binary(b"") && !is_binary(b"{}") && !is_binary(&[0x81]));
    assert!(to_text(b"{}", TEXT_MAX).is_err());
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| {
        let mut body = vec![0x80];
        body.extend(std::iter::repeat_n(0xE1, depth));
        body.push(0xE0);
        to_text(&body, TEXT_MAX)
    };
    assert!(nested(BINARY_JSON_DEPTH_MAX).is_ok());
    let error = nested(BINARY_JSON_DEPTH_MAX + 1).unwrap_err();
    assert!(error.to_string().contains("nested too deeply"), "{error}");
    assert!(nested(1_000_000).is_err());
}

#[test]
fn length_is_bounded() {
    let body = bytes("80 E2 03 82 68 69");
    assert_eq!(to_text(&body, 6).unwrap(), b"[\"hi\"]");
    assert_eq!(to_text(&body, 5), Err(BinaryJsonError::TooLarge));
}

#[test]
fn references_do_not_multiply_without_bound() {
    // One string of 60 KB, referred to 10,000 times: 600 MB of text if they were not counted.
    let mut inside = vec![0xC1];
    inside.extend_from_slice(&60_000u16.to_le_bytes());
    inside.extend(std::iter::repeat_n(b'a', 60_000));
    for _ in 0..10_000 {
        inside.extend_from_slice(&[0xC3, 6]);
    }
    let mut body = vec![0x80, 0xE4];
    body.extend_from_slice(&u32::try_from(inside.len()).unwrap().to_le_bytes());
    body.extend_from_slice(&inside);
    assert_eq!(to_text(&body, TEXT_MAX), Err(BinaryJsonError::TooLarge));
}

#[test]
fn packing_is_undone_at_every_length() {
    for length in 0..40 {
        let string: String = (0..length).map(|index| char::from(b'A' + index % 16)).collect();
        for (marker, bits) in [(0x7B, 4), (0x7C, 5), (0x7D, 6)] {
            let body = [&[0x80, marker, length, b'A'][..], &writer::pack(&string, bits, b'A')].concat();
            assert_eq!(to_text(&body, TEXT_MAX).unwrap(), format!("\"{string}\"").into_bytes());
        }
    }
}

fn node() -> impl Strategy<Value = Node> {
    let system = proptest::sample::select(&super::markers::SYSTEM_STRINGS[..]);
    let string =
        prop_oneof![".{0,20}", "[a-z]{0,70}", "[0-9]{0,300}", system.prop_map(str::to_owned)].boxed();
    let leaf = prop_oneof![
        Just(Node::Null),
        any::<bool>().prop_map(Node::Boolean),
        any::<i64>().prop_map(Node::Integer),
        (-300i64..300).prop_map(Node::Integer),
        any::<u64>().prop_map(Node::Unsigned),
        any::<f64>()
            .prop_filter("JSON has finite numbers", |number| number.is_finite() && number.fract() != 0.0)
            .prop_map(Node::Double),
        string.clone().prop_map(Node::String),
    ];
    leaf.prop_recursive(6, 60, 8, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Node::Array),
            proptest::collection::vec((string.clone(), inner), 0..8).prop_map(Node::Object),
        ]
    })
}

proptest! {
    #[test]
    fn any_tree_in_any_form_is_read(node in node(), choices in proptest::collection::vec(any::<u8>(), 0..40)) {
        let mut expected = Vec::new();
        writer::to_text(&node, &mut expected);
        let text = to_text(&to_binary(&node, &choices), TEXT_MAX);
        prop_assert_eq!(text.map(|text| String::from_utf8(text).unwrap()), Ok(String::from_utf8(expected).unwrap()));
    }

    #[test]
    fn random_bytes_do_not_panic(mut body in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(text) = to_text(&body, 1_000) {
            prop_assert!(text.len() <= 1_000 && std::str::from_utf8(&text).is_ok());
        }
        body.insert(0, 0x80);
        if let Ok(text) = to_text(&body, 1_000) {
            prop_assert!(text.len() <= 1_000 && std::str::from_utf8(&text).is_ok());
        }
    }

    #[test]
    fn damaged_trees_do_not_panic(
        node in node(),
        choices in proptest::collection::vec(any::<u8>(), 0..10),
        position in any::<proptest::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut body = to_binary(&node, &choices);
        let position = position.index(body.len());
        body[position] = byte;
        let _ = to_text(&body, TEXT_MAX);
        body.truncate(cut.index(body.len()));
        let _ = to_text(&body, TEXT_MAX);
    }
}
