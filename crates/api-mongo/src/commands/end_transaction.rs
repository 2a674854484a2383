//! `commitTransaction` and `abortTransaction`.

use armilla_engine::{Caller, ErrorKind, Receipt};
use armilla_mongo_expression::codes;

use super::drop::drop_collection;
use super::list_collections::containers;
use super::transaction_state;
use crate::catalog::found;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::hidden::Made;
use crate::reply::Reply;
use crate::transactions::{Held, State, no_transaction};
use crate::writes::write_conflict;

fn number_of(context: &Context<'_>) -> Result<i64> {
    if context.database != "admin" {
        return Err(Failure::new(
            codes::UNAUTHORIZED,
            format!("{} may only be run against the admin database.", context.name),
        ));
    }
    match (context.is_in_transaction, context.number) {
        (true, Some(number)) => Ok(number),
        _ => Err(Failure::new(
            codes::INVALID_OPTIONS,
            format!("{} must be run within a transaction", context.name),
        )),
    }
}

pub(super) async fn commit(context: &mut Context<'_>) -> Result<Reply> {
    let number = number_of(context)?;
    context.arguments().allow(&["recoveryToken"])?;
    match transaction_state(context) {
        Some(State::Committed) => return Ok(Reply::ok()),
        Some(State::Running) => {}
        Some(State::Aborted) => return Err(no_transaction(number)),
        // It may have been stored before the server was started anew.
        None if was_committed(context, number)? => return Ok(Reply::ok()),
        None => return Err(no_transaction(number)),
    }
    let mut held = Held::of(context)?;
    let Some(open) = &mut held.open else { return Err(no_transaction(number)) };
    if let Some(mut work) = open.work.take() {
        if let Some(key) = receipt_key(context, number)
            && !work.written.documents.is_empty()
        {
            let receipt = Receipt::new(key, Vec::new()).map_err(armilla_engine::Error::from)?;
            work.transaction.leave_receipt(receipt)?;
        }
        // Until it is known to be stored, it is not.
        open.state = State::Aborted;
        match work.transaction.commit().await {
            Ok(done) => context.charges.add(done.charge),
            Err(error) => {
                context.charges.add(error.charge);
                return Err(match error.kind {
                    ErrorKind::Conflict | ErrorKind::PreconditionFailed => write_conflict(),
                    _ => error.into(),
                });
            }
        }
    }
    if let Some(open) = &mut held.open {
        open.state = State::Committed;
        open.made.clear();
    }
    Ok(Reply::ok())
}

/// Drops the collections that a transaction had made that was aborted. One that others have written to stays.
pub(super) async fn undo(context: &Context<'_>, made: Vec<Made>) {
    for made in made {
        let undone = async {
            let _changing = context.shared.catalog.change().await;
            match context.shared.catalog.collection_of(&made.namespace).await? {
                Some(collection) if collection.handle.usage(&Caller::full())?.items == 0 => {
                    drop_collection(context, &made.namespace, &collection.handle.rid().to_string()).await
                }
                _ => Ok(()),
            }
        };
        if let Err(failure) = undone.await {
            tracing::debug!("a collection of an aborted transaction stays: {}", failure.message);
        }
    }
}

/// Returns the key under which it is kept that a transaction was stored: no statement has its number.
fn receipt_key(context: &Context<'_>, number: i64) -> Option<Vec<u8>> {
    let mut key = context.session?.to_vec();
    key.extend_from_slice(&number.to_be_bytes());
    key.extend_from_slice(&(-1_i32).to_be_bytes());
    Some(key)
}

/// Says whether a transaction that is not known any more was stored: a driver that lost the answer asks again, and must
/// not do all of it again. Where it was, it does not say, so all collections are asked.
fn was_committed(context: &Context<'_>, number: i64) -> Result<bool> {
    let Some(key) = receipt_key(context, number) else { return Ok(false) };
    let engine = &context.shared.engine;
    let caller = Caller::full();
    let mut continuation: Option<String> = None;
    loop {
        let databases = engine.list_databases(&caller, None, continuation.as_deref())?.value;
        for database in &databases.resources {
            for (name, _) in containers(context, &database.id)? {
                let Some(located) = found(engine.container(&database.id, &name))? else { continue };
                if engine.find_receipt_anywhere(&caller, &located.container, &key)?.is_some() {
                    return Ok(true);
                }
            }
        }
        match databases.continuation {
            Some(next) => continuation = Some(next),
            None => return Ok(false),
        }
    }
}

pub(super) async fn abort(context: &mut Context<'_>) -> Result<Reply> {
    let number = number_of(context)?;
    context.arguments().allow(&["recoveryToken"])?;
    match transaction_state(context) {
        Some(State::Committed) => {
            return Err(Failure::new(
                codes::TRANSACTION_COMMITTED,
                format!("Transaction with {{ txnNumber: {number} }} has been committed."),
            ));
        }
        Some(State::Running) => {}
        Some(State::Aborted) | None => return Err(no_transaction(number)),
    }
    let made = Held::of(context)?.abort();
    undo(context, made).await;
    Ok(Reply::ok())
}
