//! Frames: what goes over a connection once both sides have proved what they are.
//!
//! ```text
//! length of the payload   u32, little endian
//! kind                    u8
//! id of the call          u64, little endian; 0 where there is none
//! payload
//! ```

use std::fmt;

use bytes::Bytes;

use crate::limits::{FRAME_BYTES_MAX, RESERVED_BYTES_MAX};

/// Bytes before the payload.
pub(crate) const HEADER_BYTES: usize = 13;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A request that is to be answered.
    Call = 1,
    /// A request without an answer.
    Tell = 2,
    /// The answer to a call.
    Answer = 3,
    /// The call failed, and the payload says why.
    Failed = 4,
    /// The call was not begun, because the server ends.
    NotBegun = 5,
    /// The caller has given the call up.
    Cancel = 6,
    /// Nothing but that the sender is alive.
    Alive = 7,
    /// The server ends: it begins no more calls, and waits for the caller to close.
    Ending = 8,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        let kinds = [
            Kind::Call,
            Kind::Tell,
            Kind::Answer,
            Kind::Failed,
            Kind::NotBegun,
            Kind::Cancel,
            Kind::Alive,
            Kind::Ending,
        ];
        kinds.into_iter().find(|kind| *kind as u8 == byte)
    }
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) kind: Kind,
    pub(crate) id: u64,
    pub(crate) payload: Bytes,
}

impl Frame {
    /// Returns a frame that has nothing but its kind and an id.
    pub(crate) fn bare(kind: Kind, id: u64) -> Frame {
        Frame { kind, id, payload: Bytes::new() }
    }

    /// Returns what stands before the payload.
    pub(crate) fn header(&self) -> [u8; HEADER_BYTES] {
        let length = u32::try_from(self.payload.len()).expect("payloads are bounded before they are queued");
        let mut header = [0; HEADER_BYTES];
        header[..4].copy_from_slice(&length.to_le_bytes());
        header[4] = self.kind as u8;
        header[5..].copy_from_slice(&self.id.to_le_bytes());
        header
    }
}

/// What came is not a frame, or none that may come from that side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// There is no such kind.
    Kind(u8),
    /// The payload is too large.
    Length(u32),
    /// A frame that may not come now, or not from this side.
    Unexpected(Kind),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Kind(byte) => write!(f, "a frame of the unknown kind {byte}"),
            Malformed::Length(length) => write!(f, "a frame of {length} bytes"),
            Malformed::Unexpected(kind) => write!(f, "an unexpected frame of the kind {kind:?}"),
        }
    }
}

/// Cuts what comes into frames.
#[derive(Default)]
pub(crate) struct Decoder {
    /// The beginning of a header.
    header: [u8; HEADER_BYTES],
    filled: usize,
    body: Option<Body>,
}

/// A frame whose payload has not come as a whole.
struct Body {
    kind: Kind,
    id: u64,
    length: usize,
    payload: Vec<u8>,
}

impl Decoder {
    /// Tells whether a frame has come in part.
    pub(crate) fn is_amid(&self) -> bool {
        self.filled > 0 || self.body.is_some()
    }

    /// Takes bytes and adds the frames that are complete with them.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), Malformed> {
        loop {
            if let Some(body) = &mut self.body {
                let (now, later) = bytes.split_at(bytes.len().min(body.length - body.payload.len()));
                body.payload.extend_from_slice(now);
                bytes = later;
                if body.payload.len() < body.length {
                    return Ok(());
                }
                if let Some(Body { kind, id, payload, .. }) = self.body.take() {
                    frames.push(Frame { kind, id, payload: payload.into() });
                }
            }
            let header = if self.filled == 0 && bytes.len() >= HEADER_BYTES {
                let (header, later) = bytes.split_at(HEADER_BYTES);
                bytes = later;
                header
            } else {
                let (now, later) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.filled));
                self.header[self.filled..self.filled + now.len()].copy_from_slice(now);
                self.filled += now.len();
                bytes = later;
                if self.filled < HEADER_BYTES {
                    return Ok(());
                }
                self.filled = 0;
                &self.header
            };
            let (kind, id, length) = parse(header)?;
            if bytes.len() >= length {
                let (payload, later) = bytes.split_at(length);
                // A copy of its own, so that one small answer does not hold all that came with it.
                frames.push(Frame { kind, id, payload: Bytes::copy_from_slice(payload) });
                bytes = later;
            } else {
                let payload = Vec::with_capacity(length.min(RESERVED_BYTES_MAX));
                self.body = Some(Body { kind, id, length, payload });
            }
        }
    }
}

fn parse(header: &[u8]) -> Result<(Kind, u64, usize), Malformed> {
    let (mut length, mut id) = ([0; 4], [0; 8]);
    length.copy_from_slice(&header[..4]);
    id.copy_from_slice(&header[5..HEADER_BYTES]);
    let length = u32::from_le_bytes(length);
    let kind = Kind::of(header[4]).ok_or(Malformed::Kind(header[4]))?;
    match usize::try_from(length) {
        Ok(bytes) if bytes <= FRAME_BYTES_MAX => Ok((kind, u64::from_le_bytes(id), bytes)),
        _ => Err(Malformed::Length(length)),
    }
}

#[cfg(test)]
mod tests;
