//! Azurite's table service as a child process, in memory or with its file.
//!
//! It is not installed from here: whoever wants the comparison has it, and says where.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::server::{Setup, folder, free_port};

/// What to say to whoever did not say where it is.
pub(super) const HOW_TO_GET: &str =
    "get it with `npm install azurite@3.37.0` and give --azurite node_modules/.bin/azurite-table";

/// Longest time that a start may take.
const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// What it says when it listens.
const READY: &str = "successfully started";

/// Where it keeps entities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Persistence {
    /// In memory alone.
    Memory,
    /// In memory, and now and then in a file.
    File,
}

/// A running azurite. It is killed when it is dropped.
pub(super) struct Azurite {
    child: Child,
    /// Where it listens.
    pub(super) address: SocketAddr,
    _folder: TempDir,
}

impl Azurite {
    /// Starts one on a new folder.
    pub(super) fn start(program: &Path, persistence: Persistence, setup: &Setup) -> Result<Azurite> {
        let folder = folder(setup)?;
        let log = folder.path().join("stderr.log");
        let port = free_port()?;
        // It runs in its folder, from which a relative path would lead elsewhere.
        let program = std::path::absolute(program)?;
        let mut command = Command::new(&program);
        command
            .args(["--tableHost", "127.0.0.1", "--tablePort", &port.to_string()])
            .args(["--silent", "--disableTelemetry", "--skipApiVersionCheck"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).context("cannot make a log")?);
        match persistence {
            Persistence::Memory => command.arg("--inMemoryPersistence"),
            Persistence::File => command.arg("--location").arg(folder.path()),
        };
        let mut child =
            command.spawn().with_context(|| format!("cannot start {}; {HOW_TO_GET}", program.display()))?;
        let stdout = child.stdout.take().context("azurite's output is not connected")?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let azurite = Azurite { child, address, _folder: folder };
        let (ready, wait) = mpsc::channel();
        // Read to its end, so that it never waits for a reader.
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if line.contains(READY) {
                    // Nobody waits any more if it took too long.
                    let _ = ready.send(());
                }
            }
        });
        wait.recv_timeout(READY_TIMEOUT).map_err(|_| {
            let text = std::fs::read_to_string(&log).unwrap_or_default();
            anyhow::anyhow!("azurite does not start: {}", text.trim_end())
        })?;
        Ok(azurite)
    }

    /// Returns the process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Azurite {
    fn drop(&mut self) {
        // It may have ended already; there is nothing else to do about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the version that a program is of.
pub(super) fn version(program: &Path) -> Result<String> {
    let output = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}; {HOW_TO_GET}", program.display()))?;
    ensure!(output.status.success(), "{} --version ended with {}", program.display(), output.status);
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
