//! What the commands that write have in common: statements one after the other, outcomes that are remembered, failures
//! of statements.

use std::sync::atomic::AtomicU64;

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::arguments::number;
use crate::catalog::{Collection, Found};
use crate::context::Context;
use crate::envelope;
use crate::failure::{Failure, Result};
use crate::limits::BATCH_STATEMENTS_MAX;
use crate::namespace::Namespace;
use crate::sessions::Before;

/// Bytes of messages of failures after which they are left out, so that a reply fits.
const MESSAGE_BYTES_MAX: usize = 1024 * 1024;

/// The statements of a command, and what became of them.
pub(super) struct Statements {
    pub(super) is_ordered: bool,
    ids: Vec<i32>,
    errors: Vec<Value>,
    message_bytes: usize,
}

impl Statements {
    /// Reads what is said of all statements.
    pub(super) fn of(context: &Context<'_>, count: usize) -> Result<Statements> {
        if count == 0 || count > BATCH_STATEMENTS_MAX {
            return Err(Failure::new(
                codes::INVALID_LENGTH,
                format!(
                    "Write batch sizes must be between 1 and {BATCH_STATEMENTS_MAX}. Got {count} operations."
                ),
            ));
        }
        let arguments = context.arguments();
        let is_ordered = arguments.truth_or_true("ordered")?;
        let first = arguments.integer("stmtId")?.unwrap_or(0);
        let given = arguments.array("stmtIds")?;
        let ids = (0..count)
            .map(|position| {
                let given = given.and_then(|given| given.get(position)).and_then(number);
                let id = given.unwrap_or_else(|| first.saturating_add(position as i64));
                i32::try_from(id).unwrap_or(i32::MAX)
            })
            .collect();
        Ok(Statements { is_ordered, ids, errors: Vec::new(), message_bytes: 0 })
    }

    /// Returns what is known of a statement that may have been sent before.
    pub(super) fn before(&self, context: &Context<'_>, position: usize) -> Result<Option<Object>> {
        let (Some(session), Some(number)) = (context.session, context.number) else { return Ok(None) };
        if context.is_in_transaction {
            return Ok(None);
        }
        match context.shared.sessions.before(session, number, self.ids[position])? {
            Before::New => Ok(None),
            Before::Done(outcome) => Ok(Some(outcome)),
        }
    }

    /// Returns the key under which the outcome of a statement is kept with what it writes, if it may be sent again.
    pub(super) fn key(&self, context: &Context<'_>, position: usize) -> Option<Vec<u8>> {
        let (Some(session), Some(number)) = (context.session, context.number) else { return None };
        if context.is_in_transaction {
            return None;
        }
        let mut key = session.to_vec();
        key.extend_from_slice(&number.to_be_bytes());
        key.extend_from_slice(&self.ids[position].to_be_bytes());
        Some(key)
    }

    /// Remembers what became of a statement.
    pub(super) fn remember(&self, context: &Context<'_>, position: usize, outcome: Object) {
        if let (Some(session), Some(number)) = (context.session, context.number)
            && !context.is_in_transaction
        {
            context.shared.sessions.remember(session, number, self.ids[position], outcome);
        }
    }

    /// Takes down the failure of a statement. Says whether the statements after it are still run; fails where the whole
    /// command does.
    pub(super) fn fail(&mut self, context: &Context<'_>, position: usize, failure: Failure) -> Result<bool> {
        context.charges.add(failure.charge);
        let is_throttled = failure.code == codes::TOO_MANY_REQUESTS;
        // What a driver may send again must fail as a whole: the statements that were done are remembered.
        let may_repeat = context.number.is_some() && !context.is_in_transaction;
        let is_whole = (may_repeat && envelope::is_retryable(failure.code))
            || (is_throttled && may_repeat && context.connection.waits)
            || (is_throttled && position == 0 && self.errors.is_empty() && self.is_ordered)
            || (context.is_in_transaction
                && (failure.code == codes::WRITE_CONFLICT
                    || failure.code == 251
                    || failure.code == 263
                    || failure.code == 290));
        if is_whole {
            return Err(failure);
        }
        let message = if self.message_bytes > MESSAGE_BYTES_MAX { String::new() } else { failure.message };
        self.message_bytes += message.len();
        let mut error = Object::from([
            ("index", Value::Int32(i32::try_from(position).unwrap_or(i32::MAX))),
            ("code", Value::Int32(failure.code)),
        ]);
        for (name, value) in failure.extra {
            error.insert(name, value);
        }
        error.insert("errmsg", message);
        self.errors.push(Value::Object(error));
        Ok(!self.is_ordered)
    }

    /// Puts the failures into the reply.
    pub(super) fn finish(self, reply: &mut Object) {
        if !self.errors.is_empty() {
            reply.insert("writeErrors", Value::Array(self.errors));
        }
    }
}

/// Finds the collection that is written to; makes it if it is not there.
pub(super) async fn collection_for_writing(
    context: &Context<'_>,
    namespace: &Namespace,
) -> Result<Collection> {
    match context.shared.catalog.find(namespace).await? {
        Found::Collection(collection) => Ok(collection),
        Found::View(_) => Err(Failure::new(
            codes::COMMAND_ON_SHARDED_VIEW_NOT_SUPPORTED_ON_MONGOD,
            format!("Namespace {namespace} is a view, not a collection"),
        )),
        Found::Nothing => {
            super::create::make_or_hide(context, namespace, &super::create::New::default()).await
        }
    }
}

/// Counts operations.
pub(super) fn count(counter: &AtomicU64, by: usize) {
    counter.fetch_add(by as u64, std::sync::atomic::Ordering::Relaxed);
}

/// Refuses an index that is not there.
pub(super) fn check_hint(collection: &Collection, hint: Option<&Value>) -> Result<()> {
    let is_known = match hint {
        None | Some(Value::Null) => true,
        Some(Value::String(name)) => {
            let clustered = collection.details.options.get("clusteredIndex");
            name == "_id_"
                || clustered.and_then(|index| index.get("name")?.as_str()) == Some(name)
                || collection.details.indexes.iter().any(|index| index.name == *name)
        }
        Some(Value::Object(key)) => {
            key.is_empty()
                || key.contains("$natural")
                || (key.len() == 1 && key.contains("_id"))
                || collection.details.indexes.iter().any(|index| {
                    index.key.len() == key.len()
                        && index.key.iter().zip(key.iter()).all(|((name, value), (own, other))| {
                            name == own && (value == other || number(value) == number(other))
                        })
                })
        }
        Some(_) => {
            return Err(Failure::parse("Hint must be a string or an object"));
        }
    };
    if is_known {
        return Ok(());
    }
    Err(Failure::bad_value(
        "error processing query: planner returned error :: caused by :: hint provided does not correspond to an existing index",
    ))
}
