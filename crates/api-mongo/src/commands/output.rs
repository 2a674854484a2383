//! `$out` and `$merge`: writing what a pipeline gives.

use std::collections::BTreeSet;
use std::sync::Arc;

use armilla_engine::WriteMode;
use armilla_mongo_expression::{Environment, Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_mongo_pipeline::{Merge, Out, Outside, Stage, WhenMatched, WhenNotMatched};
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value};

use super::create::{New, make};
use super::drop::drop_collection;
use crate::catalog::Collection;
use crate::context::Context;
use crate::documents;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::search::Search;
use crate::supply::{Room, Supply};
use crate::writes::{duplicate, prepare_insert};

/// Documents that are taken from the pipeline at once.
const PORTION: usize = 1_000;

/// Writes what a supply gives.
pub(super) async fn write(
    context: &Context<'_>,
    mut supply: Supply,
    stage: &Stage,
    environment: Arc<Environment>,
) -> Result<()> {
    match stage {
        Stage::Out(out) => replace(context, &mut supply, out, &environment).await,
        Stage::Merge(merge) => self::merge(context, &mut supply, merge, &environment).await,
        _ => Err(Failure::new(codes::INTERNAL_ERROR, "a stage that does not write came to be written")),
    }
}

/// Says whether what is written may be what the validator of its collection refuses.
fn bypasses(context: &Context<'_>) -> Result<bool> {
    context.arguments().truth("bypassDocumentValidation")
}

/// Puts documents in the place of all that a collection has.
async fn replace(
    context: &Context<'_>,
    supply: &mut Supply,
    out: &Out,
    environment: &Environment,
) -> Result<()> {
    let database = out.database.as_deref().unwrap_or(context.database);
    let target = Namespace::new(database, &out.collection)?;
    target.check_creatable()?;
    context.check_access(&target, true)?;
    let shared = context.shared;
    // The new collection gets the indexes and options of the old one.
    shared.catalog.read_again(&target).await?;
    let old = shared.catalog.collection_of(&target).await?;
    if old.as_ref().is_some_and(|old| !old.shard_key.is_empty()) {
        return Err(Failure::new(28_769, format!("{target} is sharded and cannot be the target of $out")));
    }
    // All of it first: a pipeline that fails must leave the old collection as it is.
    let mut all = Vec::new();
    let mut bytes = 0;
    loop {
        let portion =
            supply.take(Room { documents: PORTION, ..Room::default() }, &context.charges, shared).await?;
        bytes += portion.documents.iter().map(Vec::len).sum::<usize>();
        if bytes > crate::limits::SORT_BYTES_MAX {
            return Err(Failure::new(
                codes::EXCEEDED_MEMORY_LIMIT,
                format!("$out takes at most {} bytes here: use $merge", crate::limits::SORT_BYTES_MAX),
            ));
        }
        all.extend(portion.documents);
        if portion.is_last {
            break;
        }
        context.check_time()?;
    }
    let (indexes, options) = match &old {
        Some(old) => (old.details.indexes.clone(), old.details.options.clone()),
        None => (Vec::new(), Object::new()),
    };
    let mut new_documents = Vec::with_capacity(all.len());
    for document in all {
        new_documents.push(documents::with_id_first(bson::decode(&document)?, || shared.new_object_id()));
    }
    if let Some(old) = &old {
        // What would be refused must not cost the documents that are there.
        let mut seen = BTreeSet::new();
        for document in &new_documents {
            let prepared = prepare_insert(old, document.clone(), environment, bypasses(context)?)?;
            if !seen.insert(prepared.id) {
                return Err(taken(old, document));
            }
        }
        let _changing = shared.catalog.change(&target).await?;
        drop_collection(context, &target, &old.handle.rid().to_string()).await?;
    }
    let new = New { indexes, options, ..New::default() };
    let collection = make(context, &target, &new).await?;
    for document in new_documents {
        insert(context, &collection, document, environment).await?;
    }
    Ok(())
}

async fn insert(
    context: &Context<'_>,
    collection: &Collection,
    document: Object,
    environment: &Environment,
) -> Result<()> {
    let new = prepare_insert(collection, document.clone(), environment, bypasses(context)?)?;
    let mut data = context.data(collection);
    let written =
        data.put(WriteMode::Create, &new.key, &new.id, new.body.into(), Default::default(), None).await;
    written.map_err(|error| match error.kind {
        armilla_engine::ErrorKind::AlreadyExists(_) => taken(collection, &document),
        _ => error.into(),
    })
}

/// The failure of a document whose `_id` another one has.
fn taken(collection: &Collection, document: &Object) -> Failure {
    let id = document.get("_id").cloned().unwrap_or(Value::Null);
    duplicate(&collection.namespace.to_string(), "_id_", Object::from([("_id", id)]))
}

/// Brings each document together with the one that is there.
async fn merge(
    context: &Context<'_>,
    supply: &mut Supply,
    merge: &Merge,
    environment: &Arc<Environment>,
) -> Result<()> {
    let database = merge.database.as_deref().unwrap_or(context.database);
    let target = Namespace::new(database, &merge.collection)?;
    context.check_access(&target, true)?;
    let shared = context.shared;
    let collection = match shared.catalog.collection_of(&target).await? {
        Some(collection) => collection,
        None => make(context, &target, &New::default()).await?,
    };
    let on: Vec<String> = match &merge.on {
        Some(on) => on.iter().map(|path| path.as_str().to_owned()).collect(),
        None => vec!["_id".to_owned()],
    };
    let is_unique = on == ["_id"]
        || collection.details.indexes.iter().any(|index| {
            index.is_unique
                && index.fields.len() == on.len()
                && index.fields.iter().all(|(path, _)| on.contains(path))
        });
    if !is_unique {
        return Err(Failure::new(51_183, "Cannot find index to verify that join fields will be unique"));
    }
    loop {
        let portion =
            supply.take(Room { documents: PORTION, ..Room::default() }, &context.charges, shared).await?;
        for document in &portion.documents {
            let document = bson::decode(document)?;
            merge_one(context, &collection, merge, &on, document, environment).await?;
        }
        if portion.is_last {
            return Ok(());
        }
        context.check_time()?;
    }
}

async fn merge_one(
    context: &Context<'_>,
    collection: &Collection,
    merge: &Merge,
    on: &[String],
    document: Object,
    environment: &Arc<Environment>,
) -> Result<()> {
    let document = documents::with_id_first(document, || context.shared.new_object_id());
    let mut query = Object::new();
    for path in on {
        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
        let value = match documents::at_path(&document, &names) {
            None | Some(Value::Null | Value::Array(_)) => {
                return Err(Failure::new(
                    51_132,
                    format!(
                        "$merge write error: 'on' field '{path}' cannot be missing, null, undefined or an array"
                    ),
                ));
            }
            Some(value) => value,
        };
        query.insert(path.as_str(), Object::from([("$eq", value.clone())]));
    }
    let filter = Arc::new(Filter::parse(&query, &Scope::default())?);
    let search = Search::new(collection, filter, environment.clone());
    for _ in 0..crate::limits::WRITE_ATTEMPTS_MAX {
        let mut data = context.data(collection);
        let Some(old) = search.targets(&mut data, collection, 1).await?.into_iter().next() else {
            return match merge.when_not_matched {
                WhenNotMatched::Insert => insert(context, collection, document, environment).await,
                WhenNotMatched::Discard => Ok(()),
                WhenNotMatched::Fail => Err(Failure::new(
                    13_113,
                    "$merge could not find a matching document in the target collection for at least one document in the source collection",
                )),
            };
        };
        let mut new = match &merge.when_matched {
            WhenMatched::KeepExisting => return Ok(()),
            WhenMatched::Fail => {
                let key: Object = on
                    .iter()
                    .map(|path| {
                        let names: Vec<String> = path.split('.').map(str::to_owned).collect();
                        let value = documents::at_path(&document, &names).cloned().unwrap_or(Value::Null);
                        (path.clone(), value)
                    })
                    .collect();
                let index = if on == ["_id"] { "_id_" } else { "unique" };
                return Err(duplicate(&collection.namespace.to_string(), index, key));
            }
            WhenMatched::Replace => document.clone(),
            WhenMatched::Merge => {
                let mut new = old.document.clone();
                for (name, value) in document.iter() {
                    new.insert(name, value.clone());
                }
                new
            }
            WhenMatched::Pipeline(pipeline) => {
                let mut inner = Environment::clone(environment);
                inner.variables.insert("new", document.clone());
                for (name, expression) in &merge.variables {
                    let value = expression.evaluate(&document, environment)?.unwrap_or(Value::Null);
                    inner.variables.insert(name.as_str(), value);
                }
                let input = Box::new(std::iter::once(Ok(old.document.clone())));
                let mut output = pipeline.run(input, Arc::new(inner), Arc::new(NoOthers))?;
                match output.next() {
                    Some(document) => document?,
                    None => return Ok(()),
                }
            }
        };
        new.insert("_id", old.document.get("_id").cloned().unwrap_or(Value::Null));
        let new = documents::with_id_first(new, || Value::Null);
        let new = prepare_insert(collection, new, environment, bypasses(context)?)?;
        let precondition = armilla_engine::Precondition::Version(old.etag);
        match data.put(WriteMode::Replace, &new.key, &old.id, new.body.into(), precondition, None).await {
            Ok(()) => return Ok(()),
            Err(error)
                if matches!(
                    error.kind,
                    armilla_engine::ErrorKind::PreconditionFailed | armilla_engine::ErrorKind::NotFound(_)
                ) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Failure::new(codes::WRITE_CONFLICT, "other writers came between again and again: try again"))
}

/// The pipelines of `$merge` reach no other collection.
struct NoOthers;

impl Outside for NoOthers {
    fn documents(
        &self,
        _database: Option<&str>,
        _collection: &str,
        _narrowed_by: Option<&Filter>,
    ) -> armilla_mongo_expression::Result<armilla_mongo_pipeline::Documents> {
        Ok(Box::new(std::iter::empty()))
    }
}
