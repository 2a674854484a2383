//! Tests of BSON: bytes that are right, bytes that are wrong, and what the `bson` crate says of both.

use armilla_value::{Object, Value};
use proptest::prelude::*;

use super::*;
use crate::error::WireErrorKind;
use crate::limits::{DEPTH_MAX, VALUE_COUNT_MAX};
use crate::testing::{any_object, hex, object};

/// Checks bytes and Extended JSON against each other, both ways.
#[track_caller]
fn check(bytes: &str, text: &str) {
    let bytes = hex(bytes);
    let expected = object(text);
    assert_eq!(decode(&bytes).unwrap(), expected);
    let mut out = vec![7];
    encode(&expected, &mut out).unwrap();
    assert_eq!(out[1..], bytes);
    assert_eq!(encoded_bytes(&expected), bytes.len());
}

#[track_caller]
fn check_refused(bytes: &str, message: &str) {
    let error = decode(&hex(bytes)).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (22, message));
    assert_eq!(error.kind, WireErrorKind::InvalidBson);
}

#[test]
fn every_type_has_its_bytes() {
    check("0500000000", "{}");
    check("10000000 01 6400 000000000000f83f 00", r#"{"d":1.5}"#);
    check("10000000 01 6400 000000000000f07f 00", r#"{"d":{"$numberDouble":"Infinity"}}"#);
    check("0d000000 02 6100 01000000 00 00", r#"{"a":""}"#);
    check("10000000 02 6100 04000000 61 00 62 00 00", r#"{"a":"a\u0000b"}"#);
    check("0d000000 03 6100 05000000 00 00", r#"{"a":{}}"#);
    check("14000000 04 6100 0c000000 10 3000 01000000 00 00", r#"{"a":[{"$numberInt":"1"}]}"#);
    check("0f000000 05 6100 02000000 80 ffff 00", r#"{"a":{"$binary":{"base64":"//8=","subType":"80"}}}"#);
    check(
        "13000000 05 6100 06000000 02 02000000 ffff 00",
        r#"{"a":{"$binary":{"base64":"//8=","subType":"02"}}}"#,
    );
    check("14000000 07 6100 56e1fc72e0c917e9c4714161 00", r#"{"a":{"$oid":"56e1fc72e0c917e9c4714161"}}"#);
    check("09000000 08 6200 01 00", r#"{"b":true}"#);
    check("10000000 09 6100 c5d8d6cc3b010000 00", r#"{"a":{"$date":{"$numberLong":"1356351330501"}}}"#);
    check("10000000 09 6100 c33ce7b9bdffffff 00", r#"{"a":{"$date":{"$numberLong":"-284643869501"}}}"#);
    check("08000000 0a 6100 00", r#"{"a":null}"#);
    check(
        "0f000000 0b 6100 61626300 696d00 00",
        r#"{"a":{"$regularExpression":{"pattern":"abc","options":"im"}}}"#,
    );
    check("0c000000 10 6900 ffffffff 00", r#"{"i":{"$numberInt":"-1"}}"#);
    check("10000000 11 6100 2a00000015cd5b07 00", r#"{"a":{"$timestamp":{"t":123456789,"i":42}}}"#);
    check("10000000 12 6100 0000000000000080 00", r#"{"a":-9223372036854775808}"#);
    check("18000000 13 6400 1000000000000000 0000000000003a30 00", r#"{"d":{"$numberDecimal":"0.016"}}"#);
    check("08000000 ff 6100 00", r#"{"a":{"$minKey":1}}"#);
    check("08000000 7f 6100 00", r#"{"a":{"$maxKey":1}}"#);
    check("08000000 06 6100 00", r#"{"a":{"$undefined":true}}"#);
    check("0e000000 0d 6100 02000000 62 00 00", r#"{"a":{"$code":"b"}}"#);
    check("0e000000 0e 6100 02000000 62 00 00", r#"{"a":{"$symbol":"b"}}"#);
    check(
        "1a000000 0c 6100 02000000 62 00 56e1fc72e0c917e9c4714161 00",
        r#"{"a":{"$dbPointer":{"$ref":"b","$id":{"$oid":"56e1fc72e0c917e9c4714161"}}}}"#,
    );
    check(
        "21000000 0f 6100 19000000 05000000 61626364 00 0c000000 10 7800 01000000 00 00",
        r#"{"a":{"$code":"abcd","$scope":{"x":{"$numberInt":"1"}}}}"#,
    );
    check("07000000 0a 00 00", r#"{"":null}"#);
    check("0b000000 0a 24612e6200 00", r#"{"$a.b":null}"#);
}

#[test]
fn nan_keeps_its_bits() {
    for bits in ["000000000000f87f", "120000000000f87f", "000000000000f8ff"] {
        let bytes = hex(&format!("10000000 01 6400 {bits} 00"));
        let mut out = Vec::new();
        encode(&decode(&bytes).unwrap(), &mut out).unwrap();
        assert_eq!(out, bytes);
    }
}

#[test]
fn names_of_array_elements_are_not_looked_at() {
    for name in ["", "61", "3030", "ff"] {
        let length = 5 + 1 + name.len() / 2 + 1;
        let bytes = hex(&format!("{:02x}000000 04 6100 {length:02x}000000 0a {name}00 00 00", length + 8));
        assert_eq!(decode(&bytes).unwrap(), object(r#"{"a":[null]}"#));
    }
}

#[test]
fn wrong_bytes_are_refused() {
    check_refused("", "BSON ends inside of a value");
    check_refused("050000", "BSON ends inside of a value");
    check_refused("04000000", "BSON has a document of 4 bytes");
    check_refused("ffffffff00", "BSON has a negative length");
    check_refused("0600000000", "BSON ends inside of a value");
    check_refused("0500000001", "BSON has a document that does not end with a zero byte");
    check_refused("050000000000", "BSON has bytes after the document");
    check_refused("0700000002 61 00", "BSON has a name or a pattern without an end");
    check_refused("08000000 0a ff00 00", "BSON has text that is not UTF-8");
    check_refused("08000000 14 6100 00", "Unrecognized BSON type 20");
    check_refused("08000000 80 6100 00", "Unrecognized BSON type 128");
    check_refused("08000000 00 6100 00", "Unrecognized BSON type 0");
    check_refused("0c000000 02 6100 00000000 00", "BSON has a string that does not end with a zero byte");
    check_refused("0c000000 02 6100 ffffffff 00", "BSON has a negative length");
    check_refused("0d000000 02 6100 02000000 00 00", "BSON ends inside of a value");
    check_refused(
        "0e000000 02 6100 02000000 6161 00",
        "BSON has a string that does not end with a zero byte",
    );
    check_refused("0e000000 02 6100 02000000 e900 00", "BSON has text that is not UTF-8");
    check_refused("09000000 08 6200 02 00", "BSON has a boolean that is neither 0 nor 1");
    check_refused("0d000000 05 6100 ffffffff 00 00", "BSON has a negative length");
    check_refused(
        "13000000 05 6100 06000000 02 03000000 ffff 00",
        "BSON has bytes of subtype 2 with two lengths that disagree",
    );
    check_refused("0f000000 05 6100 02000000 02 ffff 00", "BSON ends inside of a value");
    check_refused("0d000000 03 6100 06000000 00 00", "BSON ends inside of a value");
    check_refused("0b000000 0b 6100 616200 00", "BSON has a name or a pattern without an end");
    check_refused("0c000000 0f 6100 03000000 00", "BSON has code with scope that is too short");
    check_refused(
        "17000000 0f 6100 0f000000 01000000 00 05000000 00 00 00",
        "BSON has code with scope that is not as long as it says",
    );
    check_refused("15000000 0f 6100 0d000000 01000000 00 06000000 00 00", "BSON ends inside of a value");
    check_refused("0b000000 10 6900 010000 00", "BSON ends inside of a value");
}

#[test]
fn one_name_twice_is_refused_by_its_name_or_the_last_is_kept() {
    let bytes = hex("16000000 10 6100 01000000 0a 6200 10 6100 02000000 00");
    let error = decode(&bytes).unwrap_err();
    assert_eq!((error.kind, error.code), (WireErrorKind::DuplicateName, 2));
    assert_eq!(error.message, "Duplicate field name 'a' in one object");
    assert_eq!(
        decode_with(&bytes, Duplicates::KeepLast).unwrap(),
        object(r#"{"a":{"$numberInt":"2"},"b":null}"#)
    );
    // Beyond the count up to which names are compared one by one, and not in the root.
    let mut body = Vec::new();
    for index in 0..100 {
        encode_value_into(&format!("n{index}"), &Value::Null, &mut body).unwrap();
    }
    encode_value_into("n77", &Value::Null, &mut body).unwrap();
    let mut document = Vec::new();
    let start = start_document(&mut document);
    write_name(element_type::OBJECT, "inner", &mut document).unwrap();
    let inner = start_document(&mut document);
    document.extend_from_slice(&body);
    finish_document(inner, &mut document).unwrap();
    finish_document(start, &mut document).unwrap();
    assert_eq!(decode(&document).unwrap_err().message, "Duplicate field name 'n77' in one object");
}

/// Makes documents that hold each other, that many in all.
fn nested(depth: usize) -> Vec<u8> {
    let mut bytes = vec![5, 0, 0, 0, 0];
    for _ in 1..depth {
        let mut outer = Vec::new();
        let start = start_document(&mut outer);
        write_name(element_type::OBJECT, "a", &mut outer).unwrap();
        outer.extend_from_slice(&bytes);
        finish_document(start, &mut outer).unwrap();
        bytes = outer;
    }
    bytes
}

#[test]
fn nesting_has_a_bound() {
    let deepest = decode(&nested(DEPTH_MAX)).unwrap();
    let error = decode(&nested(DEPTH_MAX + 1)).unwrap_err();
    assert_eq!((error.kind, error.code), (WireErrorKind::TooDeep, 15));
    assert!(decode(&nested(5000)).is_err());
    // A reply holds what was read, some levels down.
    let mut value = Value::Object(deepest);
    for _ in 0..16 {
        value = Value::Array(vec![value]);
    }
    let mut out = Vec::new();
    encode_value_into("a", &value, &mut out).unwrap_err();
    assert!(out.is_empty());
    let Value::Array(mut inner) = value else { unreachable!() };
    encode_value_into("a", &inner.remove(0), &mut out).unwrap();
}

#[test]
fn values_have_a_bound() {
    // Nulls with empty names: two bytes each.
    let mut bytes = Vec::new();
    let start = start_document(&mut bytes);
    write_name(element_type::ARRAY, "a", &mut bytes).unwrap();
    let array = start_document(&mut bytes);
    bytes.extend(std::iter::repeat_n([element_type::NULL, 0], VALUE_COUNT_MAX - 1).flatten());
    let full = bytes.len();
    finish_document(array, &mut bytes).unwrap();
    finish_document(start, &mut bytes).unwrap();
    assert!(decode(&bytes).is_ok());
    bytes.truncate(full);
    bytes.extend_from_slice(&[element_type::NULL, 0]);
    finish_document(array, &mut bytes).unwrap();
    finish_document(start, &mut bytes).unwrap();
    assert_eq!(decode(&bytes).unwrap_err().kind, WireErrorKind::TooLarge);
}

#[test]
fn zero_characters_have_no_place_in_names_and_patterns() {
    for text in
        [r#"{"a\u0000":1}"#, r#"{"x":1,"a":{"$regularExpression":{"pattern":"\u0000","options":""}}}"#]
    {
        let mut out = vec![1];
        let error = encode(&object(text), &mut out).unwrap_err();
        assert_eq!((error.kind, error.code), (WireErrorKind::InvalidBson, 22));
        assert_eq!(out, [1]);
    }
}

#[test]
fn indexes_are_decimal() {
    for index in [0, 1, 9, 10, 99, 100, 12_345_678] {
        let mut out = Vec::new();
        write_index(1, index, &mut out);
        assert_eq!(out, [&[1], index.to_string().as_bytes(), &[0]].concat());
    }
    let array = Object::from([("a", Value::Array(vec![Value::Null; 1234]))]);
    let mut out = Vec::new();
    encode(&array, &mut out).unwrap();
    assert_eq!(out.len(), encoded_bytes(&array));
}

#[test]
fn a_view_finds_members_without_a_tree() {
    let bytes = crate::testing::bson(
        r#"{"find":"c","n":{"$numberInt":"5"},"l":6,"d":7.0,"f":7.5,"b":true,"o":{"x":[1,{"y":null}]},"$db":"t"}"#,
    );
    let view = RawObject::new(&bytes).unwrap();
    assert_eq!(view.first().unwrap().unwrap().name, "find");
    assert_eq!(view.get("find").unwrap().unwrap().as_str(), Some("c"));
    assert_eq!(view.get("n").unwrap().unwrap().as_i64(), Some(5));
    assert_eq!(view.get("l").unwrap().unwrap().as_i64(), Some(6));
    assert_eq!(view.get("d").unwrap().unwrap().as_i64(), Some(7));
    assert_eq!(view.get("f").unwrap().unwrap().as_i64(), None);
    assert_eq!(view.get("b").unwrap().unwrap().as_bool(), Some(true));
    assert_eq!(view.get("b").unwrap().unwrap().as_str(), None);
    assert!(view.get("c").unwrap().is_none());
    let x = view.get("o").unwrap().unwrap().as_object().unwrap().get("x").unwrap().unwrap();
    assert_eq!(x.as_object().unwrap().iter().count(), 2);
    assert_eq!(x.to_value().unwrap(), object(r#"{"x":[1,{"y":null}]}"#).remove("x").unwrap());
    assert_eq!(view.decode().unwrap(), decode(&bytes).unwrap());
    let mut damaged = bytes.clone();
    damaged[4] = 0x55;
    let view = RawObject::new(&damaged).unwrap();
    assert_eq!(view.iter().map(|element| element.is_ok()).collect::<Vec<_>>(), [false]);
    assert!(view.get("$db").is_err());
}

proptest! {
    #[test]
    fn what_is_written_reads_back_and_the_other_crate_agrees(object in any_object()) {
        let mut out = Vec::new();
        encode(&object, &mut out).unwrap();
        prop_assert_eq!(out.len(), encoded_bytes(&object));
        prop_assert_eq!(&decode(&out).unwrap(), &object);
        let theirs = ::bson::Document::from_reader(&out[..]).unwrap();
        prop_assert_eq!(theirs.len(), object.len());
        let mut again = Vec::new();
        theirs.to_writer(&mut again).unwrap();
        prop_assert_eq!(again, out);
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        _ = decode(&bytes);
        if let Ok((view, _)) = RawObject::prefix(&bytes) {
            for element in view.iter().flatten() {
                _ = (element.to_value(), element.as_object(), element.as_str(), element.as_i64());
            }
        }
    }

    #[test]
    fn damaged_documents_do_no_harm(object in any_object(), at in any::<prop::sample::Index>(), byte: u8) {
        let mut bytes = Vec::new();
        encode(&object, &mut bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(object) = decode(&bytes) {
            let mut again = Vec::new();
            encode(&object, &mut again).unwrap();
            prop_assert_eq!(again.len(), bytes.len().min(again.len()));
        }
        let view = RawObject::new(&bytes);
        if let Ok(view) = view {
            for element in view.iter().flatten() {
                _ = element.to_value();
            }
        }
    }
}
