//! Processor time that a side uses for a window of operations.
//!
//! Rates depend on what else the machine is doing; the processor time of an operation hardly does, so it is the figure
//! to compare by on a machine that is shared.

use std::time::Duration;

use armilla_client::Client;

use crate::drive::Future;

/// The server's own count in `/metrics`, in seconds.
const METRIC: &str = "process_cpu_seconds_total";

/// Says how much processor time a side has used since it was started.
pub(crate) trait CpuClock: Send {
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
