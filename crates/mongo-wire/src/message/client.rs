//! The client's side: commands to bytes, and replies out of bytes.

use armilla_value::{Object, Value};

use super::decompress::decompress;
use super::{
    FLAG_CHECKSUM_PRESENT, FLAG_MORE_TO_COME, HEADER_BYTES, Header, OP_COMPRESSED, OP_MSG, OP_REPLY,
};
use crate::bson;
use crate::compress::Compressor;
use crate::error::WireError;
use crate::limits::MESSAGE_BYTES_MAX;

/// A reply, as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The server's number of the message.
    pub request_id: i32,
    /// The number of the request that it answers.
    pub response_to: i32,
    /// Whether another reply follows without a request.
    pub more_to_come: bool,
    /// The document.
    pub document: Object,
    /// How the message was compressed.
    pub compressor: Option<Compressor>,
}

/// Appends a command in the form of today. On an error nothing is appended.
///
/// The command says for which database it is in its member `$db`; `more_to_come` asks for no reply.
pub fn write_request(
    request_id: i32,
    command: &Object,
    more_to_come: bool,
    out: &mut Vec<u8>,
) -> Result<(), WireError> {
    let start = out.len();
    let flags = if more_to_come { FLAG_MORE_TO_COME } else { 0 };
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&request_id.to_le_bytes());
    out.extend_from_slice(&0i32.to_le_bytes());
    out.extend_from_slice(&OP_MSG.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.push(0);
    let result = bson::encode(command, out).and_then(|()| {
        let length = out.len() - start;
        if length > MESSAGE_BYTES_MAX {
            return Err(WireError::too_large(length));
        }
        // The bound above fits 32 bits.
        out[start..start + 4].copy_from_slice(&(length as i32).to_le_bytes());
        Ok(())
    });
    if result.is_err() {
        out.truncate(start);
    }
    result
}

/// Reads one whole message as a reply.
pub fn parse_reply(message: &[u8]) -> Result<Reply, WireError> {
    let header = Header::read(message)
        .filter(|header| header.message_bytes == message.len())
        .ok_or_else(|| WireError::malformed("the message is not as long as its header says"))?;
    if header.opcode != OP_COMPRESSED {
        return parse_plain(message, header, None);
    }
    let (original, compressor) = decompress(message, header)?;
    let header = Header::read(&original)
        .ok_or_else(|| WireError::malformed("the compressed message has no header"))?;
    parse_plain(&original, header, Some(compressor))
}

fn parse_plain(message: &[u8], header: Header, compressor: Option<Compressor>) -> Result<Reply, WireError> {
    let short = || WireError::malformed("the reply ends too early");
    let body = message.get(HEADER_BYTES..).ok_or_else(short)?;
    let (more_to_come, document) = match header.opcode {
        OP_MSG => {
            let (flags, sections) = body.split_first_chunk().ok_or_else(short)?;
            let flags = u32::from_le_bytes(*flags);
            let checksum_bytes = if flags & FLAG_CHECKSUM_PRESENT != 0 { 4 } else { 0 };
            let sections = sections.get(..sections.len().saturating_sub(checksum_bytes)).ok_or_else(short)?;
            let document = sections
                .strip_prefix(&[0])
                .ok_or_else(|| WireError::malformed("the reply does not begin with its body"))?;
            (flags & FLAG_MORE_TO_COME != 0, document)
        }
        // Flags, cursor, and two counts.
        OP_REPLY => (false, body.get(20..).ok_or_else(short)?),
        opcode => return Err(WireError::malformed(format!("opcode {opcode} is no reply"))),
    };
    Ok(Reply {
        request_id: header.request_id,
        response_to: header.response_to,
        more_to_come,
        document: bson::decode(document)?,
        compressor,
    })
}

impl Reply {
    /// Says whether the command succeeded.
    pub fn is_ok(&self) -> bool {
        matches!(self.document.get("ok"), Some(ok) if ok.as_f64() == Some(1.0))
    }

    /// Returns the number of the error, where there is one.
    pub fn code(&self) -> Option<i64> {
        self.document.get("code").and_then(Value::as_i64)
    }
}
