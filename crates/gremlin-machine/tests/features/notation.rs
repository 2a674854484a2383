//! The notation of results and parameters: `v[marko].id`, `d[1].l`, `m[{"a":"b"}]` and their like to values.
//!
//! Elements are looked up in the graph by their `name`. A property of a vertex has no id here: it compares by key,
//! value and, where it is given, vertex.

use std::sync::Arc;

use armilla_gremlin_machine::graph::{Graph, Lookup, Pages};
use armilla_gremlin_machine::testing::MemoryGraph;
use armilla_gremlin_value::{Edge, Map, Path, Token, TokenKind, Value, Vertex, VertexProperty, date};

use crate::json::{self, Json};

/// Reads a value; elements are those of the graph.
pub(crate) fn value(text: &str, graph: &MemoryGraph) -> Result<Value, String> {
    let (tag, inner, suffix) = match taken_apart(text) {
        Some(parts) => parts,
        None => {
            return Ok(match text {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                _ => Value::text(text),
            });
        }
    };
    match tag {
        "d" => number(inner, suffix),
        "v" => Ok(id_or(Value::Vertex(vertex(inner, graph)?), suffix)),
        "e" => Ok(id_or(Value::Edge(edge(inner, graph)?), suffix)),
        "vp" => property(inner, graph),
        "l" => Ok(Value::List(Arc::new(values(inner, graph)?))),
        "s" => Ok(Value::Set(Arc::new(values(inner, graph)?))),
        "p" => {
            let objects = values(inner, graph)?;
            Ok(Value::Path(Arc::new(Path { labels: vec![Vec::new(); objects.len()], objects })))
        }
        "m" => of_json(&json::parse(inner)?, graph),
        "t" => token(TokenKind::T, inner),
        "D" => token(TokenKind::Direction, inner),
        "M" => token(TokenKind::Merge, inner),
        "str" => Ok(Value::text(inner)),
        "dt" => {
            let (milliseconds, offset_seconds) =
                date::from_text(inner).ok_or_else(|| format!("no date: {inner}"))?;
            Ok(Value::Date { milliseconds, offset_seconds })
        }
        "uuid" => {
            let digits: String = inner.chars().filter(|digit| *digit != '-').collect();
            u128::from_str_radix(&digits, 16).map(Value::Uuid).map_err(|_| format!("no UUID: {inner}"))
        }
        _ => Err(format!("notation not known: {text}")),
    }
}

/// Takes `tag[inner]suffix` apart; none if it is plain text.
fn taken_apart(text: &str) -> Option<(&str, &str, &str)> {
    let (tag, rest) = text.split_once('[')?;
    if !["d", "v", "e", "vp", "l", "s", "p", "m", "t", "D", "M", "str", "dt", "uuid", "c"].contains(&tag) {
        return None;
    }
    let (inner, suffix) = rest.rsplit_once(']')?;
    (suffix.is_empty() || suffix.starts_with('.')).then_some((tag, inner, suffix))
}

fn id_or(element: Value, suffix: &str) -> Value {
    match (&element, suffix) {
        (Value::Vertex(vertex), ".id" | ".sid") => vertex.id.clone(),
        (Value::Edge(edge), ".id" | ".sid") => edge.id.clone(),
        _ => element,
    }
}

fn number(text: &str, suffix: &str) -> Result<Value, String> {
    let wrong = || format!("no number: d[{text}]{suffix}");
    let real = || match text {
        "NaN" => Ok(f64::NAN),
        "Infinity" => Ok(f64::INFINITY),
        "-Infinity" => Ok(f64::NEG_INFINITY),
        _ => text.parse::<f64>().map_err(|_| wrong()),
    };
    Ok(match suffix {
        ".b" => Value::Byte(text.parse().map_err(|_| wrong())?),
        ".s" => Value::Int16(text.parse().map_err(|_| wrong())?),
        ".i" => Value::Int32(text.parse().map_err(|_| wrong())?),
        ".l" => Value::Int64(text.parse().map_err(|_| wrong())?),
        ".n" => Value::BigInteger(text.parse().map_err(|_| wrong())?),
        ".m" => Value::BigDecimal(text.into()),
        ".f" => Value::Float(real()? as f32),
        ".d" => Value::Double(real()?),
        "" => match text.parse() {
            Ok(value) => Value::Int32(value),
            Err(_) => Value::Double(real()?),
        },
        _ => return Err(wrong()),
    })
}

fn token(kind: TokenKind, word: &str) -> Result<Value, String> {
    let direction = word.to_uppercase();
    let word =
        if kind == TokenKind::Direction && !["from", "to"].contains(&word) { &direction } else { word };
    Token::find(kind, word).map(Value::Token).ok_or_else(|| format!("no word of {}: {word}", kind.name()))
}

/// Reads values between commas, of which those inside brackets do not count.
fn values(text: &str, graph: &MemoryGraph) -> Result<Vec<Value>, String> {
    let (mut depth, mut from, mut parts) = (0i32, 0, Vec::new());
    for (at, character) in text.char_indices() {
        match character {
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if !text.is_empty() {
        parts.push(&text[from..]);
    }
    parts.into_iter().map(|part| value(part.trim(), graph)).collect()
}

fn of_json(json: &Json, graph: &MemoryGraph) -> Result<Value, String> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(text) => match (text.parse(), text.parse(), text.parse()) {
            (Ok(value), _, _) => Value::Int32(value),
            (_, Ok(value), _) => Value::Int64(value),
            (_, _, Ok(value)) => Value::Double(value),
            _ => return Err(format!("no number: {text}")),
        },
        Json::Text(text) => value(text, graph)?,
        Json::List(items) => {
            let values: Result<Vec<Value>, String> = items.iter().map(|item| of_json(item, graph)).collect();
            Value::List(Arc::new(values?))
        }
        Json::Map(entries) => {
            let mut map = Map::default();
            for (key, item) in entries {
                map.entries.push((value(key, graph)?, of_json(item, graph)?));
            }
            Value::Map(Arc::new(map))
        }
    })
}

fn all<T>(mut pages: Box<dyn Pages<T> + '_>) -> Result<Vec<T>, String> {
    let mut found = Vec::new();
    while let Some(page) = pages.next_page().map_err(|error| error.message)? {
        found.extend(page);
    }
    Ok(found)
}

fn name_of(vertex: &Vertex) -> Option<&str> {
    vertex.values_of("name")?.first()?.value.as_str()
}

/// Finds a vertex by its name; of several the last.
fn vertex(name: &str, graph: &MemoryGraph) -> Result<Arc<Vertex>, String> {
    let vertices = all(graph.vertices(&Lookup::default()).map_err(|error| error.message)?)?;
    let found = vertices.iter().rev().find(|vertex| name_of(vertex) == Some(name));
    let by_id = || vertices.iter().find(|vertex| vertex.id.as_str() == Some(name));
    found.or_else(by_id).cloned().ok_or_else(|| format!("no vertex {name}"))
}

/// Finds an edge by `out-label->in`.
fn edge(text: &str, graph: &MemoryGraph) -> Result<Arc<Edge>, String> {
    let wrong = || format!("no edge {text}");
    let (left, into) = text.split_once("->").ok_or_else(wrong)?;
    let (out, label) = left.rsplit_once('-').ok_or_else(wrong)?;
    let (out, into) = (vertex(out, graph)?, vertex(into, graph)?);
    let edges = all(graph.edges(&Lookup::default()).map_err(|error| error.message)?)?;
    let found = edges.into_iter().find(|edge| {
        edge.label.as_ref() == label && edge.out_id.equals(&out.id) && edge.in_id.equals(&into.id)
    });
    found.ok_or_else(wrong)
}

/// Reads `vertex-key->value` or `key->value`.
fn property(text: &str, graph: &MemoryGraph) -> Result<Value, String> {
    let (left, inner) = text.split_once("->").ok_or_else(|| format!("no property {text}"))?;
    let (of, key) = match left.rsplit_once('-') {
        Some((of, key)) => (Some(vertex(of, graph)?), key),
        None => (None, left),
    };
    let value = value(inner, graph)?;
    let property =
        VertexProperty { id: Value::Null, key: key.into(), value, properties: Vec::new(), vertex: of };
    Ok(Value::VertexProperty(Arc::new(property)))
}
