//! `currentOp` and `killOp`.

use armilla_mongo_expression::codes;
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use crate::arguments::is_generic;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

/// Returns the operation that asks.
pub(super) fn this(context: &Context<'_>) -> Object {
    let connection = &context.connection;
    let mut operation = Object::from([
        ("type", Value::from("op")),
        ("host", Value::from(connection.came_to.as_str())),
        ("desc", Value::from(format!("conn{}", connection.id))),
        ("connectionId", Value::Int32(connection.id)),
        ("client", Value::from(connection.peer.to_string())),
        ("active", Value::Bool(true)),
        ("currentOpTime", Value::Date(context.shared.env.clock.now_ms())),
        ("opid", Value::Int32(connection.reply_number)),
        ("op", Value::from("command")),
        ("ns", Value::from(format!("{}.$cmd", context.database))),
        ("secs_running", Value::Int64(0)),
        ("microsecs_running", Value::Int64(0)),
    ]);
    if let Some(name) = connection.application() {
        operation.insert("appName", name);
    }
    let command: Object = context
        .command
        .iter()
        .filter(|(name, _)| !name.starts_with('$'))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    operation.insert("command", command);
    operation
}

pub(super) fn run(context: &mut Context<'_>) -> Result<Reply> {
    let operation = this(context);
    // Whatever else the command has is a filter.
    let filter: Object = context
        .command
        .iter()
        .skip(1)
        .filter(|(name, _)| !is_generic(name) && !matches!(*name, "$all" | "$ownOps" | "$truncateOps"))
        .map(|(name, value)| (name.to_owned(), value.clone()))
        .collect();
    let (scope, environment) = context.environment_with(None)?;
    let is_shown = Filter::parse(&filter, &scope)?.matches(&operation, &environment)?;
    let shown = is_shown.then_some(Value::Object(operation)).into_iter().collect();
    Ok(Object::from([("inprog", Value::Array(shown))]).into())
}

pub(super) fn kill(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["op"])?;
    if arguments.integer("op")?.is_none() {
        return Err(Failure::new(codes::NAMESPACE_NOT_FOUND, "Did not provide \"op\" field"));
    }
    Ok(Object::from([("info", "attempting to kill op")]).into())
}
