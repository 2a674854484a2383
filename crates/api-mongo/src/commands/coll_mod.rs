//! `collMod`.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use super::create::{check_account_write, check_validation, check_view};
use super::create_indexes::apply;
use super::drop_indexes::has_key;
use crate::arguments::{Arguments, number};
use crate::catalog::{Details, Found, View};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::indexes::Index;
use crate::reply::Reply;

/// What a view has not.
const OF_COLLECTIONS: [&str; 5] =
    ["index", "validator", "validationLevel", "validationAction", "changeStreamPreAndPostImages"];

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "index",
        "validator",
        "validationLevel",
        "validationAction",
        "changeStreamPreAndPostImages",
        "viewOn",
        "pipeline",
        "expireAfterSeconds",
        "dryRun",
    ])?;
    arguments.refuse(&["expireAfterSeconds"], "time series collections are not")?;
    arguments.refuse(&["dryRun"], "it is for making an index unique, which is decided when it is made")?;
    let namespace = context.namespace()?;
    check_account_write(context)?;
    let _changing = context.shared.catalog.change(&namespace).await?;
    let collection = match context.shared.catalog.find(&namespace).await? {
        Found::Collection(collection) => collection,
        Found::Nothing => return Err(Failure::no_collection(&namespace.to_string())),
        Found::View(view) => {
            if let Some(name) = OF_COLLECTIONS.iter().find(|name| arguments.value(name).is_some()) {
                return Err(Failure::new(
                    codes::INVALID_OPTIONS,
                    format!("option not supported on a view: {name}"),
                ));
            }
            let view = View {
                on: arguments.string("viewOn")?.unwrap_or(&view.on).to_owned(),
                pipeline: arguments.array("pipeline")?.unwrap_or(&view.pipeline).to_vec(),
            };
            check_view(&view.pipeline)?;
            context.shared.catalog.keep_view(&namespace, view).await?;
            return Ok(Reply::ok());
        }
    };
    if arguments.value("viewOn").is_some() || arguments.value("pipeline").is_some() {
        return Err(Failure::new(codes::INVALID_OPTIONS, "'viewOn' and 'pipeline' are options of a view"));
    }
    let mut reply = Object::new();
    if let Some(change) = arguments.object("index")? {
        let asked = Arguments::new("collMod.index", change);
        asked.allow_only(&[
            "name",
            "keyPattern",
            "expireAfterSeconds",
            "hidden",
            "unique",
            "prepareUnique",
        ])?;
        if change.iter().all(|(name, _)| matches!(name, "name" | "keyPattern")) {
            return Err(Failure::new(
                codes::INVALID_OPTIONS,
                "no expireAfterSeconds, hidden, unique, or prepareUnique field",
            ));
        }
        if change.contains("name") == change.contains("keyPattern") {
            return Err(Failure::new(
                codes::INVALID_OPTIONS,
                "must specify either index name or key pattern, and not both",
            ));
        }
        asked.integer("expireAfterSeconds")?;
        asked.truth("hidden")?;
        let known = &collection.details.indexes;
        let found = known.iter().position(|index| match (change.get("name"), change.get("keyPattern")) {
            (Some(Value::String(name)), _) => index.name == *name,
            (_, Some(Value::Object(key))) => has_key(index, key),
            _ => false,
        });
        let Some(place) = found else {
            return Err(Failure::new(
                codes::INDEX_NOT_FOUND,
                format!("cannot find index for ns {namespace}"),
            ));
        };
        let mut object = known[place].to_object();
        if let Some(seconds) = change.get("expireAfterSeconds") {
            if let Some(old) = known[place].expires_after {
                reply.insert("expireAfterSeconds_old", Value::Int64(old));
            }
            reply.insert("expireAfterSeconds_new", Value::Int64(number(seconds).unwrap_or(0)));
            object.insert("expireAfterSeconds", seconds.clone());
        }
        if let Some(hidden) = change.get("hidden") {
            reply.insert("hidden_old", Value::Bool(known[place].is_hidden));
            reply.insert("hidden_new", hidden.clone());
            object.insert("hidden", hidden.clone());
        }
        for name in ["unique", "prepareUnique"] {
            if change.contains(name) {
                return Err(Failure::new(
                    codes::COMMAND_NOT_SUPPORTED,
                    "an index cannot be made unique by collMod: drop it and create it as a unique one",
                ));
            }
        }
        let mut indexes = known.clone();
        indexes[place] = Index::parse(&object)?;
        apply(context, &collection, indexes).await?;
    }
    let mut details = match context.shared.catalog.collection_of(&namespace).await? {
        Some(collection) => Details::clone(&collection.details),
        None => return Err(Failure::no_collection(&namespace.to_string())),
    };
    check_validation(&arguments)?;
    let mut is_changed = false;
    for name in ["validator", "validationLevel", "validationAction", "changeStreamPreAndPostImages"] {
        if let Some(value) = arguments.value(name) {
            details.options.insert(name, value.clone());
            is_changed = true;
        }
    }
    if is_changed {
        details.read_validator()?;
        context.shared.catalog.keep(&collection.handle.rid().to_string(), details).await?;
    }
    Ok(reply.into())
}
