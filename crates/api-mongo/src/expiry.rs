//! Documents that expire by a date of their own: indexes with `expireAfterSeconds`.
//!
//! Every now and then what has expired is looked for and deleted, as any client would do it; so change streams show it.

use std::sync::Arc;
use std::time::Duration;

use armilla_engine::Caller;
use armilla_mongo_expression::{Environment, Scope};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::Shared;
use crate::catalog::{Collection, Found};
use crate::data::{Charges, Data};
use crate::failure::Result;
use crate::search::Search;
use crate::writes::Writer;

/// Between two looks.
const PAUSE: Duration = Duration::from_secs(30);
/// Documents that are deleted at once, before others have their turn.
const PORTION: usize = 1_000;

/// Deletes what has expired, again and again, until the API is gone.
pub(crate) async fn run(shared: std::sync::Weak<Shared>) {
    loop {
        let Some(clock) = shared.upgrade().map(|shared| shared.env.clock.clone()) else { return };
        clock.sleep(PAUSE).await;
        let Some(shared) = shared.upgrade() else { return };
        if let Err(failure) = sweep(&shared).await {
            tracing::debug!("expired documents could not be deleted: {}", failure.message);
        }
    }
}

async fn sweep(shared: &Arc<Shared>) -> Result<()> {
    // Another node may have dropped an index since, and what it deletes is not what somebody wants to be without any more.
    shared.catalog.read_all_again().await?;
    for namespace in shared.catalog.with_expiry().await? {
        // The ones before may have taken long.
        shared.catalog.read_again(&namespace).await?;
        let Found::Collection(collection) = shared.catalog.find(&namespace).await? else { continue };
        for index in &collection.details.indexes {
            let (Some(seconds), [(path, _)]) = (index.expires_after, index.fields.as_slice()) else {
                continue;
            };
            if path != "_ts" {
                expire(shared, &collection, path, seconds).await?;
            }
        }
    }
    Ok(())
}

async fn expire(shared: &Arc<Shared>, collection: &Collection, path: &str, seconds: i64) -> Result<()> {
    let now_ms = shared.env.clock.now_ms();
    let before = Value::Date(now_ms.saturating_sub(seconds.saturating_mul(1_000)));
    let query = Object::from([(path, Value::Object(Object::from([("$lte", before)])))]);
    let filter = Arc::new(Filter::parse(&query, &Scope::default())?);
    let search = Search::new(collection, filter, Arc::new(Environment { now_ms, ..Environment::default() }));
    let (caller, charges) = (Caller::full(), Charges::default());
    let new_id = || Value::Null;
    loop {
        let data = Data {
            engine: &shared.engine,
            caller: &caller,
            handle: &collection.handle,
            charges: &charges,
            transaction: None,
            written: None,
            patience: None,
        };
        let mut writer = Writer { data, collection, new_id: &new_id, receipts: None };
        let targets = search.targets(&mut writer.data, collection, PORTION).await?;
        let count = targets.len();
        for target in targets {
            writer.delete_one(&search, target).await?;
        }
        if count < PORTION {
            return Ok(());
        }
    }
}
