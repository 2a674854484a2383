//! Other servers of MongoDB's protocol, each a process of its own on a port of this machine.

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::Who;
use crate::server::free_port;

/// How long a peer may take to listen, and how often that is looked at.
const START_MAX: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_millis(100);

/// A running peer. It is killed when it is dropped.
pub(super) struct Peer {
    child: Child,
    pub(super) address: SocketAddr,
    /// Its data, which goes with it.
    _folder: TempDir,
}

impl Peer {
    /// Starts a peer from the folder of peers; `None` where it is not there.
    pub(super) fn start(who: Who, peers: &Path, folder: TempDir) -> Result<Option<Peer>> {
        let port = free_port()?;
        let command = match who {
            Who::FerretDb => ferretdb(&peers.join("ferretdb"), port, folder.path()),
            Who::FerretDbMended => ferretdb(&peers.join("ferretdb-mended"), port, folder.path()),
            Who::MongoJavaServer => java(peers, port),
            Who::Armilla | Who::ArmillaRetryable | Who::ArmillaSql | Who::Postgres => None,
        };
        let Some(mut command) = command else { return Ok(None) };
        let child = command
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", who.name()))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut peer = Peer { child, address, _folder: folder };
        let mut waited = Duration::ZERO;
        while TcpStream::connect(address).is_err() {
            if let Some(status) = peer.child.try_wait()? {
                bail!("{} ended with {status}", who.name());
            }
            if waited > START_MAX {
                bail!("{} does not listen after {} s", who.name(), START_MAX.as_secs());
            }
            std::thread::sleep(STEP);
            waited += STEP;
        }
        Ok(Some(peer))
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may have ended already; there is nothing else to do about it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// FerretDB over SQLite, which by itself syncs with every commit.
fn ferretdb(program: &Path, port: u16, folder: &Path) -> Option<Command> {
    if !program.is_file() {
        return None;
    }
    let mut command = Command::new(program);
    command
        .args(["--handler=sqlite", "--telemetry=disable", "--debug-addr=-", "--log-level=error"])
        .arg(format!("--sqlite-url=file:{}/", folder.display()))
        .arg(format!("--state-dir={}", folder.display()))
        .arg(format!("--listen-addr=127.0.0.1:{port}"));
    Some(command)
}

/// mongo-java-server, by a program of ten lines that Java compiles as it starts.
fn java(peers: &Path, port: u16) -> Option<Command> {
    let program = peers.join("MongoJavaServer.java");
    if !program.is_file() {
        return None;
    }
    let mut command = Command::new("java");
    command.arg("-cp").arg(peers.join("java").join("*")).arg(program).arg(port.to_string());
    Some(command)
}
