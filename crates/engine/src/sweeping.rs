//! Keeping each container free of expired items, and of changes that are too old to be read.
//!
//! One task per container. It looks once when the container is opened, then whenever there may be something to do, and
//! every [`SWEEP_PERIOD`] as long as items can expire or all versions are kept. It works in small steps with the budget
//! that is left over, and reads see to it themselves that what is expired is not shown: nothing depends on how far it is.
//!
//! Not here: what a step does (`container`).

use std::sync::Arc;
use std::time::Duration;

use armilla_container::{ErrorKind, Swept};
use armilla_env::Env;
use tokio::sync::watch;

use crate::background::Touch;
use crate::containers::ContainerHandle;
use crate::engine::Engine;

/// How often a container is looked at in which something may be over.
const SWEEP_PERIOD: Duration = Duration::from_secs(1);

/// How long others have the partitions for themselves between two steps.
const STEP_PAUSE: Duration = Duration::from_millis(5);

/// Starts the sweeping of a container; it ends with the container.
pub(crate) fn start(container: &Arc<ContainerHandle>, engine: &Engine) {
    let (handle, env, ended) = (container.clone(), engine.env().clone(), container.ended());
    let touch = Touch::new(engine);
    container.sweeping().start(|_| look_after(handle, env, touch, ended));
}

async fn look_after(
    container: Arc<ContainerHandle>,
    env: Env,
    touch: Touch,
    mut ended: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = touch.held() => {}
        }
        let pause = match container.container().sweep_step().await {
            Ok(Swept { purged, trimmed, receipts, more, periodic }) => {
                if purged > 0 || trimmed > 0 || receipts > 0 {
                    let container = container.id();
                    tracing::debug!(container, purged, trimmed, receipts, "a step of sweeping");
                }
                match (more, periodic) {
                    (true, _) => Some(STEP_PAUSE),
                    (false, true) => Some(SWEEP_PERIOD),
                    (false, false) => None,
                }
            }
            Err(error) => {
                if *ended.borrow() {
                    return;
                }
                match error.kind {
                    // It will be free, or is another's by now, or on its way there.
                    ErrorKind::Throttled | ErrorKind::RangeGone | ErrorKind::Conflict | ErrorKind::Moved => {
                        tracing::debug!(container = container.id(), %error, "a step of sweeping is put off");
                    }
                    _ => tracing::warn!(container = container.id(), %error, "a step of sweeping has failed"),
                }
                Some(SWEEP_PERIOD)
            }
        };
        let wake = async {
            match pause {
                Some(pause) => env.clock.sleep(pause).await,
                None => container.container().sweep_wanted().await,
            }
        };
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = wake => {}
        }
    }
}
