//! `listIndexes`.

use std::collections::VecDeque;

use armilla_mongo_wire::bson;
use armilla_value::{Object, Value};

use crate::arguments::number;
use crate::catalog::Collection;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::limits::FIRST_BATCH_DOCUMENTS;
use crate::reply::Reply;
use crate::supply::Supply;

/// The index that every collection has.
pub(super) fn id_index() -> Object {
    Object::from([
        ("v", Value::Int32(2)),
        ("key", Value::Object(Object::from([("_id", Value::Int32(1))]))),
        ("name", Value::from("_id_")),
    ])
}

/// Lists the indexes of a collection. One that was made through another API has its policy: where that indexes
/// everything, it is shown as the index that does.
pub(super) fn all(collection: &Collection) -> Vec<Object> {
    let clustered = collection.details.options.get("clusteredIndex").and_then(Value::as_object);
    let first = clustered.map(|clustered| {
        let mut index = clustered.clone();
        index.insert("clustered", true);
        index
    });
    let mut indexes = vec![first.unwrap_or_else(id_index)];
    indexes.extend(collection.details.indexes.iter().map(crate::indexes::Index::to_object));
    if !collection.details.is_own {
        let definition = collection.handle.definition();
        let includes_all = definition.indexing.included_paths.iter().any(|path| path.text() == "/*");
        if includes_all {
            indexes.push(Object::from([
                ("v", Value::Int32(2)),
                ("key", Value::Object(Object::from([("$**", Value::Int32(1))]))),
                ("name", Value::from("$**_1")),
            ]));
        }
    }
    indexes
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["cursor", "includeBuildUUIDs", "includeIndexBuildInfo"])?;
    arguments.refuse(&["includeBuildUUIDs", "includeIndexBuildInfo"], "builds of indexes have no ids")?;
    let namespace = context.namespace()?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let collection = collection.filter(|_| !context.shared.hidden.contains(&namespace));
    let collection = collection.ok_or_else(|| Failure::no_collection(&namespace.to_string()))?;
    let mut documents = VecDeque::new();
    for index in all(&collection) {
        let mut bytes = Vec::new();
        bson::encode(&index, &mut bytes)?;
        documents.push_back(bytes);
    }
    let batch = arguments.object("cursor")?.and_then(|cursor| cursor.get("batchSize")).and_then(number);
    let first = batch.map_or(FIRST_BATCH_DOCUMENTS, |batch| usize::try_from(batch).unwrap_or(0));
    super::find::open(context, namespace.to_string(), Supply::List(documents), first, false, true).await
}
