//! Those who write while something else is measured: at a rate, over connections of their own, in no figure but one.
//!
//! They write new versions of the loaded items, as the workload `write` does. What the server uses for them is in its
//! processor time, which cannot be told apart.

use anyhow::Result;
use armilla_env::Env;

use crate::circumstances::State;
use crate::drive::{self, Pace};
use crate::limits::WRITE_CONNECTIONS;
use crate::measurements::Turn;
use crate::plan::Plan;
use crate::side::Side;

/// A rate counts as kept if so much of it was.
const KEPT_SHARE: f64 = 0.95;

/// What was written meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BackgroundWrites {
    /// Writes a second that were asked for.
    pub(crate) rate: f64,
    /// Writes a second that were done.
    pub(crate) per_second: f64,
}

impl BackgroundWrites {
    /// Whether about as much was written as was asked for.
    pub(crate) fn has_kept_rate(&self) -> bool {
        self.per_second >= self.rate * KEPT_SHARE
    }
}

/// Waits for a measurement of a side; others write meanwhile if its state asks for it.
pub(crate) async fn beside_writes<T>(
    env: &Env,
    side: &dyn Side,
    turn: &Turn,
    write_rate: f64,
    measuring: impl Future<Output = Result<T>>,
) -> Result<(T, Option<BackgroundWrites>)> {
    if turn.circumstances.state != State::Written {
        return Ok((measuring.await?, None));
    }
    let mut writers = Vec::new();
    for number in 0..WRITE_CONNECTIONS {
        writers.push(side.worker(Plan::Write, turn.stream(turn.connections() + number)).await?);
    }
    let pace = Pace { rate: Some(write_rate), ..turn.pace };
    let writing = drive::drive(env, pace, Plan::Write.kinds().len(), writers, None);
    let (measured, written) = tokio::try_join!(measuring, writing)?;
    let per_second = written.operations() as f64 / written.took.as_secs_f64();
    Ok((measured, Some(BackgroundWrites { rate: write_rate, per_second })))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::circumstances::Circumstances;
    use crate::drive::{Answer, Effort, Future, Worker};
    use crate::measurements::Turn;
    use crate::side::{Entries, Needs};

    /// A side whose writes take no time; it counts its connections and what they wrote.
    #[derive(Default)]
    struct Instant {
        opened: AtomicUsize,
        written: Arc<AtomicUsize>,
    }

    impl Side for Instant {
        fn name(&self) -> &'static str {
            "instant"
        }

        fn load(&self, _: Needs) -> Future<'_, Result<()>> {
            Box::pin(async { Ok(()) })
        }

        fn worker(&self, plan: Plan, _: usize) -> Future<'_, Result<Box<dyn Worker>>> {
            assert_eq!(plan, Plan::Write);
            self.opened.fetch_add(1, Ordering::Relaxed);
            let worker: Box<dyn Worker> = Box::new(Writer(self.written.clone()));
            Box::pin(async { Ok(worker) })
        }

        fn rest<'s>(&'s self, _: &'s Env) -> Future<'s, Result<Option<String>>> {
            Box::pin(async { Ok(None) })
        }

        fn count_entries(&self) -> Future<'_, Result<Entries>> {
            Box::pin(async { Ok(Entries { entries: 0, counted: 0 }) })
        }

        fn indexes(&self) -> Future<'_, Result<Vec<String>>> {
            Box::pin(async { Ok(Vec::new()) })
        }

        fn describe(&self) -> Future<'_, Result<String>> {
            Box::pin(async { Ok(String::new()) })
        }
    }

    struct Writer(Arc<AtomicUsize>);

    impl Worker for Writer {
        fn prepare(&mut self) -> usize {
            0
        }

        fn perform(&mut self) -> Future<'_, Result<Answer>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Box::pin(async { Ok(Answer::Done(Effort::default())) })
        }
    }

    #[tokio::test]
    async fn others_write_in_one_state_alone() {
        let env = Env::system();
        for state in State::ALL {
            let side = Instant::default();
            let circumstances = Circumstances { connections: 3, state };
            let window = Duration::from_millis(200);
            let pace = Pace { warm_up: Duration::ZERO, window, rate: None };
            let turn = Turn::new(circumstances, pace, 1, 0);
            let measuring = async {
                env.clock.sleep(window).await;
                Ok(7)
            };
            let (measured, background) = beside_writes(&env, &side, &turn, 500.0, measuring).await.unwrap();
            assert_eq!(measured, 7);
            let (opened, written) =
                (side.opened.load(Ordering::Relaxed), side.written.load(Ordering::Relaxed));
            match state {
                State::Written => {
                    let background = background.unwrap();
                    assert_eq!((opened, written), (WRITE_CONNECTIONS, 100));
                    assert!(background.has_kept_rate(), "{background:?}");
                }
                State::Loaded | State::Rested => assert_eq!((opened, written, background), (0, 0, None)),
            }
        }
    }

    #[test]
    fn a_rate_is_kept_up_to_a_twentieth() {
        for (per_second, expected) in [(2_000.0, true), (1_900.0, true), (1_899.0, false), (0.0, false)] {
            assert_eq!(BackgroundWrites { rate: 2_000.0, per_second }.has_kept_rate(), expected);
        }
    }
}
