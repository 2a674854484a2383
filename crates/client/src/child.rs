//! A server of our own: this same program, started for a while on a free port.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use armilla_launcher::{LogTo, READY_TIMEOUT, ServerProcess, command};

use crate::options::ServerOptions;

/// A server of our own, which does not outlive this value.
#[derive(Debug)]
pub struct Child {
    program: PathBuf,
    arguments: Vec<OsString>,
    process: Option<ServerProcess>,
    port: u16,
    /// The address, over TLS.
    endpoint: String,
}

impl Child {
    /// Starts this program as a server with arguments such as `--data-dir` or `--memory`, and waits until it is ready.
    /// Its port is a free one; it stays the same through restarts.
    pub fn start<A: AsRef<OsStr>>(arguments: &[A]) -> Result<Child> {
        let program = std::env::current_exe().context("cannot tell which program this is")?;
        Child::start_program(&program, arguments)
    }

    /// Starts another program than this one.
    pub fn start_program<A: AsRef<OsStr>>(program: &Path, arguments: &[A]) -> Result<Child> {
        let mut child = Child {
            program: program.to_owned(),
            arguments: arguments.iter().map(|argument| argument.as_ref().to_owned()).collect(),
            process: None,
            port: 0,
            endpoint: String::new(),
        };
        child.launch()?;
        Ok(child)
    }

    /// Returns how to reach the server, over TLS.
    pub fn server_options(&self) -> ServerOptions {
        ServerOptions { endpoint: Some(self.endpoint.clone()), ..ServerOptions::default() }
    }

    /// Returns how to reach the server without TLS.
    pub fn plain_server_options(&self) -> ServerOptions {
        let endpoint = self.endpoint.replacen("https", "http", 1);
        ServerOptions { endpoint: Some(endpoint), ..ServerOptions::default() }
    }

    /// Asks the server to end (SIGTERM), and waits until it has.
    pub fn stop(&mut self) -> Result<()> {
        let Some(process) = self.process.take() else { return Ok(()) };
        let status = process.stop()?;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }

    /// Starts the server again with the same arguments and on the same port; one that runs is ended first (SIGKILL).
    pub fn restart(&mut self) -> Result<()> {
        if let Some(process) = self.process.take() {
            process.kill()?;
        }
        self.launch()
    }

    fn launch(&mut self) -> Result<()> {
        let mut command = command(&self.program);
        command.args(["--port", &self.port.to_string(), "--table-port", "off"]).args(&self.arguments);
        let process = ServerProcess::start(command, LogTo::Memory, READY_TIMEOUT)?;
        let ready = process.ready();
        self.port = ready.port("sql").context("the server gives no port")?;
        ready.value("sql").context("the server gives no address")?.clone_into(&mut self.endpoint);
        self.process = Some(process);
        Ok(())
    }
}
