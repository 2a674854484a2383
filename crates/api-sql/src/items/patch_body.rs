//! The body of a PATCH: operations on one item, and what must hold of it before they are applied.

use armilla_engine::{Operation, Patch, Pointer};
use armilla_value::{Object, Value, json};

use crate::limits::QUERY_TEXT_BYTES_MAX;
use crate::reply::failure::Failure;

/// A patch as the client wrote it.
#[derive(Debug)]
pub(crate) struct PatchBody {
    /// What to change.
    pub(crate) patch: Patch,
    /// What must hold of the item: `FROM c WHERE ...`.
    pub(crate) condition: Option<String>,
}

/// Reads the body of a PATCH: an object with `operations`, or the array of operations itself.
pub(crate) fn parse(body: &[u8]) -> Result<PatchBody, Failure> {
    let parsed = json::parse(body)
        .map_err(|error| Failure::bad_request(format!("the patch is not valid JSON: {error}")))?;
    let (operations, condition) = match &parsed {
        Value::Array(operations) => (operations.as_slice(), None),
        Value::Object(patch) => {
            let operations = patch
                .get("operations")
                .and_then(Value::as_array)
                .ok_or_else(|| Failure::bad_request("the patch has no array 'operations'"))?;
            (operations, condition(patch)?)
        }
        _ => return Err(Failure::bad_request("the patch is neither an object nor an array")),
    };
    let operations = operations.iter().enumerate().map(operation).collect::<Result<Vec<_>, _>>()?;
    let patch = Patch::new(operations, body.len()).map_err(armilla_engine::Error::from)?.from_text();
    Ok(PatchBody { patch, condition })
}

fn condition(patch: &Object) -> Result<Option<String>, Failure> {
    match patch.get("condition") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() > QUERY_TEXT_BYTES_MAX => Err(Failure::bad_request(format!(
            "the condition of the patch is longer than {QUERY_TEXT_BYTES_MAX} bytes"
        ))),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Failure::bad_request("the condition of the patch is no text")),
    }
}

fn operation((index, operation): (usize, &Value)) -> Result<Operation, Failure> {
    let invalid = |why: &str| Failure::bad_request(format!("operation {index} of the patch {why}"));
    let members = operation.as_object().ok_or_else(|| invalid("is not an object"))?;
    let kind = text(members, "op").ok_or_else(|| invalid("has no text 'op'"))?;
    let pointer = |name: &str| {
        let path = text(members, name).ok_or_else(|| invalid(&format!("has no text '{name}'")))?;
        Pointer::parse(path).map_err(|error| Failure::from(armilla_engine::Error::from(error)))
    };
    let value = || members.get("value").cloned().ok_or_else(|| invalid("has no 'value'"));
    let path = pointer("path")?;
    match kind {
        "add" => Ok(Operation::Add { path, value: value()? }),
        "set" => Ok(Operation::Set { path, value: value()? }),
        "replace" => Ok(Operation::Replace { path, value: value()? }),
        "remove" => Ok(Operation::Remove { path }),
        "incr" | "increment" => Ok(Operation::Increment { path, by: value()? }),
        "move" => Ok(Operation::Move { from: pointer("from")?, path }),
        _ => Err(invalid(&format!("has the unknown 'op' '{kind}'"))),
    }
}

fn text<'o>(members: &'o Object, name: &str) -> Option<&'o str> {
    members.get(name).and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::limits::QUERY_TEXT_BYTES_MAX;

    #[track_caller]
    fn status(body: &str) -> Option<u16> {
        parse(body.as_bytes()).err().map(|failure| failure.status.http.as_u16())
    }

    #[test]
    fn every_operation_is_read() {
        for operation in [
            r#"{"op":"add","path":"/a/b","value":1}"#,
            r#"{"op":"add","path":"/a/-","value":null}"#,
            r#"{"op":"set","path":"/k","value":{}}"#,
            r#"{"op":"replace","path":"/arr/0","value":2}"#,
            r#"{"op":"remove","path":"/z"}"#,
            r#"{"op":"incr","path":"/n","value":-2}"#,
            r#"{"op":"increment","path":"/n","value":0.5}"#,
            r#"{"op":"move","from":"/p","path":"/q"}"#,
        ] {
            assert_eq!(status(&format!(r#"{{"operations":[{operation}]}}"#)), None, "{operation}");
            assert_eq!(status(&format!("[{operation}]")), None, "{operation}");
        }
    }

    #[test]
    fn what_is_no_patch_is_refused() {
        for body in [
            "",
            "{",
            "5",
            "{}",
            r#"{"operations":{}}"#,
            r#"{"operations":[]}"#,
            r#"{"operations":[5]}"#,
            r#"{"operations":[{}]}"#,
            r#"{"operations":[{"op":"set","value":1}]}"#,
            r#"{"operations":[{"path":"/a","value":1}]}"#,
            r#"{"operations":[{"op":"set","path":"/a"}]}"#,
            r#"{"operations":[{"op":"set","path":"a","value":1}]}"#,
            r#"{"operations":[{"op":"set","path":"","value":1}]}"#,
            r#"{"operations":[{"op":"set","path":5,"value":1}]}"#,
            r#"{"operations":[{"op":"copy","path":"/a","from":"/b"}]}"#,
            r#"{"operations":[{"op":"move","path":"/a"}]}"#,
            r#"{"operations":[{"op":"incr","path":"/a"}]}"#,
        ] {
            assert_eq!(status(body), Some(400), "{body}");
        }
    }

    #[test]
    fn operations_are_counted() {
        let body = |count| format!("[{}]", vec![r#"{"op":"remove","path":"/z"}"#; count].join(","));
        assert_eq!(status(&body(10)), None);
        assert_eq!(status(&body(11)), Some(400));
    }

    #[test]
    fn conditions_are_text() {
        let with = |condition: &str| {
            format!(r#"{{"condition":{condition},"operations":[{{"op":"remove","path":"/z"}}]}}"#)
        };
        let read = |condition: &str| parse(with(condition).as_bytes()).unwrap().condition;
        assert_eq!(read("\"from c where c.x = 1\"").as_deref(), Some("from c where c.x = 1"));
        assert_eq!(read("null"), None);
        assert_eq!(parse(br#"[{"op":"remove","path":"/z"}]"#).unwrap().condition, None);
        for odd in ["5", "true", "{}", "[]"] {
            assert_eq!(status(&with(odd)), Some(400), "{odd}");
        }
        let long = |length| with(&format!("\"{}\"", "x".repeat(length)));
        assert_eq!(status(&long(QUERY_TEXT_BYTES_MAX)), None);
        assert_eq!(status(&long(QUERY_TEXT_BYTES_MAX + 1)), Some(400));
    }
}
