//! Which web pages may send requests.
//!
//! A browser lets every page send some requests to every server, this one included, and only hides the answers. With
//! the well-known key a page can even sign them. What a page cannot do is to hide where it comes from: the browser says
//! so in `Origin`, or for requests without one in `Sec-Fetch-Site`. Programs send neither.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, HOST, ORIGIN, VARY,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};

use crate::limits::PREFLIGHT_SECONDS;
use crate::requests::api::Scheme;
use crate::settings::Settings;

static SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
static SEC_FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
static REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
static ALLOW_PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");

/// Stands for every page, in `--allowed-origins`.
const ANY: &str = "*";

/// Where requests may come from beside programs.
#[derive(Debug)]
pub(crate) struct Origins {
    is_any: bool,
    allowed: Vec<String>,
    /// The server itself, where it is reached by another address than it sees.
    advertised: Option<String>,
}

/// Who sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sender {
    /// A program, or a page of the server itself.
    Own,
    /// A page that may, with what is told to the browser about it.
    Page(HeaderValue),
    /// Any other page; with its origin where that is said.
    Foreign(Option<String>),
}

impl Origins {
    /// Collects the origins of the settings.
    pub(crate) fn new(settings: &Settings) -> Origins {
        let allowed = &settings.allowed_origins;
        Origins {
            is_any: allowed.iter().any(|origin| origin == ANY),
            allowed: allowed.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
            advertised: settings.advertised_url.as_deref().and_then(origin_of_url),
        }
    }

    /// Tells who sends a request.
    pub(crate) fn sender(&self, method: &Method, uri: &Uri, headers: &HeaderMap, scheme: Scheme) -> Sender {
        let mut origins = headers.get_all(ORIGIN).iter();
        let Some(value) = origins.next() else {
            return match is_sent_by_a_page(method, headers) {
                true => Sender::Foreign(None),
                false => Sender::Own,
            };
        };
        let Some(origin) = value.to_str().ok().filter(|_| origins.next().is_none()) else {
            return Sender::Foreign(None);
        };
        if self.is_any {
            return Sender::Page(HeaderValue::from_static(ANY));
        }
        if self.allowed.iter().any(|allowed| fits(allowed, origin)) {
            return Sender::Page(value.clone());
        }
        self.own_or_foreign(origin, uri, headers, scheme)
    }

    /// Tells the same where pages of this server alone may ask, whichever others may ask for the rest.
    pub(crate) fn own_sender(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        scheme: Scheme,
    ) -> Sender {
        match self.sender(method, uri, headers, scheme) {
            Sender::Page(_) => {
                let origin = headers.get(ORIGIN).and_then(|value| value.to_str().ok()).unwrap_or_default();
                self.own_or_foreign(origin, uri, headers, scheme)
            }
            sender => sender,
        }
    }

    fn own_or_foreign(&self, origin: &str, uri: &Uri, headers: &HeaderMap, scheme: Scheme) -> Sender {
        if is_own(origin, uri, headers, scheme) || self.advertised.as_deref() == Some(origin) {
            return Sender::Own;
        }
        Sender::Foreign(Some(origin.to_owned()))
    }
}

/// What a page of another origin is told that asks for what only the server's own page may have.
pub(crate) const OWN_PAGE_ONLY: &str = "the explorer answers its own page alone";

/// Says what a page has to be given for its requests to be answered.
pub(crate) fn refusal(origin: Option<&str>) -> String {
    let example = origin.filter(|origin| is_origin(origin));
    let (subject, example) = match example {
        Some(origin) => (format!("web pages of {origin}"), origin),
        None => ("this web page".to_owned(), "ORIGIN"),
    };
    format!(
        "the server takes no requests of {subject}: if it is to, start it with --allowed-origins {example} (or \
         ARMILLA_ALLOWED_ORIGINS)"
    )
}

/// Checks one of `--allowed-origins`; the error says what is wrong with it.
pub(crate) fn check_allowed(text: &str) -> Result<(), String> {
    let is_pattern = text.replacen("://*.", "://", 1);
    if text == ANY || text == "null" || is_origin(is_pattern.trim_end_matches('/')) {
        return Ok(());
    }
    Err(format!(
        "--allowed-origins has {text:?}, which is not an origin: give scheme, host and port, such as \
         http://localhost:3000 or https://*.example, or * for any"
    ))
}

/// Tells whether a request is the question that a browser asks before it sends another.
pub(crate) fn is_preflight(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns what the browser is told: the page may send what it asked for.
pub(crate) fn preflight(page: &HeaderValue, request: &HeaderMap) -> HeaderMap {
    let mut answer = HeaderMap::new();
    put_origin(page, &mut answer);
    for (asked, allowed) in [
        (ACCESS_CONTROL_REQUEST_METHOD, ACCESS_CONTROL_ALLOW_METHODS),
        (ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_ALLOW_HEADERS),
    ] {
        if let Some(value) = request.get(asked) {
            answer.insert(allowed, value.clone());
        }
    }
    if request.contains_key(&REQUEST_PRIVATE_NETWORK) {
        answer.insert(ALLOW_PRIVATE_NETWORK.clone(), HeaderValue::from_static("true"));
    }
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from(PREFLIGHT_SECONDS));
    answer
}

/// Lets a page see an answer, unless the API has its own rules for the page.
pub(crate) fn show(page: &HeaderValue, answer: &mut HeaderMap) {
    if !answer.contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        put_origin(page, answer);
        answer.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(ANY));
    }
}

fn put_origin(page: &HeaderValue, answer: &mut HeaderMap) {
    answer.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page.clone());
    if page != ANY {
        // Another page gets another answer, which a cache must know.
        answer.append(VARY, HeaderValue::from_static("Origin"));
    }
}

/// Tells whether a request without an origin comes from a page elsewhere. To open an address, by a link or by hand, is
/// no request of a page: it gets nothing of the answer.
fn is_sent_by_a_page(method: &Method, headers: &HeaderMap) -> bool {
    let is = |name: &HeaderName, words: &[&str]| {
        headers.get_all(name).iter().any(|value| words.iter().any(|word| value == *word))
    };
    let is_opened = *method == Method::GET && is(&SEC_FETCH_MODE, &["navigate"]);
    is(&SEC_FETCH_SITE, &["cross-site", "same-site"]) && !is_opened
}

fn is_own(origin: &str, uri: &Uri, headers: &HeaderMap, scheme: Scheme) -> bool {
    let authority = uri.authority().map(|authority| authority.as_str());
    let host = authority.or_else(|| headers.get(HOST).and_then(|value| value.to_str().ok()));
    let rest = origin.strip_prefix(scheme.name()).and_then(|rest| rest.strip_prefix("://"));
    rest.zip(host).is_some_and(|(rest, host)| rest.eq_ignore_ascii_case(host))
}

/// Origins are compared whole; `https://*.example.com` fits every name below that one.
fn fits(allowed: &str, origin: &str) -> bool {
    if allowed.eq_ignore_ascii_case(origin) {
        return true;
    }
    let Some((scheme, domain)) = allowed.split_once("://*.") else { return false };
    let Some((origin_scheme, host)) = origin.split_once("://") else { return false };
    let host = host.to_ascii_lowercase();
    origin_scheme.eq_ignore_ascii_case(scheme)
        && host.strip_suffix(domain).is_some_and(|labels| labels.len() > 1 && labels.ends_with('.'))
}

fn is_origin(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    text.split_once("://").is_some_and(|(scheme, rest)| {
        !scheme.is_empty()
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && !rest.is_empty()
            && rest.len() <= crate::limits::HOST_BYTES_MAX
            && rest.bytes().all(is_part)
    })
}

/// Returns scheme, host and port of an address, as a browser writes them.
fn origin_of_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    Some(format!("{scheme}://{}", rest.split('/').next()?).to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(text: &str) -> Origins {
        Origins::new(&Settings::new(toml::from_str(text).unwrap()).unwrap())
    }

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        headers
    }

    fn sender(origins: &Origins, method: Method, lines: &[(&'static str, &str)]) -> Sender {
        origins.sender(&method, &"/dbs".parse().unwrap(), &headers(lines), Scheme::Http)
    }

    #[test]
    fn programs_and_own_pages() {
        let origins = origins("advertised-url = \"https://db.example/\"");
        for lines in [
            &[("host", "localhost:8081")][..],
            &[("host", "localhost:8081"), ("origin", "http://localhost:8081")],
            &[("host", "localhost:8081"), ("origin", "https://db.example")],
            &[("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
        ] {
            assert_eq!(sender(&origins, Method::GET, lines), Sender::Own, "{lines:?}");
        }
    }

    #[test]
    fn other_pages() {
        let origins = origins("");
        for (origin, told) in [
            ("http://evil.example", Some("http://evil.example")),
            ("null", Some("null")),
            ("http://localhost:3000", Some("http://localhost:3000")),
            ("https://localhost:8081", Some("https://localhost:8081")),
            ("http://localhost:8081/", Some("http://localhost:8081/")),
            ("", Some("")),
        ] {
            let lines = [("host", "localhost:8081"), ("origin", origin), ("sec-fetch-site", "none")];
            let expected = Sender::Foreign(told.map(str::to_owned));
            assert_eq!(sender(&origins, Method::POST, &lines), expected, "{origin}");
        }
        for lines in [
            &[("sec-fetch-site", "cross-site")][..],
            &[("sec-fetch-site", "same-site"), ("sec-fetch-mode", "no-cors")],
            &[("host", "a"), ("origin", "http://a"), ("origin", "http://evil.example")],
        ] {
            assert_eq!(sender(&origins, Method::GET, lines), Sender::Foreign(None), "{lines:?}");
        }
        let form = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
        assert_eq!(sender(&origins, Method::POST, &form), Sender::Foreign(None));
    }

    #[test]
    fn pages_that_may() {
        let some = origins("allowed-origins = [\"http://localhost:3000/\", \"https://*.example\", \"null\"]");
        for origin in ["http://localhost:3000", "https://a.example", "https://a.b.example", "null"] {
            let expected = Sender::Page(HeaderValue::from_str(origin).unwrap());
            assert_eq!(sender(&some, Method::POST, &[("origin", origin)]), expected, "{origin}");
        }
        for origin in ["http://a.example", "https://example", "https://xexample", "http://localhost:3001"] {
            let expected = Sender::Foreign(Some(origin.to_owned()));
            assert_eq!(sender(&some, Method::POST, &[("origin", origin)]), expected, "{origin}");
        }
        let any = origins("allowed-origins = [\"*\"]");
        let expected = Sender::Page(HeaderValue::from_static("*"));
        assert_eq!(sender(&any, Method::POST, &[("origin", "http://evil.example")]), expected);
    }

    #[test]
    fn what_browsers_are_told() {
        let page = HeaderValue::from_static("http://localhost:3000");
        let asked = headers(&[
            ("access-control-request-method", "PATCH"),
            ("access-control-request-headers", "authorization,x-ms-date"),
            ("access-control-request-private-network", "true"),
        ]);
        assert!(is_preflight(&Method::OPTIONS, &asked));
        assert!(!is_preflight(&Method::POST, &asked));
        assert!(!is_preflight(&Method::OPTIONS, &HeaderMap::new()));
        let answer = preflight(&page, &asked);
        for (name, value) in [
            ("access-control-allow-origin", "http://localhost:3000"),
            ("access-control-allow-methods", "PATCH"),
            ("access-control-allow-headers", "authorization,x-ms-date"),
            ("access-control-allow-private-network", "true"),
            ("access-control-max-age", "600"),
            ("vary", "Origin"),
        ] {
            assert_eq!(answer[name], value);
        }
        let mut answer = HeaderMap::new();
        show(&HeaderValue::from_static("*"), &mut answer);
        assert_eq!(
            (&answer["access-control-allow-origin"], answer.get("vary")),
            (&HeaderValue::from_static("*"), None)
        );
        // The rules of the API come first.
        let mut answer = headers(&[("access-control-allow-origin", "http://a.example")]);
        show(&page, &mut answer);
        assert_eq!(answer.len(), 1);
    }

    #[test]
    fn messages_and_checks() {
        assert!(refusal(Some("http://a.example:1")).contains("--allowed-origins http://a.example:1 ("));
        for odd in [None, Some("null"), Some("http://a\"b"), Some("")] {
            assert!(refusal(odd).contains("--allowed-origins ORIGIN"), "{odd:?}");
        }
        for good in [
            "*",
            "null",
            "http://localhost:3000",
            "https://*.example",
            "https://a.example/",
            "http://[::1]:1",
        ] {
            assert_eq!(check_allowed(good), Ok(()), "{good}");
        }
        for bad in ["", "localhost:3000", "http://", "http://a/b", "http://*", "http://a b"] {
            assert!(check_allowed(bad).is_err(), "{bad}");
        }
    }
}
