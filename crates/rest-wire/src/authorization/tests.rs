use super::*;
use crate::well_known::COSMOS_KEY;

const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
const DATE_MS: i64 = 1_493_254_272_000;
const SKEW: Duration = Duration::from_secs(900);
const OTHER_KEY: &str =
    "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &str)| {
        (http::HeaderName::from_static(name), HeaderValue::from_bytes(value.as_bytes()).unwrap())
    };
    pairs.iter().map(pair).collect()
}

fn credential(value: &str) -> Result<Credential, AuthorizationError> {
    Credential::of(&headers(&[("authorization", value)]))
}

#[test]
fn every_configured_key_is_tried() {
    let keys = AccountKeys::new([COSMOS_KEY, OTHER_KEY], ["AAAA"]).unwrap();
    for (key, expected) in [
        (COSMOS_KEY, Some(KeyAccess::ReadWrite)),
        (OTHER_KEY, Some(KeyAccess::ReadWrite)),
        ("AAAA", Some(KeyAccess::ReadOnly)),
        ("BBBB", None),
    ] {
        let signature = STANDARD.decode(AccountKey::new(key).unwrap().sign(b"text")).unwrap();
        assert_eq!(keys.access(b"text", &signature), expected);
        assert_eq!(keys.access(b"another text", &signature), None);
    }
    assert!(AccountKeys::new(["not base64!"], []).is_err());
    assert!(AccountKeys::new([""], []).is_err());
    assert!(AccountKeys::new([COSMOS_KEY], ["?"]).is_err());
}

#[test]
fn what_is_covered_is_in_lower_case_but_for_the_link() {
    let text = |pairs: &[(&'static str, &str)]| {
        let headers = headers(pairs);
        let date = SignedDate::of(&headers, DATE_MS, SKEW).unwrap();
        let text = date.text(&Method::GET, "Dbs", |text| text.extend_from_slice(b"dbs/ToDoList"));
        String::from_utf8(text).unwrap()
    };
    let by_ms_date = "get\ndbs\ndbs/ToDoList\nthu, 27 apr 2017 00:51:12 gmt\n\n";
    assert_eq!(text(&[("x-ms-date", DATE)]), by_ms_date);
    assert_eq!(text(&[("x-ms-date", &DATE.to_lowercase())]), by_ms_date);
    // It wins over the other one, which stands in where it is missing.
    assert_eq!(text(&[("date", "Thu, 01 Jan 1970 00:00:00 GMT"), ("x-ms-date", DATE)]), by_ms_date);
    assert_eq!(text(&[("date", DATE)]), "get\ndbs\ndbs/ToDoList\n\nthu, 27 apr 2017 00:51:12 gmt\n");
}

#[test]
fn dates_must_be_near() {
    let headers = headers(&[("x-ms-date", DATE)]);
    let skew_ms = 900_000;
    for (now_ms, is_near) in [
        (DATE_MS, true),
        (DATE_MS + skew_ms, true),
        (DATE_MS - skew_ms, true),
        (DATE_MS + skew_ms + 1, false),
        (DATE_MS - skew_ms - 1, false),
        (i64::MIN, false),
        (i64::MAX, false),
    ] {
        let found = SignedDate::of(&headers, now_ms, SKEW);
        let expected = if is_near {
            Ok(SignedDate { ms_date: DATE, date: "" })
        } else {
            Err(AuthorizationError::DateTooFar { date: DATE.to_owned(), now_ms })
        };
        assert_eq!(found, expected, "{now_ms}");
    }
}

#[test]
fn missing_and_malformed_dates() {
    assert_eq!(SignedDate::of(&HeaderMap::new(), DATE_MS, SKEW), Err(AuthorizationError::NoDate));
    for (name, date) in [
        ("x-ms-date", ""),
        ("x-ms-date", "2017-04-27T00:51:12Z"),
        ("x-ms-date", "Thu, 27 Xyz 2017 00:51:12 GMT"),
        ("x-ms-date", "Thu, 27 Apr 2017 00:51:12 CET"),
        ("x-ms-date", "Thu, 27 Apr 2017 00:51:12 GMT and more"),
        ("date", "yesterday"),
    ] {
        let expected = AuthorizationError::MalformedDate { date: date.to_owned() };
        assert_eq!(SignedDate::of(&headers(&[(name, date)]), DATE_MS, SKEW), Err(expected));
    }
}

#[test]
fn headers_are_taken_apart() {
    let master = Credential::Master { signature: vec![0, 1, 0xFB] };
    for value in [
        "type=master&ver=1.0&sig=AAH7",
        "type%3Dmaster%26ver%3D1.0%26sig%3DAAH7",
        "type%3dmaster%26ver%3d1%26sig%3dAAH7",
        "sig=AAH7&ver=1.0&more=x&type=master",
        "type=Master&ver=1.0&sig=AAH7",
    ] {
        assert_eq!(credential(value), Ok(master.clone()), "{value}");
    }
    let token = "type=resource&ver=1&sig=abc==;def+/=;";
    for value in [token, "type%3Dresource%26ver%3D1%26sig%3Dabc%3D%3D%3Bdef%2B%2F%3D%3B"] {
        assert_eq!(credential(value), Ok(Credential::ResourceToken(token.to_owned())), "{value}");
    }
    for value in [
        "",
        "Bearer abc",
        "type=master&ver=1.0",
        "type=master&sig=AAH7",
        "ver=1.0&sig=AAH7",
        "type=master&ver=2.0&sig=AAH7",
        "type=other&ver=1.0&sig=AAH7",
        "type=master&ver=1.0&sig=A!",
        "type%3master",
        "%FF",
        "é",
    ] {
        assert_eq!(credential(value), Err(AuthorizationError::Malformed), "{value}");
    }
    let (value, kind) = ("type%3Dsas%26ver%3D1.0%26sig%3Dx", "client-generated (type=sas)");
    assert_eq!(credential(value), Err(AuthorizationError::Unsupported { kind }), "{value}");
    let token = Credential::EntraToken("a.b.c".to_owned());
    assert_eq!(credential("type=aad&ver=1.0&sig=a.b.c"), Ok(token));
    assert_eq!(Credential::of(&HeaderMap::new()), Err(AuthorizationError::Missing));
}

#[test]
fn header_length_is_bounded() {
    let of_length = |length: usize| {
        let start = "type=resource&ver=1&sig=";
        format!("{start}{}", "a".repeat(length - start.len()))
    };
    assert!(credential(&of_length(AUTHORIZATION_BYTES_MAX)).is_ok());
    assert_eq!(credential(&of_length(AUTHORIZATION_BYTES_MAX + 1)), Err(AuthorizationError::Malformed));
}

/// Clients are told what happened in the words of the service, which some of them look for.
#[test]
fn errors_have_a_status_and_words() {
    let date = || DATE.to_owned();
    for (error, status, words) in [
        (AuthorizationError::Missing, 401, "Required Header authorization is missing."),
        (AuthorizationError::Malformed, 401, "doesn't confirm to the required format"),
        (AuthorizationError::Unsupported { kind: "odd" }, 401, "Tokens of the odd kind are not supported"),
        (AuthorizationError::EntraToken { why: "is odd" }, 401, "The Microsoft Entra ID token is odd."),
        (AuthorizationError::NoDate, 401, "neither an x-ms-date nor a Date header"),
        (AuthorizationError::MalformedDate { date: "x".to_owned() }, 401, "The date 'x' is not of the form"),
        (
            AuthorizationError::DateTooFar { date: date(), now_ms: 0 },
            403,
            "(token time: Thu, 27 Apr 2017 00:51:12 GMT, server time: Thu, 01 Jan 1970 00:00:00 GMT).",
        ),
        (
            AuthorizationError::WrongSignature { text: b"get\ndbs\n\n".to_vec() },
            401,
            r"Server used the following payload to sign: 'get\ndbs\n\n'",
        ),
    ] {
        assert_eq!(error.status().http.as_u16(), status, "{error:?}");
        assert!(error.to_string().contains(words), "{error}");
    }
}
