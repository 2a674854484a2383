//! `POST /dbs/{database}/colls/{container}/docs` with several operations: all of them or none (a transactional batch),
//! or each on its own (bulk).
//!
//! ```text
//! body      the operations as they are written
//! answer    what became of them
//! ```

mod answer;
pub(crate) mod body;

use std::sync::Arc;

use armilla_engine::{BulkOperation, Caller, ContainerHandle, Error, ErrorKind, ItemAction};
use armilla_rest_wire::names;
use bytes::Bytes;

use crate::limits::BATCH_BODY_BYTES_MAX;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::request::Request;
use crate::request::body::too_large;
use crate::request::scope::{operation_key, range_id};

use answer::Asked;
use body::BatchOperation;

/// Does the operations of a batch.
pub(crate) async fn execute(
    request: &Request<'_>,
    container: &Arc<ContainerHandle>,
) -> Result<Reply, Failure> {
    request.headers.refuse_triggers("a batch")?;
    if request.body.len() > BATCH_BODY_BYTES_MAX {
        return Err(too_large());
    }
    let is_atomic = request.headers.batch_is_atomic()?;
    let continue_on_error = request.headers.flag(&names::BATCH_CONTINUE_ON_ERROR)?;
    if is_atomic && continue_on_error {
        return Err(Failure::bad_request(format!(
            "a batch whose operations are done all or none cannot go on after a failure: the headers {} and {} \
             contradict each other",
            names::BATCH_ATOMIC,
            names::BATCH_CONTINUE_ON_ERROR
        )));
    }
    let is_minimal = request.headers.prefers_minimal()?;
    let operations = body::parse(&text(request)?)?;
    let asked: Vec<Asked> = operations.iter().map(|operation| Asked::by(operation, is_minimal)).collect();
    if is_atomic {
        transaction(request, container, operations, &asked).await
    } else {
        bulk(request, container, operations, &asked, continue_on_error).await
    }
}

/// Returns the body as JSON text; the usual one is not copied.
fn text(request: &Request<'_>) -> Result<Bytes, Failure> {
    Ok(match request.body_text()? {
        std::borrow::Cow::Borrowed(_) => request.body.clone(),
        std::borrow::Cow::Owned(text) => text.into(),
    })
}

async fn transaction(
    request: &Request<'_>,
    container: &Arc<ContainerHandle>,
    operations: Vec<BatchOperation>,
    asked: &[Asked],
) -> Result<Reply, Failure> {
    let caller = request.item_caller()?;
    check_named_range(request, &caller, container)?;
    let key = operation_key(request, container)?;
    let is_elsewhere =
        |operation: &BatchOperation| operation.partition_key.is_some() && operation.partition_key != key;
    if key.is_some() && operations.iter().any(is_elsewhere) {
        let message = "One or more operations within the batch request have a different partition key value than the request.";
        return Err(Error::new(ErrorKind::PartitionKeyMismatch, message).into());
    }
    let actions = operations.into_iter().map(|operation| operation.action).collect();
    let done = request.engine.execute_batch(&caller, container, key.as_ref(), actions).await?;
    answer::transaction(container, done, asked)
}

/// Refuses a batch that names a range which is there no more. Its key would lead it, but its client is to learn.
fn check_named_range(
    request: &Request<'_>,
    caller: &Caller,
    container: &ContainerHandle,
) -> Result<(), Failure> {
    let Some(range_id) = range_id(request)? else { return Ok(()) };
    if container.ranges(caller)?.ranges.iter().any(|range| range.id == range_id) {
        return Ok(());
    }
    let message = format!("the container has no partition key range '{range_id}'");
    Err(Error::new(ErrorKind::RangeGone, message).into())
}

async fn bulk(
    request: &Request<'_>,
    container: &Arc<ContainerHandle>,
    operations: Vec<BatchOperation>,
    asked: &[Asked],
    continue_on_error: bool,
) -> Result<Reply, Failure> {
    let caller = request.item_caller()?;
    let range_id = range_id(request)?;
    let common_key = operation_key(request, container)?;
    let operations = operations.into_iter().map(|BatchOperation { partition_key, action, .. }| {
        match partition_key.or_else(|| common_key.clone()) {
            Some(partition_key) => BulkOperation { partition_key, action },
            None => {
                let action = match action {
                    invalid @ ItemAction::Invalid(_) => invalid,
                    _ => ItemAction::Invalid(
                        "PartitionKey value must be supplied for this operation".to_owned(),
                    ),
                };
                BulkOperation { partition_key: Default::default(), action }
            }
        }
    });
    let operations = operations.collect();
    let done =
        request.engine.execute_bulk(&caller, container, range_id, operations, continue_on_error).await?;
    Ok(answer::bulk(container, done, asked))
}
