//! `/_armilla/backups`: the moment of a backup, and what lies in it, piece by piece.

use armilla_rest_wire::status::Status;
use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

/// Fixes the moment of a backup.
pub(crate) async fn begin(request: &Request<'_>) -> Result<Reply, Failure> {
    request.expect_verb("POST")?;
    let begun = request.engine.begin_backup(&request.caller).await?;
    let mut body = Object::default();
    body.insert("id", begun.id);
    body.insert("account", begun.account);
    body.insert("momentMs", begun.moment_ms);
    body.insert("spaces", begun.spaces as i64);
    body.insert("program", env!("CARGO_PKG_VERSION"));
    Ok(Reply::json(StatusCode::CREATED, json::to_string(&Value::Object(body))))
}

/// Gives a piece of a backup.
pub(crate) async fn frame(request: &Request<'_>, id: &str, number: u64) -> Result<Reply, Failure> {
    request.expect_verb("GET")?;
    match request.engine.backup_frame(&request.caller, id, number).await? {
        Some(frame) => Ok(Reply::binary(StatusCode::OK, frame)),
        None => Err(no_backup(id)),
    }
}

/// Lets go of the moment.
pub(crate) async fn end(request: &Request<'_>, id: &str) -> Result<Reply, Failure> {
    request.expect_verb("DELETE")?;
    match request.engine.end_backup(&request.caller, id).await? {
        true => Ok(Reply::empty(StatusCode::NO_CONTENT)),
        false => Err(no_backup(id)),
    }
}

fn no_backup(id: &str) -> Failure {
    let message = format!(
        "no backup {id} is being taken: it has ended, nobody asked for it for too long, or the server was restarted"
    );
    Failure::new(Status::NOT_FOUND, message)
}
