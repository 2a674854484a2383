//! Commands for which there is nothing to do here, because the server does it by itself. What they would have to do
//! otherwise, they refuse.

use armilla_mongo_expression::codes;

use super::build_info::VERSION;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

/// `fsync`: every write is as durable as the server is told to make it before it is answered.
pub(super) fn fsync(context: &Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["lock", "async", "forceSync", "fsyncLockAcquisitionTimeoutMillis"])?;
    arguments.refuse(&["lock"], "writes are not held up; take a backup with 'armilla backup'")?;
    Ok(Reply::ok())
}

/// `reIndex` and `compact`: indexes are whole and files are merged.
pub(super) async fn of_collection(context: &Context<'_>) -> Result<Reply> {
    context.arguments().allow(&["force"])?;
    let namespace = context.namespace()?;
    match context.shared.catalog.collection_of(&namespace).await? {
        Some(_) => Ok(Reply::ok()),
        None => Err(Failure::no_collection(&namespace.to_string())),
    }
}

/// `setFeatureCompatibilityVersion`: it is that of the server.
pub(super) fn version(context: &Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["confirm"])?;
    let asked = arguments.required_string(context.name)?;
    if VERSION.strip_prefix(asked).is_some_and(|rest| rest.starts_with('.')) {
        return Ok(Reply::ok());
    }
    Err(Failure::new(
        codes::BAD_VALUE,
        format!(
            "the feature compatibility version of this server is that of {VERSION} and cannot be '{asked}'"
        ),
    ))
}

/// `enableSharding`: collections get shard keys wherever they are.
pub(super) fn enable_sharding(context: &Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["primaryShard"])?;
    arguments.refuse(&["primaryShard"], "partitions are managed by the server")?;
    Ok(Reply::ok())
}
