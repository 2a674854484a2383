//! `replSetGetStatus` and `replSetGetConfig`: a set of one member.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

fn check(context: &Context<'_>) -> Result<String> {
    if context.database != "admin" {
        return Err(Failure::new(
            codes::UNAUTHORIZED,
            format!("{} may only be run against the admin database.", context.name),
        ));
    }
    Ok(context.shared.options.advertised.clone().unwrap_or_else(|| context.connection.came_to.clone()))
}

pub(super) fn status(context: &Context<'_>) -> Result<Reply> {
    let address = check(context)?;
    let now = context.shared.clock.now();
    let moment = || Value::Object(Object::from([("ts", Value::from(now)), ("t", Value::Int64(1))]));
    let date = Value::Date(context.shared.env.clock.now_ms());
    let uptime = i64::try_from(context.shared.env.clock.elapsed().as_secs()).unwrap_or(i64::MAX);
    let member = Object::from([
        ("_id", Value::Int32(0)),
        ("name", Value::from(address)),
        ("health", Value::Double(1.0)),
        ("state", Value::Int32(1)),
        ("stateStr", Value::from("PRIMARY")),
        ("uptime", Value::Int64(uptime)),
        ("optime", moment()),
        ("optimeDate", date.clone()),
        ("electionTime", Value::Timestamp { seconds: 1, increment: 1 }),
        ("configVersion", Value::Int32(1)),
        ("self", Value::Bool(true)),
    ]);
    Ok(Object::from([
        ("set", Value::from(context.shared.options.set_name.as_str())),
        ("date", date),
        ("myState", Value::Int32(1)),
        ("term", Value::Int64(1)),
        ("heartbeatIntervalMillis", Value::Int64(2_000)),
        (
            "optimes",
            Value::Object(Object::from([("lastCommittedOpTime", moment()), ("appliedOpTime", moment())])),
        ),
        ("members", Value::Array(vec![Value::Object(member)])),
    ])
    .into())
}

pub(super) fn config(context: &Context<'_>) -> Result<Reply> {
    let address = check(context)?;
    let member = Object::from([
        ("_id", Value::Int32(0)),
        ("host", Value::from(address)),
        ("arbiterOnly", Value::Bool(false)),
        ("hidden", Value::Bool(false)),
        ("priority", Value::Double(1.0)),
        ("votes", Value::Int32(1)),
    ]);
    let config = Object::from([
        ("_id", Value::from(context.shared.options.set_name.as_str())),
        ("version", Value::Int32(1)),
        ("term", Value::Int64(1)),
        ("members", Value::Array(vec![Value::Object(member)])),
        ("protocolVersion", Value::Int64(1)),
    ]);
    Ok(Object::from([("config", config)]).into())
}
