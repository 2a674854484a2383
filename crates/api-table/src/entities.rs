//! Entities, one at a time: reading one, and the six writes.

use armilla_engine::{
    ErrorKind, Item, ItemName, ItemWritten, Precondition, RequestUnits, Triggers, WriteMode,
};
use armilla_value::PartitionKey;
use http::{HeaderValue, StatusCode};

use crate::auth::Operation;
use crate::changes::{Change, Write};
use crate::entity::{Entity, EntityContext, EntityView, MetadataLevel, row_id, write_entity};
use crate::failure::{Failure, Kind};
use crate::headers::{IfMatch, Preference, names};
use crate::limits::MERGE_ATTEMPTS_MAX;
use crate::options::Flavour;
use crate::path::entity_link;
use crate::request::{Request, Table, is_missing_item, logical_partition};
use crate::response::Reply;

/// Reads an entity.
pub(crate) fn get(
    request: &Request<'_>,
    table: &str,
    partition_key: &str,
    row_key: &str,
) -> Result<Reply, Failure> {
    request.parameters.refuse_unknown()?;
    request.allow(Operation::ReadEntity, Some(table), Some((partition_key, row_key)))?;
    let level = request.metadata_level()?;
    let table = request.table(table)?;
    let (key, id) = (logical_partition(partition_key), row_id(row_key));
    let found = request.engine().read_item(
        &request.caller(),
        &table.container,
        ItemName::Id(&id),
        Some(&key),
        None,
    )?;
    let select = request.parameters.select.as_deref();
    let text = entity_text(request, &table.name, &found.item, level, select)
        .ok_or_else(|| Failure::from(Kind::EntityMissing).and_charge(found.charge))?;
    let mut reply = Reply::json(StatusCode::OK, text, level, request.flavour(), found.charge);
    reply.etag(found.item.moment());
    Ok(reply)
}

/// Returns a single entity as JSON; `None` if the item is none.
pub(crate) fn entity_text(
    request: &Request<'_>,
    table: &str,
    item: &Item,
    level: MetadataLevel,
    select: Option<&[String]>,
) -> Option<Vec<u8>> {
    let stored = item.stored();
    let text = stored.text_bytes();
    let view = EntityView::of(text, item.moment())?;
    let mut out = Vec::with_capacity(text.len() + 256);
    let context = EntityContext {
        level,
        account: request.account,
        table,
        base_url: request.base_url,
        select,
        is_single: true,
        flavour: request.flavour(),
    };
    write_entity(&mut out, &view, &context);
    Some(out)
}

/// Does one of the six writes.
pub(crate) async fn write(request: &Request<'_>, change: Change) -> Result<Reply, Failure> {
    request.parameters.refuse_unknown()?;
    let keys = Some((&*change.partition_key, &*change.row_key));
    request.allow(change.operation(), Some(&change.table), keys)?;
    // What the answer needs is asked for before anything is done.
    let level = match (&change.write, change.preference) {
        (Write::Insert(_), Preference::None | Preference::Content) => request.metadata_level()?,
        _ => MetadataLevel::Minimal,
    };
    let table = request.table(&change.table)?;
    let key = logical_partition(&change.partition_key);
    let id = row_id(&change.row_key);
    let (written, spent) = apply(request, &table, &key, &id, &change).await?;
    let charge = written.charge + spent;
    let link = || {
        format!("{}{}", request.base_url, entity_link(&table.name, &change.partition_key, &change.row_key))
    };
    let mut reply = match (&change.write, change.preference) {
        (Write::Insert(_), Preference::None | Preference::Content) => {
            let text = entity_text(request, &table.name, &written.item, level, None).unwrap_or_default();
            Reply::json(StatusCode::CREATED, text, level, request.flavour(), charge)
        }
        _ => Reply::empty(StatusCode::NO_CONTENT, charge),
    };
    if !matches!(change.write, Write::Delete) {
        reply.etag(written.item.moment());
    }
    if matches!(change.write, Write::Insert(_)) {
        let link = link();
        reply.set_text(&http::header::LOCATION, &link);
        if request.flavour() == Flavour::Storage && change.preference == Preference::NoContent {
            reply.set_text(&names::DATA_SERVICE_ID, &link);
        }
        if let Some(applied) = change.preference.applied() {
            reply.set(&names::PREFERENCE_APPLIED, HeaderValue::from_static(applied));
        }
    }
    Ok(reply)
}

/// Returns what must hold of the item that a write is for.
pub(crate) fn precondition(if_match: IfMatch) -> Precondition {
    match if_match {
        IfMatch::Absent => Precondition::None,
        IfMatch::Any => Precondition::Exists,
        IfMatch::Exactly(moment) => Precondition::WrittenAt(moment),
        IfMatch::Never => Precondition::Version(None),
    }
}

/// Does a write, and returns what it cost to get to it beside the write itself.
async fn apply(
    request: &Request<'_>,
    table: &Table,
    key: &PartitionKey,
    id: &str,
    change: &Change,
) -> Result<(ItemWritten, RequestUnits), Failure> {
    let (engine, caller, container) = (request.engine(), request.caller(), &table.container);
    let condition = precondition(change.if_match);
    let triggers = Triggers::default();
    let written = match (&change.write, change.if_match) {
        (Write::Insert(entity), _) => {
            let text = entity.item_json();
            let (mode, none) = (WriteMode::Create, Precondition::None);
            engine.write_item(&caller, container, mode, Some(key), text.into(), none, &triggers).await?
        }
        (Write::Put(entity), IfMatch::Absent) => {
            let text = entity.item_json();
            engine
                .write_item(
                    &caller,
                    container,
                    WriteMode::Upsert,
                    Some(key),
                    text.into(),
                    condition,
                    &triggers,
                )
                .await?
        }
        (Write::Put(entity), _) => {
            let (text, name) = (entity.item_json(), ItemName::Id(id));
            engine
                .replace_item(&caller, container, name, Some(key), text.into(), condition, &triggers)
                .await?
        }
        (Write::Delete, _) => {
            let name = ItemName::Id(id);
            engine.delete_item(&caller, container, name, Some(key), condition, &triggers).await?
        }
        (Write::Merge(entity), _) => return merge(request, table, key, id, change, entity).await,
    };
    Ok((written, RequestUnits::ZERO))
}

/// Reads an entity and replaces it by itself with some properties set, until nobody comes between.
async fn merge(
    request: &Request<'_>,
    table: &Table,
    key: &PartitionKey,
    id: &str,
    change: &Change,
    entity: &Entity,
) -> Result<(ItemWritten, RequestUnits), Failure> {
    let (engine, caller, container) = (request.engine(), request.caller(), &table.container);
    let triggers = Triggers::default();
    let row_key = std::iter::once(&*change.row_key);
    let _turn = request.shared.merges.turn(container.rid(), &change.partition_key, row_key).await;
    let mut spent = RequestUnits::ZERO;
    for _ in 0..MERGE_ATTEMPTS_MAX {
        let outcome = match engine.read_item(&caller, container, ItemName::Id(id), Some(key), None) {
            Ok(found) => {
                spent += found.charge;
                if !change.if_match.holds(found.item.moment()) {
                    return Err(Failure::from(Kind::ConditionFailed).and_charge(spent));
                }
                let text = entity.merged_into(found.item.stored().text_bytes());
                let condition = Precondition::Version(Some(found.item.etag(container.identity())));
                let name = ItemName::Id(id);
                engine
                    .replace_item(&caller, container, name, Some(key), text.into(), condition, &triggers)
                    .await
            }
            Err(error) if is_missing_item(&error) && change.if_match == IfMatch::Absent => {
                spent += error.charge;
                let (mode, none) = (WriteMode::Create, Precondition::None);
                let text = entity.item_json();
                engine.write_item(&caller, container, mode, Some(key), text.into(), none, &triggers).await
            }
            Err(error) => return Err(Failure::from(error).and_charge(spent)),
        };
        match outcome {
            Ok(written) => return Ok((written, spent)),
            // Somebody came between.
            Err(error) if is_lost_race(error.kind) => spent += error.charge,
            Err(error) => return Err(Failure::from(error).and_charge(spent)),
        }
    }
    Err(Failure::from(Kind::Busy).and_charge(spent))
}

/// Says whether an entity that was read just before is not what it was.
pub(crate) fn is_lost_race(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::PreconditionFailed | ErrorKind::NotFound(_) | ErrorKind::AlreadyExists(_))
}
