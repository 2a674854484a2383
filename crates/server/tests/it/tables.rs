//! The ports of the Table API: where they are, what they share with the port of the SQL API, and what they do not.
//!
//! Not here: what the Table API answers, which its own crate and the SDKs' tests look at.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use armilla_env::Env;
use armilla_launcher::Signal;
use armilla_rest_wire::http_date;
use armilla_rest_wire::signature::AccountKey;
use armilla_rest_wire::well_known::STORAGE_KEY;

use crate::http::{self, Response};
use crate::process::{PATIENCE, Server, failure_line, run};
use crate::signing::{self, KEY};
use crate::transport;

const HEALTH: &[u8] = b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// Returns a request signed by an account with SharedKeyLite.
fn request(account: &str, key: &str, verb: &str, path: &str, body: &str) -> Vec<u8> {
    let date = http_date::format_seconds(Env::system().clock.now_seconds());
    let authorization = AccountKey::new(key).unwrap().shared_key_lite(account, path, &date);
    let length = body.len();
    format!(
        "{verb} {path} HTTP/1.1\r\nhost: localhost\r\nx-ms-date: {date}\r\nx-ms-version: 2019-02-02\r\n\
         authorization: {authorization}\r\naccept: application/json;odata=nometadata\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

fn ask(server: &Server, api: &str, request: &[u8]) -> Response {
    http::exchange(&mut server.connect_to(api), request)
}

/// Asserts a failure as clients of the Table API read it.
#[track_caller]
fn assert_odata_failure(response: &Response, status: u16, code: &str) {
    assert_eq!(response.status, status, "{response:?}");
    let start = format!(r#"{{"odata.error":{{"code":"{code}","message":{{"lang":"en-US","value":""#);
    assert!(response.body.starts_with(&start), "{response:?}");
    assert!(response.head.to_lowercase().contains(&format!("x-ms-error-code: {}", code.to_lowercase())));
}

#[test]
fn one_entity_through_all_ports() {
    let server = Server::start(&["--storage-table-port", "0"]);
    let create = request("localhost", KEY, "POST", "/Tables", r#"{"TableName":"people"}"#);
    let created = ask(&server, "table", &create);
    assert_eq!(created.status, 201, "{created:?}");
    let entity = r#"{"PartitionKey":"p","RowKey":"r","name":"Ann"}"#;
    let path = "/devstoreaccount1/people";
    // The account stands in the path, and once more before it in what is signed.
    let insert = request("devstoreaccount1", STORAGE_KEY, "POST", path, entity);
    let inserted = ask(&server, "storage_table", &insert);
    assert_eq!(inserted.status, 201, "{inserted:?}");
    let read = request("localhost", KEY, "GET", "/people(PartitionKey='p',RowKey='r')", "");
    let entity = ask(&server, "table", &read);
    assert!(entity.status == 200 && entity.body.contains(r#""name":"Ann""#), "{entity:?}");
    let link = "dbs/TablesDB/colls/people/docs/r";
    let partition = "x-ms-documentdb-partitionkey: [\"p\"]\r\n";
    let item = server.exchange(&signing::request("GET", &format!("/{link}"), "docs", link, partition, ""));
    assert!(item.status == 200 && item.body.contains(r#""PartitionKey":"p""#), "{item:?}");
    let text = server.exchange(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").body;
    for line in [
        r#"armilla_api_requests_total{api="sql"} 1"#,
        r#"armilla_api_requests_total{api="table"} 2"#,
        r#"armilla_api_requests_total{api="storage_table"} 1"#,
        r#"armilla_http_requests_total{method="POST",resource="table",status="201"} 1"#,
        r#"armilla_http_requests_total{method="POST",resource="entity",status="201"} 1"#,
        r#"armilla_http_requests_total{method="GET",resource="entity",status="200"} 1"#,
    ] {
        assert!(text.lines().any(|other| other == line), "no {line} in {text}");
    }
    server.assert_well();
}

/// Tests run many servers at once: whoever takes a free port gets free ones only.
#[test]
fn servers_side_by_side() {
    let first = Server::start(&["--memory"]);
    let second = Server::start(&["--memory"]);
    let mut ports = [&first, &second].map(|server| [server.port(), server.port_of("table")]).concat();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), 4);
}

#[test]
fn ports_that_are_off() {
    let server = Server::start(&["--memory", "--table-port", "off"]);
    assert!(!server.ready().contains("table"), "{}", server.ready());
    assert!(!server.log().contains("Table"), "{}", server.log());
    server.assert_well();
    let server = Server::start_in(tempfile::tempdir().unwrap(), &["--memory"], |command| {
        command.env("ARMILLA_TABLE_PORT", "off").env("ARMILLA_STORAGE_TABLE_PORT", "0");
    });
    assert!(!server.ready().contains(" table="), "{}", server.ready());
    assert!(server.port_of("storage_table") > 0);
    server.assert_well();
}

#[test]
fn ports_in_use_name_their_flag() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    for flag in ["--table-port", "--storage-table-port"] {
        let data = tempfile::tempdir().unwrap();
        let folder = data.path().join("data").display().to_string();
        let line = failure_line(&run(&["--port", "0", "--data-dir", &folder, flag, &port]));
        let expected = format!("port {port} on 127.0.0.1 is in use by another program");
        assert!(line.contains(&expected) && line.contains(&format!("{flag} off")), "{line}");
        assert!(!data.path().join("data").exists(), "nothing was touched");
    }
    let line = failure_line(&run(&["--memory", "--port", &port, "--table-port", &port]));
    assert!(line.contains(&format!("--port and --table-port are both {port}")), "{line}");
}

#[test]
fn connection_strings_are_told_but_not_keys() {
    let server = Server::start(&["--memory", "--storage-table-port", "0"]);
    let (table, storage) = (server.port_of("table"), server.port_of("storage_table"));
    let log = server.log();
    for text in [
        format!("AccountName=localhost;AccountKey={KEY};TableEndpoint=http://localhost:{table}/;"),
        format!(
            "AccountName=devstoreaccount1;AccountKey={STORAGE_KEY};\
             TableEndpoint=http://127.0.0.1:{storage}/devstoreaccount1;"
        ),
    ] {
        assert!(log.contains(&text), "no {text} in {log}");
    }
    let own = "b3VyIG93biBrZXk=";
    let server = Server::start(&["--memory", "--storage-table-port", "0", "--key", own]);
    let log = server.log();
    assert!(!log.contains(own) && !log.contains(STORAGE_KEY) && log.contains("AccountKey=KEY;"), "{log}");
    // With a key of one's own the well-known ones open nothing.
    let list = request("devstoreaccount1", STORAGE_KEY, "GET", "/devstoreaccount1/Tables", "");
    assert_eq!(ask(&server, "storage_table", &list).status, 403);
    let list = request("devstoreaccount1", own, "GET", "/devstoreaccount1/Tables", "");
    assert_eq!(ask(&server, "storage_table", &list).status, 200);
}

#[test]
fn tls_and_plain_on_every_port() {
    let server = Server::start(&["--storage-table-port", "0"]);
    let certificate = server.folder().join("armilla-data/tls/cert.pem");
    let list = request("localhost", KEY, "GET", "/Tables", "");
    for api in ["table", "storage_table"] {
        for name in ["localhost", "127.0.0.1", "acct.table.localhost", "acct.table.cosmos.localhost"] {
            let stream = server.connect_to(api);
            let mut stream = transport::secure(stream, &certificate, name, &["http/1.1"]).unwrap();
            assert_eq!(http::exchange(&mut stream, &list).status, 200, "{api} {name}");
        }
        for name in ["table.elsewhere", "a.b.table.localhost"] {
            assert!(transport::secure(server.connect_to(api), &certificate, name, &[]).is_err(), "{name}");
        }
        assert_eq!(ask(&server, api, &list).status, 200);
    }
    server.assert_well();
}

/// A table may be called `health` or `metrics`.
#[test]
fn the_paths_of_the_server_belong_to_the_sql_port() {
    let server = Server::start(&["--memory"]);
    for path in ["/health", "/metrics"] {
        let asked = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
        assert!(matches!(ask(&server, "table", asked.as_bytes()).status, 401 | 403), "{path}");
    }
}

#[test]
fn half_sent_bodies_are_answered_in_odata() {
    let server = Server::start(&["--memory", "--body-timeout-ms", "300"]);
    let create = request("localhost", KEY, "POST", "/Tables", r#"{"TableName":"half"}"#);
    let mut stream = server.connect_to("table");
    let response = http::exchange(&mut stream, &create[..create.len() - 3]);
    assert_odata_failure(&response, 408, "OperationTimedOut");
    http::assert_closed(&mut stream);
    assert_eq!(server.metric("armilla_timeouts_total"), 1.0);
    server.assert_well();
}

#[test]
fn slow_requests_say_where() {
    let server = Server::start(&["--memory", "--slow-request-ms", "1"]);
    let create = request("localhost", KEY, "POST", "/Tables", r#"{"TableName":"slow"}"#);
    let mut stream = server.connect_to("table");
    stream.write_all(&create[..create.len() - 1]).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(http::exchange(&mut stream, &create[create.len() - 1..]).status, 201);
    let log = server.log();
    let line = log.lines().find(|line| line.contains("slow request")).unwrap_or_else(|| panic!("{log}"));
    for word in ["api=\"table\"", "path=\"/Tables\"", "status=201"] {
        assert!(line.contains(word), "{line}");
    }
}

/// One bound for all ports; a port on which nothing happens keeps no place.
#[test]
fn connections_are_bounded_over_all_ports() {
    let server = Server::start(&["--memory", "--connections-max", "2", "--storage-table-port", "0"]);
    let list = request("localhost", KEY, "GET", "/Tables", "");
    let mut first = server.connect();
    let mut second = server.connect_to("table");
    http::exchange(&mut first, HEALTH);
    http::exchange(&mut second, &list);
    let mut third = server.connect_to("storage_table");
    third.write_all(&list).unwrap();
    third.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(http::read_once(&mut third, &mut [0]).is_err());
    drop(first);
    third.set_read_timeout(Some(PATIENCE)).unwrap();
    assert_eq!(http::read(&mut third).unwrap().status, 200);
    // Two at one port are served as well.
    drop((second, third));
    let mut both = [server.connect_to("table"), server.connect_to("table")];
    for stream in &mut both {
        assert_eq!(http::exchange(stream, &list).status, 200);
    }
}

#[test]
fn a_signal_ends_all_ports() {
    let mut server = Server::start(&["--storage-table-port", "0"]);
    let create = request("localhost", KEY, "POST", "/Tables", r#"{"TableName":"late"}"#);
    let (first, last) = create.split_at(create.len() - 1);
    let mut running = server.connect_to("table");
    running.write_all(first).unwrap();
    let mut idle = server.connect_to("storage_table");
    std::thread::sleep(Duration::from_millis(100));
    server.signal(Signal::Terminate);
    http::assert_closed(&mut idle);
    assert_eq!(http::exchange(&mut running, last).status, 201, "{}", server.log());
    assert_eq!(server.wait().code(), Some(0), "{}", server.log());
    for api in ["sql", "table", "storage_table"] {
        assert!(TcpStream::connect(("127.0.0.1", server.port_of(api))).is_err(), "{api}");
    }
    let server = Server::start_in(server.into_folder(), &[], |_| {});
    let read = request("localhost", KEY, "GET", "/Tables('late')", "");
    assert_eq!(ask(&server, "table", &read).status, 200);
}
