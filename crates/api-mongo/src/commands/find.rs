//! `find`.

use std::collections::VecDeque;
use std::sync::Arc;

use armilla_engine::Item;
use armilla_mongo_expression::{Environment, Scope, codes};
use armilla_mongo_filter::{Filter, Matched, Projection, Sort, SortKey};
use armilla_mongo_wire::bson;
use armilla_value::{Object, Value, mongo_cmp};

use super::aggregate;
use super::statements::{check_hint, count};
use crate::arguments::{Arguments, number};
use crate::catalog::{Collection, Found};
use crate::context::Context;
use crate::cursors::Cursor;
use crate::data::Data;
use crate::documents;
use crate::equals;
use crate::failure::{Failure, Result};
use crate::limits::FIRST_BATCH_DOCUMENTS;
use crate::lowering::id_of;
use crate::reply::{Batch, Reply};
use crate::search::Search;
use crate::supply::{Find, FindState, Room, Supply, ordered};
use crate::transactions::Held;

/// A find that was read.
pub(super) struct Asked {
    pub(super) filter: Arc<Filter>,
    pub(super) projection: Option<Arc<Projection>>,
    pub(super) sort: Option<Arc<Sort>>,
    pub(super) skip: u64,
    pub(super) limit: Option<u64>,
    pub(super) batch: Option<u64>,
    pub(super) is_single_batch: bool,
    pub(super) environment: Arc<Environment>,
    /// Between which keys of an index documents lie.
    pub(super) bounds: Option<Arc<Bounds>>,
}

/// A part of an index: from a key on, and before one.
pub(super) struct Bounds {
    order: Sort,
    least: Option<SortKey>,
    end: Option<SortKey>,
}

impl Bounds {
    /// Reads `min` and `max`, which need an index to be named.
    fn read(arguments: &Arguments<'_>, collection: &Collection) -> Result<Option<Bounds>> {
        let (least, end) = (arguments.object("min")?, arguments.object("max")?);
        let given = |bound: Option<&Object>| bound.is_some_and(|bound| !bound.is_empty());
        if !given(least) && !given(end) {
            return Ok(None);
        }
        let key = match arguments.value("hint") {
            Some(Value::Object(key)) => key.clone(),
            Some(Value::String(name)) if name == "_id_" => Object::from([("_id", Value::Int32(1))]),
            Some(Value::String(name)) => {
                let index = collection.details.indexes.iter().find(|index| index.name == *name);
                index.map(|index| index.key.clone()).unwrap_or_default()
            }
            _ => {
                return Err(Failure::new(
                    51_173,
                    "When using min()/max() a hint of which index to use must be provided",
                ));
            }
        };
        let bound = |bound: Option<&Object>| -> Result<Option<SortKey>> {
            let Some(bound) = bound.filter(|bound| !bound.is_empty()) else { return Ok(None) };
            if bound.len() != key.len()
                || bound.iter().zip(key.iter()).any(|((name, _), (own, _))| name != own)
            {
                return Err(Failure::new(51_174, "The index chosen is not compatible with min/max"));
            }
            Ok(Some(SortKey(bound.iter().map(|(_, value)| value.clone()).collect())))
        };
        Ok(Some(Bounds { least: bound(least)?, end: bound(end)?, order: Sort::parse(&key)? }))
    }

    fn contain(&self, document: &Object) -> Result<bool> {
        let key = self.order.key(document)?;
        let is_after = self.least.as_ref().is_none_or(|least| self.order.compare(&key, least).is_ge());
        let is_before = self.end.as_ref().is_none_or(|end| self.order.compare(&key, end).is_lt());
        Ok(is_after && is_before)
    }
}

impl Asked {
    pub(super) fn read(arguments: &Arguments<'_>, scope: &Scope, environment: Environment) -> Result<Asked> {
        let none = Object::new();
        let filter = Arc::new(Filter::parse(arguments.object("filter")?.unwrap_or(&none), scope)?);
        let projection = match arguments.object("projection")? {
            Some(projection) if !projection.is_empty() => {
                Some(Arc::new(Projection::parse(projection, Some(&filter), scope)?))
            }
            _ => None,
        };
        let sort = match arguments.object("sort")? {
            Some(sort) => match natural(sort) {
                _ if sort.is_empty() => None,
                None => Some(Arc::new(Sort::parse(sort)?)),
                Some(-1) => Some(Arc::new(Sort::parse(&Object::from([("_id", Value::Int32(-1))]))?)),
                Some(_) => None,
            },
            None => None,
        };
        let limit = arguments.count("limit")?.filter(|limit| *limit > 0);
        Ok(Asked {
            filter,
            projection,
            sort,
            skip: arguments.count("skip")?.unwrap_or(0),
            limit,
            batch: arguments.count("batchSize")?,
            is_single_batch: arguments.truth("singleBatch")?,
            environment: Arc::new(environment),
            bounds: None,
        })
    }
}

/// Returns the direction where documents are to come as they lie, which is in the order of their ids.
fn natural(sort: &Object) -> Option<i64> {
    let direction = sort.get("$natural").and_then(number).filter(|direction| matches!(direction, 1 | -1));
    direction.filter(|_| sort.len() == 1)
}

/// What a find may have.
const ALLOWED: [&str; 25] = [
    "filter",
    "sort",
    "projection",
    "hint",
    "skip",
    "limit",
    "batchSize",
    "singleBatch",
    "comment",
    "maxTimeMS",
    "max",
    "min",
    "returnKey",
    "showRecordId",
    "tailable",
    "awaitData",
    "noCursorTimeout",
    "allowPartialResults",
    "allowDiskUse",
    "collation",
    "let",
    "oplogReplay",
    "readOnce",
    "requestResumeToken",
    "encryptionInformation",
];

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&ALLOWED)?;
    context.check_collation()?;
    arguments.refuse(&["encryptionInformation"], "encrypted fields are not")?;
    let namespace = context.namespace()?;
    count(&context.shared.counters.query, 1);
    for name in ["returnKey", "showRecordId", "requestResumeToken"] {
        let is_set = match arguments.value(name) {
            None | Some(Value::Bool(false)) => false,
            Some(Value::Object(object)) => !object.is_empty(),
            Some(_) => true,
        };
        if is_set {
            return Err(Failure::new(
                codes::NOT_IMPLEMENTED,
                format!(
                    "the option '{name}' of find is not supported: it names places in an index of the server's"
                ),
            ));
        }
    }
    if arguments.truth("tailable")? {
        return Err(Failure::bad_value(
            "error processing query: tailable cursor requested on non capped collection",
        ));
    }
    if arguments.truth("awaitData")? {
        return Err(Failure::parse("Cannot set 'awaitData' without also setting 'tailable'"));
    }
    let (scope, environment) = context.environment()?;
    let mut asked = Asked::read(&arguments, &scope, environment)?;
    let has_timeout = !arguments.truth("noCursorTimeout")?;
    let collection = match context.shared.catalog.find(&namespace).await? {
        Found::Collection(collection) => collection,
        Found::Nothing => {
            return open(context, namespace.to_string(), Supply::List(VecDeque::new()), 1, true, true).await;
        }
        Found::View(view) => return aggregate::find_in_view(context, &namespace, &view).await,
    };
    check_hint(&collection, arguments.value("hint"))?;
    asked.bounds = Bounds::read(&arguments, &collection)?.map(Arc::new);
    let supply = supply(context, &collection, &asked).await?;
    let first =
        asked.batch.map_or(FIRST_BATCH_DOCUMENTS, |batch| usize::try_from(batch).unwrap_or(usize::MAX));
    open(context, namespace.to_string(), supply, first, asked.is_single_batch, has_timeout).await
}

/// Makes where the documents of a find come from.
pub(super) async fn supply(context: &Context<'_>, collection: &Collection, asked: &Asked) -> Result<Supply> {
    let search = Search::new(collection, asked.filter.clone(), asked.environment.clone());
    if let Some(snapshot) = context.snapshot {
        let found = context.reader().find(collection, &search, None, snapshot).await?;
        return Ok(Supply::List(listed(found, asked)?));
    }
    let mut held = Held::of(context)?;
    let is_inside = held.open.is_some();
    let mut data = held.data(&context.caller, &context.charges, collection, search.partition_key()).await?;
    if !is_inside && search.lowered.is_id_only && asked.projection.is_none() && asked.bounds.is_none() {
        return Ok(Supply::List(by_id(&mut data, &search, asked).await?));
    }
    if is_inside || search.points().is_some() || asked.filter.near().is_some() || asked.bounds.is_some() {
        let targets = search.targets(&mut data, collection, usize::MAX).await?;
        let found = targets.into_iter().map(|target| (target.document, target.matched)).collect();
        return Ok(Supply::List(listed(found, asked)?));
    }
    if asked.sort.is_none()
        && let Some(items) = equals::few(&mut data, &search, most(asked)).await?
    {
        return Ok(Supply::List(written(&items, &search, asked)?));
    }
    if let Some(sort) = &asked.sort {
        let projection = asked.projection.as_ref();
        let documents =
            ordered(&mut data, collection, &search, sort, projection, asked.skip, asked.limit).await?;
        return Ok(Supply::List(documents));
    }
    Ok(Supply::Find(Box::new(Find {
        shared: context.shared.clone(),
        caller: context.caller.clone(),
        collection: collection.clone(),
        search,
        projection: asked.projection.clone(),
        skip: asked.skip,
        limit: asked.limit,
        state: FindState::Begin,
    })))
}

/// Returns how many of all that match are skipped, and how many are given then.
fn window(asked: &Asked) -> (usize, usize) {
    let size = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
    (size(asked.skip), asked.limit.map_or(usize::MAX, size))
}

/// Returns how many documents a find reads at most.
fn most(asked: &Asked) -> Option<u64> {
    asked.limit.map(|limit| limit.saturating_add(asked.skip))
}

/// Writes the documents that items are, without those that are skipped.
fn written(items: &[Item], search: &Search, asked: &Asked) -> Result<VecDeque<Vec<u8>>> {
    let (skip, limit) = window(asked);
    let mut encoded = VecDeque::with_capacity(items.len());
    for item in items.iter().skip(skip).take(limit) {
        let mut bytes = Vec::with_capacity(item.stored().text_bytes().len());
        match &asked.projection {
            None => documents::encode_item(item, &mut bytes)?,
            Some(projection) => {
                let document = documents::of_item(item);
                // A projection may ask which element matched.
                let matched = search.filter.find(&document, &search.environment)?.unwrap_or_default();
                bson::encode(&projection.apply(&document, &matched, &search.environment)?, &mut bytes)?;
            }
        }
        encoded.push_back(bytes);
    }
    Ok(encoded)
}

/// Puts all that was found in order, cuts it, and writes it.
fn listed(found: Vec<(Object, Matched)>, asked: &Asked) -> Result<VecDeque<Vec<u8>>> {
    let mut documents = found;
    if let Some(bounds) = &asked.bounds {
        let mut inside = Vec::new();
        for found in documents {
            if bounds.contain(&found.0)? {
                inside.push(found);
            }
        }
        documents = inside;
    }
    if let Some(sort) = &asked.sort {
        let mut keyed = Vec::with_capacity(documents.len());
        for (document, matched) in documents {
            keyed.push((sort.key(&document)?, document, matched));
        }
        keyed.sort_by(|a, b| sort.compare(&a.0, &b.0));
        documents = keyed.into_iter().map(|(_, document, matched)| (document, matched)).collect();
    } else if let Some(near) = asked.filter.near() {
        let mut measured: Vec<_> =
            documents.into_iter().filter_map(|found| Some((near.distance(&found.0)?, found))).collect();
        measured.sort_by(|a, b| a.0.total_cmp(&b.0));
        documents = measured.into_iter().map(|(_, found)| found).collect();
    }
    let (skip, limit) = window(asked);
    let mut encoded = VecDeque::new();
    for (document, matched) in documents.into_iter().skip(skip).take(limit) {
        let document = match &asked.projection {
            Some(projection) => projection.apply(&document, &matched, &asked.environment)?,
            None => document,
        };
        let mut bytes = Vec::new();
        bson::encode(&document, &mut bytes)?;
        encoded.push_back(bytes);
    }
    Ok(encoded)
}

/// Reads the document with an `_id`, and writes it as it is stored.
async fn by_id(data: &mut Data<'_>, search: &Search, asked: &Asked) -> Result<VecDeque<Vec<u8>>> {
    let mut found = VecDeque::new();
    let (Some((key, ids)), Some(wanted)) = (search.points(), id_of(&search.filter.root)) else {
        return Ok(found);
    };
    for id in ids {
        let Some(item) = data.read(key, id).await? else { continue };
        let root = item.stored().root();
        // An item of another API may have the id that stands for another `_id`.
        let own = root.get("_id").or_else(|| root.get("id")).map(|id| id.to_value());
        if own.is_some_and(|own| mongo_cmp(&own, wanted).is_eq()) {
            let mut bytes = Vec::with_capacity(item.stored().text_bytes().len());
            documents::encode_item(&item, &mut bytes)?;
            found.push_back(bytes);
        }
    }
    let skip = usize::try_from(asked.skip).unwrap_or(usize::MAX);
    found.drain(..skip.min(found.len()));
    Ok(found)
}

/// A cursor without documents.
pub(super) fn empty(namespace: String) -> Reply {
    Reply::Batch(Batch { is_first: true, cursor: 0, namespace, documents: Vec::new(), extra: Object::new() })
}

/// Takes the first batch, and keeps a cursor for the rest.
pub(super) async fn open(
    context: &mut Context<'_>,
    namespace: String,
    mut supply: Supply,
    first: usize,
    is_single_batch: bool,
    has_timeout: bool,
) -> Result<Reply> {
    let portion = if first == 0 {
        Default::default()
    } else {
        supply.take(Room { documents: first, ..Room::default() }, &context.charges, context.shared).await?
    };
    context.check_time()?;
    let mut cursor = 0;
    if !portion.is_last && !is_single_batch {
        let user = context.connection.user.as_ref().map(|user| user.name.clone()).unwrap_or_default();
        cursor = context.shared.cursors.open(Cursor {
            namespace: namespace.clone(),
            user,
            session: context.session,
            transaction: context.number.filter(|_| context.is_in_transaction),
            supply,
            has_timeout,
            time_left: context.time_left(),
            awaits: false,
        })?;
    }
    let mut extra = Object::new();
    if let Some(snapshot) = context.snapshot {
        extra.insert("atClusterTime", snapshot.at);
    }
    Ok(Reply::Batch(Batch { is_first: true, cursor, namespace, documents: portion.documents, extra }))
}
