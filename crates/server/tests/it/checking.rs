//! `armilla check`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::SystemTime;

use armilla_launcher::Signal;

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
    server.signal(Signal::Kill);
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
    assert_eq!(text.lines().next().unwrap(), "store/store.format: it is damaged", "{text}");
    assert!(text.ends_with(": 1 problem\n"), "{text}");
    let line = failure_line(&run(&["--port", "0", "--data-dir", data.to_str().unwrap()]));
    assert!(line.contains("is damaged"), "{line}");
}

/// Every file and folder, with its bytes and the moment of its last change.
fn fingerprint(folder: &Path) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let changed = fs::metadata(&folder).unwrap().modified().unwrap();
        found.push((folder.clone(), Vec::new(), changed));
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let changed = fs::metadata(&path).unwrap().modified().unwrap();
                found.push((path.clone(), fs::read(&path).unwrap(), changed));
            }
        }
    }
    found.sort();
    found
}

fn with_items(server: &Server, items: std::ops::Range<u32>) {
    for number in items {
        let key = format!("x-ms-documentdb-partitionkey: [\"{number}\"]\r\n");
        let body = format!("{{\"id\":\"{number}\",\"pk\":\"{number}\"}}");
        let item = signing::request("POST", "/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c", &key, &body);
        assert_eq!(server.exchange(&item).status, 201);
    }
}

fn with_container(server: &Server) {
    let database = signing::request("POST", "/dbs", "dbs", "", "", r#"{"id":"d"}"#);
    assert_eq!(server.exchange(&database).status, 201);
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let container = signing::request("POST", "/dbs/d/colls", "colls", "dbs/d", "", body);
    assert_eq!(server.exchange(&container).status, 201);
}

/// `check` opened the store like a server: it locked, cut journals, flushed, merged and deleted.
#[test]
fn a_check_changes_nothing() {
    let mut server = Server::start(&[]);
    with_container(&server);
    with_items(&server, 0..5);
    server.signal(Signal::Kill);
    server.wait();
    let data = server.folder().join("armilla-data");
    for lock in ["LOCK", "store/store.lock", "store/fjall/lock"] {
        fs::remove_file(data.join(lock)).unwrap();
    }
    let before = fingerprint(&data);
    let output = check(&data);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains(" 5 items, "));
    assert!(fingerprint(&data) == before, "a healthy folder was changed");
    fs::remove_file(data.join("store/fjall/version")).unwrap();
    let before = fingerprint(&data);
    assert_eq!(check(&data).status.code(), Some(2));
    assert!(fingerprint(&data) == before, "a damaged folder was changed");
}

/// Without the four bytes of the engine's version everything was deleted, and the check said `0 databases ... OK`. Without
/// the journal the server started empty, and a lost list of a family deleted its files.
#[test]
fn what_is_missing_is_refused_told_and_repaired() {
    let mut server = Server::start(&[]);
    with_container(&server);
    with_items(&server, 0..5);
    server.signal(Signal::Kill);
    server.wait();
    let data = server.folder().join("armilla-data");
    let store = data.join("store");
    let lists: Vec<String> = (0..=6).map(|id| format!("fjall/keyspaces/{id}/current")).collect();
    let files = ["fjall/version", "fjall/0.jnl", "store.manifest", "store.acknowledged", "store.format"];
    for name in files.into_iter().chain(lists.iter().map(String::as_str)) {
        let content = fs::read(store.join(name)).unwrap();
        fs::remove_file(store.join(name)).unwrap();
        let before = fingerprint(&data);
        let output = check(&data);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {text}");
        assert!(text.contains(name), "{name}: {text}");
        assert!(fingerprint(&data) == before, "{name}: the check changed something");
        let line = failure_line(&run(&["--port", "0", "--data-dir", data.to_str().unwrap()]));
        assert!(line.contains(name) && line.contains("armilla repair"), "{name}: {line}");
        fs::write(store.join(name), content).unwrap();
    }
    assert_eq!(check(&data).status.code(), Some(0));
    // What says what is there can be made anew from what is there.
    fs::remove_file(store.join("fjall/version")).unwrap();
    fs::remove_file(store.join("fjall/keyspaces/2/current")).unwrap();
    fs::remove_file(store.join("store.manifest")).unwrap();
    let output = run(&["repair", "--data-dir", data.to_str().unwrap()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(" 5 items; ") && text.contains("store.damaged-1"), "{text}");
    assert!(data.join("store.damaged-1/fjall/0.jnl").is_file());
    let output = check(&data);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains(" 5 items, "), "{text}");
    let output = run(&["repair", "--data-dir", data.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("is whole, nothing was changed"));
    // A store that is gone as a whole is not served as an empty one.
    fs::rename(&store, data.join("elsewhere")).unwrap();
    let line = failure_line(&run(&["--port", "0", "--data-dir", data.to_str().unwrap()]));
    assert!(line.contains("is gone"), "{line}");
    assert!(!store.exists());
}
