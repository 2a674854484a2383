//! `shardCollection`.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use super::create::{New, check_account_write, make, make_container};
use super::create_indexes::throughput;
use super::drop::drop_collection;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::reply::Reply;

/// Levels of a shard key.
const LEVELS_MAX: usize = 3;

/// Reads the path of a shard key.
pub(super) fn path_of(path: &str) -> Result<Vec<String>> {
    let names: Vec<String> = path.split('.').map(str::to_owned).collect();
    if names.iter().any(|name| name.is_empty() || name.starts_with('$')) {
        return Err(Failure::bad_value(format!("'{path}' cannot be a shard key")));
    }
    let mut names = names;
    names[0] = crate::documents::stored_name(&names[0]).into_owned();
    Ok(names)
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "key",
        "unique",
        "numInitialChunks",
        "options",
        "collation",
        "presplitHashedZones",
        "timeseries",
    ])?;
    context.check_collation()?;
    arguments.refuse(&["timeseries"], "time series collections are not")?;
    arguments.refuse(&["presplitHashedZones"], "there are no zones")?;
    let name = arguments.required_string("shardCollection")?;
    let namespace = Namespace::parse(name)?;
    namespace.check_creatable()?;
    context.check_access(&namespace, true)?;
    check_account_write(context)?;
    if arguments.truth("unique")? {
        return Err(Failure::new(
            codes::COMMAND_NOT_SUPPORTED,
            "a unique shard key is not supported: make a unique index with the shard key in it",
        ));
    }
    let key = arguments.required_object("key")?;
    if key.is_empty() || key.len() > LEVELS_MAX {
        return Err(Failure::bad_value(format!("a shard key has 1 to {LEVELS_MAX} fields")));
    }
    let shard_key: Vec<Vec<String>> = key.iter().map(|(path, _)| path_of(path)).collect::<Result<_>>()?;
    match context.shared.catalog.collection_of(&namespace).await? {
        None => {
            make(context, &namespace, &New { shard_key, ..New::default() }).await?;
        }
        Some(collection) if *collection.shard_key == shard_key => {}
        Some(collection) => {
            if !collection.shard_key.is_empty() || collection.handle.usage(&context.caller)?.items > 0 {
                return Err(Failure::new(
                    codes::ALREADY_INITIALIZED,
                    format!(
                        "{namespace} has another shard key already, or documents: a shard key is for ever"
                    ),
                ));
            }
            let _changing = context.shared.catalog.change(&namespace).await?;
            let collection = context.shared.catalog.collection_of(&namespace).await?;
            let collection = collection.ok_or_else(|| Failure::no_collection(&namespace.to_string()))?;
            let new = New {
                shard_key,
                throughput: throughput(context, &collection),
                indexes: collection.details.indexes.clone(),
                options: collection.details.options.clone(),
            };
            drop_collection(context, &namespace, &collection.handle.rid().to_string()).await?;
            make_container(context, &namespace, &new).await?;
        }
    }
    Ok(Object::from([
        ("_t", Value::from("ShardCollectionResponse")),
        ("ok", Value::Double(1.0)),
        ("collectionsharded", Value::from(name)),
    ])
    .into())
}
