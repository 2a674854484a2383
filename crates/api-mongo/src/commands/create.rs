//! `create`, and how a collection is made.

use armilla_engine::{ContainerDefinition, Throughput};
use armilla_mongo_expression::codes;
use armilla_mongo_pipeline::{Pipeline, Stage};
use armilla_value::{Object, Value};

use crate::arguments::{Arguments, number};
use crate::catalog::{Collection, Details, Found, View, existing};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::indexes::{Index, policy};
use crate::namespace::Namespace;
use crate::reply::Reply;
use crate::schema_changes::CREATE;
use crate::transactions::Held;

/// What a new collection is to be.
#[derive(Default)]
pub(super) struct New {
    pub(super) shard_key: Vec<Vec<String>>,
    pub(super) throughput: Option<Throughput>,
    pub(super) indexes: Vec<Index>,
    pub(super) options: Object,
}

/// Minutes for which changes are kept, so that streams can be resumed.
const CHANGES_KEPT_MINUTES: i64 = 24 * 60;

/// Options that are kept and listed.
const KEPT: [&str; 4] = ["validator", "validationLevel", "validationAction", "changeStreamPreAndPostImages"];

/// Options that a collection cannot have here.
const REFUSED: [(&str, &str); 4] = [
    ("capped", "capped collections are not supported"),
    ("timeseries", "time series collections are not supported"),
    (
        "expireAfterSeconds",
        "expireAfterSeconds of a collection is for time series, which are not supported: an index may have it",
    ),
    ("encryptedFields", "encrypted fields are not supported"),
];

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "capped",
        "size",
        "max",
        "validator",
        "validationLevel",
        "validationAction",
        "indexOptionDefaults",
        "viewOn",
        "pipeline",
        "collation",
        "timeseries",
        "expireAfterSeconds",
        "clusteredIndex",
        "changeStreamPreAndPostImages",
        "storageEngine",
        "idIndex",
        "encryptedFields",
    ])?;
    context.check_collation()?;
    let namespace = context.namespace()?;
    namespace.check_creatable()?;
    for (name, message) in REFUSED {
        if arguments.value(name).is_some_and(|value| *value != Value::Bool(false)) {
            return Err(Failure::new(codes::COMMAND_NOT_SUPPORTED, message));
        }
    }
    // Nothing of them is done, and nothing follows from them: the store has no such settings.
    arguments.object("storageEngine")?;
    arguments.object("indexOptionDefaults")?;
    if arguments.value("size").is_some() || arguments.value("max").is_some() {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "the 'capped' field needs to be true when either the 'size' or 'max' fields are present",
        ));
    }
    if let Some(index) = arguments.object("idIndex")? {
        let key = index.get("key").and_then(Value::as_object);
        if !key.is_some_and(|key| key.len() == 1 && key.get("_id").and_then(number) == Some(1)) {
            return Err(Failure::bad_value("The field 'key' for an _id index must be {_id: 1}"));
        }
        if let Some(collation) = index.get("collation") {
            crate::collation::check(collation)?;
        }
    }
    if let Some(on) = arguments.string("viewOn")? {
        if context.is_in_transaction {
            return Err(Failure::new(
                codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
                format!("Cannot create a view in a multi-document transaction. View: {namespace}"),
            ));
        }
        return make_view(context, &namespace, on).await;
    }
    if arguments.value("pipeline").is_some() {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "'pipeline' requires 'viewOn' to also be specified",
        ));
    }
    let mut options = Object::new();
    for name in KEPT {
        if let Some(value) = arguments.value(name) {
            options.insert(name, value.clone());
        }
    }
    if let Some(clustered) = clustered(&arguments)? {
        options.insert("clusteredIndex", clustered);
    }
    check_validation(&arguments)?;
    context.shared.catalog.read_again(&namespace).await?;
    match context.shared.catalog.find(&namespace).await? {
        Found::Collection(collection)
            if collection.details.options == options && !context.is_in_transaction =>
        {
            return Ok(Reply::ok());
        }
        Found::Collection(_) | Found::View(_) => {
            return Err(Failure::new(
                codes::NAMESPACE_EXISTS,
                format!("Collection {namespace} already exists."),
            ));
        }
        Found::Nothing => {}
    }
    make_or_hide(context, &namespace, &New { options, ..New::default() }).await?;
    Ok(Reply::ok())
}

/// Reads `clusteredIndex`. Documents lie in the order of their ids in every collection; one that asks for it has no other
/// index of them.
fn clustered(arguments: &Arguments<'_>) -> Result<Option<Object>> {
    let Some(value) = arguments.value("clusteredIndex").filter(|value| **value != Value::Bool(false)) else {
        return Ok(None);
    };
    let Some(given) = value.as_object() else {
        return Err(Failure::new(
            codes::TYPE_MISMATCH,
            "'clusteredIndex' must be an object with 'key' and 'unique'",
        ));
    };
    let given = Arguments::new("create.clusteredIndex", given);
    given.allow_only(&["v", "key", "name", "unique"])?;
    let key = given.required_object("key")?;
    if key.len() != 1 || key.get("_id").and_then(number) != Some(1) || !given.truth("unique")? {
        return Err(Failure::new(
            codes::INVALID_INDEX_SPECIFICATION_OPTION,
            "the clustered index has the key {_id: 1} and is unique",
        ));
    }
    Ok(Some(Object::from([
        ("v", Value::Int32(2)),
        ("key", Value::Object(key.clone())),
        ("name", Value::from(given.string("name")?.unwrap_or("_id_"))),
        ("unique", Value::Bool(true)),
    ])))
}

/// Refuses words that say nothing about validation.
pub(super) fn check_validation(arguments: &Arguments<'_>) -> Result<()> {
    let level = arguments.string("validationLevel")?.unwrap_or("strict");
    let action = arguments.string("validationAction")?.unwrap_or("error");
    if !matches!(level, "off" | "strict" | "moderate") || !matches!(action, "error" | "warn") {
        return Err(Failure::bad_value(
            "validationLevel is off, moderate or strict, and validationAction error or warn",
        ));
    }
    arguments.object("validator")?;
    Ok(())
}

/// Refuses a pipeline that is no view: one that writes, or that does not begin with documents of a collection.
pub(super) fn check_view(pipeline: &[Value]) -> Result<()> {
    let pipeline = Pipeline::parse(pipeline, &Default::default())?;
    let is_refused = |stage: &&Stage| {
        stage.is_source() || matches!(stage, Stage::Out(_) | Stage::Merge(_) | Stage::ChangeStream(_))
    };
    match pipeline.stages.iter().find(is_refused) {
        Some(stage) => Err(Failure::new(
            codes::OPTION_NOT_SUPPORTED_ON_VIEW,
            format!("{} cannot be used in the definition of a view", stage.name()),
        )),
        None => Ok(()),
    }
}

async fn make_view(context: &Context<'_>, namespace: &Namespace, on: &str) -> Result<Reply> {
    let arguments = context.arguments();
    let pipeline = arguments.array("pipeline")?.unwrap_or_default();
    if let Some(name) = KEPT.iter().find(|name| arguments.value(name).is_some()) {
        return Err(Failure::new(codes::INVALID_OPTIONS, format!("option not supported on a view: {name}")));
    }
    check_view(pipeline)?;
    Namespace::new(&namespace.database, on)?;
    let _changing = context.shared.catalog.change(namespace).await?;
    match context.shared.catalog.find(namespace).await? {
        Found::Nothing => {}
        Found::View(view) if view.on == on && view.pipeline == pipeline => return Ok(Reply::ok()),
        _ => {
            return Err(Failure::new(
                codes::NAMESPACE_EXISTS,
                format!("Collection {namespace} already exists."),
            ));
        }
    }
    check_account_write(context)?;
    existing(context.shared.engine.create_database(&context.caller, &namespace.database, None).await)?;
    let view = View { on: on.to_owned(), pipeline: pipeline.to_vec() };
    let shared = context.shared;
    let description =
        Object::from([("viewOn", Value::from(on)), ("pipeline", Value::Array(pipeline.to_vec()))]);
    shared.catalog.keep_view(namespace, view).await?;
    shared.schema_changes.note(&shared.clock, namespace, CREATE, description);
    Ok(Reply::ok())
}

/// Refuses those who may only read: descriptions are written on behalf of the server.
pub(super) fn check_account_write(context: &Context<'_>) -> Result<()> {
    match context.caller.access {
        armilla_engine::Access::Full => Ok(()),
        _ => Err(Failure::new(
            codes::UNAUTHORIZED,
            format!("not authorized on {} to execute command {{ {}: ... }}", context.database, context.name),
        )),
    }
}

/// Makes a collection. One that a transaction makes is not shown before that is stored.
pub(super) async fn make_or_hide(
    context: &Context<'_>,
    namespace: &Namespace,
    new: &New,
) -> Result<Collection> {
    if !context.is_in_transaction {
        return make(context, namespace, new).await;
    }
    // There has to be a transaction.
    drop(Held::of(context)?);
    let hidden = context.shared.hidden.hide(namespace);
    let made = make(context, namespace, new).await?;
    Held::of(context)?.note_made(hidden);
    Ok(made)
}

/// Makes indexes in a transaction: of a collection that is not there, or that the transaction has made.
pub(super) async fn index_in_transaction(context: &mut Context<'_>) -> Result<Reply> {
    let namespace = context.namespace()?;
    let is_own = Held::of(context)?.has_made(&namespace);
    if is_own {
        return super::create_indexes::run(context).await;
    }
    if context.shared.catalog.collection_of(&namespace).await?.is_some() {
        return Err(Failure::new(
            codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!(
                "Cannot create new indexes on existing collection {namespace} in a multi-document transaction."
            ),
        ));
    }
    let hidden = context.shared.hidden.hide(&namespace);
    let reply = super::create_indexes::run(context).await?;
    Held::of(context)?.note_made(hidden);
    Ok(reply)
}

/// Makes a collection, and its database if there is none.
pub(super) async fn make(context: &Context<'_>, namespace: &Namespace, new: &New) -> Result<Collection> {
    namespace.check_creatable()?;
    check_account_write(context)?;
    let shared = context.shared;
    let _changing = shared.catalog.change(namespace).await?;
    if let Found::Collection(collection) = shared.catalog.find(namespace).await? {
        return Ok(collection);
    }
    check_case(context, &namespace.database)?;
    existing(shared.engine.create_database(&context.caller, &namespace.database, None).await)?;
    let made = make_container(context, namespace, new).await?;
    let description = Object::from([("idIndex", Value::Object(super::list_indexes::id_index()))]);
    shared.schema_changes.note(&shared.clock, namespace, CREATE, description);
    Ok(made)
}

/// Makes the container of a collection, and keeps what is to be known of it.
pub(super) async fn make_container(
    context: &Context<'_>,
    namespace: &Namespace,
    new: &New,
) -> Result<Collection> {
    let shared = context.shared;
    let mut details = Details {
        indexes: new.indexes.clone(),
        options: new.options.clone(),
        is_own: true,
        ..Details::default()
    };
    details.read_validator()?;
    let definition = definition(namespace, new)?;
    let definition = ContainerDefinition::from_value(&definition)
        .map_err(|error| Failure::bad_value(format!("the collection cannot be made: {error}")))?;
    let engine = &shared.engine;
    let made =
        engine.create_container(&context.caller, &namespace.database, definition, new.throughput).await;
    match made {
        Ok(answer) => context.charges.add(answer.charge),
        Err(error) => return Err(error.into()),
    }
    let located = engine.container(&namespace.database, &namespace.collection)?;
    shared.catalog.keep(&located.container.rid().to_string(), details).await?;
    shared.catalog.collection(namespace, located.container).await
}

/// Returns the definition of a collection's container.
fn definition(namespace: &Namespace, new: &New) -> Result<Value> {
    let mut definition = Object::from([
        ("id", Value::from(namespace.collection.as_str())),
        ("indexingPolicy", policy(&new.shard_key, &new.indexes)),
    ]);
    if !new.shard_key.is_empty() {
        let path = |names: &Vec<String>| {
            let steps = names.iter().map(|name| format!("/{}", crate::unique::quoted(name)));
            Value::String(steps.collect())
        };
        let kind = if new.shard_key.len() > 1 { "MultiHash" } else { "Hash" };
        let key = Object::from([
            ("paths", Value::Array(new.shard_key.iter().map(path).collect())),
            ("kind", Value::from(kind)),
            ("version", Value::Int64(2)),
            ("joinsZeros", Value::Bool(true)),
        ]);
        definition.insert("partitionKey", key);
    }
    if let Some(unique) = crate::unique::policy(&new.indexes)? {
        definition.insert("uniqueKeyPolicy", unique);
    }
    if let Some(seconds) = new.indexes.iter().find_map(ttl_of_timestamps) {
        definition.insert("defaultTtl", Value::Int64(seconds));
    }
    definition.insert("changeFeedPolicy", change_feed_policy());
    // What other APIs write back has the types that it had.
    definition.insert("extendedTypes", true);
    Ok(Value::Object(definition))
}

/// Returns the policy of a collection's changes: streams see every version, and what it was before.
fn change_feed_policy() -> Object {
    Object::from([
        ("retentionDuration", Value::Int64(CHANGES_KEPT_MINUTES)),
        ("previousImages", Value::Bool(true)),
    ])
}

/// Returns the seconds of an index over the server's own time stamps, which is the container's time to live.
pub(super) fn ttl_of_timestamps(index: &Index) -> Option<i64> {
    match index.fields.as_slice() {
        [(path, _)] if path == "_ts" => index.expires_after,
        _ => None,
    }
}

/// Refuses a database whose name differs from another's in case alone.
fn check_case(context: &Context<'_>, database: &str) -> Result<()> {
    let caller = armilla_engine::Caller::full();
    let mut continuation = None;
    loop {
        let page = context.shared.engine.list_databases(&caller, None, continuation.as_deref())?.value;
        let other = page
            .resources
            .iter()
            .find(|known| known.id != database && known.id.eq_ignore_ascii_case(database));
        if let Some(other) = other {
            return Err(Failure::new(
                codes::DATABASE_DIFFER_CASE,
                format!(
                    "db already exists with different case already have: [{}] trying to create [{database}]",
                    other.id
                ),
            ));
        }
        match page.continuation {
            Some(next) => continuation = Some(next),
            None => return Ok(()),
        }
    }
}
