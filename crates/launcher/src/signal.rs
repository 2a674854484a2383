//! Signals to a process that was started here.

use std::process::Child;

use anyhow::{Context as _, Result};

/// What a process is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// To end in order, as an operator or a supervisor tells it (SIGTERM).
    Terminate,
    /// To end in order, as Ctrl-C tells it (SIGINT).
    Interrupt,
    /// To end at once, whatever it is doing (SIGKILL).
    Kill,
}

/// Sends a signal to a process that was not waited for yet; one that has ended by itself takes it without effect.
pub fn send(child: &mut Child, signal: Signal) -> Result<()> {
    if child.try_wait().context("cannot ask for the state of a process")?.is_some() {
        // Its number may belong to another process by now.
        return Ok(());
    }
    deliver(child, signal)
}

#[cfg(unix)]
fn deliver(child: &mut Child, signal: Signal) -> Result<()> {
    use rustix::process::{Pid, kill_process};
    let signal = match signal {
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::Kill => rustix::process::Signal::KILL,
    };
    kill_process(Pid::from_child(child), signal).context("cannot send a signal")
}

#[cfg(not(unix))]
fn deliver(child: &mut Child, _: Signal) -> Result<()> {
    child.kill().context("cannot end a process")
}
