//! Types that text cannot say: a number that is written as text keeps the type that it had.
//!
//! A client that reads an item as JSON and writes it back says `5` for a double that was `5.0`, and the nearest double
//! for an integer of 64 bits, without having touched either. So a number that is the same as the one at the same path of
//! the version before, as far as doubles tell, is taken for that one. A number with another value gets the type that its
//! text has.

use armilla_value::stored::Node;
use armilla_value::{Kind, Object, Value};

/// Returns the new version of an item with numbers of the old one where they are the same; nothing where it has all of
/// them already, which is told without a copy.
pub(super) fn with_types_of(old: Node<'_>, new: Node<'_>) -> Option<Value> {
    differs(old, new).then(|| merged(Some(old), new))
}

/// Says whether some number has another type than it had, or other digits that make the same double.
fn differs(old: Node<'_>, new: Node<'_>) -> bool {
    match (old.kind(), new.kind()) {
        (Kind::Object, Kind::Object) => {
            new.members().any(|(name, new)| old.get(&name).is_some_and(|old| differs(old, new)))
        }
        (Kind::Array, Kind::Array) => old.elements().zip(new.elements()).any(|(old, new)| differs(old, new)),
        _ => is_same_number(old, new) && (old.kind() != new.kind() || old.raw() != new.raw()),
    }
}

fn merged(old: Option<Node<'_>>, new: Node<'_>) -> Value {
    let Some(old) = old else { return new.to_value() };
    match (old.kind(), new.kind()) {
        (Kind::Object, Kind::Object) => {
            let members: Vec<_> = new
                .members()
                .map(|(name, new)| {
                    let value = merged(old.get(&name), new);
                    (name.into_owned(), value)
                })
                .collect();
            Value::Object(Object::from(members))
        }
        (Kind::Array, Kind::Array) => {
            let mut before = old.elements();
            Value::Array(new.elements().map(|new| merged(before.next(), new)).collect())
        }
        _ if is_same_number(old, new) => old.to_value(),
        _ => new.to_value(),
    }
}

/// Says whether both are numbers, neither of them a decimal, that are the same as doubles.
fn is_same_number(old: Node<'_>, new: Node<'_>) -> bool {
    let is_number = |node: Node<'_>| matches!(node.kind(), Kind::Int32 | Kind::Int64 | Kind::Double);
    is_number(old) && is_number(new) && old.as_f64() == new.as_f64()
}

#[cfg(test)]
mod tests {
    use armilla_value::stored::{self, Stored};
    use armilla_value::{Value, json};

    use super::with_types_of;

    /// Returns the new text as it is stored over an old one, with every type spelled out.
    fn written_over(old: &str, new: &str) -> String {
        let encode = |text: &str| {
            let value = json::parse_typed(format!("{{\"v\":{text}}}").as_bytes()).unwrap();
            stored::encode_value(&value, &[]).unwrap()
        };
        let (old, new) = (encode(old), encode(new));
        let (old, new) = (Stored::open(&old).unwrap().root(), Stored::open(&new).unwrap().root());
        let value = with_types_of(old, new).unwrap_or_else(|| new.to_value());
        spelled(value.get("v").unwrap())
    }

    fn spelled(value: &Value) -> String {
        match value {
            Value::Int32(number) => format!("{number}i32"),
            Value::Int64(number) => format!("{number}i64"),
            Value::Double(number) => format!("{number:?}f64"),
            Value::Array(elements) => {
                format!("[{}]", elements.iter().map(spelled).collect::<Vec<_>>().join(","))
            }
            Value::Object(object) => {
                let members: Vec<_> =
                    object.iter().map(|(name, value)| format!("{name}:{}", spelled(value))).collect();
                format!("{{{}}}", members.join(","))
            }
            other => json::to_string(other),
        }
    }

    #[test]
    fn numbers_that_are_the_same_keep_their_types() {
        for (old, new, expected) in [
            ("1", "1", "1i32"),
            ("1.0", "1", "1.0f64"),
            ("1", "1.0", "1i32"),
            (r#"{"$numberLong":"1"}"#, "1", "1i64"),
            (r#"{"$numberLong":"1"}"#, "1.0", "1i64"),
            (r#"{"$numberLong":"1"}"#, "2", "2i32"),
            ("1.5", "2", "2i32"),
            ("1", "1.5", "1.5f64"),
            ("0.0", "-0.0", "0.0f64"),
            ("-0.0", "0", "-0.0f64"),
            // What a reader with doubles alone makes of it.
            (r#"{"$numberLong":"9007199254740993"}"#, "9007199254740992", "9007199254740993i64"),
            (r#"{"$numberLong":"9007199254740993"}"#, "9007199254740994", "9007199254740994i64"),
            (r#"{"$numberLong":"9223372036854775807"}"#, "9223372036854775808", "9223372036854775807i64"),
            ("null", "1", "1i32"),
            ("\"1\"", "1", "1i32"),
            ("1", "\"1\"", "\"1\""),
            (r#"{"$numberDouble":"Infinity"}"#, r#"{"$numberDouble":"Infinity"}"#, "inff64"),
            (r#"{"$numberDouble":"NaN"}"#, r#"{"$numberDouble":"NaN"}"#, "NaNf64"),
            (r#"{"$numberDecimal":"1"}"#, "1", "1i32"),
            (r#"{"$date":{"$numberLong":"1"}}"#, "1", "1i32"),
            ("[1.0,2.0,{\"a\":3.0}]", "[1,5,{\"a\":3,\"b\":3}]", "[1.0f64,5i32,{a:3.0f64,b:3i32}]"),
            ("[1.0]", "[1,1]", "[1.0f64,1i32]"),
            ("{\"a\":1.0,\"b\":2.0}", "{\"b\":2,\"c\":1}", "{b:2.0f64,c:1i32}"),
            ("{\"a\":{\"x\":1.0}}", "{\"a\":[1]}", "{a:[1i32]}"),
        ] {
            assert_eq!(written_over(old, new), expected, "{new} over {old}");
        }
    }
}
