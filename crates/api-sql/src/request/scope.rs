//! What of a container a request is about: which of those that had its name, which logical partition, which range.
//!
//! Operations on items, batches, queries, change feeds and stored procedures name it by the same headers.

use armilla_engine::{ContainerHandle, ListScope, Located};
use armilla_rest_wire::names;
use armilla_rest_wire::status::{Status, sub_status};
use armilla_value::{HashedKey, PartitionKey};

use crate::reply::failure::Failure;
use crate::request::Request;
use crate::request::headers::invalid;

/// Refuses a request that is meant for another container which had the same name.
pub(crate) fn check_intended_container(request: &Request<'_>, located: &Located) -> Result<(), Failure> {
    let Some(intended) = request.headers.intended_container_rid()? else { return Ok(()) };
    let actual = located.container.rid().to_string();
    if intended == actual {
        return Ok(());
    }
    Err(Failure::new(
        Status::BAD_REQUEST.sub(sub_status::CONTAINER_RID_MISMATCH),
        format!(
            "the request is meant for the container {intended}, but this is {actual}: it was created again"
        ),
    ))
}

/// Returns the logical partition that the headers name.
fn partition_key(request: &Request<'_>) -> Result<Option<PartitionKey>, Failure> {
    let Some(text) = request.headers.partition_key()? else { return Ok(None) };
    PartitionKey::from_json(text.as_bytes()).map(Some).map_err(|error| {
        Failure::bad_request(format!("the header {} is invalid: {error}", names::PARTITION_KEY))
    })
}

/// Returns the logical partition that an operation is about. In a container without a key there is but one, which
/// need not be named.
pub(crate) fn operation_key(
    request: &Request<'_>,
    container: &ContainerHandle,
) -> Result<Option<PartitionKey>, Failure> {
    let named = partition_key(request)?;
    let is_implied = named.is_none() && container.is_fixed();
    Ok(if is_implied { Some(PartitionKey(Vec::new())) } else { named })
}

/// Returns which part of the container a feed or a query is kept to.
pub(crate) fn list_scope(request: &Request<'_>) -> Result<ListScope, Failure> {
    if let Some(partition_key) = partition_key(request)? {
        return Ok(ListScope::PartitionKey(partition_key));
    }
    let id = range_id(request)?;
    let range = request.headers.effective_key_range()?;
    if id.is_none() && range.is_none() {
        return Ok(ListScope::All);
    }
    let bound = |name, text: Option<&str>| match text {
        None => Ok(None),
        Some(text) => HashedKey::from_hex(text).map(Some).ok_or_else(|| invalid(name, text, "a hashed key")),
    };
    let min = bound(&names::START_EPK, range.map(|(min, _)| min))?;
    let max = bound(&names::END_EPK, range.map(|(_, max)| max))?;
    Ok(ListScope::Range { id, min, max })
}

/// Returns the physical partition that a request is kept to.
pub(crate) fn range_id(request: &Request<'_>) -> Result<Option<u32>, Failure> {
    let word = match request.headers.partition_key_range_id()? {
        None | Some("") => return Ok(None),
        Some(word) => word,
    };
    // Some clients put the container's resource id and a comma before it.
    let number = word.rsplit(',').next().unwrap_or(word);
    number.trim().parse::<u32>().map(Some).map_err(|_| {
        Failure::new(
            Status::GONE.sub(sub_status::PARTITION_KEY_RANGE_GONE),
            format!("the container has no partition key range '{word}'"),
        )
    })
}
