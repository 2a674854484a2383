//! Tests of who is let in, against what the published clients send.

mod addresses;
mod grants;
mod recorded;
mod shared_access;
mod shared_keys;

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known::COSMOS_KEY as KEY;
use http::{HeaderMap, HeaderName, HeaderValue, Method};

use super::{Accounts, Address, AuthError, Authenticated, Head, Permit, authenticate};
use crate::Peer;

const SECONDARY_KEY: &str = "c2Vjb25kYXJ5";
const READ_ONLY_KEY: &str = "cmVhZCBvbmx5";
/// Just after the recorded requests: 15 November 2026, 18:19:06.
const NOW_MS: i64 = 1_794_766_746_000;

fn accounts() -> Accounts {
    Accounts::new([KEY, SECONDARY_KEY], [READ_ONLY_KEY], true).unwrap()
}

fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn sign(key: &str, text: &str) -> String {
    AccountKey::new(key).unwrap().sign(text.as_bytes())
}

/// A request that knocks.
struct Knock<'k> {
    method: Method,
    host: &'k str,
    target: &'k str,
    headers: HeaderMap,
    peer: Peer,
    now_ms: i64,
    date_skew: Option<Duration>,
}

impl<'k> Knock<'k> {
    fn get(host: &'k str, target: &'k str) -> Knock<'k> {
        Knock {
            method: Method::GET,
            host,
            target,
            headers: HeaderMap::new(),
            peer: Peer { scheme: "http", address: IpAddr::V4(Ipv4Addr::LOCALHOST) },
            now_ms: NOW_MS,
            date_skew: None,
        }
    }

    fn path_and_query(&self) -> (&'k str, &'k str) {
        self.target.split_once('?').unwrap_or((self.target, ""))
    }

    fn answer(&self, accounts: &Accounts) -> Result<Authenticated, AuthError> {
        let (path, query) = self.path_and_query();
        let host = Some(self.host);
        let address = Address::of(host, path, query, &self.headers);
        let head = Head { method: &self.method, path, query, headers: &self.headers, host, peer: &self.peer };
        authenticate(&head, &address, accounts, self.now_ms, self.date_skew)
    }

    /// Returns what it may do; a policy is not asked for.
    fn permit(&self) -> Result<Permit, AuthError> {
        self.answer(&accounts()).map(|answer| match answer {
            Authenticated::Permit(permit) => permit,
            Authenticated::NeedsPolicy(_) => panic!("a policy is needed"),
        })
    }
}
