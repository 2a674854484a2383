//! Keeping each container's index as its definition asks for, in the background.
//!
//! One task per container, which sleeps until a policy has changed (or a container of an older version is opened) and
//! then works in small steps between the writes of clients. A step that fails is tried again after a while: the index
//! stays incomplete so long, and queries go on without it.

use std::sync::Arc;
use std::time::Duration;

use armilla_env::Env;
use tokio::sync::watch;

use crate::background::Touch;
use crate::containers::ContainerHandle;
use crate::engine::Engine;

/// How long a failed step waits before it is tried again.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

/// Starts keeping the index of a container as its policy asks.
pub(crate) fn start(container: &Arc<ContainerHandle>, engine: &Engine) {
    let (handle, env, touch) = (container.clone(), engine.env().clone(), Touch::new(engine));
    container.reindexing().start(|stopped| look_after(handle, env, touch, stopped));
}

async fn look_after(
    container: Arc<ContainerHandle>,
    env: Env,
    touch: Touch,
    mut stopped: watch::Receiver<bool>,
) {
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            () = container.container().reindex_wanted() => {}
        }
        tracing::info!(container = container.id(), "the index is brought to what the policy asks for");
        loop {
            tokio::select! {
                biased;
                _ = stopped.wait_for(|stopped| *stopped) => return,
                () = touch.held() => {}
            }
            match container.container().reindex_step().await {
                Ok(true) => tokio::task::yield_now().await,
                Ok(false) => break,
                Err(error) => {
                    if container.is_deleted() {
                        return;
                    }
                    tracing::warn!(container = container.id(), %error, "a step of re-indexing has failed");
                    tokio::select! {
                        _ = stopped.wait_for(|stopped| *stopped) => return,
                        () = env.clock.sleep(RETRY_PERIOD) => {}
                    }
                }
            }
        }
        tracing::info!(container = container.id(), "the index is complete");
    }
}
