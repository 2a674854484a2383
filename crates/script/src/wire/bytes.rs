//! The bytes of frames, and taking frames out of a stream.

use std::fmt;
use std::ops::Range;

use crate::limits::FRAME_BYTES_MAX;

/// How many bytes say how long a frame is.
const LENGTH_BYTES: usize = 4;

/// Bytes that no frame is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the bytes are no frame")
    }
}

impl std::error::Error for Malformed {}

/// Writes one frame.
pub(super) struct Writer<'f> {
    frame: &'f mut Vec<u8>,
    start: usize,
}

impl<'f> Writer<'f> {
    pub(super) fn begin(frame: &'f mut Vec<u8>) -> Writer<'f> {
        let start = frame.len();
        frame.extend_from_slice(&[0; LENGTH_BYTES]);
        Writer { frame, start }
    }

    /// Goes on with fields that belong into a frame later.
    pub(super) fn resume(fields: &'f mut Vec<u8>) -> Writer<'f> {
        let start = fields.len();
        Writer { frame: fields, start }
    }

    pub(super) fn end(self) {
        let length = self.frame.len() - self.start - LENGTH_BYTES;
        // A frame that is too long is refused by its reader, whatever its length says then.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.frame[self.start..self.start + LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
    }

    pub(super) fn tag(&mut self, tag: u8) -> &mut Self {
        self.frame.push(tag);
        self
    }

    pub(super) fn flag(&mut self, flag: bool) -> &mut Self {
        self.tag(flag.into())
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        self.frame.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn double(&mut self, number: f64) -> &mut Self {
        self.number(number.to_bits())
    }

    /// Appends fields that are encoded already.
    pub(super) fn raw(&mut self, fields: &[u8]) -> &mut Self {
        self.frame.extend_from_slice(fields);
        self
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.frame.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.bytes(text.as_bytes())
    }

    pub(super) fn optional(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.tag(1).text(text),
            None => self.tag(0),
        }
    }
}

/// Reads one frame.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(super) fn end(self) -> Result<(), Malformed> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed) }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(super) fn tag(&mut self) -> Result<u8, Malformed> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.tag()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    pub(super) fn number(&mut self) -> Result<u64, Malformed> {
        let bytes = self.take(8)?.try_into().map_err(|_| Malformed)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn double(&mut self) -> Result<f64, Malformed> {
        Ok(f64::from_bits(self.number()?))
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed)?;
        self.take(length)
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Malformed)
    }

    pub(super) fn optional(&mut self) -> Result<Option<&'a str>, Malformed> {
        Ok(if self.flag()? { Some(self.text()?) } else { None })
    }
}

/// Bytes that have come, and the frames in them.
#[derive(Default)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Where what was not taken yet begins.
    start: usize,
    /// Where it ends.
    end: usize,
    /// Where the frame lies that was taken last.
    frame: Range<usize>,
}

/// Room for as much is made before each read.
const READ_BYTES: usize = 16 * 1024;

/// What is kept between frames, at most.
const KEPT_BYTES_MAX: usize = 256 * 1024;

impl Frames {
    /// Adds what `read` puts into a buffer; returns how much that was.
    pub fn fill<E>(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize, E>) -> Result<usize, E> {
        if self.start == self.end {
            (self.start, self.end, self.frame) = (0, 0, 0..0);
            if self.buffer.len() > KEPT_BYTES_MAX {
                self.buffer.truncate(KEPT_BYTES_MAX);
                self.buffer.shrink_to_fit();
            }
        }
        if self.buffer.len() - self.end < READ_BYTES {
            // Twice as much each time, so that a long frame is not copied often.
            self.buffer.resize(self.end + READ_BYTES.max(self.end), 0);
        }
        let count = read(&mut self.buffer[self.end..])?;
        self.end += count.min(self.buffer.len() - self.end);
        Ok(count)
    }

    /// Takes the next frame if it is all there. Says whether it is; [`Frames::frame`] has it then.
    pub fn take(&mut self) -> Result<bool, Malformed> {
        let come = &self.buffer[self.start..self.end];
        let Some((length, rest)) = come.split_first_chunk::<LENGTH_BYTES>() else { return Ok(false) };
        let length = u32::from_le_bytes(*length) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(Malformed);
        }
        if rest.len() < length {
            return Ok(false);
        }
        let begin = self.start + LENGTH_BYTES;
        self.start = begin + length;
        self.frame = begin..self.start;
        Ok(true)
    }

    /// Returns the frame that was taken last, without its length.
    pub fn frame(&self) -> &[u8] {
        &self.buffer[self.frame.clone()]
    }

    /// Says whether nothing has come that was not taken.
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }
}
