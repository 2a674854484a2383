//! `collStats` and `dataSize`.

use armilla_value::{Object, Value};

use crate::arguments::number;
use crate::catalog::Collection;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::reply::Reply;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["scale"])?;
    let namespace = context.namespace()?;
    let scale = scale(arguments.integer("scale")?)?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let mut reply = match &collection {
        Some(collection) => figures(context, collection, scale)?,
        None => Object::from([
            ("count", Value::Int32(0)),
            ("size", Value::Int32(0)),
            ("storageSize", Value::Int32(0)),
            ("totalIndexSize", Value::Int32(0)),
            ("totalSize", Value::Int32(0)),
            ("nindexes", Value::Int32(0)),
            ("indexSizes", Value::Object(Object::new())),
        ]),
    };
    let mut named = Object::from([("ns", namespace.to_string())]);
    for (name, value) in std::mem::take(&mut reply) {
        named.insert(name, value);
    }
    Ok(named.into())
}

pub(super) fn scale(given: Option<i64>) -> Result<i64> {
    match given {
        None => Ok(1),
        Some(scale) if scale > 0 => Ok(scale),
        Some(_) => Err(Failure::new(51_024, "BSON field 'scale' value must be >= 1")),
    }
}

/// Returns the figures of a collection, as the container has them.
pub(super) fn figures(context: &Context<'_>, collection: &Collection, scale: i64) -> Result<Object> {
    let usage = collection.handle.usage_seen(&context.caller)?;
    let whole = |bytes: u64| Value::Int64(i64::try_from(bytes).unwrap_or(i64::MAX) / scale);
    let indexes = super::list_indexes::all(collection);
    // The index of all paths is one: it is told once, for the first name.
    let mut sizes = Object::new();
    for (position, index) in indexes.iter().enumerate() {
        let name = index.get("name").and_then(Value::as_str).unwrap_or_default();
        sizes.insert(name, if position == 0 { whole(usage.index_bytes) } else { Value::Int64(0) });
    }
    let mean = usage.bytes.checked_div(usage.items).unwrap_or(0);
    Ok(Object::from([
        ("size", whole(usage.bytes)),
        ("count", Value::Int64(i64::try_from(usage.items).unwrap_or(i64::MAX))),
        ("avgObjSize", Value::Int64(i64::try_from(mean).unwrap_or(i64::MAX))),
        ("numOrphanDocs", Value::Int64(0)),
        ("storageSize", whole(usage.bytes)),
        ("freeStorageSize", Value::Int64(0)),
        ("capped", Value::Bool(false)),
        ("nindexes", Value::Int32(i32::try_from(indexes.len()).unwrap_or(i32::MAX))),
        ("indexBuilds", Value::Array(Vec::new())),
        ("totalIndexSize", whole(usage.index_bytes)),
        ("totalSize", whole(usage.bytes + usage.index_bytes)),
        ("indexSizes", Value::Object(sizes)),
        ("scaleFactor", Value::Int64(scale)),
    ]))
}

pub(super) async fn data_size(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["keyPattern", "min", "max", "estimate"])?;
    arguments.refuse(&["keyPattern", "min", "max"], "the figures are of whole collections")?;
    let name = match context.command.iter().next() {
        Some((_, Value::String(name))) => name.as_str(),
        _ => return Err(Failure::bad_value("dataSize names a collection with its database")),
    };
    let namespace = Namespace::parse(name)?;
    context.check_access(&namespace, false)?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let (bytes, items) = match collection {
        Some(collection) => {
            let usage = collection.handle.usage_seen(&context.caller)?;
            (usage.bytes, usage.items)
        }
        None => (0, 0),
    };
    let whole = |number: u64| Value::Int64(i64::try_from(number).unwrap_or(i64::MAX));
    Ok(Object::from([
        ("estimate", Value::Bool(arguments.value("estimate").and_then(number).is_some())),
        ("size", whole(bytes)),
        ("numObjects", whole(items)),
        ("millis", Value::Int32(0)),
    ])
    .into())
}
