//! Bytes of a message to a request.

use armilla_value::{Object, Value};

use super::decompress::decompress;
use super::{
    FLAG_CHECKSUM_PRESENT, FLAG_EXHAUST_ALLOWED, FLAG_MORE_TO_COME, FLAGS_UNKNOWN_REQUIRED, HEADER_BYTES,
    Header, OP_COMPRESSED, OP_MSG, OP_QUERY, Refusal, ReplyTo, Request, RequestKind,
};
use crate::bson::{Budget, Duplicates, RawObject, decode_within};
use crate::compress::Compressor;
use crate::error::{WireError, WireErrorKind};
use crate::limits::{COMMAND_BYTES_MAX, MESSAGE_BYTES_MAX, SEQUENCE_COUNT_MAX, WRITE_BATCH_MAX};

const CHECKSUM_BYTES: usize = 4;

/// Makes a request of one whole message.
pub fn parse(message: &[u8]) -> Result<Request, Refusal> {
    let Some(header) = Header::read(message).filter(|header| header.message_bytes == message.len()) else {
        return Err(hang_up("the message is not as long as its header says"));
    };
    if message.len() > MESSAGE_BYTES_MAX {
        return Err(hang_up("the message is too long"));
    }
    match header.opcode {
        OP_COMPRESSED => {
            let (original, compressor) = decompress(message, header).map_err(|error| Refusal {
                error,
                reply_to: None,
                close: true,
            })?;
            let Some(header) = Header::read(&original) else {
                return Err(hang_up("the compressed message has no header"));
            };
            parse_plain(&original, header, Some(compressor))
        }
        _ => parse_plain(message, header, None),
    }
}

fn parse_plain(message: &[u8], header: Header, compressor: Option<Compressor>) -> Result<Request, Refusal> {
    match header.opcode {
        OP_MSG => parse_msg(message, header, compressor),
        OP_QUERY => parse_query(message, header, compressor),
        opcode => Err(hang_up(format!("opcode {opcode} is not supported"))),
    }
}

fn parse_msg(message: &[u8], header: Header, compressor: Option<Compressor>) -> Result<Request, Refusal> {
    let Some(flags) = message.get(HEADER_BYTES..).and_then(|body| body.first_chunk()) else {
        return Err(hang_up("the message has no flags"));
    };
    let flags = u32::from_le_bytes(*flags);
    let checksum = flags & FLAG_CHECKSUM_PRESENT != 0;
    let more_to_come = flags & FLAG_MORE_TO_COME != 0;
    let kind =
        RequestKind::OpMsg { more_to_come, exhaust_allowed: flags & FLAG_EXHAUST_ALLOWED != 0, checksum };
    let reply_to =
        if more_to_come { None } else { Some(ReplyTo { request_id: header.request_id, kind, compressor }) };
    let refuse = |error: WireError| {
        // What one message got wrong says nothing of the next, unless the bytes themselves cannot be trusted.
        let close = matches!(
            error.kind,
            WireErrorKind::IllegalFlag | WireErrorKind::ChecksumMismatch | WireErrorKind::Malformed
        );
        Refusal { error, reply_to, close }
    };
    if flags & FLAGS_UNKNOWN_REQUIRED != 0 {
        return Err(refuse(WireError::new(
            WireErrorKind::IllegalFlag,
            223,
            format!("Message contains illegal flags value: Ob{flags:032b}"),
        )));
    }
    let mut sections = &message[HEADER_BYTES + 4..];
    if checksum {
        sections = verify_checksum(message).map_err(refuse)?;
    }
    let command = read_sections(sections).map_err(refuse)?;
    let database = match command.get("$db") {
        Some(Value::String(database)) => database.clone(),
        Some(_) => {
            return Err(refuse(WireError::new(WireErrorKind::NoDatabase, 14, "$db must be a string")));
        }
        None => {
            return Err(refuse(WireError::new(
                WireErrorKind::NoDatabase,
                40571,
                "OP_MSG requests require a $db argument",
            )));
        }
    };
    Ok(Request {
        request_id: header.request_id,
        response_to: header.response_to,
        kind,
        database,
        command,
        compressor,
    })
}

/// Checks the checksum at the end of a message and returns the sections.
fn verify_checksum(message: &[u8]) -> Result<&[u8], WireError> {
    let (covered, sum) = message
        .split_last_chunk::<CHECKSUM_BYTES>()
        .filter(|(covered, _)| covered.len() > HEADER_BYTES + 4)
        .ok_or_else(|| {
            WireError::new(
                WireErrorKind::Malformed,
                51251,
                "Invalid message size for an OpMsg containing a checksum",
            )
        })?;
    if crc32c::crc32c(covered) != u32::from_le_bytes(*sum) {
        return Err(WireError::new(
            WireErrorKind::ChecksumMismatch,
            288,
            "OP_MSG checksum does not match contents",
        ));
    }
    Ok(&covered[HEADER_BYTES + 4..])
}

fn bad_sections(code: i32, message: impl Into<String>) -> WireError {
    WireError::new(WireErrorKind::BadSections, code, message)
}

/// Reads the body and the sequences, and makes one command of them.
fn read_sections(mut rest: &[u8]) -> Result<Object, WireError> {
    let mut budget = Budget::new(Duplicates::Refuse);
    let mut body: Option<Object> = None;
    let mut sequences: Vec<(&str, Vec<Value>)> = Vec::new();
    while let Some((&kind, after)) = rest.split_first() {
        match kind {
            0 => {
                if body.is_some() {
                    return Err(bad_sections(40430, "Multiple body sections in message"));
                }
                let (document, after) = RawObject::prefix(after)?;
                body = Some(read_document(document, &mut budget)?);
                rest = after;
            }
            1 => {
                if sequences.len() == SEQUENCE_COUNT_MAX {
                    return Err(bad_sections(233, "Too many document sequences in OP_MSG"));
                }
                let (name, documents, after) = split_sequence(after)?;
                if sequences.iter().any(|(own, _)| *own == name) {
                    return Err(bad_sections(40431, format!("Duplicate document sequence: {name}")));
                }
                sequences.push((name, read_sequence(documents, &mut budget)?));
                rest = after;
            }
            // Where the next section begins is not known.
            _ => {
                return Err(WireError::new(
                    WireErrorKind::Malformed,
                    40432,
                    format!("Unknown section kind {kind}"),
                ));
            }
        }
    }
    let mut body = body.ok_or_else(|| bad_sections(40587, "OP_MSG messages must have a body"))?;
    for (name, documents) in sequences {
        if body.contains(name) {
            return Err(bad_sections(
                40433,
                format!("Duplicate field between body and document sequence {name}"),
            ));
        }
        body.insert(name, Value::Array(documents));
    }
    Ok(body)
}

/// Cuts a sequence of documents off: its name, its documents, and what comes after it.
fn split_sequence(bytes: &[u8]) -> Result<(&str, &[u8], &[u8]), WireError> {
    let malformed = || WireError::malformed("a document sequence is not as long as it says");
    let length = bytes.first_chunk().ok_or_else(malformed)?;
    let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| malformed())?;
    if length < 4 {
        return Err(malformed());
    }
    let (sequence, after) = bytes.split_at_checked(length).ok_or_else(malformed)?;
    let sequence = &sequence[4..];
    let name_end = sequence.iter().position(|&byte| byte == 0).ok_or_else(malformed)?;
    let name = std::str::from_utf8(&sequence[..name_end])
        .map_err(|_| WireError::invalid_bson("the name of a document sequence is not UTF-8"))?;
    Ok((name, &sequence[name_end + 1..], after))
}

fn read_sequence(bytes: &[u8], budget: &mut Budget) -> Result<Vec<Value>, WireError> {
    // Counted first: a refused batch then costs no memory, and the others take what they need at once.
    let mut count = 0;
    let mut rest = bytes;
    while !rest.is_empty() {
        rest = RawObject::prefix(rest)?.1;
        count += 1;
    }
    if count > WRITE_BATCH_MAX {
        return Err(WireError::new(
            WireErrorKind::TooLarge,
            16,
            format!("Write batch sizes must be between 1 and {WRITE_BATCH_MAX}. Got {count} operations."),
        ));
    }
    let mut documents = Vec::with_capacity(count);
    let mut rest = bytes;
    while !rest.is_empty() {
        let (document, after) = RawObject::prefix(rest)?;
        documents.push(Value::Object(read_document(document, budget)?));
        rest = after;
    }
    Ok(documents)
}

fn read_document(document: RawObject<'_>, budget: &mut Budget) -> Result<Object, WireError> {
    let bytes = document.as_bytes();
    if bytes.len() > COMMAND_BYTES_MAX {
        return Err(WireError::too_large(bytes.len()));
    }
    decode_within(bytes, budget)
}

fn parse_query(message: &[u8], header: Header, compressor: Option<Compressor>) -> Result<Request, Refusal> {
    let kind = RequestKind::OpQuery;
    let reply_to = Some(ReplyTo { request_id: header.request_id, kind, compressor });
    // The flags and, after the name, the two counts mean nothing for a command.
    let rest = message.get(HEADER_BYTES + 4..).unwrap_or_default();
    let Some(name_end) = rest.iter().position(|&byte| byte == 0) else {
        return Err(hang_up("the query has no collection"));
    };
    let Ok(collection) = std::str::from_utf8(&rest[..name_end]) else {
        return Err(hang_up("the query has a collection that is not UTF-8"));
    };
    let Some(document) = rest.get(name_end + 1 + 8..) else {
        return Err(hang_up("the query ends too early"));
    };
    let refuse = |error: WireError| Refusal { error, reply_to, close: false };
    let unsupported = |name: &str| {
        refuse(WireError::new(
            WireErrorKind::UnsupportedQuery,
            352,
            format!(
                "Unsupported OP_QUERY command: {name}. The client driver may require an upgrade. For more details \
                 see https://dochub.mongodb.org/core/legacy-opcode-removal"
            ),
        ))
    };
    let Some(database) = collection.strip_suffix(".$cmd") else {
        return Err(unsupported("find"));
    };
    // A second document may follow, which chose members when queries could ask for data.
    let (document, _) = RawObject::prefix(document).map_err(refuse)?;
    let mut command = read_document(document, &mut Budget::new(Duplicates::Refuse)).map_err(refuse)?;
    for wrapper in ["$query", "query"] {
        if matches!(command.iter().next(), Some((name, Value::Object(_))) if name == wrapper)
            && let Some(Value::Object(inner)) = command.remove(wrapper)
        {
            command = inner;
            break;
        }
    }
    let name = command.iter().next().map_or("", |(name, _)| name);
    if !["hello", "ismaster"].iter().any(|known| known.eq_ignore_ascii_case(name)) {
        return Err(unsupported(name));
    }
    Ok(Request {
        request_id: header.request_id,
        response_to: header.response_to,
        kind,
        database: database.to_owned(),
        command,
        compressor,
    })
}

fn hang_up(message: impl Into<String>) -> Refusal {
    Refusal { error: WireError::malformed(message), reply_to: None, close: true }
}
