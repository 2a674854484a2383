//! Tests of the value and its ordered object.

use super::*;

#[test]
fn insert_replaces_in_place_and_appends() {
    let mut object = Object::from([("a", 1), ("b", 2)]);
    assert_eq!(object.insert("a", "x"), Some(Value::Int64(1)));
    assert_eq!(object.insert("c", true), None);
    let members: Vec<_> = object.iter().map(|(name, value)| (name, value.clone())).collect();
    assert_eq!(members, [("a", "x".into()), ("b", 2.into()), ("c", true.into())]);
    assert_eq!(object.remove("b"), Some(Value::Int64(2)));
    assert_eq!(object.remove("b"), None);
    assert_eq!(object.len(), 2);
    *object.get_mut("c").unwrap() = Value::Null;
    assert!(object.get("c").unwrap().is_null());
}

#[test]
fn last_duplicate_wins_at_the_first_position() {
    for padding in [0, LINEAR_SEARCH_MEMBERS_MAX - 3, LINEAR_SEARCH_MEMBERS_MAX - 2, 100] {
        let mut members = vec![("a".to_owned(), Value::from(1)), ("b".to_owned(), 2.into())];
        members.extend((0..padding).map(|index| (format!("n{index}"), Value::Null)));
        members.push(("a".to_owned(), 3.into()));
        let object = Object::from(members);
        assert_eq!(object.len(), padding + 2);
        assert_eq!(object.iter().next(), Some(("a", &Value::Int64(3))));
    }
}

#[test]
fn numbers_convert_only_where_exact() {
    let cases = [
        (Value::Int32(-7), Some(-7), Some(-7.0)),
        (Value::Int64(1 << 53), Some(1 << 53), Some(9_007_199_254_740_992.0)),
        (Value::Double(2.0), Some(2), Some(2.0)),
        (Value::Double(2.5), None, Some(2.5)),
        (Value::Double(9_223_372_036_854_775_808.0), None, Some(9_223_372_036_854_775_808.0)),
        (Value::Double(-9_223_372_036_854_775_808.0), Some(i64::MIN), Some(-9_223_372_036_854_775_808.0)),
        (Value::Double(f64::INFINITY), None, Some(f64::INFINITY)),
        (Value::from("2"), None, None),
    ];
    for (value, integer, double) in cases {
        assert_eq!((value.as_i64(), value.as_f64()), (integer, double), "{value:?}");
    }
}

#[test]
fn kinds_are_numbered_by_their_place() {
    for (index, kind) in Kind::ALL.into_iter().enumerate() {
        assert_eq!(kind as usize, index);
    }
    assert!(size_of::<Value>() <= 40, "{}", size_of::<Value>());
}
