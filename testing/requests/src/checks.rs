//! What must hold of every answer, whatever was asked.

use crate::answer::{Answer, BINARY};
use crate::signing::is_administration;

/// Checks an answer to a request with a path.
#[track_caller]
pub(crate) fn check(path: &str, answer: &Answer) {
    let header = |name: &str| answer.header(name).unwrap_or_else(|| panic!("{name}: {answer:?}"));
    for (name, value) in [
        ("x-ms-version", "2020-07-15"),
        ("x-ms-gatewayversion", "version=2.14.0"),
        ("x-ms-schemaversion", "1.18"),
        ("x-ms-serviceversion", concat!("version=", env!("CARGO_PKG_VERSION"), ".0")),
    ] {
        assert_eq!(header(name), value, "{name}: {answer:?}");
    }
    let activity_id = header("x-ms-activity-id");
    assert!(!activity_id.is_empty(), "{answer:?}");
    check_charge(path, header("x-ms-request-charge"));

    if answer.status >= 400 {
        let ending = format!("\r\nActivityId: {activity_id}, armilla/{}", env!("CARGO_PKG_VERSION"));
        assert!(answer.member("message").ends_with(&ending), "{answer:?}");
        assert!(!answer.member("code").is_empty(), "{answer:?}");
    }
    assert_eq!(answer.header("x-ms-retry-after-ms").is_some(), answer.status == 429, "{answer:?}");
    if matches!(answer.status, 204 | 304) {
        assert_eq!(answer.text, "");
    }
    match answer.header("content-type") {
        None => assert_eq!(answer.text, "", "{answer:?}"),
        // The pieces of a backup are no text.
        Some(BINARY) => assert!(is_administration(path), "{path}: {answer:?}"),
        Some(kind) => {
            assert_eq!(kind, "application/json", "{answer:?}");
            answer.json();
        }
    }
    check_session(answer);
}

#[track_caller]
fn check_charge(path: &str, charge: &str) {
    if is_administration(path) {
        assert_eq!(charge, "0.00", "{path}");
    }
    assert_eq!(charge.split_once('.').map(|(_, decimals)| decimals.len()), Some(2), "{charge}");
    assert!(charge.parse::<f64>().is_ok_and(|charge| charge >= 0.0), "{charge}");
}

/// Checks that an answer with a session token also has what clients keep it by.
#[track_caller]
fn check_session(answer: &Answer) {
    let Some(token) = answer.header("x-ms-session-token") else { return };
    assert!(token.contains(":-1#"), "{token}");
    for name in ["lsn", "x-ms-documentdb-partitionkeyrangeid", "x-ms-content-path", "x-ms-alt-content-path"] {
        assert!(answer.header(name).is_some(), "{name}: {answer:?}");
    }
    // Callers who see a part of a container are told neither.
    let is_told = |name| answer.header(name).is_some();
    assert_eq!(is_told("x-ms-resource-quota"), is_told("x-ms-resource-usage"), "{answer:?}");
}
