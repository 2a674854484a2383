//! The sums by which files of a backup are named and compared.

use std::fmt;

use ring::digest::{Context, SHA256, digest};

/// The SHA-256 of some bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the sum of some bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::from_slice(digest(&SHA256, bytes).as_ref())
    }

    /// Returns the sum of several pieces of bytes, one after the other.
    pub fn of_all<'b>(pieces: impl IntoIterator<Item = &'b [u8]>) -> Digest {
        let mut context = Context::new(&SHA256);
        pieces.into_iter().for_each(|piece| context.update(piece));
        Digest::of_context(context)
    }

    pub(crate) fn of_context(context: Context) -> Digest {
        Digest::from_slice(context.finish().as_ref())
    }

    /// Reads a sum as it is written.
    pub fn parse(text: &str) -> Option<Digest> {
        let text = text.as_bytes();
        if text.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Digest(bytes))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn from_slice(slice: &[u8]) -> Digest {
        Digest(slice.try_into().expect("SHA-256 has 32 bytes"))
    }
}

/// Only what is written is read: two names for one sum would be two files.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_written_and_read() {
        let sum = Digest::of(b"abc");
        assert_eq!(sum.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(Digest::of_all([&b"a"[..], b"", b"bc"]), sum);
        assert_eq!(Digest::parse(&sum.to_string()), Some(sum));
        let upper = sum.to_string().to_uppercase();
        for text in ["", "ba78", &"é".repeat(32), &format!("{sum}0"), &"g".repeat(64), &upper] {
            assert_eq!(Digest::parse(text), None, "{text}");
        }
    }
}
