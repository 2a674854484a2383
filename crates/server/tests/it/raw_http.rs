//! Requests that no SDK sends. Every one is answered with a status and a JSON message, and the server
//! goes on.

use std::io::Write as _;

use crate::http;
use crate::process::Server;
use crate::signing::{self, KEY, Signature};

/// A server with a database `d` and a container `c`.
fn prepared(arguments: &[&str]) -> Server {
    let server = Server::start(&[&["--memory"], arguments].concat());
    let database = signing::request("POST", "/dbs", "dbs", "", "", r#"{"id":"d"}"#);
    assert_eq!(server.exchange(&database).status, 201);
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let container = signing::request("POST", "/dbs/d/colls", "colls", "dbs/d", "", body);
    assert_eq!(server.exchange(&container).status, 201);
    server
}

fn create_item(body: &str) -> Vec<u8> {
    let key = "x-ms-documentdb-partitionkey: [\"a\"]\r\n";
    signing::request("POST", "/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c", key, body)
}

fn list_databases(headers: &str) -> Vec<u8> {
    format!("GET /dbs HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n").into_bytes()
}

fn signed(key: &str, date_offset_seconds: i64) -> String {
    signing::headers(&Signature { key, verb: "GET", resource_type: "dbs", link: "", date_offset_seconds })
}

#[test]
fn credentials() {
    let server = Server::start(&["--memory", "--date-skew-seconds", "60"]);
    let other_key = "AAAA";
    let without_date: String = signed(KEY, 0).lines().skip(1).map(|line| format!("{line}\r\n")).collect();
    let date: String = signed(KEY, 0).lines().take(1).map(|line| format!("{line}\r\n")).collect();
    for (headers, status) in [
        (String::new(), 401),
        (signed(other_key, 0), 401),
        (signed(KEY, -70), 403),
        (signed(KEY, 70), 403),
        (without_date, 401),
        (format!("{date}authorization: \r\n"), 401),
        (format!("{date}authorization: Basic dXNlcjpwYXNz\r\n"), 401),
        (format!("{date}authorization: type%3Dmaster%26ver%3D1.0%26sig%3D\r\n"), 401),
        (format!("{date}authorization: %ff%fe\r\n"), 401),
        (
            "x-ms-date: yesterday\r\nauthorization: type%3Dmaster%26ver%3D1.0%26sig%3DAAAA\r\n".to_string(),
            401,
        ),
    ] {
        let response = server.exchange(&list_databases(&headers));
        assert_eq!(response.status, status, "{headers}: {response:?}");
        response.assert_json();
        server.assert_well();
    }
    for offset in [-50, 0, 50] {
        assert_eq!(server.exchange(&list_databases(&signed(KEY, offset))).status, 200);
    }
}

#[test]
fn secondary_and_read_only_keys() {
    let (second, reader) = ("c2Vjb25k", "cmVhZGVy");
    let server = Server::start(&["--memory", "--secondary-key", second, "--read-only-key", reader]);
    for key in [KEY, second, reader] {
        assert_eq!(server.exchange(&list_databases(&signed(key, 0))).status, 200, "{key}");
    }
    let create = |key| {
        let signature =
            Signature { key, verb: "POST", resource_type: "dbs", link: "", date_offset_seconds: 0 };
        let headers = signing::headers(&signature);
        let body = r#"{"id":"x"}"#;
        format!(
            "POST /dbs HTTP/1.1\r\nhost: localhost\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    server.exchange(create(reader).as_bytes()).assert_failure(403);
    assert_eq!(server.exchange(create(second).as_bytes()).status, 201);
}

#[test]
fn bodies() {
    let server = prepared(&[]);
    for body in [
        "",
        "{",
        "nonsense",
        "[]",
        "null",
        "{\"id\":\"1\",\"pk\":\"a\"} trailing",
        "{\"id\":\"1\",\"pk\":\"a\",\"x\":}",
        "{\"pk\":\"a\",\"id\":7}",
        "\u{0}\u{1}\u{2}",
    ] {
        let response = server.exchange(&create_item(body));
        assert_eq!(response.status, 400, "{body:?}: {response:?}");
        response.assert_json();
        server.assert_well();
    }
    let nested =
        format!("{{\"id\":\"1\",\"pk\":\"a\",\"x\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    server.exchange(&create_item(&nested)).assert_failure(400);
    // Bytes that are no UTF-8.
    let mut request = create_item("{\"id\":\"1\",\"pk\":\"a\",\"x\":\"??\"}");
    let position = request.windows(2).position(|window| window == b"??").unwrap();
    request[position..position + 2].copy_from_slice(&[0xC3, 0x28]);
    server.exchange(&request).assert_failure(400);
    assert_eq!(server.exchange(&create_item(r#"{"id":"1","pk":"a"}"#)).status, 201);
    server.assert_well();
}

#[test]
fn items_over_the_limit() {
    let server = prepared(&["--item-bytes-max", "1000"]);
    let item = |bytes: usize| {
        let frame = r#"{"id":"1","pk":"a","x":""}"#.len();
        format!("{{\"id\":\"1\",\"pk\":\"a\",\"x\":\"{}\"}}", "y".repeat(bytes - frame))
    };
    server.exchange(&create_item(&item(1_001))).assert_failure(413);
    assert_eq!(server.exchange(&create_item(&item(1_000))).status, 201);
    // Far over what is read at all.
    server.exchange(&create_item(&item(3 * 1024 * 1024))).assert_failure(413);
    server.assert_well();
}

#[test]
fn verbs_and_paths() {
    let server = prepared(&[]);
    for (verb, path) in [
        ("BREW", "/dbs"),
        ("OPTIONS", "/dbs"),
        ("PATCH", "/dbs"),
        ("GET", "/nowhere"),
        ("GET", "/dbs/d/tables"),
        ("GET", "/dbs//colls"),
        ("GET", "/dbs/%ff%fe"),
        ("GET", "/%2e%2e/%2e%2e/etc/passwd"),
        ("POST", "/health"),
    ] {
        let link = path.trim_start_matches('/');
        let response = server.exchange(&signing::request(verb, path, "dbs", link, "", ""));
        assert!((400..500).contains(&response.status), "{verb} {path}: {response:?}");
        response.assert_json();
        server.assert_well();
    }
    let missing = signing::request("GET", "/dbs/absent", "dbs", "dbs/absent", "", "");
    server.exchange(&missing).assert_failure(404);
}

#[test]
fn huge_heads() {
    let server = Server::start(&["--memory"]);
    let health = |headers: &str| format!("GET /health HTTP/1.1\r\nhost: localhost\r\n{headers}\r\n");
    let fits = health(&format!("x-filler: {}\r\n", "y".repeat(60 * 1024)));
    assert_eq!(server.exchange(fits.as_bytes()).status, 200);
    let large = health(&format!("x-filler: {}\r\n", "y".repeat(64 * 1024)));
    server.exchange(large.as_bytes()).assert_failure(431);
    let many: String = (0..200).map(|index| format!("x-{index}: y\r\n")).collect();
    server.exchange(health(&many).as_bytes()).assert_failure(431);
    let long = format!("GET /{} HTTP/1.1\r\nhost: localhost\r\n\r\n", "y".repeat(70_000));
    let response = server.exchange(long.as_bytes());
    assert!(matches!(response.status, 414 | 431), "{response:?}");
    response.assert_json();
    server.assert_well();
}

#[test]
fn garbage() {
    let server = Server::start(&["--memory"]);
    for bytes in [
        &b"garbage\r\n\r\n"[..],
        b"\0\0\0\0\0\0\0\0\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: a\r\ncontent-length: many\r\n\r\n",
        b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"\xff\xfe\xfd\xfc\r\n\r\n",
    ] {
        let response = server.exchange(bytes);
        assert_eq!(response.status, 400, "{bytes:?}: {response:?}");
        response.assert_json();
        server.assert_well();
    }
    // What begins like TLS or HTTP/2 and is neither is hung up on.
    for bytes in
        [&b"\x16\x03\x01\x00\x05hello"[..], b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\ngarbage, and more of it"]
    {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(http::read(&mut stream).is_none());
        server.assert_well();
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(&["--memory"]);
    let mut stream = server.connect();
    let mut requests = Vec::new();
    for path in ["/health", "/dbs", "/health", "/nowhere", "/health"] {
        requests.extend(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes());
    }
    stream.write_all(&requests).unwrap();
    for expected in [200, 401, 200, 401, 200] {
        let response = http::read(&mut stream).unwrap();
        assert_eq!(response.status, expected, "{response:?}");
        if expected >= 400 {
            response.assert_json();
        }
    }
    server.assert_well();
}

#[test]
fn closed_in_the_middle() {
    let server = prepared(&[]);
    let request = create_item(r#"{"id":"cut","pk":"a"}"#);
    for length in [1, 10, request.len() / 2, request.len() - 5] {
        let mut stream = server.connect();
        stream.write_all(&request[..length]).unwrap();
        drop(stream);
        server.assert_well();
    }
    // Nothing of a cut request was done.
    let path = "/dbs/d/colls/c/docs/cut";
    let key = "x-ms-documentdb-partitionkey: [\"a\"]\r\n";
    let read = signing::request("GET", path, "docs", &path[1..], key, "");
    server.exchange(&read).assert_failure(404);
}
