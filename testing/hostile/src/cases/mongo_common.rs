//! What the cases of the MongoDB API look at after an attack.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use armilla_hostile::mongo::{MongoConnection, document};
use armilla_hostile::stage::Stage;

/// How long a client that comes now may wait for its login and its first answers.
const OTHERS_WAIT_MAX: Duration = Duration::from_secs(15);

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
