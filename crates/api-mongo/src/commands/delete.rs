//! `delete`.

use std::sync::Arc;

use armilla_mongo_expression::codes;
use armilla_mongo_filter::Filter;
use armilla_value::{Object, Value};

use super::statements::{Statements, check_hint, count};
use crate::arguments::{Arguments, number, objects};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::search::Search;
use crate::transactions::Held;
use crate::writes::{Receipts, UpdateDone, Writer};

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["deletes", "ordered", "let", "bypassDocumentValidation"])?;
    let namespace = context.namespace()?;
    let given = objects("delete.deletes", arguments.required_array("deletes")?)?;
    let mut statements = Statements::of(context, given.len())?;
    let (scope, environment) = context.environment()?;
    let environment = Arc::new(environment);
    let mut read = Vec::with_capacity(given.len());
    for given in given {
        let arguments = Arguments::new("delete.deletes", given);
        arguments.allow_only(&["q", "limit", "collation", "hint"])?;
        if let Some(collation) = arguments.value("collation") {
            crate::collation::check(collation)?;
        }
        // What is wrong with a filter is the statement's failure, not the command's.
        let filter = Filter::parse(arguments.required_object("q")?, &scope).map(Arc::new);
        let is_one = match arguments.integer("limit")? {
            Some(0) => false,
            Some(1) => true,
            Some(other) => {
                return Err(Failure::parse(format!(
                    "The limit field in delete objects must be 0 or 1. Got {other}"
                )));
            }
            None => {
                return Err(Failure::new(
                    40_414,
                    "BSON field 'delete.deletes.limit' is missing but a required field",
                ));
            }
        };
        read.push((filter, is_one, arguments.value("hint")));
    }
    if context.number.is_some() && !context.is_in_transaction && read.iter().any(|(_, is_one, _)| !is_one) {
        return Err(Failure::new(codes::INVALID_OPTIONS, "Cannot use retryable writes with limit=0"));
    }
    count(&context.shared.counters.delete, read.len());
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let mut deleted = 0;
    let mut held = Held::of(context)?;
    for (position, (filter, is_one, hint)) in read.into_iter().enumerate() {
        let filter = match filter {
            Ok(filter) => filter,
            Err(error) => {
                if !statements.fail(context, position, error.into())? {
                    break;
                }
                continue;
            }
        };
        let Some(collection) = &collection else { continue };
        if let Some(outcome) = statements.before(context, position)? {
            deleted += outcome.get("n").and_then(number).unwrap_or(0);
            continue;
        }
        context.check_time()?;
        let outcome = async {
            check_hint(collection, hint)?;
            let search = Search::new(collection, filter, environment.clone());
            let data =
                held.data(&context.caller, &context.charges, collection, search.partition_key()).await?;
            let new_id = || Value::Null;
            let outcome = |_: &UpdateDone| Ok(Object::from([("n", Value::Int64(1))]));
            let receipts = statements.key(context, position).map(|key| Receipts { key, outcome: &outcome });
            let mut writer = Writer { data, collection, new_id: &new_id, receipts };
            writer.delete(&search, if is_one { 1 } else { usize::MAX }).await
        };
        match outcome.await {
            Ok((count, _)) => {
                deleted += count;
                statements.remember(context, position, Object::from([("n", Value::Int64(count))]));
            }
            Err(Failure { repeated: Some(outcome), .. }) => {
                deleted += outcome.get("n").and_then(number).unwrap_or(0);
            }
            Err(failure) => {
                if !statements.fail(context, position, failure)? {
                    break;
                }
            }
        }
    }
    let mut reply = Object::from([("n", Value::Int32(i32::try_from(deleted).unwrap_or(i32::MAX)))]);
    statements.finish(&mut reply);
    Ok(reply.into())
}
