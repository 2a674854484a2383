//! The names and numbers of types, and what counts as true.

use armilla_value::{Decimal, Kind, Legacy, Value};

/// Returns the name that `$type` has for the type of a value.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int32(_) => "int",
        Value::Int64(_) => "long",
        Value::Double(_) => "double",
        Value::Decimal128(_) => "decimal",
        Value::String(_) => "string",
        Value::ObjectId(_) => "objectId",
        Value::Date(_) => "date",
        Value::Binary { .. } => "binData",
        Value::Timestamp { .. } => "timestamp",
        Value::Regex { .. } => "regex",
        Value::MinKey => "minKey",
        Value::MaxKey => "maxKey",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Legacy(legacy) => match **legacy {
            Legacy::Undefined => "undefined",
            Legacy::Code(_) => "javascript",
            Legacy::CodeWithScope { .. } => "javascriptWithScope",
            Legacy::Symbol(_) => "symbol",
            Legacy::DbPointer { .. } => "dbPointer",
        },
    }
}

/// Returns the name of the type of what may be missing.
pub fn type_name_of(value: Option<&Value>) -> &'static str {
    value.map_or("missing", type_name)
}

/// Returns the number that BSON has for the type of a value.
pub fn type_number(value: &Value) -> i32 {
    match value {
        Value::Double(_) => 1,
        Value::String(_) => 2,
        Value::Object(_) => 3,
        Value::Array(_) => 4,
        Value::Binary { .. } => 5,
        Value::ObjectId(_) => 7,
        Value::Bool(_) => 8,
        Value::Date(_) => 9,
        Value::Null => 10,
        Value::Regex { .. } => 11,
        Value::Int32(_) => 16,
        Value::Timestamp { .. } => 17,
        Value::Int64(_) => 18,
        Value::Decimal128(_) => 19,
        Value::MinKey => -1,
        Value::MaxKey => 127,
        Value::Legacy(legacy) => match **legacy {
            Legacy::Undefined => 6,
            Legacy::DbPointer { .. } => 12,
            Legacy::Code(_) => 13,
            Legacy::Symbol(_) => 14,
            Legacy::CodeWithScope { .. } => 15,
        },
    }
}

/// Returns the number of a type by its name.
pub fn type_number_of_name(name: &str) -> Option<i32> {
    Some(match name {
        "double" => 1,
        "string" => 2,
        "object" => 3,
        "array" => 4,
        "binData" => 5,
        "undefined" => 6,
        "objectId" => 7,
        "bool" => 8,
        "date" => 9,
        "null" => 10,
        "regex" => 11,
        "dbPointer" => 12,
        "javascript" => 13,
        "symbol" => 14,
        "javascriptWithScope" => 15,
        "int" => 16,
        "timestamp" => 17,
        "long" => 18,
        "decimal" => 19,
        "minKey" => -1,
        "maxKey" => 127,
        _ => return None,
    })
}

/// Says whether a value counts as true: all do but false, null, undefined, a missing one and zeros.
pub fn is_truthy(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(truth)) => *truth,
        Some(Value::Int32(number)) => *number != 0,
        Some(Value::Int64(number)) => *number != 0,
        Some(Value::Double(number)) => *number != 0.0,
        Some(Value::Decimal128(bytes)) => {
            !matches!(Decimal::from_bytes(bytes), Decimal::Finite { coefficient: 0, .. })
        }
        Some(value) => !is_undefined(value),
    }
}

/// Says whether a value is what BSON calls undefined.
pub fn is_undefined(value: &Value) -> bool {
    matches!(value, Value::Legacy(legacy) if **legacy == Legacy::Undefined)
}

/// Says whether a value is missing or null (or what BSON calls undefined).
pub fn is_nullish(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(value) => is_undefined(value),
    }
}

/// Says whether a value is one of the four kinds of numbers.
pub fn is_number(value: &Value) -> bool {
    Kind::is_number(value.kind())
}
