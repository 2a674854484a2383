//! From a message to its command and back.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use armilla_mongo_expression::codes;
use armilla_mongo_wire::message::{self, Refusal, ReplyTo, Request};
use armilla_value::{Object, Value};

use crate::arguments::number;
use crate::cluster_time::ClusterTime;
use crate::connection::Connection;
use crate::context::Context;
use crate::data::Charges;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::sessions::Sessions;
use crate::snapshots::Snapshot;
use crate::statistics::Statistics;
use crate::{Answer, Shared, commands, envelope};

/// Answers one message.
pub(crate) async fn answer(shared: &Arc<Shared>, connection: &mut Connection, frame: &[u8]) -> Answer {
    let counters = &shared.counters;
    counters.bytes_in.fetch_add(frame.len() as u64, Ordering::Relaxed);
    counters.requests.fetch_add(1, Ordering::Relaxed);
    let answer = match message::parse(frame) {
        Ok(request) => serve(shared, connection, request).await,
        Err(refusal) => refuse(shared, connection, &refusal),
    };
    if let Some(reply) = &answer.reply {
        counters.bytes_out.fetch_add(reply.len() as u64, Ordering::Relaxed);
    }
    answer
}

/// Answers a request once more whose client takes several replies.
pub(crate) async fn go_on(shared: &Arc<Shared>, connection: &mut Connection) -> Answer {
    let Some(request) = connection.streamed.take() else {
        return Answer { reply: None, closes: true, goes_on: false };
    };
    let answer = serve(shared, connection, *request).await;
    if let Some(reply) = &answer.reply {
        shared.counters.bytes_out.fetch_add(reply.len() as u64, Ordering::Relaxed);
    }
    answer
}

/// Answers what is no request.
fn refuse(shared: &Shared, connection: &mut Connection, refusal: &Refusal) -> Answer {
    tracing::debug!(peer = %connection.peer, "no request: {}", refusal.error);
    let reply = refusal.reply_to.as_ref().and_then(|to| {
        let mut reply = Object::from([
            ("ok", Value::Double(0.0)),
            ("errmsg", Value::from(refusal.error.message.as_str())),
            ("code", Value::Int32(refusal.error.code)),
            ("codeName", Value::from(codes::name(refusal.error.code))),
        ]);
        shared.clock.stamp(&mut reply);
        write(connection, to, false, &Reply::Document(reply), &Object::new())
    });
    Answer { reply, closes: refusal.close, goes_on: false }
}

/// Writes a reply, or nothing where it cannot be written.
fn write(
    connection: &mut Connection,
    to: &ReplyTo,
    goes_on: bool,
    reply: &Reply,
    end: &Object,
) -> Option<bytes::Bytes> {
    let number = connection.next_number();
    let mut out = Vec::with_capacity(256);
    if let (Reply::Document(document), true) = (reply, end.is_empty()) {
        return message::write_reply(to, number, goes_on, document, &mut out).ok().map(|()| out.into());
    }
    let start = message::start_reply(to, number, goes_on, &mut out);
    let written = reply.write(end, &mut out).and_then(|()| message::finish_reply(start, &mut out));
    match written {
        Ok(()) => Some(out.into()),
        Err(error) => {
            let failure = Object::from([
                ("ok", Value::Double(0.0)),
                ("errmsg", Value::from(error.message.as_str())),
                ("code", Value::Int32(error.code)),
                ("codeName", Value::from(codes::name(error.code))),
            ]);
            out.clear();
            message::write_reply(to, number, false, &failure, &mut out).ok().map(|()| out.into())
        }
    }
}

async fn serve(shared: &Arc<Shared>, connection: &mut Connection, mut request: Request) -> Answer {
    let name = match request.command_name() {
        // The old form of the handshake knows no case.
        name if name.eq_ignore_ascii_case("ismaster") => "isMaster",
        name => name,
    };
    let began = shared.env.clock.elapsed();
    let hit = match shared.options.test_commands {
        true => {
            let namespace = match request.command.iter().next() {
                Some((_, Value::String(collection))) => format!("{}.{collection}", request.database),
                _ => String::new(),
            };
            // The first words of a client say who it is.
            let client = request.command.get("client").filter(|_| commands::is_hello(name));
            let application = client
                .and_then(|client| client.get("application")?.get("name")?.as_str())
                .or(connection.application());
            shared.fail_points.hit(name, application, &namespace).unwrap_or_default()
        }
        false => Default::default(),
    };
    if let Some(wait) = hit.wait {
        shared.env.clock.sleep(wait).await;
    }
    if hit.closes {
        return Answer { reply: None, closes: true, goes_on: false };
    }
    let caller = connection.caller();
    let mut context = Context {
        shared,
        connection,
        database: &request.database,
        name,
        command: &request.command,
        session: None,
        number: None,
        is_in_transaction: false,
        caller,
        charges: Charges::default(),
        deadline: None,
        snapshot: None,
        is_of_stream: false,
        notes: Object::new(),
    };
    let is_out_of_time = shared.options.test_commands
        && shared.fail_points.ends_all_time()
        && request.command.get("maxTimeMS").and_then(number).is_some_and(|ms| ms > 0);
    let timeout = is_out_of_time
        .then(|| Failure::new(codes::MAX_TIME_MS_EXPIRED, "operation exceeded time limit (by a fail point)"));
    let outcome = match hit.failure.or(timeout) {
        Some(failure) => begin(&mut context).and(Err(failure)),
        None => match begin(&mut context) {
            Ok(()) => run(&mut context).await,
            Err(failure) => Err(failure),
        },
    };
    let charge = context.charges.take();
    if !commands::is_free(name) {
        let took = shared.env.clock.elapsed().saturating_sub(began);
        let statistics = Statistics { command: name.to_owned(), charge, took };
        if let Some(session) = context.session {
            shared.sessions.note(session, &statistics);
        }
        context.connection.last = Some(statistics);
    }
    let is_stream = context.is_of_stream || commands::is_of_stream(&context);
    let reply = match outcome {
        Ok(reply) => reply,
        Err(failure) => {
            tracing::debug!(command = name, code = failure.code, "{}", failure.message);
            if failure.closes {
                return Answer { reply: None, closes: true, goes_on: false };
            }
            Reply::Document(envelope::failure_reply(failure, &context, is_stream))
        }
    };
    let mut end = Object::new();
    let is_open = match &reply {
        Reply::Document(document) => !document.contains("ok"),
        Reply::Batch(_) => true,
    };
    if is_open {
        if let Some(error) = hit.write_concern_error {
            if let Some(labels) = hit.labels.clone() {
                let labels = labels.into_iter().map(Value::String).collect();
                context.notes.insert("errorLabels", Value::Array(labels));
            } else if context.number.is_some()
                && (!context.is_in_transaction || matches!(name, "commitTransaction" | "abortTransaction"))
                && error.get("code").and_then(number).is_some_and(|code| envelope::is_retryable(code as i32))
            {
                context.notes.insert("errorLabels", Value::from(vec!["RetryableWriteError"]));
            }
            end.insert("writeConcernError", error);
        }
        if shared.options.test_commands
            && (commands::writes(name) || commands::has_output(&request.command))
            && !context.is_in_transaction
            && let Some(error) = envelope::unmet_concern(&request.command)
        {
            end.insert("writeConcernError", error);
        }
        end.insert("ok", Value::Double(1.0));
    }
    for (name, value) in std::mem::take(&mut context.notes) {
        end.insert(name, value);
    }
    if !request.wants_reply() {
        return Answer { reply: None, closes: false, goes_on: false };
    }
    match context.charges.last_write() {
        Some(moment) => shared.clock.observe(moment),
        None if commands::writes(name) => {
            shared.clock.tick();
        }
        None => {}
    }
    shared.clock.stamp(&mut end);
    let goes_on = request.exhaust_allowed() && is_open && commands::goes_on(&context, &reply);
    let reply = write(context.connection, &request.reply_to(), goes_on, &reply, &end);
    // A client that waits for an answer that cannot be written would wait for ever.
    let closes = reply.is_none();
    if goes_on {
        // Each reply answers the one before it.
        let number = connection.reply_number;
        request.request_id = number;
        connection.streamed = Some(Box::new(request));
    }
    Answer { reply, closes, goes_on }
}

/// Runs a command; where a fail point wants it, a write that may be sent again is lost, or its answer is.
async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let shared = context.shared;
    let place = context.session.zip(context.number).filter(|_| !context.is_in_transaction);
    let (Some((session, number)), true) = (place, shared.options.test_commands) else {
        return commands::run(context).await;
    };
    let is_done = || shared.sessions.with(session, |session| session.has_outcomes(number)).unwrap_or(false);
    if is_done() {
        return commands::run(context).await;
    }
    let lists = ["documents", "updates", "deletes"];
    let statements =
        lists.iter().find_map(|name| context.command.get(name)?.as_array()).map_or(1, <[_]>::len);
    let Some(hit) = shared.fail_points.hit_write(i64::try_from(statements).unwrap_or(i64::MAX)) else {
        return commands::run(context).await;
    };
    let lost = |code| Failure {
        closes: hit.closes,
        ..Failure::new(code, "Failing write via 'onPrimaryTransactionalWrite' failpoint")
    };
    if let Some(code) = hit.code {
        return Err(lost(code));
    }
    let reply = commands::run(context).await?;
    if hit.closes && is_done() {
        return Err(lost(codes::HOST_UNREACHABLE));
    }
    Ok(reply)
}

/// Reads what every command may have, and refuses who may not ask.
fn begin(context: &mut Context<'_>) -> Result<()> {
    let (shared, command) = (context.shared, context.command);
    envelope::check_api(command)?;
    envelope::check_write_concern(command)?;
    let name = context.name;
    envelope::check_strict(name, command)?;
    if !commands::is_known(name) {
        return Err(Failure::new(codes::COMMAND_NOT_FOUND, format!("no such command: '{name}'")));
    }
    if context.connection.user.is_none() && !commands::needs_no_user(name) {
        return Err(Failure::new(codes::UNAUTHORIZED, format!("Command {name} requires authentication")));
    }
    if let Some(time) = command.get("$clusterTime") {
        shared.clock.advance(time);
    }
    let arguments = context.arguments();
    if let Some(ms) = arguments.integer("maxTimeMS")? {
        let ms = u64::try_from(ms)
            .ok()
            .filter(|ms| *ms <= u64::from(i32::MAX.unsigned_abs()))
            .ok_or_else(|| Failure::bad_value(format!("{ms} value for maxTimeMS is out of range")))?;
        if ms > 0 && name != "getMore" {
            context.deadline = Some(shared.env.clock.elapsed() + Duration::from_millis(ms));
        }
    }
    let is_in_transaction = command.get("autocommit").and_then(Value::as_bool) == Some(false);
    if let Some(level) = arguments.object("readConcern")?.and_then(|concern| concern.get("level")) {
        let known = ["local", "available", "majority", "linearizable", "snapshot"];
        if !level.as_str().is_some_and(|level| known.contains(&level)) {
            return Err(Failure::parse(
                "readConcern.level is not one of local, available, majority, linearizable, snapshot",
            ));
        }
    }
    if !is_in_transaction {
        context.snapshot = snapshot_of(context)?;
    }
    if let Some(preference) = arguments.object("$readPreference")? {
        let known = ["primary", "primaryPreferred", "secondary", "secondaryPreferred", "nearest"];
        let mode = preference.get("mode").and_then(Value::as_str);
        if !mode.is_some_and(|mode| known.contains(&mode)) {
            return Err(Failure::parse(format!(
                "Could not parse $readPreference mode '{}'",
                mode.unwrap_or_default()
            )));
        }
    }
    context.session = Sessions::id_of(command)?;
    if let Some(session) = context.session
        && let Some(user) = &context.connection.user
    {
        shared.sessions.touch(session, &user.name)?;
    }
    context.number = arguments.integer("txnNumber")?;
    if context.number.is_some() && context.session.is_none() {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "Transaction number requires a session ID to also be specified",
        ));
    }
    context.is_in_transaction = is_in_transaction;
    if context.is_in_transaction && context.number.is_none() {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "'autocommit' field requires a transaction number to also be specified",
        ));
    }
    commands::check_transaction(context)
}

/// Returns the moment that a command reads outside of a transaction, where it asks for one.
fn snapshot_of(context: &Context<'_>) -> Result<Option<Snapshot>> {
    let Some(concern) = context.arguments().object("readConcern")? else { return Ok(None) };
    let is_snapshot = concern.get("level").and_then(Value::as_str) == Some("snapshot");
    let at = concern.get("atClusterTime");
    if !is_snapshot {
        return match at {
            None => Ok(None),
            Some(_) => Err(Failure::new(
                codes::INVALID_OPTIONS,
                "readConcern.atClusterTime is only allowed with readConcern level 'snapshot'",
            )),
        };
    }
    let name = context.name;
    // A cursor reads the moment that it was opened at.
    if name == "getMore" {
        return Ok(None);
    }
    if !matches!(name, "find" | "aggregate" | "distinct") {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            format!("Command {name} does not support {{ readConcern: {{ level: \"snapshot\" }} }}"),
        ));
    }
    let clock = &context.shared.clock;
    match at {
        None => Ok(Some(Snapshot { at: clock.tick(), is_new: true })),
        Some(Value::Timestamp { seconds: 0, increment: 0 }) => {
            Err(Failure::new(codes::INVALID_OPTIONS, "readConcern.atClusterTime cannot be a null timestamp"))
        }
        Some(Value::Timestamp { seconds, increment }) => {
            let at = ClusterTime { seconds: *seconds, increment: *increment };
            if at > clock.now() {
                return Err(Failure::new(
                    codes::INVALID_OPTIONS,
                    "readConcern atClusterTime value must not be greater than the current clusterTime",
                ));
            }
            Ok(Some(Snapshot { at, is_new: false }))
        }
        Some(_) => Err(Failure::new(codes::TYPE_MISMATCH, "readConcern.atClusterTime must be a timestamp")),
    }
}
