//! A server as a process: started, waited for, ended or killed.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::limits::{POLL_PERIOD, STOP_TIMEOUT};
use crate::log::{Log, LogTo};
use crate::not_ready::NotReady;
use crate::ready::Ready;
use crate::signal::{Signal, send};

/// A process that is killed when it is dropped.
#[derive(Debug)]
struct Guarded(Child);

impl Drop for Guarded {
    fn drop(&mut self) {
        // It may have ended by itself, or was waited for.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server that has not said that it is ready. It is killed when it is dropped.
#[derive(Debug)]
pub struct Starting {
    process: Guarded,
    lines: Receiver<String>,
    log: Log,
}

/// A server that has said that it is ready. It is killed when it is dropped.
#[derive(Debug)]
pub struct ServerProcess {
    process: Guarded,
    ready: Ready,
    log: Log,
}

impl Starting {
    /// Starts a process without waiting for it; its input and outputs are set here.
    pub fn spawn(mut command: Command, log: LogTo<'_>) -> Result<Starting> {
        let (mut log, errors) = Log::open(log)?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        let program = command.get_program().to_owned();
        let child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut process = Guarded(child);
        log.follow(process.0.stderr.take());
        let output = process.0.stdout.take().context("the server has no standard output")?;
        Ok(Starting { process, lines: read_lines(output), log })
    }

    /// Waits for the server to say that it is ready; a server that does not is an error of the kind [`NotReady`].
    pub fn wait_until_ready(self, patience: Duration) -> Result<ServerProcess> {
        let Starting { mut process, lines, mut log } = self;
        let status = match ready(&lines, patience) {
            Ok(ready) => return Ok(ServerProcess { process, ready, log }),
            // It has closed its output, so it is about to end.
            Err(RecvTimeoutError::Disconnected) => wait(&mut process.0, STOP_TIMEOUT)?,
            Err(RecvTimeoutError::Timeout) => None,
        };
        drop(process);
        log.wait_for_end();
        Err(NotReady { status, patience, log_tail: log.tail() }.into())
    }
}

impl ServerProcess {
    /// Starts a server and waits until it is ready.
    pub fn start(command: Command, log: LogTo<'_>, patience: Duration) -> Result<ServerProcess> {
        Starting::spawn(command, log)?.wait_until_ready(patience)
    }

    /// Returns what it said when it was ready.
    pub fn ready(&self) -> &Ready {
        &self.ready
    }

    /// Returns the number of the process.
    pub fn pid(&self) -> u32 {
        self.process.0.id()
    }

    /// Returns the end of what the server logged.
    pub fn log_tail(&self) -> String {
        self.log.tail()
    }

    /// Sends a signal without waiting for what comes of it.
    pub fn signal(&mut self, signal: Signal) -> Result<()> {
        send(&mut self.process.0, signal)
    }

    /// Returns how the process has ended, if it has.
    pub fn has_ended(&mut self) -> Result<Option<ExitStatus>> {
        self.process.0.try_wait().context("cannot ask for the state of the server")
    }

    /// Waits until the process has ended; nothing if it takes longer.
    pub fn wait(&mut self, patience: Duration) -> Result<Option<ExitStatus>> {
        wait(&mut self.process.0, patience)
    }

    /// Asks the server to end (SIGTERM), and waits until it has; one that takes too long is killed.
    pub fn stop(mut self) -> Result<ExitStatus> {
        self.signal(Signal::Terminate)?;
        match self.wait(STOP_TIMEOUT)? {
            Some(status) => Ok(status),
            None => bail!(
                "the server did not end in {} s; its log ends with: {}",
                STOP_TIMEOUT.as_secs(),
                self.log_tail()
            ),
        }
    }

    /// Ends the server at once (SIGKILL), whatever it is doing, and waits until it is gone.
    pub fn kill(mut self) -> Result<()> {
        self.process.0.kill().context("cannot kill the server")?;
        self.process.0.wait().context("cannot wait for the server")?;
        Ok(())
    }
}

/// Waits for a process; nothing if it takes longer.
fn wait(child: &mut Child, patience: Duration) -> Result<Option<ExitStatus>> {
    let periods = patience.as_millis().div_ceil(POLL_PERIOD.as_millis());
    for _ in 0..periods {
        if let Some(status) = child.try_wait().context("cannot wait for the server")? {
            return Ok(Some(status));
        }
        std::thread::sleep(POLL_PERIOD);
    }
    child.try_wait().context("cannot wait for the server")
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

/// Waits for the line that says that the server is ready.
fn ready(lines: &Receiver<String>, patience: Duration) -> Result<Ready, RecvTimeoutError> {
    loop {
        if let Some(ready) = Ready::of_line(&lines.recv_timeout(patience)?) {
            return Ok(ready);
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::command;

    const PATIENCE: Duration = Duration::from_secs(30);

    const READY: &str = "armilla ready: sql=https://localhost:7/ data=memory pid=1 start_ms=2";

    fn shell(script: &str) -> Command {
        let mut shell = command("/bin/sh");
        shell.args(["-c", script]);
        shell
    }

    #[test]
    fn a_program_that_is_no_server() {
        let start =
            |command| format!("{:#}", ServerProcess::start(command, LogTo::Memory, PATIENCE).unwrap_err());
        let error = start(command("/none"));
        assert!(error.starts_with("cannot start /none"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let full = || shell("echo hello; echo 'it is full' >&2; exit 3");
        for log in [LogTo::File(&log), LogTo::Memory] {
            let error = ServerProcess::start(full(), log, PATIENCE).unwrap_err();
            assert_eq!(
                error.to_string(),
                "the server did not start: it ended with exit status: 3; its log ends with: it is full"
            );
            assert_eq!(error.downcast::<NotReady>().unwrap().status.unwrap().code(), Some(3));
        }
        let slow = ServerProcess::start(shell("exec sleep 100"), LogTo::Memory, Duration::from_millis(1));
        let slow = slow.unwrap_err().downcast::<NotReady>().unwrap();
        assert_eq!(slow.to_string(), "the server did not start: it was not ready in 0 s");
        assert_eq!(slow.status, None);
    }

    #[test]
    fn a_server_that_is_asked_to_end() {
        let script =
            format!("trap 'exit 5' TERM; echo hello; echo '{READY}'; while true; do sleep 0.01; done");
        let mut server = ServerProcess::start(shell(&script), LogTo::Memory, PATIENCE).unwrap();
        assert_eq!((server.ready().line(), server.ready().port("sql")), (READY, Some(7)));
        assert_eq!(server.has_ended().unwrap(), None);
        assert_eq!(server.wait(Duration::from_millis(1)).unwrap(), None);
        assert_eq!(server.stop().unwrap().code(), Some(5));
    }

    #[test]
    fn a_server_that_has_ended_takes_signals_without_effect() {
        let mut server =
            ServerProcess::start(shell(&format!("echo '{READY}'")), LogTo::Memory, PATIENCE).unwrap();
        assert_eq!(server.wait(PATIENCE).unwrap().unwrap().code(), Some(0));
        server.signal(Signal::Terminate).unwrap();
        server.signal(Signal::Kill).unwrap();
        server.kill().unwrap();
    }

    #[test]
    fn a_server_does_not_outlive_what_started_it() {
        let script = format!("echo '{READY}'; exec sleep 100");
        let mut gone = Vec::new();
        let server = ServerProcess::start(shell(&script), LogTo::Memory, PATIENCE).unwrap();
        gone.push(server.pid());
        drop(server);
        let server = ServerProcess::start(shell(&script), LogTo::Memory, PATIENCE).unwrap();
        gone.push(server.pid());
        server.kill().unwrap();
        let starting = Starting::spawn(shell("exec sleep 100"), LogTo::Memory).unwrap();
        gone.push(starting.process.0.id());
        drop(starting);
        for pid in gone {
            let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
            assert_eq!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH));
        }
    }

    #[test]
    fn settings_of_the_environment_do_not_reach_it() {
        // Variables of this process cannot be set in a test beside others; that it takes away those there are is what
        // can be seen.
        let settings = command("/bin/true");
        let is_removed =
            |name: &std::ffi::OsStr| settings.get_envs().any(|(one, value)| one == name && value.is_none());
        for (name, _) in std::env::vars_os() {
            let is_setting = name.to_string_lossy().starts_with("ARMILLA_") || name == "RUST_LOG";
            assert_eq!(is_removed(&name), is_setting, "{name:?}");
        }
    }
}
