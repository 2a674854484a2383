//! Where a case plays: a server of its own, and the means to attack it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use armilla_crash::http_client::Connection;
use armilla_crash::server_process::{Launch, ServerProcess};
use armilla_env::{Env, Random};
use armilla_rest_wire::well_known;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::request::{Answer, Caller, READ_ONLY_KEY, Request};
use crate::watch::{Figures, Watch};

/// How long an answer may take that a case waits for, unless it says otherwise.
pub const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// How the addresses of APIs begin that the server tells only there.
const MONGO_URL: &str = "mongodb://localhost:";
const GREMLIN_URL: &str = "wss://localhost:";

/// What all cases have in common.
#[derive(Clone)]
pub struct Ground {
    /// The server program.
    pub binary: PathBuf,
    /// The folder that has a folder for each case.
    pub folder: PathBuf,
    /// Time.
    pub env: Env,
    /// What choices follow from.
    pub seed: u64,
    /// How many scripts to generate, if that was said.
    pub scripts: Option<u64>,
    /// Whether there is time for much.
    pub is_long: bool,
    /// How long the probe may wait.
    pub probe_bound: Duration,
}

/// A server under attack.
pub struct Stage {
    ground: Ground,
    launch: Launch,
    server: Mutex<Option<ServerProcess>>,
    address: SocketAddr,
    table_address: SocketAddr,
    mongo_address: SocketAddr,
    gremlin_address: SocketAddr,
    pid: u32,
    watch: Option<Watch>,
}

impl Stage {
    /// Starts a server with the usual arguments and some more, and the probe of it.
    pub async fn open(ground: &Ground, name: &str, arguments: &[&str]) -> Result<Stage> {
        let folder = ground.folder.join(name);
        std::fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let usual = ["--throttle", "off", "--table-port", "0", "--read-only-key", READ_ONLY_KEY];
        let launch = Launch {
            binary: ground.binary.clone(),
            data_dir: folder.join("data"),
            log: folder.join("server.log"),
            arguments: usual.iter().chain(arguments).map(ToString::to_string).collect(),
            store: None,
        };
        let server = launch.start(&ground.env).await?;
        let mut stage = Stage {
            ground: ground.clone(),
            address: server.address,
            table_address: server.table_address.context("the server has no port for the Table API")?,
            mongo_address: address_after(&launch.log_since(0)?, MONGO_URL)
                .context("the server has no port for the MongoDB API")?,
            gremlin_address: address_after(&launch.log_since(0)?, GREMLIN_URL)
                .context("the server has no port for the Gremlin API")?,
            pid: server.pid(),
            server: Mutex::new(Some(server)),
            launch,
            watch: None,
        };
        stage.watch = Some(Watch::begin(&stage, ground.probe_bound).await?);
        Ok(stage)
    }

    /// Where the SQL API is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where the Table API is.
    pub fn table_address(&self) -> SocketAddr {
        self.table_address
    }

    /// Where the MongoDB API is.
    pub fn mongo_address(&self) -> SocketAddr {
        self.mongo_address
    }

    /// Where the Gremlin API is.
    pub fn gremlin_address(&self) -> SocketAddr {
        self.gremlin_address
    }

    /// The process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Time.
    pub fn env(&self) -> &Env {
        &self.ground.env
    }

    /// How this server was started, for cases that start others.
    pub fn launch(&self) -> &Launch {
        &self.launch
    }

    /// Returns a generator of choices for one part of a case.
    pub fn random(&self, part: u64) -> Random {
        Random::of_part(self.ground.seed, part)
    }

    /// Returns how many scripts to generate: as many as was said, else a few, or many if there is time.
    pub fn scripts(&self, few: u64, many: u64) -> u64 {
        self.ground.scripts.unwrap_or(if self.ground.is_long { many } else { few })
    }

    /// Returns what was seen of the server until now.
    pub fn figures(&self) -> Figures {
        self.watch().figures()
    }

    /// Returns the probe at work.
    pub fn watch(&self) -> &Watch {
        self.watch.as_ref().expect("a stage that is open is watched")
    }

    /// Somebody with the account's key.
    pub fn master(&self) -> Caller {
        Caller::master()
    }

    /// Somebody with the key that permits reading.
    pub fn read_only(&self) -> Caller {
        Caller::key(READ_ONLY_KEY)
    }

    /// Somebody with the account's key, on the Table API.
    pub fn table(&self) -> Caller {
        Caller::table_key(well_known::COSMOS_KEY)
    }

    /// Asks on a connection of its own.
    pub async fn ask(&self, caller: &Caller, request: &Request) -> Result<Answer> {
        self.ask_within(caller, request, ANSWER_TIMEOUT).await
    }

    /// Asks on a connection of its own, and gives up after a while.
    pub async fn ask_within(&self, caller: &Caller, request: &Request, limit: Duration) -> Result<Answer> {
        let address = if caller.is_of_tables() { self.table_address } else { self.address };
        let bytes = request.compose(caller, address, &self.ground.env);
        let exchange = async {
            let mut connection = Connection::open(address).await?;
            connection.exchange(&bytes).await.map(|reply| Answer::of(&reply))
        };
        let answer = timeout(limit, exchange).await;
        answer
            .with_context(|| format!("no answer to '{}' within {limit:?}", request.what()))?
            .with_context(|| format!("no answer to '{}'", request.what()))
    }

    /// Asks for something that must get one status.
    pub async fn ask_for(&self, caller: &Caller, request: &Request, status: u16) -> Result<Answer> {
        let answer = self.ask(caller, request).await?;
        if answer.status != status {
            bail!(
                "'{}' got {} (sub-status {}), expected {status}: {}",
                request.what(),
                answer.status,
                answer.substatus,
                answer.text()
            );
        }
        Ok(answer)
    }

    /// Makes a container, and its database if that is not there.
    pub async fn create_container(&self, database: &str, container: &str, partition_key: &str) -> Result<()> {
        let request = Request::post("/dbs", &format!("{{\"id\":\"{database}\"}}"));
        let answer = self.ask(&self.master(), &request).await?;
        if !matches!(answer.status, 201 | 409) {
            bail!("'{}' got {}: {}", request.what(), answer.status, answer.text());
        }
        let body = format!(
            "{{\"id\":\"{container}\",\"partitionKey\":{{\"paths\":[\"{partition_key}\"],\"kind\":\"Hash\",\"version\":2}}}}"
        );
        let request = Request::post(&format!("/dbs/{database}/colls"), &body);
        self.ask_for(&self.master(), &request, 201).await?;
        Ok(())
    }

    /// Takes the server out, for cases that end it. The probe stops: that it ends is no fault then.
    pub async fn take_server(&self) -> Result<ServerProcess> {
        self.watch().end();
        self.server.lock().await.take().context("the server was taken already")
    }

    /// Ends the server, and returns what was seen and what was wrong.
    pub async fn close(mut self) -> Result<(Figures, Vec<String>)> {
        let watch = self.watch.take().context("a stage that is open is watched")?;
        let (figures, mut complaints) = tokio::task::spawn_blocking(move || watch.finish()).await?;
        if let Some(mut server) = self.server.lock().await.take() {
            match server.has_ended()? {
                Some(status) => complaints.push(format!("the server ended with {status}")),
                None => server.kill().await?,
            }
        }
        complaints.extend(self.launch.log_complaints(0)?);
        Ok((figures, complaints))
    }
}

/// Finds the port behind the beginning of an address in what the server says when it begins.
fn address_after(log: &str, url: &str) -> Option<SocketAddr> {
    let (_, rest) = log.split_once(url)?;
    let digits = rest.split(|character: char| !character.is_ascii_digit()).next()?;
    Some(SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, digits.parse().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_found() {
        let log = "  MongoDB   mongodb://localhost:42723/\n  Gremlin   wss://localhost:38203/  or  ws://localhost:38203/\n";
        let port = |url| address_after(log, url).map(|address| address.port());
        assert_eq!((port(MONGO_URL), port(GREMLIN_URL)), (Some(42723), Some(38203)));
        assert_eq!(address_after("nothing", MONGO_URL), None);
    }
}
