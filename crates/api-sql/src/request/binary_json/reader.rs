//! Walks the bytes once and writes the text as it goes.

use super::error::BinaryJsonError;
use super::markers as m;
use super::packed;
use crate::json_text;
use crate::limits::BINARY_JSON_DEPTH_MAX;

type Result<T> = std::result::Result<T, BinaryJsonError>;

/// Integers up to here are the same as doubles and as whole numbers.
const EXACT_INTEGER_MAX: f64 = 9_007_199_254_740_992.0;

/// Reads the one value behind the preamble.
pub(super) fn read(body: &[u8], text_bytes_max: usize) -> Result<Vec<u8>> {
    let text = Vec::with_capacity(body.len().saturating_mul(2).min(text_bytes_max));
    let mut reader = Reader { body, position: 1, end: body.len(), text, text_bytes_max };
    reader.value(0)?;
    if reader.position != body.len() {
        return Err(malformed(reader.position, "bytes follow the value"));
    }
    Ok(reader.text)
}

fn malformed(position: usize, reason: &'static str) -> BinaryJsonError {
    BinaryJsonError::Malformed { position, reason }
}

struct Reader<'a> {
    body: &'a [u8],
    /// The next byte.
    position: usize,
    /// The end of the array or object that is being read; nothing in it may reach beyond.
    end: usize,
    text: Vec<u8>,
    text_bytes_max: usize,
}

/// How an array or object says where it ends.
enum Extent {
    Empty,
    One,
    Bytes { width: usize },
    BytesAndCount { width: usize },
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let stop = self.position.checked_add(count).filter(|stop| *stop <= self.end);
        let stop = stop.ok_or_else(|| malformed(self.position, "the bytes end inside a value"))?;
        let taken = &self.body[self.position..stop];
        self.position = stop;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let taken = self.take(N)?;
        Ok(taken.try_into().expect("exactly as many bytes as asked for"))
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Reads an unsigned number of 1 to 4 bytes.
    fn length(&mut self, width: usize) -> Result<usize> {
        let mut bytes = [0; 4];
        bytes[..width].copy_from_slice(self.take(width)?);
        usize::try_from(u32::from_le_bytes(bytes))
            .map_err(|_| malformed(self.position, "a length is too large"))
    }

    /// Called after every piece of text, so that no input makes it grow much beyond its bound.
    fn check_length(&self) -> Result<()> {
        if self.text.len() > self.text_bytes_max { Err(BinaryJsonError::TooLarge) } else { Ok(()) }
    }

    fn push(&mut self, part: &[u8]) -> Result<()> {
        self.text.extend_from_slice(part);
        self.check_length()
    }

    fn push_string(&mut self, string: &str) -> Result<()> {
        json_text::push_string(&mut self.text, string);
        self.check_length()
    }

    fn push_integer(&mut self, number: impl Into<i128>) -> Result<()> {
        json_text::push_integer(&mut self.text, number);
        self.check_length()
    }

    fn push_double(&mut self, number: f64, position: usize) -> Result<()> {
        use std::io::Write;
        if !number.is_finite() {
            return Err(malformed(position, "a number is not finite"));
        }
        let is_negative_zero = number == 0.0 && number.is_sign_negative();
        // A client that wrote the integer 3 may get it back as a double, but not as `3.0`: typed
        // readers refuse that for an integer.
        if number.trunc() == number && number.abs() <= EXACT_INTEGER_MAX && !is_negative_zero {
            write!(self.text, "{number:.0}").expect("writing to a vector does not fail");
        } else {
            write!(self.text, "{number:?}").expect("writing to a vector does not fail");
        }
        self.check_length()
    }

    fn value(&mut self, depth: usize) -> Result<()> {
        let position = self.position;
        let marker = self.byte()?;
        match marker {
            0..=m::SMALL_INTEGER_LAST => self.push_integer(marker),
            m::NULL => self.push(b"null"),
            m::FALSE => self.push(b"false"),
            m::TRUE => self.push(b"true"),
            m::SYSTEM_STRING_FIRST..=m::REFERENCE_4 => self.string(marker, position),
            m::NUMBER_U64..=m::FLOAT_16 | m::U8..=m::U32 => self.number(marker, position),
            m::GUID => {
                let text = packed::guid_value(&self.array()?);
                self.push_string(&text)
            }
            m::BINARY_L1 => self.binary(1),
            m::BINARY_L2 => self.binary(2),
            m::BINARY_L4 => self.binary(4),
            m::ARRAY_0..=m::ARRAY_LC4 => self.items(&extent(marker), position, depth),
            m::OBJECT_0..=m::OBJECT_LC4 => self.members(&extent(marker), position, depth),
            m::UNIFORM_C1 => self.uniform(1),
            m::UNIFORM_C2 => self.uniform(2),
            m::UNIFORM_NESTED_C1 => self.uniform_nested(1),
            m::UNIFORM_NESTED_C2 => self.uniform_nested(2),
            _ => Err(malformed(position, "no such marker")),
        }
    }

    fn number(&mut self, marker: u8, position: usize) -> Result<()> {
        match marker {
            m::NUMBER_U8 | m::U8 => {
                let number = self.byte()?;
                self.push_integer(number)
            }
            m::I8 => {
                let number = i8::from_le_bytes(self.array()?);
                self.push_integer(number)
            }
            m::NUMBER_I16 | m::I16 => {
                let number = i16::from_le_bytes(self.array()?);
                self.push_integer(number)
            }
            m::NUMBER_I32 | m::I32 => {
                let number = i32::from_le_bytes(self.array()?);
                self.push_integer(number)
            }
            m::U32 => {
                let number = u32::from_le_bytes(self.array()?);
                self.push_integer(number)
            }
            m::NUMBER_I64 | m::I64 => {
                let number = i64::from_le_bytes(self.array()?);
                self.push_integer(number)
            }
            m::NUMBER_U64 => {
                let number = u64::from_le_bytes(self.array()?);
                self.push_integer(number)
            }
            m::NUMBER_DOUBLE | m::FLOAT_64 => {
                let number = f64::from_le_bytes(self.array()?);
                self.push_double(number, position)
            }
            m::FLOAT_32 => {
                let number = f32::from_le_bytes(self.array()?);
                self.push_double(f64::from(number), position)
            }
            m::FLOAT_16 => {
                let number = packed::half_to_f64(u16::from_le_bytes(self.array()?));
                self.push_double(number, position)
            }
            _ => Err(malformed(position, "not the marker of a number")),
        }
    }

    /// Reads a string of any form; its marker has been read.
    fn string(&mut self, marker: u8, position: usize) -> Result<()> {
        match marker {
            m::REFERENCE_1 => self.reference(1, position),
            m::REFERENCE_2 => self.reference(2, position),
            m::REFERENCE_3 => self.reference(3, position),
            m::REFERENCE_4 => self.reference(4, position),
            _ => self.plain_string(marker, position),
        }
    }

    /// Reads a string that is not a reference.
    fn plain_string(&mut self, marker: u8, position: usize) -> Result<()> {
        match marker {
            m::SYSTEM_STRING_FIRST..=m::SYSTEM_STRING_LAST => {
                self.push_string(m::SYSTEM_STRINGS[usize::from(marker - m::SYSTEM_STRING_FIRST)])
            }
            m::USER_STRING_FIRST..=m::USER_STRING_LAST => {
                Err(malformed(position, "a string from a dictionary that the body does not bring along"))
            }
            m::SHORT_STRING_FIRST..=m::SHORT_STRING_LAST => {
                self.utf8(usize::from(marker - m::SHORT_STRING_FIRST), position)
            }
            m::STRING_L1 => self.utf8_prefixed(1, position),
            m::STRING_L2 => self.utf8_prefixed(2, position),
            m::STRING_L4 => self.utf8_prefixed(4, position),
            m::BASE64_L1 => self.base64(1, false, position),
            m::BASE64_L2 => self.base64(2, false, position),
            m::BASE64_URL_L1 => self.base64(1, true, position),
            m::BASE64_URL_L2 => self.base64(2, true, position),
            m::GUID_LOWER => {
                let text = packed::guid_text(&self.array()?, packed::LOWER_HEX);
                self.push_string(&text)
            }
            m::GUID_UPPER => {
                let text = packed::guid_text(&self.array()?, packed::UPPER_HEX);
                self.push_string(&text)
            }
            m::GUID_QUOTED => {
                let text = packed::guid_text(&self.array()?, packed::LOWER_HEX);
                self.push_string(&format!("\"{text}\""))
            }
            m::HEX_LOWER => self.alphabet(packed::LOWER_HEX, position),
            m::HEX_UPPER => self.alphabet(packed::UPPER_HEX, position),
            m::DATE_TIME => self.alphabet(packed::DATE_TIME, position),
            m::PACKED_4 => self.packed_from_base(4, position),
            m::PACKED_5 => self.packed_from_base(5, position),
            m::PACKED_6 => self.packed_from_base(6, position),
            m::PACKED_7_L1 => {
                let characters = self.length(1)?;
                self.packed(characters, 7, 0, position)
            }
            m::PACKED_7_L2 => {
                let characters = self.length(2)?;
                self.packed(characters, 7, 0, position)
            }
            _ => Err(malformed(position, "not the marker of a string")),
        }
    }

    fn utf8(&mut self, length: usize, position: usize) -> Result<()> {
        let bytes = self.take(length)?;
        let string = std::str::from_utf8(bytes).map_err(|_| malformed(position, "a string is not UTF-8"))?;
        self.push_string(string)
    }

    fn utf8_prefixed(&mut self, width: usize, position: usize) -> Result<()> {
        let length = self.length(width)?;
        self.utf8(length, position)
    }

    /// Reads a string that is the base64 of the bytes that follow. A count of four-character groups
    /// comes first, then how many `=` end the text; the count inverted means that they are left out.
    fn base64(&mut self, width: usize, url_safe: bool, position: usize) -> Result<()> {
        let groups = self.length(width)?;
        let padding = self.byte()?;
        let (padded, missing) = if padding <= 2 { (true, padding) } else { (false, !padding) };
        if missing > 2 || (missing > 0 && groups == 0) {
            return Err(malformed(position, "base64 with more padding than characters"));
        }
        let bytes = self.take(groups * 3 - usize::from(missing))?;
        let text = packed::base64(bytes, url_safe, padded);
        self.push_string(&text)
    }

    fn alphabet(&mut self, alphabet: &[u8; 16], position: usize) -> Result<()> {
        let characters = self.length(1)?;
        let bytes = self.take(packed::packed_bytes(characters, 4))?;
        let text = packed::unpack_alphabet(bytes, characters, alphabet);
        self.push_string(&text.ok_or_else(|| malformed(position, "a packed string is cut short"))?)
    }

    fn packed_from_base(&mut self, bits: usize, position: usize) -> Result<()> {
        let characters = self.length(1)?;
        let base = self.byte()?;
        self.packed(characters, bits, base, position)
    }

    fn packed(&mut self, characters: usize, bits: usize, base: u8, position: usize) -> Result<()> {
        let bytes = self.take(packed::packed_bytes(characters, bits))?;
        let text = packed::unpack(bytes, characters, bits, base);
        self.push_string(&text.ok_or_else(|| malformed(position, "a packed string is not ASCII"))?)
    }

    /// Reads a string that stands earlier in the body. It is no reference itself, so this ends.
    fn reference(&mut self, width: usize, position: usize) -> Result<()> {
        let target = self.length(width)?;
        let (after, end) = (self.position, self.end);
        if target == 0 || target >= position {
            return Err(malformed(position, "a reference does not point back"));
        }
        self.position = target;
        self.end = position;
        let marker = self.byte()?;
        self.plain_string(marker, target)?;
        self.position = after;
        self.end = end;
        Ok(())
    }

    fn binary(&mut self, width: usize) -> Result<()> {
        let length = self.length(width)?;
        let text = packed::base64(self.take(length)?, false, true);
        self.push_string(&text)
    }

    fn items(&mut self, extent: &Extent, position: usize, depth: usize) -> Result<()> {
        self.push(b"[")?;
        self.contents(extent, position, |reader, first| {
            if !first {
                reader.push(b",")?;
            }
            reader.nested(position, depth)
        })?;
        self.push(b"]")
    }

    fn members(&mut self, extent: &Extent, position: usize, depth: usize) -> Result<()> {
        self.push(b"{")?;
        self.contents(extent, position, |reader, first| {
            if !first {
                reader.push(b",")?;
            }
            let name_position = reader.position;
            let marker = reader.byte()?;
            reader.string(marker, name_position)?;
            reader.push(b":")?;
            reader.nested(position, depth)
        })?;
        self.push(b"}")
    }

    fn nested(&mut self, position: usize, depth: usize) -> Result<()> {
        if depth >= BINARY_JSON_DEPTH_MAX {
            return Err(malformed(position, "arrays and objects are nested too deeply"));
        }
        self.value(depth + 1)
    }

    /// Reads what an array or object contains, one element after the other.
    fn contents(
        &mut self,
        extent: &Extent,
        position: usize,
        mut element: impl FnMut(&mut Self, bool) -> Result<()>,
    ) -> Result<()> {
        let (length, count) = match *extent {
            Extent::Empty => return Ok(()),
            Extent::One => return element(self, true),
            Extent::Bytes { width } => (self.length(width)?, None),
            Extent::BytesAndCount { width } => {
                let length = self.length(width)?;
                (length, Some(self.length(width)?))
            }
        };
        let stop = self.position.checked_add(length).filter(|stop| *stop <= self.end);
        let stop =
            stop.ok_or_else(|| malformed(position, "an array or object is longer than what holds it"))?;
        let outer = std::mem::replace(&mut self.end, stop);
        let mut read = 0;
        while self.position < stop {
            element(self, read == 0)?;
            read += 1;
        }
        self.end = outer;
        if count.is_some_and(|count| count != read) {
            return Err(malformed(
                position,
                "an array or object has another number of elements than it says",
            ));
        }
        Ok(())
    }

    fn uniform(&mut self, width: usize) -> Result<()> {
        let position = self.position;
        let marker = self.byte()?;
        let count = self.length(width)?;
        self.uniform_items(marker, count, position)
    }

    fn uniform_nested(&mut self, width: usize) -> Result<()> {
        let position = self.position;
        let expected = if width == 1 { m::UNIFORM_C1 } else { m::UNIFORM_C2 };
        if self.byte()? != expected {
            return Err(malformed(position, "not the marker of a uniform array"));
        }
        let marker = self.byte()?;
        let inner_count = self.length(width)?;
        let outer_count = self.length(width)?;
        self.push(b"[")?;
        for index in 0..outer_count {
            if index > 0 {
                self.push(b",")?;
            }
            self.uniform_items(marker, inner_count, position + 1)?;
        }
        self.push(b"]")
    }

    /// Reads numbers that share one marker, which stands before all of them.
    fn uniform_items(&mut self, marker: u8, count: usize, position: usize) -> Result<()> {
        if !matches!(marker, m::FLOAT_32..=m::FLOAT_16 | m::U8..=m::U32) {
            return Err(malformed(position, "not the marker of a number in a uniform array"));
        }
        self.push(b"[")?;
        for index in 0..count {
            if index > 0 {
                self.push(b",")?;
            }
            self.number(marker, position)?;
        }
        self.push(b"]")
    }
}

/// Arrays and objects have the same eight forms. Called with their markers only.
fn extent(marker: u8) -> Extent {
    match marker {
        m::ARRAY_0 | m::OBJECT_0 => Extent::Empty,
        m::ARRAY_1 | m::OBJECT_1 => Extent::One,
        m::ARRAY_L1 | m::OBJECT_L1 => Extent::Bytes { width: 1 },
        m::ARRAY_L2 | m::OBJECT_L2 => Extent::Bytes { width: 2 },
        m::ARRAY_L4 | m::OBJECT_L4 => Extent::Bytes { width: 4 },
        m::ARRAY_LC1 | m::OBJECT_LC1 => Extent::BytesAndCount { width: 1 },
        m::ARRAY_LC2 | m::OBJECT_LC2 => Extent::BytesAndCount { width: 2 },
        _ => Extent::BytesAndCount { width: 4 },
    }
}
