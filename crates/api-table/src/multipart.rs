//! The body of a batch: parts between boundaries, each with a request in it.
//!
//! Lines end with CR LF, or with LF alone, as some clients have it. Everything is cut out of the body as it came; nothing
//! is copied but names and values of headers.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::limits::{BATCH_OPERATIONS_MAX, BOUNDARY_BYTES_MAX, PART_HEADERS_MAX};

/// What a batch holds.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Writes that are all done or none of them.
    ChangeSet(Vec<PartRequest>),
    /// One request that stands alone.
    Single(PartRequest),
}

/// A request in a part.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PartRequest {
    pub(crate) method: Method,
    /// The address as it was sent: absolute or not.
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// What the client calls the part.
    pub(crate) content_id: Option<String>,
}

/// Why a body is no batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MultipartError {
    /// The content type names no boundary.
    NoBoundary,
    /// A boundary does not come, or what is between two is not a part.
    Malformed,
    /// There is something else than one change set or one query.
    Shape,
    /// The change set has too many operations.
    TooManyOperations,
}

impl MultipartError {
    pub(crate) fn message(self) -> &'static str {
        match self {
            MultipartError::NoBoundary => {
                "The content type of the batch is not multipart/mixed with a boundary."
            }
            MultipartError::Malformed => "The body of the batch cannot be read as parts between boundaries.",
            MultipartError::Shape => {
                "A batch holds one change set with at least one operation, or one query."
            }
            MultipartError::TooManyOperations => {
                "The batch request operation exceeds the maximum 100 changes per change set."
            }
        }
    }
}

/// Reads a batch.
pub(crate) fn parse(content_type: &str, body: &Bytes) -> Result<Content, MultipartError> {
    let boundary = boundary(content_type).ok_or(MultipartError::NoBoundary)?;
    let [part] = parts(body, boundary, 1)?[..] else { return Err(MultipartError::Shape) };
    let (headers, content) = headers(part)?;
    let kind = content_type_of(&headers);
    match boundary_of_change_set(&kind) {
        Some(boundary) => {
            let parts = parts(content, boundary, BATCH_OPERATIONS_MAX).map_err(|error| match error {
                MultipartError::Shape => MultipartError::TooManyOperations,
                other => other,
            })?;
            if parts.is_empty() {
                return Err(MultipartError::Shape);
            }
            let requests = parts.into_iter().map(|part| {
                let (headers, content) = self::headers(part)?;
                request(body, &headers, content)
            });
            requests.collect::<Result<_, _>>().map(Content::ChangeSet)
        }
        None => request(body, &headers, content).map(Content::Single),
    }
}

fn content_type_of(headers: &HeaderMap) -> String {
    let value = headers.get(http::header::CONTENT_TYPE);
    value.and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn boundary_of_change_set(content_type: &str) -> Option<&str> {
    boundary(content_type)
}

/// Returns the boundary of a multipart type.
fn boundary(content_type: &str) -> Option<&str> {
    let mut parameters = content_type.split(';').map(str::trim);
    if !parameters.next()?.eq_ignore_ascii_case("multipart/mixed") {
        return None;
    }
    let boundary = parameters.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim())
    })?;
    let quoted = boundary.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let boundary = quoted.unwrap_or(boundary);
    (1..=BOUNDARY_BYTES_MAX).contains(&boundary.len()).then_some(boundary)
}

/// Returns the parts of a body, at most so many; what stands before the first and behind the last does not count.
fn parts<'b>(body: &'b [u8], boundary: &str, count_max: usize) -> Result<Vec<&'b [u8]>, MultipartError> {
    let mut found = Vec::new();
    // Where the part began that is being read.
    let mut start = None;
    let mut at = 0;
    while at < body.len() {
        let end =
            body[at..].iter().position(|byte| *byte == b'\n').map_or(body.len(), |found| at + found + 1);
        if let Some(rest) =
            body[at..end].strip_prefix(b"--").and_then(|rest| rest.strip_prefix(boundary.as_bytes()))
        {
            let rest = rest.trim_ascii_end();
            let is_last = rest == b"--";
            if is_last || rest.is_empty() {
                if let Some(start) = start {
                    if found.len() == count_max {
                        return Err(MultipartError::Shape);
                    }
                    // The line end before a boundary belongs to the boundary.
                    let part: &[u8] = &body[start..at.max(start)];
                    let part = part.strip_suffix(b"\n").unwrap_or(part);
                    found.push(part.strip_suffix(b"\r").unwrap_or(part));
                }
                if is_last {
                    return Ok(found);
                }
                start = Some(end);
            }
        }
        at = end;
    }
    Err(MultipartError::Malformed)
}

/// Cuts off the first line, without its end.
fn line(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|byte| *byte == b'\n') {
        Some(end) => {
            let line = &text[..end];
            (line.strip_suffix(b"\r").unwrap_or(line), &text[end + 1..])
        }
        None => (text.strip_suffix(b"\r").unwrap_or(text), &[]),
    }
}

/// Reads headers up to an empty line, and returns what is behind it.
fn headers(mut text: &[u8]) -> Result<(HeaderMap, &[u8]), MultipartError> {
    let mut headers = HeaderMap::new();
    for _ in 0..=PART_HEADERS_MAX {
        if text.is_empty() {
            return Ok((headers, text));
        }
        let (header, rest) = line(text);
        text = rest;
        if header.is_empty() {
            return Ok((headers, text));
        }
        let colon = header.iter().position(|byte| *byte == b':').ok_or(MultipartError::Malformed)?;
        let name = HeaderName::from_bytes(header[..colon].trim_ascii());
        let value = HeaderValue::from_bytes(header[colon + 1..].trim_ascii());
        let (Ok(name), Ok(value)) = (name, value) else { return Err(MultipartError::Malformed) };
        headers.append(name, value);
    }
    Err(MultipartError::Malformed)
}

/// Reads the request in a part.
fn request(whole: &Bytes, part: &HeaderMap, content: &[u8]) -> Result<PartRequest, MultipartError> {
    let kind = content_type_of(part);
    let media = kind.split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/http") {
        return Err(MultipartError::Shape);
    }
    let (first, rest) = line(content);
    let first = std::str::from_utf8(first).map_err(|_| MultipartError::Malformed)?;
    let mut words = first.split(' ').filter(|word| !word.is_empty());
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(MultipartError::Malformed);
    };
    if !version.starts_with("HTTP/1.") {
        return Err(MultipartError::Malformed);
    }
    let method = Method::from_bytes(method.as_bytes()).map_err(|_| MultipartError::Malformed)?;
    let (headers, body) = headers(rest)?;
    let content_id = [part, &headers]
        .into_iter()
        .find_map(|headers| headers.get("content-id")?.to_str().ok())
        .map(str::to_owned);
    Ok(PartRequest { method, target: target.to_owned(), headers, body: whole.slice_ref(body), content_id })
}

#[cfg(test)]
mod tests;
