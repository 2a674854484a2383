//! Workers in a process of their own, to be killed.

use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// A process with workers; killed when it is dropped.
pub(super) struct WorkerProcess(Option<Child>);

impl WorkerProcess {
    /// Starts this program with the workers of a server.
    pub(super) fn start(endpoint: &str, connections: u32) -> Result<WorkerProcess> {
        let program = std::env::current_exe().context("cannot tell which program this is")?;
        let child = Command::new(program)
            .args(["demo", "blog-worker", "--endpoint", endpoint, "--connections", &connections.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("cannot start the workers")?;
        Ok(WorkerProcess(Some(child)))
    }

    /// Ends them at once (SIGKILL), whatever they are doing. That they had ended by themselves is a failure.
    pub(super) fn kill(&mut self) -> Result<()> {
        let Some(mut child) = self.0.take() else { return Ok(()) };
        if let Some(status) = child.try_wait().context("cannot wait for the workers")? {
            bail!("the workers ended early: {status}");
        }
        child.kill().context("cannot kill the workers")?;
        child.wait().context("cannot wait for the workers")?;
        Ok(())
    }

    /// Ends them, too: who takes over their positions afterwards goes on where they were.
    pub(super) fn stop(mut self) -> Result<()> {
        self.kill()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            // It may have ended by itself meanwhile.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for a signal that asks to end.
pub(super) async fn end_signal() -> Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate()).context("cannot wait for signals")?;
        tokio::select! {
            _ = terminate.recv() => Ok(()),
            interrupted = tokio::signal::ctrl_c() => interrupted.context("cannot wait for signals"),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await.context("cannot wait for signals")
}
