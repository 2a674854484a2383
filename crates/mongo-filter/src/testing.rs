//! Values for tests, written briefly: names without quotes, single quotes, and words for what JSON lacks.

use armilla_value::{Object, Value};

/// Reads a value. `NaN`, `Inf`, `MinKey`, `MaxKey`, `undefined` are themselves; `i5` is a narrow integer, `d1.5` a decimal.
pub(crate) fn value(text: &str) -> Value {
    let relaxed = relax(text);
    armilla_value::json::parse_extended(relaxed.as_bytes())
        .unwrap_or_else(|error| panic!("{relaxed}: {error:?}"))
}

/// Reads an object.
pub(crate) fn object(text: &str) -> Object {
    match value(text) {
        Value::Object(object) => object,
        other => panic!("{other:?} is no object"),
    }
}

/// Writes a value as Extended JSON, for comparing.
pub(crate) fn text(value: impl Into<Value>) -> String {
    armilla_value::json::to_string(&value.into())
}

fn relax(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '\'' || first == '"' {
            let end = rest[1..].find(first).expect("a quote ends") + 1;
            out.push('"');
            out.push_str(&rest[1..end].replace('\\', "\\\\").replace('\n', "\\n"));
            out.push('"');
            rest = &rest[end + 1..];
        } else if first.is_alphabetic() || first == '_' || first == '$' {
            let end = rest
                .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '-' | '+')))
                .unwrap_or(rest.len());
            let word = &rest[..end];
            rest = &rest[end..];
            let is_name = rest.trim_start().starts_with(':');
            let is_number = word[1..].starts_with(|c: char| c.is_ascii_digit() || c == '-');
            match word {
                _ if is_name => out.push_str(&format!("\"{word}\"")),
                "NaN" => out.push_str("{\"$numberDouble\":\"NaN\"}"),
                "Inf" => out.push_str("{\"$numberDouble\":\"Infinity\"}"),
                "MinKey" => out.push_str("{\"$minKey\":1}"),
                "MaxKey" => out.push_str("{\"$maxKey\":1}"),
                "undefined" => out.push_str("{\"$undefined\":true}"),
                _ if is_number && first == 'i' => {
                    out.push_str(&format!("{{\"$numberInt\":\"{}\"}}", &word[1..]))
                }
                _ if is_number && first == 'd' => {
                    out.push_str(&format!("{{\"$numberDecimal\":\"{}\"}}", &word[1..]))
                }
                other => out.push_str(other),
            }
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}
