//! The small binary form inside a token: numbers of variable length, and bytes behind their length.

/// Longest byte string that is read.
const BYTES_MAX: u64 = 1 << 20;

/// Largest count that is read: sums and prices of such never overflow.
pub(super) const NUMBER_MAX: u64 = 1 << 50;

/// Appends a number, seven bits to a byte.
pub(super) fn push_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Appends bytes behind their length.
pub(super) fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Reads what was appended; `None` where it is not there.
pub(super) struct Reader<'b> {
    rest: &'b [u8],
    /// Whether the bytes have steps and paths in them.
    pub(super) has_paths: bool,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8], has_paths: bool) -> Reader<'b> {
        Reader { rest: bytes, has_paths }
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    /// Reads as many bytes as are asked for.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*array)
    }

    /// Reads a number of any size.
    pub(super) fn wide_number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// Reads a number that can be added to others.
    pub(super) fn number(&mut self) -> Option<u64> {
        self.wide_number().filter(|number| *number <= NUMBER_MAX)
    }

    pub(super) fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = self.number().filter(|length| *length <= BYTES_MAX)? as usize;
        let (bytes, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }
}
