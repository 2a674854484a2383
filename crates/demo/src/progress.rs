//! One line on standard error that says how far something is.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use armilla_env::Env;
use armilla_report::{PlainLines, Step, number};
use parking_lot::{Mutex, MutexGuard};

/// How often a log is told.
const LOG_PERIOD: Duration = Duration::from_secs(15);

/// Says something to whoever watches.
pub(crate) fn say(text: &str) {
    // Nobody may be there to read it; that is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// How often it is looked how far something is.
const LOOK_PERIOD: Duration = Duration::from_millis(200);

/// Something that takes a while: told of until it is dropped.
pub(crate) struct Progress {
    telling: tokio::task::JoinHandle<()>,
    shown: Arc<Mutex<Option<armilla_report::Progress>>>,
}

impl Progress {
    /// Starts telling about `what`, of which there are `total` items to come; `done` says how many have.
    pub(crate) fn start(
        what: &'static str,
        total: u64,
        env: &Env,
        done: impl Fn() -> u64 + Send + 'static,
    ) -> Progress {
        let shown = armilla_report::Progress::on_stderr(PlainLines::Every(LOG_PERIOD));
        let shown = Arc::new(Mutex::new(Some(shown)));
        let (env, telling) = (env.clone(), shown.clone());
        let telling = tokio::spawn(async move {
            let start = env.clock.elapsed();
            loop {
                let now = env.clock.elapsed();
                match &mut *lock(&telling) {
                    Some(shown) => shown.show(now, || step(what, done(), total, now.saturating_sub(start))),
                    None => return,
                }
                env.clock.sleep(LOOK_PERIOD).await;
            }
        });
        Progress { telling, shown }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.telling.abort();
        // Here and not with the task, which may end a little later: the next line is for something else.
        drop(lock(&self.shown).take());
    }
}

fn lock(shown: &Mutex<Option<armilla_report::Progress>>) -> MutexGuard<'_, Option<armilla_report::Progress>> {
    shown.lock()
}

/// Returns what is told at a moment.
fn step(what: &str, done: u64, total: u64, elapsed: Duration) -> Step {
    let part = if total > 0 { done as f64 / total as f64 } else { 1.0 };
    Step { text: line(what, done, total, elapsed), part: Some(part) }
}

fn line(what: &str, done: u64, total: u64, elapsed: Duration) -> String {
    let rate = done as f64 / elapsed.as_secs_f64().max(0.001);
    let left = if rate > 0.0 { total.saturating_sub(done) as f64 / rate } else { f64::NAN };
    let left = match Duration::try_from_secs_f64(left.round()) {
        Ok(left) if done > 0 && left.as_secs() < 60 => format!(", {} s left", left.as_secs()),
        Ok(left) if done > 0 => format!(", {} left", number::duration(left)),
        _ => String::new(),
    };
    let percent = (done * 100).checked_div(total).unwrap_or(100).min(100);
    format!(
        "{what}: {percent:>3} %  {} of {} items, {} a second{left}",
        number::count(done),
        number::count(total),
        number::count(rate as u64)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let seconds = Duration::from_secs;
        assert_eq!(
            line("loading", 250_000, 1_000_000, seconds(10)),
            "loading:  25 %  250,000 of 1,000,000 items, 25,000 a second, 30 s left"
        );
        assert_eq!(line("loading", 0, 10, seconds(0)), "loading:   0 %  0 of 10 items, 0 a second");
        assert_eq!(line("loading", 0, 0, seconds(1)), "loading: 100 %  0 of 0 items, 0 a second");
    }
}
