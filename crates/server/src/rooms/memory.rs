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
    let (mut received_bytes, mut quiet_periods) = (0, 0);
    loop {
        clock.sleep(MEMORY_PERIOD).await;
        let now = metrics.received_bytes();
        quiet_periods = if now == received_bytes { quiet_periods + 1 } else { 0 };
        received_bytes = now;
        if quiet_periods > MEMORY_QUIET_PERIODS {
            continue;
        }
        // Which thread takes which cannot be said; of twice as many each takes one soon enough.
        for _ in 0..2 * threads {
            drop(tokio::spawn(async { allocate() }));
        }
    }
}

fn allocate() {
    for _ in 0..MEMORY_BLOCKS {
        drop(black_box(Vec::<u8>::with_capacity(MEMORY_BLOCK_BYTES)));
    }
}
