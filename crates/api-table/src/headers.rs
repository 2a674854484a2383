//! The headers of a request that mean something here.

use std::borrow::Cow;

use armilla_engine::{Moment, Throughput};
use armilla_value::{Value, json};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use crate::entity::{MetadataLevel, parse_etag};
use crate::failure::{Failure, Kind};
use crate::limits::CLIENT_REQUEST_ID_BYTES_MAX;

/// Names of headers.
pub(crate) mod names {
    pub(crate) use armilla_rest_wire::names::{
        OFFER_AUTOPILOT, OFFER_THROUGHPUT, PREFER, PREFERENCE_APPLIED, REQUEST_CHARGE, RETRY_AFTER_MS,
        VERSION,
    };
    use http::HeaderName;

    pub(crate) const CLIENT_REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-client-request-id");
    pub(crate) const CONTENT_ID: &str = "Content-ID";
    pub(crate) const DATA_SERVICE_ID: HeaderName = HeaderName::from_static("dataserviceid");
    pub(crate) const ERROR_CODE: HeaderName = HeaderName::from_static("x-ms-error-code");
    pub(crate) const NEXT_PARTITION_KEY: HeaderName =
        HeaderName::from_static("x-ms-continuation-nextpartitionkey");
    pub(crate) const NEXT_ROW_KEY: HeaderName = HeaderName::from_static("x-ms-continuation-nextrowkey");
    pub(crate) const NEXT_TABLE_NAME: HeaderName = HeaderName::from_static("x-ms-continuation-nexttablename");
    pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-ms-request-id");
    pub(crate) const X_HTTP_METHOD: HeaderName = HeaderName::from_static("x-http-method");
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verb {
    Get,
    Post,
    Put,
    Merge,
    Delete,
    Options,
    Other,
}

/// Returns what is to be done: a verb that some networks do not let through may be sent as POST with a header.
pub(crate) fn verb(method: &Method, headers: &HeaderMap) -> Result<Verb, Failure> {
    if let Some(tunnelled) = headers.get(names::X_HTTP_METHOD) {
        let tunnelled = match tunnelled.as_bytes().to_ascii_uppercase().as_slice() {
            b"MERGE" | b"PATCH" => Some(Verb::Merge),
            b"PUT" => Some(Verb::Put),
            b"DELETE" => Some(Verb::Delete),
            _ => None,
        };
        return tunnelled.filter(|_| method == Method::POST).ok_or_else(|| Kind::TunnelInvalid.into());
    }
    Ok(match *method {
        Method::GET => Verb::Get,
        Method::POST => Verb::Post,
        Method::PUT => Verb::Put,
        Method::PATCH => Verb::Merge,
        Method::DELETE => Verb::Delete,
        Method::OPTIONS => Verb::Options,
        _ if method.as_str() == "MERGE" => Verb::Merge,
        _ => Verb::Other,
    })
}

/// What a write says of the version that it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMatch {
    /// Nothing: the entity may be there or not.
    Absent,
    /// Any version.
    Any,
    /// The version of this moment.
    Exactly(Moment),
    /// A version that never was.
    Never,
}

impl IfMatch {
    /// Says whether a version that is there is one of those.
    pub(crate) fn holds(self, found: Moment) -> bool {
        match self {
            IfMatch::Absent | IfMatch::Any => true,
            IfMatch::Exactly(moment) => moment == found,
            IfMatch::Never => false,
        }
    }
}

/// Returns the version that a write is for.
pub(crate) fn if_match(headers: &HeaderMap) -> Result<IfMatch, Failure> {
    let Some(text) = text(headers, &http::header::IF_MATCH)? else { return Ok(IfMatch::Absent) };
    match text.trim() {
        "*" => Ok(IfMatch::Any),
        "" => Ok(IfMatch::Absent),
        tag if is_weak(tag) => Ok(match parse_etag(&format!("W{}", &tag[1..])) {
            Some(moment) => IfMatch::Exactly(moment),
            None => IfMatch::Never,
        }),
        tag => Err(Kind::InvalidInput(
            format!("The etag value '{tag}' specified in one of the request headers is not valid.").into(),
        )
        .into()),
    }
}

/// Versions of entities are weak ones, and whatever is of that form could be one.
fn is_weak(tag: &str) -> bool {
    let quoted = tag.strip_prefix("W/").or_else(|| tag.strip_prefix("w/"));
    quoted.is_some_and(|quoted| quoted.len() >= 2 && quoted.starts_with('"') && quoted.ends_with('"'))
}

/// What a client wants to be answered to a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Preference {
    /// It does not say.
    None,
    /// What was written.
    Content,
    /// Nothing.
    NoContent,
}

impl Preference {
    /// Returns what the client is told of it.
    pub(crate) fn applied(self) -> Option<&'static str> {
        match self {
            Preference::None => None,
            Preference::Content => Some("return-content"),
            Preference::NoContent => Some("return-no-content"),
        }
    }
}

/// Returns what the client wants to be answered to a write; what is not known is not preferred.
pub(crate) fn preference(headers: &HeaderMap) -> Preference {
    match headers.get(&names::PREFER).map(HeaderValue::as_bytes) {
        Some(word) if word.eq_ignore_ascii_case(b"return-no-content") => Preference::NoContent,
        Some(word) if word.eq_ignore_ascii_case(b"return-content") => Preference::Content,
        _ => Preference::None,
    }
}

/// Returns how much of an answer is to be about its data. `format` stands in the query string and goes first.
pub(crate) fn metadata_level(headers: &HeaderMap, format: Option<&str>) -> Result<MetadataLevel, Failure> {
    let accept: Cow<'_, str> = match format {
        Some(format) => format.into(),
        None => match text(headers, &http::header::ACCEPT)? {
            Some(accept) => accept.into(),
            None => return Ok(MetadataLevel::Minimal),
        },
    };
    let (mut has_atom, mut found) = (false, None);
    for range in accept.split(',') {
        let mut parts = range.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        match media.as_str() {
            "application/json" | "*/*" | "application/*" | "json" | "" => {
                let level = parts.find_map(|part| {
                    let (name, value) = part.split_once('=')?;
                    name.trim().eq_ignore_ascii_case("odata").then(|| value.trim().to_ascii_lowercase())
                });
                found = found.or(Some(match level.as_deref() {
                    None | Some("minimalmetadata") => MetadataLevel::Minimal,
                    Some("nometadata") => MetadataLevel::None,
                    Some("fullmetadata") => MetadataLevel::Full,
                    Some(_) => return Err(Kind::MediaTypeNotSupported.into()),
                }));
            }
            "application/atom+xml" | "atom" => has_atom = true,
            _ => {}
        }
    }
    match found {
        Some(level) => Ok(level),
        None if has_atom => Err(Kind::AtomNotSupported.into()),
        None => Err(Kind::MediaTypeNotSupported.into()),
    }
}

/// Refuses a body that is said to be something else than JSON.
pub(crate) fn check_json_body(headers: &HeaderMap) -> Result<(), Failure> {
    let Some(kind) = text(headers, &http::header::CONTENT_TYPE)? else { return Ok(()) };
    let media = kind.split(';').next().unwrap_or_default().trim();
    if media.eq_ignore_ascii_case("application/atom+xml") {
        return Err(Kind::AtomNotSupported.into());
    }
    if media.eq_ignore_ascii_case("application/json") || media.is_empty() {
        return Ok(());
    }
    Err(Kind::MediaTypeNotSupported.into())
}

/// Returns the throughput that a new table is to have, if the client says.
pub(crate) fn throughput(headers: &HeaderMap) -> Result<Option<Throughput>, Failure> {
    let manual = text(headers, &names::OFFER_THROUGHPUT)?;
    let autoscale = text(headers, &names::OFFER_AUTOPILOT)?;
    match (manual, autoscale) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(Kind::InvalidInput(
            format!(
                "The headers {} and {} exclude each other: throughput is manual or autoscale.",
                names::OFFER_THROUGHPUT,
                names::OFFER_AUTOPILOT
            )
            .into(),
        )
        .into()),
        (Some(manual), None) => match manual.trim().parse() {
            Ok(throughput) => Ok(Some(Throughput::Manual(throughput))),
            Err(_) => Err(invalid(&names::OFFER_THROUGHPUT, manual, "a whole number")),
        },
        (None, Some(settings)) => {
            let invalid =
                || invalid(&names::OFFER_AUTOPILOT, settings, "of the form {\"maxThroughput\":4000}");
            let value = json::parse(settings.as_bytes()).map_err(|_| invalid())?;
            let number = |value: &Value| value.as_i64().and_then(|number| u32::try_from(number).ok());
            let max = value.get("maxThroughput").and_then(number).ok_or_else(invalid)?;
            let policy = value.get("autoUpgradePolicy").and_then(|policy| policy.get("throughputPolicy"));
            let increment_percent = match policy.and_then(|policy| policy.get("incrementPercent")) {
                None | Some(Value::Null) => None,
                Some(percent) => Some(number(percent).ok_or_else(invalid)?),
            };
            Ok(Some(Throughput::Autoscale { max, increment_percent }))
        }
    }
}

/// Returns the id that a client gave its request, if it may be echoed.
pub(crate) fn client_request_id(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(names::CLIENT_REQUEST_ID).filter(|value| value.len() <= CLIENT_REQUEST_ID_BYTES_MAX).cloned()
}

/// Returns a header as text.
pub(crate) fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Result<Option<&'h str>, Failure> {
    match headers.get(name) {
        None => Ok(None),
        Some(value) => match std::str::from_utf8(value.as_bytes()) {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(Kind::InvalidInput(format!("The header {name} is not UTF-8.").into()).into()),
        },
    }
}

fn invalid(name: &HeaderName, value: &str, expected: &str) -> Failure {
    Kind::InvalidInput(format!("The header {name} is not {expected}: '{value}'.").into()).into()
}

#[cfg(test)]
mod tests;
