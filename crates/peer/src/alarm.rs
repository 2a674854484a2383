//! When the task of a connection looks at the time.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};

/// A timer that is moved only when it has to be.
pub(crate) struct Alarm {
    sleep: Pin<Box<Sleep>>,
}

impl Alarm {
    pub(crate) fn new(due: Instant) -> Alarm {
        Alarm { sleep: Box::pin(tokio::time::sleep_until(due)) }
    }

    /// Is ready when it is due.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, due: Instant) -> Poll<()> {
        if self.sleep.deadline() != due {
            self.sleep.as_mut().reset(due);
        }
        self.sleep.as_mut().poll(cx)
    }
}
