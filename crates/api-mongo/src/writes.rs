//! Writing documents, one statement after the other: what each does, and how failures are told.

use armilla_engine::{Error, ErrorKind, Precondition, Receipt, ResourceKind, WriteMode};
use armilla_mongo_expression::{Environment, codes};
use armilla_mongo_update::Update;
use armilla_mongo_wire::bson;
use armilla_value::{Object, PartitionKey, Value};

use crate::catalog::Collection;
use crate::data::Data;
use crate::documents;
use crate::failure::{Failure, Result};
use crate::limits::{DOCUMENT_BYTES_MAX, WRITE_ATTEMPTS_MAX};
use crate::search::{Search, Target};

/// What an update did.
#[derive(Debug, Default)]
pub(crate) struct UpdateDone {
    pub(crate) matched: i64,
    pub(crate) modified: i64,
    /// The `_id` of a document that was made.
    pub(crate) upserted: Option<Value>,
    /// The last document as it was, and as it is, where that is asked for.
    pub(crate) before: Option<Object>,
    pub(crate) after: Option<Object>,
}

/// An update of a command.
pub(crate) struct UpdateStatement<'s> {
    pub(crate) search: &'s Search,
    pub(crate) update: &'s Update,
    pub(crate) is_multi: bool,
    pub(crate) is_upsert: bool,
    pub(crate) bypasses_validation: bool,
    /// Whether the document is asked for, as it was or as it is: it is kept then.
    pub(crate) shows_document: bool,
    pub(crate) environment: &'s Environment,
}

/// Writes into a collection.
pub(crate) struct Writer<'w, 'd> {
    pub(crate) data: Data<'d>,
    pub(crate) collection: &'w Collection,
    pub(crate) new_id: &'w (dyn Fn() -> Value + Sync),
    /// What a driver may ask for that sends the statement again.
    pub(crate) receipts: Option<Receipts<'w>>,
}

/// How statements that may be sent again are told apart, and what is kept of them.
pub(crate) struct Receipts<'w> {
    /// The session, the number and the statement.
    pub(crate) key: Vec<u8>,
    /// Makes what is answered again of what was done.
    pub(crate) outcome: &'w (dyn Fn(&UpdateDone) -> Result<Object> + Sync),
}

impl Writer<'_, '_> {
    /// Says whether a document is still needed once it is on its way to be stored: what a transaction wrote, its own
    /// statements see, and a unique key that is taken is told.
    fn needs_document(&self) -> bool {
        self.data.written.is_some() || self.collection.details.indexes.iter().any(|index| index.is_unique)
    }

    /// Inserts a document, which gets an `_id` if it has none.
    pub(crate) async fn insert(
        &mut self,
        document: Object,
        environment: &Environment,
        bypasses_validation: bool,
    ) -> Result<()> {
        let document = documents::with_id_first(document, self.new_id);
        check_id_names(&document)?;
        let key = check_storable(self.collection, &document, environment, bypasses_validation)?.0;
        // Of most documents nothing is needed afterwards but what they are called.
        let kept = match self.needs_document() {
            true => document.clone(),
            false => document.get("_id").map(|id| ("_id", id.clone())).into_iter().collect(),
        };
        let (id, body) = documents::to_body(document)?;
        self.data.claim(&id)?;
        let receipt = self.receipt(&UpdateDone::default())?;
        let written =
            self.data.put(WriteMode::Create, &key, &id, body.into(), Precondition::None, receipt).await;
        match written {
            Ok(()) => {
                self.data.note(&id, Some(&kept));
                Ok(())
            }
            Err(error) => Err(self.refusal_in(error, &kept, Some(&key))),
        }
    }

    /// Makes the receipt of a statement that may be sent again.
    fn receipt(&self, done: &UpdateDone) -> Result<Option<Receipt>> {
        let Some(receipts) = &self.receipts else { return Ok(None) };
        let mut bytes = Vec::new();
        bson::encode(&(receipts.outcome)(done)?, &mut bytes)?;
        // A document that is too large to be kept is not shown again.
        Ok(Receipt::new(receipts.key.clone(), bytes).ok())
    }

    /// Finds what came of the same statement when it was sent before.
    fn before(&self, key: Option<&PartitionKey>) -> Result<Option<Object>> {
        let Some(receipts) = &self.receipts else { return Ok(None) };
        let Data { engine, caller, handle, .. } = &self.data;
        let found = match key {
            Some(key) => engine.find_receipt(caller, handle, key, &receipts.key)?,
            None => engine.find_receipt_anywhere(caller, handle, &receipts.key)?,
        };
        Ok(match found {
            Some(bytes) => Some(bson::decode(&bytes)?),
            None => None,
        })
    }

    /// Says why a document was not written: because the statement was done before, or for a reason.
    fn refusal_in(&self, error: Error, document: &Object, key: Option<&PartitionKey>) -> Failure {
        let may_be_repeated = matches!(
            error.kind,
            ErrorKind::Conflict
                | ErrorKind::AlreadyExists(_)
                | ErrorKind::UniqueKeyTaken
                | ErrorKind::FailedDependency
        );
        if !may_be_repeated {
            return self.refusal(error, document);
        }
        match self.before(key) {
            Ok(Some(outcome)) => Failure::repeated(outcome),
            Ok(None) => self.refusal(error, document),
            // What is in the way may be what the statement wrote itself. That is not known, and a refusal would be final.
            Err(failure) => failure,
        }
    }

    /// Says why a document was not written.
    fn refusal(&self, error: Error, document: &Object) -> Failure {
        let namespace = &self.collection.namespace;
        match error.kind {
            ErrorKind::AlreadyExists(ResourceKind::Item) => {
                let id = document.get("_id").cloned().unwrap_or(Value::Null);
                duplicate(&namespace.to_string(), "_id_", Object::from([("_id", id)]))
            }
            ErrorKind::UniqueKeyTaken => {
                // Which of several it was, the engine does not say; the first one is the likeliest.
                let index = self.collection.details.indexes.iter().find(|index| index.is_unique);
                let fields = index.map(|index| index.fields.clone()).unwrap_or_default();
                let value = fields.iter().map(|(path, _)| {
                    let names: Vec<String> = path.split('.').map(str::to_owned).collect();
                    let value = documents::at_path(document, &names).cloned().unwrap_or(Value::Null);
                    (path.clone(), value)
                });
                let key: Object = value.collect();
                let name = index.map_or("unique", |index| index.name.as_str());
                duplicate(&namespace.to_string(), name, key)
            }
            _ => error.into(),
        }
    }

    /// Runs an update.
    pub(crate) async fn update(&mut self, statement: &UpdateStatement<'_>) -> Result<UpdateDone> {
        let mut done = UpdateDone::default();
        for _ in 0..WRITE_ATTEMPTS_MAX {
            let most = if statement.is_multi { usize::MAX } else { 1 };
            let targets = statement.search.targets(&mut self.data, self.collection, most).await?;
            if targets.is_empty() {
                if done.matched == 0
                    && let Some(outcome) = self.before(statement.search.partition_key())?
                {
                    return Err(Failure::repeated(outcome));
                }
                if !statement.is_upsert || done.matched > 0 {
                    return Ok(done);
                }
                match Box::pin(self.upsert(statement)).await {
                    Ok(document) => {
                        done.upserted = document.get("_id").cloned();
                        done.after = Some(document);
                        return Ok(done);
                    }
                    // Another was faster: what it wrote may be what is to be updated.
                    Err(failure)
                        if failure.code == codes::DUPLICATE_KEY
                            && Box::pin(self.was_faster(statement)).await? =>
                    {
                        continue;
                    }
                    Err(failure) => return Err(failure),
                }
            }
            let mut is_lost = false;
            for target in targets {
                match self.update_one(statement, target, &mut done).await? {
                    true => {}
                    false => is_lost = true,
                }
            }
            if statement.is_multi || !is_lost {
                return Ok(done);
            }
        }
        Err(Failure::new(codes::WRITE_CONFLICT, "other writers came between again and again: try again"))
    }

    /// Says whether what an upsert looked for is there by now.
    async fn was_faster(&mut self, statement: &UpdateStatement<'_>) -> Result<bool> {
        Ok(!statement.search.targets(&mut self.data, self.collection, 1).await?.is_empty())
    }

    async fn upsert(&mut self, statement: &UpdateStatement<'_>) -> Result<Object> {
        let document = statement.update.insert(&statement.search.filter, statement.environment)?;
        let document = documents::with_id_first(document, self.new_id);
        let Prepared { key, id, body, .. } =
            prepare(self.collection, document.clone(), statement.environment, statement.bypasses_validation)?;
        let upserted = document.get("_id").cloned();
        let receipt =
            self.receipt(&UpdateDone { upserted, after: Some(document.clone()), ..UpdateDone::default() })?;
        match self.data.put(WriteMode::Create, &key, &id, body.into(), Precondition::None, receipt).await {
            Ok(()) => {
                self.data.note(&id, Some(&document));
                Ok(document)
            }
            Err(error) => Err(self.refusal_in(error, &document, Some(&key))),
        }
    }

    /// Updates one document; false if it does not match any more because others changed it.
    async fn update_one(
        &mut self,
        statement: &UpdateStatement<'_>,
        mut target: Target,
        done: &mut UpdateDone,
    ) -> Result<bool> {
        for _ in 0..WRITE_ATTEMPTS_MAX {
            let has_validator = self.collection.details.validator.is_some();
            let before = (statement.shows_document || has_validator).then(|| target.document.clone());
            let document = std::mem::take(&mut target.document);
            let updated = statement.update.apply(document.clone(), &target.matched, statement.environment)?;
            if !updated.is_modified {
                done.matched += 1;
                if statement.shows_document {
                    (done.before, done.after) = (before, Some(updated.document));
                }
                return Ok(true);
            }
            let bypasses = statement.bypasses_validation
                || match &before {
                    Some(before) => is_exempt(self.collection, before, statement.environment)?,
                    None => false,
                };
            let after = (statement.shows_document || self.needs_document()).then(|| updated.document.clone());
            let Prepared { key, id, body, .. } =
                prepare(self.collection, updated.document, statement.environment, bypasses)?;
            if key != target.key {
                return Err(Failure::new(
                    codes::IMMUTABLE_FIELD,
                    "the shard key of a document cannot be changed by an update: delete it and insert it anew",
                ));
            }
            // Items of other APIs keep the id that they have.
            let (id, body) = if id == target.id {
                (id, body)
            } else {
                (target.id.clone(), with_item_id(body, &target.id))
            };
            let precondition =
                target.etag.map_or(Precondition::Exists, |etag| Precondition::Version(Some(etag)));
            let mode = if statement.update.is_replacement() { WriteMode::Replace } else { WriteMode::Update };
            if self.data.transaction.is_some() {
                Box::pin(self.check_unchanged(&target)).await?;
            }
            let now = UpdateDone { matched: 1, modified: 1, upserted: None, before, after };
            let receipt = self.receipt(&now)?;
            match self.data.put(mode, &key, &id, body.into(), precondition, receipt).await {
                Ok(()) => {
                    self.data.note(&id, now.after.as_ref());
                    done.matched += 1;
                    done.modified += 1;
                    (done.before, done.after) = (now.before, now.after);
                    return Ok(true);
                }
                Err(error) if is_changed(&error) => {
                    match Box::pin(self.look_again(statement.search, &target)).await? {
                        Some(again) => target = again,
                        None => return Ok(false),
                    }
                }
                Err(error) => {
                    let document = now.after.unwrap_or_default();
                    return Err(self.refusal_in(error, &document, Some(&key)));
                }
            }
        }
        Err(Failure::new(codes::WRITE_CONFLICT, "other writers came between again and again: try again"))
    }

    /// Reads a target that others changed.
    async fn look_again(&mut self, search: &Search, target: &Target) -> Result<Option<Target>> {
        let Some(item) = self.data.read(&target.key, &target.id).await? else { return Ok(None) };
        let document = documents::of_item(&item);
        let etag = Some(item.etag(self.collection.handle.identity()));
        let matched = search.filter.find(&document, &search.environment)?;
        Ok(matched.map(|matched| Target {
            id: target.id.clone(),
            key: target.key.clone(),
            etag,
            document,
            matched,
        }))
    }

    /// Fails where another has written what a transaction is about to write: it could not be committed any more.
    async fn check_unchanged(&mut self, target: &Target) -> Result<()> {
        self.data.claim(&target.id)?;
        let Some(etag) = target.etag else { return Ok(()) };
        let mut outside = Data {
            engine: self.data.engine,
            caller: self.data.caller,
            handle: self.data.handle,
            charges: self.data.charges,
            transaction: None,
            written: None,
            patience: self.data.patience,
        };
        let now = outside.read(&target.key, &target.id).await?;
        let now = now.map(|item| item.etag(self.collection.handle.identity()));
        if now == Some(etag) { Ok(()) } else { Err(write_conflict()) }
    }

    /// Deletes what matches; returns how many, and the last of them.
    pub(crate) async fn delete(
        &mut self,
        search: &Search,
        count_max: usize,
    ) -> Result<(i64, Option<Object>)> {
        let (mut count, mut last) = (0, None);
        for _ in 0..WRITE_ATTEMPTS_MAX {
            let targets = search.targets(&mut self.data, self.collection, count_max).await?;
            if targets.is_empty()
                && count == 0
                && let Some(outcome) = self.before(search.partition_key())?
            {
                return Err(Failure::repeated(outcome));
            }
            let mut is_lost = false;
            for target in targets {
                match self.delete_one(search, target).await? {
                    Some(document) => {
                        count += 1;
                        last = Some(document);
                    }
                    None => is_lost = true,
                }
            }
            if count_max > 1 || !is_lost {
                return Ok((count, last));
            }
        }
        Err(Failure::new(codes::WRITE_CONFLICT, "other writers came between again and again: try again"))
    }

    /// Deletes one document; nothing if it is gone, or does not match any more.
    pub(crate) async fn delete_one(&mut self, search: &Search, mut target: Target) -> Result<Option<Object>> {
        for _ in 0..WRITE_ATTEMPTS_MAX {
            let precondition =
                target.etag.map_or(Precondition::Exists, |etag| Precondition::Version(Some(etag)));
            if self.data.transaction.is_some() {
                Box::pin(self.check_unchanged(&target)).await?;
            }
            let done =
                UpdateDone { matched: 1, before: Some(target.document.clone()), ..UpdateDone::default() };
            let receipt = self.receipt(&done)?;
            match self.data.delete(&target.key, &target.id, precondition, receipt).await {
                Ok(()) => {
                    self.data.note(&target.id, None);
                    return Ok(Some(target.document));
                }
                Err(error) if is_changed(&error) => match Box::pin(self.look_again(search, &target)).await? {
                    Some(again) => target = again,
                    None => return Ok(None),
                },
                // The same statement may have deleted another document before.
                Err(error) => return Err(self.refusal_in(error, &target.document, Some(&target.key))),
            }
        }
        Err(Failure::new(codes::WRITE_CONFLICT, "other writers came between again and again: try again"))
    }
}

/// Another writer was faster than a transaction.
pub(crate) fn write_conflict() -> Failure {
    Failure::new(
        codes::WRITE_CONFLICT,
        "WriteConflict error: this operation conflicted with another operation. Please retry your operation or \
         multi-document transaction.",
    )
}

/// A document that may be stored, and as what.
pub(crate) struct Prepared {
    pub(crate) key: PartitionKey,
    pub(crate) id: String,
    pub(crate) body: Value,
    pub(crate) bytes: usize,
}

/// Checks a document that is to be stored, and returns where and as what.
fn prepare(
    collection: &Collection,
    document: Object,
    environment: &Environment,
    bypasses_validation: bool,
) -> Result<Prepared> {
    let (key, bytes) = check_storable(collection, &document, environment, bypasses_validation)?;
    let (id, body) = documents::to_body(document)?;
    Ok(Prepared { key, id, body, bytes })
}

/// Says where a document lies and how long it is, or why it cannot be stored.
fn check_storable(
    collection: &Collection,
    document: &Object,
    environment: &Environment,
    bypasses_validation: bool,
) -> Result<(PartitionKey, usize)> {
    let bytes = check_size(document)?;
    armilla_mongo_update::check_depth(document)?;
    if !bypasses_validation {
        validate(collection, document, environment)?;
    }
    crate::indexes::check_arrays(&collection.details.indexes, document)?;
    Ok((documents::partition_key(document, &collection.shard_key)?, bytes))
}

/// Checks a document that is to be inserted.
pub(crate) fn prepare_insert(
    collection: &Collection,
    document: Object,
    environment: &Environment,
    bypasses_validation: bool,
) -> Result<Prepared> {
    check_id_names(&document)?;
    prepare(collection, document, environment, bypasses_validation)
}

/// Refuses an `_id` with names that are operators.
fn check_id_names(document: &Object) -> Result<()> {
    let Some(Value::Object(id)) = document.get("_id") else { return Ok(()) };
    match id.iter().find(|(name, _)| name.starts_with('$')) {
        Some((name, _)) => Err(Failure::new(
            codes::DOLLAR_PREFIXED_FIELD_NAME,
            format!("_id fields may not contain '$'-prefixed fields: {name} is not valid for storage."),
        )),
        None => Ok(()),
    }
}

/// Says whether an item is another than it was, or gone.
fn is_changed(error: &Error) -> bool {
    matches!(error.kind, ErrorKind::PreconditionFailed | ErrorKind::NotFound(ResourceKind::Item))
}

fn with_item_id(body: Value, id: &str) -> Value {
    match body {
        Value::Object(mut members) => {
            members.insert("id", id);
            // It was not there before, and is the id that all items have.
            if members.get("_id").and_then(Value::as_str) == Some(id) {
                members.remove("_id");
                members.remove("$$id");
            }
            Value::Object(members)
        }
        other => other,
    }
}

/// Two documents have the same key.
pub(crate) fn duplicate(namespace: &str, index: &str, key: Object) -> Failure {
    let shown = shown(&key);
    let pattern: Object = key.iter().map(|(name, _)| (name.to_owned(), Value::Int32(1))).collect();
    let message =
        format!("E11000 duplicate key error collection: {namespace} index: {index} dup key: {shown}");
    Failure::new(codes::DUPLICATE_KEY, message).with("keyPattern", pattern).with("keyValue", key)
}

/// Writes a key as the server's messages have it.
fn shown(key: &Object) -> String {
    let members: Vec<String> =
        key.iter().map(|(name, value)| format!("{name}: {}", shown_value(value))).collect();
    format!("{{ {} }}", members.join(", "))
}

fn shown_value(value: &Value) -> String {
    match value {
        Value::ObjectId(bytes) => {
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("ObjectId('{hex}')")
        }
        Value::Date(ms) => format!("new Date({ms})"),
        Value::Object(members) => shown(members),
        value => armilla_value::json::to_string(value),
    }
}

fn check_size(document: &Object) -> Result<usize> {
    let bytes = bson::encoded_bytes(document);
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(Failure::new(
            codes::BSON_OBJECT_TOO_LARGE,
            format!("object to insert too large. size in bytes: {bytes}, max size: {DOCUMENT_BYTES_MAX}"),
        ));
    }
    Ok(bytes)
}

/// Says whether an update is not asked whether it is valid: at the level `moderate`, what was not valid need not become
/// so.
fn is_exempt(collection: &Collection, old: &Object, environment: &Environment) -> Result<bool> {
    let details = &collection.details;
    match &details.validator {
        Some(validator)
            if details.options.get("validationLevel").and_then(Value::as_str) == Some("moderate") =>
        {
            Ok(!validator.matches(old, environment)?)
        }
        _ => Ok(false),
    }
}

/// Refuses what the collection's validator does not let in.
fn validate(collection: &Collection, document: &Object, environment: &Environment) -> Result<()> {
    let details = &collection.details;
    let Some(validator) = &details.validator else { return Ok(()) };
    let setting =
        |name: &str| details.options.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    if setting("validationAction") == "warn" || setting("validationLevel") == "off" {
        return Ok(());
    }
    if validator.matches(document, environment)? {
        return Ok(());
    }
    let id = document.get("_id").cloned().unwrap_or(Value::Null);
    let info = Object::from([
        ("failingDocumentId", id),
        (
            "details",
            Value::Object(Object::from([(
                "operatorName",
                Value::from(details.options.get("validator").and_then(Value::as_object).map_or(
                    "",
                    |validator| {
                        if validator.contains("$jsonSchema") { "$jsonSchema" } else { "$and" }
                    },
                )),
            )])),
        ),
    ]);
    Err(Failure::new(codes::DOCUMENT_VALIDATION_FAILURE, "Document failed validation").with("errInfo", info))
}
