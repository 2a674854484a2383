//! A real `armilla` process: started, waited for, checked, ended or killed.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use armilla_env::Env;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Longest time that a start may take: replaying the longest journal takes seconds.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// Longest time that an ending process or a check may take.
const END_TIMEOUT: Duration = Duration::from_secs(120);

/// Bytes of the log that a message quotes.
const LOG_TAIL_BYTES: u64 = 2_000;

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
}

/// A server that has said that it is ready. It is killed when it is dropped.
pub struct ServerProcess {
    child: Child,
    pid: u32,
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
    /// Starts a process without waiting for it.
    pub fn spawn(&self) -> Result<Child> {
        let log = File::options()
            .create(true)
            .append(true)
            .open(&self.log)
            .with_context(|| format!("cannot open {}", self.log.display()))?;
        Command::new(&self.binary)
            .args(["--port", "0", "--data-dir"])
            .arg(&self.data_dir)
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {}", self.binary.display()))
    }

    /// Starts a server and waits until it is ready.
    pub async fn start(&self, env: &Env) -> Result<ServerProcess> {
        let begin = env.clock.elapsed();
        let mut child = self.spawn()?;
        let pid = child.id().context("the server has ended at once")?;
        let stdout = child.stdout.take().context("the server's output is not connected")?;
        let mut lines = BufReader::new(stdout).lines();
        let line = timeout(READY_TIMEOUT, lines.next_line())
            .await
            .map_err(|_| self.failure(&format!("the server was not ready within {READY_TIMEOUT:?}")))?
            .context("cannot read what the server says")?;
        let Some(line) = line else {
            let status = timeout(END_TIMEOUT, child.wait()).await.context("the server hangs")??;
            return Err(self.failure(&format!("the server ended with {status} before it was ready")));
        };
        let ready_after = env.clock.elapsed() - begin;
        let Ready { port, table_port, start_ms } =
            Ready::parse(&line).ok_or_else(|| self.failure(&format!("not a ready line: {line}")))?;
        // The pipe stays open as long as the server lives.
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let (table_address, address) = (table_port.map(address), address(port));
        Ok(ServerProcess { child, pid, address, table_address, start_ms, ready_after })
    }

    /// Runs `armilla check` on a folder.
    pub async fn check(&self, env: &Env, data_dir: &Path) -> Result<CheckOutcome> {
        let begin = env.clock.elapsed();
        let running = Command::new(&self.binary)
            .arg("check")
            .arg("--data-dir")
            .arg(data_dir)
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let output = timeout(END_TIMEOUT, running)
            .await
            .map_err(|_| anyhow!("the check did not end within {END_TIMEOUT:?}"))?
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

    fn failure(&self, message: &str) -> anyhow::Error {
        let tail = self.log_since(self.log_bytes().saturating_sub(LOG_TAIL_BYTES)).unwrap_or_default();
        anyhow!("{message}; its log ends with:\n{tail}")
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
        self.pid
    }

    /// Kills the process (SIGKILL) and waits until it is gone.
    pub async fn kill(mut self) -> Result<()> {
        self.child.start_kill().context("cannot kill the server")?;
        timeout(END_TIMEOUT, self.child.wait()).await.context("a killed server does not end")??;
        Ok(())
    }

    /// Asks the process to end (SIGTERM) and waits until it has.
    pub async fn terminate(mut self) -> Result<ExitStatus> {
        let asked = Command::new("kill").args(["-TERM", &self.pid.to_string()]).status().await;
        if !asked.context("cannot run kill")?.success() {
            bail!("cannot send SIGTERM to the server");
        }
        match timeout(END_TIMEOUT, self.child.wait()).await {
            Ok(status) => Ok(status?),
            Err(_) => bail!("the server did not end within {END_TIMEOUT:?} of SIGTERM"),
        }
    }

    /// Says whether the process has ended by itself.
    pub fn has_ended(&mut self) -> Result<Option<ExitStatus>> {
        Ok(self.child.try_wait()?)
    }
}

fn complaints(log: &str) -> Vec<String> {
    const LINES_MAX: usize = 5;
    log.lines()
        .filter(|line| line.contains("ERROR") || line.contains("panicked"))
        .take(LINES_MAX)
        .map(|line| format!("the server's log says: {line}"))
        .collect()
}

/// What a ready line says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ready {
    port: u16,
    table_port: Option<u16>,
    start_ms: u64,
}

impl Ready {
    fn parse(line: &str) -> Option<Ready> {
        let fields = line.strip_prefix("armilla ready: ")?;
        let field = |name: &str| fields.split(' ').find_map(|field| field.strip_prefix(name));
        let port = |name: &str| field(name)?.trim_end_matches('/').rsplit_once(':')?.1.parse().ok();
        Some(Ready {
            port: port("sql=")?,
            table_port: port("table="),
            start_ms: field("start_ms=")?.parse().ok()?,
        })
    }
}

/// Returns the program that belongs to this one: `armilla` in the same folder.
pub fn sibling_binary() -> Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program")?;
    let binary = own.with_file_name(format!("armilla{}", std::env::consts::EXE_SUFFIX));
    if !binary.exists() {
        bail!("{} is not there: build the package armilla-server first, or give --bin", binary.display());
    }
    Ok(binary)
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

    #[test]
    fn ready_lines() {
        let ready = |port, table_port, start_ms| Some(Ready { port, table_port, start_ms });
        for (line, expected) in [
            (
                "armilla ready: sql=https://localhost:4321/ data=/tmp/x pid=7 start_ms=12",
                ready(4321, None, 12),
            ),
            (
                "armilla ready: sql=https://localhost:1/ data=memory pid=7 start_ms=0 table=https://localhost:2/",
                ready(1, Some(2), 0),
            ),
            ("armilla ready: sql=https://localhost/ data=memory pid=7 start_ms=0", None),
            ("armilla ready: data=memory", None),
            ("ready", None),
        ] {
            assert_eq!(Ready::parse(line), expected, "{line}");
        }
    }
}
