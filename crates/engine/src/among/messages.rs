//! What the keeper of the resource tree and those who have a copy of it say to each other.

use armilla_container::wire::{In, Out, unreadable};
use bytes::Bytes;

use crate::error::{Error, ErrorKind, Result};
use crate::neighbours::Written;

/// What is new? Answered when something is, or after a while.
pub(super) const FOLLOW: u8 = 1;
/// May I change the tree? Answered with what is new, once no other may.
pub(super) const LOCK: u8 = 2;
/// Store this.
pub(super) const COMMIT: u8 = 3;
/// I do not change it any more.
pub(super) const UNLOCK: u8 = 4;

/// Split or merge these partitions, which you have.
pub(super) const RESHAPE: u8 = 5;
/// What do your partitions do and hold?
pub(super) const FIGURES: u8 = 6;

/// What a copy lacks.
pub(super) struct News {
    /// Which keeper's numbers these are.
    pub(super) epoch: u64,
    /// The number of the last change.
    pub(super) number: u64,
    /// Whether these are all records, and not those that were changed.
    pub(super) is_whole: bool,
    pub(super) records: Vec<Written>,
}

impl News {
    pub(super) fn write(&self, out: &mut Out) {
        out.u64(self.epoch);
        out.u64(self.number);
        out.bool(self.is_whole);
        write_records(&self.records, out);
    }

    pub(super) fn read(from: &mut In) -> Result<News> {
        Ok(News {
            epoch: from.u64()?,
            number: from.u64()?,
            is_whole: from.bool()?,
            records: read_records(from)?,
        })
    }
}

pub(super) fn write_records(records: &[Written], out: &mut Out) {
    out.list(records, |out, (key, value)| {
        out.bytes(key);
        out.option(value.as_ref(), |out, value| out.bytes(value));
    });
}

pub(super) fn read_records(from: &mut In) -> Result<Vec<Written>> {
    Ok(from.list(|from| Ok((from.bytes()?, from.option(In::bytes)?)))?)
}

/// How a refusal is said: those that tell who asks what to do.
const KINDS: [ErrorKind; 7] = [
    ErrorKind::Unavailable,
    ErrorKind::OutcomeUnknown,
    ErrorKind::Corrupt,
    ErrorKind::RangeGone,
    ErrorKind::Internal,
    ErrorKind::Locked,
    ErrorKind::Invalid,
];

/// Writes an answer.
pub(super) fn answer(answer: Result<Out>) -> Bytes {
    match answer {
        Ok(out) => out.finish(),
        Err(error) => {
            let mut out = Out::with_capacity(128);
            let place = KINDS.iter().position(|kind| *kind == error.kind).unwrap_or(0);
            out.u8(u8::try_from(place + 1).unwrap_or(1));
            out.text(&error.message);
            out.finish()
        }
    }
}

/// Begins an answer.
pub(super) fn done() -> Out {
    let mut out = Out::with_capacity(256);
    out.u8(0);
    out
}

/// Reads an answer up to what it says.
pub(super) fn read_answer(answer: Bytes) -> Result<In> {
    let mut from = In::new(answer);
    match from.u8()? {
        0 => Ok(from),
        place => {
            let kind = KINDS.get(usize::from(place) - 1).copied().ok_or_else(unreadable)?;
            Err(Error::new(kind, from.text()?))
        }
    }
}
