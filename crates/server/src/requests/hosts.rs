//! The names that the server answers to.
//!
//! A web page can make its own name lead to this machine (DNS rebinding): the browser then takes the server for the
//! page's own and lets it read everything. What gives the page away is the name, which the browser sends along. So a
//! request is answered only if it was sent to a name that is known to be ours, or to an address: an address cannot be
//! made to lead elsewhere.

use std::net::IpAddr;

use http::{HeaderMap, Uri, header};

use crate::limits::HOST_BYTES_MAX;
use crate::settings::Settings;

/// Stands for every name, in `--allowed-hosts`.
const ANY: &str = "*";

/// The name of the machine to itself; names below it are the machine's own, too (RFC 6761).
const LOCALHOST: &str = "localhost";

/// The names that the server answers to.
#[derive(Debug)]
pub(crate) struct Hosts {
    is_any: bool,
    /// Names without a dot are names of a local network, such as those of services beside each other in containers.
    /// Nobody can register one, and beyond loopback there is no well-known key to sign with.
    has_local_names: bool,
    names: Vec<Name>,
}

#[derive(Debug)]
enum Name {
    Exactly(String),
    /// Every name that ends like this, dot included.
    Below(String),
}

/// A name that is not ours; none if it is not fit to be repeated.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UnknownHost(Option<String>);

impl UnknownHost {
    /// Says what to do about it.
    pub(crate) fn message(&self) -> String {
        let (subject, example) = match &self.0 {
            Some(name) => (format!("the name {name}"), name.as_str()),
            None => ("the name in the header host".to_owned(), "NAME"),
        };
        format!(
            "the server does not answer to {subject}: if clients are to reach it by that name, start it with \
             --allowed-hosts {example} (or ARMILLA_ALLOWED_HOSTS)"
        )
    }
}

impl Hosts {
    /// Collects the names of the settings.
    pub(crate) fn new(settings: &Settings) -> Hosts {
        let advertised = settings.advertised_url.as_deref().and_then(host_of_url);
        let listed = settings.allowed_hosts.iter().map(String::as_str);
        let listed: Vec<&str> = listed.chain(advertised).chain(settings.certificate.names()).collect();
        let name = |text: &&str| {
            let text = text.to_ascii_lowercase();
            match text.strip_prefix('*').unwrap_or(&text) {
                below if below.starts_with('.') => Name::Below(below.to_owned()),
                _ => Name::Exactly(text),
            }
        };
        Hosts {
            is_any: listed.contains(&ANY),
            has_local_names: !settings.address.ip().is_loopback(),
            names: listed.iter().map(name).collect(),
        }
    }

    /// Checks every place in which a request names the server. One that names none comes from no browser.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), UnknownHost> {
        if let Some(authority) = uri.authority() {
            self.check_one(authority.as_str())?;
        }
        for value in headers.get_all(header::HOST) {
            self.check_one(value.to_str().map_err(|_| UnknownHost(None))?)?;
        }
        Ok(())
    }

    fn check_one(&self, authority: &str) -> Result<(), UnknownHost> {
        let host = host(authority);
        if host.is_some_and(|host| self.answers_to(host)) {
            return Ok(());
        }
        Err(UnknownHost(host.filter(|host| is_name(host)).map(str::to_owned)))
    }

    fn answers_to(&self, host: &str) -> bool {
        // A dot at the end makes no other name of it.
        let host = host.strip_suffix('.').unwrap_or(host);
        let ends_with = |end: &str| {
            let start = host.len().checked_sub(end.len()).filter(|start| *start > 0);
            start.and_then(|start| host.get(start..)).is_some_and(|rest| rest.eq_ignore_ascii_case(end))
        };
        self.is_any
            || host.eq_ignore_ascii_case(LOCALHOST)
            || ends_with(".localhost")
            || is_address(host)
            || (self.has_local_names && !host.is_empty() && !host.contains('.'))
            || self.names.iter().any(|name| match name {
                Name::Exactly(name) => host.eq_ignore_ascii_case(name),
                Name::Below(end) => ends_with(end),
            })
    }
}

/// Checks one of `--allowed-hosts`; the error says what is wrong with it.
pub(crate) fn check_allowed(text: &str) -> Result<(), String> {
    let name = text.strip_prefix('*').unwrap_or(text);
    let name = name.strip_prefix('.').unwrap_or(name);
    if text == ANY || is_name(name) || is_address(name) {
        return Ok(());
    }
    Err(format!(
        "--allowed-hosts has {text:?}, which is not a host name: give names without scheme and port, such as \
         db.example, or .example for every name below it, or * for any"
    ))
}

fn is_name(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    !text.is_empty() && text.len() <= HOST_BYTES_MAX && text.bytes().all(is_part)
}

fn is_address(host: &str) -> bool {
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    // Nearly all names are told from addresses by their first or last letter.
    bare.unwrap_or(host).parse::<IpAddr>().is_ok()
}

/// Returns the host of an authority, without port, and without what stands before an @.
fn host(authority: &str) -> Option<&str> {
    let authority = authority.rsplit('@').next()?;
    let end = match authority.starts_with('[') {
        true => authority.find(']')? + 1,
        false => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(end);
    let is_port = port.is_empty()
        || port.strip_prefix(':').is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    (is_port && !host.is_empty()).then_some(host)
}

/// Returns the host of an address such as `https://db.example:8081/`.
fn host_of_url(url: &str) -> Option<&str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    host(rest.split('/').next()?)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn hosts(text: &str) -> Hosts {
        Hosts::new(&Settings::new(toml::from_str(text).unwrap()).unwrap())
    }

    const BEYOND: &str = "bind = \"0.0.0.0\"\nkey = \"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=\"\n";

    #[test]
    fn names_of_the_server() {
        let loopback = hosts("");
        let beyond = hosts(BEYOND);
        for (host, on_loopback, is_beyond) in [
            ("localhost", true, true),
            ("LocalHost:8081", true, true),
            ("localhost.", true, true),
            ("account.localhost:1", true, true),
            ("127.0.0.1", true, true),
            ("127.0.0.1:8081", true, true),
            ("[::1]:8081", true, true),
            ("192.0.2.1:8081", true, true),
            ("user@localhost", true, true),
            ("armilla:8081", false, true),
            ("db.example", false, false),
            ("notlocalhost", false, true),
            ("localhost.evil.example", false, false),
            ("localhost@evil.example", false, false),
            ("127.0.0.1.evil.example", false, false),
            (".localhost", false, false),
            ("[::1].evil.example", false, false),
            ("localhost:evil.example", false, false),
            ("", false, false),
            (":80", false, false),
            ("[::1", false, false),
        ] {
            assert_eq!(loopback.check_one(host).is_ok(), on_loopback, "{host}");
            assert_eq!(beyond.check_one(host).is_ok(), is_beyond, "{host}");
        }
    }

    #[test]
    fn further_names() {
        let further = hosts(
            "allowed-hosts = [\"db.example\", \".inner.example\", \"*.star.example\"]\n\
             advertised-url = \"https://told.example:8081/\"\ntls-name = [\"shown.example\"]",
        );
        for host in [
            "db.example:1",
            "DB.example",
            "a.inner.example",
            "a.star.example",
            "told.example",
            "shown.example",
        ] {
            assert_eq!(further.check_one(host), Ok(()), "{host}");
        }
        for host in ["a.db.example", "inner.example", "xinner.example", "example"] {
            assert!(further.check_one(host).is_err(), "{host}");
        }
        assert_eq!(hosts("allowed-hosts = [\"*\"]").check_one("evil.example"), Ok(()));
    }

    /// One place is enough to give a page away.
    #[test]
    fn every_place_counts() {
        let hosts = hosts("");
        let check = |uri: &str, names: &[&str]| {
            let mut headers = HeaderMap::new();
            for name in names {
                headers.append(header::HOST, HeaderValue::from_str(name).unwrap());
            }
            hosts.check(&uri.parse().unwrap(), &headers)
        };
        assert_eq!(check("/", &[]), Ok(()));
        assert_eq!(check("/", &["localhost"]), Ok(()));
        assert_eq!(check("http://localhost/", &["localhost:1"]), Ok(()));
        for (uri, names) in [
            ("http://evil.example/", &["localhost"][..]),
            ("http://localhost/", &["evil.example"]),
            ("/", &["localhost", "evil.example"]),
            ("/", &["evil.example", "localhost"]),
        ] {
            assert_eq!(
                check(uri, names),
                Err(UnknownHost(Some("evil.example".to_owned()))),
                "{uri} {names:?}"
            );
        }
    }

    #[test]
    fn messages_repeat_names_alone() {
        let hosts = hosts("");
        let message = |host: &str| hosts.check_one(host).unwrap_err().message();
        assert!(message("db.example:8081").contains("--allowed-hosts db.example ("));
        let long = "x".repeat(HOST_BYTES_MAX);
        assert!(message(&long).contains(&long));
        for odd in ["a\"b", "a b", "<x>", &format!("{long}y")] {
            assert!(message(odd).contains("--allowed-hosts NAME"), "{odd}");
        }
    }

    #[test]
    fn allowed_names_are_checked() {
        for good in ["db.example", ".example", "*.example", "*", "db", "192.0.2.1", "::1", "a_b"] {
            assert_eq!(check_allowed(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "*.", "https://db.example", "db.example:8081", "a b", "*x y"] {
            assert!(check_allowed(bad).is_err(), "{bad}");
        }
    }
}
