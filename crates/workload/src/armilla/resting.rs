//! Waiting until the server's store has nothing to do in the background.
//!
//! What it says of itself is a moment, and one job is followed by the next, so it has to say it several times in a row.
//! What is in memory and not yet in sorted files stays there: no job is under way for it, however long one waits.

use anyhow::Result;
use armilla_env::Env;

use crate::limits::{REST_MAX, REST_READINGS, REST_STEP};

/// The metric that counts flushes and compactions under way.
pub(super) const JOBS: &str = "armilla_store_background_jobs";

/// Waits until no job is under way; returns a sentence if that did not happen or is not known.
pub(super) async fn wait<R>(env: &Env, jobs: impl Fn() -> R) -> Option<String>
where
    R: Future<Output = Result<Option<f64>>>,
{
    let begin = env.clock.elapsed();
    let mut quiet = 0;
    let mut is_told = true;
    while quiet < REST_READINGS {
        env.clock.sleep(REST_STEP).await;
        match jobs().await {
            Ok(Some(count)) if count > 0.0 => quiet = 0,
            Ok(Some(_)) => quiet += 1,
            // Metrics are for the server's own machine: what is left is the pause.
            Ok(None) | Err(_) => {
                is_told = false;
                quiet += 1;
            }
        }
        if env.clock.elapsed().saturating_sub(begin) >= REST_MAX {
            return Some(format!("the server still worked in the background after {} s", REST_MAX.as_secs()));
        }
    }
    (!is_told).then(|| "the server does not say whether it works in the background".to_owned())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;

    use anyhow::anyhow;

    use super::*;

    /// Waits with readings that a function of their number gives; returns how many there were, and what is said.
    async fn readings(reading: impl Fn(u32) -> Result<Option<f64>>) -> (u32, Option<String>) {
        let (env, clock) = Env::simulated(1);
        let count = Cell::new(0);
        let waiting = wait(&env, || {
            count.set(count.get() + 1);
            std::future::ready(reading(count.get()))
        });
        let mut waiting = pin!(waiting);
        let said = loop {
            tokio::select! {
                biased;
                said = &mut waiting => break said,
                () = tokio::task::yield_now() => clock.advance(REST_STEP),
            }
        };
        (count.get(), said)
    }

    #[tokio::test]
    async fn it_waits_until_nothing_is_under_way_for_a_while() {
        assert_eq!(readings(|_| Ok(Some(0.0))).await, (REST_READINGS, None));
        // A job right before the last reading begins it anew.
        let late = |number| Ok(Some(if number == REST_READINGS { 1.0 } else { 0.0 }));
        assert_eq!(readings(late).await, (2 * REST_READINGS, None));
    }

    #[tokio::test]
    async fn what_is_not_known_is_said() {
        for reading in [|_| Ok(None), |_| Err(anyhow!("forbidden"))] {
            let (count, said) = readings(reading).await;
            assert_eq!(count, REST_READINGS);
            assert!(said.unwrap().contains("does not say"));
        }
    }

    #[tokio::test]
    async fn a_store_that_never_rests_is_given_up() {
        let (count, said) = readings(|_| Ok(Some(2.0))).await;
        assert_eq!(u128::from(count), REST_MAX.as_millis() / REST_STEP.as_millis());
        assert!(said.unwrap().contains("still worked in the background"));
    }
}
