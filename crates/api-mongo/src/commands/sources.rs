//! Stages that bring documents of their own: figures of collections, operations, sessions.

use armilla_mongo_expression::codes;
use armilla_mongo_pipeline::Stage;
use armilla_value::{Object, Value};

use super::aggregate::Input;
use crate::catalog::Collection;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::sessions::id_value;

/// Returns what a stage brings.
pub(super) async fn documents(context: &Context<'_>, input: &Input, stage: &Stage) -> Result<Vec<Object>> {
    match stage {
        Stage::CollStats(options) => match input {
            Input::Collection(collection) => Ok(vec![coll_stats(context, collection, options)?]),
            _ => Err(Failure::new(
                codes::NAMESPACE_NOT_FOUND,
                "Unable to retrieve storageStats in $collStats stage: Collection does not exist",
            )),
        },
        Stage::IndexStats => match input {
            Input::Collection(collection) => Ok(super::list_indexes::all(collection)
                .into_iter()
                .map(|index| {
                    let accesses = Object::from([
                        ("ops", Value::Int64(0)),
                        ("since", Value::Date(context.shared.env.clock.now_ms())),
                    ]);
                    Object::from([
                        ("name", index.get("name").cloned().unwrap_or(Value::Null)),
                        ("key", index.get("key").cloned().unwrap_or(Value::Null)),
                        ("host", Value::from(context.connection.came_to.as_str())),
                        ("accesses", Value::Object(accesses)),
                        ("spec", Value::Object(index)),
                    ])
                })
                .collect()),
            _ => Ok(Vec::new()),
        },
        Stage::CurrentOp(_) => Ok(vec![super::current_op::this(context)]),
        Stage::ListLocalSessions(_) | Stage::ListSessions(_) => Ok(context
            .shared
            .sessions
            .list()
            .into_iter()
            .map(|(id, _, idle)| {
                let used = context.shared.env.clock.now_ms() - i64::try_from(idle.as_millis()).unwrap_or(0);
                let id = Object::from([
                    ("id", id_value(id)),
                    ("uid", Value::Binary { subtype: 0, bytes: vec![0; 32] }),
                ]);
                Object::from([("_id", Value::Object(id)), ("lastUse", Value::Date(used))])
            })
            .collect()),
        Stage::PlanCacheStats => Ok(Vec::new()),
        other => Err(Failure::new(
            codes::COMMAND_NOT_SUPPORTED,
            format!("the stage {} is not supported here", other.name()),
        )),
    }
}

fn coll_stats(context: &Context<'_>, collection: &Collection, options: &Object) -> Result<Object> {
    let mut document = Object::from([
        ("ns", Value::from(collection.namespace.to_string())),
        ("host", Value::from(context.connection.came_to.as_str())),
        ("localTime", Value::Date(context.shared.env.clock.now_ms())),
    ]);
    if options.contains("storageStats") {
        document.insert("storageStats", super::coll_stats::figures(context, collection, 1)?);
    }
    if options.contains("count") {
        let usage = collection.handle.usage(&context.caller)?;
        document.insert("count", Value::Int64(i64::try_from(usage.items).unwrap_or(i64::MAX)));
    }
    if options.contains("latencyStats") {
        let none = || Value::Object(Object::from([("latency", Value::Int64(0)), ("ops", Value::Int64(0))]));
        let stats = Object::from([
            ("reads", none()),
            ("writes", none()),
            ("commands", none()),
            ("transactions", none()),
        ]);
        document.insert("latencyStats", stats);
    }
    Ok(document)
}
