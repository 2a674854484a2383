//! Requests as they come, in every format: an id, what is asked of whom, and arguments.
//!
//! What the arguments mean is in `operation.rs`.

use std::sync::Arc;

use armilla_gremlin_value::Value;

use crate::error::Fault;
use crate::graphbinary::{self, Cursor};
use crate::json::Json;
use crate::limits::MAX_ID_DISTANCE;
use crate::{Frame, WireError, graphson, uuid};

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its id, which answers repeat.
    pub id: u128,
    /// What is asked, such as `eval`.
    pub op: Arc<str>,
    /// Who is asked, such as `traversal`; often empty.
    pub processor: Arc<str>,
    /// The arguments in the order they came.
    pub arguments: Vec<(Arc<str>, Value)>,
}

impl Request {
    /// Reads the request of a frame; errors have its id if it can be found.
    pub fn read(frame: &Frame<'_>) -> Result<Request, WireError> {
        match frame.format.is_json() {
            true => read_json(frame.payload),
            false => read_binary(frame.payload),
        }
    }

    /// Reads a script sent by HTTP: an object with `gremlin`, `bindings`, `language` and so on.
    ///
    /// An id in it is taken over; otherwise the request has the one given.
    pub fn read_script(body: &[u8], id: u128) -> Result<Request, WireError> {
        let json = Json::parse(body)?;
        let id = match json.member("requestId") {
            None | Some(Json::Null) => id,
            Some(json) => request_id(json)?,
        };
        let arguments = arguments(&json).map_err(|fault| WireError::from(fault).with_id(Some(id)))?;
        Ok(Request { id, op: Arc::from("eval"), processor: Arc::from(""), arguments })
    }

    /// Returns an argument; the last one if there are several of the name.
    pub fn argument(&self, name: &str) -> Option<&Value> {
        self.arguments.iter().rev().find(|(other, _)| &**other == name).map(|(_, value)| value)
    }
}

/// Finds the id in a message that may be damaged: the UUID behind `"requestId"`.
pub(crate) fn scan_id(bytes: &[u8]) -> Option<u128> {
    const NAME: &[u8] = b"\"requestId\"";
    let at = bytes.windows(NAME.len()).position(|window| window == NAME)?;
    let behind = bytes.get(at + NAME.len()..)?;
    let near = behind.get(..MAX_ID_DISTANCE).unwrap_or(behind);
    near.windows(36).find_map(uuid::parse_uuid_bytes)
}

fn read_json(payload: &[u8]) -> Result<Request, WireError> {
    let json = Json::parse(payload).map_err(|fault| WireError::from(fault).with_id(scan_id(payload)))?;
    let Some(id) = graphson::object_value(&json, "requestId") else {
        return Err(WireError::malformed("The request has no 'requestId'."));
    };
    let id = request_id(id)?;
    read_members(&json, id).map_err(|fault| WireError::from(fault).with_id(Some(id)))
}

fn request_id(json: &Json<'_>) -> Result<u128, WireError> {
    let text = match json {
        Json::Text(text) => Some(text),
        json => match json.member("@value") {
            Some(Json::Text(text)) => Some(text),
            _ => None,
        },
    };
    let id = text.and_then(|text| uuid::parse_uuid(text));
    id.ok_or_else(|| WireError::malformed("The 'requestId' is not a UUID."))
}

fn read_members(json: &Json<'_>, id: u128) -> Result<Request, Fault> {
    let text = |name: &str| match graphson::object_value(json, name) {
        Some(Json::Text(text)) => Ok(Some(Arc::from(text.as_ref()))),
        None | Some(Json::Null) => Ok(None),
        Some(_) => Err(Fault::new(format!("'{name}' is not a string."))),
    };
    let op = text("op")?.ok_or_else(|| Fault::new("The request has no 'op'."))?;
    let processor = text("processor")?.unwrap_or_default();
    let arguments = match graphson::object_value(json, "args") {
        None => Vec::new(),
        Some(json) => arguments(json).map_err(|fault| fault.within("args"))?,
    };
    Ok(Request { id, op, processor, arguments })
}

fn arguments(json: &Json<'_>) -> Result<Vec<(Arc<str>, Value)>, Fault> {
    let mut arguments = Vec::new();
    for (name, json) in graphson::members(json)? {
        let value = graphson::value(json, 0).map_err(|fault| fault.within(name))?;
        arguments.push((Arc::from(name), value));
    }
    Ok(arguments)
}

fn read_binary(payload: &[u8]) -> Result<Request, WireError> {
    let mut cursor = Cursor::new(payload);
    let version = cursor.u8()?;
    if version != graphbinary::VERSION {
        return Err(WireError::malformed(format!(
            "The version of GraphBinary is 0x{version:02x}, not 0x81."
        )));
    }
    let id = cursor.uuid()?;
    read_binary_members(&mut cursor, id).map_err(|fault| WireError::from(fault).with_id(Some(id)))
}

fn read_binary_members(cursor: &mut Cursor<'_>, id: u128) -> Result<Request, Fault> {
    let op = cursor.string()?;
    let processor = cursor.string()?;
    let mut arguments = Vec::new();
    for (name, value) in graphbinary::bare_map(cursor, 0).map_err(|fault| fault.within("args"))?.entries {
        let Value::String(name) = name else {
            return Err(Fault::new("The name of an argument is not a string."));
        };
        arguments.push((name, value));
    }
    if !cursor.is_at_end() {
        return Err(Fault::new("The message has bytes behind its request."));
    }
    Ok(Request { id, op, processor, arguments })
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
