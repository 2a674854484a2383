//! `getLog` and `profile`.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

pub(super) fn run(context: &Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[])?;
    match arguments.required_string("getLog")? {
        "*" => Ok(Object::from([("names", Value::from(vec!["global", "startupWarnings"]))]).into()),
        // What the server writes goes to its standard error and is not kept.
        "global" | "startupWarnings" => {
            Ok(Object::from([("totalLinesWritten", Value::Int32(0)), ("log", Value::Array(Vec::new()))])
                .into())
        }
        other => Err(Failure::new(codes::OPERATION_FAILED, format!("No log named '{other}'"))),
    }
}

pub(super) fn profile(context: &Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["slowms", "sampleRate", "filter"])?;
    arguments.refuse(&["slowms", "sampleRate", "filter"], "see --slow-request-ms and the metrics")?;
    match arguments.integer("profile")? {
        Some(-1 | 0) => Ok(Object::from([
            ("was", Value::Int32(0)),
            ("slowms", Value::Int32(100)),
            ("sampleRate", Value::Double(1.0)),
        ])
        .into()),
        _ => Err(Failure::new(
            codes::COMMAND_NOT_SUPPORTED,
            "operations are not profiled into a collection: see --slow-request-ms and the metrics",
        )),
    }
}
