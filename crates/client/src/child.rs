//! A server of our own: this same program, started for a while on a free port.
//!
//! Invariant: a server that was started here does not outlive its [`Child`].

use std::ffi::{OsStr, OsString};
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};

use anyhow::{Context, Result, anyhow, bail};
use parking_lot::Mutex;

use crate::limits::{CHILD_LOG_TOLD_BYTES_MAX, CHILD_POLL_PERIOD, CHILD_READY_TIMEOUT, CHILD_STOP_TIMEOUT};
use crate::options::ServerOptions;

/// What the line on standard output begins with that says that a server is ready.
const READY: &str = "armilla ready:";

/// What the names of all variables begin with that a server takes options from.
const VARIABLES: &str = "ARMILLA_";

/// A server of our own.
#[derive(Debug)]
pub struct Child {
    program: PathBuf,
    arguments: Vec<OsString>,
    process: Option<std::process::Child>,
    /// The address without TLS.
    endpoint: String,
    log: Arc<Mutex<Tail>>,
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
            endpoint: String::new(),
            log: Arc::default(),
        };
        child.launch(0)?;
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

    /// Returns the number of the process, while there is one.
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(std::process::Child::id)
    }

    /// Asks the server to end (SIGTERM), and waits until it has.
    pub fn stop(&mut self) -> Result<()> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        ask_to_end(&mut process)?;
        let periods = CHILD_STOP_TIMEOUT.as_millis() / CHILD_POLL_PERIOD.as_millis();
        for _ in 0..periods {
            if let Some(status) = process.try_wait().context("cannot wait for the server")? {
                if status.success() {
                    return Ok(());
                }
                bail!("the server ended with {status}: {}", self.log());
            }
            std::thread::sleep(CHILD_POLL_PERIOD);
        }
        kill(process);
        bail!("the server did not end in {} s", CHILD_STOP_TIMEOUT.as_secs())
    }

    /// Ends the server at once (SIGKILL), whatever it is doing.
    pub fn kill(&mut self) {
        if let Some(process) = self.process.take() {
            kill(process);
        }
    }

    /// Starts the server again with the same arguments and on the same port; one that runs is ended first (SIGKILL).
    pub fn restart(&mut self) -> Result<()> {
        self.kill();
        let port = self.endpoint.trim_end_matches('/').rsplit(':').next();
        let port = port.and_then(|port| port.parse().ok()).context("the server had no port")?;
        self.launch(port)
    }

    /// Returns the end of what the server logged.
    pub fn log(&self) -> String {
        let tail = self.log.lock();
        String::from_utf8_lossy(&tail.bytes).into_owned()
    }

    fn launch(&mut self, port: u16) -> Result<()> {
        let mut command = Command::new(&self.program);
        // What the environment says is meant for other servers.
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with(VARIABLES) {
                command.env_remove(name);
            }
        }
        command.args(["--port", &port.to_string(), "--table-port", "off"]).args(&self.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process =
            command.spawn().with_context(|| format!("cannot start {}", self.program.display()))?;
        let output = process.stdout.take().context("the server has no standard output")?;
        let errors = process.stderr.take().context("the server has no standard error")?;
        let lines = read_lines(output);
        let log = self.log.clone();
        std::thread::spawn(move || keep_tail(errors, &log));
        self.process = Some(process);
        match ready(&lines) {
            Ok(endpoint) => {
                self.endpoint = endpoint;
                Ok(())
            }
            Err(error) => {
                self.kill();
                Err(error.context(format!("the server did not start: {}", self.log().replace('\n', " "))))
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
}

fn kill(mut process: std::process::Child) {
    // It may have ended by itself meanwhile.
    let _ = process.kill();
    let _ = process.wait();
}

#[cfg(unix)]
fn ask_to_end(process: &mut std::process::Child) -> Result<()> {
    use rustix::process::{Pid, Signal, kill_process};
    match kill_process(Pid::from_child(process), Signal::TERM) {
        // It has ended by itself.
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(anyhow!("cannot ask the server to end: {error}")),
    }
}

#[cfg(not(unix))]
fn ask_to_end(process: &mut std::process::Child) -> Result<()> {
    process.kill().context("cannot end the server")
}

/// Returns lines as they come, so that waiting for one can have an end; reads on when nobody wants them any more.
fn read_lines(output: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines() {
            match line {
                Ok(line) => drop(sender.send(line)),
                Err(_) => return,
            }
        }
    });
    receiver
}

/// Waits for the line that says that the server is ready, and returns the address in it.
fn ready(lines: &Receiver<String>) -> Result<String> {
    loop {
        let line = match lines.recv_timeout(CHILD_READY_TIMEOUT) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => {
                bail!("it was not ready in {} s", CHILD_READY_TIMEOUT.as_secs())
            }
            Err(RecvTimeoutError::Disconnected) => bail!("it ended"),
        };
        if let Some(fields) = line.strip_prefix(READY) {
            let address = fields.split_whitespace().find_map(|field| field.strip_prefix("sql="));
            return address.map(str::to_owned).with_context(|| format!("it gives no address: {line}"));
        }
    }
}

/// The last bytes of a log.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Twice as much before it is cut, so that most bytes are moved once.
        if self.bytes.len() > 2 * CHILD_LOG_TOLD_BYTES_MAX {
            self.bytes.drain(..self.bytes.len() - CHILD_LOG_TOLD_BYTES_MAX);
        }
    }
}

fn keep_tail(mut errors: impl Read, log: &Mutex<Tail>) {
    let mut buffer = [0; 4_096];
    while let Ok(length) = errors.read(&mut buffer) {
        if length == 0 {
            return;
        }
        log.lock().push(&buffer[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_lines() {
        let (sender, receiver) = channel();
        sender.send("hello".to_owned()).unwrap();
        sender.send(format!("{READY} sql=https://localhost:7/ data=memory pid=1 start_ms=2")).unwrap();
        assert_eq!(ready(&receiver).unwrap(), "https://localhost:7/");
        sender.send(format!("{READY} pid=1")).unwrap();
        assert!(ready(&receiver).unwrap_err().to_string().contains("no address"));
        drop(sender);
        assert!(ready(&receiver).unwrap_err().to_string().contains("it ended"));
    }

    #[test]
    fn the_end_of_a_log() {
        let mut tail = Tail::default();
        for number in 0..10_000 {
            tail.push(format!("{number}\n").as_bytes());
        }
        assert!(tail.bytes.ends_with(b"9999\n") && tail.bytes.len() <= 2 * CHILD_LOG_TOLD_BYTES_MAX);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_is_no_server() {
        let error = Child::start_program(Path::new("/bin/false"), &["--memory"]).unwrap_err();
        assert!(format!("{error:#}").contains("it ended"), "{error:#}");
        let error = Child::start_program(Path::new("/none"), &["--memory"]).unwrap_err();
        assert!(error.to_string().contains("cannot start /none"), "{error:#}");
    }
}
