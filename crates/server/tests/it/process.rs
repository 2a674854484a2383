//! Starts and stops the program under test.

use std::fs;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output};
use std::time::Duration;

use armilla_launcher::{LogTo, ServerProcess, Signal};
use tempfile::TempDir;

use crate::http::{self, Response};

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Returns a call of the program that knows nothing of the environment's settings.
pub(crate) fn armilla() -> Command {
    armilla_launcher::command(env!("CARGO_BIN_EXE_armilla"))
}

/// Runs the program to its end.
pub(crate) fn run(arguments: &[&str]) -> Output {
    armilla().args(arguments).output().unwrap()
}

/// Asserts that a run failed with exit code 1 and one line on standard error; returns the line.
#[track_caller]
pub(crate) fn failure_line(output: &Output) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(output.stdout.is_empty());
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_string()
}

/// A server that is ready.
pub(crate) struct Server {
    process: ServerProcess,
    log: PathBuf,
    folder: TempDir,
}

impl Server {
    /// Starts a server on a free port with a new data folder.
    pub(crate) fn start(arguments: &[&str]) -> Server {
        Server::start_in(tempfile::tempdir().unwrap(), arguments, |_| {})
    }

    /// Starts a server in a folder of its own, with a say in the environment.
    pub(crate) fn start_in(
        folder: TempDir,
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> Server {
        Server::start_by(armilla(), folder, arguments, prepare)
    }

    /// Starts a server by a command that becomes the program.
    pub(crate) fn start_by(
        mut command: Command,
        folder: TempDir,
        arguments: &[&str],
        prepare: impl FnOnce(&mut Command),
    ) -> Server {
        let log = folder.path().join("stderr.log");
        command.current_dir(folder.path()).args(arguments).env("NO_COLOR", "1");
        if !arguments.contains(&"--port") && !arguments.contains(&"--config") {
            command.args(["--port", "0"]);
        }
        prepare(&mut command);
        // Of this start alone.
        fs::write(&log, "").unwrap();
        let process = ServerProcess::start(command, LogTo::File(&log), PATIENCE).unwrap();
        Server { process, log, folder }
    }

    /// Returns the ready line.
    pub(crate) fn ready(&self) -> &str {
        self.process.ready().line()
    }

    /// Returns a value of the ready line.
    pub(crate) fn ready_value(&self, key: &str) -> &str {
        self.process.ready().value(key).unwrap()
    }

    /// Returns the port of the SQL API.
    pub(crate) fn port(&self) -> u16 {
        self.port_of("sql")
    }

    /// Returns the port of an API, by its name in the ready line.
    pub(crate) fn port_of(&self, api: &str) -> u16 {
        self.process.ready().port(api).unwrap()
    }

    /// Returns the folder in which the server was started.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Opens a connection to the SQL API.
    pub(crate) fn connect(&self) -> TcpStream {
        self.connect_to("sql")
    }

    /// Opens a connection to an API, by its name in the ready line.
    pub(crate) fn connect_to(&self, api: &str) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port_of(api))).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes on a new connection and reads one response.
    pub(crate) fn exchange(&self, request: &[u8]) -> Response {
        http::exchange(&mut self.connect(), request)
    }

    /// Asserts that the server answers, and complained of nothing.
    #[track_caller]
    pub(crate) fn assert_well(&self) {
        let response = self.exchange(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n");
        assert_eq!((response.status, response.body.as_str()), (200, r#"{"status":"ok"}"#));
        let log = self.log();
        for word in ["WARN", "ERROR", "panicked"] {
            assert!(!log.contains(word), "{log}");
        }
    }

    /// Returns what the server has written to standard error.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    /// Returns the value of a figure without labels.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let text = self.exchange(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").body;
        let value = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
        value.unwrap_or_else(|| panic!("no {name} in {text}")).parse().unwrap()
    }

    /// Returns the id of the process.
    pub(crate) fn id(&self) -> u32 {
        self.process.pid()
    }

    /// Sends a signal.
    pub(crate) fn signal(&mut self, signal: Signal) {
        self.process.signal(signal).unwrap();
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let status = self.process.wait(PATIENCE).unwrap();
        status.unwrap_or_else(|| panic!("the server does not end: {}", self.log()))
    }

    /// Stops the server as an operator would, and gives back its folder.
    pub(crate) fn stop(mut self) -> TempDir {
        self.signal(Signal::Terminate);
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "{}", self.log());
        self.into_folder()
    }

    /// Gives back the folder of a server that has ended.
    pub(crate) fn into_folder(self) -> TempDir {
        self.folder
    }
}
