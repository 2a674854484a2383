//! `SharedKey` and `SharedKeyLite`.

use std::time::Duration;

use http::Method;
use proptest::prelude::*;

use super::super::error::AuthErrorKind;
use super::super::grant::Principal;
use super::super::limits::AUTHORIZATION_BYTES_MAX;
use super::super::{Accounts, Address};
use super::recorded::{SHARED_KEY, SHARED_KEY_DATE, SHARED_KEY_LITE, SHARED_KEY_LITE_DATE};
use super::{KEY, Knock, NOW_MS, READ_ONLY_KEY, SECONDARY_KEY, accounts, headers, sign};

#[test]
fn recorded_requests_are_authentic() {
    let python = SHARED_KEY.iter().map(|request| (SHARED_KEY_DATE, request));
    let js = SHARED_KEY_LITE.iter().map(|request| (SHARED_KEY_LITE_DATE, request));
    for (date, [method, target, host, content_type, authorization]) in python.chain(js) {
        let mut knock = Knock::get(host, target);
        knock.method = Method::from_bytes(method.as_bytes()).unwrap();
        knock.headers = headers(&[("x-ms-date", date), ("date", date), ("authorization", authorization)]);
        if !content_type.is_empty() {
            knock.headers.insert("content-type", content_type.parse().unwrap());
        }
        knock.date_skew = Some(Duration::from_secs(1));
        let permit = knock.permit().unwrap_or_else(|error| panic!("{method} {target}: {error:?}"));
        assert_eq!(permit.principal, Principal::Full, "{method} {target}");

        // The same signature on anything else is worth nothing.
        let mut other =
            Knock { target: "/elsewhere", headers: knock.headers.clone(), ..Knock::get(host, target) };
        other.method = knock.method.clone();
        assert_eq!(other.permit().unwrap_err().kind, AuthErrorKind::NotAuthentic, "{method} {target}");
        other.target = target;
        other.headers.insert("x-ms-date", "Sun, 15 Nov 2026 18:19:07 GMT".parse().unwrap());
        other.headers.remove("date");
        assert_eq!(other.permit().unwrap_err().kind, AuthErrorKind::NotAuthentic, "{method} {target}");
    }
}

#[test]
fn the_storage_emulators_key_is_good_only_where_it_is_wanted() {
    let [method, target, host, content_type, authorization] =
        SHARED_KEY.iter().find(|request| request[4].contains("devstoreaccount1")).unwrap();
    let mut knock = Knock::get(host, target);
    knock.method = Method::from_bytes(method.as_bytes()).unwrap();
    knock.headers = headers(&[
        ("x-ms-date", SHARED_KEY_DATE),
        ("content-type", content_type),
        ("authorization", authorization),
    ]);
    assert!(knock.answer(&accounts()).is_ok());
    let without = Accounts::new([KEY], [], false).unwrap();
    assert_eq!(knock.answer(&without).unwrap_err().kind, AuthErrorKind::NotAuthentic);
    // Nor is it good for other accounts.
    let text = format!("{SHARED_KEY_DATE}\n/localhost/Tables");
    let storage_key =
        "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
    for (key, is_good) in [(storage_key, false), (KEY, true)] {
        let mut knock = Knock::get("localhost", "/Tables");
        let authorization = format!("SharedKeyLite localhost:{}", sign(key, &text));
        knock.headers = headers(&[("x-ms-date", SHARED_KEY_DATE), ("authorization", &authorization)]);
        assert_eq!(knock.permit().is_ok(), is_good);
    }
}

/// Signs the text with a key and asks at a host.
#[track_caller]
fn check(key: &str, host: &str, target: &str, account: &str, resource: &str, expected: Option<Principal>) {
    let date = "Sun, 15 Nov 2026 18:19:05 GMT";
    let lite = format!("{date}\n{resource}");
    let full = format!("GET\n\n\n{date}\n{resource}");
    for (scheme, text) in
        [("SharedKeyLite", lite), ("SharedKey", full), ("sharedkey", format!("GET\n\n\n{date}\n{resource}"))]
    {
        let mut knock = Knock::get(host, target);
        let authorization = format!("{scheme} {account}:{}", sign(key, &text));
        knock.headers = headers(&[("x-ms-date", date), ("authorization", &authorization)]);
        let principal = knock.permit().ok().map(|permit| permit.principal);
        assert_eq!(principal, expected, "{scheme} {host} {target} {resource}");
    }
}

#[test]
fn keys_permit_what_they_are_for() {
    let cases = [
        (KEY, Some(Principal::Full)),
        (SECONDARY_KEY, Some(Principal::Full)),
        (READ_ONLY_KEY, Some(Principal::ReadOnly)),
        ("c3RyYW5nZXI=", None),
    ];
    for (key, expected) in cases {
        check(key, "localhost", "/Tables", "localhost", "/localhost/Tables", expected.clone());
        check(key, "acct.table.localhost", "/Tables", "acct", "/acct/Tables", expected.clone());
        check(key, "127.0.0.1", "/acct/t", "acct", "/acct/acct/t", expected.clone());
        check(
            key,
            "127.0.0.1",
            "/devstoreaccount1/t",
            "devstoreaccount1",
            "/devstoreaccount1/devstoreaccount1/t",
            expected,
        );
    }
}

#[test]
fn accounts_are_known_or_named_by_the_address() {
    for (host, account, is_known) in [
        ("localhost", "localhost", true),
        ("127.0.0.1", "localhost", true),
        ("127.0.0.1", "devstoreaccount1", true),
        ("acct.table.localhost", "acct", true),
        ("acct-secondary.table.localhost", "acct", true),
        ("acct.table.localhost", "localhost", true),
        ("tables.example.com:443", "tables", true),
        ("tables:8902", "tables", true),
        ("acct.table.localhost", "other", false),
        ("127.0.0.1", "127", false),
        ("127.0.0.1", "other", false),
        ("localhost", "other", false),
    ] {
        let expected = is_known.then_some(Principal::Full);
        check(KEY, host, "/Tables", account, &format!("/{account}/Tables"), expected);
    }
}

#[test]
fn spellings_of_a_path_are_the_same_path() {
    let principal = || Some(Principal::Full);
    for (sent, signed, expected) in [
        ("/t(PartitionKey='a',RowKey='b''c')", "/t(PartitionKey='a',RowKey='b''c')", principal()),
        ("/t(PartitionKey='a',RowKey='b''c')", "/t(PartitionKey=%27a%27,RowKey=%27b%27%27c%27)", principal()),
        ("/t(PartitionKey=%27a%27,RowKey=%27b%27)", "/t(PartitionKey='a',RowKey='b')", principal()),
        ("/t(PartitionKey='%C3%A9%20',RowKey='b')", "/t(PartitionKey='é ',RowKey='b')", principal()),
        ("/t(PartitionKey='%',RowKey='b')", "/t(PartitionKey='%',RowKey='b')", principal()),
        ("/t(PartitionKey='a',RowKey='b')", "/t(PartitionKey='a',RowKey='c')", None),
        ("/t", "/T", None),
    ] {
        check(KEY, "localhost", sent, "localhost", &format!("/localhost{signed}"), expected);
    }
    for (target, resource) in [
        ("/t?comp=acl", "/localhost/t?comp=acl"),
        ("/?restype=service&comp=properties", "/localhost/?comp=properties"),
        ("/?comp=stats&restype=service&timeout=5", "/localhost/?comp=stats"),
        ("/t()?$filter=a%20eq%201&$top=5", "/localhost/t()"),
    ] {
        check(KEY, "localhost", target, "localhost", resource, principal());
    }
    // The secondary address may sign as the primary does.
    let target = "/devstoreaccount1-secondary/t";
    for resource in ["/devstoreaccount1/devstoreaccount1-secondary/t", "/devstoreaccount1/devstoreaccount1/t"]
    {
        check(KEY, "127.0.0.1", target, "devstoreaccount1", resource, principal());
    }
}

#[test]
fn either_date_may_be_signed_and_must_be_near_if_that_is_wanted() {
    let knock = |ms_date: Option<&str>, date: Option<&str>, signed: &str, date_skew: Option<u64>| {
        let authorization =
            format!("SharedKeyLite localhost:{}", sign(KEY, &format!("{signed}\n/localhost/Tables")));
        let mut knock = Knock::get("localhost", "/Tables");
        knock.headers = headers(&[("authorization", &authorization)]);
        for (name, value) in [("x-ms-date", ms_date), ("date", date)] {
            if let Some(value) = value {
                knock.headers.insert(name, value.parse().unwrap());
            }
        }
        knock.date_skew = date_skew.map(Duration::from_secs);
        knock.permit().map(|_| ()).map_err(|error| error.kind)
    };
    let refused = Err(AuthErrorKind::NotAuthentic);
    let (now, earlier) = ("Sun, 15 Nov 2026 18:19:06 GMT", "Sun, 15 Nov 2026 18:04:06 GMT");
    let just_too_early = "Sun, 15 Nov 2026 18:04:05 GMT";
    assert_eq!(NOW_MS % 1_000, 0);
    for (ms_date, date, signed, date_skew, expected) in [
        (Some(now), None, now, None, Ok(())),
        (None, Some(now), now, None, Ok(())),
        (Some(now), Some(earlier), now, None, Ok(())),
        (Some(now), Some(earlier), earlier, None, Ok(())),
        (Some(now), None, earlier, None, refused),
        (None, None, "", None, refused),
        (Some("yesterday"), None, "yesterday", None, Ok(())),
        (Some("yesterday"), None, "yesterday", Some(900), refused),
        (Some(now), None, now, Some(0), Ok(())),
        (Some(now), Some(just_too_early), just_too_early, Some(900), refused),
        (Some(just_too_early), Some(now), now, Some(900), Ok(())),
        (Some(earlier), None, earlier, Some(900), Ok(())),
        (Some(just_too_early), None, just_too_early, Some(900), refused),
        (Some("Sun, 15 Nov 2026 18:34:06 GMT"), None, "Sun, 15 Nov 2026 18:34:06 GMT", Some(900), Ok(())),
        (Some("Sun, 15 Nov 2026 18:34:07 GMT"), None, "Sun, 15 Nov 2026 18:34:07 GMT", Some(900), refused),
    ] {
        assert_eq!(
            knock(ms_date, date, signed, date_skew),
            expected,
            "{ms_date:?} {date:?} {signed} {date_skew:?}"
        );
    }
}

#[test]
fn headers_that_are_no_signatures_are_refused_as_what_they_are() {
    let long =
        format!("SharedKey localhost:{}", "A".repeat(AUTHORIZATION_BYTES_MAX - "SharedKey localhost:".len()));
    let too_long = format!("{long}A");
    for (authorization, expected, detail) in [
        ("", AuthErrorKind::NotAuthentic, "neither of SharedKey nor"),
        ("Basic YTpi", AuthErrorKind::NotAuthentic, "neither of SharedKey nor"),
        ("Bearer eyJ0", AuthErrorKind::BearerToken, "three parts between dots"),
        ("SharedKey", AuthErrorKind::NotAuthentic, "of the form"),
        ("SharedKey localhost", AuthErrorKind::NotAuthentic, "of the form"),
        ("SharedKey localhost:?", AuthErrorKind::NotAuthentic, "not base64"),
        ("SharedKey localhost:", AuthErrorKind::NotAuthentic, "string to sign"),
        ("SharedKey localhost:AAAA", AuthErrorKind::NotAuthentic, "string to sign: 'GET\\n\\n\\nSun, "),
        ("SharedKey :AAAA", AuthErrorKind::NotAuthentic, "no account ''"),
        (&long, AuthErrorKind::NotAuthentic, "string to sign"),
        (&too_long, AuthErrorKind::NotAuthentic, "too long"),
    ] {
        let mut knock = Knock::get("localhost", "/Tables");
        knock.headers = headers(&[("x-ms-date", SHARED_KEY_DATE), ("authorization", authorization)]);
        let error = knock.permit().unwrap_err();
        assert_eq!(error.kind, expected, "{authorization:.60}");
        assert!(error.detail.contains(detail), "{authorization:.60}: {}", error.detail);
    }
    let none = Knock::get("localhost", "/Tables?$filter=sig").permit().unwrap_err();
    assert_eq!(none.kind, AuthErrorKind::NoCredentials);
}

proptest! {
    #[test]
    fn no_request_panics(host in ".{0,30}", path in "/.{0,40}", query in ".{0,60}", authorization in "[ -~]{0,40}", scheme in "(SharedKey|SharedKeyLite|Bearer)? ?") {
        let mut knock = Knock::get(&host, "/");
        let value = format!("{scheme}{authorization}");
        knock.headers = headers(&[("x-ms-date", "now"), ("authorization", &value)]);
        let address = Address::of(Some(&host), &path, &query, &knock.headers);
        prop_assert_eq!(address.path.as_bytes()[0], b'/');
        let target = format!("{path}?{query}");
        let knock = Knock { target: &target, ..knock };
        prop_assert!(knock.answer(&accounts()).is_err());
    }
}
