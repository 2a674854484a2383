//! Graphs as pictures: items in the form of the Gremlin API, written in the language of Graphviz.
//!
//! A vertex is named by its partition key and its id, as edges name the vertices that they join: an id alone may be
//! there in several logical partitions. Items that are neither become vertices without a label, as traversals see them.
//! Edges may come before the vertices that they join; Graphviz does not mind.

use anyhow::{Result, anyhow};
use armilla_value::{Object, PropertyPath, Value, json};

/// What stands before the items.
pub(crate) const BEGIN: &[u8] = b"digraph graph_of_items {\n";

/// What stands behind them.
pub(crate) const END: &[u8] = b"}\n";

/// Returns a statement for each line of items, whose partition keys are found at paths.
pub(crate) fn statements(lines: &[u8], key: &[PropertyPath]) -> Result<Vec<u8>> {
    let mut text = Vec::with_capacity(lines.len() / 4);
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let item =
            json::parse(line).map_err(|error| anyhow!("the server sent an item that is none: {error}"))?;
        let Value::Object(item) = item else {
            return Err(anyhow!("a picture needs whole items: let the query begin with SELECT *"));
        };
        statement(&item, key, &mut text)?;
    }
    Ok(text)
}

fn statement(item: &Object, key: &[PropertyPath], text: &mut Vec<u8>) -> Result<()> {
    let missing = || anyhow!("a picture needs whole items with their ids: let the query begin with SELECT *");
    let id = item.get("id").and_then(Value::as_str).ok_or_else(missing)?;
    // The key of a vertex, and of an edge that of the vertex which it leaves.
    let partition = key.first().and_then(|path| found(path, item));
    text.extend_from_slice(b"  ");
    if item.get("_isEdge") == Some(&Value::Bool(true)) {
        write_name(partition, item.get("_vertexId"), text);
        text.extend_from_slice(b" -> ");
        write_name(item.get("_sinkPartition").or(partition), item.get("_sink"), text);
        text.extend_from_slice(b" [label=");
        write_text(item.get("label").and_then(Value::as_str).unwrap_or("edge"), text);
    } else {
        write_name(partition, item.get("id"), text);
        text.extend_from_slice(b" [label=");
        match item.get("label").and_then(Value::as_str) {
            Some(label) => write_text(&format!("{label}\n{id}"), text),
            None => write_text(id, text),
        }
    }
    text.extend_from_slice(b"];\n");
    Ok(())
}

/// Returns what an item has at a path.
fn found<'i>(path: &PropertyPath, item: &'i Object) -> Option<&'i Value> {
    let (first, rest) = path.names().split_first()?;
    rest.iter().try_fold(item.get(first)?, |value, name| match value {
        Value::Object(members) => members.get(name),
        _ => None,
    })
}

/// Writes the name of a vertex, which is the JSON of its partition key and its id.
fn write_name(partition: Option<&Value>, id: Option<&Value>, text: &mut Vec<u8>) {
    let name = Value::Array([partition, id].into_iter().flatten().cloned().collect());
    write_text(&json::to_string(&name), text);
}

/// Writes a text in quotes: Graphviz reads `\"`, `\\` and `\n` as one expects.
fn write_text(value: &str, text: &mut Vec<u8>) {
    text.push(b'"');
    for letter in value.chars() {
        match letter {
            '"' => text.extend_from_slice(b"\\\""),
            '\\' => text.extend_from_slice(b"\\\\"),
            '\n' => text.extend_from_slice(b"\\n"),
            // It has no other escapes; what cannot be drawn would only break its reader.
            letter if letter.is_control() => text.push(b' '),
            letter => text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(lines: &str) -> Result<String> {
        let key = [PropertyPath::parse("/pk").unwrap()];
        Ok(String::from_utf8(statements(lines.as_bytes(), &key)?).unwrap())
    }

    #[test]
    fn vertices_and_edges() {
        let cases = [
            (r#"{"id":"a","label":"person","pk":"p"}"#, r#"  "[\"p\",\"a\"]" [label="person\na"];"#),
            (r#"{"id":"a","pk":1}"#, r#"  "[1,\"a\"]" [label="a"];"#),
            (
                r#"{"id":"e","label":"knows","pk":"p","_isEdge":true,"_vertexId":"a","_sink":"b","_sinkPartition":"q"}"#,
                r#"  "[\"p\",\"a\"]" -> "[\"q\",\"b\"]" [label="knows"];"#,
            ),
            (
                "{\"id\":\"q\\\"\\\\\\u0007\",\"pk\":null}",
                r#"  "[null,\"q\\\"\\\\\\u0007\"]" [label="q\"\\ "];"#,
            ),
        ];
        for (line, expected) in cases {
            assert_eq!(drawn(line).unwrap(), format!("{expected}\n"), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_drawn() {
        for line in ["7", r#"{"n":1}"#, r#"{"id":1}"#, "{"] {
            assert!(drawn(line).is_err(), "{line}");
        }
    }
}
