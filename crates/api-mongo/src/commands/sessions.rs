//! `startSession`, `endSessions` and those that kill.

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::arguments::objects;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::sessions::{SessionId, id_value, read_id};

/// Sessions that one command may name.
const NAMED_MAX: usize = 10_000;

pub(super) fn start(context: &mut Context<'_>) -> Result<Reply> {
    let mut id: SessionId = [0; 16];
    context.shared.env.entropy.fill(&mut id);
    // A random UUID says so itself.
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    let user = context.connection.user.as_ref().map(|user| user.name.clone()).unwrap_or_default();
    context.shared.sessions.touch(id, &user)?;
    let shown = Object::from([("id", id_value(id))]);
    Ok(Object::from([("id", Value::Object(shown)), ("timeoutMinutes", Value::Int32(30))]).into())
}

pub(super) fn end(context: &mut Context<'_>) -> Result<Reply> {
    let given = context.arguments().array(context.name)?.unwrap_or_default();
    if given.len() > NAMED_MAX {
        return Err(Failure::bad_value(format!("at most {NAMED_MAX} sessions can be ended at once")));
    }
    let given = objects(context.name, given)?;
    let ids: Vec<SessionId> = given.into_iter().map(read_id).collect::<Result<_>>()?;
    context.shared.cursors.kill_where(|_, session, _| session.is_some_and(|session| ids.contains(&session)));
    context.shared.sessions.end(&ids);
    Ok(Reply::ok())
}

pub(super) fn end_all(context: &mut Context<'_>) -> Result<Reply> {
    if context.arguments().array(context.name)?.is_some_and(|users| !users.is_empty()) {
        return Err(Failure::new(
            codes::COMMAND_NOT_SUPPORTED,
            format!("{} cannot choose by user: name the sessions with killSessions", context.name),
        ));
    }
    context.shared.cursors.kill_where(|_, session, _| session.is_some());
    context.shared.sessions.end_all();
    Ok(Reply::ok())
}
