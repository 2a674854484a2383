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
use crate::transactions::{Held, Place, State, Work, in_doubt, no_transaction};
use crate::writes::write_conflict;

/// What the receipt of a transaction says that was given up, and can never be stored. Of one that was stored it says
/// nothing.
const GIVEN_UP: &[u8] = b"given up";

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
        Some(State::InDoubt) => {
            return match settle(context, number).await? {
                true => Ok(Reply::ok()),
                false => Err(no_transaction(number)),
            };
        }
        // It may have been stored before the server was started anew.
        None if was_committed(context, number)? => return Ok(Reply::ok()),
        None => return Err(no_transaction(number)),
    }
    let mut held = Held::of(context)?;
    let Some(open) = &mut held.open else { return Err(no_transaction(number)) };
    let Some(Work { place, mut transaction, written, .. }) = open.work.take() else {
        open.state = State::Committed;
        open.made.clear();
        return Ok(Reply::ok());
    };
    // Whatever fails before it is given to be stored leaves nothing.
    open.state = State::Aborted;
    if let Some(key) = receipt_key(context, number)
        && !written.documents.is_empty()
    {
        let receipt = Receipt::new(key, Vec::new()).map_err(armilla_engine::Error::from)?;
        transaction.leave_receipt(receipt)?;
        open.state = State::InDoubt;
        open.place = Some(place);
    }
    // The session has it back from here on: a driver that has not the patience to wait asks again beside this command.
    drop(held);
    let (state, outcome) = match transaction.commit().await {
        Ok(done) => {
            context.charges.add(done.charge);
            (State::Committed, Ok(Reply::ok()))
        }
        Err(error) => {
            context.charges.add(error.charge);
            match error.kind {
                ErrorKind::Conflict | ErrorKind::PreconditionFailed => {
                    (State::Aborted, Err(write_conflict()))
                }
                ErrorKind::OutcomeUnknown => (State::InDoubt, Err(in_doubt(number))),
                // Nothing is promised of what is broken.
                ErrorKind::Internal | ErrorKind::Corrupt => (State::InDoubt, Err(error.into())),
                _ => (State::Aborted, Err(error.into())),
            }
        }
    };
    // What it wrote is claimed until here.
    drop(written);
    end(context, number, state).await;
    outcome
}

/// Notes how a transaction that was given to be stored has ended.
async fn end(context: &Context<'_>, number: i64, state: State) {
    let Some(session) = context.session else { return };
    let made = context.shared.sessions.with(session, |session| {
        let is_current = session.number() == Some(number);
        let open = session.transaction.as_mut().filter(|_| is_current)?;
        open.state = state;
        (state != State::InDoubt).then(|| std::mem::take(&mut open.made))
    });
    if state == State::Aborted {
        undo(context, made.flatten().unwrap_or_default()).await;
    }
}

/// Finds out whether a transaction was stored that was given to be, and makes sure that it is not any more if it was not.
///
/// Its receipt tells that it was. Where there is none, one is left that says that it was given up: a key is good for one
/// receipt, so of the two only one can be stored, whichever is still on its way, and wherever.
async fn settle(context: &Context<'_>, number: i64) -> Result<bool> {
    let session = context.session.ok_or_else(|| no_transaction(number))?;
    let place = context.shared.sessions.with(session, |session| {
        let is_current = session.number() == Some(number);
        session.transaction.as_ref().filter(|_| is_current)?.place.clone()
    });
    let (Some(place), Some(key)) = (place.flatten(), receipt_key(context, number)) else {
        return Err(in_doubt(number));
    };
    let was_stored = match decided(context, &place, key).await {
        Ok(Some(was_stored)) => was_stored,
        Ok(None) => return Err(in_doubt(number)),
        Err(error) => {
            tracing::debug!("whether a transaction was stored cannot be found out yet: {error}");
            return Err(in_doubt(number));
        }
    };
    end(context, number, if was_stored { State::Committed } else { State::Aborted }).await;
    Ok(was_stored)
}

/// Says whether a transaction was stored, or nothing where that is not known for certain.
async fn decided(context: &Context<'_>, place: &Place, key: Vec<u8>) -> armilla_engine::Result<Option<bool>> {
    let (engine, caller) = (&context.shared.engine, Caller::full());
    let found = || engine.find_receipt(&caller, &place.handle, &place.key, &key);
    if let Some(outcome) = found()? {
        return Ok(Some(outcome != GIVEN_UP));
    }
    let mut transaction = engine.begin_transaction(&caller, &place.handle, &place.key).await?;
    transaction.leave_receipt(Receipt::new(key.clone(), GIVEN_UP)?)?;
    match transaction.commit().await {
        Ok(_) => Ok(Some(false)),
        // The other was faster.
        Err(error) if error.kind == ErrorKind::Conflict => Ok(found()?.map(|outcome| outcome != GIVEN_UP)),
        Err(error) => Err(error),
    }
}

/// Drops the collections that a transaction had made that was aborted. One that others have written to stays.
pub(super) async fn undo(context: &Context<'_>, made: Vec<Made>) {
    for made in made {
        let undone = async {
            let _changing = context.shared.catalog.change(&made.namespace).await?;
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
                let receipt = engine.find_receipt_anywhere(&caller, &located.container, &key)?;
                if receipt.is_some_and(|outcome| outcome != GIVEN_UP) {
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
    let committed = || {
        Failure::new(
            codes::TRANSACTION_COMMITTED,
            format!("Transaction with {{ txnNumber: {number} }} has been committed."),
        )
    };
    match transaction_state(context) {
        Some(State::Committed) => return Err(committed()),
        Some(State::Running) => {}
        // It is said to be aborted only once it is.
        Some(State::InDoubt) => {
            return match settle(context, number).await? {
                true => Err(committed()),
                false => Ok(Reply::ok()),
            };
        }
        Some(State::Aborted) | None => return Err(no_transaction(number)),
    }
    let made = Held::of(context)?.abort();
    undo(context, made).await;
    Ok(Reply::ok())
}
