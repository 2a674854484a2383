//! A tour of `gremlin-client`: scripts, traversals as bytecode, errors, large results, sessions.
//!
//! The binary comes from ARMILLA_BIN, or is the debug build of this repository. Certificates of its own the client does
//! not take, so it is told to trust any.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use armilla_launcher::{LogTo, READY_TIMEOUT, ServerProcess, command};
use gremlin_client::process::traversal::{__, Order, traversal};
use gremlin_client::structure::{P, T, TextP};
use gremlin_client::{
    ConnectionOptions, Edge, FromGValue, GValue, GraphSON, GremlinClient, GremlinError, TlsOptions, ToGValue,
    Vertex,
};

/// The well-known key of the emulators.
const KEY: &str = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";

/// What a login says of the graph that every server here has.
const GRAPH: &str = "/dbs/graphs/colls/g";

struct Server {
    process: ServerProcess,
    folder: tempfile::TempDir,
}

impl Server {
    /// Starts a server with an empty graph.
    fn start(flags: &[&str]) -> Server {
        let folder = tempfile::tempdir().expect("temporary folder");
        let mut starting = command(binary());
        starting.args(["--port", "0", "--throttle", "off", "--data-dir"]).arg(folder.path().join("data"));
        starting.args(flags).env("NO_COLOR", "1");
        let log = folder.path().join("stderr.log");
        let process =
            ServerProcess::start(starting, LogTo::File(&log), READY_TIMEOUT).expect("start the server");
        let items = folder.path().join("none.jsonl");
        std::fs::write(&items, "").expect("write a file");
        let endpoint = format!("http://localhost:{}/", process.ready().port("sql").expect("port"));
        let made = Command::new(binary())
            .args([
                "import",
                "--create",
                "/pk",
                "--database",
                "graphs",
                "--container",
                "g",
                "--format",
                "jsonl",
            ])
            .args(["--endpoint", &endpoint])
            .arg(&items)
            .output()
            .expect("run import");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        Server { process, folder }
    }

    /// Opens a client of a graph over TLS.
    fn connect(&self, graph: &str, key: &str, format: GraphSON) -> GremlinClient {
        let port = self.process.ready().port("gremlin").expect("port");
        let options = ConnectionOptions::builder()
            .host("localhost")
            .port(port)
            .pool_size(2)
            .credentials(graph, key)
            .ssl(true)
            .tls_options(TlsOptions { accept_invalid_certs: true })
            .serializer(format.clone())
            .deserializer(format)
            .build();
        GremlinClient::connect(options).expect("connect")
    }

    fn stop(self) {
        let ended = self.process.stop().expect("stops in time");
        assert_eq!(ended.code(), Some(0), "SIGTERM ends the server with exit code 0");
        let log = std::fs::read_to_string(self.folder.path().join("stderr.log")).expect("log");
        let complaints: Vec<&str> =
            log.lines().filter(|line| line.contains("WARN") || line.contains("ERROR")).collect();
        assert_eq!(complaints, Vec::<&str>::new());
    }
}

fn binary() -> PathBuf {
    match env::var_os("ARMILLA_BIN") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/armilla"),
    }
}

/// Runs a script and returns all results.
fn run<V: FromGValue>(client: &GremlinClient, script: &str, bindings: &[(&str, &dyn ToGValue)]) -> Vec<V> {
    let results = client.execute(script, bindings).expect("runs");
    results.map(|value| value.and_then(GValue::take).expect("a value of this type")).collect()
}

/// Returns the code of a refusal, and what it says.
fn refused(client: &GremlinClient, script: &str) -> (i16, String) {
    let error = match client.execute(script, &[]) {
        Err(error) => error,
        Ok(mut results) => results.find_map(Result::err).expect("a refusal"),
    };
    match error {
        GremlinError::Request(told) => told,
        other => panic!("not a refusal: {other}"),
    }
}

fn load(client: &GremlinClient) {
    let add = "g.addV('person').property(id, who).property('pk', pk).property('age', age)";
    for (who, pk, age) in [("ada", "a", 36), ("bob", "b", 41), ("cleo", "a", 69)] {
        run::<Vertex>(client, add, &[("who", &who), ("pk", &pk), ("age", &age)]);
    }
    for (from, to) in [("ada", "bob"), ("bob", "cleo")] {
        let knows = "g.V(from).addE('knows').to(g.V(to)).property('since', 1997)";
        run::<Edge>(client, knows, &[("from", &from), ("to", &to)]);
    }
}

#[test]
fn scripts() {
    let server = Server::start(&[]);
    let client = server.connect(GRAPH, KEY, GraphSON::V3);
    load(&client);
    assert_eq!(run::<i64>(&client, "g.V().count()", &[]), [3]);
    let found: Vec<String> = run(&client, "g.V().has('age', gt(least)).id().order()", &[("least", &40)]);
    assert_eq!(found, ["bob", "cleo"]);
    let vertices: Vec<Vertex> = run(&client, "g.V('ada').out('knows')", &[]);
    assert_eq!(vertices.iter().map(Vertex::label).collect::<Vec<_>>(), ["person"]);
    let edges: Vec<Edge> = run(&client, "g.V('ada').outE()", &[]);
    assert_eq!(edges.iter().map(Edge::label).collect::<Vec<_>>(), ["knows"]);
    assert_eq!(run::<i32>(&client, "g.V('ada').outE().values('since')", &[]), [1997]);
    assert_eq!(run::<GValue>(&client, "g.V('bob').drop()", &[]), []);
    assert_eq!(run::<i64>(&client, "g.E().count()", &[]), [0]);
    server.stop();
}

#[test]
fn traversals_as_bytecode() {
    let server = Server::start(&[]);
    let client = server.connect(GRAPH, KEY, GraphSON::V3);
    load(&client);
    let g = traversal().with_remote(client);
    assert_eq!(g.v(()).count().to_list().expect("count"), [3]);
    assert_eq!(g.v("ada").out("knows").to_list().expect("out").len(), 1);
    assert_eq!(g.v(()).has(("age", P::gt(40))).to_list().expect("has").len(), 2);
    assert_eq!(g.v(()).has((T::Id, TextP::starting_with("c"))).to_list().expect("texts").len(), 1);
    let ages = g.v(()).order(()).by(("age", Order::Desc)).values("age").to_list().expect("order");
    assert_eq!(ages, [GValue::from(69), GValue::from(41), GValue::from(36)]);
    assert_eq!(g.v("ada").repeat(__.out(())).until(__.has(("age", 69))).to_list().expect("repeat").len(), 1);
    let made =
        g.add_v("person").property("id", "dora").property("pk", "d").next().expect("add").expect("one");
    assert_eq!(made.label(), "person");
    assert_eq!(g.v("dora").drop().to_list().expect("drop").len(), 0);
    assert!(!g.v("dora").has_next().expect("none"));
    server.stop();
}

#[test]
fn refusals() {
    let server = Server::start(&[]);
    let client = server.connect(GRAPH, KEY, GraphSON::V3);
    load(&client);
    let add = "g.addV('person').property('id','ada').property('pk','a')";
    for (script, code, text) in [
        ("g.V().dance()", 597, "Unable to find any method 'dance'"),
        ("g.addV('person')", 597, "partition key"),
        (add, 500, "Conflicting request to resource has been attempted."),
    ] {
        let (found, message) = refused(&client, script);
        assert_eq!(found, code, "{message}");
        assert!(message.contains(text), "{message}");
    }
    let (code, message) = refused(&client.alias("other"), "g.V()");
    assert_eq!(code, 499, "{message}");
    // Of a graph that is not there the client tells only after half a minute of trying.
    let stranger = server.connect(GRAPH, "d3Jvbmc=", GraphSON::V3);
    assert_eq!(refused(&stranger, "g.V()").0, 401);
    assert_eq!(run::<i64>(&client, "g.V().count()", &[]), [3]);
    server.stop();
}

#[test]
fn large_results_and_sessions() {
    let server = Server::start(&[]);
    let mut client = server.connect(GRAPH, KEY, GraphSON::V3);
    load(&client);
    let walked: Vec<Vertex> = run(&client, "g.V().repeat(both()).times(14)", &[]);
    assert_eq!(walked.len(), 3 * 128);
    let text = "x".repeat(3 * 1024 * 1024);
    assert_eq!(run::<String>(&client, "g.inject(text)", &[("text", &text)]), [text]);
    let mut session = client.create_session("one".to_owned()).expect("session");
    assert_eq!(run::<i64>(&session, "g.V().count()", &[]), [3]);
    session.close_session().expect("closed");
    server.stop();
}

/// The client takes GraphSON 2.0 only with types.
#[test]
fn graphson_2() {
    let server = Server::start(&["--gremlin-graphson2", "typed"]);
    let client = server.connect(GRAPH, KEY, GraphSON::V2);
    load(&client);
    assert_eq!(run::<i64>(&client, "g.V().count()", &[]), [3]);
    let g = traversal().with_remote(client);
    assert_eq!(g.v("ada").out("knows").to_list().expect("out").len(), 1);
    server.stop();
}
