//! Names that are not the server's, web pages elsewhere, and figures for others, on every port.

use std::net::{IpAddr, TcpStream, UdpSocket};

use crate::http::{self, Response};
use crate::process::Server;
use crate::signing;

const ALL_PORTS: [&str; 3] = ["--memory", "--storage-table-port", "0"];

fn ask(server: &Server, api: &str, method: &str, path: &str, headers: &str) -> Response {
    let request = format!("{method} {path} HTTP/1.1\r\n{headers}content-length: 0\r\n\r\n");
    http::exchange(&mut server.connect_to(api), request.as_bytes())
}

#[test]
fn other_names_are_refused_on_every_port() {
    let server = Server::start(&ALL_PORTS);
    for (api, path) in
        [("sql", "/dbs"), ("sql", "/health"), ("table", "/Tables"), ("storage_table", "/Tables")]
    {
        for host in ["evil.example", "evil.example:80"] {
            let response = ask(&server, api, "GET", path, &format!("host: {host}\r\n"));
            assert_eq!(response.status, 403, "{api} {host}: {response:?}");
            assert!(response.body.contains("--allowed-hosts evil.example "), "{response:?}");
            assert!(response.body.contains("\"code\":\"HostNotAllowed\""), "{response:?}");
        }
        for host in ["localhost", "127.0.0.1:1", "[::1]", "a.localhost"] {
            let response = ask(&server, api, "GET", path, &format!("host: {host}\r\n"));
            assert!(!response.body.contains("HostNotAllowed"), "{api} {host}: {response:?}");
        }
    }
    server.assert_well();
}

#[test]
fn further_names_are_taken() {
    let server = Server::start(&["--memory", "--allowed-hosts", "db.example,.inner.example"]);
    for (host, status) in [("db.example", 200), ("a.inner.example:1", 200), ("other.example", 403)] {
        let response = ask(&server, "sql", "GET", "/health", &format!("host: {host}\r\n"));
        assert_eq!(response.status, status, "{host}");
    }
}

/// What a page sends without asking first, signed with the well-known key, has no effect.
#[test]
fn simple_requests_of_pages_have_no_effect() {
    let server = Server::start(&ALL_PORTS);
    for page in ["origin: http://evil.example\r\n", "origin: null\r\n", "sec-fetch-site: cross-site\r\n"] {
        let more = format!("{page}content-type: text/plain\r\n");
        let create = signing::request("POST", "/dbs", "dbs", "", &more, r#"{"id":"stolen"}"#);
        let response = server.exchange(&create);
        response.assert_failure(403);
        assert!(response.body.contains("--allowed-origins"), "{response:?}");
        for api in ["table", "storage_table"] {
            let response = ask(&server, api, "POST", "/Tables", &format!("host: localhost\r\n{more}"));
            assert_eq!(response.status, 403, "{response:?}");
        }
    }
    let read = signing::request("GET", "/dbs/stolen", "dbs", "dbs/stolen", "", "");
    server.exchange(&read).assert_failure(404);
    server.assert_well();
}

#[test]
fn pages_that_may_are_told_so() {
    let server = Server::start(&["--memory", "--allowed-origins", "http://localhost:3000"]);
    let page = "origin: http://localhost:3000\r\nsec-fetch-site: same-site\r\n";
    let asked = format!(
        "host: localhost\r\n{page}access-control-request-method: POST\r\n\
         access-control-request-headers: authorization,x-ms-date\r\n"
    );
    for api in ["sql", "table"] {
        let response = ask(&server, api, "OPTIONS", "/dbs", &asked);
        assert_eq!(response.status, 200, "{api}: {response:?}");
        assert!(
            response.head.contains("access-control-allow-headers: authorization,x-ms-date"),
            "{response:?}"
        );
        assert!(response.head.contains("access-control-allow-origin: http://localhost:3000"), "{response:?}");
    }
    let create = signing::request("POST", "/dbs", "dbs", "", page, r#"{"id":"page"}"#);
    let response = server.exchange(&create);
    assert_eq!(response.status, 201, "{response:?}");
    assert!(response.head.contains("access-control-expose-headers: *"), "{response:?}");
    // A failure is shown, too, or the page could not tell why.
    let response = server.exchange(&create);
    assert_eq!(response.status, 409);
    assert!(response.head.contains("access-control-allow-origin: http://localhost:3000"), "{response:?}");
}

/// The address of this machine that others use, if it has one.
fn outer_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: the system only chooses the address it would send from.
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|address| !address.is_loopback())
}

#[test]
fn figures_are_for_this_machine_or_for_a_key() {
    let key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";
    let server = Server::start(&["--memory", "--bind", "0.0.0.0", "--key", key]);
    assert_eq!(ask(&server, "sql", "GET", "/metrics", "host: localhost\r\n").status, 200);
    let Some(address) = outer_address() else { return };
    let ask_from_outside = |headers: &str| {
        let mut stream = TcpStream::connect((address, server.port())).unwrap();
        let request = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\n{headers}\r\n");
        http::exchange(&mut stream, request.as_bytes())
    };
    let refused = ask_from_outside("");
    refused.assert_failure(401);
    assert!(refused.body.contains("Bearer KEY"), "{refused:?}");
    ask_from_outside("authorization: Bearer AAAA\r\n").assert_failure(401);
    let shown = ask_from_outside(&format!("authorization: Bearer {key}\r\n"));
    assert!(shown.status == 200 && shown.body.contains("armilla_connections"), "{shown:?}");
}
