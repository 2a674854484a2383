//! `renameCollection`: containers have their names for ever, so documents are copied.

use std::sync::Arc;

use armilla_engine::WriteMode;
use armilla_mongo_expression::{Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_value::Object;

use super::change_stream;
use super::create::{New, check_account_write, make};
use super::create_indexes::throughput;
use super::drop::drop_collection;
use crate::changes::Ending;
use crate::context::Context;
use crate::documents;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::pages::{DocumentRows, Shape};
use crate::reply::Reply;
use crate::search::Search;

/// Documents that a collection may have to be renamed.
const COPIED_MAX: u64 = 100_000;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["to", "dropTarget", "stayTemp"])?;
    if context.database != "admin" {
        return Err(Failure::new(
            codes::UNAUTHORIZED,
            "renameCollection may only be run against the admin database.",
        ));
    }
    check_account_write(context)?;
    let from = Namespace::parse(arguments.required_string("renameCollection")?)?;
    let to = Namespace::parse(arguments.required_string("to")?)?;
    to.check_creatable()?;
    context.check_access(&from, true)?;
    context.check_access(&to, true)?;
    if from == to {
        return Err(Failure::new(codes::ILLEGAL_OPERATION, "Can't rename a collection to itself"));
    }
    let catalog = &context.shared.catalog;
    catalog.read_again(&from).await?;
    let source = catalog.collection_of(&from).await?;
    let source = source.ok_or_else(|| {
        Failure::new(codes::NAMESPACE_NOT_FOUND, format!("Source collection {from} does not exist"))
    })?;
    if source.handle.usage(&context.caller)?.items > COPIED_MAX {
        return Err(Failure::new(
            codes::COMMAND_NOT_SUPPORTED,
            format!(
                "a collection of more than {COPIED_MAX} documents cannot be renamed: its documents would be copied"
            ),
        ));
    }
    let mut replaced = None;
    if let Some(target) = catalog.collection_of(&to).await? {
        if !arguments.truth("dropTarget")? {
            return Err(Failure::new(codes::NAMESPACE_EXISTS, format!("target namespace exists: {to}")));
        }
        let _changing = catalog.change(&to).await?;
        let rid = target.handle.rid().to_string();
        drop_collection(context, &to, &rid).await?;
        replaced = Some(rid);
    }
    let new = New {
        shard_key: source.shard_key.as_ref().clone(),
        throughput: throughput(context, &source),
        indexes: source.details.indexes.clone(),
        options: source.details.options.clone(),
    };
    let target = make(context, &to, &new).await?;
    let filter = Arc::new(Filter::parse(&Object::new(), &Scope::default())?);
    let (_, environment) = context.environment_with(None)?;
    let search = Search::new(&source, filter, Arc::new(environment));
    let query = Arc::new(search.query());
    let form = Arc::new(DocumentRows::new(None, Shape::Items, search.environment.clone()));
    let mut continuation = None;
    loop {
        let page =
            context.data(&source).query(search.request(&query, &form, Some(1_000), continuation)).await?;
        for row in page.each_row() {
            let Some(item) = armilla_engine::Item::from_raw(bytes::Bytes::copy_from_slice(row)) else {
                continue;
            };
            let key = documents::partition_key_of_item(&item, &target.shard_key);
            let body = item.stored().root().to_value();
            context
                .data(&target)
                .put(WriteMode::Upsert, &key, "", body.into(), Default::default(), None)
                .await?;
        }
        match page.continuation {
            Some(next) => continuation = Some(next),
            None => break,
        }
    }
    let _changing = catalog.change(&from).await?;
    change_stream::end(context, std::slice::from_ref(&source), &Ending::Rename { to, replaced }).await?;
    drop_collection(context, &from, &source.handle.rid().to_string()).await?;
    Ok(Reply::ok())
}
