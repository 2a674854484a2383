//! Headers in every form that clients send.

use armilla_engine::Throughput;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::{
    IfMatch, Preference, Verb, check_json_body, client_request_id, if_match, metadata_level, names,
    preference, throughput, verb,
};
use crate::entity::MetadataLevel;
use crate::limits::CLIENT_REQUEST_ID_BYTES_MAX;
use crate::options::Flavour;

fn with(name: &'static str, value: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    headers
}

#[test]
fn verbs_may_be_tunnelled() {
    let merge = Method::from_bytes(b"MERGE").unwrap();
    for (method, tunnelled, expected) in [
        (Method::GET, "", Some(Verb::Get)),
        (Method::PATCH, "", Some(Verb::Merge)),
        (merge, "", Some(Verb::Merge)),
        (Method::HEAD, "", Some(Verb::Other)),
        (Method::POST, "MERGE", Some(Verb::Merge)),
        (Method::POST, "merge", Some(Verb::Merge)),
        (Method::POST, "DELETE", Some(Verb::Delete)),
        (Method::POST, "PUT", Some(Verb::Put)),
        (Method::POST, "GET", None),
        (Method::PUT, "MERGE", None),
    ] {
        let headers = if tunnelled.is_empty() { HeaderMap::new() } else { with("x-http-method", tunnelled) };
        assert_eq!(verb(&method, &headers).ok(), expected, "{method} {tunnelled}");
    }
}

#[test]
fn versions_are_read() {
    assert_eq!(if_match(&HeaderMap::new()).unwrap(), IfMatch::Absent);
    assert_eq!(if_match(&with("if-match", "*")).unwrap(), IfMatch::Any);
    let tag = "W/\"datetime'2022-05-06T00%3A47%3A36.5851144Z'\"";
    assert!(matches!(if_match(&with("if-match", tag)).unwrap(), IfMatch::Exactly(_)));
    for never in ["W/\"x\"", "w/\"\""] {
        assert_eq!(if_match(&with("if-match", never)).unwrap(), IfMatch::Never, "{never}");
    }
    let small = "w/\"datetime'2022-05-06T00%3A47%3A36.5851144Z'\"";
    assert_eq!(if_match(&with("if-match", small)).unwrap(), if_match(&with("if-match", tag)).unwrap());
    for bad in ["x", "\"x\"", "\"", "W/x", "W/\"", "\"datetime'2022-05-06T00%3A47%3A36.5851144Z'\""] {
        let shape = if_match(&with("if-match", bad)).unwrap_err().shape(Flavour::Storage);
        assert_eq!((shape.status.as_u16(), &*shape.code), (400, "InvalidInput"), "{bad}");
    }
}

#[test]
fn preferences() {
    for (word, expected) in [
        ("return-no-content", Preference::NoContent),
        ("Return-Content", Preference::Content),
        ("respond-async", Preference::None),
    ] {
        assert_eq!(preference(&with("prefer", word)), expected);
    }
    assert_eq!(preference(&HeaderMap::new()), Preference::None);
}

#[test]
fn levels_of_metadata() {
    for (accept, expected) in [
        ("application/json", Ok(MetadataLevel::Minimal)),
        ("*/*", Ok(MetadataLevel::Minimal)),
        ("application/json;odata=nometadata", Ok(MetadataLevel::None)),
        ("application/json; odata=fullmetadata", Ok(MetadataLevel::Full)),
        ("application/json;odata=minimalmetadata", Ok(MetadataLevel::Minimal)),
        ("application/atom+xml,application/json;odata=nometadata", Ok(MetadataLevel::None)),
        ("APPLICATION/JSON;ODATA=FULLMETADATA;q=1", Ok(MetadataLevel::Full)),
        ("application/json;odata=verbose", Err("MediaTypeNotSupported")),
        ("application/atom+xml", Err("AtomFormatNotSupported")),
        ("text/html", Err("MediaTypeNotSupported")),
    ] {
        let found = metadata_level(&with("accept", accept), None);
        let found = found.map_err(|failure| failure.shape(Flavour::Cosmos));
        match expected {
            Ok(level) => assert_eq!(found.unwrap(), level, "{accept}"),
            Err(code) => {
                let shape = found.unwrap_err();
                assert_eq!((shape.status.as_u16(), &*shape.code), (415, code), "{accept}");
            }
        }
    }
    assert_eq!(metadata_level(&HeaderMap::new(), None).unwrap(), MetadataLevel::Minimal);
    let both =
        metadata_level(&with("accept", "application/json"), Some("application/json;odata=fullmetadata"));
    assert_eq!(both.unwrap(), MetadataLevel::Full);
}

#[test]
fn bodies_are_json() {
    assert!(check_json_body(&HeaderMap::new()).is_ok());
    assert!(check_json_body(&with("content-type", "application/json;odata=nometadata")).is_ok());
    assert!(check_json_body(&with("content-type", "application/atom+xml")).is_err());
    assert!(check_json_body(&with("content-type", "text/plain")).is_err());
}

#[test]
fn headers_say_how_much_throughput() {
    let autoscale = |max, increment_percent| Some(Some(Throughput::Autoscale { max, increment_percent }));
    for (name, value, expected) in [
        ("x-other", "1", Some(None)),
        ("x-ms-offer-throughput", "400", Some(Some(Throughput::Manual(400)))),
        ("x-ms-offer-throughput", "x", None),
        ("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":4000}"#, autoscale(4_000, None)),
        ("x-ms-cosmos-offer-autopilot-settings", "{}", None),
        ("x-ms-cosmos-offer-autopilot-settings", "{", None),
        ("x-ms-cosmos-offer-autopilot-settings", r#"{"maxThroughput":-1}"#, None),
    ] {
        assert_eq!(throughput(&with(name, value)).ok(), expected, "{name}: {value}");
    }
    let mut both = with("x-ms-offer-throughput", "400");
    both.insert(&names::OFFER_AUTOPILOT, HeaderValue::from_static(r#"{"maxThroughput":4000}"#));
    assert!(throughput(&both).is_err());
}

#[test]
fn echoed_ids_are_bounded() {
    let longest = "x".repeat(CLIENT_REQUEST_ID_BYTES_MAX);
    assert!(client_request_id(&with("x-ms-client-request-id", &longest)).is_some());
    assert!(client_request_id(&with("x-ms-client-request-id", &format!("{longest}x"))).is_none());
}
