//! Kinds of arguments: whether values fit a signature, and what they are called in messages.

use armilla_gremlin_value::{TokenKind, Value};

/// Returns whether arguments fit one of several signatures.
pub(crate) fn fits(signatures: &str, arguments: &[Value]) -> bool {
    signatures.split(' ').any(|signature| fits_one(signature.as_bytes(), arguments))
}

fn fits_one(signature: &[u8], arguments: &[Value]) -> bool {
    let mut letters = signature.iter().copied().filter(|letter| *letter != b'-').peekable();
    let mut arguments = arguments.iter();
    while let Some(letter) = letters.next() {
        if letters.next_if_eq(&b'*').is_some() {
            // Only the last letter is repeated.
            return arguments.all(|argument| is(letter, argument));
        }
        match arguments.next() {
            Some(argument) if is(letter, argument) => {}
            _ => return false,
        }
    }
    arguments.next().is_none()
}

/// Returns whether a letter of a signature is known.
#[cfg(test)]
pub(crate) fn is_letter(letter: u8) -> bool {
    b"alsSinbmMptdgOTCoPDcrBeyG".contains(&letter)
}

/// Returns whether a value is of the kind a letter stands for.
fn is(letter: u8, value: &Value) -> bool {
    match letter {
        b'a' => !matches!(value, Value::Strategy { .. }),
        // A value that the service keeps in a property.
        b'l' => !matches!(value, Value::Traversal(_) | Value::Map(_) | Value::Predicate(_) | Value::Null),
        b's' => matches!(value, Value::String(_) | Value::Null),
        b'S' => matches!(value, Value::String(_)),
        b'i' => is_integer(value),
        b'n' => {
            is_integer(value) || matches!(value, Value::Float(_) | Value::Double(_) | Value::BigDecimal(_))
        }
        b'b' => matches!(value, Value::Bool(_)),
        b'm' => matches!(value, Value::Map(_) | Value::Null),
        b'M' => matches!(value, Value::Map(_)),
        b'p' => matches!(value, Value::Predicate(_)),
        b't' => matches!(value, Value::Traversal(_)),
        b'd' => matches!(value, Value::Date { .. } | Value::Null),
        b'g' => matches!(value, Value::Strategy { .. }),
        b'O' => is_token(value, TokenKind::Order),
        b'T' => is_token(value, TokenKind::T),
        b'C' => is_token(value, TokenKind::Column),
        b'o' => is_token(value, TokenKind::Scope),
        b'P' => is_token(value, TokenKind::Pop),
        b'D' => is_token(value, TokenKind::Direction),
        b'c' => is_token(value, TokenKind::Cardinality),
        b'r' => is_token(value, TokenKind::Operator),
        b'B' => is_token(value, TokenKind::Barrier),
        b'e' => is_token(value, TokenKind::Merge),
        b'y' => is_token(value, TokenKind::Dt),
        b'G' => is_token(value, TokenKind::GType),
        _ => false,
    }
}

fn is_integer(value: &Value) -> bool {
    matches!(
        value,
        Value::Byte(_) | Value::Int16(_) | Value::Int32(_) | Value::Int64(_) | Value::BigInteger(_)
    )
}

fn is_token(value: &Value, kind: TokenKind) -> bool {
    matches!(value, Value::Token(token) if token.kind == kind)
}

/// Writes the names of the kinds of arguments, as `(Scope,String)`.
pub(crate) fn names(arguments: &[Value]) -> String {
    let names: Vec<&str> = arguments.iter().map(name).collect();
    format!("({})", names.join(","))
}

fn name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "Boolean",
        Value::Byte(_) => "SByte",
        Value::Int16(_) => "Int16",
        Value::Int32(_) => "Int32",
        Value::Int64(_) => "Int64",
        Value::BigInteger(_) => "BigInteger",
        Value::Float(_) => "Single",
        Value::Double(_) => "Double",
        Value::BigDecimal(_) => "Decimal",
        Value::Char(_) => "Char",
        Value::String(_) => "String",
        Value::Uuid(_) => "Guid",
        Value::Date { .. } => "DateTime",
        Value::Duration(_) => "TimeSpan",
        Value::Bytes(_) => "Byte[]",
        Value::List(_) => "List",
        Value::Set(_) | Value::BulkSet(_) => "Set",
        Value::Map(_) => "Map",
        Value::Entry(_) => "Entry",
        Value::Vertex(_) => "Vertex",
        Value::Edge(_) => "Edge",
        Value::VertexProperty(_) => "VertexProperty",
        Value::Property(_) => "Property",
        Value::Path(_) => "Path",
        Value::Tree(_) => "Tree",
        Value::Token(token) => token.kind.name(),
        Value::Predicate(_) => "P",
        Value::Traversal(_) => "GraphTraversal",
        Value::Strategy { .. } => "TraversalStrategy",
        _ => "Object",
    }
}
