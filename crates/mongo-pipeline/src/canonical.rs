//! Bytes that are equal exactly where MongoDB says that values are: keys of hash tables.
//!
//! The key bytes of `armilla_value` serve for scalars, numbers of all types alike. Objects differ: there the order
//! of members does not count, in MongoDB it does.

use armilla_value::{Value, key};

const ARRAY: u8 = 0xF0;
const OBJECT: u8 = 0xF1;
const END: u8 = 0;

/// Appends the bytes of a value.
pub(crate) fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Array(elements) => {
            out.push(ARRAY);
            for element in elements {
                encode(element, out);
            }
            out.push(END);
        }
        Value::Object(object) => {
            out.push(OBJECT);
            for (name, value) in object.iter() {
                key::encode_string(name, out);
                encode(value, out);
            }
            out.push(END);
        }
        _ => key::encode_value(value, out),
    }
}

/// Returns the bytes of a value.
pub(crate) fn bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    encode(value, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::bytes;
    use armilla_value::{Object, Value};

    #[test]
    fn equality_is_that_of_the_canonical_order() {
        let object = |members: &[(&str, i32)]| {
            Value::Object(
                members.iter().map(|(name, number)| (*name, Value::Int32(*number))).collect::<Object>(),
            )
        };
        let values = [
            Value::Null,
            Value::Int32(1),
            Value::Int64(1),
            Value::Double(1.0),
            Value::Double(1.5),
            Value::Double(f64::NAN),
            Value::Double(-0.0),
            Value::Int32(0),
            Value::Int64(i64::MAX),
            Value::Double(i64::MAX as f64),
            Value::String("1".into()),
            Value::Bool(true),
            object(&[("a", 1), ("b", 2)]),
            object(&[("b", 2), ("a", 1)]),
            object(&[]),
            Value::Array(vec![]),
            Value::Array(vec![Value::Int32(1)]),
            Value::Array(vec![Value::Double(1.0)]),
            Value::Array(vec![Value::Array(vec![Value::Int32(1)])]),
            Value::Date(1),
            Value::MinKey,
            Value::MaxKey,
        ];
        for left in &values {
            for right in &values {
                assert_eq!(
                    bytes(left) == bytes(right),
                    armilla_value::mongo_cmp(left, right).is_eq(),
                    "{left:?} and {right:?}"
                );
            }
        }
    }
}
