//! `/_armilla/...`: what this server has besides the API of the service, for those who run it.
//!
//! ```text
//! GET  /_armilla/partitions                     the physical partitions of all containers, with their figures
//! POST /_armilla/dbs/{d}/colls/{c}/split        {"range":"0","at":"1FFF.."}, both left out or not
//! POST /_armilla/dbs/{d}/colls/{c}/merge        {"ranges":["1","2"]}
//! POST /_armilla/backups                        fixes the moment of a backup, and answers with its id
//! GET  /_armilla/backups/{id}/frames/{n}        a piece of it, from 0 on, each again or the next
//! DELETE /_armilla/backups/{id}                 lets go of the moment
//! ```
//!
//! Splits and merges are answered when they have begun (202); how far they are stands among the figures.
//!
//! Invariant: nobody comes here with less than a key of the account.

use armilla_engine::RequestUnits;
use armilla_value::{Object, Value, json};
use http::{Method, StatusCode};

use crate::failure::Failure;
use crate::figures_text;
use crate::path::{AdminResource, ReshapeKind};
use crate::request::Request;
use crate::response::Reply;
use crate::status::Status;

/// Serves an administrator.
pub(crate) async fn serve(request: &Request<'_>, resource: &AdminResource<'_>) -> Result<Reply, Failure> {
    request.caller.access.check_key()?;
    match resource {
        AdminResource::Partitions => partitions(request),
        AdminResource::Backups => begin_backup(request).await,
        AdminResource::Backup { id } => end_backup(request, id).await,
        AdminResource::BackupFrame { id, number } => backup_frame(request, id, *number).await,
        AdminResource::Reshape { database, container, kind } => {
            reshape(request, database, container, *kind).await
        }
    }
}

fn partitions(request: &Request<'_>) -> Result<Reply, Failure> {
    if *request.method != Method::GET {
        return Err(request.verb_not_allowed("GET"));
    }
    let containers = request.engine.partitions(&request.caller)?;
    Ok(Reply::json(StatusCode::OK, figures_text::containers(&containers), RequestUnits::ZERO))
}

async fn begin_backup(request: &Request<'_>) -> Result<Reply, Failure> {
    if *request.method != Method::POST {
        return Err(request.verb_not_allowed("POST"));
    }
    let begun = request.engine.begin_backup(&request.caller).await?;
    let mut body = Object::default();
    body.insert("id", begun.id);
    body.insert("account", begun.account);
    body.insert("momentMs", begun.moment_ms);
    body.insert("spaces", begun.spaces as i64);
    body.insert("program", env!("CARGO_PKG_VERSION"));
    let text = json::to_string(&Value::Object(body));
    Ok(Reply::json(StatusCode::CREATED, text, RequestUnits::ZERO))
}

async fn backup_frame(request: &Request<'_>, id: &str, number: u64) -> Result<Reply, Failure> {
    if *request.method != Method::GET {
        return Err(request.verb_not_allowed("GET"));
    }
    match request.engine.backup_frame(&request.caller, id, number).await? {
        Some(frame) => Ok(Reply::binary(StatusCode::OK, frame, RequestUnits::ZERO)),
        None => Err(no_backup(id)),
    }
}

async fn end_backup(request: &Request<'_>, id: &str) -> Result<Reply, Failure> {
    if *request.method != Method::DELETE {
        return Err(request.verb_not_allowed("DELETE"));
    }
    match request.engine.end_backup(&request.caller, id).await? {
        true => Ok(Reply::empty(StatusCode::NO_CONTENT, RequestUnits::ZERO)),
        false => Err(no_backup(id)),
    }
}

fn no_backup(id: &str) -> Failure {
    let message = format!(
        "no backup {id} is being taken: it has ended, nobody asked for it for too long, or the server was restarted"
    );
    Failure::new(Status::NOT_FOUND, message)
}

async fn reshape(
    request: &Request<'_>,
    database: &str,
    container: &str,
    kind: ReshapeKind,
) -> Result<Reply, Failure> {
    if *request.method != Method::POST {
        return Err(request.verb_not_allowed("POST"));
    }
    match kind {
        ReshapeKind::Split => {
            // Nothing has to be said: the widest range is split in the middle.
            let body = match request.body.is_empty() {
                true => Object::default(),
                false => request.json_object("a request to split a range")?,
            };
            refuse_unknown_members(&body, &["range", "at"])?;
            let range = body.get("range").filter(|range| !range.is_null()).map(range_id).transpose()?;
            let at = match body.get("at") {
                None | Some(Value::Null) => None,
                Some(Value::String(at)) => Some(at.as_str()),
                Some(_) => return Err(Failure::bad_request("'at' is no text of hexadecimal digits")),
            };
            request.engine.split(&request.caller, database, container, range, at).await?;
        }
        ReshapeKind::Merge => {
            let body = request.json_object("a request to merge ranges")?;
            refuse_unknown_members(&body, &["ranges"])?;
            let Some([first, second]) = body.get("ranges").and_then(Value::as_array) else {
                return Err(Failure::bad_request("'ranges' is no array of the ids of two ranges"));
            };
            let ranges = [range_id(first)?, range_id(second)?];
            request.engine.merge(&request.caller, database, container, ranges).await?;
        }
    }
    Ok(Reply::empty(StatusCode::ACCEPTED, RequestUnits::ZERO))
}

/// Refuses a body that says something else: a misspelt member would split another range than the one that is meant.
fn refuse_unknown_members(body: &Object, known: &[&str]) -> Result<(), Failure> {
    match body.iter().find(|(name, _)| !known.contains(name)) {
        None => Ok(()),
        Some((name, _)) => Err(Failure::bad_request(format!(
            "the body has the unknown member '{name}'; it takes {}",
            known.join(" and ")
        ))),
    }
}

/// Reads the id of a range: text, as in the partition map, or a number.
fn range_id(value: &Value) -> Result<u32, Failure> {
    let id = match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_i64().and_then(|number| u32::try_from(number).ok()),
    };
    id.ok_or_else(|| Failure::bad_request("the id of a range is a whole number, such as \"0\""))
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::range_id;

    #[test]
    fn ids_of_ranges_are_text_or_numbers() {
        for (text, expected) in [
            (r#""0""#, Some(0)),
            ("7", Some(7)),
            ("7.0", Some(7)),
            (r#""4294967295""#, Some(u32::MAX)),
            (r#""4294967296""#, None),
            ("4294967296", None),
            ("-1", None),
            (r#""""#, None),
            (r#""x""#, None),
            ("[]", None),
            ("true", None),
        ] {
            assert_eq!(range_id(&json::parse(text.as_bytes()).unwrap()).ok(), expected, "{text}");
        }
    }
}
