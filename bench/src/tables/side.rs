//! Those who are measured: each a process, or a few, with the entities in it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use armilla_crash::process_figures;
use armilla_crash::server_process::ServerProcess;
use armilla_env::Env;

use super::Who;
use super::azurite::{Azurite, Persistence};
use super::client::{self, Drive};
use super::workload::{Case, Entities};
use crate::bare_server::BareServer;
use crate::measure::{Measurement, measure_with};
use crate::server::{Answered, Folder, Servers, Setup, folder, free_port};

/// One good answer to each case.
pub(super) type Samples = Vec<(Case, Answered)>;

/// Hundredths of a sample's length that every answer must have: etags and keys vary a little.
const LENGTH_PERCENT_LEAST: usize = 90;

enum Process {
    Armilla(Box<Armilla>),
    Azurite(Azurite),
    /// One for each case, since each has its own answer.
    Bare(Vec<(Case, BareServer)>),
}

/// The server, and what started it.
struct Armilla {
    servers: Servers,
    server: ServerProcess,
}

/// One of them.
pub(super) struct Side {
    pub(super) who: Who,
    process: Process,
    address: SocketAddr,
    entities: Entities,
    /// Bytes of a good answer, by case.
    body_bytes: Vec<(Case, usize)>,
    /// Measurements so far.
    measured: u64,
}

impl Side {
    /// Starts the server on a new folder and loads the entities through its Table API.
    pub(super) fn armilla(setup: &Setup, env: &Env, entities: Entities) -> Result<Side> {
        let port = free_port()?;
        let mut setup = setup.clone();
        let flags = ["--storage-table-port", &port.to_string(), "--table-port", "off"].map(str::to_owned);
        setup.place.server_arguments.extend(flags);
        let servers = Servers::in_folder(&setup, env, Folder::Temporary(folder(&setup)?))?;
        let server = servers.start("tables")?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let process = Process::Armilla(Box::new(Armilla { servers, server }));
        Side::loaded(Who::Armilla, process, address, env, entities)
    }

    /// Starts azurite and loads the entities.
    pub(super) fn azurite(
        who: Who,
        program: &Path,
        persistence: Persistence,
        setup: &Setup,
        env: &Env,
        entities: Entities,
    ) -> Result<Side> {
        let azurite = Azurite::start(program, persistence, setup)?;
        let address = azurite.address;
        Side::loaded(who, Process::Azurite(azurite), address, env, entities)
    }

    fn loaded(
        who: Who,
        process: Process,
        address: SocketAddr,
        env: &Env,
        entities: Entities,
    ) -> Result<Side> {
        eprintln!("loading {}", who.name());
        client::load(env, address, entities).with_context(|| format!("cannot load {}", who.name()))?;
        Ok(Side { who, process, address, entities, body_bytes: Vec::new(), measured: 0 })
    }

    /// Starts servers that answer what another answered.
    pub(super) fn bare(setup: &Setup, entities: Entities, samples: &Samples) -> Result<Side> {
        let mut servers = Vec::new();
        for (case, answer) in samples {
            servers.push((*case, BareServer::start(setup, &answer.headers, &answer.body)?));
        }
        let address = servers.first().context("there is nothing to measure")?.1.address;
        let body_bytes = lengths(samples);
        Ok(Side {
            who: Who::Bare,
            process: Process::Bare(servers),
            address,
            entities,
            body_bytes,
            measured: 0,
        })
    }

    /// Asks once for each case, looks closely at the answers, and returns them.
    pub(super) fn samples(&mut self, env: &Env, cases: &[Case]) -> Result<Samples> {
        let mut samples = Vec::new();
        for case in cases {
            let answer = client::sample(env, self.address, self.entities, *case)
                .with_context(|| format!("cannot measure {}", self.who.name()))?;
            samples.push((*case, answer));
        }
        self.body_bytes = lengths(&samples);
        Ok(samples)
    }

    /// Measures a case over so many connections.
    pub(super) fn measure(
        &mut self,
        env: &Env,
        case: Case,
        connections: usize,
        seconds: f64,
    ) -> Result<Measurement> {
        let number = self.measured;
        self.measured += 1;
        let body_bytes = self.body_bytes.iter().find(|(own, _)| *own == case).map_or(0, |(_, bytes)| *bytes);
        let bare = match &self.process {
            Process::Bare(servers) => servers.iter().find(|(own, _)| *own == case).map(|(_, server)| server),
            Process::Armilla(_) | Process::Azurite(_) => None,
        };
        let drive = Drive {
            address: bare.map_or(self.address, |server| server.address),
            case,
            entities: self.entities,
            connections,
            seconds,
            number,
            // The bare server has one status.
            status: if bare.is_some() { 200 } else { case.status() },
            body_bytes_least: body_bytes * LENGTH_PERCENT_LEAST / 100,
        };
        eprint!("  {}, {connections} connections:", self.who.name());
        let cpu_time = || match bare {
            Some(server) => process_figures::cpu_time(server.pid()),
            None => self.cpu_time(),
        };
        measure_with(env, case.name(), cpu_time, || drive.run(env))
    }

    fn cpu_time(&self) -> Result<Duration> {
        self.pids().into_iter().try_fold(Duration::ZERO, |sum, pid| Ok(sum + process_figures::cpu_time(pid)?))
    }

    fn pids(&self) -> Vec<u32> {
        match &self.process {
            Process::Armilla(own) => vec![own.server.pid()],
            Process::Azurite(azurite) => vec![azurite.pid()],
            Process::Bare(servers) => servers.iter().map(|(_, server)| server.pid()).collect(),
        }
    }

    /// Returns the memory that it holds now.
    pub(super) fn resident(&self) -> Result<u64> {
        self.pids().into_iter().try_fold(0, |sum, pid| Ok(sum + process_figures::memory(pid)?.resident))
    }

    /// Ends it.
    pub(super) fn stop(self) -> Result<()> {
        match self.process {
            Process::Armilla(own) => own.servers.stop(own.server),
            Process::Azurite(_) | Process::Bare(_) => Ok(()),
        }
    }
}

fn lengths(samples: &Samples) -> Vec<(Case, usize)> {
    samples.iter().map(|(case, answer)| (*case, answer.body.len())).collect()
}
