//! Waiting until the definitions that a process has may be acted by.

use std::sync::Arc;
use std::time::Duration;

use armilla_env::Clock;

use crate::engine::Engine;
use crate::neighbours::Neighbours;

/// How often it is looked whether they may.
const LOOK_PERIOD: Duration = Duration::from_millis(250);

/// Tells whether the definitions of this process are those of the account. What purges, indexes or deletes by older ones
/// may take away what the account keeps.
pub(crate) struct Touch {
    among: Option<Arc<dyn Neighbours>>,
    clock: Arc<dyn Clock>,
}

impl Touch {
    pub(crate) fn new(engine: &Engine) -> Touch {
        Touch { among: engine.among().cloned(), clock: engine.env().clock.clone() }
    }

    /// Waits until they are. Where the process serves the account alone they always are.
    pub(crate) async fn held(&self) {
        let Some(among) = &self.among else { return };
        while !among.is_in_touch() {
            self.clock.sleep(LOOK_PERIOD).await;
        }
    }
}
