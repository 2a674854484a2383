//! Whether two values are the same down to their bytes, which decides whether an update modified anything.
//!
//! Neither `==` nor the canonical order says it: `==` holds NaN for changed, and the order holds 1 and 1.0 for equal.

use armilla_value::{Legacy, Object, Value};

/// Says whether two values would be stored as the same bytes.
pub(crate) fn identical(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Double(left), Value::Double(right)) => left.to_bits() == right.to_bits(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| identical(left, right))
        }
        (Value::Object(left), Value::Object(right)) => identical_objects(left, right),
        (Value::Legacy(left), Value::Legacy(right)) => match (&**left, &**right) {
            (
                Legacy::CodeWithScope { code: left_code, scope: left },
                Legacy::CodeWithScope { code: right_code, scope: right },
            ) => left_code == right_code && identical_objects(left, right),
            (left, right) => left == right,
        },
        _ => left == right,
    }
}

/// Says the same of documents.
pub(crate) fn identical_objects(left: &Object, right: &Object) -> bool {
    left.len() == right.len()
        && left
            .iter()
            .zip(right.iter())
            .all(|((left_name, left), (right_name, right))| left_name == right_name && identical(left, right))
}
