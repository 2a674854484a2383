//! Waiting until a store has nothing to do in the background.

use std::time::Duration;

use anyhow::Result;
use armilla_env::Env;

/// How often it is looked at, how often in a row nothing must be under way, and how long one waits at most.
const STEP: Duration = Duration::from_millis(100);
const READINGS: u32 = 10;
const WAIT_MAX: Duration = Duration::from_secs(120);

/// Waits until no job is under way for a while; says so where that does not happen.
pub(super) fn wait_for_rest(env: &Env, mut jobs: impl FnMut() -> Result<u64>) -> Result<()> {
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
}
