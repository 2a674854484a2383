//! How many scripts run at the same time.
//!
//! There are turns for scripts that have just begun, and others for those that take long. A script that turns out to
//! take long changes over, if there is room, so that the many that are done in a moment do not wait behind the few
//! that are not.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::limits::{
    CONTAINER_LONG_SCRIPTS_AT_ONCE_MAX, CONTAINER_SCRIPTS_AT_ONCE_MAX, CONTAINER_SCRIPTS_PER_PROCESSOR,
    LONG_SCRIPTS_AT_ONCE_MAX, SCRIPTS_AT_ONCE_MAX,
};

/// Scripts that may run at the same time: of an account, or of a container.
pub(crate) struct ScriptTurns {
    short: Arc<Semaphore>,
    long: Arc<Semaphore>,
}

impl ScriptTurns {
    /// Returns the turns of an account.
    pub(crate) fn of_account() -> ScriptTurns {
        ScriptTurns::new(SCRIPTS_AT_ONCE_MAX, LONG_SCRIPTS_AT_ONCE_MAX)
    }

    /// Returns the turns of a container.
    pub(crate) fn of_container() -> ScriptTurns {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        ScriptTurns::new(short_turns(processors), CONTAINER_LONG_SCRIPTS_AT_ONCE_MAX)
    }

    fn new(short: usize, long: usize) -> ScriptTurns {
        ScriptTurns { short: Arc::new(Semaphore::new(short)), long: Arc::new(Semaphore::new(long)) }
    }

    /// Waits for a turn of those that have just begun.
    pub(crate) async fn next(&self) -> Turn {
        let held = self.short.clone().acquire_owned().await.expect("the semaphore is never closed");
        Turn { held, long: Some(self.long.clone()) }
    }
}

/// Returns how many scripts of a container may have just begun. A script waits for nothing but its own operations, and each
/// has an interpreter of its own, so more than keep the processors busy only take each other's place in the caches.
fn short_turns(processors: usize) -> usize {
    (CONTAINER_SCRIPTS_PER_PROCESSOR * processors)
        .clamp(CONTAINER_SCRIPTS_PER_PROCESSOR, CONTAINER_SCRIPTS_AT_ONCE_MAX)
}

/// The turn of one script.
pub(crate) struct Turn {
    held: OwnedSemaphorePermit,
    /// Where it changes over, unless it has.
    long: Option<Arc<Semaphore>>,
}

impl Turn {
    /// Changes over to those that take long, if there is room and it has not done so before.
    pub(crate) fn become_long(&mut self) {
        if let Some(long) = &self.long
            && let Ok(held) = long.clone().try_acquire_owned()
        {
            self.held = held;
            self.long = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_has_turns_for_each_processor() {
        for (processors, turns) in [(0, 2), (1, 2), (2, 4), (3, 6), (4, 8), (64, 8)] {
            assert_eq!(short_turns(processors), turns, "of {processors}");
        }
    }

    #[tokio::test]
    async fn long_scripts_leave_their_turns_to_short_ones() {
        let turns = ScriptTurns::new(2, 3);
        let mut long = Vec::new();
        for count in 1..=3 {
            let mut turn = turns.next().await;
            turn.become_long();
            turn.become_long();
            long.push(turn);
            assert_eq!((turns.short.available_permits(), turns.long.available_permits()), (2, 3 - count));
        }
        // There is no room for a fourth, which stays what it is.
        let mut fourth = turns.next().await;
        fourth.become_long();
        assert_eq!((turns.short.available_permits(), turns.long.available_permits()), (1, 0));
        long.pop();
        fourth.become_long();
        assert_eq!((turns.short.available_permits(), turns.long.available_permits()), (2, 0));
        drop((long, fourth));
        assert_eq!((turns.short.available_permits(), turns.long.available_permits()), (2, 3));
    }
}
