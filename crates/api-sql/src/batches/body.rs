//! The body of a batch or bulk request: operations on items, each with what the engine shall do.
//!
//! What is wrong with the request as a whole (no JSON, no list, too many operations, an operation of no known type)
//! refuses it. What is wrong with one operation becomes that operation's own failure, so that a bulk request tells
//! which of its operations was refused.
//!
//! Invariant: items are handed on as the bytes that came; only the engine reads them.

use armilla_engine::{BATCH_ACTIONS_MAX, ETag, ItemAction, Precondition, WriteMode};
use armilla_value::json::slice::{self, Malformed, Member};
use armilla_value::{PartitionKey, Value, json};
use bytes::Bytes;

use crate::items::patch_body::{self, PatchBody};
use crate::limits::BATCH_MEMBER_BYTES_MAX;
use crate::reply::failure::Failure;

/// The first byte of the binary form (HybridRow) in which the .NET client sends batches.
const HYBRID_ROW: u8 = 0x81;

/// One operation of a batch.
#[derive(Debug)]
pub(crate) struct BatchOperation {
    /// The partition key that the operation names for itself.
    pub(crate) partition_key: Option<PartitionKey>,
    /// What to do.
    pub(crate) action: ItemAction,
    /// Whether the answer shall have no body.
    pub(crate) is_minimal: bool,
    /// Whether a read asks only whether the item is there.
    pub(crate) knows_any_version: bool,
}

/// Reads the body of a batch.
pub(crate) fn parse(body: &Bytes) -> Result<Vec<BatchOperation>, Failure> {
    if body.first() == Some(&HYBRID_ROW) {
        return Err(Failure::bad_request(
            "the batch is in the binary form HybridRow, which this server does not read: send JSON",
        ));
    }
    let malformed = |error: Malformed| Failure::bad_request(format!("the batch is not valid JSON: {error}"));
    let mut operations = Vec::new();
    for part in slice::elements(body).map_err(malformed)? {
        let part = body.slice_ref(part.map_err(malformed)?);
        if operations.len() == BATCH_ACTIONS_MAX {
            return Err(Failure::bad_request("Batch request has more operations than what is supported."));
        }
        operations.push(operation(operations.len(), &part)?);
    }
    if operations.is_empty() {
        return Err(Failure::bad_request("Batch request has no operations."));
    }
    Ok(operations)
}

/// The members of an operation that mean something, as their text.
#[derive(Default)]
struct Members {
    operation_type: Option<Bytes>,
    id: Option<Bytes>,
    resource_body: Option<Bytes>,
    if_match: Option<Bytes>,
    if_none_match: Option<Bytes>,
    partition_key: Option<Bytes>,
    minimal_return_preference: Option<Bytes>,
}

/// What is wrong with one operation.
type Wrong = String;

fn operation(index: usize, text: &Bytes) -> Result<BatchOperation, Failure> {
    let refuse = |why: String| Failure::bad_request(format!("operation {index} of the batch {why}"));
    let malformed = |error: Malformed| refuse(format!("is no JSON object: {error}"));
    let mut members = Members::default();
    for member in slice::members(text).map_err(malformed)? {
        let Member { name, value, .. } = member.map_err(malformed)?;
        let slot = match json::parse(name) {
            Ok(Value::String(name)) => match name.as_str() {
                "operationType" => &mut members.operation_type,
                "id" => &mut members.id,
                "resourceBody" => &mut members.resource_body,
                "ifMatch" => &mut members.if_match,
                "ifNoneMatch" => &mut members.if_none_match,
                "partitionKey" => &mut members.partition_key,
                "minimalReturnPreference" => &mut members.minimal_return_preference,
                _ => {
                    json::parse(value).map_err(|error| {
                        refuse(format!("has a member '{name}' that is not valid JSON: {error}"))
                    })?;
                    continue;
                }
            },
            _ => return Err(refuse("has a member whose name is not valid JSON".to_owned())),
        };
        *slot = Some(text.slice_ref(value));
    }
    let operation_type = members.operation_type.take().map(|text| json::parse(&text));
    let Some(Ok(Value::String(operation_type))) = operation_type else {
        return Err(refuse("has no text 'operationType'".to_owned()));
    };
    let kind = Kind::from_name(&operation_type).ok_or_else(|| {
        refuse(format!(
            "has the unknown operationType '{operation_type}'; expected Create, Upsert, Read, Replace, Delete or Patch"
        ))
    })?;
    Ok(members.operation(kind).unwrap_or_else(|wrong| BatchOperation {
        partition_key: None,
        action: ItemAction::Invalid(wrong),
        is_minimal: false,
        knows_any_version: false,
    }))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Create,
    Upsert,
    Read,
    Replace,
    Delete,
    Patch,
}

impl Kind {
    fn from_name(name: &str) -> Option<Kind> {
        let names = [
            ("Create", Kind::Create),
            ("Upsert", Kind::Upsert),
            ("Read", Kind::Read),
            ("Replace", Kind::Replace),
            ("Delete", Kind::Delete),
            ("Patch", Kind::Patch),
        ];
        names.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| kind)
    }
}

/// An entity tag in a condition.
enum Tag {
    /// `*`: whatever there is.
    Any,
    /// This one; `None` is one that never was.
    Exactly(Option<ETag>),
}

impl Members {
    fn operation(self, kind: Kind) -> Result<BatchOperation, Wrong> {
        let partition_key = self.partition_key()?;
        let is_minimal = match member(self.minimal_return_preference.as_ref(), "minimalReturnPreference")? {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_minimal)) => is_minimal,
            Some(_) => {
                return Err("the member 'minimalReturnPreference' is neither true nor false".to_owned());
            }
        };
        let if_match = tag(self.if_match.as_ref(), "ifMatch")?;
        let if_none_match = tag(self.if_none_match.as_ref(), "ifNoneMatch")?;
        let is_missing = match if_none_match {
            Some(Tag::Any) => Precondition::Missing,
            // The service defines no other for a write.
            Some(Tag::Exactly(_)) | None => Precondition::None,
        };
        let is_current = match if_match {
            Some(Tag::Any) => Precondition::Exists,
            Some(Tag::Exactly(etag)) => Precondition::Version(etag),
            None => Precondition::None,
        };
        let mut knows_any_version = false;
        let action = match kind {
            // What does not exist yet has no version to match.
            Kind::Create => {
                let body = self.resource_body()?;
                ItemAction::Put {
                    mode: WriteMode::Create,
                    id: None,
                    body: body.into(),
                    precondition: is_missing,
                }
            }
            Kind::Upsert => {
                let body = self.resource_body()?;
                let precondition = if is_current == Precondition::None { is_missing } else { is_current };
                ItemAction::Put { mode: WriteMode::Upsert, id: None, body: body.into(), precondition }
            }
            Kind::Replace => {
                let (id, body) = (self.id()?, self.resource_body()?);
                ItemAction::Put {
                    mode: WriteMode::Replace,
                    id: Some(id),
                    body: body.into(),
                    precondition: is_current,
                }
            }
            Kind::Delete => ItemAction::Delete { id: self.id()?, precondition: is_current },
            Kind::Patch => {
                let id = self.id()?;
                let PatchBody { patch, condition } = patch_body::parse(&self.resource_body()?)
                    .map_err(|failure| failure.message.into_owned())?;
                ItemAction::Patch { id, patch, condition, precondition: is_current }
            }
            Kind::Read => {
                let known = match if_none_match {
                    Some(Tag::Exactly(etag)) => etag,
                    Some(Tag::Any) => {
                        knows_any_version = true;
                        None
                    }
                    None => None,
                };
                ItemAction::Read { id: self.id()?, known, precondition: is_current }
            }
        };
        Ok(BatchOperation { partition_key, action, is_minimal, knows_any_version })
    }

    fn id(&self) -> Result<String, Wrong> {
        match member(self.id.as_ref(), "id")? {
            Some(Value::String(id)) => Ok(id),
            Some(_) => Err("the member 'id' is no text".to_owned()),
            None => Err("the operation needs an 'id'".to_owned()),
        }
    }

    fn resource_body(&self) -> Result<Bytes, Wrong> {
        self.resource_body.clone().ok_or_else(|| "the operation needs a 'resourceBody'".to_owned())
    }

    /// Returns the key, which clients write as JSON text inside a string.
    fn partition_key(&self) -> Result<Option<PartitionKey>, Wrong> {
        let key = match member(self.partition_key.as_ref(), "partitionKey")? {
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => PartitionKey::from_json(text.as_bytes()),
            Some(value) => PartitionKey::from_json(json::to_string(&value).as_bytes()),
        };
        key.map(Some).map_err(|error| format!("the member 'partitionKey' is invalid: {error}"))
    }
}

/// Reads a short member.
fn member(text: Option<&Bytes>, name: &str) -> Result<Option<Value>, Wrong> {
    let Some(text) = text else { return Ok(None) };
    if text.len() > BATCH_MEMBER_BYTES_MAX {
        return Err(format!("the member '{name}' is longer than {BATCH_MEMBER_BYTES_MAX} bytes"));
    }
    json::parse(text).map(Some).map_err(|error| format!("the member '{name}' is not valid JSON: {error}"))
}

fn tag(text: Option<&Bytes>, name: &str) -> Result<Option<Tag>, Wrong> {
    match member(text, name)? {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(match text.trim() {
            "" => None,
            "*" => Some(Tag::Any),
            tag => Some(Tag::Exactly(ETag::parse(tag))),
        }),
        Some(_) => Err(format!("the member '{name}' is no text")),
    }
}

#[cfg(test)]
mod tests;
