//! `customAction`: databases and collections with throughput and shard keys, as the service has it.

use armilla_engine::{Caller, Content, OfferChange, Resource, ResourcePrecondition, Throughput};
use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use super::create::{New, check_account_write, make};
use super::create_indexes::apply;
use super::shard_collection::path_of;
use crate::arguments::{number, objects};
use crate::catalog::{existing, found};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::indexes::Index;
use crate::namespace::Namespace;
use crate::reply::Reply;

/// What each action may have.
const FIELDS: [(&str, &[&str]); 6] = [
    ("CreateDatabase", &["offerThroughput", "autoScaleSettings"]),
    ("UpdateDatabase", &["offerThroughput", "autoScaleSettings"]),
    ("GetDatabase", &[]),
    ("CreateCollection", &["collection", "offerThroughput", "autoScaleSettings", "shardKey", "indexes"]),
    ("UpdateCollection", &["collection", "offerThroughput", "autoScaleSettings", "indexes"]),
    ("GetCollection", &["collection"]),
];

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "offerThroughput",
        "autoScaleSettings",
        "collection",
        "shardKey",
        "indexes",
        "startAtOperationTime",
    ])?;
    let action = arguments.required_string("customAction")?;
    if let Some((_, own)) = FIELDS.iter().find(|(name, _)| *name == action) {
        arguments.allow(own)?;
    }
    let done = match action {
        "CreateDatabase" => create_database(context).await,
        "UpdateDatabase" => update_database(context).await,
        "GetDatabase" => get_database(context),
        "CreateCollection" => create_collection(context).await,
        "UpdateCollection" => update_collection(context).await,
        "GetCollection" => get_collection(context).await,
        "GetChangeStreamTokens" => Err(Failure::new(
            codes::COMMAND_NOT_SUPPORTED,
            "GetChangeStreamTokens is not supported: a change stream covers all partitions",
        )),
        other => Err(Failure::bad_value(format!("Unknown custom action '{other}'"))),
    };
    // The service's documentation spells it so, and some applications read it.
    done.map_err(|failure| {
        let message = failure.message.clone();
        failure.with("errMsg", message)
    })
}

/// Reads the throughput that is asked for.
fn throughput(context: &Context<'_>) -> Result<Option<Throughput>> {
    let arguments = context.arguments();
    let manual = arguments.integer("offerThroughput")?;
    let autoscale = arguments.object("autoScaleSettings")?;
    let amount = |value: i64| {
        u32::try_from(value).map_err(|_| Failure::bad_value(format!("{value} is no throughput")))
    };
    match (manual, autoscale) {
        (Some(_), Some(_)) => {
            Err(Failure::bad_value("offerThroughput and autoScaleSettings cannot both be given"))
        }
        (Some(manual), None) => Ok(Some(Throughput::Manual(amount(manual)?))),
        (None, Some(settings)) => {
            let max = settings
                .get("maxThroughput")
                .and_then(number)
                .ok_or_else(|| Failure::bad_value("autoScaleSettings needs the number maxThroughput"))?;
            Ok(Some(Throughput::Autoscale { max: amount(max)?, increment_percent: None }))
        }
        (None, None) => Ok(None),
    }
}

async fn create_database(context: &Context<'_>) -> Result<Reply> {
    check_account_write(context)?;
    let throughput = throughput(context)?;
    context.shared.engine.create_database(&context.caller, context.database, throughput).await?;
    Ok(Reply::ok())
}

/// Finds the offer of a database or collection by its resource id.
pub(super) fn offer_of(context: &Context<'_>, rid: &str) -> Option<(String, Throughput)> {
    let caller = Caller::full();
    let mut continuation: Option<String> = None;
    loop {
        let page = context.shared.engine.list_offers(&caller, None, continuation.as_deref()).ok()?.value;
        let found = page.resources.into_iter().find_map(|offer: Resource| match offer.content {
            Content::Offer(content) if content.resource_rid == rid => Some((offer.rid, content.throughput)),
            _ => None,
        });
        if found.is_some() {
            return found;
        }
        continuation = Some(page.continuation?);
    }
}

async fn replace_offer(context: &Context<'_>, rid: &str, what: &str) -> Result<()> {
    let Some(wanted) = throughput(context)? else { return Ok(()) };
    let Some((offer, _)) = offer_of(context, rid) else {
        return Err(Failure::bad_value(format!(
            "the {what} has no throughput of its own, which could be changed"
        )));
    };
    context
        .shared
        .engine
        .replace_offer(&context.caller, &offer, OfferChange::Set(wanted), ResourcePrecondition::None)
        .await?;
    Ok(())
}

fn database_rid(context: &Context<'_>) -> Result<String> {
    let database = found(context.shared.engine.read_database(&Caller::full(), context.database, None))?;
    let database = database.ok_or_else(|| {
        Failure::new(
            codes::NAMESPACE_NOT_FOUND,
            format!("the database '{}' does not exist", context.database),
        )
    })?;
    Ok(database.value.rid)
}

async fn update_database(context: &Context<'_>) -> Result<Reply> {
    check_account_write(context)?;
    let rid = database_rid(context)?;
    replace_offer(context, &rid, "database").await?;
    Ok(Reply::ok())
}

fn show_throughput(context: &Context<'_>, rid: &str, reply: &mut Object) {
    match offer_of(context, rid).map(|(_, throughput)| throughput) {
        Some(Throughput::Manual(amount)) => {
            reply.insert("provisionedThroughput", Value::Int32(i32::try_from(amount).unwrap_or(i32::MAX)));
        }
        Some(Throughput::Autoscale { max, .. }) => {
            let amount = |amount: u32| Value::Int32(i32::try_from(amount).unwrap_or(i32::MAX));
            reply.insert("provisionedThroughput", amount(max / 10));
            reply.insert("autoScaleSettings", Object::from([("maxThroughput", amount(max))]));
        }
        None => {}
    }
}

fn get_database(context: &Context<'_>) -> Result<Reply> {
    let rid = database_rid(context)?;
    let mut reply = Object::from([("database", context.database)]);
    show_throughput(context, &rid, &mut reply);
    Ok(reply.into())
}

fn collection_name(context: &Context<'_>) -> Result<Namespace> {
    Namespace::new(context.database, context.arguments().required_string("collection")?)
}

fn indexes(context: &Context<'_>) -> Result<Option<Vec<Index>>> {
    let Some(given) = context.arguments().array("indexes")? else { return Ok(None) };
    let given: Vec<Index> =
        objects("customAction.indexes", given)?.into_iter().map(Index::parse).collect::<Result<_>>()?;
    if !given.iter().any(|index| index.key.len() == 1 && index.key.contains("_id")) {
        return Err(Failure::bad_value("the indexes of a collection must have that of _id among them"));
    }
    Ok(Some(given.into_iter().filter(|index| !(index.key.len() == 1 && index.key.contains("_id"))).collect()))
}

async fn create_collection(context: &Context<'_>) -> Result<Reply> {
    let namespace = collection_name(context)?;
    check_account_write(context)?;
    if context.shared.catalog.collection_of(&namespace).await?.is_some() {
        return Err(Failure::new(codes::NAMESPACE_EXISTS, format!("Collection {namespace} already exists.")));
    }
    let shard_key = match context.arguments().string("shardKey")? {
        Some(path) => vec![path_of(path)?],
        None => Vec::new(),
    };
    existing(context.shared.engine.create_database(&context.caller, context.database, None).await)?;
    let new = New {
        shard_key,
        throughput: throughput(context)?,
        indexes: indexes(context)?.unwrap_or_default(),
        options: Object::new(),
    };
    make(context, &namespace, &new).await?;
    Ok(Reply::ok())
}

async fn update_collection(context: &Context<'_>) -> Result<Reply> {
    let namespace = collection_name(context)?;
    check_account_write(context)?;
    let _changing = context.shared.catalog.change(&namespace).await?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let collection = collection.ok_or_else(|| Failure::no_collection(&namespace.to_string()))?;
    replace_offer(context, &collection.handle.rid().to_string(), "collection").await?;
    if let Some(indexes) = indexes(context)? {
        apply(context, &collection, indexes).await?;
    }
    Ok(Reply::ok())
}

async fn get_collection(context: &Context<'_>) -> Result<Reply> {
    let namespace = collection_name(context)?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let collection = collection.ok_or_else(|| Failure::no_collection(&namespace.to_string()))?;
    let mut reply =
        Object::from([("database", context.database), ("collection", namespace.collection.as_str())]);
    if !collection.shard_key.is_empty() {
        let key = collection.shard_key.iter().map(|path| (path.join("."), Value::from("hashed")));
        reply.insert("shardKeyDefinition", key.collect::<Object>());
    }
    show_throughput(context, &collection.handle.rid().to_string(), &mut reply);
    Ok(reply.into())
}
