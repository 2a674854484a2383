//! `createIndexes`.

use armilla_engine::{ContainerDefinition, ResourcePrecondition, UniqueKey};
use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use super::create::{New, check_account_write, make, ttl_of_timestamps};
use crate::arguments::objects;
use crate::catalog::{Collection, Details};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::indexes::{Index, policy};
use crate::limits::INDEXES_MAX;
use crate::namespace::Namespace;
use crate::reply::Reply;
use crate::unique;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["indexes", "commitQuorum", "ignoreUnknownIndexOptions"])?;
    arguments.refuse(&["ignoreUnknownIndexOptions"], "leave out the options that there are not")?;
    let namespace = context.namespace()?;
    namespace.check_creatable()?;
    check_account_write(context)?;
    let given = objects("createIndexes.indexes", arguments.required_array("indexes")?)?;
    if given.is_empty() {
        return Err(Failure::bad_value("Must specify at least one index to create"));
    }
    let given: Vec<Index> = given.into_iter().map(Index::parse).collect::<Result<_>>()?;
    let (before, is_made, collection) = match context.shared.catalog.collection_of(&namespace).await? {
        Some(collection) => (count(&collection), false, collection),
        None => {
            let new = checked(&[], given.clone())?.0;
            let collection = make(context, &namespace, &New { indexes: new, ..New::default() }).await?;
            (1, true, collection)
        }
    };
    let mut reply = Object::from([
        ("numIndexesBefore", Value::Int32(before)),
        ("numIndexesAfter", Value::Int32(count(&collection))),
        ("createdCollectionAutomatically", Value::Bool(is_made)),
    ]);
    if is_made {
        return Ok(reply.into());
    }
    let _changing = context.shared.catalog.change(&namespace).await?;
    // Others may have changed it before it was our turn.
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let collection = collection.ok_or_else(|| Failure::no_collection(&namespace.to_string()))?;
    let (indexes, is_changed) = checked(&collection.details.indexes, given)?;
    if !is_changed {
        reply.insert("note", "all indexes already exist");
        return Ok(reply.into());
    }
    let collection = apply(context, &collection, indexes).await?;
    reply.insert("numIndexesAfter", Value::Int32(count(&collection)));
    Ok(reply.into())
}

fn count(collection: &Collection) -> i32 {
    i32::try_from(super::list_indexes::all(collection).len()).unwrap_or(i32::MAX)
}

/// Adds indexes to those that are there, or says which do not go together.
fn checked(known: &[Index], given: Vec<Index>) -> Result<(Vec<Index>, bool)> {
    let mut indexes = known.to_vec();
    let mut is_changed = false;
    for index in given {
        let is_of_id = index.key.len() == 1 && index.key.contains("_id");
        if is_of_id {
            if index.fields[0].1 == crate::indexes::FieldKind::Ascending {
                continue;
            }
        } else if index.name == "_id_" {
            return Err(Failure::new(
                codes::BAD_VALUE,
                "The index name '_id_' is reserved for the _id index",
            ));
        }
        if let Some(same) = indexes.iter().find(|known| known.name == index.name) {
            if same.is_like(&index) {
                continue;
            }
            let same_options = same.has_key_of(&index)
                && same.is_unique == index.is_unique
                && same.is_sparse == index.is_sparse;
            let code =
                if same_options { codes::INDEX_OPTIONS_CONFLICT } else { codes::INDEX_KEY_SPECS_CONFLICT };
            return Err(Failure::new(
                code,
                format!(
                    "An existing index has the same name as the requested index. When index names are not specified, they \
                     are auto generated and can cause conflicts. Please refer to our documentation. Requested index: {}, \
                     existing index: {}",
                    armilla_value::json::to_string(&Value::Object(index.to_object())),
                    armilla_value::json::to_string(&Value::Object(same.to_object())),
                ),
            ));
        }
        if let Some(same) =
            indexes.iter().find(|known| known.has_key_of(&index) && known.partial == index.partial)
        {
            return Err(Failure::new(
                codes::INDEX_OPTIONS_CONFLICT,
                format!("Index already exists with a different name: {}", same.name),
            ));
        }
        if indexes.len() + 1 >= INDEXES_MAX {
            return Err(Failure::new(
                codes::CANNOT_CREATE_INDEX,
                format!("add index fails, too many indexes: at most {INDEXES_MAX}"),
            ));
        }
        is_changed = true;
        indexes.push(index);
    }
    Ok((indexes, is_changed))
}

/// Gives a collection other indexes: its policy follows, and the index is built in the background.
pub(super) async fn apply(
    context: &Context<'_>,
    collection: &Collection,
    indexes: Vec<Index>,
) -> Result<Collection> {
    let (shared, namespace) = (context.shared, &collection.namespace);
    let shard_key: Vec<String> = collection.shard_key.iter().map(|path| path.join(".")).collect();
    for index in indexes.iter().filter(|index| index.is_unique) {
        let key: Vec<&str> = index.fields.iter().map(|(path, _)| path.as_str()).collect();
        if !shard_key.iter().all(|path| key.contains(&path.as_str())) {
            return Err(Failure::new(
                codes::CANNOT_CREATE_INDEX,
                format!(
                    "cannot create unique index over {{ {} }} with shard key pattern {{ {} }}",
                    key.join(", "),
                    shard_key.join(", ")
                ),
            ));
        }
    }
    let before = collection.handle.definition();
    let rid = collection.handle.rid().to_string();
    let mut wanted = unique::foreign_keys(&before, &collection.details.indexes)?;
    wanted.extend(unique::keys(&indexes)?);
    let mut details = Details::clone(&collection.details);
    details.indexes = indexes;
    let mut replacement = None;
    if details.is_own {
        let mut definition = before.to_value();
        if let Value::Object(members) = &mut definition {
            members.insert("indexingPolicy", policy(&collection.shard_key, &details.indexes));
            // They change by themselves.
            members.remove("uniqueKeyPolicy");
            match details.indexes.iter().find_map(ttl_of_timestamps) {
                Some(seconds) => {
                    members.insert("defaultTtl", Value::Int64(seconds));
                }
                None => {
                    members.remove("defaultTtl");
                }
            }
        }
        replacement = Some(ContainerDefinition::from_value(&definition).map_err(|error| {
            Failure::new(codes::CANNOT_CREATE_INDEX, format!("the indexes cannot be made: {error}"))
        })?);
    }
    change_unique_keys(context, namespace, &details.indexes, wanted).await?;
    let changed = async {
        if let Some(definition) = replacement {
            let replaced = shared.engine.replace_container(
                &context.caller,
                &namespace.database,
                &namespace.collection,
                definition,
                ResourcePrecondition::None,
            );
            context.charges.add(replaced.await?.charge);
        }
        shared.catalog.keep(&rid, details).await
    };
    if let Err(failure) = changed.await {
        // What is unique and what is listed go together.
        let held = before.held_unique_keys().cloned().collect();
        change_unique_keys(context, namespace, &collection.details.indexes, held).await?;
        return Err(failure);
    }
    shared.catalog.collection(namespace, collection.handle.clone()).await
}

/// Gives a collection these unique keys, unless documents keep one of them from being.
async fn change_unique_keys(
    context: &Context<'_>,
    namespace: &Namespace,
    indexes: &[Index],
    wanted: Vec<UniqueKey>,
) -> Result<()> {
    let (engine, caller) = (&context.shared.engine, &context.caller);
    let changed = engine.change_unique_keys(caller, &namespace.database, &namespace.collection, wanted).await;
    match changed? {
        Some(found) => Err(unique::refusal(&namespace.to_string(), indexes, found)),
        None => Ok(()),
    }
}

/// Returns the throughput that a collection has of its own.
pub(super) fn throughput(
    context: &Context<'_>,
    collection: &Collection,
) -> Option<armilla_engine::Throughput> {
    super::custom_action::offer_of(context, &collection.handle.rid().to_string()).map(|offer| offer.1)
}
