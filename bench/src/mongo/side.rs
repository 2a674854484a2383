//! Those who are measured: each a process, or a few, with the documents in it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_crash::http_client::Connection;
use armilla_crash::process_figures;
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;
use armilla_rest_wire::well_known;
use armilla_workload::{CpuClock, FamilyCpu, Worker};
use tokio::runtime::Runtime;

use super::Who;
use super::cases::Task;
use super::connection::User;
use super::documents::{Documents, Drawn};
use super::peers::Peer;
use super::postgres::Postgres;
use super::sql;
use super::wire::{self, Manner};
use crate::queries::resting::{METRICS_REQUEST, jobs, wait_for_rest};
use crate::server::{Folder, Servers, Setup, folder, free_port};

/// Whom the server of our own knows, by the key that it is started with.
const USER: User = User { name: "localhost", password: well_known::COSMOS_KEY };

/// How long a peer rests that does not say when it does.
const PEER_REST: Duration = Duration::from_secs(2);

/// Connections that load our own server; peers are loaded over one, since SQLite has one writer.
const LOADERS: usize = 8;

enum Process {
    /// Our own, through MongoDB's protocol.
    Armilla(Box<Own>),
    /// Our own, through HTTP.
    ArmillaSql(Box<Own>),
    Peer(Peer),
    Postgres(Box<Postgres>),
}

/// A server of our own, and what started it.
struct Own {
    servers: Servers,
    server: ServerProcess,
    mongo: SocketAddr,
}

/// One of them.
pub(super) struct Side {
    pub(super) who: Who,
    env: Env,
    process: Process,
    pub(super) runtime: Runtime,
    manner: Manner,
}

impl Side {
    /// Starts one and loads the documents; `None` where it is not installed.
    pub(super) fn load(
        who: Who,
        env: &Env,
        setup: &Setup,
        peers: &Path,
        documents: Documents,
    ) -> Result<Option<Side>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut manner = Manner { user: None, retryable: false, loaders: LOADERS };
        let process = match who {
            Who::Armilla | Who::ArmillaRetryable => {
                manner.user = Some(USER);
                manner.retryable = who == Who::ArmillaRetryable;
                let own = Own::start(setup, env)?;
                wire::load(env, &runtime, own.mongo, manner, documents)?;
                Process::Armilla(Box::new(own))
            }
            Who::ArmillaSql => {
                let own = Own::start(setup, env)?;
                sql::load(&own.servers, &own.server, documents)?;
                Process::ArmillaSql(Box::new(own))
            }
            Who::FerretDb | Who::FerretDbMended | Who::MongoJavaServer => {
                let Some(peer) = Peer::start(who, peers, folder(setup)?)? else { return Ok(None) };
                manner.loaders = 1;
                wire::load(env, &runtime, peer.address, manner, documents)?;
                Process::Peer(peer)
            }
            Who::Postgres => match Postgres::load(env, &runtime, folder(setup)?, documents)? {
                Some(postgres) => Process::Postgres(Box::new(postgres)),
                None => return Ok(None),
            },
        };
        Ok(Some(Side { who, env: env.clone(), process, runtime, manner }))
    }

    /// Opens a connection that does something over and over.
    pub(super) fn worker(&self, task: Task, drawn: Drawn) -> Result<Box<dyn Worker>> {
        let (env, runtime) = (&self.env, &self.runtime);
        match &self.process {
            Process::Armilla(own) => wire::worker(env, runtime, own.mongo, self.manner, task, drawn),
            Process::ArmillaSql(own) => sql::worker(env, runtime, own.server.address, task, drawn),
            Process::Peer(peer) => wire::worker(env, runtime, peer.address, self.manner, task, drawn),
            Process::Postgres(postgres) => postgres.worker(runtime, task, drawn),
        }
    }

    /// Waits until nothing is done in the background, as far as that can be told.
    pub(super) fn rest(&self) -> Result<()> {
        match &self.process {
            Process::Armilla(own) | Process::ArmillaSql(own) => {
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
            Process::Postgres(postgres) => postgres.rest(&self.runtime),
        }
    }

    fn pid(&self) -> Result<u32> {
        match &self.process {
            Process::Armilla(own) | Process::ArmillaSql(own) => Ok(own.server.pid()),
            Process::Peer(peer) => Ok(peer.pid()),
            Process::Postgres(postgres) => postgres.server.pid(),
        }
    }

    /// Returns the processor time so far, that of children included.
    pub(super) fn cpu_time(&self) -> Result<Duration> {
        process_figures::family_cpu_time(self.pid()?)
    }

    pub(super) fn cpu_clock(&self) -> Result<Box<dyn CpuClock>> {
        Ok(Box::new(FamilyCpu::of(self.pid()?)))
    }

    /// Returns the memory that it holds now.
    pub(super) fn resident(&self) -> Result<u64> {
        process_figures::family_resident(self.pid()?)
    }

    /// Ends it.
    pub(super) fn stop(self) -> Result<()> {
        match self.process {
            Process::Armilla(own) | Process::ArmillaSql(own) => own.servers.stop(own.server),
            Process::Peer(_) | Process::Postgres(_) => Ok(()),
        }
    }
}

impl Own {
    fn start(setup: &Setup, env: &Env) -> Result<Own> {
        let port = free_port()?;
        let mut setup = setup.clone();
        setup.place.server_arguments.extend(["--mongo-port".to_owned(), port.to_string()]);
        let servers = Servers::in_folder(&setup, env, Folder::Temporary(folder(&setup)?))?;
        let server = servers.start("mongo")?;
        Ok(Own { servers, server, mongo: SocketAddr::from((Ipv4Addr::LOCALHOST, port)) })
    }
}
