//! A log of requests as lines of JSON: what was asked of an account, for those who have no server that keeps a ledger.
//!
//! Each line is an object: `{"container":"posts","op":"read","id":"1","partitionKey":["x"]}`. `op` says what was done, and
//! which members there are besides; [`MEMBERS`] has them all. `count` and `perSecond` say how often, and lines that
//! follow each other with the same `caller` belong together: one unit of a caller's work.

use armilla_value::{Component, Object, PartitionKey, Value, json};

use crate::limits::LINE_BYTES_MAX;
use crate::note::Act;

/// One line of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The container, by its name, perhaps with that of its database before it.
    pub container: String,
    /// What was asked.
    pub asked: Asked,
    /// The logical partition that was named.
    pub key: Option<PartitionKey>,
    /// How many such requests there were.
    pub count: u64,
    /// How many there are in a second.
    pub per_second: Option<f64>,
    /// The unit of work that the request belongs to.
    pub caller: Option<String>,
}

/// What a line says was asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// One item by its id.
    Read {
        /// The id.
        id: String,
    },
    /// An item was created.
    Create {
        /// The item.
        item: Value,
    },
    /// An item was created or replaced.
    Upsert {
        /// The item.
        item: Value,
    },
    /// An item was replaced.
    Replace {
        /// Its id.
        id: String,
        /// What it is now.
        item: Value,
    },
    /// Parts of an item were changed.
    Patch {
        /// Its id.
        id: String,
        /// The changes.
        operations: Vec<Value>,
    },
    /// An item was deleted.
    Delete {
        /// Its id.
        id: String,
    },
    /// A query.
    Query {
        /// Its text.
        text: String,
        /// Its parameters, their names with the `@`.
        parameters: Vec<(String, Value)>,
    },
    /// A stored procedure.
    Procedure {
        /// Its name.
        name: String,
        /// What it was given.
        arguments: Vec<Value>,
    },
    /// A list of items.
    List,
    /// The change feed.
    Changes,
}

/// The members that a line has besides `container` and `op`, by what `op` is: those that must be there, and those that
/// may be.
pub const MEMBERS: [(&str, &[&str], &[&str]); 10] = [
    ("read", &["id"], &[]),
    ("create", &["item"], &[]),
    ("replace", &["item"], &["id"]),
    ("upsert", &["item"], &[]),
    ("patch", &["id", "operations"], &[]),
    ("delete", &["id"], &[]),
    ("query", &["query"], &["parameters"]),
    ("procedure", &["name"], &["arguments"]),
    ("list", &[], &[]),
    ("changes", &[], &[]),
];

/// The members that any line may have.
const OF_ANY: [&str; 6] = ["container", "op", "partitionKey", "count", "perSecond", "caller"];

impl Line {
    /// Returns what was asked as a ledger notes it. `item` is for the text of an item that is created.
    pub fn act<'a>(&'a self, item: &'a mut Vec<u8>) -> Act<'a> {
        match &self.asked {
            Asked::Read { id } => Act::Read { id },
            Asked::Create { item: value } | Asked::Upsert { item: value } => {
                item.clear();
                json::write(value, item);
                Act::Create { item }
            }
            Asked::Replace { id, .. } => Act::Replace { id },
            Asked::Patch { id, .. } => Act::Patch { id },
            Asked::Delete { id } => Act::Delete { id },
            Asked::Query { text, parameters } => Act::Query { text, parameters },
            Asked::Procedure { name, .. } => Act::Procedure { name },
            Asked::List => Act::List,
            Asked::Changes => Act::Changes,
        }
    }
}

impl Asked {
    /// Returns the word for it: the line's `op`.
    pub fn op(&self) -> &'static str {
        match self {
            Asked::Read { .. } => "read",
            Asked::Create { .. } => "create",
            Asked::Upsert { .. } => "upsert",
            Asked::Replace { .. } => "replace",
            Asked::Patch { .. } => "patch",
            Asked::Delete { .. } => "delete",
            Asked::Query { .. } => "query",
            Asked::Procedure { .. } => "procedure",
            Asked::List => "list",
            Asked::Changes => "changes",
        }
    }
}

/// Reads a line. An error says what is wrong with it, and what is expected instead.
pub fn read_line(text: &[u8]) -> Result<Line, String> {
    if text.len() > LINE_BYTES_MAX {
        return Err(format!("the line has {} bytes, and at most {LINE_BYTES_MAX} are read", text.len()));
    }
    let value = json::parse(text.trim_ascii()).map_err(|error| format!("the line is not JSON: {error}"))?;
    let Value::Object(line) = &value else {
        let example = r#"{"container":"posts","op":"read","id":"1","partitionKey":["1"]}"#;
        return Err(format!("expected an object such as {example}, found {}", kind_of(&value)));
    };
    let op = text_of(line, "op")?;
    let known = MEMBERS.iter().find(|(name, ..)| *name == op);
    let Some((op, required, optional)) = known else {
        let ops: Vec<&str> = MEMBERS.iter().map(|(name, ..)| *name).collect();
        return Err(format!("op {} is not known: expected one of {}", quoted(op), ops.join(", ")));
    };
    for (name, _) in line.iter() {
        if !OF_ANY.contains(&name) && !required.contains(&name) && !optional.contains(&name) {
            let expected: Vec<&str> = [*required, *optional, &OF_ANY].concat();
            let (name, expected) = (quoted(name), expected.join(", "));
            return Err(format!("{name} is no member of a line with op {op}: expected {expected}"));
        }
    }
    if let Some(missing) = required.iter().find(|name| !line.contains(name)) {
        return Err(format!("a line with op {op} needs {missing}"));
    }
    let asked = match *op {
        "read" => Asked::Read { id: text_of(line, "id")?.to_owned() },
        "create" => Asked::Create { item: item_of(line)? },
        "upsert" => Asked::Upsert { item: item_of(line)? },
        "replace" => {
            let item = item_of(line)?;
            let named = if line.contains("id") { Some(text_of(line, "id")?) } else { None };
            let id = named.or_else(|| item.get("id").and_then(Value::as_str)).map(str::to_owned);
            Asked::Replace { id: id.ok_or("a line with op replace needs id, or an item that has one")?, item }
        }
        "patch" => {
            Asked::Patch { id: text_of(line, "id")?.to_owned(), operations: list_of(line, "operations")? }
        }
        "delete" => Asked::Delete { id: text_of(line, "id")?.to_owned() },
        "query" => {
            Asked::Query { text: text_of(line, "query")?.to_owned(), parameters: parameters_of(line)? }
        }
        "procedure" => Asked::Procedure {
            name: text_of(line, "name")?.to_owned(),
            arguments: list_of(line, "arguments")?,
        },
        "list" => Asked::List,
        _ => Asked::Changes,
    };
    Ok(Line {
        container: text_of(line, "container")?.to_owned(),
        asked,
        key: key_of(line)?,
        count: count_of(line)?,
        per_second: per_second_of(line)?,
        caller: line.get("caller").map(|_| text_of(line, "caller").map(str::to_owned)).transpose()?,
    })
}

/// Writes a line, without its end.
pub fn write_line(line: &Line) -> String {
    let mut object = Object::from([("container", line.container.as_str()), ("op", line.asked.op())]);
    match &line.asked {
        Asked::Read { id } | Asked::Delete { id } => {
            object.insert("id", id.as_str());
        }
        Asked::Create { item } | Asked::Upsert { item } => {
            object.insert("item", item.clone());
        }
        Asked::Replace { id, item } => {
            object.insert("id", id.as_str());
            object.insert("item", item.clone());
        }
        Asked::Patch { id, operations } => {
            object.insert("id", id.as_str());
            object.insert("operations", operations.clone());
        }
        Asked::Query { text, parameters } => {
            object.insert("query", text.as_str());
            if !parameters.is_empty() {
                let parameter = |(name, value): &(String, Value)| {
                    Object::from([("name", Value::from(name.as_str())), ("value", value.clone())]).into()
                };
                object.insert("parameters", parameters.iter().map(parameter).collect::<Vec<Value>>());
            }
        }
        Asked::Procedure { name, arguments } => {
            object.insert("name", name.as_str());
            if !arguments.is_empty() {
                object.insert("arguments", arguments.clone());
            }
        }
        Asked::List | Asked::Changes => {}
    }
    if let Some(key) = &line.key {
        object.insert("partitionKey", key.0.iter().map(of_component).collect::<Vec<Value>>());
    }
    if line.count != 1 {
        object.insert("count", i64::try_from(line.count).unwrap_or(i64::MAX));
    }
    if let Some(per_second) = line.per_second {
        object.insert("perSecond", per_second);
    }
    if let Some(caller) = &line.caller {
        object.insert("caller", caller.as_str());
    }
    json::to_string(&Value::Object(object))
}

fn of_component(component: &Component) -> Value {
    match component {
        Component::Undefined => Value::Object(Object::new()),
        Component::Null => Value::Null,
        Component::Bool(truth) => Value::Bool(*truth),
        // As an integer where it is one that reads back the same.
        Component::Number(number) => match Value::Double(*number).as_i64() {
            Some(integer) if (integer as f64).to_bits() == number.to_bits() => Value::Int64(integer),
            _ => Value::Double(*number),
        },
        Component::String(text) => Value::from(text.as_str()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
        _ => "a number",
    }
}

fn quoted(text: &str) -> String {
    json::to_string(&Value::from(text.chars().take(64).collect::<String>()))
}

fn text_of<'l>(line: &'l Object, name: &str) -> Result<&'l str, String> {
    match line.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        Some(Value::String(_)) => Err(format!("{name}: expected a text, found an empty one")),
        Some(other) => Err(format!("{name}: expected a text, found {}", kind_of(other))),
        None => Err(format!("a line needs {name}")),
    }
}

fn item_of(line: &Object) -> Result<Value, String> {
    match line.get("item") {
        Some(item @ Value::Object(_)) => Ok(item.clone()),
        other => Err(format!(
            "item: expected the whole item as an object, found {}",
            other.map_or("nothing", kind_of)
        )),
    }
}

fn list_of(line: &Object, name: &str) -> Result<Vec<Value>, String> {
    match line.get(name) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list.clone()),
        Some(other) => Err(format!("{name}: expected an array, found {}", kind_of(other))),
    }
}

fn parameters_of(line: &Object) -> Result<Vec<(String, Value)>, String> {
    let parameter = |(at, parameter): (usize, &Value)| {
        let both = (parameter.get("name").and_then(Value::as_str), parameter.get("value"));
        let (Some(name), Some(value)) = both else {
            let example = r#"{"name":"@a","value":1}"#;
            return Err(format!("parameters: {at}: expected an object such as {example}"));
        };
        if !name.starts_with('@') {
            return Err(format!(
                "parameters: {at}: expected a name that begins with @, found {}",
                quoted(name)
            ));
        }
        Ok((name.to_owned(), value.clone()))
    };
    list_of(line, "parameters")?.iter().enumerate().map(parameter).collect()
}

fn key_of(line: &Object) -> Result<Option<PartitionKey>, String> {
    let Some(key) = line.get("partitionKey") else { return Ok(None) };
    let example = r#"expected an array of scalars such as ["x"], with {} where there is none"#;
    let Value::Array(elements) = key else {
        return Err(format!("partitionKey: {example}, found {}", kind_of(key)));
    };
    let component = |element: &Value| match element {
        Value::Object(object) if object.is_empty() => Ok(Component::Undefined),
        Value::Object(_) | Value::Array(_) => {
            Err(format!("partitionKey: {example}, found {} in it", kind_of(element)))
        }
        scalar => Ok(Component::of(scalar)),
    };
    elements.iter().map(component).collect::<Result<_, _>>().map(|components| Some(PartitionKey(components)))
}

fn count_of(line: &Object) -> Result<u64, String> {
    let Some(count) = line.get("count") else { return Ok(1) };
    let number = count.as_i64().and_then(|number| u64::try_from(number).ok()).filter(|number| *number > 0);
    number.ok_or_else(|| format!("count: expected a whole number from 1 on, found {}", shown(count)))
}

fn per_second_of(line: &Object) -> Result<Option<f64>, String> {
    let Some(rate) = line.get("perSecond") else { return Ok(None) };
    match rate.as_f64().filter(|number| *number > 0.0) {
        Some(number) => Ok(Some(number)),
        None => Err(format!("perSecond: expected a number above 0, found {}", shown(rate))),
    }
}

/// A number as it is, anything else as what it is.
fn shown(value: &Value) -> String {
    match value {
        Value::Int64(_) | Value::Double(_) => json::to_string(value),
        other => kind_of(other).to_owned(),
    }
}

#[cfg(test)]
mod tests;
