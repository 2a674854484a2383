//! `/_armilla/dbs/{d}/colls/{c}/history`: what the physical partitions of a container have served in the last minute, second
//! by second, and in the last hour, minute by minute, so that who begins to look sees what was before.
//!
//! Partitions that were not opened since the start, and those of other nodes, are left out.

use armilla_engine::{History, Stretch};
use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

/// Seconds of a minute.
const MINUTE: i64 = 60;

/// Tells what the partitions of a container have served.
pub(crate) fn read(request: &Request<'_>, database: &str, container: &str) -> Result<Reply, Failure> {
    request.expect_verb("GET")?;
    let histories = request.engine.histories(&request.caller, database, container)?;
    Ok(Reply::json(StatusCode::OK, json::to_string(&document(&histories).into())))
}

fn document(histories: &[(u32, History)]) -> Object {
    let now = |of: fn(&History) -> i64| histories.iter().map(|(_, history)| of(history)).max().unwrap_or(0);
    let mut document = Object::default();
    document.insert("seconds", steps(1, now(|history| history.now), histories, |history| &history.seconds));
    let minute = now(|history| history.minute);
    document.insert("minutes", steps(MINUTE, minute * MINUTE, histories, |history| &history.minutes));
    document
}

/// Returns stretches of one length, whose last ends at a second since 1970.
fn steps(length: i64, end: i64, histories: &[(u32, History)], of: fn(&History) -> &[Stretch]) -> Object {
    let partitions = histories.iter().map(|(range, history)| {
        let list = |value: fn(&Stretch) -> Value| of(history).iter().map(value).collect::<Vec<Value>>();
        let mut object = Object::default();
        object.insert("id", range.to_string());
        object.insert("used", list(|stretch| (stretch.charge.hundredths() as f64 / 100.0).into()));
        object.insert("refused", list(|stretch| i64::try_from(stretch.refused).unwrap_or(i64::MAX).into()));
        object
            .insert("operations", list(|stretch| i64::try_from(stretch.requests).unwrap_or(i64::MAX).into()));
        object
    });
    let mut object = Object::default();
    object.insert("step", length);
    object.insert("end", end);
    object.insert("partitions", partitions.collect::<Vec<Object>>());
    object
}
