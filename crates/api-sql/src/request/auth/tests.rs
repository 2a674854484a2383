use std::time::Duration;

use armilla_rest_wire::authorization::Credential;
use armilla_rest_wire::names;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known::COSMOS_KEY as EMULATOR_KEY;
use http::{HeaderMap, HeaderValue, header};

use super::*;
use crate::reply::failure::Failure;
use crate::request::path;

const DOCUMENTATION_KEY: &str =
    "dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==";
const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
const DATE_MS: i64 = 1_493_254_272_000;

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

/// Checks a signature, in base64, over a request of the date above.
fn checked(key: &str, signature: &str, method: &Method, path: &str) -> Result<KeyAccess, AuthorizationError> {
    let headers = HeaderMap::from_iter([(names::MS_DATE.clone(), HeaderValue::from_static(DATE))]);
    let date = SignedDate::of(&headers, DATE_MS, Duration::from_secs(900)).unwrap();
    let keys = AccountKeys::new([key], []).unwrap();
    check(&keys, &digest(signature), method, &path::parse(path).unwrap(), &date)
}

fn digest(signature: &str) -> Vec<u8> {
    let authorization = HeaderValue::from_str(&format!("type=master&ver=1.0&sig={signature}")).unwrap();
    let headers = HeaderMap::from_iter([(header::AUTHORIZATION, authorization)]);
    match Credential::of(&headers).unwrap() {
        Credential::Master { signature } => signature,
        other => panic!("{other:?}"),
    }
}

#[test]
fn published_signatures_are_accepted() {
    for (key, method, path, signature) in VECTORS {
        assert_eq!(checked(key, signature, method, path), Ok(KeyAccess::ReadWrite), "{path}");
        // The same signature does not serve another verb.
        assert!(checked(key, signature, &Method::DELETE, path).is_err(), "{path}");
    }
}

#[test]
fn clients_sign_as_the_service_does() {
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
        let authorization = HeaderValue::from_str(&authorization).unwrap();
        let headers = HeaderMap::from_iter([(header::AUTHORIZATION, authorization)]);
        assert_eq!(
            Credential::of(&headers),
            Ok(Credential::Master { signature: digest(signature) }),
            "{path}"
        );
    }
}

#[test]
fn names_and_resource_ids_are_both_accepted() {
    let sign = |link: &str| {
        let text = format!("get\ndocs\n{link}\n{}\n\n", DATE.to_lowercase());
        AccountKey::new(EMULATOR_KEY).unwrap().sign(text.as_bytes())
    };
    for link in ["dbs/P6fRAA==/colls/P6fRAIC63A0=", "p6fraic63a0="] {
        let path = "/dbs/P6fRAA==/colls/P6fRAIC63A0=/docs";
        assert!(checked(EMULATOR_KEY, &sign(link), &Method::GET, path).is_ok(), "{link}");
    }
    // Under a name, an id alone is not enough: it would serve every path that ends in it.
    let path = "/dbs/d/colls/P6fRAIC63A0=/docs";
    assert!(checked(EMULATOR_KEY, &sign("p6fraic63a0="), &Method::GET, path).is_err());
}

#[test]
fn a_mismatch_shows_what_the_server_signed() {
    let error = checked(EMULATOR_KEY, "AAAA", &Method::GET, "/dbs/ToDoList").unwrap_err();
    let failure = Failure::from(error);
    assert_eq!(failure.status.http, 401);
    assert!(
        failure.message.contains(r"'get\ndbs\ndbs/ToDoList\nthu, 27 apr 2017 00:51:12 gmt\n\n'"),
        "{}",
        failure.message
    );
}
