//! `/_armilla/...`: what this server has besides the API of the service, for those who run it.
//!
//! ```text
//! GET  /_armilla/partitions                     the physical partitions of all containers, with their figures
//! POST /_armilla/dbs/{d}/colls/{c}/split        {"range":"0","at":"1FFF.."}, both left out or not
//! POST /_armilla/dbs/{d}/colls/{c}/merge        {"ranges":["1","2"]}
//! ```
//!
//! Splits and merges are answered when they have begun (202); how far they are stands among the figures.
//!
//! Invariant: nobody comes here with less than a key of the account.

use armilla_engine::{Access, RequestUnits};
use armilla_value::{Object, Value};
use http::{Method, StatusCode};

use crate::failure::Failure;
use crate::figures_text;
use crate::path::{AdminResource, ReshapeKind};
use crate::request::Request;
use crate::response::Reply;
use crate::status::Status;

/// Serves an administrator.
pub(crate) async fn serve(request: &Request<'_>, resource: &AdminResource<'_>) -> Result<Reply, Failure> {
    if matches!(request.caller.access, Access::Granted(_)) {
        return Err(Failure::new(
            Status::FORBIDDEN,
            "a resource token gives access to one container or item, not to the administration of the account",
        ));
    }
    match resource {
        AdminResource::Partitions => partitions(request),
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
