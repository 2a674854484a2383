//! The files of the page, as they were built into the program, and the headers that keep foreign content out of it.
//!
//! All but the first are named by their content: a browser asks once for each.

use std::io::Read as _;

use armilla_env::Env;
use bytes::Bytes;
use flate2::read::GzDecoder;
use http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode, header};
use http_body_util::Full;

use crate::sessions::secret;

/// A file of the page.
pub(crate) struct File {
    /// Its path below `/_explorer/`.
    path: &'static str,
    /// What it holds, compressed.
    gzip: &'static [u8],
}

include!(concat!(env!("OUT_DIR"), "/files.rs"));

const INDEX: &str = "index.html";

/// What stands in the first file for a text that changes with every answer, and permits that answer's styles.
const NONCE: &str = "__NONCE__";

/// A year: what is named by its content never changes.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Kinds of files, by the end of their names.
const KINDS: [(&str, &str); 6] = [
    (".css", "text/css; charset=utf-8"),
    (".html", "text/html; charset=utf-8"),
    (".js", "text/javascript; charset=utf-8"),
    (".json", "application/json"),
    (".svg", "image/svg+xml"),
    (".woff2", "font/woff2"),
];

/// Returns the first file.
pub(crate) fn index(env: &Env) -> Response<Full<Bytes>> {
    let Some(file) = FILES.iter().find(|file| file.path == INDEX) else {
        return not_there();
    };
    let nonce = secret(env);
    let text = String::from_utf8_lossy(&file.plain()).replace(NONCE, &nonce);
    let mut response = Response::new(Full::from(text));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(INDEX)));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self' data:; \
         font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::from_str(&policy).expect("base64 is visible ASCII");
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    harden(headers);
    response
}

/// Returns another file.
pub(crate) fn file(path: &str, asked: &HeaderMap) -> Option<Response<Full<Bytes>>> {
    let path = path.strip_prefix('/')?;
    let file = FILES.iter().find(|file| file.path == path)?;
    let is_compressed = takes_gzip(asked);
    let body = if is_compressed { Bytes::from_static(file.gzip) } else { file.plain().into() };
    let mut response = Response::new(Full::new(body));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    headers.insert(header::CACHE_CONTROL, FOREVER);
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    harden(headers);
    Some(response)
}

/// Sends a browser elsewhere.
pub(crate) fn moved_to(path: &'static str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(path));
    response
}

/// Keeps an answer out of caches and out of other pages.
pub(crate) fn keep_private(headers: &mut HeaderMap) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    harden(headers);
}

fn not_there() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from("the program was built without the page of the explorer"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

fn harden(headers: &mut HeaderMap) {
    for (name, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    let lines = asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        name.trim().eq_ignore_ascii_case("gzip")
            && !matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
    })
}

fn kind(path: &str) -> &'static str {
    KINDS.iter().find(|(end, _)| path.ends_with(end)).map_or("application/octet-stream", |(_, kind)| kind)
}

impl File {
    fn plain(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        GzDecoder::new(self.gzip).read_to_end(&mut plain).expect("what the build compressed can be read");
        plain
    }
}
