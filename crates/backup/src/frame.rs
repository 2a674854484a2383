//! What is sent of a walk: segments one after the other, and at the end what they must add up to.
//!
//! ```text
//! magic "AEND" (4)  version 1 (1)  then for each space:  id (8)  entries (8)  bytes of keys and values (8)
//! ```
//!
//! The sender counts what it has read, the receiver what it has written; a segment that got lost on the way, whatever
//! the way, shows at the end.

use armilla_kv::SpaceId;
use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::error::{Error, Result};
use crate::segment::{self, Segment};

const END_MAGIC: &[u8; 4] = b"AEND";
const END_VERSION: u8 = 1;
const TOTALS_BYTES: usize = 24;

/// What a space held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpaceTotals {
    /// The space.
    pub space: SpaceId,
    /// Its entries, in all families.
    pub entries: u64,
    /// The bytes of their keys and values.
    pub bytes: u64,
}

/// One piece of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Entries.
    Segment(Segment),
    /// There are no more: what each space that holds something has, in the order of their ids.
    End(Vec<SpaceTotals>),
}

impl Frame {
    /// Whether bytes are those of the last frame, as far as their beginning says. Cheaper than reading them.
    pub fn is_end(bytes: &[u8]) -> bool {
        bytes.starts_with(END_MAGIC)
    }

    /// Reads a frame.
    pub fn decode(bytes: &Bytes) -> Result<Frame> {
        match bytes.get(..END_MAGIC.len()) {
            Some(magic) if magic == segment::MAGIC => Segment::decode(bytes).map(Frame::Segment),
            Some(magic) if magic == END_MAGIC => decode_end(bytes.slice(END_MAGIC.len()..)).map(Frame::End),
            _ => Err(Error::malformed("these bytes are no part of a backup")),
        }
    }
}

pub(crate) fn encode_end(totals: &[SpaceTotals]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(5 + totals.len() * TOTALS_BYTES);
    bytes.put_slice(END_MAGIC);
    bytes.put_u8(END_VERSION);
    for SpaceTotals { space, entries, bytes: content } in totals {
        bytes.put_u64(space.0);
        bytes.put_u64(*entries);
        bytes.put_u64(*content);
    }
    bytes.freeze()
}

fn decode_end(mut rest: Bytes) -> Result<Vec<SpaceTotals>> {
    if rest.is_empty() || rest.get_u8() != END_VERSION || !rest.remaining().is_multiple_of(TOTALS_BYTES) {
        return Err(Error::malformed("the end of the backup cannot be read"));
    }
    let mut totals = Vec::with_capacity(rest.remaining() / TOTALS_BYTES);
    while rest.has_remaining() {
        let space = SpaceId(rest.get_u64());
        totals.push(SpaceTotals { space, entries: rest.get_u64(), bytes: rest.get_u64() });
    }
    Ok(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_written_and_read() {
        let totals = vec![
            SpaceTotals { space: SpaceId(0), entries: 1, bytes: 2 },
            SpaceTotals { space: SpaceId(u64::MAX), entries: u64::MAX, bytes: 0 },
        ];
        for totals in [&totals[..0], &totals[..1], &totals] {
            assert_eq!(Frame::decode(&encode_end(totals)).unwrap(), Frame::End(totals.to_vec()));
            assert!(Frame::is_end(&encode_end(totals)));
        }
        let whole = encode_end(&totals);
        for length in (0..whole.len()).filter(|length: &usize| !(length + 19).is_multiple_of(24)) {
            assert!(Frame::decode(&whole.slice(..length)).is_err(), "{length}");
        }
    }
}
