//! `/dbs/{database}/users` and one user.

use armilla_engine::{LIST_MAX, ResourceKind};
use armilla_rest_wire::names;
use armilla_value::Value;
use http::{Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply};
use crate::request::Request;

/// Serves the users of a database.
pub(crate) async fn feed(request: &Request<'_>, database: &str) -> Result<Reply, Failure> {
    let caller = &request.caller;
    let (mut reply, parent_rid) = match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = request.engine.list_users(caller, database, count_max, continuation)?;
            (feed_reply(ResourceKind::User, &answer), answer.value.parent_rid)
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                request.engine.list_users(caller, database, Some(LIST_MAX), continuation)
            };
            queries::resources(request, ResourceKind::User, list).await?
        }
        Method::POST => {
            let id = user_id(request)?;
            let (answer, created) = if request.headers.flag(&names::IS_UPSERT)? {
                request.engine.upsert_user(caller, database, &id).await?
            } else {
                (request.engine.create_user(caller, database, &id).await?, true)
            };
            let status = if created { StatusCode::CREATED } else { StatusCode::OK };
            (reply(status, &answer), answer.value.parent_rid)
        }
        _ => return Err(request.verb_not_allowed("GET, POST")),
    };
    reply.content_path(format!("dbs/{database}"), &parent_rid);
    Ok(reply)
}

/// Serves one user.
pub(crate) async fn single(request: &Request<'_>, database: &str, user: &str) -> Result<Reply, Failure> {
    let caller = &request.caller;
    let answer = match *request.method {
        Method::GET => request.engine.read_user(caller, database, user, request.known_version()?)?,
        Method::PUT => {
            let (id, precondition) = (user_id(request)?, request.expected_version()?);
            request.engine.replace_user(caller, database, user, &id, precondition).await?
        }
        Method::DELETE => {
            let precondition = request.expected_version()?;
            let answer = request.engine.delete_user(caller, database, user, precondition).await?;
            return Ok(Reply::empty(StatusCode::NO_CONTENT, answer.charge));
        }
        _ => return Err(request.verb_not_allowed("GET, PUT, DELETE")),
    };
    let mut reply = reply(StatusCode::OK, &answer);
    reply.content_path(format!("dbs/{database}"), &answer.value.parent_rid);
    Ok(reply)
}

fn user_id(request: &Request<'_>) -> Result<String, Failure> {
    let body = request.json_object("a user")?;
    body.get("id").and_then(Value::as_str).map(str::to_owned).ok_or_else(|| Failure::missing_id("a user"))
}
