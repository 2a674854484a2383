//! `/dbs/{database}/colls/{container}/sprocs`, `triggers`, `udfs` and one script of each.
//!
//! Not here: running a stored procedure (`procedures`) and naming a trigger with a write (`items`).

use armilla_engine::{LIST_MAX, ScriptDefinition, ScriptKind, TriggerRule};
use armilla_rest_wire::names;
use armilla_value::{Object, Value};
use http::{Method, StatusCode};

use crate::queries;
use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::reply::resource_text::{feed_reply, reply};
use crate::request::Request;
use crate::request::scope::check_intended_container;

/// Serves the scripts of a kind that a container has.
pub(crate) async fn feed(
    request: &Request<'_>,
    database: &str,
    container: &str,
    kind: ScriptKind,
) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    check_intended_container(request, &engine.container(database, container)?)?;
    let (mut reply, parent_rid) = match *request.method {
        Method::GET => {
            let (count_max, continuation) = request.page()?;
            let answer = engine.list_scripts(caller, database, container, kind, count_max, continuation)?;
            (feed_reply(kind.resource_kind(), &answer), answer.value.parent_rid)
        }
        Method::POST if request.headers.is_query()? => {
            let list = |continuation: Option<&str>| {
                engine.list_scripts(caller, database, container, kind, Some(LIST_MAX), continuation)
            };
            queries::resources(request, kind.resource_kind(), list).await?
        }
        Method::POST => {
            let definition = definition(request, kind)?;
            let (answer, created) = if request.headers.flag(&names::IS_UPSERT)? {
                engine.upsert_script(caller, database, container, kind, &definition).await?
            } else {
                (engine.create_script(caller, database, container, kind, &definition).await?, true)
            };
            let status = if created { StatusCode::CREATED } else { StatusCode::OK };
            (reply(status, &answer), answer.value.parent_rid)
        }
        _ => return Err(request.verb_not_allowed("GET, POST")),
    };
    reply.content_path(format!("dbs/{database}/colls/{container}"), &parent_rid);
    Ok(reply)
}

/// Serves one script.
pub(crate) async fn single(
    request: &Request<'_>,
    database: &str,
    container: &str,
    kind: ScriptKind,
    script: &str,
) -> Result<Reply, Failure> {
    let (engine, caller) = (request.engine, &request.caller);
    check_intended_container(request, &engine.container(database, container)?)?;
    let answer = match *request.method {
        Method::GET => {
            let known = request.known_version()?;
            engine.read_script(caller, database, container, kind, script, known)?
        }
        Method::PUT => {
            let (definition, precondition) = (definition(request, kind)?, request.expected_version()?);
            engine
                .replace_script(caller, database, container, kind, script, &definition, precondition)
                .await?
        }
        Method::DELETE => {
            let precondition = request.expected_version()?;
            let answer =
                engine.delete_script(caller, database, container, kind, script, precondition).await?;
            return Ok(Reply::empty(StatusCode::NO_CONTENT, answer.charge));
        }
        _ => {
            return Err(request.verb_not_allowed(match kind {
                ScriptKind::StoredProcedure => "GET, POST, PUT, DELETE",
                ScriptKind::Trigger | ScriptKind::UserDefinedFunction => "GET, PUT, DELETE",
            }));
        }
    };
    let mut reply = reply(StatusCode::OK, &answer);
    reply.content_path(format!("dbs/{database}/colls/{container}"), &answer.value.parent_rid);
    Ok(reply)
}

/// Returns the script in the body.
fn definition(request: &Request<'_>, kind: ScriptKind) -> Result<ScriptDefinition, Failure> {
    let what = match kind {
        ScriptKind::StoredProcedure => "a stored procedure",
        ScriptKind::Trigger => "a trigger",
        ScriptKind::UserDefinedFunction => "a user-defined function",
    };
    let object = request.json_object(what)?;
    let id = text(&object, "id").ok_or_else(|| Failure::missing_id(what))?;
    let body = text(&object, "body").ok_or_else(|| {
        Failure::bad_request(format!("{what} needs a 'body' with the text of a JavaScript function"))
    })?;
    let trigger = match kind {
        ScriptKind::Trigger => Some(trigger_rule(&object)?),
        ScriptKind::StoredProcedure | ScriptKind::UserDefinedFunction => None,
    };
    Ok(ScriptDefinition { id: id.to_owned(), body: body.to_owned(), trigger })
}

/// Returns when a trigger runs.
fn trigger_rule(object: &Object) -> Result<TriggerRule, Failure> {
    let member = |name: &str, words: &str| {
        text(object, name).ok_or_else(|| {
            Failure::bad_request(format!("a trigger needs a '{name}', one of the texts {words}"))
        })
    };
    let time = member("triggerType", "Pre and Post")?;
    let operation = member("triggerOperation", "All, Create, Update, Delete, Replace and Upsert")?;
    Ok(TriggerRule::parse(time, operation)?)
}

fn text<'o>(object: &'o Object, name: &str) -> Option<&'o str> {
    object.get(name).and_then(Value::as_str)
}
