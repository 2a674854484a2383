//! Those who are measured: each a process with the graph in it.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::http_client::Connection;
use armilla_crash::process_figures;
use armilla_crash::requests::Target;
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;
use armilla_workload::{CpuClock, FamilyCpu, Worker};
use tokio::runtime::Runtime;

use super::Who;
use super::asker::{self, Drawn};
use super::cases::Task;
use super::peer::Peer;
use super::people::People;
use crate::queries::resting::{METRICS_REQUEST, jobs, wait_for_rest};
use crate::server::{Folder, Servers, Setup, folder, free_port};

const DATABASE: &str = "bench";
const GRAPH: &str = "people";

/// The graph's container: everything is indexed, as it is by default. Of one physical partition.
const DEFINITION: &str = r#"{"id":"people","partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}}"#;
const THROUGHPUT: (&str, &str) = ("x-ms-offer-throughput", "400");

/// How long a peer rests that does not say when it does.
const PEER_REST: Duration = Duration::from_secs(2);

/// Connections of the importer.
const LOADERS: &str = "8";

enum Process {
    Own(Box<Own>),
    Peer(Peer),
}

/// A server of our own, and what started it.
struct Own {
    servers: Servers,
    server: ServerProcess,
    gremlin: SocketAddr,
}

/// One of them.
pub(super) struct Side {
    pub(super) who: Who,
    env: Env,
    process: Process,
    pub(super) runtime: Runtime,
}

impl Side {
    /// Starts one and loads the graph; `None` where it is not installed.
    pub(super) fn load(
        who: Who,
        env: &Env,
        setup: &Setup,
        peers: &Path,
        people: &Arc<People>,
    ) -> Result<Option<Side>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let process = match who {
            Who::Armilla => {
                let own = Own::start(setup, env)?;
                own.load(setup, people)?;
                Process::Own(Box::new(own))
            }
            Who::GremlinServer => match Peer::start(peers, folder(setup)?, people)? {
                Some(peer) => Process::Peer(peer),
                None => return Ok(None),
            },
        };
        Ok(Some(Side { who, env: env.clone(), process, runtime }))
    }

    /// Opens a connection that does something over and over.
    pub(super) fn worker(&self, task: Task, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let address = match &self.process {
            Process::Own(own) => own.gremlin,
            Process::Peer(peer) => peer.address,
        };
        asker::worker(&self.runtime, address, task, drawn)
    }

    /// Waits until nothing is done in the background, as far as that can be told.
    pub(super) fn rest(&self) -> Result<()> {
        match &self.process {
            Process::Own(own) => {
                let mut connection =
                    self.runtime.block_on(Connection::open(own.server.address)).context("cannot connect")?;
                wait_for_rest(&self.env, || {
                    let reply = self.runtime.block_on(connection.exchange(METRICS_REQUEST))?;
                    jobs(&String::from_utf8_lossy(reply.body)).context("the server does not tell of its work")
                })
            }
            Process::Peer(_) => {
                std::thread::sleep(PEER_REST);
                Ok(())
            }
        }
    }

    pub(super) fn pid(&self) -> u32 {
        match &self.process {
            Process::Own(own) => own.server.pid(),
            Process::Peer(peer) => peer.pid(),
        }
    }

    pub(super) fn cpu_clock(&self) -> Box<dyn CpuClock> {
        Box::new(FamilyCpu::of(self.pid()))
    }

    /// Returns the memory that it holds now.
    pub(super) fn resident(&self) -> Result<u64> {
        process_figures::family_resident(self.pid())
    }

    /// Ends it.
    pub(super) fn stop(self) -> Result<()> {
        match self.process {
            Process::Own(own) => own.servers.stop(own.server),
            Process::Peer(_) => Ok(()),
        }
    }
}

impl Own {
    fn start(setup: &Setup, env: &Env) -> Result<Own> {
        let port = free_port()?;
        let mut setup = setup.clone();
        let alias = format!("g=/dbs/{DATABASE}/colls/{GRAPH}");
        let arguments =
            ["--gremlin-port", &port.to_string(), "--gremlin-login", "off", "--gremlin-alias", &alias];
        setup.place.server_arguments.extend(arguments.map(str::to_owned));
        let servers = Servers::in_folder(&setup, env, Folder::Temporary(folder(&setup)?))?;
        let server = servers.start("gremlin")?;
        Ok(Own { servers, server, gremlin: SocketAddr::from((Ipv4Addr::LOCALHOST, port)) })
    }

    /// Lets the program import the elements as items.
    fn load(&self, setup: &Setup, people: &People) -> Result<()> {
        let (servers, server) = (&self.servers, &self.server);
        servers.ask(server, "POST", Target::Databases, &[], &format!("{{\"id\":\"{DATABASE}\"}}"))?;
        servers.ask(server, "POST", Target::Containers(DATABASE), &[THROUGHPUT], DEFINITION)?;
        let folder = folder(setup)?;
        let path = folder.path().join("items.jsonl");
        let mut file = BufWriter::new(File::create(&path).context("cannot make the file of items")?);
        people.write_items(&mut file)?;
        file.flush().context("cannot write the file of items")?;
        let output = Command::new(servers.launch("gremlin").binary)
            .args(["import", "--database", DATABASE, "--container", GRAPH, "--progress", "off"])
            .args(["--connections", LOADERS, "--endpoint", &format!("http://{}/", server.address)])
            .arg(&path)
            .stdin(Stdio::null())
            .output()
            .context("cannot run the importer")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the importer ended with {}: {said}", output.status);
        Ok(())
    }
}
