//! Messages of the wire protocol: where one ends, what it asks, how it is answered.
//!
//! [`measure`] finds the end of a message in a stream, [`parse`] makes a [`Request`] of one, whichever of the two
//! request forms it has and whether or not it is compressed, and [`write_reply`] writes what belongs to it.
//! [`write_request`] and [`parse_reply`] are the client's side, for programs that ask.
//!
//! Invariants:
//! * a sequence of documents becomes an array member of the command, after the members of the body;
//! * a request that expects no answer leads to none, also where it is refused;
//! * a reply is compressed as its request was; one that was only wrapped (the compressor called noop, which drivers
//!   do not offer) is answered without a wrapping, which the protocol allows.
//!
//! Not here: what commands mean, who asks, which of them may come when.

mod client;
mod decompress;
mod parse;
mod reply;

use armilla_value::Object;

use crate::compress::Compressor;
use crate::error::WireError;
use crate::limits::MESSAGE_BYTES_MAX;

pub use client::{Reply, parse_reply, write_request};
pub use parse::parse;
pub use reply::{ReplyStart, finish_reply, start_reply, write_reply};

/// The answer to a legacy query.
pub const OP_REPLY: i32 = 1;
/// A legacy query, of which only the handshake is left.
pub const OP_QUERY: i32 = 2004;
/// Another message inside, compressed.
pub const OP_COMPRESSED: i32 = 2012;
/// Everything else, in both directions.
pub const OP_MSG: i32 = 2013;

/// Bytes of the header that every message has.
pub const HEADER_BYTES: usize = 16;

const FLAG_CHECKSUM_PRESENT: u32 = 1;
const FLAG_MORE_TO_COME: u32 = 1 << 1;
const FLAG_EXHAUST_ALLOWED: u32 = 1 << 16;
/// Flags in the lower half must be understood, those in the upper half may be ignored.
const FLAGS_UNKNOWN_REQUIRED: u32 = 0xFFFF & !(FLAG_CHECKSUM_PRESENT | FLAG_MORE_TO_COME);

/// The header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Bytes of the whole message.
    pub message_bytes: usize,
    /// The sender's number of it.
    pub request_id: i32,
    /// The number of the message that it answers.
    pub response_to: i32,
    /// What kind of message it is.
    pub opcode: i32,
}

impl Header {
    /// Reads the header at the start of the bytes, if they are long enough and its length is none below its own.
    pub fn read(bytes: &[u8]) -> Option<Header> {
        let number = |at: usize| {
            bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|chunk| i32::from_le_bytes(*chunk))
        };
        Some(Header {
            message_bytes: usize::try_from(number(0)?).ok().filter(|&length| length >= HEADER_BYTES)?,
            request_id: number(4)?,
            response_to: number(8)?,
            opcode: number(12)?,
        })
    }
}

/// What the bytes received so far hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Not yet the length of a message.
    More,
    /// A message of that many bytes, of which some may still be missing.
    Bytes(usize),
    /// No message: close the connection.
    Malformed,
}

/// Says how long the message is with which the bytes begin.
///
/// The first four bytes say it, which a caller may have before the others; a length that no message has is refused
/// at once, so that no buffer grows for it.
pub fn measure(bytes: &[u8]) -> Measure {
    let Some(chunk) = bytes.first_chunk() else {
        return Measure::More;
    };
    match usize::try_from(i32::from_le_bytes(*chunk)) {
        Ok(length) if (HEADER_BYTES..=MESSAGE_BYTES_MAX).contains(&length) => Measure::Bytes(length),
        _ => Measure::Malformed,
    }
}

/// The form of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// The form of today.
    OpMsg {
        /// The client waits for no answer.
        more_to_come: bool,
        /// The client takes several answers.
        exhaust_allowed: bool,
        /// The request has a checksum, and its answer shall have one.
        checksum: bool,
    },
    /// The legacy form.
    OpQuery,
}

/// What has to be known of a request to answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyTo {
    /// The number of the request; where answers are streamed, that of the answer before.
    pub request_id: i32,
    /// The form of the request.
    pub kind: RequestKind,
    /// How the request was compressed.
    pub compressor: Option<Compressor>,
}

/// One command, as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The client's number of the message.
    pub request_id: i32,
    /// The number of the message that it answers; 0 in requests.
    pub response_to: i32,
    /// The form of the message.
    pub kind: RequestKind,
    /// The database that the command is for.
    pub database: String,
    /// The command: its first member names it. `$db` is still in it.
    pub command: Object,
    /// How the message was compressed.
    pub compressor: Option<Compressor>,
}

impl Request {
    /// Returns the name of the command; empty where the command has no member.
    pub fn command_name(&self) -> &str {
        self.command.iter().next().map_or("", |(name, _)| name)
    }

    /// Says whether the client waits for an answer.
    pub fn wants_reply(&self) -> bool {
        !matches!(self.kind, RequestKind::OpMsg { more_to_come: true, .. })
    }

    /// Says whether the client takes several answers.
    pub fn exhaust_allowed(&self) -> bool {
        matches!(self.kind, RequestKind::OpMsg { exhaust_allowed: true, .. })
    }

    /// Returns what has to be known to answer.
    pub fn reply_to(&self) -> ReplyTo {
        ReplyTo { request_id: self.request_id, kind: self.kind, compressor: self.compressor }
    }
}

/// Why a message is no request, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What is wrong.
    pub error: WireError,
    /// To what the error can be answered; `None` where the client waits for nothing or the message is none.
    pub reply_to: Option<ReplyTo>,
    /// Whether to close the connection, after the answer if there is one.
    pub close: bool,
}

#[cfg(test)]
mod tests;
