//! Responses: a status, and results cut into frames of a bounded size.

use std::borrow::Cow;

use armilla_gremlin_value::Value;

use crate::graphbinary::{self, BinaryWriter};
use crate::graphson::{TypedWriter, UntypedWriter, Version};
use crate::limits::{DEFAULT_FRAME_BYTES, DEFAULT_FRAME_ITEMS, DEFAULT_ITEM_BYTES, MAX_RESPONSE_BYTES};
use crate::sink::Sink;
use crate::{Format, Materialize, WireError, json, uuid, write_value};

/// The status of a response.
#[derive(Debug, Clone)]
pub struct Status {
    /// Such as 200, 206 or 597.
    pub code: u16,
    /// What is wrong; empty if nothing is.
    pub message: Cow<'static, str>,
    /// What else is told, such as `x-ms-request-charge`.
    pub attributes: Vec<(Cow<'static, str>, Value)>,
}

/// A response as a whole.
#[derive(Debug, Clone)]
pub struct Response {
    /// The id of the request; nothing if it could not be found.
    pub id: Option<u128>,
    /// Its status.
    pub status: Status,
    /// The results; nothing for errors and for the challenge of a login.
    pub data: Option<Vec<Value>>,
}

impl Response {
    /// Writes the response.
    pub fn write(&self, format: Format) -> Result<Vec<u8>, WireError> {
        let Some(data) = &self.data else { return envelope(format, self.id, &self.status, None) };
        let mut items = Vec::new();
        for (at, value) in data.iter().enumerate() {
            separate(format, &mut items, at);
            write_value(format, value, Materialize::All, &mut items, MAX_RESPONSE_BYTES)?;
        }
        envelope(format, self.id, &self.status, Some((&items, data.len())))
    }
}

/// What results are sent as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultKind {
    /// As values: the answer to a script.
    Values,
    /// As traversers, each a value and how often it came: the answer to bytecode.
    Traversers,
}

/// How large a frame of results may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameBounds {
    /// How many results: the request's `batchSize`.
    pub items: usize,
    /// How many bytes, unless a single result has more.
    pub bytes: usize,
    /// How many bytes a single result may have.
    pub item_bytes: usize,
}

impl Default for FrameBounds {
    fn default() -> FrameBounds {
        FrameBounds { items: DEFAULT_FRAME_ITEMS, bytes: DEFAULT_FRAME_BYTES, item_bytes: DEFAULT_ITEM_BYTES }
    }
}

/// Collects results, already written, until a frame is full.
#[derive(Debug)]
pub struct ResponseWriter {
    format: Format,
    kind: ResultKind,
    materialize: Materialize,
    bounds: FrameBounds,
    items: Vec<u8>,
    count: usize,
}

impl ResponseWriter {
    /// Begins without results.
    pub fn new(
        format: Format,
        kind: ResultKind,
        materialize: Materialize,
        bounds: FrameBounds,
    ) -> ResponseWriter {
        ResponseWriter { format, kind, materialize, bounds, items: Vec::new(), count: 0 }
    }

    /// Returns how many results the frame has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns how many bytes the results of the frame have.
    pub fn bytes(&self) -> usize {
        self.items.len()
    }

    /// Returns whether the frame has no result yet.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Appends a result that came `bulk` times, and returns how often it was taken.
    ///
    /// Less than `bulk` means that the frame is full: finish it, then push the rest. An empty frame always takes
    /// one. A result that cannot be written, or is too large, is an error and leaves the frame as it was.
    pub fn push(&mut self, value: &Value, bulk: u64) -> Result<u64, WireError> {
        if bulk == 0 || (self.count > 0 && self.count >= self.bounds.items) {
            return Ok(0);
        }
        let start = self.items.len();
        separate(self.format, &mut self.items, self.count);
        let from = self.items.len();
        if let Err(error) = self.append(value, bulk, from) {
            self.items.truncate(start);
            return Err(error);
        }
        if self.count > 0 && self.items.len() > self.bounds.bytes {
            self.items.truncate(start);
            return Ok(0);
        }
        self.count += 1;
        if self.kind == ResultKind::Traversers {
            return Ok(bulk);
        }
        // The same bytes again, as often as they fit.
        let length = self.items.len() - from;
        let mut taken = 1;
        while taken < bulk && self.count < self.bounds.items && self.items.len() + length < self.bounds.bytes
        {
            separate(self.format, &mut self.items, self.count);
            self.items.extend_from_within(from..from + length);
            self.count += 1;
            taken += 1;
        }
        Ok(taken)
    }

    fn append(&mut self, value: &Value, bulk: u64, from: usize) -> Result<(), WireError> {
        let bound = from.saturating_add(self.bounds.item_bytes);
        if self.kind == ResultKind::Values {
            return write_value(self.format, value, self.materialize, &mut self.items, bound);
        }
        let sink = Sink::new(&mut self.items, bound, self.materialize);
        match self.format {
            Format::Untyped => UntypedWriter::new(sink).traverser(value, bulk),
            Format::GraphSon2Typed => TypedWriter::new(sink, Version::Two).traverser(value, bulk),
            Format::GraphSon3 => TypedWriter::new(sink, Version::Three).traverser(value, bulk),
            Format::GraphBinary => BinaryWriter::new(sink).traverser(value, bulk),
        }
    }

    /// Writes the frame, and begins the next one without results.
    pub fn finish(&mut self, id: Option<u128>, status: &Status) -> Result<Vec<u8>, WireError> {
        let frame = envelope(self.format, id, status, Some((&self.items, self.count)));
        self.items.clear();
        self.count = 0;
        frame
    }
}

/// Writes what is between two results.
fn separate(format: Format, out: &mut Vec<u8>, at: usize) {
    if at > 0 && format.is_json() {
        out.push(b',');
    }
}

/// Writes a response around results that are written already, of which there are so many.
fn envelope(
    format: Format,
    id: Option<u128>,
    status: &Status,
    data: Option<(&[u8], usize)>,
) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::with_capacity(data.map_or(0, |(items, _)| items.len()) + 512 + status.message.len());
    match format {
        Format::GraphBinary => binary_envelope(&mut out, id, status, data)?,
        _ => json_envelope(format, &mut out, id, status, data.map(|(items, _)| items))?,
    }
    Ok(out)
}

fn binary_envelope(
    out: &mut Vec<u8>,
    id: Option<u128>,
    status: &Status,
    data: Option<(&[u8], usize)>,
) -> Result<(), WireError> {
    out.push(graphbinary::VERSION);
    match id {
        None => out.push(1),
        Some(id) => {
            out.push(0);
            out.extend_from_slice(&id.to_be_bytes());
        }
    }
    let mut writer = BinaryWriter::new(Sink::new(out, MAX_RESPONSE_BYTES, Materialize::All));
    writer.i32(i32::from(status.code));
    writer.flag();
    writer.bare_text(&status.message)?;
    writer.length(status.attributes.len())?;
    for (name, value) in &status.attributes {
        writer.text(name)?;
        writer.value(value)?;
    }
    // No meta data.
    writer.length(0)?;
    match data {
        None => writer.value(&Value::Null)?,
        Some((items, count)) => {
            writer.list_head(count)?;
            out.extend_from_slice(items);
        }
    }
    Ok(())
}

fn json_envelope(
    format: Format,
    out: &mut Vec<u8>,
    id: Option<u128>,
    status: &Status,
    items: Option<&[u8]>,
) -> Result<(), WireError> {
    let typed_collections = format == Format::GraphSon3;
    out.extend_from_slice(br#"{"requestId":"#);
    match id {
        None => out.extend_from_slice(b"null"),
        Some(id) => {
            out.push(b'"');
            uuid::write_uuid(out, id);
            out.push(b'"');
        }
    }
    out.extend_from_slice(br#","status":{"code":"#);
    json::write_integer(out, i64::from(status.code));
    out.extend_from_slice(br#","message":"#);
    json::write_text(out, &status.message);
    out.extend_from_slice(br#","attributes":"#);
    out.extend_from_slice(if typed_collections { br#"{"@type":"g:Map","@value":["# } else { b"{" });
    for (at, (name, value)) in status.attributes.iter().enumerate() {
        separate(format, out, at);
        json::write_text(out, name);
        out.push(if typed_collections { b',' } else { b':' });
        write_value(format, value, Materialize::All, out, MAX_RESPONSE_BYTES)?;
    }
    out.extend_from_slice(if typed_collections { b"]}" } else { b"}" });
    out.extend_from_slice(br#"},"result":{"data":"#);
    match items {
        None => out.extend_from_slice(b"null"),
        Some(items) => {
            out.extend_from_slice(if typed_collections { br#"{"@type":"g:List","@value":["# } else { b"[" });
            out.extend_from_slice(items);
            out.extend_from_slice(if typed_collections { b"]}" } else { b"]" });
        }
    }
    out.extend_from_slice(br#","meta":"#);
    out.extend_from_slice(if typed_collections { br#"{"@type":"g:Map","@value":[]}"# } else { b"{}" });
    out.extend_from_slice(b"}}");
    Ok(())
}

#[cfg(test)]
#[path = "response_tests.rs"]
mod tests;
