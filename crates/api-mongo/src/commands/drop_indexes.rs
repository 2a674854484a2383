//! `dropIndexes`.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use super::create::check_account_write;
use super::create_indexes::apply;
use crate::arguments::number;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::indexes::Index;
use crate::reply::Reply;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["index"])?;
    let namespace = context.namespace()?;
    check_account_write(context)?;
    let _changing = context.shared.catalog.change(&namespace).await?;
    let collection = context.shared.catalog.collection_of(&namespace).await?;
    let collection = collection
        .ok_or_else(|| Failure::new(codes::NAMESPACE_NOT_FOUND, format!("ns not found {namespace}")))?;
    let known = &collection.details.indexes;
    let before = i32::try_from(known.len() + 1).unwrap_or(i32::MAX);
    let mut reply = Object::from([("nIndexesWas", Value::Int32(before))]);
    let by_name = |name: &str| -> Result<String> {
        match name {
            "_id_" => Err(Failure::new(codes::INVALID_OPTIONS, "cannot drop _id index")),
            _ if known.iter().any(|index| index.name == name) => Ok(name.to_owned()),
            _ => Err(Failure::new(codes::INDEX_NOT_FOUND, format!("index not found with name [{name}]"))),
        }
    };
    let dropped: Vec<String> = match arguments.value("index") {
        Some(Value::String(all)) if all == "*" => {
            reply.insert("msg", "non-_id indexes dropped for collection");
            known.iter().map(|index| index.name.clone()).collect()
        }
        Some(Value::String(name)) => vec![by_name(name)?],
        Some(Value::Array(names)) => names
            .iter()
            .map(|name| {
                name.as_str()
                    .ok_or_else(|| Failure::new(codes::TYPE_MISMATCH, "names of indexes are strings"))
                    .and_then(by_name)
            })
            .collect::<Result<_>>()?,
        Some(Value::Object(key)) => {
            if key.len() == 1 && key.contains("_id") {
                return Err(Failure::new(codes::INVALID_OPTIONS, "cannot drop _id index"));
            }
            let found = known.iter().find(|index| has_key(index, key));
            let found = found.ok_or_else(|| {
                let key = armilla_value::json::to_string(&Value::Object(key.clone()));
                Failure::new(codes::INDEX_NOT_FOUND, format!("can't find index with key: {key}"))
            })?;
            vec![found.name.clone()]
        }
        Some(_) => {
            return Err(Failure::new(
                codes::TYPE_MISMATCH,
                "BSON field 'dropIndexes.index' is the wrong type",
            ));
        }
        None => {
            return Err(Failure::new(
                40_414,
                "BSON field 'dropIndexes.index' is missing but a required field",
            ));
        }
    };
    let left: Vec<Index> = known.iter().filter(|index| !dropped.contains(&index.name)).cloned().collect();
    if left.len() != known.len() {
        apply(context, &collection, left).await?;
    }
    Ok(reply.into())
}

/// Says whether an index has this key.
pub(super) fn has_key(index: &Index, key: &Object) -> bool {
    index.key.len() == key.len()
        && index.key.iter().zip(key.iter()).all(|((name, value), (own, other))| {
            name == own && (value == other || number(value).is_some() && number(value) == number(other))
        })
}
