//! What all commands have in common: versions of the API that are asked for, labels of failures, the end of a reply.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::arguments::{Arguments, number};
use crate::context::Context;
use crate::failure::{Failure, Result};

/// Failures after which a driver may send a write again.
const RETRYABLE: [i32; 14] =
    [6, 7, 89, 91, 134, 189, 262, 358, 9_001, 10_107, 11_600, 11_602, 13_435, 13_436];

/// Members that a set may have.
const MEMBERS_MAX: i64 = 50;

/// Refuses versions of the API that are not there.
pub(crate) fn check_api(command: &Object) -> Result<()> {
    match command.get("apiVersion") {
        None => {
            for name in ["apiStrict", "apiDeprecationErrors"] {
                if command.contains(name) {
                    return Err(Failure::new(
                        codes::API_VERSION_ERROR,
                        format!("Provided {name} without apiVersion"),
                    ));
                }
            }
            Ok(())
        }
        Some(Value::String(version)) if version == "1" => Ok(()),
        Some(Value::String(_)) => Err(Failure::new(codes::API_VERSION_ERROR, "API version must be \"1\"")),
        Some(_) => Err(Failure::new(codes::TYPE_MISMATCH, "BSON field 'apiVersion' must be a string")),
    }
}

/// Commands of version 1 of the stable API.
const STABLE: [&str; 28] = [
    "abortTransaction",
    "aggregate",
    "bulkWrite",
    "collMod",
    "commitTransaction",
    "count",
    "create",
    "createIndexes",
    "delete",
    "drop",
    "dropDatabase",
    "dropIndexes",
    "endSessions",
    "explain",
    "find",
    "findAndModify",
    "getMore",
    "hello",
    "insert",
    "killCursors",
    "listCollections",
    "listDatabases",
    "listIndexes",
    "ping",
    "refreshSessions",
    "update",
    "authenticate",
    "saslStart",
];

/// Refuses what is outside of the version that a client insists on.
pub(crate) fn check_strict(name: &str, command: &Object) -> Result<()> {
    let is_strict = command.get("apiStrict").and_then(Value::as_bool).unwrap_or(false);
    if is_strict
        && !STABLE.contains(&name)
        && !matches!(name, "saslContinue" | "isMaster" | "ismaster" | "logout")
    {
        return Err(Failure::new(
            codes::API_STRICT_ERROR,
            format!("Provided apiStrict:true, but the command {name} is not in API Version 1"),
        ));
    }
    Ok(())
}

/// Refuses a write concern that is none. Whichever it is, it is met.
pub(crate) fn check_write_concern(command: &Object) -> Result<()> {
    let Some(concern) = Arguments::new("writeConcern", command).object("writeConcern")? else {
        return Ok(());
    };
    let concern = Arguments::new("writeConcern", concern);
    concern.allow_only(&["w", "j", "fsync", "wtimeout", "provenance"])?;
    concern.truth("j")?;
    concern.truth("fsync")?;
    concern.integer("wtimeout")?;
    let is_fine = match concern.value("w") {
        None | Some(Value::String(_) | Value::Object(_)) => true,
        Some(members) => number(members).is_some_and(|members| (0..=MEMBERS_MAX).contains(&members)),
    };
    match is_fine {
        true => Ok(()),
        false => Err(Failure::parse(format!("w has to be a number from 0 to {MEMBERS_MAX}, or a word"))),
    }
}

/// Says what is wrong with a write concern that a set of one member cannot meet: for tests of drivers, since the service
/// takes any.
pub(crate) fn unmet_concern(command: &Object) -> Option<Object> {
    let concern = command.get("writeConcern")?.as_object()?;
    let (code, message) = match concern.get("w")? {
        Value::String(tag) if tag == "majority" => return None,
        Value::String(tag) => (
            codes::UNKNOWN_REPL_WRITE_CONCERN,
            format!("No write concern mode named '{tag}' found in replica set configuration"),
        ),
        members if number(members)? > 1 => {
            (codes::UNSATISFIABLE_WRITE_CONCERN, "Not enough data-bearing nodes".to_owned())
        }
        _ => return None,
    };
    let mut asked = concern.clone();
    asked.insert("provenance", "clientSupplied");
    Some(Object::from([
        ("code", Value::Int32(code)),
        ("codeName", Value::from(codes::name(code))),
        ("errmsg", Value::from(message)),
        ("errInfo", Value::Object(Object::from([("writeConcern", asked)]))),
    ]))
}

/// Puts together the reply of a failure.
pub(crate) fn failure_reply(failure: Failure, context: &Context<'_>, is_stream: bool) -> Object {
    let labels = labels(&failure, context, is_stream);
    let mut reply = Object::from([
        ("ok", Value::Double(0.0)),
        ("errmsg", Value::from(failure.message)),
        ("code", Value::Int32(failure.code)),
        ("codeName", Value::from(codes::name(failure.code))),
    ]);
    for (name, value) in failure.extra {
        reply.insert(name, value);
    }
    if !labels.is_empty() {
        reply.insert("errorLabels", Value::Array(labels.into_iter().map(Value::String).collect()));
    }
    if let Some(wait) = failure.retry_after_ms
        && context.connection.waits
    {
        reply.insert("baseBackoffMS", Value::Int64(i64::try_from(wait).unwrap_or(i64::MAX)));
    }
    reply
}

/// Says what drivers may do about a failure.
fn labels(failure: &Failure, context: &Context<'_>, is_stream: bool) -> Vec<String> {
    let mut labels: Vec<String> = failure.labels.iter().map(|label| label.to_string()).collect();
    if failure.labels_are_final {
        return labels;
    }
    let mut add = |label: &str| {
        if !labels.iter().any(|known| known == label) {
            labels.push(label.to_owned());
        }
    };
    let code = failure.code;
    let ends_transaction = matches!(context.name, "commitTransaction" | "abortTransaction");
    let is_retryable = RETRYABLE.contains(&code);
    if context.is_in_transaction {
        let is_transient = matches!(code, 112 | 24 | 267 | 239 | 246 | 250 | 272 | 251);
        if is_transient || (!ends_transaction && (is_retryable || code == codes::TOO_MANY_REQUESTS)) {
            add("TransientTransactionError");
        } else if ends_transaction && is_retryable {
            add("RetryableWriteError");
            if failure.is_in_doubt && context.name == "commitTransaction" {
                add("UnknownTransactionCommitResult");
            }
        }
    } else if context.number.is_some() && is_retryable {
        add("RetryableWriteError");
        // A driver that sends a write again and reads this tells its caller of the failure before: that is the one to
        // know of, unless this attempt has done something, or may have.
        if !failure.is_in_doubt && !context.charges.has_written() {
            add("NoWritesPerformed");
        }
    }
    if is_stream && (is_retryable || matches!(code, 133 | 234 | 43 | 50 | 63 | 150 | 13_388)) {
        add("ResumableChangeStreamError");
    }
    if is_stream && matches!(code, 280 | 286) {
        add("NonResumableChangeStreamError");
    }
    if code == codes::TOO_MANY_REQUESTS && context.connection.waits && !context.is_in_transaction {
        add("SystemOverloadedError");
        add("RetryableError");
    }
    labels
}

/// Says whether a write may be sent again after a failure with this number.
pub(crate) fn is_retryable(code: i32) -> bool {
    RETRYABLE.contains(&code)
}
