//! What a script has computed, and whether it is to go on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use armilla_script::limits::STEPS_PER_CHECK;

use crate::channel::Channel;

/// What a script has computed, and whether it is to go on.
pub(crate) struct Meter {
    channel: Channel,
    /// Whether anything may run at all.
    is_running: AtomicBool,
    /// Set once a script was stopped because its time was over.
    is_stopped: AtomicBool,
    checks: AtomicU64,
}

impl Meter {
    pub(crate) fn new(channel: Channel) -> Arc<Meter> {
        let (is_running, is_stopped) = (AtomicBool::new(true), AtomicBool::new(false));
        Arc::new(Meter { channel, is_running, is_stopped, checks: AtomicU64::new(0) })
    }

    /// Counts, and says whether to stop.
    pub(crate) fn check(&self) -> bool {
        self.checks.fetch_add(1, Ordering::Relaxed);
        // Time that is over stays over.
        if !self.is_stopped() && self.channel.is_interrupted() {
            self.stop();
        }
        self.is_stopped() || !self.is_running.load(Ordering::Relaxed)
    }

    /// Lets nothing go on any more.
    pub(crate) fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns how much was computed, in whole multiples of [`STEPS_PER_CHECK`].
    pub(crate) fn steps(&self) -> u64 {
        self.checks.load(Ordering::Relaxed).saturating_mul(STEPS_PER_CHECK)
    }

    /// Returns the way to the server.
    pub(crate) fn channel(&self) -> &Channel {
        &self.channel
    }

    /// Begins to count anew.
    pub(crate) fn begin(&self) {
        self.is_stopped.store(false, Ordering::Relaxed);
        self.checks.store(0, Ordering::Relaxed);
        self.is_running.store(true, Ordering::Relaxed);
    }

    /// Lets nothing run any more until the next beginning.
    pub(crate) fn end(&self) {
        self.is_running.store(false, Ordering::Relaxed);
    }
}
