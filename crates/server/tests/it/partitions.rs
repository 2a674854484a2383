//! `armilla partitions`, `armilla split`, `armilla merge`; what `/metrics` says of partitions; throttling.

use std::process::Output;

use crate::process::{Server, armilla, failure_line, run};
use crate::signing;

/// A server with a container `c` of this throughput in a database `d`.
pub(crate) fn prepared(throughput: u32, arguments: &[&str]) -> Server {
    let server = Server::start(&[&["--memory"], arguments].concat());
    create_container(&server, throughput);
    server
}

pub(crate) fn create_container(server: &Server, throughput: u32) {
    let database = signing::request("POST", "/dbs", "dbs", "", "", r#"{"id":"d"}"#);
    assert_eq!(server.exchange(&database).status, 201);
    let body = r#"{"id":"c","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
    let offer = format!("x-ms-offer-throughput: {throughput}\r\n");
    let container = signing::request("POST", "/dbs/d/colls", "colls", "dbs/d", &offer, body);
    assert_eq!(server.exchange(&container).status, 201);
}

/// Creates an item under a key of its own; returns the status.
pub(crate) fn create_item(server: &Server, name: &str) -> u16 {
    let key = format!("x-ms-documentdb-partitionkey: [\"{name}\"]\r\n");
    let body = format!("{{\"id\":\"{name}\",\"pk\":\"{name}\"}}");
    server
        .exchange(&signing::request("POST", "/dbs/d/colls/c/docs", "docs", "dbs/d/colls/c", &key, &body))
        .status
}

fn read_item(server: &Server, name: &str) -> u16 {
    let key = format!("x-ms-documentdb-partitionkey: [\"{name}\"]\r\n");
    let link = format!("dbs/d/colls/c/docs/{name}");
    server.exchange(&signing::request("GET", &format!("/{link}"), "docs", &link, &key, "")).status
}

/// Runs a command against a server.
fn ask(server: &Server, scheme: &str, arguments: &[&str]) -> Output {
    let endpoint = format!("{scheme}://localhost:{}/", server.port());
    run(&[arguments, &["--endpoint", &endpoint]].concat())
}

#[track_caller]
fn printed(output: Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{complaint}");
    String::from_utf8(output.stdout).unwrap()
}

/// The error line of a command that had begun to show progress.
#[track_caller]
fn complaint(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    text.lines().last().unwrap().to_owned()
}

const SPLIT: [&str; 5] = ["split", "--database", "d", "--container", "c"];
const MERGE: [&str; 5] = ["merge", "--database", "d", "--container", "c"];

#[test]
fn partitions_are_shown_over_every_transport() {
    let server = Server::start(&[]);
    assert_eq!(printed(ask(&server, "http", &["partitions"])), "no containers\n");
    create_container(&server, 12_000);
    assert_eq!(create_item(&server, "a"), 201);
    let certificate = server.folder().join("armilla-data/tls/cert.pem");
    let certificate = certificate.to_str().unwrap();
    for (scheme, more) in [("http", &[][..]), ("https", &[]), ("https", &["--cacert", certificate])] {
        let text = printed(ask(&server, scheme, &[&["partitions"], more].concat()));
        assert!(text.starts_with("d/c: 12000 RU/s, 2 partitions\n"), "{text}");
        assert_eq!(text.lines().count(), 4, "{text}");
        let rows: Vec<Vec<&str>> =
            text.lines().skip(2).map(|line| line.split_whitespace().collect()).collect();
        assert_eq!((rows[0][0], rows[0][1], rows[0][2]), ("0", "\"\"", "online"), "{text}");
        assert_eq!((rows[1][0], rows[1][2]), ("1", "online"), "{text}");
        assert!(rows[1][1].ends_with("..") && rows[1][1] > "1", "{text}");
        let items: Vec<&str> = rows.iter().map(|row| row[3]).collect();
        assert!(items.contains(&"1"), "{text}");
        assert!(text.contains(r#"["a"]"#), "{text}");
    }
    let json = printed(ask(&server, "http", &["partitions", "--json"]));
    assert!(json.starts_with(r#"{"containers":[{"database":"d","container":"c","#), "{json}");
    assert!(json.ends_with("}\n"), "{json}");
    let narrowed = printed(ask(&server, "http", &["partitions", "--database", "d", "--container", "c"]));
    assert!(narrowed.starts_with("d/c: "), "{narrowed}");
    let none = failure_line(&ask(&server, "http", &["partitions", "--container", "x"]));
    assert_eq!(none, "armilla: there is no such container");
    server.assert_well();
}

#[test]
fn who_may_not_ask_and_who_does_not_answer() {
    let server = prepared(400, &["--read-only-key", "cmVhZGVy"]);
    let wrong = failure_line(&ask(&server, "http", &["partitions", "--key", "AAAA"]));
    assert!(
        wrong.contains("does not take this key: give the account key with --key or ARMILLA_KEY"),
        "{wrong}"
    );
    let no_key = failure_line(&ask(&server, "http", &["partitions", "--key", "%"]));
    assert!(no_key.contains("cannot sign with this key"), "{no_key}");
    let reader = ["--key", "cmVhZGVy"];
    assert!(printed(ask(&server, "http", &[&["partitions"], &reader[..]].concat())).starts_with("d/c: "));
    let refused = failure_line(&ask(&server, "http", &[&SPLIT[..], &reader].concat()));
    assert!(refused.contains("does not allow it"), "{refused}");
    let endpoint = format!("http://localhost:{}", server.port());
    let from_environment =
        armilla().arg("partitions").env("ARMILLA_ENDPOINT", &endpoint).env("ARMILLA_KEY", "AAAA").output();
    assert!(failure_line(&from_environment.unwrap()).contains("does not take this key"));
    drop(server);
    let nobody = failure_line(&run(&["partitions", "--endpoint", &endpoint]));
    assert!(nobody.contains(&format!("no server answers at {endpoint}/")), "{nobody}");
    assert!(nobody.contains("start one with `armilla`"), "{nobody}");
    let nonsense = failure_line(&run(&["partitions", "--endpoint", "localhost"]));
    assert!(nonsense.contains("must be like http://localhost:8081/"), "{nonsense}");
}

#[test]
fn a_container_is_split_and_merged_while_its_items_stay() {
    let server = prepared(400, &[]);
    let names: Vec<String> = (0..40).map(|number| format!("item{number}")).collect();
    for name in &names {
        assert_eq!(create_item(&server, name), 201);
    }
    let all_there = || names.iter().all(|name| read_item(&server, name) == 200);
    let split = printed(ask(&server, "http", &SPLIT));
    assert!(split.starts_with("d/c: 0 became 1 and 2 in "), "{split}");
    assert!(all_there());
    let again = printed(ask(&server, "https", &[&SPLIT[..], &["--range", "1", "--at", "0fff"]].concat()));
    assert!(again.starts_with("d/c: 1 became 3 and 4 in "), "{again}");
    assert!(all_there());
    let gone = complaint(&ask(&server, "http", &[&SPLIT[..], &["--range", "1"]].concat()));
    assert!(gone.contains("the range is gone"), "{gone}");
    for ranges in ["3,2", "3,7"] {
        let refused = complaint(&ask(&server, "http", &[&MERGE[..], &["--ranges", ranges]].concat()));
        assert!(refused.starts_with("armilla: "), "{ranges}: {refused}");
    }
    let merged = printed(ask(&server, "http", &[&MERGE[..], &["--ranges", "3,4"]].concat()));
    assert!(merged.starts_with("d/c: 3 and 4 became 5 in "), "{merged}");
    assert!(all_there());
    let begun = printed(ask(&server, "http", &[&MERGE[..], &["--ranges", "5,2", "--no-wait"]].concat()));
    assert!(begun.starts_with("merging of d/c has begun"), "{begun}");
    let none = failure_line(&ask(&server, "http", &["split", "--database", "d", "--container", "x"]));
    assert_eq!(none, "armilla: there is no container x in a database d");
}

#[test]
fn command_lines_that_make_no_sense() {
    for (arguments, word) in [
        (&["split", "--database", "d"][..], "--container"),
        (&[&SPLIT[..], &["--at", "xyz"]].concat(), "not hexadecimal digits"),
        (&[&SPLIT[..], &["--range", "-1"]].concat(), "-1"),
        (&[&MERGE[..], &["--ranges", "1"]].concat(), "such as 1,2"),
        (&MERGE, "--ranges"),
        (&["partitions", "--json", "--database", "d"], "--json"),
        (&["--throttle", "maybe"], "maybe"),
        (&["--physical-partition-bytes", "1"], "at least 65536"),
    ] {
        let output = run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {text}");
        assert!(text.contains(word), "{arguments:?}: {text}");
    }
    for command in ["split", "merge", "partitions", "feed"] {
        let help = printed(run(&[command, "--help"]));
        assert!(help.contains("Example") && help.contains("--endpoint"), "{help}");
    }
}

#[test]
fn metrics_of_partitions() {
    let server = prepared(400, &[]);
    assert_eq!(create_item(&server, "a"), 201);
    assert_eq!(read_item(&server, "a"), 200);
    let text = server.exchange(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").body;
    let labels = r#"{database="d",container="c",range="0"}"#;
    for (name, value) in
        [("items", "1"), ("provisioned_ru", "400"), ("requests_total", "2"), ("refused_total", "0")]
    {
        let line = format!("armilla_partition_{name}{labels} {value}");
        assert!(text.lines().any(|other| other == line), "no {line} in {text}");
    }
    let count = r#"armilla_partition_request_duration_seconds_count{database="d",container="c",range="0",kind="read"} 1"#;
    assert!(text.contains(count), "{text}");
    assert_eq!(server.metric("armilla_partitions_left_out"), 0.0);
}

#[test]
fn throttling_can_be_switched_off() {
    for (choice, are_refused) in [("on", true), ("off", false)] {
        let server = prepared(400, &["--throttle", choice]);
        // 150 creates cost some 900 RU: more than two seconds have at 400 RU/s.
        let statuses: Vec<u16> = (0..150).map(|number| create_item(&server, &number.to_string())).collect();
        assert!(statuses.iter().all(|status| matches!(status, 201 | 429)), "{statuses:?}");
        assert_eq!(statuses.contains(&429), are_refused, "--throttle {choice}: {statuses:?}");
    }
}
