//! Loads the items: a batch for each logical partition, over several connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result, bail};
use armilla_client::{Operation, Operations, Session, results};
use tokio::task::JoinSet;

use super::{Armilla, ENTRIES, ITEMS, partition_key};
use crate::items::Items;
use crate::plan::{SCRIPT_KEYS, counter_json, script_customer};

/// Loads all items, each connection taking the next logical partition.
pub(super) async fn items(side: &Armilla) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut loading = JoinSet::new();
    for _ in 0..side.connections.min(side.items.key_count()) {
        let (session, database) = (side.client.session(), side.database.clone());
        loading.spawn(load_some(session, database, side.items.clone(), next.clone()));
    }
    while let Some(loaded) = loading.join_next().await {
        loaded.context("a connection ended unexpectedly")??;
    }
    Ok(())
}

async fn load_some(
    mut session: Session,
    database: String,
    items: Items,
    next: Arc<AtomicUsize>,
) -> Result<()> {
    let mut operations = Operations::new();
    loop {
        let key = next.fetch_add(1, Ordering::Relaxed);
        if key >= items.key_count() {
            return Ok(());
        }
        let of_key = items.of_key(key);
        let partition_key = partition_key(&items.customer(of_key.start));
        for index in of_key {
            let body = items.body(index, 0);
            let operation = || Operation::Create(body.as_bytes());
            if !operations.push(operation(), None) {
                send(&mut session, &database, ITEMS, &partition_key, &mut operations).await?;
                if !operations.push(operation(), None) {
                    bail!("an item of {} bytes does not fit into a request", body.len());
                }
            }
        }
        send(&mut session, &database, ITEMS, &partition_key, &mut operations).await?;
    }
}

/// Makes the counter of each logical partition of the workload `script`.
pub(super) async fn counters(side: &Armilla, session: &mut Session) -> Result<()> {
    for key in 0..SCRIPT_KEYS {
        let customer = script_customer(key);
        let (partition_key, body) = (partition_key(&customer), counter_json(&customer));
        session.create_item(&side.database, ENTRIES, &partition_key, body).await?;
    }
    Ok(())
}

/// Sends a batch, if it has anything; what the server has no throughput for is waited for by the session.
async fn send(
    session: &mut Session,
    database: &str,
    container: &str,
    partition_key: &str,
    operations: &mut Operations,
) -> Result<()> {
    if operations.is_empty() {
        return Ok(());
    }
    let done = session.batch(database, container, partition_key, operations.take()).await?;
    let failed = results(&done.body)?.into_iter().find(|result| !result.is_done());
    match failed {
        Some(result) => {
            bail!("the server answered {} to an item: {}", result.status, result.message.unwrap_or_default())
        }
        None => Ok(()),
    }
}
