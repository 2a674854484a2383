//! Tests of bodies.

use super::super::limits::{
    ITEM_ID_BYTES_MAX, PARTITION_KEY_BYTES_MAX, PROPERTY_NAME_UNITS_MAX, STORAGE_ENTITY_BYTES_MAX,
    STORAGE_KEY_UNITS_MAX, STORAGE_PROPERTIES_MAX, STORAGE_VALUE_BYTES_MAX,
};
use super::super::{Entity, EntityErrorKind, check_keys};
use crate::edm::{EdmValue, Ticks, parse_guid};
use crate::options::Flavour;

fn read(body: &str) -> Entity {
    match Entity::from_json(body.as_bytes(), Flavour::Storage) {
        Ok(entity) => entity,
        Err(error) => panic!("{body}: {error}"),
    }
}

fn refused(body: &str, flavour: Flavour) -> EntityErrorKind {
    match Entity::from_json(body.as_bytes(), flavour) {
        Ok(entity) => panic!("{body}: {entity:?}"),
        Err(error) => error.kind,
    }
}

#[test]
fn values_get_their_types() {
    let string = |text: &str| EdmValue::String(text.to_owned());
    let time = |text: &str| EdmValue::DateTime(Ticks::parse(text).unwrap());
    let guid = EdmValue::Guid(parse_guid("c9da6455-213d-42c9-9a79-3e9149a57833").unwrap());
    for (members, expected) in [
        (r#""a":"x""#, string("x")),
        (r#""a":"x","a@odata.type":"Edm.String""#, string("x")),
        (r#""a@odata.type":"Edm.String","a":"""#, string("")),
        (r#""a":"é\ud83d\ude00\n\"""#, string("é😀\n\"")),
        (r#""a":true"#, EdmValue::Boolean(true)),
        (r#""a":false,"a@odata.type":"Edm.Boolean""#, EdmValue::Boolean(false)),
        (r#""a":"true","a@odata.type":"Edm.Boolean""#, EdmValue::Boolean(true)),
        (r#""a":"False","a@odata.type":"Edm.Boolean""#, EdmValue::Boolean(false)),
        (r#""a":39"#, EdmValue::Int32(39)),
        (r#""a":-2147483648"#, EdmValue::Int32(i32::MIN)),
        (r#""a":39,"a@odata.type":"Edm.Int32""#, EdmValue::Int32(39)),
        (r#""a":"39","a@odata.type":"Edm.Int32""#, EdmValue::Int32(39)),
        (r#""a":2147483648"#, EdmValue::Double(2_147_483_648.0)),
        (r#""a":9007199254740992"#, EdmValue::Double(9_007_199_254_740_992.0)),
        (r#""a":-9007199254740992"#, EdmValue::Double(-9_007_199_254_740_992.0)),
        (r#""a":9007199254740993"#, EdmValue::Int64(9_007_199_254_740_993)),
        (r#""a":-9223372036854775808"#, EdmValue::Int64(i64::MIN)),
        (r#""a":9223372036854775808"#, EdmValue::Double(9_223_372_036_854_775_808.0)),
        (r#""a@odata.type":"Edm.Int64","a":"1125899906842624""#, EdmValue::Int64(1_125_899_906_842_624)),
        (r#""a":5,"a@odata.type":"Edm.Int64""#, EdmValue::Int64(5)),
        (r#""a":"-9223372036854775808","a@odata.type":"Edm.Int64""#, EdmValue::Int64(i64::MIN)),
        (r#""a":3.1"#, EdmValue::Double(3.1)),
        (r#""a":3.0"#, EdmValue::Double(3.0)),
        (r#""a":1e3"#, EdmValue::Double(1000.0)),
        (r#""a":3,"a@odata.type":"Edm.Double""#, EdmValue::Double(3.0)),
        (r#""a":"3.5","a@odata.type":"Edm.Double""#, EdmValue::Double(3.5)),
        (r#""a":"-1e-3","a@odata.type":"Edm.Double""#, EdmValue::Double(-0.001)),
        (r#""a":"NaN","a@odata.type":"Edm.Double""#, EdmValue::Double(f64::NAN)),
        (r#""a":"Infinity","a@odata.type":"Edm.Double""#, EdmValue::Double(f64::INFINITY)),
        (r#""a":"-Infinity","a@odata.type":"Edm.Double""#, EdmValue::Double(f64::NEG_INFINITY)),
        (r#""a":"1973-10-04T00:00:00Z","a@odata.type":"Edm.DateTime""#, time("1973-10-04")),
        (
            r#""a":"1973-10-04T01:00:00.123+01:00","a@odata.type":"Edm.DateTime""#,
            time("1973-10-04T00:00:00.123"),
        ),
        (r#""a":"C9DA6455-213D-42C9-9A79-3E9149A57833","a@odata.type":"Edm.Guid""#, guid),
        (r#""a":"YmluYXJ5","a@odata.type":"Edm.Binary""#, EdmValue::Binary(b"binary".to_vec())),
        (r#""a":"","a@odata.type":"Edm.Binary""#, EdmValue::Binary(vec![])),
        (r#""\u0061":5,"a@odata.type":"Edm.Int64""#, EdmValue::Int64(5)),
        (r#""a":5,"\u0061@odata.type":"Edm.Int64""#, EdmValue::Int64(5)),
    ] {
        let entity = read(&format!("{{{members}}}"));
        let expected =
            Entity { properties: vec![("a".to_owned(), expected)], partition_key: None, row_key: None };
        assert_eq!(super::shown(&entity), super::shown(&expected), "{members}");
    }
}

#[test]
fn some_members_are_no_properties() {
    let entity = read(
        r#" { "odata.etag": "W/\"x\"", "odata.metadata": {"a":[1]}, "PartitionKey": "p", "RowKey@odata.type":
        "Edm.String", "RowKey": "r", "Timestamp": "2020", "Timestamp@odata.type": "Edm.DateTime", "null": null,
        "typed@odata.type": "Edm.Int64", "typed": null, "orphan@odata.type": "Edm.Guid",
        "a@odata.navigationLink": "x", "a": 1, "odata.x": [ ] } "#,
    );
    let expected = Entity {
        properties: vec![("a".to_owned(), EdmValue::Int32(1))],
        partition_key: Some("p".to_owned()),
        row_key: Some("r".to_owned()),
    };
    assert_eq!(entity, expected);
    assert_eq!(read(r#"{"PartitionKey":null}"#).partition_key, None);
}

#[test]
fn bad_bodies_are_refused() {
    use EntityErrorKind::{DuplicateProperty, Malformed, PropertyNameInvalid, UnknownType, ValueDoesNotFit};
    for (body, kind) in [
        ("", Malformed),
        ("[]", Malformed),
        ("{", Malformed),
        (r#"{"a":1}x"#, Malformed),
        (r#"{"a":"\x"}"#, Malformed),
        (r#"{"\ud800":1}"#, Malformed),
        (r#"{"a":{}}"#, Malformed),
        (r#"{"a":[1]}"#, Malformed),
        (r#"{"odata.x":[}]}"#, Malformed),
        (r#"{"odata.x":"\x"}"#, Malformed),
        (r#"{"Timestamp":{"a":}}"#, Malformed),
        (r#"{"a":1,"a@odata.type":"Edm.Single"}"#, UnknownType),
        (r#"{"a":1,"a@odata.type":"Int64"}"#, UnknownType),
        (r#"{"a":1,"a@odata.type":5}"#, UnknownType),
        (r#"{"a":1,"a@odata.type":"Edm.String"}"#, ValueDoesNotFit),
        (r#"{"a":true,"a@odata.type":"Edm.String"}"#, ValueDoesNotFit),
        (r#"{"a":true,"a@odata.type":"Edm.Int32"}"#, ValueDoesNotFit),
        (r#"{"a":1,"a@odata.type":"Edm.Boolean"}"#, ValueDoesNotFit),
        (r#"{"a":"yes","a@odata.type":"Edm.Boolean"}"#, ValueDoesNotFit),
        (r#"{"a":2147483648,"a@odata.type":"Edm.Int32"}"#, ValueDoesNotFit),
        (r#"{"a":1.0,"a@odata.type":"Edm.Int32"}"#, ValueDoesNotFit),
        (r#"{"a":"x","a@odata.type":"Edm.Int32"}"#, ValueDoesNotFit),
        (r#"{"a":"9223372036854775808","a@odata.type":"Edm.Int64"}"#, ValueDoesNotFit),
        (r#"{"a":1.5,"a@odata.type":"Edm.Int64"}"#, ValueDoesNotFit),
        (r#"{"a":"","a@odata.type":"Edm.Int64"}"#, ValueDoesNotFit),
        (r#"{"a":"inf","a@odata.type":"Edm.Double"}"#, ValueDoesNotFit),
        (r#"{"a":"nan","a@odata.type":"Edm.Double"}"#, ValueDoesNotFit),
        (r#"{"a":"","a@odata.type":"Edm.Double"}"#, ValueDoesNotFit),
        (r#"{"a":"1e999","a@odata.type":"Edm.Double"}"#, ValueDoesNotFit),
        (r#"{"a":1e999}"#, ValueDoesNotFit),
        (r#"{"a":"2022-02-30T00:00:00Z","a@odata.type":"Edm.DateTime"}"#, ValueDoesNotFit),
        (r#"{"a":1,"a@odata.type":"Edm.DateTime"}"#, ValueDoesNotFit),
        (r#"{"a":"x","a@odata.type":"Edm.Guid"}"#, ValueDoesNotFit),
        (r#"{"a":"YmluYXJ","a@odata.type":"Edm.Binary"}"#, ValueDoesNotFit),
        (r#"{"a":"Ym-_","a@odata.type":"Edm.Binary"}"#, ValueDoesNotFit),
        (r#"{"PartitionKey":5}"#, ValueDoesNotFit),
        (r#"{"RowKey":"5","RowKey@odata.type":"Edm.Int64"}"#, ValueDoesNotFit),
        (r#"{"a":1,"a":1}"#, DuplicateProperty),
        (r#"{"a":1,"b":2,"\u0061":null}"#, DuplicateProperty),
        (r#"{"RowKey":"a","RowKey":"a"}"#, DuplicateProperty),
        (r#"{"a@b":1}"#, PropertyNameInvalid),
        (r#"{"@":1}"#, PropertyNameInvalid),
        (r#"{"":1}"#, PropertyNameInvalid),
        (r#"{"123":1}"#, PropertyNameInvalid),
        (r#"{"1a":null}"#, PropertyNameInvalid),
        (r#"{"\u0001":1}"#, PropertyNameInvalid),
    ] {
        for flavour in [Flavour::Cosmos, Flavour::Storage] {
            assert_eq!(refused(body, flavour), kind, "{body}");
        }
    }
}

#[test]
fn keys_of_other_types_count_where_the_address_names_them() {
    for (members, partition_key) in [
        (r#""PartitionKey":"p""#, Some("p")),
        (r#""PartitionKey":"p","PartitionKey@odata.type":"Edm.String""#, Some("p")),
        (
            r#""PartitionKey":"2022-04-01T09:30:45.000000Z","PartitionKey@odata.type":"Edm.DateTime""#,
            Some("2022-04-01T09:30:45.000000Z"),
        ),
        (r#""PartitionKey@odata.type":"Edm.Binary","PartitionKey":"YmluYXJ5""#, Some("YmluYXJ5")),
        (r#""PartitionKey@odata.type":"Edm.Guid","PartitionKey":"none""#, Some("none")),
        (r#""PartitionKey":5"#, None),
        (r#""PartitionKey":null"#, None),
        (r#""a":1"#, None),
    ] {
        let body = format!("{{{members}}}");
        let entity = Entity::from_json_at(body.as_bytes(), Flavour::Storage).unwrap();
        assert_eq!(entity.partition_key.as_deref(), partition_key, "{body}");
        let is_string = !members.contains("Edm.") || members.contains("Edm.String");
        let is_taken = Entity::from_json(body.as_bytes(), Flavour::Storage).is_ok();
        assert_eq!(is_taken, is_string && !members.contains(":5"), "{body}");
    }
    for body in
        [r#"{"PartitionKey":{}}"#, r#"{"a":"x","a@odata.type":"Edm.Guid"}"#, r#"{"a@odata.type":"x"}"#]
    {
        assert!(Entity::from_json_at(body.as_bytes(), Flavour::Cosmos).is_err(), "{body}");
    }
}

#[test]
fn names_are_identifiers_in_storage_accounts() {
    for name in ["a-b", "a b", "$a", "a.b", "a:b"] {
        let body = format!("{{\"{name}\":1}}");
        assert_eq!(refused(&body, Flavour::Storage), EntityErrorKind::PropertyNameInvalid, "{name}");
        assert!(Entity::from_json(body.as_bytes(), Flavour::Cosmos).is_ok(), "{name}");
    }
    for name in ["_a", "a1", "id", "_ts", "啊齄丂狛狜", "é\u{301}"] {
        assert_eq!(read(&format!("{{\"{name}\":1}}")).properties[0].0, name);
    }
}

#[test]
fn bounds_of_storage_accounts() {
    let is_taken = |body: &str, flavour| Entity::from_json(body.as_bytes(), flavour).is_ok();
    let check = |within: &str, past: &str, kind, in_both: bool| {
        assert!(is_taken(within, Flavour::Storage) && is_taken(within, Flavour::Cosmos));
        assert_eq!(refused(past, Flavour::Storage), kind);
        assert_eq!(is_taken(past, Flavour::Cosmos), !in_both);
    };
    let named = |units: usize| format!("{{\"{}\":1}}", "é".repeat(units));
    let (units, properties) = (PROPERTY_NAME_UNITS_MAX, STORAGE_PROPERTIES_MAX);
    check(&named(units), &named(units + 1), EntityErrorKind::PropertyNameTooLong, true);
    let many = |count: usize| {
        let members: Vec<String> = (0..count).map(|number| format!("\"p{number}\":1")).collect();
        format!("{{{}}}", members.join(","))
    };
    check(&many(properties), &many(properties + 1), EntityErrorKind::TooManyProperties, false);
    let text = |units: usize| format!("{{\"a\":\"{}\"}}", "é".repeat(units));
    let (units, bytes) = (STORAGE_VALUE_BYTES_MAX / 2, STORAGE_VALUE_BYTES_MAX);
    check(&text(units), &text(units + 1), EntityErrorKind::PropertyValueTooLarge, false);
    let binary = |bytes: usize| {
        let text = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, vec![7; bytes]);
        format!("{{\"a\":\"{text}\",\"a@odata.type\":\"Edm.Binary\"}}")
    };
    check(&binary(bytes), &binary(bytes + 1), EntityErrorKind::PropertyValueTooLarge, false);
    // Fifteen values of 65,536 bytes, a sixteenth of the rest, and what each of them costs beside.
    let whole = |last: usize| {
        let text = |name: char, units: usize| format!("\"{name}\":\"{}\"", "x".repeat(units));
        let mut members: Vec<String> =
            ('a'..='o').map(|name| text(name, STORAGE_VALUE_BYTES_MAX / 2)).collect();
        members.push(text('p', last));
        format!("{{{}}}", members.join(","))
    };
    let rest = (STORAGE_ENTITY_BYTES_MAX - 4 - 15 * (STORAGE_VALUE_BYTES_MAX + 14) - 14) / 2;
    check(&whole(rest), &whole(rest + 1), EntityErrorKind::EntityTooLarge, false);
}

#[test]
fn keys_are_checked() {
    use EntityErrorKind::{KeyCharacter, KeyEmpty, KeyTooLong};
    let kind = |flavour, partition_key: &str, row_key: &str| {
        check_keys(flavour, partition_key, row_key).err().map(|error| error.kind)
    };
    for flavour in [Flavour::Cosmos, Flavour::Storage] {
        for key in ["p", "a b ", "it's", "\"", "é😀", "100%", "a(b)", "&=+"] {
            assert_eq!(kind(flavour, key, key), None, "{key}");
        }
        for key in ["a/b", "a\\b", "a#b", "a?b", "a\tb", "\n", "\u{7f}", "\u{80}", "\u{9f}"] {
            assert_eq!(kind(flavour, key, "r"), Some(KeyCharacter), "{key:?}");
            assert_eq!(kind(flavour, "p", key), Some(KeyCharacter), "{key:?}");
        }
    }
    assert_eq!(kind(Flavour::Cosmos, "", "r"), Some(KeyEmpty));
    assert_eq!(kind(Flavour::Cosmos, "p", ""), Some(KeyEmpty));
    assert_eq!(kind(Flavour::Storage, "", ""), None);
    let (x, wide) = (|count| "x".repeat(count), |count| "啊".repeat(count));
    let units = STORAGE_KEY_UNITS_MAX;
    assert_eq!(kind(Flavour::Storage, &wide(units), &wide(units)), None);
    assert_eq!(kind(Flavour::Storage, &x(units + 1), "r"), Some(KeyTooLong));
    assert_eq!(kind(Flavour::Storage, "p", &wide(units + 1)), Some(KeyTooLong));
    assert_eq!(kind(Flavour::Cosmos, &x(PARTITION_KEY_BYTES_MAX), &x(ITEM_ID_BYTES_MAX)), None);
    assert_eq!(kind(Flavour::Cosmos, &x(PARTITION_KEY_BYTES_MAX + 1), "r"), Some(KeyTooLong));
    assert_eq!(kind(Flavour::Cosmos, "p", &x(ITEM_ID_BYTES_MAX + 1)), Some(KeyTooLong));
}

#[test]
fn errors_say_what_and_where() {
    let error = Entity::from_json(br#"{"a":"x","a@odata.type":"Edm.Int32"}"#, Flavour::Cosmos).unwrap_err();
    assert_eq!(error.to_string(), "the value does not fit the type that is named, at property 'a'");
    assert_eq!(error.shape(Flavour::Cosmos), ("InvalidInput", "One of the input values is invalid."));
    let error = Entity::from_json(b"", Flavour::Cosmos).unwrap_err();
    assert_eq!(error.to_string(), "the body is not a JSON object of scalar properties");
    assert_eq!(EntityErrorKind::KeyCharacter.alone().shape(Flavour::Storage).0, "OutOfRangeInput");
    assert_eq!(EntityErrorKind::KeyCharacter.alone().shape(Flavour::Cosmos).0, "InvalidInput");
}

#[test]
fn many_members_take_linear_time() {
    let count = 100_000;
    let values = (0..count).map(|number| format!("\"p{number}\":\"{number}\""));
    let types = (0..count).rev().map(|number| format!("\"p{number}@odata.type\":\"Edm.Int64\""));
    let body = format!("{{{}}}", values.chain(types).collect::<Vec<_>>().join(","));
    let entity = Entity::from_json(body.as_bytes(), Flavour::Cosmos).unwrap();
    assert_eq!(entity.properties.len(), count);
    assert_eq!(entity.properties[7], ("p7".to_owned(), EdmValue::Int64(7)));
    let item = entity.item_json();
    let back = Entity::from_item(&entity.merged_into(&item)).unwrap();
    assert_eq!(back.properties, entity.properties);
}
