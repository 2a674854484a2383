//! `POST /dbs/{database}/colls/{container}/sprocs/{procedure}`: running a stored procedure.
//!
//! What the procedure answers is the body of the reply as it stands; a procedure that says nothing gives a reply
//! without a body, which clients show as nothing.

use std::borrow::Cow;

use armilla_engine::{Footprint, Located, ProcedureOptions};
use armilla_rest_wire::names;
use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::reply::Reply;
use crate::reply::failure::Failure;
use crate::request::Request;
use crate::request::scope::operation_key;

/// Runs a stored procedure in the logical partition that the headers name.
pub(crate) async fn execute(
    request: &Request<'_>,
    located: &Located,
    procedure: &str,
) -> Result<Reply, Failure> {
    let caller = request.item_caller()?;
    let partition_key = operation_key(request, &located.container)?;
    let rehearses = request.headers.flag(&names::SCRIPT_REHEARSAL)?;
    let shows_footprint = rehearses || request.headers.flag(&names::SCRIPT_ENABLE_FOOTPRINT)?;
    let keeps_log = request.headers.flag(&names::SCRIPT_ENABLE_LOGGING)?;
    let options = ProcedureOptions { keeps_log, rehearses };
    let arguments = arguments(&request.body)?;
    let done = request
        .engine
        .execute_procedure(&caller, located, procedure, partition_key.as_ref(), &arguments, options)
        .await?;
    let mut reply = match done.body {
        Some(body) => Reply::json(StatusCode::OK, body, done.charge),
        None => Reply::empty(StatusCode::OK, done.charge),
    };
    reply.position(done.position);
    if let Some(log) = &done.log {
        reply.script_log(log);
    }
    if shows_footprint {
        reply.script_footprint(&shown(&done.footprint));
    }
    Ok(reply)
}

/// Returns what a script has read and written, as JSON.
fn shown(footprint: &Footprint) -> String {
    let Footprint { reads, queries, rows, writes, written, .. } = footprint;
    let mut object = Object::default();
    for (name, count) in [("reads", reads), ("queries", queries), ("rows", rows), ("writes", writes)] {
        object.insert(name, i64::try_from(*count).unwrap_or(i64::MAX));
    }
    let written = written
        .iter()
        .map(|(touch, id)| Value::Object(Object::from([("operation", touch.name()), ("id", id.as_str())])));
    object.insert("written", Value::Array(written.collect()));
    json::to_string(&Value::Object(object))
}

/// Returns the arguments as a JSON array, or nothing. What is no array is one argument.
fn arguments(body: &[u8]) -> Result<Cow<'_, [u8]>, Failure> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Cow::Borrowed(&[]));
    }
    let parsed = json::parse(body).map_err(|error| {
        Failure::bad_request(format!("the arguments of the stored procedure are not valid JSON: {error}"))
    })?;
    Ok(match parsed {
        Value::Array(_) => Cow::Borrowed(body),
        _ => Cow::Owned([b"[", body, b"]"].concat()),
    })
}

#[cfg(test)]
mod tests {
    use super::arguments;

    #[test]
    fn arguments_are_an_array() {
        for (body, expected) in [
            ("", ""),
            (" \r\n", ""),
            ("[]", "[]"),
            ("[1, \"two\", {\"three\": 3.0}]", "[1, \"two\", {\"three\": 3.0}]"),
            ("5", "[5]"),
            ("\"text\"", "[\"text\"]"),
            ("null", "[null]"),
            (" {\"a\":[1]} ", "[ {\"a\":[1]} ]"),
        ] {
            assert_eq!(arguments(body.as_bytes()).unwrap(), expected.as_bytes(), "{body}");
        }
        for body in ["[", "[1,]", "text", "{\"a\"}", "[1] 2"] {
            assert_eq!(arguments(body.as_bytes()).unwrap_err().status.http, 400, "{body}");
        }
    }
}
