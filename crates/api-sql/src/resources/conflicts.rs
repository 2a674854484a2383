//! `/dbs/{database}/colls/{container}/conflicts`: always empty, because an account has one region to write to.

use armilla_engine::{Error, ErrorKind, ResourceKind};
use armilla_rest_wire::names;
use http::{Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::feed_text::{begin_feed, end_feed, page_headers};
use crate::request::Request;

/// Serves the conflicts of a container.
pub(crate) async fn feed(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    match *request.method {
        Method::GET => {
            let answer = request.engine.read_container(&request.caller, database, container, None)?;
            let mut text = Vec::with_capacity(64);
            begin_feed(&mut text, &answer.value.rid, "Conflicts");
            end_feed(&mut text, 0);
            let mut reply = Reply::json(StatusCode::OK, text, answer.charge);
            page_headers(&mut reply, 0, None);
            Ok(reply)
        }
        Method::POST if request.headers.is_query()? => {
            let answer = request.engine.read_container(&request.caller, database, container, None)?;
            let is_free = request.headers.partition_key()?.is_none();
            if is_free && !request.headers.flag(&names::ENABLE_CROSS_PARTITION_QUERY)? {
                let message =
                    "conflicts of all logical partitions are asked for, which the request does not allow";
                return Err(Error::new(ErrorKind::CrossPartition, message).into());
            }
            queries::documents(request, "Conflicts", &answer.value.rid, Vec::new()).await
        }
        _ => Err(request.verb_not_allowed("GET, POST")),
    }
}

/// Serves one conflict: there is none.
pub(crate) fn single(
    request: &Request<'_>,
    database: &str,
    container: &str,
    conflict: &str,
) -> Result<Reply, Failure> {
    if !matches!(*request.method, Method::GET | Method::DELETE) {
        return Err(request.verb_not_allowed("GET, DELETE"));
    }
    request.engine.read_container(&request.caller, database, container, None)?;
    Err(Error::new(
        ErrorKind::NotFound(ResourceKind::Item),
        format!("entity with the specified id does not exist in the system: conflict '{conflict}'"),
    )
    .into())
}
