//! One line on standard error that says how far something is.

use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use armilla_env::Env;
use armilla_report::number;

/// How often a terminal is told.
const TERMINAL_PERIOD: Duration = Duration::from_millis(500);

/// How often a log is told.
const LOG_PERIOD: Duration = Duration::from_secs(15);

/// Says something to whoever watches.
pub(crate) fn say(text: &str) {
    // Nobody may be there to read it; that is no reason to stop.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Something that takes a while.
pub(crate) struct Progress {
    telling: tokio::task::JoinHandle<()>,
    is_terminal: bool,
}

impl Progress {
    /// Starts telling about `what`, of which there are `total` items to come; `done` says how many have.
    pub(crate) fn start(
        what: &'static str,
        total: u64,
        env: &Env,
        done: impl Fn() -> u64 + Send + 'static,
    ) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let period = if is_terminal { TERMINAL_PERIOD } else { LOG_PERIOD };
        let env = env.clone();
        let telling = tokio::spawn(async move {
            let start = env.clock.elapsed();
            loop {
                env.clock.sleep(period).await;
                let elapsed = env.clock.elapsed().saturating_sub(start);
                let line = line(what, done(), total, elapsed);
                let mut err = std::io::stderr();
                let _ = if is_terminal {
                    write!(err, "\r\x1b[K{line}").and_then(|()| err.flush())
                } else {
                    writeln!(err, "{line}")
                };
            }
        });
        Progress { telling, is_terminal }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.telling.abort();
        if self.is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// Returns what is told at a moment.
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
