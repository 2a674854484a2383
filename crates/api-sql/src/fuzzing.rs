//! What the fuzzer reaches inside of this crate; nothing else may use it.

use bytes::Bytes;

use crate::batches::body;
use crate::request::binary_json;

/// Turns a binary body into JSON text of bounded length, if it is one.
pub fn binary_json(body: &[u8], text_bytes_max: usize) -> Option<Vec<u8>> {
    binary_json::to_text(body, text_bytes_max).ok()
}

/// Reads the body of a batch; returns how many operations it has, if it is one.
pub fn batch(body: &[u8]) -> Option<usize> {
    body::parse(&Bytes::copy_from_slice(body)).ok().map(|operations| operations.len())
}
