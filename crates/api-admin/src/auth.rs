//! Signatures with a key of the account, over paths of the administration.
//!
//! They are those of the SQL API; here the kind of resource is always `armilla`, and the link is the path as it was sent.
//! Comparison takes constant time.
//!
//! Not here: the `Authorization` header and the date (`rest-wire`); resource tokens, which are checked by the engine that
//! made them and permit nothing here.

use armilla_rest_wire::authorization::{AccountKeys, AuthorizationError, KeyAccess, SignedDate};
use http::Method;

/// The word that signatures use for what is here.
const RESOURCE_TYPE: &str = "armilla";

/// Checks a signature over a request and says what it permits.
pub(crate) fn check(
    keys: &AccountKeys,
    signature: &[u8],
    method: &Method,
    link: &str,
    date: &SignedDate<'_>,
) -> Result<KeyAccess, AuthorizationError> {
    let text = date.text(method, RESOURCE_TYPE, |text| text.extend_from_slice(link.as_bytes()));
    keys.access(&text, signature).ok_or(AuthorizationError::WrongSignature { text })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use armilla_rest_wire::authorization::Credential;
    use armilla_rest_wire::names::MS_DATE;
    use armilla_rest_wire::signature::AccountKey;
    use http::{HeaderMap, HeaderValue, header};

    use super::*;
    use crate::failure::Failure;

    const KEY: &str = "c2VjcmV0";
    const DATE: &str = "Thu, 27 Apr 2017 00:51:12 GMT";
    const DATE_MS: i64 = 1_493_254_272_000;
    const LINK: &str = "_armilla/dbs/a%20B/colls/c/split";

    /// The SQL API's signature, which clients make, is the one that is checked here.
    #[test]
    fn signatures_are_those_that_clients_make() {
        let checked = |key: &str, verb: &str, link: &str| {
            let authorization = AccountKey::new(key).unwrap().master(verb, RESOURCE_TYPE, link, DATE);
            let headers = HeaderMap::from_iter([
                (header::AUTHORIZATION, HeaderValue::from_str(&authorization).unwrap()),
                (MS_DATE.clone(), HeaderValue::from_static(DATE)),
            ]);
            let Ok(Credential::Master { signature }) = Credential::of(&headers) else { panic!("{key}") };
            let date = SignedDate::of(&headers, DATE_MS, Duration::from_secs(900)).unwrap();
            let keys = AccountKeys::new([KEY, "b3RoZXI="], ["cmVhZA=="]).unwrap();
            check(&keys, &signature, &Method::POST, LINK, &date)
        };
        assert_eq!(checked(KEY, "POST", LINK), Ok(KeyAccess::ReadWrite));
        assert_eq!(checked("b3RoZXI=", "post", LINK), Ok(KeyAccess::ReadWrite));
        assert_eq!(checked("cmVhZA==", "POST", LINK), Ok(KeyAccess::ReadOnly));
        for (key, verb, link) in [
            ("d3Jvbmc=", "POST", LINK),
            (KEY, "GET", LINK),
            (KEY, "POST", "_armilla/dbs/a B/colls/c/split"),
            (KEY, "POST", "_armilla/dbs/a%20b/colls/c/split"),
        ] {
            let failure = Failure::from(checked(key, verb, link).unwrap_err());
            assert_eq!(failure.status.http, 401);
            let payload = format!(r"'post\narmilla\n{LINK}\nthu, 27 apr 2017 00:51:12 gmt\n\n'");
            assert!(failure.message.ends_with(&payload), "{}", failure.message);
        }
    }
}
