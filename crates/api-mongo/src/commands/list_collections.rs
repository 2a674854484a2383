//! `listCollections`.

use std::collections::VecDeque;

use armilla_engine::Caller;
use armilla_mongo_expression::Scope;
use armilla_mongo_filter::Filter;
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value};

use crate::catalog::found;
use crate::context::Context;
use crate::failure::Result;
use crate::limits::FIRST_BATCH_DOCUMENTS;
use crate::namespace::Namespace;
use crate::reply::Reply;
use crate::supply::Supply;

/// Lists the containers of a database with their resource ids.
pub(super) fn containers(context: &Context<'_>, database: &str) -> Result<Vec<(String, String)>> {
    let caller = Caller::full();
    let mut all = Vec::new();
    let mut continuation: Option<String> = None;
    loop {
        let listed = context.shared.engine.list_containers(&caller, database, None, continuation.as_deref());
        let Some(page) = found(listed)? else { return Ok(all) };
        all.extend(page.value.resources.into_iter().map(|resource| (resource.id, resource.rid)));
        match page.value.continuation {
            Some(next) => continuation = Some(next),
            None => return Ok(all),
        }
    }
}

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["filter", "nameOnly", "cursor", "authorizedCollections"])?;
    let filter = match arguments.object("filter")? {
        Some(filter) => Some(Filter::parse(filter, &Scope::default())?),
        None => None,
    };
    let is_name_only = arguments.truth("nameOnly")?;
    let batch = arguments
        .object("cursor")?
        .and_then(|cursor| cursor.get("batchSize"))
        .and_then(crate::arguments::number);
    let (_, environment) = context.environment_with(None)?;
    let database = context.database;
    let mut listed = Vec::new();
    for (name, rid) in containers(context, database)? {
        let Ok(namespace) = Namespace::new(database, &name) else { continue };
        if context.shared.hidden.contains(&namespace) {
            continue;
        }
        let Some(collection) = context.shared.catalog.collection_of(&namespace).await? else { continue };
        listed.push(Object::from([
            ("name", Value::from(name)),
            ("type", Value::from("collection")),
            ("options", Value::Object(collection.details.options.clone())),
            (
                "info",
                Value::Object(Object::from([
                    ("readOnly", Value::Bool(false)),
                    ("uuid", crate::catalog::uuid_of(&rid)),
                ])),
            ),
            ("idIndex", Value::Object(super::list_indexes::id_index())),
        ]));
    }
    for (namespace, view) in context.shared.catalog.views(database).await? {
        listed.push(Object::from([
            ("name", Value::from(namespace.collection.as_str())),
            ("type", Value::from("view")),
            (
                "options",
                Value::Object(Object::from([
                    ("viewOn", Value::from(view.on.as_str())),
                    ("pipeline", Value::Array(view.pipeline.clone())),
                ])),
            ),
            ("info", Value::Object(Object::from([("readOnly", Value::Bool(true))]))),
        ]));
    }
    let mut documents = VecDeque::new();
    for mut document in listed {
        if let Some(filter) = &filter
            && !filter.matches(&document, &environment)?
        {
            continue;
        }
        if is_name_only {
            document =
                document.into_iter().filter(|(name, _)| matches!(name.as_str(), "name" | "type")).collect();
        }
        let mut bytes = Vec::new();
        bson::encode(&document, &mut bytes)?;
        documents.push_back(bytes);
    }
    let first = batch.map_or(FIRST_BATCH_DOCUMENTS, |batch| usize::try_from(batch).unwrap_or(0));
    let name = format!("{database}.$cmd.listCollections");
    super::find::open(context, name, Supply::List(documents), first, false, true).await
}
