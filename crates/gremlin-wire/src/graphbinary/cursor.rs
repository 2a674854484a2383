//! A place in bytes that are read; nothing is trusted that they say of their own length.

use std::sync::Arc;

use crate::error::Fault;

/// Bytes and how far they were read.
#[derive(Debug)]
pub(crate) struct Cursor<'b> {
    rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Cursor<'b> {
        Cursor { rest: bytes }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, length: usize) -> Result<&'b [u8], Fault> {
        match self.rest.split_at_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(Fault::new("The message ends too early.")),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        match self.rest.split_first_chunk() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(Fault::new("The message ends too early.")),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Fault> {
        self.array().map(|[byte]| byte)
    }

    pub(crate) fn i8(&mut self) -> Result<i8, Fault> {
        self.array().map(i8::from_be_bytes)
    }

    pub(crate) fn i16(&mut self) -> Result<i16, Fault> {
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Fault> {
        self.array().map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Fault> {
        self.array().map(i64::from_be_bytes)
    }

    pub(crate) fn f32(&mut self) -> Result<f32, Fault> {
        self.array().map(f32::from_be_bytes)
    }

    pub(crate) fn f64(&mut self) -> Result<f64, Fault> {
        self.array().map(f64::from_be_bytes)
    }

    pub(crate) fn uuid(&mut self) -> Result<u128, Fault> {
        self.array().map(u128::from_be_bytes)
    }

    /// Reads a length, which cannot be more than bytes that are left.
    pub(crate) fn length(&mut self) -> Result<usize, Fault> {
        let length = self.i32()?;
        match usize::try_from(length) {
            Ok(length) if length <= self.rest.len() => Ok(length),
            _ => Err(Fault::new(format!("A length of {length} is not one of this message."))),
        }
    }

    pub(crate) fn str(&mut self) -> Result<&'b str, Fault> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| Fault::new("A string is not UTF-8."))
    }

    pub(crate) fn string(&mut self) -> Result<Arc<str>, Fault> {
        self.str().map(Arc::from)
    }

    /// Reads one character of UTF-8.
    pub(crate) fn char(&mut self) -> Result<char, Fault> {
        let length = match self.rest.first() {
            Some(0..=0x7f) | None => 1,
            Some(0..=0xdf) => 2,
            Some(0..=0xef) => 3,
            Some(_) => 4,
        };
        let text = std::str::from_utf8(self.take(length)?).ok();
        text.and_then(|text| text.chars().next()).ok_or_else(|| Fault::new("A character is not UTF-8."))
    }
}
