//! `dbStats`.

use armilla_value::{Object, Value};

use super::coll_stats::scale;
use super::list_collections::containers;
use crate::context::Context;
use crate::failure::Result;
use crate::namespace::Namespace;
use crate::reply::Reply;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["scale", "freeStorage"])?;
    let scale = scale(arguments.integer("scale")?)?;
    let (mut items, mut bytes, mut index_bytes, mut indexes) = (0_u64, 0_u64, 0_u64, 0_usize);
    let names = containers(context, context.database)?;
    for (name, _) in &names {
        let Ok(namespace) = Namespace::new(context.database, name) else { continue };
        let Some(collection) = context.shared.catalog.collection_of(&namespace).await? else { continue };
        let usage = collection.handle.usage_seen(&context.caller)?;
        items += usage.items;
        bytes += usage.bytes;
        index_bytes += usage.index_bytes;
        indexes += super::list_indexes::all(&collection).len();
    }
    let views = context.shared.catalog.views(context.database).await?.len();
    let whole = |bytes: u64| Value::Double(bytes as f64 / scale as f64);
    let count = |count: usize| Value::Int64(i64::try_from(count).unwrap_or(i64::MAX));
    let mean = if items == 0 { 0.0 } else { bytes as f64 / items as f64 };
    let mut reply = Object::from([
        ("db", Value::from(context.database)),
        ("collections", count(names.len())),
        ("views", count(views)),
        ("objects", Value::Int64(i64::try_from(items).unwrap_or(i64::MAX))),
        ("avgObjSize", Value::Double(mean)),
        ("dataSize", whole(bytes)),
        ("storageSize", whole(bytes)),
        ("indexes", count(indexes)),
        ("indexSize", whole(index_bytes)),
        ("totalSize", whole(bytes + index_bytes)),
        ("scaleFactor", Value::Int64(scale)),
    ]);
    if arguments.truth("freeStorage")? {
        // Files are merged as they are written: none has holes to be filled.
        for name in ["freeStorageSize", "indexFreeStorageSize", "totalFreeStorageSize"] {
            reply.insert(name, Value::Double(0.0));
        }
    }
    Ok(reply.into())
}
