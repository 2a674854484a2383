//! `armilla feed` against a server that comes and goes, and what following costs a server.
//!
//! What the command prints, from every start and through splits, is tested with the SDKs.

use std::io::{BufRead as _, BufReader, Lines, Read as _};
use std::process::{Child, ChildStdout, Stdio};
use std::time::Duration;

use armilla_env::Env;
use armilla_launcher::Signal;

use crate::http;
use crate::partitions::{create_container, create_item, prepared};
use crate::process::{PATIENCE, Server, armilla, failure_line, run};
use crate::signing;

/// A running command.
struct Feed {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Feed {
    fn start(port: u16, arguments: &[&str]) -> Feed {
        let endpoint = format!("http://localhost:{port}/");
        let mut child = armilla()
            .args(["feed", "d", "c", "--endpoint", &endpoint])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Feed { child, lines }
    }

    /// The id of the next change.
    fn next(&mut self) -> String {
        let line = self.lines.next().unwrap().unwrap();
        let change = armilla_value::json::parse(line.as_bytes()).unwrap();
        assert!(change.get("_lsn").is_some(), "{line}");
        change.get("id").unwrap().as_str().unwrap().to_owned()
    }

    /// Sends a signal, and returns the exit code and what was said.
    fn end(mut self, signal: Signal) -> (Option<i32>, String) {
        armilla_launcher::send(&mut self.child, signal).unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        (self.child.wait().unwrap().code(), said)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        // Ended already in most tests.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_that_comes_back_is_followed_on() {
    let mut server = Server::start(&[]);
    create_container(&server, 400);
    let port = server.port();
    assert_eq!(create_item(&server, "0"), 201);
    let mut feed = Feed::start(port, &[]);
    assert_eq!(feed.next(), "0");
    for (round, signal) in [("1", Signal::Terminate), ("2", Signal::Kill)] {
        server.signal(signal);
        server.wait();
        server = Server::start_in(server.into_folder(), &["--port", &port.to_string()], |_| {});
        assert_eq!(create_item(&server, round), 201);
        assert_eq!(feed.next(), round);
    }
    let (code, said) = feed.end(Signal::Interrupt);
    assert_eq!(code, Some(0), "{said}");
    let said: Vec<&str> = said.lines().collect();
    let [lost, back, lost_again, back_again, summary] = said[..] else { panic!("{said:?}") };
    for lost in [lost, lost_again] {
        assert!(lost.starts_with(&format!("armilla: lost the server at http://localhost:{port}/")), "{lost}");
    }
    for back in [back, back_again] {
        assert_eq!(back, format!("armilla: the server at http://localhost:{port}/ is back"));
    }
    assert!(summary.starts_with("armilla: 3 changes; go on after them with --from "), "{summary}");
    server.assert_well();
}

#[test]
fn who_waits_is_neither_slow_nor_in_the_way() {
    let server = prepared(400, &["--slow-request-ms", "200"]);
    let state = server.folder().join("state.json");
    let mut feed = Feed::start(server.port(), &["--from", "now", "--state", state.to_str().unwrap()]);
    let clock = Env::system().clock;
    while !state.exists() {
        assert!(clock.elapsed() < PATIENCE, "there is no position");
        std::thread::sleep(Duration::from_millis(5));
    }
    // Longer than a request may take.
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(create_item(&server, "a"), 201);
    assert_eq!(feed.next(), "a");
    server.assert_well();
    let text = server.exchange(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").body;
    assert!(text.contains(r#"{method="GET",resource="change_feed",status="200"} 1"#), "{text}");
    let clock = Env::system().clock;
    server.stop();
    assert!(clock.elapsed() < PATIENCE / 4, "a request that waits held up the end for {:?}", clock.elapsed());
    let (code, said) = feed.end(Signal::Terminate);
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_shutdown_answers_those_who_wait() {
    let mut server = prepared(400, &[]);
    let link = "dbs/d/colls/c";
    let more = "a-im: Incremental Feed\r\nprefer: wait=20\r\n";
    let request = signing::request("GET", "/dbs/d/colls/c/docs", "docs", link, more, "");
    let waiting = std::thread::scope(|scope| {
        let mut connection = server.connect();
        let waiting = scope.spawn(move || http::exchange(&mut connection, &request));
        std::thread::sleep(Duration::from_millis(500));
        server.signal(Signal::Terminate);
        waiting.join().unwrap()
    });
    assert_eq!(waiting.status, 304);
}

#[test]
fn feeds_that_cannot_be() {
    let server = prepared(400, &[]);
    let endpoint = format!("http://localhost:{}/", server.port());
    for (arguments, expected) in [
        (&["feed", "d", "x"][..], "there is no container x in a database d"),
        (&["feed", "d", "c", "--key", "AAAA"], "does not take this key"),
        (&["feed", "d", "c", "--all-versions", "--from", "beginning"], "can start now or at a position"),
    ] {
        let line = failure_line(&run(&[arguments, &["--endpoint", &endpoint]].concat()));
        assert!(line.contains(expected), "{arguments:?}: {line}");
    }
    for (arguments, expected) in [
        (&["feed", "d"][..], "<CONTAINER>"),
        (&["feed", "d", "c", "--from", "yesterday"], "nor a position"),
        (&["feed", "d", "c", "--partition-key", "Oslo"], "strings need quotes"),
        (&["feed", "d", "c", "--page-items", "1001"], "1..=1000"),
        (&["feed", "d", "c", "--max", "0"], "--max"),
    ] {
        let output = run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(text.contains(expected), "{arguments:?}: {text}");
    }
}
