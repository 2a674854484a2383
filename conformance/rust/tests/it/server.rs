//! Starts the server under test for one scenario, opens a client, and checks how the server ends.
//!
//! The binary comes from ARMILLA_BIN, or is the debug build of this repository.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use armilla_launcher::{LogTo, READY_TIMEOUT, ServerProcess, command};
use azure_data_cosmos::models::{ContainerProperties, PartitionKeyDefinition, ThroughputProperties};
use azure_data_cosmos::options::{
    ConnectionPoolOptions, CreateContainerOptions, Region, ServerCertificateValidation,
};
use azure_data_cosmos::{
    AccountEndpoint, AccountReference, ContainerClient, CosmosClient, CosmosError, CosmosRuntime,
    RoutingStrategy,
};
use tokio::task::spawn_blocking;
use tokio::time::sleep;

/// The well-known key of the emulators.
pub const KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw==";
const DATABASE: &str = "conformance";
/// Enough that no test is throttled by accident, few enough for one physical partition.
const ROOMY_THROUGHPUT: u64 = 10_000;
const POLL: Duration = Duration::from_millis(50);

/// How a client comes to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Http,
    Https,
}

/// A client and where it is connected to.
pub struct Connection {
    pub client: CosmosClient,
    pub scheme: Scheme,
}

impl Connection {
    /// Creates a container and returns a client for it.
    pub async fn container(&self, id: &str, key: impl Into<PartitionKeyDefinition>) -> ContainerClient {
        self.container_with(ContainerProperties::new(id.to_owned(), key.into()), ROOMY_THROUGHPUT).await
    }

    /// Creates a container with policies and throughput of its own.
    pub async fn container_with(&self, properties: ContainerProperties, throughput: u64) -> ContainerClient {
        let database = self.client.database_client(DATABASE);
        let options =
            CreateContainerOptions::default().with_throughput(ThroughputProperties::manual(throughput));
        let id = properties.id.to_string();
        database.create_container(properties, Some(options)).await.expect("create container");
        database.container_client(id, None).await.expect("open container")
    }
}

/// Runs a scenario once over each scheme, each time against a server of its own.
pub async fn over_each_scheme(scenario: impl AsyncFn(Connection)) {
    for scheme in [Scheme::Http, Scheme::Https] {
        with_server(async |port| {
            let client = connect(scheme, port).await;
            client.create_database(DATABASE, None).await.expect("create database");
            scenario(Connection { client, scheme }).await;
        })
        .await;
    }
}

/// Runs a scenario with the port of a server of its own, and checks how the server ends.
pub async fn with_server(scenario: impl AsyncFn(u16)) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let process = start(folder.path()).await;
    scenario(process.ready().port("sql").expect("port")).await;
    stop(process).await;
    let log = fs::read_to_string(log_file(folder.path())).expect("read log");
    let complaints: Vec<&str> = log.lines().filter(|line| is_complaint(line)).collect();
    assert!(complaints.is_empty(), "the server logged warnings or errors: {complaints:#?}");
}

/// Returns the HTTP status of an error.
pub fn status(error: &CosmosError) -> u16 {
    error.status().status_code().into()
}

/// Lets a moment of the machine's own time pass: the server is another process.
#[expect(clippy::disallowed_methods, reason = "no simulated clock reaches into another process")]
pub async fn pause() {
    sleep(POLL).await;
}

/// Opens a client with default options; over TLS it accepts the self-signed certificate of a local server.
async fn connect(scheme: Scheme, port: u16) -> CosmosClient {
    let endpoint = match scheme {
        Scheme::Http => format!("http://localhost:{port}/"),
        Scheme::Https => format!("https://localhost:{port}/"),
    };
    let endpoint: AccountEndpoint = endpoint.parse().expect("endpoint");
    let mut builder = CosmosClient::builder();
    if scheme == Scheme::Https {
        let pool = ConnectionPoolOptions::builder()
            .with_server_certificate_validation(ServerCertificateValidation::RequiredUnlessEmulator)
            .build()
            .expect("connection pool");
        builder = builder.with_runtime(
            CosmosRuntime::builder().with_connection_pool(pool).build().await.expect("runtime"),
        );
    }
    builder
        .build(
            AccountReference::with_authentication_key(endpoint, KEY),
            RoutingStrategy::ProximityTo(Region::from("South Central US")),
        )
        .await
        .expect("connect")
}

async fn start(folder: &Path) -> ServerProcess {
    let mut command = command(binary());
    command.args(["--port", "0", "--data-dir"]).arg(folder.join("data")).env("NO_COLOR", "1");
    // As many physical partitions as the throughput needs, so that a test says how many it has.
    command.env("ARMILLA_INITIAL_PARTITION_RU", "10000");
    // Where the program is what stands for several nodes.
    for name in ["ARMILLA_CLUSTER_BIN", "ARMILLA_TEST_NODES", "ARMILLA_TEST_STORE"] {
        if let Some(value) = env::var_os(name) {
            command.env(name, value);
        }
    }
    let log = log_file(folder);
    let starting = spawn_blocking(move || ServerProcess::start(command, LogTo::File(&log), READY_TIMEOUT));
    starting.await.expect("no panic").expect("start the server")
}

async fn stop(process: ServerProcess) {
    let ended = spawn_blocking(|| process.stop()).await.expect("no panic").expect("stops in time");
    assert_eq!(ended.code(), Some(0), "SIGTERM ends the server with exit code 0");
}

fn is_complaint(line: &str) -> bool {
    let levels = line.split_whitespace().take(2);
    levels.into_iter().any(|word| word == "WARN" || word == "ERROR") || line.contains("panicked at")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("stderr.log")
}

fn binary() -> PathBuf {
    match env::var_os("ARMILLA_BIN") {
        Some(path) => PathBuf::from(path),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/armilla"),
    }
}
