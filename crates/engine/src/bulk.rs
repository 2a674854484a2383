//! Bulk requests: many actions at once, each on its own.
//!
//! Actions that have nothing to do with each other are on their way at the same time, so that all of them wait for one
//! commit rather than each for its own. What may depend on what came before it, waits for that: actions on the same
//! item, and in a container with unique keys all of a logical partition. So every action finds what it would find if
//! they were done one after the other.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use armilla_container::{Position, RequestUnits, WriteMode};
use armilla_value::PartitionKey;

use crate::access::Caller;
use crate::actions::{ActionDone, ItemAction};
use crate::batches::{BatchAnswer, check_count, failed_dependency};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::items::{ItemName, ItemWritten};
use crate::triggers::Triggers;

/// An action of a bulk request, with where it belongs.
#[derive(Debug, Clone)]
pub struct BulkOperation {
    /// The logical partition.
    pub partition_key: PartitionKey,
    /// What to do there.
    pub action: ItemAction,
}

/// Actions that are done one after the other, each with its place in the request.
type Chain = Vec<(usize, BulkOperation)>;

impl Engine {
    /// Does some actions, each on its own. Where `continue_on_error` is not set, those behind a failure are not done.
    pub async fn execute_bulk(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        range_id: Option<u32>,
        operations: Vec<BulkOperation>,
        continue_on_error: bool,
    ) -> Result<BatchAnswer> {
        check_count(operations.len())?;
        if let Some(id) = range_id
            && !container.container().map().ranges.iter().any(|range| range.id == id)
        {
            return Err(Error::range_gone(id));
        }
        let count = operations.len();
        let indexed = operations.into_iter().enumerate();
        let chains = match continue_on_error {
            true => chains(indexed, !container.definition().unique_keys.is_empty()),
            false => vec![indexed.collect()],
        };
        let chains = chains.into_iter().map(|chain| self.chain(caller, container, chain, continue_on_error));
        let mut results: Vec<Option<Result<ActionDone>>> = (0..count).map(|_| None).collect();
        for (index, result) in all(chains).await.into_iter().flatten() {
            results[index] = Some(result);
        }
        let results = results.into_iter().map(|result| result.unwrap_or_else(|| Err(failed_dependency())));
        Ok(answer(results.collect(), range_id))
    }

    /// Does actions one after the other; up to the first failure, if that is how they are meant.
    async fn chain(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        chain: Chain,
        continue_on_error: bool,
    ) -> Vec<(usize, Result<ActionDone>)> {
        let mut results = Vec::with_capacity(chain.len());
        for (index, operation) in chain {
            let result = self.act(caller, container, operation).await;
            let ends = result.is_err() && !continue_on_error;
            results.push((index, result));
            if ends {
                break;
            }
        }
        results
    }

    async fn act(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        operation: BulkOperation,
    ) -> Result<ActionDone> {
        let BulkOperation { partition_key, action } = operation;
        let key = Some(&partition_key);
        let none = Triggers::default();
        match action {
            ItemAction::Put { mode: WriteMode::Replace, id: Some(id), body, precondition } => {
                let name = ItemName::Id(&id);
                self.replace_item(caller, container, name, key, body, precondition, &none).await
            }
            ItemAction::Put { mode, body, precondition, .. } => {
                self.write_item(caller, container, mode, key, body, precondition, &none).await
            }
            ItemAction::Delete { id, precondition } => {
                self.delete_item(caller, container, ItemName::Id(&id), key, precondition, &none).await
            }
            ItemAction::Patch { id, patch, condition, precondition } => {
                let (name, condition) = (ItemName::Id(&id), condition.as_deref());
                let patched = self.patch_item(caller, container, name, key, patch, condition, precondition);
                patched.await.map(ItemWritten::from)
            }
            ItemAction::Read { id, known, precondition } => {
                return match self.read_item(caller, container, ItemName::Id(&id), key, known) {
                    Ok(read) if !precondition.holds_for(&read.item, container.identity()) => Err(Error {
                        charge: read.charge,
                        position: Some(read.position),
                        ..Error::precondition_failed()
                    }),
                    Ok(read) => Ok(ActionDone::Read(read)),
                    Err(Error { kind: ErrorKind::NotModified, charge, .. }) if let Some(etag) = known => {
                        Ok(ActionDone::NotModified { etag, charge })
                    }
                    Err(error) => Err(error),
                };
            }
            ItemAction::Invalid(message) => return Err(Error::invalid(message)),
        }
        .map(|done| ActionDone::Written(done.written))
    }
}

/// Finds out which actions must wait for each other.
fn chains(operations: impl Iterator<Item = (usize, BulkOperation)>, whole_partitions: bool) -> Vec<Chain> {
    let mut partitions: Vec<Chain> = Vec::new();
    group(&mut partitions, operations, |operation| Some(operation.partition_key.to_json()));
    if whole_partitions {
        return partitions;
    }
    let mut chains = Vec::new();
    for partition in partitions {
        // A lone action waits for nobody, whatever item it is about.
        if partition.len() == 1 {
            chains.push(partition);
        } else {
            group(&mut chains, partition.into_iter(), |operation| item_id(&operation.action));
        }
    }
    // The first of each are begun in the order of the request.
    chains.sort_by_key(|chain| chain[0].0);
    chains
}

/// Adds a chain to some for each name that operations have, and for each operation without one.
fn group(
    chains: &mut Vec<Chain>,
    operations: impl Iterator<Item = (usize, BulkOperation)>,
    name: impl Fn(&BulkOperation) -> Option<String>,
) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, operation) in operations {
        let next = chains.len();
        let place = match name(&operation) {
            Some(name) => *places.entry(name).or_insert(next),
            None => next,
        };
        if place == next {
            chains.push(Vec::new());
        }
        chains[place].push((index, operation));
    }
}

/// Returns the id of the item that an action is about, if it says one.
fn item_id(action: &ItemAction) -> Option<String> {
    match action {
        ItemAction::Put { id: Some(id), .. }
        | ItemAction::Delete { id, .. }
        | ItemAction::Patch { id, .. }
        | ItemAction::Read { id, .. } => Some(id.clone()),
        ItemAction::Put { id: None, body, .. } => body.id(),
        ItemAction::Invalid(_) => None,
    }
}

/// Waits for all of some futures, which are begun in their order.
async fn all<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    poll_fn(|context| {
        for (future, output) in waiting.iter_mut().zip(&mut outputs).filter(|(_, output)| output.is_none()) {
            if let Poll::Ready(ready) = future.as_mut().poll(context) {
                *output = Some(ready);
            }
        }
        if outputs.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    outputs.into_iter().flatten().collect()
}

fn answer(results: Vec<Result<ActionDone>>, range_id: Option<u32>) -> BatchAnswer {
    let mut charge = RequestUnits::ZERO;
    let mut position: Option<Position> = None;
    for result in &results {
        let (spent, reached) = match result {
            Ok(ActionDone::Written(written)) => (written.charge, Some(written.position)),
            Ok(ActionDone::Read(read)) => (read.charge, Some(read.position)),
            Ok(ActionDone::NotModified { charge, .. }) => (*charge, None),
            Err(error) => (error.charge, error.position),
        };
        charge += spent;
        // Those of other partitions are not what the request is about.
        let wanted = range_id.or(position.map(|position| position.range_id));
        if let Some(reached) =
            reached.filter(|reached| wanted.is_none_or(|wanted| wanted == reached.range_id))
            && position.is_none_or(|position| position.lsn < reached.lsn)
        {
            position = Some(reached);
        }
    }
    BatchAnswer { results, charge, position }
}
