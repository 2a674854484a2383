//! Waits until the server has put away what was written to it.
//!
//! After a load the store merges its files for a while, on the processors that the operations are measured on. What is
//! measured is what a data model costs in use, not in the seconds after its data was loaded.

use std::time::Duration;

use anyhow::Result;
use armilla_client::Client;
use armilla_env::Env;
use armilla_report::number;

use crate::limits::{SETTLE_MAX, SETTLE_POLL_PERIOD, SETTLED_POLLS};
use crate::progress::say;

/// The server's own count of what it does in the background.
const METRIC: &str = "armilla_store_background_jobs";

/// Waits until a server of our own has nothing left to do, within a bound. Returns how long that took.
pub(crate) async fn wait(client: &Client, env: &Env) -> Result<Duration> {
    let start = env.clock.elapsed();
    let mut quiet = 0;
    loop {
        let waited = env.clock.elapsed().saturating_sub(start);
        // A store without background work does not count any.
        let jobs = client.metric(METRIC).await?.unwrap_or(0.0);
        quiet = if jobs > 0.0 { 0 } else { quiet + 1 };
        if quiet >= SETTLED_POLLS {
            return Ok(waited);
        }
        if waited > SETTLE_MAX {
            let waited = number::duration(waited);
            say(&format!("the store is still merging files after {waited}: latencies will show it"));
            return Ok(SETTLE_MAX);
        }
        env.clock.sleep(SETTLE_POLL_PERIOD).await;
    }
}
