//! `/dbs/{database}/colls/{container}/udfs` and one user-defined function.

use armilla_engine::{LIST_MAX, ResourceKind};
use armilla_value::Value;
use http::{Method, StatusCode};

use crate::databases::missing_id;
use crate::failure::Failure;
use crate::headers::names;
use crate::queries;
use crate::request::Request;
use crate::resource_text::{feed_reply, reply};
use crate::response::Reply;

const KIND: ResourceKind = ResourceKind::UserDefinedFunction;

/// Serves the functions of a container.
pub(crate) async fn feed(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    let (mut reply, parent_rid) = match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = engine.list_user_functions(caller, database, container, count_max, continuation)?;
            (feed_reply(KIND, &answer), answer.value.parent_rid)
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                engine.list_user_functions(caller, database, container, Some(LIST_MAX), continuation)
            };
            queries::resources(request, KIND, list).await?
        }
        Method::POST => {
            let (id, body) = definition(request)?;
            let (answer, created) = if request.headers.flag(&names::IS_UPSERT)? {
                engine.upsert_user_function(caller, database, container, &id, &body).await?
            } else {
                (engine.create_user_function(caller, database, container, &id, &body).await?, true)
            };
            let status = if created { StatusCode::CREATED } else { StatusCode::OK };
            (reply(status, &answer), answer.value.parent_rid)
        }
        _ => return Err(request.verb_not_allowed("GET, POST")),
    };
    reply.content_path(format!("dbs/{database}/colls/{container}"), &parent_rid);
    Ok(reply)
}

/// Serves one function.
pub(crate) async fn single(
    request: &Request<'_>,
    database: &str,
    container: &str,
    function: &str,
) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    let answer = match *request.method {
        Method::GET => {
            let known = request.known_version()?;
            engine.read_user_function(caller, database, container, function, known)?
        }
        Method::PUT => {
            let ((id, body), precondition) = (definition(request)?, request.expected_version()?);
            engine
                .replace_user_function(caller, database, container, function, &id, &body, precondition)
                .await?
        }
        Method::DELETE => {
            let precondition = request.expected_version()?;
            let answer =
                engine.delete_user_function(caller, database, container, function, precondition).await?;
            return Ok(Reply::empty(StatusCode::NO_CONTENT, answer.charge));
        }
        _ => return Err(request.verb_not_allowed("GET, PUT, DELETE")),
    };
    let mut reply = reply(StatusCode::OK, &answer);
    reply.content_path(format!("dbs/{database}/colls/{container}"), &answer.value.parent_rid);
    Ok(reply)
}

/// Returns the name and the text of the function in the body.
fn definition(request: &Request<'_>) -> Result<(String, String), Failure> {
    let object = request.json_object("a user-defined function")?;
    let text = |name: &str| object.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = text("id").ok_or_else(|| missing_id("a user-defined function"))?;
    let body = text("body").ok_or_else(|| {
        Failure::bad_request("a user-defined function needs a 'body' with the text of a JavaScript function")
    })?;
    Ok((id, body))
}
