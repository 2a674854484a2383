//! `/dbs/{database}/users/{user}/permissions` and one permission.

use armilla_engine::{LIST_MAX, PermissionDefinition, ResourceKind};
use armilla_rest_wire::names;
use http::{Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply};
use crate::request::Request;
use crate::resources::resource_body;

/// Serves the permissions of a user.
pub(crate) async fn feed(request: &Request<'_>, database: &str, user: &str) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    let (mut reply, parent_rid) = match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = engine.list_permissions(caller, database, user, count_max, continuation)?;
            (feed_reply(ResourceKind::Permission, &answer), answer.value.parent_rid)
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                engine.list_permissions(caller, database, user, Some(LIST_MAX), continuation)
            };
            queries::resources(request, ResourceKind::Permission, list).await?
        }
        Method::POST => {
            let (body, token_seconds) = (definition(request)?, request.headers.expiry_seconds()?);
            let (answer, created) = if request.headers.flag(&names::IS_UPSERT)? {
                engine.upsert_permission(caller, database, user, &body, token_seconds).await?
            } else {
                (engine.create_permission(caller, database, user, &body, token_seconds).await?, true)
            };
            let status = if created { StatusCode::CREATED } else { StatusCode::OK };
            (reply(status, &answer), answer.value.parent_rid)
        }
        _ => return Err(request.verb_not_allowed("GET, POST")),
    };
    reply.content_path(format!("dbs/{database}/users/{user}"), &parent_rid);
    Ok(reply)
}

/// Serves one permission.
pub(crate) async fn single(
    request: &Request<'_>,
    database: &str,
    user: &str,
    permission: &str,
) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    let token_seconds = request.headers.expiry_seconds()?;
    let answer = match *request.method {
        Method::GET => {
            let known = request.known_version()?;
            engine.read_permission(caller, database, user, permission, token_seconds, known)?
        }
        Method::PUT => {
            let (body, precondition) = (definition(request)?, request.expected_version()?);
            engine
                .replace_permission(caller, database, user, permission, &body, token_seconds, precondition)
                .await?
        }
        Method::DELETE => {
            let precondition = request.expected_version()?;
            let answer = engine.delete_permission(caller, database, user, permission, precondition).await?;
            return Ok(Reply::empty(StatusCode::NO_CONTENT, answer.charge));
        }
        _ => return Err(request.verb_not_allowed("GET, PUT, DELETE")),
    };
    let mut reply = reply(StatusCode::OK, &answer);
    reply.content_path(format!("dbs/{database}/users/{user}"), &answer.value.parent_rid);
    Ok(reply)
}

fn definition(request: &Request<'_>) -> Result<PermissionDefinition, Failure> {
    resource_body::read_permission(&request.json_object("a permission")?)
}
