//! `GET /health` while the store takes no writes, and after.
//!
//! Nothing is simulated: the system refuses to let files of the running server grow, as a full disk would, and lets them
//! grow again.

use std::time::Duration;

use armilla_env::Env;
use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};

use crate::http::Response;
use crate::process::{PATIENCE, Server};
use crate::signing;

/// Smaller than the journal by far, larger than the log.
const FILE_BYTES_MAX: u64 = 100_000;

fn health(server: &Server) -> Response {
    server.exchange(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n")
}

fn create_database(server: &Server, id: &str) -> u16 {
    let body = format!(r#"{{"id":"{id}"}}"#);
    server.exchange(&signing::request("POST", "/dbs", "dbs", "", "", &body)).status
}

fn read_database(server: &Server, id: &str) -> u16 {
    let path = format!("/dbs/{id}");
    server.exchange(&signing::request("GET", &path, "dbs", &path[1..], "", "")).status
}

fn limit_files(server: &Server, bytes_max: Option<u64>) {
    let process = Pid::from_raw(server.id() as i32);
    let maximum = getrlimit(Resource::Fsize).maximum;
    prlimit(process, Resource::Fsize, Rlimit { current: bytes_max.or(maximum), maximum }).unwrap();
}

/// Asks again and again until something holds.
#[track_caller]
fn until(server: &Server, mut holds: impl FnMut() -> bool) {
    let clock = Env::system().clock;
    while !holds() {
        assert!(clock.elapsed() < PATIENCE, "it does not come to hold: {}", server.log());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_store_that_takes_no_writes_is_told_with_its_reason_and_so_is_its_recovery() {
    // The signal that comes with a file too large would end the process; a disk sends none.
    let mut command = armilla_launcher::command("sh");
    command.args(["-c", "trap '' XFSZ; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_armilla")]);
    let server = Server::start_by(command, tempfile::tempdir().unwrap(), &["--write-buffer-mb", "1"], |_| {});
    assert_eq!(create_database(&server, "before"), 201);
    assert_eq!(health(&server).status, 200);
    // Twice: that it is told once, and that it goes on once, does not mean that it always does.
    for round in 0..2 {
        limit_files(&server, Some(FILE_BYTES_MAX));
        let mut acknowledged = Vec::new();
        until(&server, || {
            let id = format!("during-{round}-{}", acknowledged.len());
            let status = create_database(&server, &id);
            let is_taken = status == 201;
            // Of the one that met the full disk nobody knows whether it was written.
            assert!(is_taken || matches!(status, 408 | 503), "{status}");
            acknowledged.extend(is_taken.then_some(id));
            !is_taken
        });
        until(&server, || health(&server).status == 503);
        let troubled = health(&server);
        let reason = "the store takes no writes";
        assert!(troubled.body.starts_with(r#"{"status":"troubled","#), "{}", troubled.body);
        assert!(troubled.body.contains(reason) && troubled.body.contains("room"), "{}", troubled.body);
        // It stays so, and readers are answered.
        assert_eq!(create_database(&server, "refused"), 503);
        assert_eq!(read_database(&server, "before"), 200);
        assert_eq!(health(&server).status, 503);
        limit_files(&server, None);
        until(&server, || health(&server).status == 200);
        assert_eq!(health(&server).body, r#"{"status":"ok"}"#);
        assert_eq!(create_database(&server, &format!("after-{round}")), 201);
        assert_eq!(read_database(&server, "refused"), 404);
        for id in acknowledged {
            assert_eq!(read_database(&server, &id), 200, "{id}");
        }
    }
    let server = Server::start_in(server.stop(), &[], |_| {});
    for id in ["before", "after-0", "after-1"] {
        assert_eq!(read_database(&server, id), 200, "{id}");
    }
    assert_eq!(read_database(&server, "refused"), 404);
    server.assert_well();
}
