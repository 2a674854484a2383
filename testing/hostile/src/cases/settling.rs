//! What is left of an attack when it is over.

use std::time::Duration;

use anyhow::{Result, ensure};
use armilla_crash::process_figures;
use armilla_hostile::stage::Stage;

pub(crate) const MEBIBYTE: u64 = 1024 * 1024;

/// How long memory may take to go back, and work to end, after the attack.
const SETTLES_WITHIN: Duration = Duration::from_secs(30);

/// How busy a server is that does nothing.
const QUIET_PERCENT: u128 = 30;

/// Waits until memory is near to where it was, and the server does nothing to speak of.
pub(crate) async fn settles(stage: &Stage, near_mebibytes: u64) -> Result<()> {
    let clock = &stage.env().clock;
    let until = clock.elapsed() + SETTLES_WITHIN;
    let before = stage.figures().before_bytes;
    loop {
        let (spent, began) = (process_figures::family_cpu_time(stage.pid())?, clock.elapsed());
        clock.sleep(Duration::from_secs(1)).await;
        let worked = process_figures::family_cpu_time(stage.pid())?.saturating_sub(spent);
        let percent = 100 * worked.as_millis() / (clock.elapsed() - began).as_millis().max(1);
        let now = process_figures::family_resident(stage.pid())?;
        if percent < QUIET_PERCENT && now < before + near_mebibytes * MEBIBYTE {
            return Ok(());
        }
        ensure!(
            clock.elapsed() < until,
            "long after the attack the server is {percent} % busy and holds {} MiB, before it {} MiB",
            now / MEBIBYTE,
            before / MEBIBYTE
        );
    }
}
