//! Waiting until a store has nothing to do in the background.

use std::time::Duration;

use anyhow::Result;
use armilla_env::Env;

/// How often it is looked at, how often in a row nothing must be under way, and how long one waits at most.
const STEP: Duration = Duration::from_millis(100);
const READINGS: u32 = 10;
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Asks for the metrics, which need no signature from the server's own machine.
pub(crate) const METRICS_REQUEST: &[u8] = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";

/// The metric that counts flushes and compactions under way.
const JOBS: &str = "armilla_store_background_jobs";

/// Reads how many flushes and compactions are under way.
pub(crate) fn jobs(metrics: &str) -> Option<u64> {
    let line = metrics.lines().find_map(|line| line.strip_prefix(JOBS)?.strip_prefix(' '))?;
    line.trim().parse().ok()
}

/// Waits until no job is under way for a while; says so where that does not happen.
pub(crate) fn wait_for_rest(env: &Env, mut jobs: impl FnMut() -> Result<u64>) -> Result<()> {
    let begin = env.clock.elapsed();
    let mut quiet = 0;
    while quiet < READINGS {
        std::thread::sleep(STEP);
        quiet = if jobs()? == 0 { quiet + 1 } else { 0 };
        if env.clock.elapsed() - begin > WAIT_MAX {
            eprintln!("  still at work in the background after {} s", WAIT_MAX.as_secs());
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_begins_the_wait_anew() {
        let mut readings = 0;
        wait_for_rest(&Env::system(), || {
            readings += 1;
            Ok(u64::from(readings == 3))
        })
        .unwrap();
        assert_eq!(readings, 3 + READINGS);
        assert!(wait_for_rest(&Env::system(), || anyhow::bail!("gone")).is_err());
    }

    #[test]
    fn work_is_found_in_metrics() {
        for (metrics, expected) in [
            ("# TYPE armilla_store_background_jobs gauge\narmilla_store_background_jobs 3\n", Some(3)),
            ("armilla_store_background_jobs_total 3\n", None),
            ("", None),
        ] {
            assert_eq!(jobs(metrics), expected, "{metrics}");
        }
    }
}
