//! What the cases of the MongoDB API look at after an attack.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_crash::process_figures;
use armilla_hostile::mongo::{MongoConnection, document};
use armilla_hostile::stage::Stage;

pub(crate) const MEBIBYTE: u64 = 1024 * 1024;

/// How long a client that comes now may wait for its login and its first answers.
const OTHERS_WAIT_MAX: Duration = Duration::from_secs(15);

/// How long memory may take to go back, and work to end, after the attack.
const SETTLES_WITHIN: Duration = Duration::from_secs(30);

/// How busy a server is that does nothing.
const QUIET_PERCENT: u128 = 30;

/// A new client logs in, writes and reads.
pub(crate) async fn others_are_answered(stage: &Stage) -> Result<()> {
    let asking = async {
        let mut other = MongoConnection::login(stage.mongo_address()).await?;
        let upsert = "{\"q\":{\"_id\":1},\"u\":{\"$inc\":{\"n\":1}},\"upsert\":true}";
        other
            .run(&document(&format!("{{\"update\":\"others\",\"updates\":[{upsert}],\"$db\":\"others\"}}")))
            .await?;
        let found =
            other.run(&document("{\"find\":\"others\",\"filter\":{\"_id\":1},\"$db\":\"others\"}")).await?;
        let batch = found.get("cursor").and_then(|cursor| cursor.get("firstBatch"));
        ensure!(batch.and_then(|batch| batch.as_array()).is_some_and(|batch| batch.len() == 1), "{found:?}");
        Ok(())
    };
    let waited = tokio::time::timeout(OTHERS_WAIT_MAX, asking).await;
    waited.context("another client was not answered in time")?.context("another client was not answered")
}

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
