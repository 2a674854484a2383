//! Values as texts, as `asString()` and `concat()` have them, and ids as texts.

use std::fmt::{self, Display, Formatter, Write};
use std::sync::Arc;

use crate::{Map, Tree, Value};

/// Longest text of what is looked for as an id.
const ID_TEXT_LEN_MAX: usize = 64 << 10;

impl Value {
    /// Makes a text.
    pub fn text(text: impl Into<Arc<str>>) -> Value {
        Value::String(text.into())
    }

    /// Returns the text it is.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns an id as text: ids compare as texts. Of an element its id.
    pub fn as_id_text(&self) -> Value {
        match self {
            Value::String(_) => self.clone(),
            Value::Vertex(vertex) => vertex.id.as_id_text(),
            Value::Edge(edge) => edge.id.as_id_text(),
            Value::VertexProperty(property) => property.id.as_id_text(),
            // What is longer than any id is none, however it goes on.
            value => Value::String(value.to_text(ID_TEXT_LEN_MAX).unwrap_or_else(|cut| cut).into()),
        }
    }

    /// Writes it as a text of at most so many bytes; what it begins with is the error if it is longer.
    pub fn to_text(&self, len_max: usize) -> Result<String, String> {
        let mut text = Bounded { text: String::new(), len_max };
        match write!(text, "{self}") {
            Ok(()) => Ok(text.text),
            Err(_) => Err(text.text),
        }
    }
}

/// A text that takes no more than its bound, and then fails.
struct Bounded {
    text: String,
    len_max: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = self.len_max - self.text.len();
        if part.len() <= room {
            self.text.push_str(part);
            return Ok(());
        }
        self.text.push_str(part.get(..part.floor_char_boundary(room)).unwrap_or(""));
        Err(fmt::Error)
    }
}

impl Display for Value {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => out.write_str("null"),
            Value::Bool(value) => write!(out, "{value}"),
            Value::Byte(value) => write!(out, "{value}"),
            Value::Int16(value) => write!(out, "{value}"),
            Value::Int32(value) => write!(out, "{value}"),
            Value::Int64(value) => write!(out, "{value}"),
            Value::BigInteger(value) => write!(out, "{value}"),
            Value::Float(value) => real(out, f64::from(*value), &value.to_string(), &format!("{value:E}")),
            Value::Double(value) => real(out, *value, &value.to_string(), &format!("{value:E}")),
            Value::BigDecimal(text) | Value::String(text) => out.write_str(text),
            Value::Char(value) => write!(out, "{value}"),
            Value::Uuid(bits) => uuid(out, *bits),
            Value::Date { milliseconds, offset_seconds } => {
                out.write_str(&crate::date::to_text(*milliseconds, *offset_seconds))
            }
            Value::Duration(nanoseconds) => duration(out, *nanoseconds),
            Value::Bytes(bytes) => bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}")),
            Value::List(values) | Value::Set(values) => joined(out, values.iter()),
            Value::BulkSet(values) => joined(
                out,
                values.iter().flat_map(|(value, bulk)| {
                    std::iter::repeat_n(value, usize::try_from(*bulk).unwrap_or(0))
                }),
            ),
            Value::Map(map) | Value::Metrics(map) => write_map(out, map),
            Value::Entry(entry) => write!(out, "{}={}", entry.0, entry.1),
            Value::Vertex(vertex) => write!(out, "v[{}]", vertex.id),
            Value::Edge(edge) => {
                write!(out, "e[{}][{}-{}->{}]", edge.id, edge.out_id, edge.label, edge.in_id)
            }
            Value::VertexProperty(property) => write!(out, "vp[{}->{}]", property.key, property.value),
            Value::Property(property) => write!(out, "p[{}->{}]", property.key, property.value),
            Value::Path(path) => {
                out.write_str("path")?;
                joined(out, path.objects.iter())
            }
            Value::Tree(tree) => write_tree(out, tree),
            Value::Token(token) => out.write_str(token.word),
            Value::Predicate(predicate) => write!(out, "{:?}", predicate.kind),
            Value::Traversal(_) => out.write_str("traversal"),
            Value::Strategy { name, .. } => out.write_str(name),
        }
    }
}

/// Writes a floating number with a point, and with an exponent where it is very large or very small.
fn real(out: &mut Formatter<'_>, value: f64, plain: &str, scientific: &str) -> fmt::Result {
    if value.is_nan() {
        return out.write_str("NaN");
    }
    if value.is_infinite() {
        return out.write_str(if value > 0.0 { "Infinity" } else { "-Infinity" });
    }
    if value != 0.0 && !(1e-3..1e7).contains(&value.abs()) {
        let (mantissa, exponent) = scientific.split_once('E').unwrap_or((scientific, "0"));
        let point = if mantissa.contains('.') { "" } else { ".0" };
        return write!(out, "{mantissa}{point}E{exponent}");
    }
    out.write_str(plain)?;
    if plain.contains('.') { Ok(()) } else { out.write_str(".0") }
}

fn uuid(out: &mut Formatter<'_>, bits: u128) -> fmt::Result {
    let text = format!("{bits:032x}");
    for (at, digit) in text.chars().enumerate() {
        if matches!(at, 8 | 12 | 16 | 20) {
            out.write_str("-")?;
        }
        write!(out, "{digit}")?;
    }
    Ok(())
}

fn duration(out: &mut Formatter<'_>, nanoseconds: i128) -> fmt::Result {
    let (seconds, rest) = (nanoseconds / 1_000_000_000, (nanoseconds % 1_000_000_000).unsigned_abs());
    if rest == 0 {
        return write!(out, "PT{seconds}S");
    }
    let rest = format!("{rest:09}");
    write!(out, "PT{seconds}.{}S", rest.trim_end_matches('0'))
}

fn joined<'a>(out: &mut Formatter<'_>, values: impl Iterator<Item = &'a Value>) -> fmt::Result {
    out.write_str("[")?;
    for (at, value) in values.enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{value}")?;
    }
    out.write_str("]")
}

fn write_map(out: &mut Formatter<'_>, map: &Map) -> fmt::Result {
    out.write_str("{")?;
    for (at, (key, value)) in map.entries.iter().enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{key}={value}")?;
    }
    out.write_str("}")
}

fn write_tree(out: &mut Formatter<'_>, tree: &Tree) -> fmt::Result {
    out.write_str("{")?;
    for (at, branch) in tree.branches.iter().enumerate() {
        if at > 0 {
            out.write_str(", ")?;
        }
        write!(out, "{}=", branch.key)?;
        write_tree(out, &branch.below)?;
    }
    out.write_str("}")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::Value;

    #[test]
    fn texts_end_at_their_bound() {
        let many = Value::BulkSet(Arc::new(vec![(Value::text("é"), 1 << 62)]));
        let cases = [
            (Value::text("four"), 4, Ok("four")),
            (Value::text("four"), 3, Err("fou")),
            (Value::text("é"), 1, Err("")),
            (Value::Int64(12345), 5, Ok("12345")),
            (many.clone(), 8, Err("[é, é,")),
        ];
        for (value, len_max, expected) in cases {
            let text = value.to_text(len_max);
            assert_eq!(text.as_deref().map_err(String::as_str), expected);
        }
        assert!(matches!(many.as_id_text(), Value::String(text) if text.len() <= super::ID_TEXT_LEN_MAX));
    }
}
