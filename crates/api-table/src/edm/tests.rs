//! Tests of types, values and their order.

use std::cmp::Ordering;

use armilla_engine::Moment;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proptest::prelude::*;

use super::{
    EdmRef, EdmType, EdmValue, Relation, Ticks, guid_text, is_stored_base64, is_stored_guid, parse_guid,
    parse_special_double, push_double, push_integer, relation, special_double,
};

#[test]
fn types_have_two_names() {
    use EdmType::{Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String};
    for edm_type in [Binary, Boolean, DateTime, Double, Guid, Int32, Int64, String] {
        assert_eq!(EdmType::from_name(edm_type.name()), Some(edm_type));
        assert_eq!(EdmType::from_short(edm_type.short()), Some(edm_type));
        assert_eq!(format!("Edm.{}", edm_type.short()), edm_type.name());
    }
    for name in ["", "Int64", "Edm.", "Edm.int64", "edm.Int64", "Edm.Single", "Edm.Int64 "] {
        assert_eq!(EdmType::from_name(name), None, "{name}");
    }
    for short in ["", "Edm.Int64", "int64", "Decimal"] {
        assert_eq!(EdmType::from_short(short), None, "{short}");
    }
}

#[test]
fn times_are_normalised() {
    for (text, expected) in [
        ("2022-05-06T00:47:36.5851144Z", "2022-05-06T00:47:36.5851144Z"),
        ("2022-05-06T00:47:36.585Z", "2022-05-06T00:47:36.5850000Z"),
        ("2022-05-06T00:47:36.5Z", "2022-05-06T00:47:36.5000000Z"),
        ("2022-05-06T00:47:36Z", "2022-05-06T00:47:36.0000000Z"),
        ("2022-05-06t00:47:36z", "2022-05-06T00:47:36.0000000Z"),
        ("2022-05-06T00:47:36", "2022-05-06T00:47:36.0000000Z"),
        ("2022-05-06T00:47:36.123456789Z", "2022-05-06T00:47:36.1234567Z"),
        ("2022-05-06T00:47Z", "2022-05-06T00:47:00.0000000Z"),
        ("2022-05-06", "2022-05-06T00:00:00.0000000Z"),
        ("2022-05-06T00:47:36+02:00", "2022-05-05T22:47:36.0000000Z"),
        ("2022-12-31T23:00:00.1234567-01:30", "2023-01-01T00:30:00.1234567Z"),
        ("2022-05-06T00:47:36.1+14:00", "2022-05-05T10:47:36.1000000Z"),
        ("2022-05-06T00:47:36-00:00", "2022-05-06T00:47:36.0000000Z"),
        ("2000-02-29T00:00:00Z", "2000-02-29T00:00:00.0000000Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.0000000Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.0000000Z"),
        ("1601-01-01T00:00:00Z", "1601-01-01T00:00:00.0000000Z"),
        ("9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"),
        ("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.0000000Z"),
    ] {
        let ticks = Ticks::parse(text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(String::from_utf8_lossy(&ticks.text()), expected, "{text}");
        assert_eq!(Ticks::parse_stored(expected), Some(ticks));
        assert_eq!(Ticks::parse_stored(text).is_some(), text == expected, "{text}");
    }
}

#[test]
fn impossible_times_are_refused() {
    for text in [
        "",
        "2022",
        "2022-05",
        "2022-5-6",
        "2022-13-01T00:00:00Z",
        "2022-00-01T00:00:00Z",
        "2022-01-00T00:00:00Z",
        "2022-01-32T00:00:00Z",
        "2022-04-31T00:00:00Z",
        "2022-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2022-05-06T24:00:00Z",
        "2022-05-06T00:60:00Z",
        "2022-05-06T00:00:60Z",
        "2022-05-06T00:00:00.Z",
        "2022-05-06T00:00:00ZZ",
        "2022-05-06T00:00:00Z ",
        " 2022-05-06T00:00:00Z",
        "2022-05-06 00:00:00Z",
        "2022-05-06T00:00:00+2:00",
        "2022-05-06T00:00:00+0200",
        "2022-05-06T00:00:00+14:01",
        "2022-05-06T00:00:00+01:60",
        "2022-05-06T00",
        "0001-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "-022-05-06T00:00:00Z",
        "２０２２-05-06T00:00:00Z",
        "2022-05-06T00:00:00é",
    ] {
        assert_eq!(Ticks::parse(text), None, "{text}");
    }
}

#[test]
fn times_count_from_the_year_one() {
    let of = |text: &str| Ticks::parse(text).unwrap();
    assert_eq!(of("0001-01-01").count(), 0);
    assert_eq!(of("0001-01-02").count(), 864_000_000_000);
    // The count of .NET for the same time.
    assert_eq!(of("1970-01-01").count(), 621_355_968_000_000_000);
    assert_eq!(of("9999-12-31T23:59:59.9999999").count(), 3_155_378_975_999_999_999);
    assert_eq!(Ticks::MAX.count(), 3_155_378_975_999_999_999);
    assert_eq!(Ticks::new(Ticks::MAX.count()), Some(Ticks::MAX));
    assert_eq!(Ticks::new(Ticks::MAX.count() + 1), None);
    assert_eq!(Ticks::of(Moment::from_ticks(u64::MAX)), Ticks::MAX);
    assert_eq!(of("1970-01-01T00:00:01.9999999").unix_second(), 1);
    assert_eq!(of("1969-12-31T23:59:59.5").unix_second(), -1);
    assert_eq!(of("2022-05-06T00:47:36.5851144").unix_second(), 1_651_798_056);
}

#[test]
fn guids_are_read_in_either_case() {
    let text = "c9da6455-213d-42c9-9a79-3e9149a57833";
    let guid = parse_guid(text).unwrap();
    assert_eq!(guid[..4], [0xC9, 0xDA, 0x64, 0x55]);
    assert_eq!(guid_text(&guid), text.as_bytes());
    assert_eq!(parse_guid(&text.to_uppercase()), Some(guid));
    assert!(is_stored_guid(text));
    assert!(!is_stored_guid(&text.to_uppercase()));
    for wrong in [
        "",
        "c9da6455213d42c99a793e9149a57833",
        "{c9da6455-213d-42c9-9a79-3e9149a57833}",
        "c9da6455-213d-42c9-9a79-3e9149a5783",
        "c9da6455-213d-42c9-9a79-3e9149a57833 ",
        "c9da6455-213d-42c9-9a79-3e9149a5783g",
        "c9da6455_213d-42c9-9a79-3e9149a57833",
        "+9da6455-213d-42c9-9a79-3e9149a57833",
        "ééééééééé-213d-42c9-9a79-3e9149a5",
    ] {
        assert_eq!(parse_guid(wrong), None, "{wrong}");
        assert!(!is_stored_guid(wrong), "{wrong}");
    }
}

#[test]
fn doubles_show_that_they_are_doubles() {
    for (number, text) in [
        (3.0, "3.0"),
        (-0.0, "-0.0"),
        (3.1, "3.1"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e16, "1e16"),
        (1e300, "1e300"),
        (1.5e-7, "1.5e-7"),
        (5e-324, "5e-324"),
        (f64::MAX, "1.7976931348623157e308"),
    ] {
        let mut out = Vec::new();
        push_double(number, &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), text);
        assert_eq!(special_double(number), None);
    }
    for special in ["NaN", "Infinity", "-Infinity"] {
        assert_eq!(special_double(parse_special_double(special).unwrap()), Some(special));
    }
    for other in ["", "nan", "INF", "inf", "+Infinity", "1"] {
        assert_eq!(parse_special_double(other), None, "{other}");
    }
    let mut out = Vec::new();
    push_integer(i64::MIN, &mut out);
    assert_eq!(out, b"-9223372036854775808");
}

#[test]
fn base64_has_one_form() {
    for (text, expected) in [
        ("", true),
        ("YQ==", true),
        ("YR==", false),
        ("YWE=", true),
        ("YWF=", false),
        ("YWFh", true),
        ("+/+/", true),
        ("-_-_", false),
        ("YQ", false),
        ("YQ=", false),
        ("Y===", false),
        ("====", false),
        ("YQ==YQ==", false),
        ("YWFhYQ==", true),
        ("YQ= ", false),
    ] {
        assert_eq!(is_stored_base64(text.as_bytes()), expected, "{text}");
        assert_eq!(STANDARD.decode(text).is_ok(), expected, "{text}");
    }
}

#[test]
fn values_of_one_type_compare() {
    let string = |text: &str| EdmValue::String(text.to_owned());
    let time = |text: &str| EdmValue::DateTime(Ticks::parse(text).unwrap());
    let (less, greater) = (Relation::Ordered(Ordering::Less), Relation::Ordered(Ordering::Greater));
    let equal = Relation::Ordered(Ordering::Equal);
    let big = 1_i64 << 53;
    for (left, right, expected) in [
        (string("a"), string("b"), less),
        (string("B"), string("a"), less),
        (string(""), string(""), equal),
        // Code units, not code points: the surrogates of U+1F600 are before U+FF5E.
        (string("\u{1F600}"), string("\u{FF5E}"), less),
        (EdmValue::Int32(1), EdmValue::Int64(1), equal),
        (EdmValue::Int32(1), EdmValue::Double(1.5), less),
        (EdmValue::Double(-0.0), EdmValue::Int32(0), equal),
        (EdmValue::Int64(big + 1), EdmValue::Double(big as f64), greater),
        (EdmValue::Int64(i64::MAX), EdmValue::Double(i64::MAX as f64), less),
        (EdmValue::Int64(i64::MIN), EdmValue::Double(i64::MIN as f64), equal),
        (EdmValue::Int64(i64::MAX), EdmValue::Double(f64::INFINITY), less),
        (EdmValue::Int32(0), EdmValue::Double(f64::NEG_INFINITY), greater),
        (EdmValue::Double(f64::NAN), EdmValue::Int32(0), Relation::Unordered { is_equal: false }),
        (EdmValue::Double(f64::NAN), EdmValue::Double(f64::NAN), Relation::Unordered { is_equal: false }),
        (EdmValue::Boolean(true), EdmValue::Boolean(true), Relation::Unordered { is_equal: true }),
        (EdmValue::Boolean(true), EdmValue::Boolean(false), Relation::Unordered { is_equal: false }),
        (time("2020-01-01"), time("2021-01-01"), less),
        (EdmValue::Guid([0x10; 16]), EdmValue::Guid([0x0F; 16]), greater),
        (EdmValue::Binary(vec![1]), EdmValue::Binary(vec![1, 0]), less),
        (EdmValue::Binary(vec![2]), EdmValue::Binary(vec![1, 0]), greater),
    ] {
        assert_eq!(relation(&left.lend(), &right.lend()), expected, "{left:?} {right:?}");
    }
}

#[test]
fn values_of_other_types_do_not() {
    let values = [
        EdmValue::Binary(vec![]),
        EdmValue::Boolean(true),
        EdmValue::DateTime(Ticks::MAX),
        EdmValue::Double(1.0),
        EdmValue::Guid([0; 16]),
        EdmValue::String("1".to_owned()),
    ];
    for left in &values {
        for right in &values {
            let is_same = left.edm_type() == right.edm_type();
            assert_eq!(
                relation(&left.lend(), &right.lend()) != Relation::None,
                is_same,
                "{left:?} {right:?}"
            );
        }
        assert_eq!(left.lend().into_owned(), *left);
    }
    assert_eq!(EdmRef::Int32(1).into_owned().edm_type(), EdmType::Int32);
    assert_eq!(EdmRef::Int64(1).into_owned().edm_type(), EdmType::Int64);
}

proptest! {
    #[test]
    fn times_round_trip_in_order(left in 0..=Ticks::MAX.count(), right in 0..=Ticks::MAX.count()) {
        let (left, right) = (Ticks::new(left).unwrap(), Ticks::new(right).unwrap());
        let text = String::from_utf8(left.text().to_vec()).unwrap();
        prop_assert_eq!(Ticks::parse(&text), Some(left));
        prop_assert_eq!(Ticks::parse_stored(&text), Some(left));
        prop_assert_eq!(left.text().cmp(&right.text()), left.cmp(&right));
        let second = i64::try_from(left.count() / 10_000_000).unwrap() - 62_135_596_800;
        prop_assert_eq!(left.unix_second(), second);
    }

    #[test]
    fn every_day_round_trips(day in 0_u64..3_652_059) {
        let ticks = Ticks::new(day * 864_000_000_000).unwrap();
        let text = String::from_utf8(ticks.text().to_vec()).unwrap();
        prop_assert_eq!(Ticks::parse(&text[..10]), Some(ticks));
    }

    #[test]
    fn guids_round_trip(guid: [u8; 16]) {
        let text = String::from_utf8(guid_text(&guid).to_vec()).unwrap();
        prop_assert_eq!(parse_guid(&text), Some(guid));
        prop_assert!(is_stored_guid(&text));
    }

    #[test]
    fn base64_is_recognised(bytes: Vec<u8>, text in "[A-Da-dw-z0-9+/=\\-]{0,9}") {
        prop_assert!(is_stored_base64(STANDARD.encode(&bytes).as_bytes()));
        prop_assert_eq!(is_stored_base64(text.as_bytes()), STANDARD.decode(&text).is_ok(), "{}", text);
    }

    #[test]
    fn any_text_is_read_without_panic(text: String, near in "[0-9T:.Z+\\-é]{0,30}") {
        for text in [text, near] {
            let _ = (Ticks::parse(&text), Ticks::parse_stored(&text), parse_guid(&text));
            let _ = is_stored_base64(text.as_bytes());
        }
    }
}
