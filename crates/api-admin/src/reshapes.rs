//! `/_armilla/dbs/{d}/colls/{c}/split` and `.../merge`: physical partitions that are to change.
//!
//! They are answered when they have begun (202); how far they are stands among the figures (`partitions`).

use armilla_value::{Object, Value};
use http::StatusCode;

use crate::body::refuse_unknown_members;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

/// Begins to split a range.
pub(crate) async fn split(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    request.expect_verb("POST")?;
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
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

/// Begins to merge two ranges.
pub(crate) async fn merge(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    request.expect_verb("POST")?;
    let body = request.json_object("a request to merge ranges")?;
    refuse_unknown_members(&body, &["ranges"])?;
    let Some([first, second]) = body.get("ranges").and_then(Value::as_array) else {
        return Err(Failure::bad_request("'ranges' is no array of the ids of two ranges"));
    };
    let ranges = [range_id(first)?, range_id(second)?];
    request.engine.merge(&request.caller, database, container, ranges).await?;
    Ok(Reply::empty(StatusCode::ACCEPTED))
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
