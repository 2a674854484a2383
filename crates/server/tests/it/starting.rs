//! What the program says when it starts, and when it cannot.

use std::fs;
use std::net::TcpListener;

use crate::process::{Server, armilla, failure_line, run};

/// Of 32 bytes, the least beyond loopback.
const OWN_KEY: &str = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

#[test]
fn the_ready_line_has_its_words() {
    let server = Server::start(&[]);
    let (port, table_port, mongo_port) = (server.port(), server.port_of("table"), server.port_of("mongo"));
    let gremlin_port = server.port_of("gremlin");
    let words: Vec<&str> = server.ready().split(' ').collect();
    assert_eq!(words.len(), 10, "{}", server.ready());
    assert_eq!(
        &words[..4],
        ["armilla", "ready:", &format!("sql=https://localhost:{port}/"), "data=./armilla-data"]
    );
    assert_eq!(words[6], format!("table=https://localhost:{table_port}/"), "behind what older readers know");
    assert_eq!(words[7], format!("mongo=mongodb://localhost:{mongo_port}/"));
    assert_eq!(words[8], format!("gremlin=wss://localhost:{gremlin_port}/"));
    assert_eq!(words[9], format!("explorer=http://localhost:{port}/_explorer/"));
    assert!(server.ready_value("pid").parse::<u32>().unwrap() > 0);
    assert!(server.ready_value("start_ms").parse::<u64>().unwrap() < 5_000);
    let log = server.log();
    assert!(log.contains("the emulators' well-known key") && log.contains("tls/cert.pem"), "{log}");
    for file in ["FORMAT", "LOCK", "tls/cert.pem", "tls/key.pem", "store"] {
        assert!(server.folder().join("armilla-data").join(file).exists(), "{file}");
    }
    server.assert_well();
}

#[test]
fn memory_mode_leaves_nothing() {
    let server = Server::start(&["--memory"]);
    assert_eq!(server.ready_value("data"), "memory");
    server.assert_well();
    let folder = server.stop();
    assert!(!folder.path().join("armilla-data").exists());
}

/// A clean database for every test of a CI job: that works only if a start costs next to nothing.
#[test]
fn idle_servers_are_small() {
    let server = Server::start(&["serve"]);
    let resident_bytes = server.metric("process_resident_memory_bytes");
    assert!(resident_bytes < 50.0 * 1024.0 * 1024.0, "{resident_bytes}");
    assert!(server.metric("process_open_fds") > 3.0);
    let cpu_seconds = server.metric("process_cpu_seconds_total");
    assert!((0.0..10.0).contains(&cpu_seconds), "{cpu_seconds}");
    assert!(server.metric("armilla_uptime_seconds") > 0.0);
}

#[test]
fn metrics_count_requests() {
    let server = Server::start(&["--memory"]);
    server.exchange(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").assert_failure(401);
    let text = server.exchange(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assert!(text.head.to_lowercase().contains("content-type: text/plain; version=0.0.4"), "{}", text.head);
    let line = r#"armilla_http_requests_total{method="GET",resource="account",status="401"} 1"#;
    assert!(text.body.lines().any(|other| other == line), "{}", text.body);
    assert!(text.body.contains("armilla_store_commits_total"));
    assert!(server.metric("armilla_received_bytes_total") > 30.0);
}

#[test]
fn a_folder_in_use_is_refused() {
    let server = Server::start(&[]);
    let folder = server.folder().join("armilla-data");
    let name = folder.display().to_string();
    let expected = format!("armilla: data folder {name} is in use by another armilla");
    assert_eq!(failure_line(&run(&["--port", "0", "--data-dir", &name])), expected);
    assert_eq!(failure_line(&run(&["check", "--data-dir", &name])), expected);
    server.assert_well();
}

#[test]
fn folders_that_will_not_do() {
    let temporary = tempfile::tempdir().unwrap();
    let path = temporary.path().join("data");
    let name = path.display().to_string();
    let line = |name: &str| failure_line(&run(&["--port", "0", "--data-dir", name]));

    fs::write(&path, "a file").unwrap();
    assert!(line(&name).contains("cannot make the data folder"), "{}", line(&name));
    fs::remove_file(&path).unwrap();

    fs::create_dir(&path).unwrap();
    fs::write(path.join("holiday.jpg"), "x").unwrap();
    assert!(line(&name).contains("not empty and not a data folder of armilla"));
    fs::write(path.join("FORMAT"), "armilla data folder, format 9\n").unwrap();
    assert!(line(&name).contains("has format 9, this armilla knows formats up to 2"));
}

#[test]
fn a_store_of_a_newer_format_is_refused() {
    let folder = Server::start(&[]).stop();
    let data = folder.path().join("armilla-data");
    fs::write(data.join("store/store.format"), "armilla-store 99 strict\n").unwrap();
    let line = failure_line(&run(&["--port", "0", "--data-dir", &data.display().to_string()]));
    assert!(line.contains("was written by a newer armilla"), "{line}");
}

#[test]
fn a_port_in_use_is_named() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let line = failure_line(&run(&["--memory", "--port", &port]));
    assert!(
        line.contains(&format!("port {port} on 127.0.0.1 is in use")) && line.contains("--port"),
        "{line}"
    );
}

#[test]
fn the_well_known_key_stays_at_home() {
    for address in ["0.0.0.0", "::"] {
        let line = failure_line(&run(&["--memory", "--port", "0", "--bind", address]));
        assert!(line.contains("refusing to listen") && line.contains("--key"), "{line}");
    }
    let server = Server::start(&["--memory", "--bind", "0.0.0.0", "--key", OWN_KEY]);
    assert!(!server.log().contains(OWN_KEY));
    server.assert_well();
}

#[test]
fn help_and_version() {
    // Lines are broken at the width of the terminal, wherever that is.
    let help = String::from_utf8(run(&["--help"]).stdout).unwrap();
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in [
        "Listening:",
        "Access:",
        "Storage:",
        "Connections:",
        "Logging:",
        "[default: 8081]",
        "ARMILLA_DATA_DIR",
        "NODE_EXTRA_CA_CERTS",
        "CosmosClient",
        "azure_data_cosmos",
        "ARMILLA_TABLE_PORT",
        "[default: 8902, with --port 0 a free one]",
        "TableEndpoint=http://localhost:8902/;",
        "UseDevelopmentStorage=true",
        "Examples:",
        "check",
    ] {
        assert!(help.contains(word), "{word} is not in\n{help}");
    }
    let version = run(&["--version"]);
    assert_eq!(
        String::from_utf8(version.stdout).unwrap(),
        format!("armilla {}\n", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!(version.status.code(), Some(0));
    for wrong in [
        &["--frobnicate"][..],
        &["--port", "high"],
        &["--port", "65536"],
        &["--port", "off"],
        &["--table-port", "on"],
        &["check", "--memory"],
    ] {
        assert_eq!(run(wrong).status.code(), Some(1), "{wrong:?}");
    }
    // Keys in the environment are not shown.
    let help = armilla().arg("--help").env("ARMILLA_KEY", "c2VjcmV0").output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("c2VjcmV0"));
}
