//! `listDatabases`.

use armilla_engine::Caller;
use armilla_mongo_expression::{Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use super::list_collections::containers;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["filter", "nameOnly", "authorizedDatabases"])?;
    if context.database != "admin" {
        return Err(Failure::new(
            codes::UNAUTHORIZED,
            "listDatabases may only be run against the admin database.",
        ));
    }
    let filter = match arguments.object("filter")? {
        Some(filter) => Some(Filter::parse(filter, &Scope::default())?),
        None => None,
    };
    let is_name_only = arguments.truth("nameOnly")?;
    let (_, environment) = context.environment_with(None)?;
    let caller = Caller::full();
    let mut databases = Vec::new();
    let mut total: i64 = 0;
    let mut continuation: Option<String> = None;
    loop {
        let page = context.shared.engine.list_databases(&caller, None, continuation.as_deref())?.value;
        for database in page.resources {
            if let Some(user) = &context.connection.user
                && !crate::users::may(user, &database.id, false)
            {
                continue;
            }
            let names = containers(context, &database.id)?;
            // As on the server, a database is there with the first collection.
            if names.is_empty() && context.shared.catalog.views(&database.id).await?.is_empty() {
                continue;
            }
            let mut bytes: i64 = 0;
            for (name, _) in &names {
                if let Ok(found) = context.shared.engine.container(&database.id, name)
                    && let Ok(usage) = found.container.usage_seen(&caller)
                {
                    bytes = bytes
                        .saturating_add(i64::try_from(usage.bytes + usage.index_bytes).unwrap_or(i64::MAX));
                }
            }
            let shown = Object::from([
                ("name", Value::from(database.id.as_str())),
                ("sizeOnDisk", Value::Int64(bytes)),
                ("empty", Value::Bool(bytes == 0)),
            ]);
            if let Some(filter) = &filter
                && !filter.matches(&shown, &environment)?
            {
                continue;
            }
            total = total.saturating_add(bytes);
            databases.push(Value::Object(if is_name_only {
                Object::from([("name", database.id.as_str())])
            } else {
                shown
            }));
        }
        match page.continuation {
            Some(next) => continuation = Some(next),
            None => break,
        }
    }
    let mut reply = Object::from([("databases", Value::Array(databases))]);
    if !is_name_only {
        reply.insert("totalSize", Value::Int64(total));
        reply.insert("totalSizeMb", Value::Int64(total / (1024 * 1024)));
    }
    Ok(reply.into())
}
