//! `/dbs/{database}/colls/{container}/operations/partitionkeydelete`: deleting all items of a logical partition.

use armilla_engine::Located;
use http::{Method, StatusCode};

use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::request::Request;
use crate::request::scope::operation_key;

/// Deletes all items of the logical partition that the header names.
pub(crate) async fn delete(request: &Request<'_>, located: &Located) -> Result<Reply, Failure> {
    if *request.method != Method::POST {
        return Err(request.verb_not_allowed("POST"));
    }
    let (container, caller) = (&located.container, request.item_caller()?);
    let Some(key) = operation_key(request, container)? else {
        return Err(Failure::bad_request(
            "the partition key whose items are to be deleted is missing: name it in x-ms-documentdb-partitionkey",
        ));
    };
    let deleted = request.engine.delete_partition_key(&caller, container, &key).await?;
    let mut reply = Reply::empty(StatusCode::OK, deleted.charge);
    reply.positions(&[deleted.position]);
    Ok(reply)
}
