use std::time::Duration;

use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known::COSMOS_KEY as EMULATOR_KEY;
use http::{HeaderMap, HeaderValue, Method};

use super::{Credential, KeyAccess, Keys, SignedDate, parse_authorization, string_to_sign};
use crate::request::path;

const DOCUMENTATION_KEY: &str =
    "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
const DATE_MS: i64 = 1_493_254_272_000;
const SKEW: Duration = Duration::from_secs(900);

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    pairs
        .iter()
        .map(|(name, value)| {
            (http::HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        })
        .collect()
}

/// Key, verb, path, published signature.
const VECTORS: &[(&str, Method, &str, &str)] = &[
    (DOCUMENTATION_KEY, Method::GET, "/dbs/ToDoList", "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu+c+c="),
    (EMULATOR_KEY, Method::GET, "/", "gFB1bRB/PLJTG3bCgMuoVgNzOyFvZAamzEtLuSITjRc="),
    (EMULATOR_KEY, Method::GET, "/dbs", "Bk4MqbjRdQImb4Rqp5pmqv1/OhkMQU93qlTmk/SzVRQ="),
    (EMULATOR_KEY, Method::POST, "/dbs/db/colls/c/docs", "wt2rUAbwksZ7mmt5/5toW2aGlF5M7ULaHVL7iZwd86U="),
    (
        EMULATOR_KEY,
        Method::GET,
        "/dbs/db/colls/c/docs/%C3%BC%20%C3%A9",
        "3w1WAWCHXKK/YXmRPlkhiV6XhTS21HCDhJVAGoBiG1k=",
    ),
    (EMULATOR_KEY, Method::PUT, "/offers/ABCD", "vGiPiWNCulLEKSYX3Ykew/tp7K7KiQ980nmZRAJFQs0="),
    (
        EMULATOR_KEY,
        Method::GET,
        "/dbs/P6fRAA==/colls/P6fRAIC63A0=",
        "+lzICGXwN3vCGOjRCx2/gbRDR5Bc7KfTvV95PpJ75fk=",
    ),
];

#[test]
fn published_signatures_are_accepted() {
    let headers = headers(&[("x-ms-date", DATE)]);
    let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
    for (key, method, path, signature) in VECTORS {
        let keys = Keys::new([*key], []).unwrap();
        let resource = path::parse(path).unwrap();
        let signature = parse_signature(signature);
        assert_eq!(keys.check(&signature, method, &resource, &date), Ok(KeyAccess::ReadWrite), "{path}");
        // The same signature does not serve another verb.
        assert!(keys.check(&signature, &Method::DELETE, &resource, &date).is_err(), "{path}");
    }
}

#[test]
fn clients_sign_as_the_service_does() {
    let headers_of = |authorization: &str| headers(&[("authorization", authorization), ("x-ms-date", DATE)]);
    for (key, method, path, signature) in VECTORS {
        let address = path::parse(path).unwrap();
        let mut link = Vec::new();
        match address.rid_link() {
            Some(rid) => link.extend_from_slice(rid.as_bytes()),
            None => address.push_name_link(&mut link),
        }
        let link = String::from_utf8(link).unwrap();
        let key = AccountKey::new(key).unwrap();
        let authorization = key.master(method.as_str(), address.resource_type(), &link, DATE);
        assert!(authorization.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"%.".contains(&byte)));
        let credential = parse_authorization(&headers_of(&authorization)).unwrap();
        assert_eq!(credential, Credential::Master { signature: parse_signature(signature) }, "{path}");
    }
}

fn parse_signature(signature: &str) -> Vec<u8> {
    let value = format!("type=master&ver=1.0&sig={signature}");
    match parse_authorization(&headers(&[("authorization", &value)])).unwrap() {
        Credential::Master { signature } => signature,
        other => panic!("{other:?}"),
    }
}

#[test]
fn names_and_resource_ids_are_both_accepted() {
    let headers = headers(&[("x-ms-date", DATE)]);
    let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
    let keys = Keys::new([EMULATOR_KEY], []).unwrap();
    let resource = path::parse("/dbs/P6fRAA==/colls/P6fRAIC63A0=/docs").unwrap();
    for link in ["dbs/P6fRAA==/colls/P6fRAIC63A0=", "p6fraic63a0="] {
        let text =
            string_to_sign(&Method::GET, &resource, |text| text.extend_from_slice(link.as_bytes()), &date);
        let signature = parse_signature(&keys.sign(&text));
        assert!(keys.check(&signature, &Method::GET, &resource, &date).is_ok(), "{link}");
    }
    // Under a name, an id alone is not enough: it would serve every path that ends in it.
    let resource = path::parse("/dbs/d/colls/P6fRAIC63A0=/docs").unwrap();
    let text = string_to_sign(&Method::GET, &resource, |text| text.extend_from_slice(b"p6fraic63a0="), &date);
    assert!(keys.check(&parse_signature(&keys.sign(&text)), &Method::GET, &resource, &date).is_err());
}

#[test]
fn every_configured_key_is_tried() {
    let headers = headers(&[("x-ms-date", DATE)]);
    let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
    let resource = path::parse("/dbs").unwrap();
    let keys = Keys::new([EMULATOR_KEY, DOCUMENTATION_KEY], ["AAAA"]).unwrap();
    let text = string_to_sign(&Method::GET, &resource, |text| resource.push_name_link(text), &date);
    for (key, expected) in [
        (EMULATOR_KEY, KeyAccess::ReadWrite),
        (DOCUMENTATION_KEY, KeyAccess::ReadWrite),
        ("AAAA", KeyAccess::ReadOnly),
    ] {
        let signature = parse_signature(&Keys::new([key], []).unwrap().sign(&text));
        assert_eq!(keys.check(&signature, &Method::GET, &resource, &date), Ok(expected));
    }
    assert!(Keys::new(["not base64!"], []).is_err());
    assert!(Keys::new([""], []).is_err());
}

#[test]
fn a_mismatch_shows_what_the_server_signed() {
    let headers = headers(&[("x-ms-date", DATE)]);
    let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
    let resource = path::parse("/dbs/ToDoList").unwrap();
    let keys = Keys::new([EMULATOR_KEY], []).unwrap();
    let failure = keys.check(&[0; 32], &Method::GET, &resource, &date).unwrap_err();
    assert_eq!(failure.status.http, 401);
    assert!(
        failure.message.contains(r"'get\ndbs\ndbs/ToDoList\nthu, 27 apr 2017 00:51:12 gmt\n\n'"),
        "{}",
        failure.message
    );
}

#[test]
fn the_date_header_stands_in_for_the_missing_one() {
    let headers = headers(&[("date", DATE)]);
    let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
    let resource = path::parse("/dbs").unwrap();
    let text = string_to_sign(&Method::GET, &resource, |_| {}, &date);
    assert_eq!(text, b"get\ndbs\n\n\nthu, 27 apr 2017 00:51:12 gmt\n");
}

#[test]
fn ms_date_wins_over_date() {
    let headers = headers(&[("date", "Thu, 01 Jan 1970 00:00:00 GMT"), ("x-ms-date", DATE)]);
    let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
    assert_eq!(date, SignedDate { ms_date: DATE, date: "" });
}

#[test]
fn dates_must_be_near() {
    let headers = headers(&[("x-ms-date", DATE)]);
    let status =
        |now_ms| SignedDate::of(&headers, now_ms, SKEW).err().map(|failure| failure.status.http.as_u16());
    let skew_ms = 900_000;
    for (now_ms, expected) in [
        (DATE_MS, None),
        (DATE_MS + skew_ms, None),
        (DATE_MS - skew_ms, None),
        (DATE_MS + skew_ms + 1, Some(403)),
        (DATE_MS - skew_ms - 1, Some(403)),
        (i64::MIN, Some(403)),
        (i64::MAX, Some(403)),
    ] {
        assert_eq!(status(now_ms), expected, "{now_ms}");
    }
}

#[test]
fn missing_and_malformed_dates_are_unauthorized() {
    for pairs in [
        &[][..],
        &[("x-ms-date", "")],
        &[("x-ms-date", "2017-04-27T00:51:12Z")],
        &[("x-ms-date", "Thu, 27 Xyz 2017 00:51:12 GMT")],
        &[("x-ms-date", "Thu, 27 Apr 2017 00:51:12 CET")],
        &[("x-ms-date", "Thu, 27 Apr 2017 00:51:12 GMT and more")],
        &[("date", "yesterday")],
    ] {
        let failure = SignedDate::of(&headers(pairs), DATE_MS, SKEW).unwrap_err();
        assert_eq!(failure.status.http, 401, "{pairs:?}");
    }
}

#[test]
fn authorization_headers() {
    let master = Ok(Credential::Master { signature: vec![0, 1, 0xFB] });
    let token = "type=resource&ver=1&sig=abc==;def+/=;";
    for (value, expected) in [
        ("type=master&ver=1.0&sig=AAH7", master.clone()),
        ("type%3Dmaster%26ver%3D1.0%26sig%3DAAH7", master.clone()),
        ("type%3dmaster%26ver%3d1.0%26sig%3dAAH7", master.clone()),
        ("sig=AAH7&ver=1.0&type=master", master.clone()),
        ("type=Master&ver=1.0&sig=AAH7", master),
        (token, Ok(Credential::ResourceToken(token.to_owned()))),
        (
            "type%3Dresource%26ver%3D1%26sig%3Dabc%3D%3D%3Bdef%2B%2F%3D%3B",
            Ok(Credential::ResourceToken(token.to_owned())),
        ),
        ("", Err("required format")),
        ("Bearer abc", Err("required format")),
        ("type=master&ver=1.0", Err("required format")),
        ("type=master&sig=AAH7", Err("required format")),
        ("ver=1.0&sig=AAH7", Err("required format")),
        ("type=master&ver=2.0&sig=AAH7", Err("required format")),
        ("type=other&ver=1.0&sig=AAH7", Err("required format")),
        ("type=master&ver=1.0&sig=A!", Err("required format")),
        ("type%3master", Err("required format")),
        ("%FF", Err("required format")),
        ("type=aad&ver=1.0&sig=a.b.c", Err("not supported")),
        ("type%3Dsas%26ver%3D1.0%26sig%3Dx", Err("not supported")),
    ] {
        let found = parse_authorization(&headers(&[("authorization", value)]));
        match (found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{value}"),
            (Err(failure), Err(part)) => {
                assert_eq!(failure.status.http, 401, "{value}");
                assert!(failure.message.contains(part), "{value}: {}", failure.message);
            }
            (found, _) => panic!("{value}: {found:?}"),
        }
    }
}

#[test]
fn a_missing_header_is_unauthorized() {
    let failure = parse_authorization(&HeaderMap::new()).unwrap_err();
    assert_eq!(failure.status.http, 401);
    assert!(failure.message.starts_with("Required Header authorization is missing"));
}

#[test]
fn header_length_is_bounded() {
    let longest = |length: usize| {
        let start = "type=resource&ver=1&sig=";
        format!("{start}{}", "a".repeat(length - start.len()))
    };
    let max = crate::limits::AUTHORIZATION_BYTES_MAX;
    assert!(parse_authorization(&headers(&[("authorization", &longest(max))])).is_ok());
    assert!(parse_authorization(&headers(&[("authorization", &longest(max + 1))])).is_err());
}
