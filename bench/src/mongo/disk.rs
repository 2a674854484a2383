//! What it takes to sync a few bytes to the disk: durable writes cannot be faster, and on a shared machine it changes.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result};
use armilla_env::Env;

use crate::server::{Setup, folder};

/// How often it is tried, and with how many bytes.
const ROUNDS: usize = 50;
const BYTES: usize = 1_024;

/// Returns the median time of a sync where the data of a run lies.
pub(super) fn sync_time(env: &Env, setup: &Setup) -> Result<Duration> {
    let folder = folder(setup)?;
    let mut file = std::fs::File::create(folder.path().join("sync")).context("cannot make a file")?;
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        file.write_all(&[7; BYTES]).context("cannot write")?;
        let begin = env.clock.elapsed();
        file.sync_data().context("cannot sync")?;
        times.push(env.clock.elapsed() - begin);
    }
    times.sort_unstable();
    Ok(times[ROUNDS / 2])
}
