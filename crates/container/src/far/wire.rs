//! Bytes of what processes say to each other: numbers of fixed size, and bytes behind their length.
//!
//! What cannot be read is refused, never guessed: it may come from a process of another version.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::error::{Error, ErrorKind, Result};

/// Something that is being written.
pub struct Out(BytesMut);

impl Out {
    /// Begins something of about so many bytes.
    pub fn with_capacity(bytes: usize) -> Out {
        Out(BytesMut::with_capacity(bytes))
    }

    /// Returns all of it.
    pub fn finish(self) -> Bytes {
        self.0.freeze()
    }

    /// Writes a number.
    pub fn u8(&mut self, number: u8) {
        self.0.put_u8(number);
    }

    /// Writes whether something is so.
    pub fn bool(&mut self, value: bool) {
        self.0.put_u8(value.into());
    }

    /// Writes a number.
    pub fn u32(&mut self, number: u32) {
        self.0.put_u32(number);
    }

    /// Writes a number.
    pub fn u64(&mut self, number: u64) {
        self.0.put_u64(number);
    }

    /// A number that fits 32 bits, as that of the parts of something that lies in memory.
    pub fn count(&mut self, count: usize) {
        self.0.put_u32(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Writes bytes.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.put_slice(bytes);
    }

    /// Writes text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Writes something, or that it is not there.
    pub fn option<T>(&mut self, value: Option<T>, write: impl FnOnce(&mut Out, T)) {
        self.bool(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }

    /// Writes a list.
    pub fn list<T>(&mut self, values: &[T], mut write: impl FnMut(&mut Out, &T)) {
        self.count(values.len());
        values.iter().for_each(|value| write(self, value));
    }
}

/// Something that is being read.
pub struct In(Bytes);

/// Returns the refusal of what cannot be read.
pub fn unreadable() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "another node said something that this one does not understand: it may be of another version",
    )
}

impl In {
    /// Reads from the beginning.
    pub fn new(bytes: Bytes) -> In {
        In(bytes)
    }

    /// Refuses what is longer than it should be.
    pub fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(unreadable()) }
    }

    /// Reads a number.
    pub fn u8(&mut self) -> Result<u8> {
        self.0.try_get_u8().map_err(|_| unreadable())
    }

    /// Reads whether something is so.
    pub fn bool(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(unreadable()),
        }
    }

    /// Reads a number.
    pub fn u32(&mut self) -> Result<u32> {
        self.0.try_get_u32().map_err(|_| unreadable())
    }

    /// Reads a number.
    pub fn u64(&mut self) -> Result<u64> {
        self.0.try_get_u64().map_err(|_| unreadable())
    }

    /// Reads the number of parts, each of which takes a byte at least.
    pub fn count(&mut self) -> Result<usize> {
        let count = self.u32()? as usize;
        if count <= self.0.len() { Ok(count) } else { Err(unreadable()) }
    }

    /// Reads bytes.
    pub fn bytes(&mut self) -> Result<Bytes> {
        let length = self.count()?;
        Ok(self.0.split_to(length))
    }

    /// Reads text.
    pub fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?.into()).map_err(|_| unreadable())
    }

    /// Reads something that may not be there.
    pub fn option<T>(&mut self, read: impl FnOnce(&mut In) -> Result<T>) -> Result<Option<T>> {
        if self.bool()? { read(self).map(Some) } else { Ok(None) }
    }

    /// Reads a list.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut In) -> Result<T>) -> Result<Vec<T>> {
        let count = self.count()?;
        (0..count).map(|_| read(self)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut out = Out::with_capacity(0);
        out.u8(1);
        out.u32(3);
        out.u64(4);
        out.bool(true);
        out.text("grüße");
        out.option(Some("x"), Out::text);
        out.option(None::<&str>, Out::text);
        out.list(&[1u64, 2], |out, number| out.u64(*number));
        let mut read = In::new(out.finish());
        assert_eq!((read.u8().unwrap(), read.u32().unwrap()), (1, 3));
        assert_eq!((read.u64().unwrap(), read.bool().unwrap()), (4, true));
        assert_eq!(read.text().unwrap(), "grüße");
        assert_eq!(read.option(In::text).unwrap().as_deref(), Some("x"));
        assert_eq!(read.option(In::text).unwrap(), None);
        assert_eq!(read.list(In::u64).unwrap(), [1, 2]);
        read.end().unwrap();
    }

    #[test]
    fn what_is_cut_short_or_too_long_is_refused() {
        let mut out = Out::with_capacity(0);
        out.text("abc");
        let whole = out.finish();
        for length in 0..whole.len() {
            assert!(In::new(whole.slice(..length)).text().is_err());
        }
        assert!(In::new(whole).end().is_err());
        assert!(In::new(Bytes::from_static(&[0xFF; 8])).bytes().is_err());
        assert!(In::new(Bytes::from_static(&[2])).bool().is_err());
    }
}
