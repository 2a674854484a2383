//! The pieces of which BSON is written, for callers that write without a tree.

use crate::error::WireError;

/// Leaves room for the length of a document and returns the position for [`finish_document`].
pub fn start_document(out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    start
}

/// Ends the document that was started at a position: writes the zero at its end and its length.
pub fn finish_document(start: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    out.push(0);
    finish_length(start, out)
}

/// Writes the length of what was started at a position.
pub(super) fn finish_length(start: usize, out: &mut [u8]) -> Result<(), WireError> {
    let bytes = out.len() - start;
    let length = i32::try_from(bytes).map_err(|_| WireError::too_large(bytes))?;
    out[start..start + 4].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

/// Writes the type and the name of an element; a name with a zero character has no place in BSON.
pub fn write_name(element_type: u8, name: &str, out: &mut Vec<u8>) -> Result<(), WireError> {
    out.push(element_type);
    write_cstring(name, out)
}

/// Writes the type of an array's element and its index as its name.
pub fn write_index(element_type: u8, index: usize, out: &mut Vec<u8>) {
    out.push(element_type);
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut rest = index;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
    out.push(0);
}

/// Writes text that ends with a zero.
pub(super) fn write_cstring(text: &str, out: &mut Vec<u8>) -> Result<(), WireError> {
    if text.as_bytes().contains(&0) {
        return Err(WireError::invalid_bson("a name or a pattern with a zero character has no form in BSON"));
    }
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

/// Writes text after its length, with a zero at its end.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) -> Result<(), WireError> {
    write_length(text.len() + 1, out)?;
    out.extend_from_slice(text.as_bytes());
    out.push(0);
    Ok(())
}

pub(super) fn write_length(bytes: usize, out: &mut Vec<u8>) -> Result<(), WireError> {
    let length = i32::try_from(bytes).map_err(|_| WireError::too_large(bytes))?;
    out.extend_from_slice(&length.to_le_bytes());
    Ok(())
}
