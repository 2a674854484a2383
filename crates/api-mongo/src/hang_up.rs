//! Which messages need no answer once their client has gone: those that only read.
//!
//! Told from the first bytes of a message, without reading it. A write goes on: a client may send one and leave. So does
//! what belongs to a transaction, and a pipeline that writes its documents somewhere. A compressed message is not looked
//! into, and goes on too.

use armilla_mongo_wire::message;

/// The kind of messages that commands come in, and the flag of one that wants no answer.
const OP_MSG: u32 = message::OP_MSG as u32;
const MORE_TO_COME: u32 = 1 << 1;

/// Commands that only read.
const READING: [&[u8]; 10] = [
    b"find",
    b"aggregate",
    b"getMore",
    b"count",
    b"distinct",
    b"explain",
    b"collStats",
    b"dbStats",
    b"validate",
    b"listIndexes",
];

/// Bytes that are found in a message that also writes, or belongs to a transaction.
const WRITING: [&[u8]; 3] = [b"\x03$merge\0", b"$out\0", b"\x08autocommit\0"];

/// Bytes of a message that is looked through for them; a longer one goes on.
const MESSAGE_BYTES_MAX: usize = 64 * 1024;

/// Says whether a message asks for nothing but its answer.
pub fn ends_with_client(message: &[u8]) -> bool {
    message.len() <= MESSAGE_BYTES_MAX
        && name(message).is_some_and(|name| READING.contains(&name))
        && !WRITING.iter().any(|mark| message.windows(mark.len()).any(|part| part == *mark))
}

/// Returns the name of the command that a message begins with.
fn name(message: &[u8]) -> Option<&[u8]> {
    let number = |at: usize| Some(u32::from_le_bytes(*message.get(at..)?.first_chunk()?));
    let is_plain = number(12)? == OP_MSG && number(16)? & MORE_TO_COME == 0;
    // The section with the command comes first, as drivers send it; its document begins with the length.
    let command = message.get(20..).filter(|_| is_plain)?.strip_prefix(b"\0")?.get(4..)?;
    let name = command.get(1..)?;
    name.get(..name.iter().position(|byte| *byte == 0)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(flags: u32, document: &[u8]) -> Vec<u8> {
        let head = [0, 1, 0, OP_MSG, flags].map(u32::to_le_bytes).concat();
        [&head, &b"\0"[..], &(document.len() as u32 + 4).to_le_bytes(), document].concat()
    }

    #[test]
    fn what_only_reads_ends_with_its_client() {
        let reads = [&b"\x02find\0\x02\0\0\0a\0\0"[..], b"\x02aggregate\0", b"\x12getMore\0"];
        for document in reads {
            assert!(ends_with_client(&message(0, document)), "{document:?}");
        }
        let writes: [&[u8]; 6] = [
            b"\x02insert\0\x02\0\0\0a\0\0",
            b"\x02finds\0",
            b"\x02find",
            b"\x02find\0\x02\0\0\0a\0\x08autocommit\0\0",
            b"\x02aggregate\0\x02\0\0\0a\0\x02$out\0\x02\0\0\0b\0",
            b"\x02aggregate\0\x02\0\0\0a\0\x03$merge\0",
        ];
        for document in writes {
            assert!(!ends_with_client(&message(0, document)), "{document:?}");
        }
        assert!(!ends_with_client(&message(MORE_TO_COME, b"\x02find\0")), "no answer was asked for");
        let whole = message(0, b"\x02find\0");
        for length in 0..whole.len() {
            assert!(!ends_with_client(&whole[..length]), "{length}");
        }
    }
}
