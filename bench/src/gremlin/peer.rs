//! TinkerPop's own server with a graph in memory, a process of its own on a port of this machine.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use tempfile::TempDir;

use super::people::People;
use crate::server::free_port;

/// How long it may take to load the graph and listen, and how often that is looked at.
const START_MAX: Duration = Duration::from_secs(120);
const STEP: Duration = Duration::from_millis(100);

/// Its heap: it holds the graph in a sixth of that.
const HEAP: &str = "-Xmx2g";

/// Files of its folder that are its own; the first has the word PORT in it.
const FILES: [&str; 3] = ["server.yaml", "graph.properties", "load.groovy"];

/// A running peer. It is killed when it is dropped.
pub(super) struct Peer {
    child: Child,
    pub(super) address: SocketAddr,
    /// What it was loaded from, which goes with it.
    _folder: TempDir,
}

impl Peer {
    /// Starts it from the folder of peers and lets it load the graph; `None` where it is not there.
    pub(super) fn start(peers: &Path, folder: TempDir, people: &People) -> Result<Option<Peer>> {
        if !peers.join("java").is_dir() || FILES.iter().any(|file| !peers.join(file).is_file()) {
            return Ok(None);
        }
        let port = free_port()?;
        for file in FILES {
            let text =
                std::fs::read_to_string(peers.join(file)).with_context(|| format!("cannot read {file}"))?;
            std::fs::write(folder.path().join(file), text.replace("PORT", &port.to_string()))
                .with_context(|| format!("cannot write {file}"))?;
        }
        let make = |name: &str| File::create(folder.path().join(name)).map(BufWriter::new);
        let (mut vertices, mut edges) = (make("vertices")?, make("edges")?);
        people.write_words(&mut vertices, &mut edges)?;
        vertices.flush()?;
        edges.flush()?;
        let log = File::create(folder.path().join("log"))?;
        let child = Command::new("java")
            .arg(HEAP)
            .arg("-cp")
            .arg(peers.join("java").join("*"))
            .args(["org.apache.tinkerpop.gremlin.server.GremlinServer", "server.yaml"])
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn();
        let child = match child {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            child => child.context("cannot start java")?,
        };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut peer = Peer { child, address, _folder: folder };
        let mut waited = Duration::ZERO;
        while TcpStream::connect(address).is_err() {
            if let Some(status) = peer.child.try_wait()? {
                let log = std::fs::read_to_string(peer._folder.path().join("log")).unwrap_or_default();
                bail!("gremlin-server ended with {status}: {log}");
            }
            if waited > START_MAX {
                bail!("gremlin-server does not listen after {} s", START_MAX.as_secs());
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
