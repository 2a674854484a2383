//! Starts and stops the program under test.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Duration;

use armilla_env::Env;
use tempfile::TempDir;

use crate::http::{self, Response};

/// How long anything may take before a test gives up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Returns a call of the program that knows nothing of the environment's settings.
pub(crate) fn armilla() -> Command {
    without_settings(Command::new(env!("CARGO_BIN_EXE_armilla")))
}

/// Takes the environment's settings from a command.
pub(crate) fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ARMILLA_") || name == "RUST_LOG" {
            command.env_remove(name);
        }
    }
    command
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
    child: Child,
    /// The ready line.
    pub(crate) ready: String,
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
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(&log).unwrap())
            .spawn()
            .unwrap();
        let mut ready = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        let server = Server { child, ready, log, folder };
        assert!(server.ready.starts_with("armilla ready: "), "{:?}: {}", server.ready, server.log());
        server
    }

    /// Returns a value of the ready line.
    pub(crate) fn ready_value(&self, key: &str) -> &str {
        let prefix = format!("{key}=");
        self.ready.split_whitespace().find_map(|word| word.strip_prefix(&prefix)).unwrap()
    }

    /// Returns the port of the SQL API.
    pub(crate) fn port(&self) -> u16 {
        self.port_of("sql")
    }

    /// Returns the port of an API, by its name in the ready line.
    pub(crate) fn port_of(&self, api: &str) -> u16 {
        let url = self.ready_value(api).trim_end_matches('/');
        url.rsplit(':').next().unwrap().parse().unwrap()
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
        self.child.id()
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap().success());
    }

    /// Waits for the end.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let clock = Env::system().clock;
        while clock.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("the server does not end: {}", self.log());
    }

    /// Stops the server as an operator would, and gives back its folder.
    pub(crate) fn stop(mut self) -> TempDir {
        self.signal("TERM");
        let status = self.wait();
        assert_eq!(status.code(), Some(0), "{}", self.log());
        self.into_folder()
    }

    /// Gives back the folder of a server that has ended.
    pub(crate) fn into_folder(mut self) -> TempDir {
        std::mem::replace(&mut self.folder, tempfile::tempdir().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Ended already in most tests; otherwise nothing of it is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
