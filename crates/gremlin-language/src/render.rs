//! Traversals as text, in one canonical form: what profiles and logs show, and what [`crate::parse`] reads back.
//!
//! Values that scripts have no literal for (an edge, a path, a duration) are written so that they can be recognised;
//! such text is not read back.

use std::fmt::Write;

use armilla_gremlin_value::{Bytecode, Instruction, Map, Predicate, PredicateKind, TokenKind, Value};

use crate::arguments::CARDINALITY_VALUE;
use crate::{dates, names};

/// Writes a traversal of the source.
pub fn render(bytecode: &Bytecode) -> String {
    let mut text = String::with_capacity(64);
    rooted(&mut text, bytecode);
    text
}

/// Writes a value as an argument has it.
pub fn render_value(value: &Value) -> String {
    let mut text = String::new();
    argument(&mut text, value);
    text
}

fn rooted(text: &mut String, bytecode: &Bytecode) {
    text.push('g');
    for instruction in bytecode.sources.iter().chain(&bytecode.steps) {
        text.push('.');
        call(text, instruction);
    }
}

fn nested(text: &mut String, bytecode: &Bytecode) {
    match (bytecode.sources.as_slice(), bytecode.steps.as_slice()) {
        ([source], []) if *source.name == *CARDINALITY_VALUE => cardinality(text, source),
        ([], []) => text.push_str("__.identity()"),
        ([], steps) if !steps.last().is_some_and(is_end) => {
            text.push_str("__");
            for step in steps {
                text.push('.');
                call(text, step);
            }
        }
        _ => rooted(text, bytecode),
    }
}

/// Returns whether only a traversal of the source has this method.
fn is_end(instruction: &Instruction) -> bool {
    let method = crate::methods::find(&instruction.name);
    method.is_some_and(|(method, _)| method.roles & crate::methods::STEP == 0)
}

fn cardinality(text: &mut String, source: &Instruction) {
    match source.arguments.as_slice() {
        [Value::Token(token), value] if token.kind == TokenKind::Cardinality => {
            let _ = write!(text, "Cardinality.{}(", token.word);
            argument(text, value);
            text.push(')');
        }
        _ => call(text, source),
    }
}

fn call(text: &mut String, instruction: &Instruction) {
    text.push_str(&instruction.name);
    text.push('(');
    list(text, &instruction.arguments);
    text.push(')');
}

fn list(text: &mut String, values: &[Value]) {
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        argument(text, value);
    }
}

fn argument(text: &mut String, value: &Value) {
    // Writing to a String does not fail.
    let _ = match value {
        Value::Null => write!(text, "null"),
        Value::Bool(truth) => write!(text, "{truth}"),
        Value::Byte(number) => write!(text, "{number}b"),
        Value::Int16(number) => write!(text, "{number}s"),
        Value::Int32(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}L"),
        Value::BigInteger(number) => write!(text, "{number}n"),
        Value::Float(number) if number.is_finite() => write!(text, "{number:?}f"),
        Value::Float(number) => write!(text, "{}", not_finite(f64::from(*number))),
        Value::Double(number) if number.is_finite() => write!(text, "{number:?}"),
        Value::Double(number) => write!(text, "{}", not_finite(*number)),
        Value::BigDecimal(number) => write!(text, "{number}m"),
        Value::Char(character) => return quoted(text, character.encode_utf8(&mut [0; 4])),
        Value::String(string) => return quoted(text, string),
        Value::Uuid(bits) => write!(text, "UUID('{}')", dates::uuid_text(*bits)),
        Value::Date { milliseconds, offset_seconds } => {
            write!(text, "datetime('{}')", dates::date_text(*milliseconds, *offset_seconds))
        }
        Value::Duration(nanoseconds) => write!(text, "Duration({nanoseconds})"),
        Value::Bytes(bytes) => write!(text, "Bytes({})", bytes.len()),
        Value::List(values) => return bracketed(text, '[', values, ']'),
        Value::Set(values) => return bracketed(text, '{', values, '}'),
        Value::BulkSet(values) => write!(text, "BulkSet({})", values.len()),
        Value::Map(entries) => return map(text, entries),
        Value::Entry(entry) => {
            let (key, value) = &**entry;
            return map(text, &Map { entries: vec![(key.clone(), value.clone())] });
        }
        Value::Vertex(vertex) => {
            text.push_str("new ReferenceVertex(");
            argument(text, &vertex.id);
            text.push(',');
            quoted(text, &vertex.label);
            write!(text, ")")
        }
        Value::Edge(edge) => return element(text, "ReferenceEdge", &edge.id),
        Value::VertexProperty(property) => return element(text, "ReferenceVertexProperty", &property.id),
        Value::Property(property) => {
            text.push_str("ReferenceProperty(");
            quoted(text, &property.key);
            text.push(',');
            argument(text, &property.value);
            write!(text, ")")
        }
        Value::Path(path) => write!(text, "Path({})", path.objects.len()),
        Value::Tree(tree) => write!(text, "Tree({})", tree.branches.len()),
        Value::Token(token) => write!(text, "{}.{}", token.kind.name(), token.word),
        Value::Predicate(joined) => return predicate(text, joined),
        Value::Traversal(bytecode) => return nested(text, bytecode),
        Value::Strategy { name, configuration } if configuration.is_empty() => write!(text, "{name}"),
        Value::Strategy { name, configuration } => {
            let _ = write!(text, "new {name}(");
            for (index, (key, value)) in configuration.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                match is_word(key) {
                    true => text.push_str(key),
                    false => quoted(text, key),
                }
                text.push(':');
                argument(text, value);
            }
            write!(text, ")")
        }
        _ => write!(text, "Object()"),
    };
}

fn not_finite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

fn element(text: &mut String, class: &str, id: &Value) {
    text.push_str(class);
    text.push('(');
    argument(text, id);
    text.push(')');
}

fn bracketed(text: &mut String, open: char, values: &[Value], close: char) {
    text.push(open);
    list(text, values);
    text.push(close);
}

fn map(text: &mut String, map: &Map) {
    if map.entries.is_empty() {
        text.push_str("[:]");
        return;
    }
    text.push('[');
    for (index, (key, value)) in map.entries.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        match key {
            Value::String(key) => quoted(text, key),
            _ => {
                text.push('(');
                argument(text, key);
                text.push(')');
            }
        }
        text.push(':');
        argument(text, value);
    }
    text.push(']');
}

fn predicate(text: &mut String, predicate: &Predicate) {
    let name = names::predicate_text(predicate.kind);
    match (predicate.kind, predicate.values.as_slice()) {
        (PredicateKind::And | PredicateKind::Or, [first, rest @ ..]) => {
            argument(text, first);
            for next in rest {
                let _ = write!(text, ".{name}(");
                argument(text, next);
                text.push(')');
            }
        }
        // Values that are one collection: without brackets the collection would be the values.
        (PredicateKind::Within | PredicateKind::Without, [Value::List(_) | Value::Set(_)]) => {
            text.push_str(name);
            text.push_str("([");
            list(text, &predicate.values);
            text.push_str("])");
        }
        _ => {
            text.push_str(name);
            text.push('(');
            list(text, &predicate.values);
            text.push(')');
        }
    }
}

fn is_word(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn quoted(text: &mut String, string: &str) {
    text.push('\'');
    for character in string.chars() {
        let _ = match character {
            '\'' => write!(text, "\\'"),
            '\\' => write!(text, "\\\\"),
            '\n' => write!(text, "\\n"),
            '\r' => write!(text, "\\r"),
            '\t' => write!(text, "\\t"),
            '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}' => write!(text, "\\u{:04X}", u32::from(character)),
            _ => {
                text.push(character);
                Ok(())
            }
        };
    }
    text.push('\'');
}
