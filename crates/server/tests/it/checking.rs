//! `armilla check`.

use std::fs;
use std::process::Output;

use crate::process::{Server, failure_line, run};
use crate::signing;

fn check(folder: &std::path::Path) -> Output {
    run(&["check", "--data-dir", folder.to_str().unwrap()])
}

#[test]
fn a_clean_folder() {
    let server = Server::start(&[]);
    let database = signing::request("POST", "/dbs", "dbs", "", "", r#"{"id":"d"}"#);
    assert_eq!(server.exchange(&database).status, 201);
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let container = signing::request("POST", "/dbs/d/colls", "colls", "dbs/d", "", body);
    assert_eq!(server.exchange(&container).status, 201);
    for number in 0..5 {
        let key = format!("x-ms-documentdb-partitionkey: [\"{number}\"]\r\n");
        let body = format!("{{\"id\":\"{number}\",\"pk\":\"{number}\"}}");
        let item = signing::request("POST", "/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c", &key, &body);
        assert_eq!(server.exchange(&item).status, 201);
    }
    let folder = server.stop();
    let output = check(&folder.path().join("armilla-data"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.starts_with("check: 1 databases, 1 containers, 1 partitions, 5 items, "), "{text}");
    assert!(text.ends_with(" bytes: OK\n") && text.lines().count() == 1, "{text}");
}

#[test]
fn a_killed_server_leaves_a_clean_folder() {
    let mut server = Server::start(&[]);
    let database = signing::request("POST", "/dbs", "dbs", "", "", r#"{"id":"d"}"#);
    assert_eq!(server.exchange(&database).status, 201);
    server.signal("KILL");
    server.wait();
    let output = check(&server.folder().join("armilla-data"));
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout.starts_with(b"check: 1 databases, "));
}

#[test]
fn what_cannot_be_checked() {
    let folder = tempfile::tempdir().unwrap();
    assert!(failure_line(&check(folder.path())).contains("is not a data folder of armilla"));
    assert!(failure_line(&check(&folder.path().join("absent"))).contains("is not a data folder"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Damage that keeps the store from opening is a finding, not a failure to look.
#[test]
fn a_damaged_folder() {
    let folder = Server::start(&[]).stop();
    let data = folder.path().join("armilla-data");
    fs::write(data.join("store/store.format"), "hello").unwrap();
    let output = check(&data);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.lines().next().unwrap().contains("is not a format file"), "{text}");
    assert!(text.ends_with(": 1 problem\n"), "{text}");
    let line = failure_line(&run(&["--port", "0", "--data-dir", data.to_str().unwrap()]));
    assert!(line.contains("is damaged"), "{line}");
}
