//! What replies of the SQL API and of the administration beside it have in common.

use std::time::Duration;

use http::{HeaderMap, HeaderValue};

use crate::limits::ACTIVITY_ID_BYTES_MAX;
use crate::names;

/// The name and version that end every error message.
pub const AGENT: &str = concat!("armilla/", env!("CARGO_PKG_VERSION"));

/// The version of the API whose rules are followed.
const API_VERSION: HeaderValue = HeaderValue::from_static("2020-07-15");
/// The version of the gateway whose behaviour is followed.
const GATEWAY_VERSION: HeaderValue = HeaderValue::from_static("version=2.14.0");
const SERVICE_VERSION: HeaderValue =
    HeaderValue::from_static(concat!("version=", env!("CARGO_PKG_VERSION"), ".0"));
const SCHEMA_VERSION: HeaderValue = HeaderValue::from_static("1.18");

/// Adds the versions that every reply names.
pub fn insert_versions(headers: &mut HeaderMap) {
    headers.insert(&names::VERSION, API_VERSION);
    headers.insert(&names::GATEWAY_VERSION, GATEWAY_VERSION);
    headers.insert(&names::SERVICE_VERSION, SERVICE_VERSION);
    headers.insert(&names::SCHEMA_VERSION, SCHEMA_VERSION);
}

/// Returns the client's own id of a request, if it can be echoed.
pub fn echoed_activity_id(headers: &HeaderMap) -> Option<&HeaderValue> {
    let value = headers.get(&names::ACTIVITY_ID)?;
    let is_echoable = !value.is_empty() && value.len() <= ACTIVITY_ID_BYTES_MAX && value.to_str().is_ok();
    is_echoable.then_some(value)
}

/// Returns a wait in whole milliseconds, never shorter than what was asked for and never none: clients take 0 for
/// 'at once', and would come again before there is anything to have.
pub fn retry_after_ms(wait: Option<Duration>) -> u64 {
    let milliseconds = wait.unwrap_or_default().as_nanos().div_ceil(1_000_000);
    u64::try_from(milliseconds).unwrap_or(u64::MAX).max(1)
}

/// Turns the engine's fragment into the sentence that clients know: their tests look for parts of it.
pub fn sentence(fragment: &str) -> String {
    let mut sentence = String::with_capacity(fragment.len() + 1);
    let mut characters = fragment.chars();
    if let Some(first) = characters.next() {
        sentence.extend(first.to_uppercase());
        sentence.push_str(characters.as_str());
    }
    if !sentence.ends_with('.') {
        sentence.push('.');
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        let mut headers = HeaderMap::new();
        insert_versions(&mut headers);
        let found: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let service = concat!("version=", env!("CARGO_PKG_VERSION"), ".0");
        assert_eq!(
            found,
            [
                ("x-ms-version", "2020-07-15"),
                ("x-ms-gatewayversion", "version=2.14.0"),
                ("x-ms-serviceversion", service),
                ("x-ms-schemaversion", "1.18"),
            ]
        );
    }

    #[test]
    fn ids_that_fit_into_a_header_are_echoed() {
        let echoed = |id: &str| {
            let value = HeaderValue::from_bytes(id.as_bytes()).unwrap();
            let headers = HeaderMap::from_iter([(names::ACTIVITY_ID.clone(), value)]);
            echoed_activity_id(&headers).is_some()
        };
        assert!(echoed("an-id") && echoed(&"x".repeat(ACTIVITY_ID_BYTES_MAX)));
        assert!(!echoed("") && !echoed("é") && !echoed(&"x".repeat(ACTIVITY_ID_BYTES_MAX + 1)));
        assert_eq!(echoed_activity_id(&HeaderMap::new()), None);
    }

    #[test]
    fn waits_are_whole_milliseconds_and_never_too_short() {
        for (wait, expected) in [
            (None, 1),
            (Some(Duration::ZERO), 1),
            (Some(Duration::from_nanos(1)), 1),
            (Some(Duration::from_millis(1)), 1),
            (Some(Duration::from_nanos(1_000_001)), 2),
            (Some(Duration::from_micros(1_001)), 2),
            (Some(Duration::from_millis(743)), 743),
            (Some(Duration::from_secs(2)), 2_000),
            (Some(Duration::MAX), u64::MAX),
        ] {
            assert_eq!(retry_after_ms(wait), expected, "{wait:?}");
        }
    }

    #[test]
    fn fragments_become_sentences() {
        for (fragment, expected) in
            [("", "."), ("a", "A."), ("ends so.", "Ends so."), ("élan", "Élan."), ("'x' is", "'x' is.")]
        {
            assert_eq!(sentence(fragment), expected);
        }
    }
}
