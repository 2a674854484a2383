//! SIGTERM and SIGINT end the server in good order.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use armilla_launcher::Signal;

use crate::http;
use crate::process::Server;
use crate::signing;

#[test]
fn both_signals_end_with_zero() {
    for signal in [Signal::Terminate, Signal::Interrupt] {
        let mut server = Server::start(&[]);
        // An idle connection does not hold the server up.
        let mut idle = server.connect();
        http::exchange(&mut idle, b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
        server.signal(signal);
        assert_eq!(server.wait().code(), Some(0), "{}", server.log());
        http::assert_closed(&mut idle);
        assert!(TcpStream::connect(("127.0.0.1", server.port())).is_err());
        let log = server.log();
        assert!(log.contains("is closed") && !log.contains("WARN"), "{log}");
    }
}

/// A request that is on its way when the signal comes is answered, and what it wrote is there afterwards.
#[test]
fn running_requests_finish() {
    let mut server = Server::start(&[]);
    let body = r#"{"id":"late"}"#;
    let request = signing::request("POST", "/dbs", "dbs", "", "", body);
    let (first, last) = request.split_at(request.len() - 1);
    let mut stream = server.connect();
    stream.write_all(first).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::Terminate);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(http::exchange(&mut stream, last).status, 201, "{}", server.log());
    assert_eq!(server.wait().code(), Some(0));

    let server = Server::start_in(server.into_folder(), &[], |_| {});
    let read = signing::request("GET", "/dbs/late", "dbs", "dbs/late", "", "");
    assert_eq!(server.exchange(&read).status, 200);
}

#[test]
fn requests_that_never_finish_are_cut() {
    let mut server = Server::start(&["--memory", "--shutdown-timeout-ms", "2000"]);
    let mut stream = server.connect();
    let request = signing::request("POST", "/dbs", "dbs", "", "", "{\"id\":\"never\"}");
    stream.write_all(&request[..request.len() - 1]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::Terminate);
    assert_eq!(server.wait().code(), Some(0));
    assert!(server.log().contains("cutting 1 connections"), "{}", server.log());
}

#[test]
fn a_second_signal_ends_at_once() {
    let mut server = Server::start(&["--memory", "--shutdown-timeout-ms", "60000"]);
    let mut stream = server.connect();
    let request = signing::request("POST", "/dbs", "dbs", "", "", "{\"id\":\"never\"}");
    stream.write_all(&request[..request.len() - 1]).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::Terminate);
    std::thread::sleep(Duration::from_millis(200));
    server.signal(Signal::Terminate);
    assert_eq!(server.wait().code(), Some(1));
}
