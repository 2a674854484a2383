//! `findAndModify`.

use std::sync::Arc;

use armilla_mongo_filter::{Filter, Projection, Sort};
use armilla_mongo_update::Update;
use armilla_value::{Object, Value};

use super::statements::{Statements, check_hint, collection_for_writing, count};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::search::Search;
use crate::transactions::Held;
use crate::writes::{Receipts, UpdateDone, UpdateStatement, Writer};

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "query",
        "sort",
        "remove",
        "update",
        "new",
        "fields",
        "upsert",
        "hint",
        "let",
        "collation",
        "arrayFilters",
        "bypassDocumentValidation",
    ])?;
    context.check_collation()?;
    let namespace = context.namespace()?;
    let statements = Statements::of(context, 1)?;
    let (scope, environment) = context.environment()?;
    let environment = Arc::new(environment);
    let none = Object::new();
    let filter = Arc::new(Filter::parse(arguments.object("query")?.unwrap_or(&none), &scope)?);
    let sort = match arguments.object("sort")? {
        Some(sort) if !sort.is_empty() => Some(Arc::new(Sort::parse(sort)?)),
        _ => None,
    };
    let fields = match arguments.object("fields")? {
        Some(fields) if !fields.is_empty() => Some(Projection::parse(fields, Some(&filter), &scope)?),
        _ => None,
    };
    let (removes, is_new, is_upsert) =
        (arguments.truth("remove")?, arguments.truth("new")?, arguments.truth("upsert")?);
    let bypasses = arguments.truth("bypassDocumentValidation")?;
    let update = match (arguments.value("update"), removes) {
        (None, true) => None,
        (Some(update), false) => Some(Update::parse(update, arguments.array("arrayFilters")?, None, &scope)?),
        (Some(_), true) => return Err(Failure::parse("Cannot specify both an update and remove=true")),
        (None, false) => return Err(Failure::parse("Either an update or remove=true must be specified")),
    };
    if removes && is_new {
        return Err(Failure::parse(
            "Cannot specify both new=true and remove=true; 'remove' always returns the deleted document",
        ));
    }
    if removes && is_upsert {
        return Err(Failure::parse("Cannot specify both upsert=true and remove=true"));
    }
    if let Some(outcome) = statements.before(context, 0)? {
        return Ok(outcome.into());
    }
    count(&context.shared.counters.command, 1);
    let collection = match context.shared.catalog.collection_of(&namespace).await? {
        Some(collection) => collection,
        None if is_upsert => Box::pin(collection_for_writing(context, &namespace)).await?,
        None => return Ok(nothing(removes)),
    };
    check_hint(&collection, arguments.value("hint"))?;
    let search = Search { sort, ..Search::new(&collection, filter, environment.clone()) };
    let mut held = Held::of(context)?;
    let data = held.data(&context.caller, &context.charges, &collection, search.partition_key()).await?;
    let new_id = || context.new_object_id();
    let project = |document: Option<&Object>| -> Result<Value> {
        let Some(document) = document else { return Ok(Value::Null) };
        Ok(Value::Object(match &fields {
            Some(fields) => {
                // Which element it was, is found out from the document that is shown.
                let matched = search.filter.find(document, &environment)?.unwrap_or_default();
                fields.apply(document, &matched, &environment)?
            }
            None => document.clone(),
        }))
    };
    let outcome = |done: &UpdateDone| -> Result<Object> {
        let is_found = done.matched > 0;
        let mut last = Object::from([("n", Value::Int32(i32::from(is_found || done.upserted.is_some())))]);
        if !removes {
            last.insert("updatedExisting", Value::Bool(is_found));
        }
        if let Some(id) = &done.upserted {
            last.insert("upserted", id.clone());
        }
        let value = project(if is_new { done.after.as_ref() } else { done.before.as_ref() })?;
        Ok(Object::from([("lastErrorObject", Value::Object(last)), ("value", value)]))
    };
    let receipts = statements.key(context, 0).map(|key| Receipts { key, outcome: &outcome });
    let mut writer = Writer { data, collection: &collection, new_id: &new_id, receipts };
    let done = match &update {
        None => {
            let deleted = writer.delete(&search, 1).await;
            deleted.map(|(count, before)| UpdateDone { matched: count, before, ..UpdateDone::default() })
        }
        Some(update) => {
            let statement = UpdateStatement {
                search: &search,
                update,
                is_multi: false,
                is_upsert,
                bypasses_validation: bypasses,
                shows_document: true,
                environment: &environment,
            };
            writer.update(&statement).await
        }
    };
    let reply = match done {
        Ok(done) => outcome(&done)?,
        Err(Failure { repeated: Some(outcome), .. }) => *outcome,
        Err(failure) => return Err(failure),
    };
    drop(writer);
    statements.remember(context, 0, reply.clone());
    Ok(reply.into())
}

/// The answer where there is nothing to be found.
fn nothing(removes: bool) -> Reply {
    let mut last = Object::from([("n", Value::Int32(0))]);
    if !removes {
        last.insert("updatedExisting", Value::Bool(false));
    }
    Object::from([("lastErrorObject", Value::Object(last)), ("value", Value::Null)]).into()
}
