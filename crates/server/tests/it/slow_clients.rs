//! Clients that stop in the middle do not keep anything for themselves.

use std::io::{Read as _, Write as _};
use std::time::Duration;

use crate::http;
use crate::process::{PATIENCE, Server};
use crate::signing;

const QUICK: [&str; 9] = [
    "--memory",
    "--handshake-timeout-ms",
    "300",
    "--header-timeout-ms",
    "300",
    "--body-timeout-ms",
    "300",
    "--idle-timeout-ms",
    "600",
];

#[test]
fn connections_that_stop_are_closed() {
    let server = Server::start(&QUICK);
    for bytes in [
        &b""[..],
        b"\x16",
        b"\x16\x03\x01\x02",
        b"G",
        b"PRI * HTTP/2.0",
        b"GET /health HTTP/1.1\r\nhost: localhost\r\n",
    ] {
        let mut stream = server.connect();
        stream.write_all(bytes).unwrap();
        // The end of the connection, with or without a reset.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty() || bytes.starts_with(b"PRI"), "{bytes:?}: {rest:?}");
        server.assert_well();
    }
    assert!(server.metric("armilla_timeouts_total") >= 4.0);
}

/// A byte now and then does not help: the head as a whole has its time.
#[test]
fn dripping_heads_are_closed() {
    let server = Server::start(&QUICK);
    let mut stream = server.connect();
    stream.write_all(b"GET /health HTTP/1.1\r\nx-drip: ").unwrap();
    let mut drips = 0;
    while stream.write_all(b"y").is_ok() {
        std::thread::sleep(Duration::from_millis(50));
        drips += 1;
        assert!(drips < 200, "the connection is still open");
    }
    server.assert_well();
}

#[test]
fn half_sent_bodies_are_answered() {
    let server = Server::start(&QUICK);
    let request = signing::request("POST", "/dbs", "dbs", "", "", r#"{"id":"half"}"#);
    let mut stream = server.connect();
    let response = http::exchange(&mut stream, &request[..request.len() - 3]);
    response.assert_failure(408);
    http::assert_closed(&mut stream);
    let read = signing::request("GET", "/dbs/half", "dbs", "dbs/half", "", "");
    server.exchange(&read).assert_failure(404);
    server.assert_well();
}

/// The time for heads does not run between requests; the longer time for idle connections does.
#[test]
fn idle_connections_outlive_the_time_for_heads() {
    let server = Server::start(&["--memory", "--header-timeout-ms", "200", "--idle-timeout-ms", "2000"]);
    let health = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut stream = server.connect();
    for _ in 0..2 {
        assert_eq!(http::exchange(&mut stream, health).status, 200);
        std::thread::sleep(Duration::from_millis(700));
    }
    assert_eq!(http::exchange(&mut stream, health).status, 200);
    http::assert_closed(&mut stream);
}

/// Beyond the bound connections wait, and are served when another ends.
#[test]
fn connections_are_bounded() {
    let server = Server::start(&["--memory", "--connections-max", "2"]);
    let health = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";
    let mut first = server.connect();
    let mut second = server.connect();
    http::exchange(&mut first, health);
    http::exchange(&mut second, health);
    let mut third = server.connect();
    third.write_all(health).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(http::read_once(&mut third, &mut [0]).is_err());
    drop(first);
    third.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(http::read(&mut third).unwrap().status, 200);
}
