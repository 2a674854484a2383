//! `/dbs` and `/dbs/{database}`.

use armilla_engine::{LIST_MAX, ResourceKind};
use armilla_value::Value;
use http::{Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply};
use crate::request::Request;
use crate::resources::offer_headers;

/// Serves `/dbs`.
pub(crate) async fn feed(request: &Request<'_>) -> Result<Reply, Failure> {
    match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = request.engine.list_databases(&request.caller, count_max, continuation)?;
            Ok(feed_reply(ResourceKind::Database, &answer))
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                request.engine.list_databases(&request.caller, Some(LIST_MAX), continuation)
            };
            queries::resources(request, ResourceKind::Database, list).await.map(|(reply, _)| reply)
        }
        Method::POST => {
            let body = request.json_object("a database")?;
            let id =
                body.get("id").and_then(Value::as_str).ok_or_else(|| Failure::missing_id("a database"))?;
            let throughput = offer_headers::throughput(request.headers)?;
            let answer = request.engine.create_database(&request.caller, id, throughput).await?;
            Ok(reply(StatusCode::CREATED, &answer))
        }
        _ => Err(request.verb_not_allowed("GET, POST")),
    }
}

/// Serves one database.
pub(crate) async fn single(request: &Request<'_>, database: &str) -> Result<Reply, Failure> {
    match *request.method {
        Method::GET => {
            let answer = request.engine.read_database(&request.caller, database, request.known_version()?)?;
            Ok(reply(StatusCode::OK, &answer))
        }
        Method::DELETE => {
            let precondition = request.expected_version()?;
            let answer = request.engine.delete_database(&request.caller, database, precondition).await?;
            Ok(Reply::empty(StatusCode::NO_CONTENT, answer.charge))
        }
        _ => Err(request.verb_not_allowed("GET, DELETE")),
    }
}
