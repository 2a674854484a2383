//! `commitTransaction` and `abortTransaction`.

use armilla_engine::ErrorKind;
use armilla_mongo_expression::codes;

use super::transaction_state;
use crate::context::Context;
use crate::failure::{Failure, Result};
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
        Some(State::Aborted) | None => return Err(no_transaction(number)),
    }
    let mut held = Held::of(context)?;
    let Some(open) = &mut held.open else { return Err(no_transaction(number)) };
    if let Some(work) = open.work.take() {
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
    }
    Ok(Reply::ok())
}

pub(super) fn abort(context: &mut Context<'_>) -> Result<Reply> {
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
    Held::of(context)?.abort();
    Ok(Reply::ok())
}
