//! Values of properties as they are stored, and back.
//!
//! Strings, numbers and booleans are stored as JSON has them. Of numbers the narrowest integer is read back: an item does
//! not say which it was. Dates are stored as milliseconds, UUIDs as text.

use std::sync::Arc;

use armilla_gremlin_value::Value;
use armilla_value::Kind;
use armilla_value::Value as Stored;
use armilla_value::stored::Node;

/// Returns the value that a property is stored with; none for what no property can be.
pub(crate) fn to_stored(value: &Value) -> Option<Stored> {
    Some(match value {
        Value::Bool(truth) => Stored::Bool(*truth),
        Value::Byte(number) => Stored::Int64(i64::from(*number)),
        Value::Int16(number) => Stored::Int64(i64::from(*number)),
        Value::Int32(number) => Stored::Int64(i64::from(*number)),
        Value::Int64(number) => Stored::Int64(*number),
        Value::BigInteger(number) => match i64::try_from(*number) {
            Ok(number) => Stored::Int64(number),
            Err(_) => Stored::Double(*number as f64),
        },
        // What was written as 0.1 is to be read as 0.1.
        Value::Float(number) => finite(number.to_string().parse().unwrap_or(f64::from(*number)))?,
        Value::Double(number) => finite(*number)?,
        Value::BigDecimal(text) => finite(text.parse().ok()?)?,
        Value::Char(character) => Stored::String(character.to_string()),
        Value::String(text) => Stored::String(text.to_string()),
        Value::Uuid(bits) => Stored::String(uuid_text(*bits)),
        Value::Date { milliseconds, .. } => Stored::Int64(*milliseconds),
        _ => return None,
    })
}

fn finite(number: f64) -> Option<Stored> {
    number.is_finite().then_some(Stored::Double(number))
}

/// Returns the value of a stored scalar; none for what is no value of a property.
pub(crate) fn of_node(node: &Node<'_>) -> Option<Value> {
    Some(match node.kind() {
        Kind::Bool => Value::Bool(node.as_bool()?),
        Kind::Int32 | Kind::Int64 => integer(node.as_i64()?),
        Kind::Double => Value::Double(node.as_f64()?),
        Kind::String => Value::String(Arc::from(&*node.as_str()?)),
        _ => return of_extended(&node.to_value()),
    })
}

/// Returns the value of a scalar; none for what is no value of a property.
pub(crate) fn of_stored(value: &Stored) -> Option<Value> {
    Some(match value {
        Stored::Bool(truth) => Value::Bool(*truth),
        Stored::Int32(number) => Value::Int32(*number),
        Stored::Int64(number) => integer(*number),
        Stored::Double(number) => Value::Double(*number),
        Stored::String(text) => Value::String(text.as_str().into()),
        other => return of_extended(other),
    })
}

/// Types that JSON lacks: the MongoDB API writes them.
fn of_extended(value: &Stored) -> Option<Value> {
    match value {
        Stored::Date(milliseconds) => Some(Value::Date { milliseconds: *milliseconds, offset_seconds: 0 }),
        _ => None,
    }
}

fn integer(number: i64) -> Value {
    i32::try_from(number).map_or(Value::Int64(number), Value::Int32)
}

/// Returns the text of an id as a script gives it: numbers and text alike. None for what no element can be called.
pub(crate) fn id_text(id: &Value) -> Option<Arc<str>> {
    Some(match id {
        Value::String(text) => text.clone(),
        Value::Byte(number) => number.to_string().into(),
        Value::Int16(number) => number.to_string().into(),
        Value::Int32(number) => number.to_string().into(),
        Value::Int64(number) => number.to_string().into(),
        Value::BigInteger(number) => number.to_string().into(),
        Value::Float(number) => number.to_string().into(),
        Value::Double(number) => number.to_string().into(),
        Value::BigDecimal(text) => text.clone(),
        Value::Bool(truth) => truth.to_string().into(),
        Value::Char(character) => character.to_string().into(),
        Value::Uuid(bits) => uuid_text(*bits).into(),
        Value::Vertex(vertex) => return id_text(&vertex.id),
        Value::Edge(edge) => return id_text(&edge.id),
        Value::VertexProperty(property) => return id_text(&property.id),
        _ => return None,
    })
}

/// Returns the text of a UUID.
pub(crate) fn uuid_text(bits: u128) -> String {
    let hex = format!("{bits:032x}");
    let part = |range| hex.get(range).unwrap_or_default();
    [part(0..8), part(8..12), part(12..16), part(16..20), part(20..32)].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_back() {
        let table = [
            (Value::Bool(true), "Bool(true)"),
            (Value::Byte(1), "Int32(1)"),
            (Value::Int64(1), "Int32(1)"),
            (Value::Int64(1 << 40), "Int64(1099511627776)"),
            (Value::Float(0.1), "Double(0.1)"),
            (Value::Double(2.0), "Double(2.0)"),
            (Value::BigInteger(7), "Int32(7)"),
            (Value::BigDecimal("1.5".into()), "Double(1.5)"),
            (Value::Char('x'), "String(\"x\")"),
            (Value::Date { milliseconds: 5, offset_seconds: 3600 }, "Int32(5)"),
            (Value::Uuid(1), "String(\"00000000-0000-0000-0000-000000000001\")"),
        ];
        for (value, expected) in table {
            let stored = to_stored(&value).unwrap();
            assert_eq!(format!("{:?}", of_stored(&stored).unwrap()), expected, "{value:?}");
        }
        for value in [Value::Null, Value::Double(f64::NAN), Value::List(Arc::default())] {
            assert!(to_stored(&value).is_none(), "{value:?}");
        }
    }

    #[test]
    fn ids_are_texts() {
        let table = [(Value::Int32(1), "1"), (Value::String("a".into()), "a"), (Value::Double(1.5), "1.5")];
        for (id, text) in table {
            assert_eq!(id_text(&id).as_deref(), Some(text));
        }
        assert!(id_text(&Value::Null).is_none());
    }
}
