//! Processor time that a side uses for a window of operations.
//!
//! Rates depend on what else the machine is doing; the processor time of an operation hardly does, so it is the figure
//! to compare by on a machine that is shared.

use std::time::Duration;

use armilla_client::Client;

use crate::drive::Future;
#[cfg(unix)]
use crate::process_times::ProcessFamily;

/// The server's own count in `/metrics`, in seconds.
const METRIC: &str = "process_cpu_seconds_total";

/// Says how much processor time a side has used since it was started.
pub trait CpuClock: Send {
    /// Returns the time; nothing where the side does not tell.
    fn read(&mut self) -> Future<'_, Option<Duration>>;
}

/// The processor time of a server, by its metrics.
pub(crate) struct ServerCpu(pub(crate) Client);

impl CpuClock for ServerCpu {
    fn read(&mut self) -> Future<'_, Option<Duration>> {
        Box::pin(async {
            // Metrics are for the server's own machine, and older servers have no such figure: neither is a reason to
            // measure nothing at all.
            let seconds = self.0.metric(METRIC).await.ok().flatten()?;
            Duration::try_from_secs_f64(seconds).ok()
        })
    }
}

/// The processor time of a process on this machine and of those that it started.
#[cfg(unix)]
pub struct FamilyCpu(ProcessFamily);

#[cfg(unix)]
impl FamilyCpu {
    /// Returns that of a process.
    pub fn of(pid: u32) -> FamilyCpu {
        FamilyCpu(ProcessFamily::of(pid))
    }
}

#[cfg(unix)]
impl CpuClock for FamilyCpu {
    fn read(&mut self) -> Future<'_, Option<Duration>> {
        let family = self.0.clone();
        // All processes of the machine are looked at, and operations must not wait for that.
        Box::pin(async move { tokio::task::spawn_blocking(move || family.cpu()).await.ok().flatten() })
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn processes_that_are_there_tell_their_time() {
        assert!(FamilyCpu::of(std::process::id()).read().await.is_some());
        assert_eq!(FamilyCpu::of(u32::MAX).read().await, None);
    }
}
