//! A real `armilla` process on a data folder of its own: what starts and ends it (`launcher`), for tasks that have others
//! beside them, with its log in a file and checks of its folder.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use armilla_env::Env;
use armilla_launcher::{LogTo, READY_TIMEOUT, Signal, Starting, command};
use tokio::time::timeout;

pub use armilla_launcher::{NotReady, sibling_program};

/// Longest time that a check may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(120);

/// How long others wait for a server that was killed, with an object store: the least there is.
const LEASE_SECONDS: &str = "2";

/// How a server is started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub binary: PathBuf,
    /// Its data folder.
    pub data_dir: PathBuf,
    /// The file that its log is appended to.
    pub log: PathBuf,
    /// Further arguments.
    pub arguments: Vec<String>,
    /// Where the account lies instead of the data folder, by the URL of an object store.
    pub store: Option<String>,
}

/// A server that has said that it is ready. It is killed when it is dropped.
pub struct ServerProcess {
    process: armilla_launcher::ServerProcess,
    /// Where it listens.
    pub address: SocketAddr,
    /// Where it listens for the Table API, if it does.
    pub table_address: Option<SocketAddr>,
    /// What it says that its start took.
    pub start_ms: u64,
    /// What its start took as seen from here, with loading the program.
    pub ready_after: Duration,
}

/// What `armilla check` said.
#[derive(Debug)]
pub struct CheckOutcome {
    /// How it ended.
    pub status: ExitStatus,
    /// Everything it printed.
    pub output: String,
    /// How long it took.
    pub took: Duration,
}

impl Launch {
    /// Returns the call that starts a server.
    fn command(&self) -> Command {
        let mut command = command(&self.binary);
        command.args(["--port", "0", "--data-dir"]).arg(&self.data_dir).args(&self.arguments);
        if let Some(store) = &self.store {
            command.args(["--store", store, "--lease-seconds", LEASE_SECONDS]);
        }
        command
    }

    /// Starts a process without waiting for it.
    pub fn spawn(&self) -> Result<Starting> {
        Starting::spawn(self.command(), LogTo::File(&self.log))
    }

    /// Starts a server and waits until it is ready.
    pub async fn start(&self, env: &Env) -> Result<ServerProcess> {
        let begin = env.clock.elapsed();
        let starting = self.spawn()?;
        let process = on_blocking_thread(move || starting.wait_until_ready(READY_TIMEOUT)).await?;
        let ready_after = env.clock.elapsed() - begin;
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let ready = process.ready();
        Ok(ServerProcess {
            address: address(ready.port("sql").context("the server gives no port")?),
            table_address: ready.port("table").map(address),
            start_ms: ready.start_ms().context("the server does not say how long its start took")?,
            ready_after,
            process,
        })
    }

    /// Runs `armilla check` on a folder, or on the object store.
    pub async fn check(&self, env: &Env, data_dir: &Path) -> Result<CheckOutcome> {
        let begin = env.clock.elapsed();
        let mut command = command(&self.binary);
        match &self.store {
            Some(store) => command.args(["check", "--store", store]),
            None => command.args(["check", "--data-dir"]).arg(data_dir),
        };
        let running = tokio::process::Command::from(command).stdin(Stdio::null()).kill_on_drop(true).output();
        let output = timeout(CHECK_TIMEOUT, running)
            .await
            .map_err(|_| anyhow!("the check did not end within {CHECK_TIMEOUT:?}"))?
            .with_context(|| format!("cannot start {}", self.binary.display()))?;
        let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(CheckOutcome { status: output.status, output: text, took: env.clock.elapsed() - begin })
    }

    /// Returns how long the log is.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |metadata| metadata.len())
    }

    /// Returns the log from some byte on.
    pub fn log_since(&self, start: u64) -> Result<String> {
        let mut file =
            File::open(&self.log).with_context(|| format!("cannot open {}", self.log.display()))?;
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Finds what must not be in the log, from some byte on, of a server that was only killed.
    pub fn log_complaints(&self, start: u64) -> Result<Vec<String>> {
        Ok(complaints(&self.log_since(start)?))
    }
}

impl CheckOutcome {
    /// Says what the check found, if it found anything.
    pub fn failure(&self) -> Option<String> {
        const CHARACTERS_MAX: usize = 1_000;
        if self.status.success() {
            return None;
        }
        let output: String = self.output.chars().take(CHARACTERS_MAX).collect();
        Some(format!("armilla check ended with {}: {output}", self.status))
    }
}

impl ServerProcess {
    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Kills the process (SIGKILL) and waits until it is gone.
    pub async fn kill(self) -> Result<()> {
        on_blocking_thread(move || self.process.kill()).await
    }

    /// Asks the process to end (SIGTERM) without waiting for it.
    pub fn ask_to_end(&mut self) -> Result<()> {
        self.process.signal(Signal::Terminate)
    }

    /// Asks the process to end (SIGTERM) and waits until it has.
    pub async fn terminate(self) -> Result<ExitStatus> {
        on_blocking_thread(move || self.process.stop()).await
    }

    /// Says whether the process has ended by itself.
    pub fn has_ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process.has_ended()
    }
}

/// Waits for a server where no other task waits behind it.
async fn on_blocking_thread<T: Send + 'static>(
    wait: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(wait).await.context("waiting for the server ended unexpectedly")?
}

fn complaints(log: &str) -> Vec<String> {
    const LINES_MAX: usize = 5;
    log.lines()
        .filter(|line| line.contains("ERROR") || line.contains("panicked"))
        .take(LINES_MAX)
        .map(|line| format!("the server's log says: {line}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_lines_of_a_log() {
        let log = "2025 INFO a\n2025 ERROR b\nthread 'x' panicked at y\n2025 WARN c\n";
        assert_eq!(complaints(log).len(), 2);
        assert!(complaints("2025 INFO fine\n").is_empty());
    }
}
