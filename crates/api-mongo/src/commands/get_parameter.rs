//! `getParameter`.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

pub(super) fn run(context: &Context<'_>) -> Result<Reply> {
    let known = Object::from([
        ("featureCompatibilityVersion", Value::Object(Object::from([("version", "7.0")]))),
        ("enableTestCommands", Value::Bool(context.shared.options.test_commands)),
        ("authenticationMechanisms", Value::from(vec!["SCRAM-SHA-1", "SCRAM-SHA-256"])),
        ("requireApiVersion", Value::Bool(false)),
        ("localLogicalSessionTimeoutMinutes", Value::Int32(30)),
        ("transactionLifetimeLimitSeconds", Value::Int32(lifetime_seconds())),
    ]);
    let is_all = match context.command.iter().next() {
        Some((_, Value::String(all))) if all == "*" => true,
        Some((_, Value::Object(options))) => options.get("allParameters") == Some(&Value::Bool(true)),
        _ => false,
    };
    if is_all {
        return Ok(known.into());
    }
    let asked = context.command.iter().skip(1).filter(|(name, _)| !name.starts_with('$'));
    let found: Object =
        asked.filter_map(|(name, _)| known.get(name).map(|value| (name.to_owned(), value.clone()))).collect();
    if found.is_empty() {
        return Err(Failure::new(codes::INVALID_OPTIONS, "no option found to get"));
    }
    Ok(found.into())
}

fn lifetime_seconds() -> i32 {
    i32::try_from(armilla_engine::TRANSACTION_TIME_MAX.as_secs()).unwrap_or(i32::MAX)
}
