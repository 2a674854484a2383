//! `insert`.

use armilla_engine::{ErrorKind, ItemAction, ItemBody, Precondition, Receipt, WriteMode};
use armilla_mongo_expression::Environment;
use armilla_value::{Object, PartitionKey, Value};

use super::statements::{Statements, collection_for_writing, count};
use crate::arguments::objects;
use crate::catalog::Collection;
use crate::context::Context;
use crate::documents;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::transactions::Held;
use crate::writes::{Receipts, UpdateDone, Writer, prepare_insert};

/// The outcome of an insert: there is nothing to tell.
const EMPTY_DOCUMENT: [u8; 5] = [5, 0, 0, 0, 0];
/// Documents that are stored with one commit.
const TOGETHER_MAX: usize = 100;
/// Bytes of them.
const TOGETHER_BYTES_MAX: usize = 1024 * 1024;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["documents", "ordered", "bypassDocumentValidation", "encryptionInformation"])?;
    arguments.refuse(&["encryptionInformation"], "encrypted fields are not")?;
    let namespace = context.namespace()?;
    let given = objects("insert.documents", arguments.required_array("documents")?)?;
    let mut statements = Statements::of(context, given.len())?;
    let bypasses = arguments.truth("bypassDocumentValidation")?;
    count(&context.shared.counters.insert, given.len());
    let collection = collection_for_writing(context, &namespace).await?;
    let (_, environment) = context.environment_with(None)?;
    let mut inserted = 0;
    let mut held = Held::of(context)?;
    let mut position = 0;
    while position < given.len() {
        if statements.before(context, position)?.is_some() {
            inserted += 1;
            position += 1;
            continue;
        }
        context.check_time()?;
        // Those of one logical partition that follow each other are stored together.
        if held.open.is_none()
            && position + 1 < given.len()
            && let Some(done) = Box::pin(together(
                context,
                &collection,
                &environment,
                &given[position..],
                bypasses,
                &statements,
                position,
            ))
            .await?
        {
            for offset in 0..done {
                statements.remember(context, position + offset, Object::new());
            }
            inserted += i64::try_from(done).unwrap_or(i64::MAX);
            position += done;
            continue;
        }
        let new_id = || context.new_object_id();
        let mut document = documents::with_id_first((*given[position]).clone(), new_id);
        documents::fill_timestamps(&mut document, environment.cluster_time);
        let key = documents::partition_key(&document, &collection.shard_key);
        let outcome = match &key {
            Ok(key) => {
                let data = held.data(&context.caller, &context.charges, &collection, Some(key)).await?;
                let outcome = |_: &UpdateDone| Ok(Object::new());
                let receipts =
                    statements.key(context, position).map(|key| Receipts { key, outcome: &outcome });
                let mut writer = Writer { data, collection: &collection, new_id: &new_id, receipts };
                writer.insert(document, &environment, bypasses).await
            }
            Err(failure) => Err(failure.clone()),
        };
        match outcome {
            Ok(()) => {
                inserted += 1;
                statements.remember(context, position, Object::new());
            }
            Err(Failure { repeated: Some(_), .. }) => inserted += 1,
            Err(failure) => {
                if !statements.fail(context, position, failure)? {
                    break;
                }
            }
        }
        position += 1;
    }
    let mut reply = Object::from([("n", Value::Int32(i32::try_from(inserted).unwrap_or(i32::MAX)))]);
    statements.finish(&mut reply);
    Ok(reply.into())
}

/// Stores as many documents as can be stored with one commit; returns how many, or nothing where they have to be stored
/// one by one, because one of them is refused.
async fn together(
    context: &Context<'_>,
    collection: &Collection,
    environment: &Environment,
    given: &[&Object],
    bypasses: bool,
    statements: &Statements,
    offset: usize,
) -> Result<Option<usize>> {
    let mut actions = Vec::new();
    let mut receipts = Vec::new();
    let mut key: Option<PartitionKey> = None;
    let mut bytes = 0;
    for (position, document) in given.iter().take(TOGETHER_MAX).enumerate() {
        if position > 0 && statements.before(context, offset + position)?.is_some() {
            break;
        }
        let mut document = documents::with_id_first((*document).clone(), || context.new_object_id());
        documents::fill_timestamps(&mut document, environment.cluster_time);
        let Ok(prepared) = prepare_insert(collection, document, environment, bypasses) else { break };
        if key.as_ref().is_some_and(|key| *key != prepared.key) {
            break;
        }
        bytes += prepared.bytes;
        if position > 0 && bytes > TOGETHER_BYTES_MAX {
            break;
        }
        key = Some(prepared.key);
        if let Some(key) = statements.key(context, offset + position) {
            receipts.extend(Receipt::new(key, EMPTY_DOCUMENT.to_vec()));
        }
        let body = ItemBody::from(prepared.body);
        actions.push(ItemAction::Put {
            mode: WriteMode::Create,
            id: None,
            body,
            precondition: Precondition::None,
        });
    }
    let (Some(key), count) = (key, actions.len()) else { return Ok(None) };
    if count < 2 {
        return Ok(None);
    }
    let answer = context
        .shared
        .engine
        .execute_batch_with_receipts(&context.caller, &collection.handle, Some(&key), actions, receipts)
        .await;
    let answer = match answer {
        Ok(answer) => answer,
        // One by one it is found out which of them it was.
        Err(error) if matches!(error.kind, ErrorKind::Throttled | ErrorKind::Conflict) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    context.charges.add(answer.charge);
    answer.results.iter().flatten().for_each(|done| context.charges.did(done));
    let is_stored = answer.results.iter().all(std::result::Result::is_ok);
    if is_stored {
        context.charges.stored();
    }
    Ok(is_stored.then_some(count))
}
