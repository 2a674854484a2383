//! One task that runs beside requests, and how it is ended.

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A task that may have been started.
pub(crate) struct BackgroundTask {
    stop: watch::Sender<bool>,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Default for BackgroundTask {
    fn default() -> BackgroundTask {
        BackgroundTask { stop: watch::Sender::new(false), task: Mutex::default() }
    }
}

impl BackgroundTask {
    /// Starts it. What it runs is given what tells when to end.
    pub(crate) fn start<F>(&self, work: impl FnOnce(watch::Receiver<bool>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let task = tokio::spawn(work(self.stop.subscribe()));
        *self.task.lock() = Some(task);
    }

    /// Tells it to end.
    pub(crate) fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Tells it to end and waits until it has.
    pub(crate) async fn stopped(&self) {
        self.stop();
        let task = self.task.lock().take();
        if let Some(task) = task
            && let Err(error) = task.await
        {
            tracing::error!(%error, "a background task has failed");
        }
    }
}
