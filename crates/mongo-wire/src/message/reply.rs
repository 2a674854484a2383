//! Replies to bytes.

use armilla_value::{Object, Value};

use super::{
    FLAG_CHECKSUM_PRESENT, FLAG_MORE_TO_COME, HEADER_BYTES, OP_COMPRESSED, OP_MSG, OP_REPLY, ReplyTo,
    RequestKind,
};
use crate::bson;
use crate::compress::Compressor;
use crate::error::{WireError, WireErrorKind};
use crate::limits::MESSAGE_BYTES_MAX;

/// The legacy flag of a server that can wait for data, which every server since 2008 can.
const REPLY_AWAIT_CAPABLE: i32 = 8;
/// The legacy flag of a reply that is an error.
const REPLY_QUERY_FAILURE: i32 = 2;

/// A reply that was started and whose document is to be appended.
#[derive(Debug, Clone, Copy)]
#[must_use = "a reply that is not finished has no length"]
pub struct ReplyStart {
    start: usize,
    to: ReplyTo,
    request_id: i32,
}

/// Appends a whole reply. On an error nothing is appended.
///
/// `request_id` is the server's own number of the message. `more_to_come` announces a further reply without a
/// request; only a client that allowed it may get that.
pub fn write_reply(
    to: &ReplyTo,
    request_id: i32,
    more_to_come: bool,
    reply: &Object,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let length = out.len();
    let start = start_reply(to, request_id, more_to_come, out);
    let result = match to.kind {
        RequestKind::OpQuery if is_failure(reply) => {
            let flags_at = start.start + HEADER_BYTES;
            let flags = REPLY_AWAIT_CAPABLE | REPLY_QUERY_FAILURE;
            out[flags_at..flags_at + 4].copy_from_slice(&flags.to_le_bytes());
            bson::encode(&with_legacy_error(reply), out)
        }
        _ => bson::encode(reply, out),
    };
    let result = result.and_then(|()| finish_reply(start, out));
    if result.is_err() {
        out.truncate(length);
    }
    result
}

/// Starts a reply; the caller appends one BSON document and then calls [`finish_reply`].
pub fn start_reply(to: &ReplyTo, request_id: i32, more_to_come: bool, out: &mut Vec<u8>) -> ReplyStart {
    let start = out.len();
    let opcode = match to.kind {
        RequestKind::OpMsg { .. } => OP_MSG,
        RequestKind::OpQuery => OP_REPLY,
    };
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&request_id.to_le_bytes());
    out.extend_from_slice(&to.request_id.to_le_bytes());
    out.extend_from_slice(&opcode.to_le_bytes());
    match to.kind {
        RequestKind::OpMsg { .. } => {
            let mut flags = 0;
            if wants_checksum(to) {
                flags |= FLAG_CHECKSUM_PRESENT;
            }
            if more_to_come {
                flags |= FLAG_MORE_TO_COME;
            }
            out.extend_from_slice(&flags.to_le_bytes());
            out.push(0);
        }
        RequestKind::OpQuery => {
            out.extend_from_slice(&REPLY_AWAIT_CAPABLE.to_le_bytes());
            // No cursor, from the start, one document.
            out.extend_from_slice(&0i64.to_le_bytes());
            out.extend_from_slice(&0i32.to_le_bytes());
            out.extend_from_slice(&1i32.to_le_bytes());
        }
    }
    ReplyStart { start, to: *to, request_id }
}

/// Ends a reply: its length, its checksum if the request had one, its compression if the request was compressed.
pub fn finish_reply(reply: ReplyStart, out: &mut Vec<u8>) -> Result<(), WireError> {
    let ReplyStart { start, to, request_id } = reply;
    let checksum_bytes = if wants_checksum(&to) { 4 } else { 0 };
    write_length(out.len() - start + checksum_bytes, start, out)?;
    if checksum_bytes > 0 {
        let checksum = crc32c::crc32c(&out[start..]);
        out.extend_from_slice(&checksum.to_le_bytes());
    }
    if let Some(compressor) = compressor_of(&to) {
        compress(compressor, &to, request_id, start, out)?;
    }
    Ok(())
}

fn write_length(bytes: usize, start: usize, out: &mut [u8]) -> Result<(), WireError> {
    if bytes > MESSAGE_BYTES_MAX {
        return Err(WireError::new(
            WireErrorKind::TooLarge,
            10334,
            format!("a reply of {bytes} bytes is longer than a message may be"),
        ));
    }
    // The bound above fits 32 bits.
    out[start..start + 4].copy_from_slice(&(bytes as i32).to_le_bytes());
    Ok(())
}

/// A compressed reply has no checksum, as the server's have none: it would cover what is not sent.
fn wants_checksum(to: &ReplyTo) -> bool {
    matches!(to.kind, RequestKind::OpMsg { checksum: true, .. }) && compressor_of(to).is_none()
}

fn compressor_of(to: &ReplyTo) -> Option<Compressor> {
    to.compressor.filter(|&compressor| compressor != Compressor::Noop)
}

/// Replaces the reply that begins at a position by its compressed form.
fn compress(
    compressor: Compressor,
    to: &ReplyTo,
    request_id: i32,
    start: usize,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let mut message = Vec::with_capacity(HEADER_BYTES + (out.len() - start) / 2);
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&request_id.to_le_bytes());
    message.extend_from_slice(&to.request_id.to_le_bytes());
    message.extend_from_slice(&OP_COMPRESSED.to_le_bytes());
    message.extend_from_slice(&out[start + 12..start + HEADER_BYTES]);
    let body = &out[start + HEADER_BYTES..];
    // A reply is not longer than a message, which `write_length` has checked.
    message.extend_from_slice(&(body.len() as i32).to_le_bytes());
    message.push(compressor.number());
    compressor.compress(body, &mut message)?;
    write_length(message.len(), 0, &mut message)?;
    out.truncate(start);
    out.extend_from_slice(&message);
    Ok(())
}

fn is_failure(reply: &Object) -> bool {
    matches!(reply.get("ok"), Some(ok) if ok.as_f64() == Some(0.0))
}

/// Adds the name under which legacy clients look for an error.
fn with_legacy_error(reply: &Object) -> Object {
    let message = reply.get("errmsg").cloned().unwrap_or(Value::Null);
    let mut legacy = reply.clone();
    legacy.insert("$err", message);
    legacy
}
