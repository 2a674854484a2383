//! Bodies of requests of the SQL API beside plain JSON.

use armilla_value::json::{self, JsonErrorKind};

/// The most text that a binary body is turned into here.
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// Reads bytes as binary JSON: what comes of it is JSON, and no longer than it may be.
pub fn binary_json(data: &[u8]) {
    let Some(text) = armilla_api_sql::fuzzing::binary_json(data, TEXT_BYTES_MAX) else { return };
    assert!(text.len() <= TEXT_BYTES_MAX, "{} bytes", text.len());
    match json::parse(&text) {
        Ok(_) => {}
        // It may be nested deeper than an item may be.
        Err(error) => {
            assert_eq!(error.kind, JsonErrorKind::TooDeep, "{error}: {}", String::from_utf8_lossy(&text));
        }
    }
}

/// Reads bytes as the body of a batch.
pub fn batch(data: &[u8]) {
    let Some(operations) = armilla_api_sql::fuzzing::batch(data) else { return };
    assert!((1..=100).contains(&operations), "{operations} operations");
    // Whatever is read in parts is JSON as a whole, as far as its parts are looked at.
    let is_array = data.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    assert!(is_array, "{}", String::from_utf8_lossy(data));
}
