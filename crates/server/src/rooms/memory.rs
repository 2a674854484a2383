//! Memory that is not used any more goes back to the system.
//!
//! The allocator keeps what was freed: each thread its own, and what another thread freed of it, until it has allocated
//! so many blocks that it looks through what it has; and what no thread needs for a second more, until somebody looks
//! again. A server that is quiet after a burst allocates little, so that it would keep all of it. So its threads are
//! given something to allocate now and then, as long as there is anything going on.

use std::hint::black_box;
use std::sync::Arc;

use armilla_env::Clock;

use crate::limits::{MEMORY_BLOCK_BYTES, MEMORY_BLOCKS, MEMORY_PERIOD, MEMORY_QUIET_PERIODS};
use crate::metrics::Metrics;

/// Makes the threads that serve look through their memory, until the program ends.
pub(crate) async fn give_back(clock: Arc<dyn Clock>, metrics: Arc<Metrics>, threads: usize) {
    now_and_then(clock, metrics, || {
        // Which thread takes which cannot be said; of twice as many each takes one soon enough.
        for _ in 0..2 * threads {
            drop(tokio::spawn(async { allocate() }));
        }
    })
    .await;
}

/// Calls `look` every period in which bytes came in, and for some periods after.
async fn now_and_then(clock: Arc<dyn Clock>, metrics: Arc<Metrics>, look: impl Fn()) {
    let (mut received_bytes, mut quiet_periods) = (0, 0);
    loop {
        clock.sleep(MEMORY_PERIOD).await;
        let now = metrics.received_bytes();
        quiet_periods = if now == received_bytes { quiet_periods + 1 } else { 0 };
        received_bytes = now;
        if quiet_periods <= MEMORY_QUIET_PERIODS {
            look();
        }
    }
}

fn allocate() {
    for _ in 0..MEMORY_BLOCKS {
        drop(black_box(Vec::<u8>::with_capacity(MEMORY_BLOCK_BYTES)));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::pin::pin;
    use std::task::{Context, Waker};
    use std::time::Duration;

    use armilla_env::SimulatedClock;

    use super::*;

    #[test]
    fn threads_look_while_bytes_come_and_some_periods_after() {
        let clock = Arc::new(SimulatedClock::new(0));
        let metrics = Arc::new(Metrics::new());
        let looks = Cell::new(0);
        let mut looking = pin!(now_and_then(clock.clone(), metrics.clone(), || looks.set(looks.get() + 1)));
        let mut pass = |time: Duration| {
            clock.advance(time);
            let mut context = Context::from_waker(Waker::noop());
            assert!(looking.as_mut().poll(&mut context).is_pending());
            looks.replace(0)
        };
        assert_eq!(pass(Duration::ZERO), 0);
        for _ in 0..3 {
            metrics.received(1);
            assert_eq!(pass(MEMORY_PERIOD - Duration::from_nanos(1)), 0);
            assert_eq!(pass(Duration::from_nanos(1)), 1);
        }
        for period in 1..=2 * MEMORY_QUIET_PERIODS {
            assert_eq!(pass(MEMORY_PERIOD), u32::from(period <= MEMORY_QUIET_PERIODS), "{period}");
        }
        metrics.received(1);
        assert_eq!(pass(MEMORY_PERIOD), 1, "it begins again");
    }
}
