//! What the Table API reads beside JSON: batches in parts, and filters.

use armilla_query::CompiledQuery;
use armilla_query::bound::BoundQuery;

/// Reads bytes as a batch: the content type up to the first line feed, then the body.
pub fn multipart(data: &[u8]) {
    let (content_type, body) = match data.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&data[..end], &data[end + 1..]),
        None => (&b"multipart/mixed; boundary=b"[..], data),
    };
    let Ok(content_type) = std::str::from_utf8(content_type) else { return };
    if let Some(bytes) = armilla_api_table::fuzzing::multipart(content_type, body) {
        assert!(bytes <= body.len(), "{bytes} bytes of {}", body.len());
    }
}

/// Reads bytes as a filter: what it is lowered to is compiled, and makes the same plan each time.
pub fn filter(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some(condition) = armilla_api_table::fuzzing::filter(text) else { return };
    let query = BoundQuery { filter: Some(condition), ..BoundQuery::items() };
    let compiled = CompiledQuery::from_bound(query.clone());
    assert_eq!(CompiledQuery::from_bound(query).fingerprint, compiled.fingerprint, "{text}");
    assert!(compiled.functions.is_empty(), "{text}");
}
