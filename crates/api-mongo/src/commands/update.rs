//! `update`.

use std::sync::Arc;

use armilla_mongo_expression::{Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_mongo_update::Update;
use armilla_value::{Object, Value};

use super::statements::{Statements, check_hint, collection_for_writing, count};
use crate::arguments::{Arguments, number, objects};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::search::Search;
use crate::transactions::Held;
use crate::writes::{Receipts, UpdateDone, UpdateStatement, Writer};

/// A statement that was read.
struct Read<'s> {
    /// What it finds and does; what is wrong with that is the statement's failure, not the command's.
    parsed: Result<(Arc<Filter>, Update)>,
    is_multi: bool,
    is_upsert: bool,
    hint: Option<&'s Value>,
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["updates", "ordered", "bypassDocumentValidation", "let"])?;
    let namespace = context.namespace()?;
    let given = objects("update.updates", arguments.required_array("updates")?)?;
    let mut statements = Statements::of(context, given.len())?;
    let bypasses = arguments.truth("bypassDocumentValidation")?;
    let (scope, environment) = context.environment()?;
    let environment = Arc::new(environment);
    let read: Vec<Read<'_>> = given.iter().map(|given| read(given, &scope)).collect::<Result<_>>()?;
    if context.number.is_some() && !context.is_in_transaction && read.iter().any(|read| read.is_multi) {
        return Err(Failure::new(codes::INVALID_OPTIONS, "Cannot use retryable writes with multi=true"));
    }
    count(&context.shared.counters.update, read.len());
    let has_upsert = read.iter().any(|read| read.is_upsert);
    let collection = match context.shared.catalog.collection_of(&namespace).await? {
        Some(collection) => Some(collection),
        None if has_upsert => Some(Box::pin(collection_for_writing(context, &namespace)).await?),
        None => None,
    };
    let (mut matched, mut modified, mut upserted) = (0, 0, Vec::new());
    let mut held = Held::of(context)?;
    for (position, read) in read.iter().enumerate() {
        let (filter, update) = match &read.parsed {
            Ok(parsed) => parsed,
            Err(failure) => {
                if !statements.fail(context, position, failure.clone())? {
                    break;
                }
                continue;
            }
        };
        let Some(collection) = &collection else { continue };
        if let Some(outcome) = statements.before(context, position)? {
            take(&outcome, position, &mut matched, &mut modified, &mut upserted);
            continue;
        }
        context.check_time()?;
        let outcome = async {
            check_hint(collection, read.hint)?;
            let search = Search::new(collection, filter.clone(), environment.clone());
            let data =
                held.data(&context.caller, &context.charges, collection, search.partition_key()).await?;
            let new_id = || context.new_object_id();
            let receipts =
                statements.key(context, position).map(|key| Receipts { key, outcome: &outcome_of });
            let mut writer = Writer { data, collection, new_id: &new_id, receipts };
            let statement = UpdateStatement {
                search: &search,
                update,
                is_multi: read.is_multi,
                is_upsert: read.is_upsert,
                bypasses_validation: bypasses,
                shows_document: false,
                environment: &environment,
            };
            writer.update(&statement).await
        };
        match outcome.await {
            Ok(done) => {
                let outcome = outcome_of(&done)?;
                take(&outcome, position, &mut matched, &mut modified, &mut upserted);
                statements.remember(context, position, outcome);
            }
            Err(Failure { repeated: Some(outcome), .. }) => {
                take(&outcome, position, &mut matched, &mut modified, &mut upserted);
            }
            Err(failure) => {
                if !statements.fail(context, position, failure)? {
                    break;
                }
            }
        }
    }
    let number = |count: i64| Value::Int32(i32::try_from(count).unwrap_or(i32::MAX));
    let mut reply = Object::from([("n", number(matched)), ("nModified", number(modified))]);
    if !upserted.is_empty() {
        reply.insert("upserted", Value::Array(upserted));
    }
    statements.finish(&mut reply);
    Ok(reply.into())
}

/// Returns what is told again of a statement.
fn outcome_of(done: &UpdateDone) -> Result<Object> {
    let mut outcome =
        Object::from([("n", Value::Int64(done.matched)), ("nModified", Value::Int64(done.modified))]);
    if let Some(id) = &done.upserted {
        outcome.insert("upserted", id.clone());
    }
    Ok(outcome)
}

/// Adds the outcome of a statement.
fn take(outcome: &Object, position: usize, matched: &mut i64, modified: &mut i64, upserted: &mut Vec<Value>) {
    *matched += outcome.get("n").and_then(number).unwrap_or(0);
    *modified += outcome.get("nModified").and_then(number).unwrap_or(0);
    if let Some(id) = outcome.get("upserted") {
        *matched += 1;
        let index = Value::Int32(i32::try_from(position).unwrap_or(i32::MAX));
        upserted.push(Value::Object(Object::from([("index", index), ("_id", id.clone())])));
    }
}

fn read<'s>(given: &'s Object, outer: &Scope) -> Result<Read<'s>> {
    let arguments = Arguments::new("update.updates", given);
    arguments.allow_only(&["q", "u", "c", "upsert", "multi", "collation", "arrayFilters", "hint"])?;
    if let Some(collation) = arguments.value("collation") {
        crate::collation::check(collation)?;
    }
    let filter = arguments.required_object("q")?;
    let Some(given_update) = given.get("u") else {
        return Err(Failure::new(40_414, "BSON field 'update.updates.u' is missing but a required field"));
    };
    let mut scope = outer.clone();
    let constants = arguments.object("c")?;
    for (name, _) in constants.into_iter().flat_map(Object::iter) {
        scope.variables.push(name.to_owned());
    }
    let (is_multi, is_upsert) = (arguments.truth("multi")?, arguments.truth("upsert")?);
    let array_filters = arguments.array("arrayFilters")?;
    let parse = || -> Result<(Arc<Filter>, Update)> {
        let filter = Filter::parse(filter, outer)?;
        let update = Update::parse(given_update, array_filters, constants, &scope)?;
        if is_multi && update.is_replacement() {
            return Err(Failure::parse("multi update is not supported for replacement-style update"));
        }
        Ok((Arc::new(filter), update))
    };
    let parsed = parse();
    // Pipelines are read with the command.
    if let (Value::Array(_), Err(failure)) = (given_update, &parsed) {
        return Err(failure.clone());
    }
    Ok(Read { parsed, is_multi, is_upsert, hint: arguments.value("hint") })
}
