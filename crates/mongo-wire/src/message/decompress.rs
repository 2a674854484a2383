//! The message inside a compressed message.

use super::{HEADER_BYTES, Header, OP_COMPRESSED};
use crate::compress::Compressor;
use crate::error::WireError;
use crate::limits::MESSAGE_BYTES_MAX;

/// The original kind of message, its size, and the number of the compressor.
const COMPRESSED_HEADER_BYTES: usize = 9;

/// Returns the message that is inside, with a header as if it had come plain.
pub(super) fn decompress(message: &[u8], header: Header) -> Result<(Vec<u8>, Compressor), WireError> {
    let body = message.get(HEADER_BYTES..).unwrap_or_default();
    let Some((&[o0, o1, o2, o3, s0, s1, s2, s3, number], compressed)) =
        body.split_first_chunk::<COMPRESSED_HEADER_BYTES>()
    else {
        return Err(WireError::malformed("the compressed message is too short"));
    };
    let opcode = i32::from_le_bytes([o0, o1, o2, o3]);
    if opcode == OP_COMPRESSED {
        return Err(WireError::malformed("a compressed message inside a compressed message"));
    }
    let Some(size) = usize::try_from(i32::from_le_bytes([s0, s1, s2, s3]))
        .ok()
        .filter(|&size| size <= MESSAGE_BYTES_MAX - HEADER_BYTES)
    else {
        return Err(WireError::malformed("the compressed message announces too many bytes"));
    };
    let Some(compressor) = Compressor::from_number(number) else {
        return Err(WireError::malformed(format!("compressor {number} is not known")));
    };
    let mut original = Vec::with_capacity(HEADER_BYTES);
    // The bound above leaves room for the header in 32 bits.
    original.extend_from_slice(&((size + HEADER_BYTES) as i32).to_le_bytes());
    original.extend_from_slice(&header.request_id.to_le_bytes());
    original.extend_from_slice(&header.response_to.to_le_bytes());
    original.extend_from_slice(&opcode.to_le_bytes());
    compressor.decompress(compressed, size, &mut original)?;
    Ok((original, compressor))
}
