//! Which commands there are, who may send them, and what answers them.

mod aggregate;
mod build_info;
mod change_stream;
mod coll_mod;
mod coll_stats;
mod configure_fail_point;
mod connection_status;
mod count;
mod create;
mod create_indexes;
mod current_op;
mod custom_action;
mod db_stats;
mod delete;
mod distinct;
mod drop;
mod drop_database;
mod drop_indexes;
mod end_transaction;
mod explain;
mod find;
mod find_and_modify;
mod get_last_error;
mod get_log;
mod get_more;
mod get_parameter;
mod hello;
mod host_info;
mod insert;
mod kill_cursors;
mod list_collections;
mod list_commands;
mod list_databases;
mod list_indexes;
mod nothing_to_do;
mod output;
mod rename_collection;
mod repl_set;
mod sasl;
mod server_status;
mod sessions;
mod shard_collection;
mod sources;
mod statements;
mod update;
mod users;
mod validate;

use armilla_mongo_expression::codes;
use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::namespace::Namespace;
use crate::reply::Reply;
use crate::schema_changes;
use crate::statistics::Statistics;
use crate::transactions::{Held, Open, State, no_transaction};
use crate::users::may;

/// What a command does, for whoever asks whether a caller may send it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing with data, and before a login.
    Open,
    /// Nothing with data.
    Free,
    Read,
    Write,
    /// Users and the like.
    Administer,
}

/// Every command, by the names that it has.
const COMMANDS: &[(&str, Effect)] = &[
    ("abortTransaction", Effect::Free),
    ("aggregate", Effect::Read),
    ("buildInfo", Effect::Open),
    ("buildinfo", Effect::Open),
    ("collMod", Effect::Write),
    ("collStats", Effect::Read),
    ("collstats", Effect::Read),
    ("commitTransaction", Effect::Free),
    ("compact", Effect::Write),
    ("configureFailPoint", Effect::Administer),
    ("connPoolStats", Effect::Free),
    ("connectionStatus", Effect::Open),
    ("count", Effect::Read),
    ("create", Effect::Write),
    ("createIndexes", Effect::Write),
    ("createUser", Effect::Administer),
    ("currentOp", Effect::Free),
    ("customAction", Effect::Write),
    ("dataSize", Effect::Read),
    ("dbStats", Effect::Read),
    ("dbstats", Effect::Read),
    ("delete", Effect::Write),
    ("deleteIndexes", Effect::Write),
    ("distinct", Effect::Read),
    ("drop", Effect::Write),
    ("dropAllUsersFromDatabase", Effect::Administer),
    ("dropDatabase", Effect::Write),
    ("dropIndexes", Effect::Write),
    ("dropUser", Effect::Administer),
    ("enableSharding", Effect::Write),
    ("endSessions", Effect::Open),
    ("explain", Effect::Read),
    ("features", Effect::Free),
    ("find", Effect::Read),
    ("findAndModify", Effect::Write),
    ("findandmodify", Effect::Write),
    ("fsync", Effect::Free),
    ("getCmdLineOpts", Effect::Free),
    ("getLastError", Effect::Free),
    ("getLastRequestStatistics", Effect::Free),
    ("getLog", Effect::Free),
    ("getMore", Effect::Read),
    ("getParameter", Effect::Free),
    ("getlasterror", Effect::Free),
    ("getnonce", Effect::Open),
    ("hello", Effect::Open),
    ("hostInfo", Effect::Free),
    ("insert", Effect::Write),
    ("isMaster", Effect::Open),
    ("isdbgrid", Effect::Free),
    ("ismaster", Effect::Open),
    ("killAllSessions", Effect::Administer),
    ("killAllSessionsByPattern", Effect::Administer),
    ("killCursors", Effect::Free),
    ("killOp", Effect::Free),
    ("killSessions", Effect::Free),
    ("listCollections", Effect::Read),
    ("listCommands", Effect::Free),
    ("listDatabases", Effect::Free),
    ("listIndexes", Effect::Read),
    ("logout", Effect::Open),
    ("ping", Effect::Open),
    ("profile", Effect::Free),
    ("reIndex", Effect::Write),
    ("refreshSessions", Effect::Free),
    ("renameCollection", Effect::Write),
    ("replSetGetConfig", Effect::Free),
    ("replSetGetStatus", Effect::Free),
    ("rolesInfo", Effect::Free),
    ("saslContinue", Effect::Open),
    ("saslStart", Effect::Open),
    ("serverStatus", Effect::Free),
    ("setFeatureCompatibilityVersion", Effect::Administer),
    ("shardCollection", Effect::Write),
    ("startSession", Effect::Free),
    ("top", Effect::Free),
    ("update", Effect::Write),
    ("updateUser", Effect::Administer),
    ("usersInfo", Effect::Free),
    ("validate", Effect::Read),
    ("whatsmyuri", Effect::Open),
];

/// Commands that the server has and this one does not, with what it says of them.
const REFUSED: &[(&str, i32, &str)] = &[
    ("mapReduce", 115, "mapReduce is not supported: use an aggregation pipeline"),
    ("mapreduce", 115, "mapReduce is not supported: use an aggregation pipeline"),
    ("bulkWrite", 115, "the bulkWrite command belongs to server 8.0, and this one speaks as 7.0"),
    ("convertToCapped", 115, "capped collections are not supported"),
    ("cloneCollectionAsCapped", 115, "capped collections are not supported"),
    ("createSearchIndexes", 31_082, "Atlas search indexes are not supported"),
    ("updateSearchIndex", 31_082, "Atlas search indexes are not supported"),
    ("dropSearchIndex", 31_082, "Atlas search indexes are not supported"),
    ("listSearchIndexes", 31_082, "Atlas search indexes are not supported"),
    ("addShard", 115, "partitions are managed by the server"),
    ("moveChunk", 115, "partitions are managed by the server"),
    ("split", 115, "partitions are managed by the server"),
    ("balancerStart", 115, "partitions are managed by the server"),
    ("balancerStop", 115, "partitions are managed by the server"),
    ("applyOps", 115, "applyOps is not supported"),
    ("setParameter", 115, "parameters are set when the server is started"),
    ("authenticate", 334, "log in by SCRAM-SHA-256 or SCRAM-SHA-1"),
    ("analyze", 115, "analyze is not supported"),
    ("filemd5", 115, "filemd5 is not supported: drivers compute sums themselves"),
    ("createRole", 115, "roles are those that the server has"),
];

fn effect(name: &str) -> Option<Effect> {
    COMMANDS.iter().find(|(known, _)| *known == name).map(|(_, effect)| *effect)
}

/// Says whether there is such a command, be it one that is refused.
pub(crate) fn is_known(name: &str) -> bool {
    effect(name).is_some() || REFUSED.iter().any(|(known, ..)| *known == name)
}

/// Says whether a command may come before a login.
pub(crate) fn needs_no_user(name: &str) -> bool {
    effect(name) == Some(Effect::Open) || name == "authenticate"
}

/// Says whether a command costs nothing, and what it does is not remembered as the last.
pub(crate) fn is_free(name: &str) -> bool {
    matches!(effect(name), None | Some(Effect::Open | Effect::Free))
}

/// Says whether a command writes, so that the clock moves on with it.
pub(crate) fn writes(name: &str) -> bool {
    effect(name) == Some(Effect::Write) || name == "commitTransaction"
}

/// Says whether a command is about a change stream.
pub(crate) fn is_of_stream(context: &Context<'_>) -> bool {
    let pipeline = context.command.get("pipeline").and_then(Value::as_array).unwrap_or_default();
    let first = pipeline.first().and_then(Value::as_object);
    first.is_some_and(|stage| stage.contains("$changeStream"))
}

/// Says whether a command is the first word of clients.
pub(crate) fn is_hello(name: &str) -> bool {
    matches!(name, "hello" | "isMaster" | "ismaster")
}

/// Says whether a command is a pipeline that writes what it gives.
pub(crate) fn has_output(command: &Object) -> bool {
    let stages = command.get("pipeline").and_then(Value::as_array).unwrap_or_default();
    let last = stages.last().and_then(Value::as_object);
    command.contains("aggregate") && last.is_some_and(|last| last.contains("$out") || last.contains("$merge"))
}

/// Says whether a command is done again after this reply, for a client that takes several.
pub(crate) fn goes_on(context: &Context<'_>, reply: &Reply) -> bool {
    if context.connection.is_ending() {
        return false;
    }
    match (context.name, reply) {
        ("getMore", Reply::Batch(batch)) => batch.cursor != 0,
        (name, _) if is_hello(name) => context.command.contains("topologyVersion"),
        _ => false,
    }
}

/// Names of all commands that are served.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|(name, _)| *name)
}

/// Refuses what a user's roles do not allow.
fn check_user(context: &Context<'_>, effect: Effect) -> Result<()> {
    let Some(user) = &context.connection.user else { return Ok(()) };
    let named = context.command.iter().next().and_then(|(_, value)| value.as_str());
    let is_kept = named.is_some_and(|name| {
        let namespace = Namespace { database: context.database.to_owned(), collection: name.to_owned() };
        namespace.is_kept_by_the_server()
    });
    let is_root = user.roles.iter().any(|role| role.name == "root");
    let is_allowed = match effect {
        Effect::Write if is_kept => false,
        Effect::Read if is_kept => is_root,
        Effect::Open | Effect::Free => true,
        Effect::Read => may(user, context.database, false),
        Effect::Write => may(user, context.database, true),
        Effect::Administer => user.roles.iter().any(|role| {
            matches!(role.name.as_str(), "root" | "userAdminAnyDatabase")
                || (matches!(role.name.as_str(), "userAdmin" | "dbOwner")
                    && role.database == context.database)
        }),
    };
    if is_allowed {
        return Ok(());
    }
    Err(Failure::new(
        codes::UNAUTHORIZED,
        format!("not authorized on {} to execute command {{ {}: ... }}", context.database, context.name),
    ))
}

/// Commands that may be part of a transaction.
const IN_TRANSACTIONS: [&str; 14] = [
    "abortTransaction",
    "aggregate",
    "commitTransaction",
    "create",
    "createIndexes",
    "delete",
    "distinct",
    "find",
    "findAndModify",
    "findandmodify",
    "getMore",
    "insert",
    "killCursors",
    "update",
];

/// Commands that may be sent again with a number.
const RETRYABLE: [&str; 5] = ["insert", "update", "delete", "findAndModify", "findandmodify"];

/// Begins a transaction, or refuses a command that cannot be part of one.
pub(crate) fn check_transaction(context: &mut Context<'_>) -> Result<()> {
    let (Some(session), Some(number)) = (context.session, context.number) else { return Ok(()) };
    let name = context.name;
    if !context.is_in_transaction {
        if context.command.contains("startTransaction") {
            return Err(Failure::new(
                codes::INVALID_OPTIONS,
                "'startTransaction' field requires 'autocommit' field to also be specified",
            ));
        }
        if !RETRYABLE.contains(&name) {
            return Err(Failure::new(
                50_768,
                format!(
                    "txnNumber may only be provided for multi-document transactions and retryable write commands. autocommit:false was not provided, and {name} is not a retryable write command."
                ),
            ));
        }
        return Ok(());
    }
    if !IN_TRANSACTIONS.contains(&name) {
        return Err(Failure::new(
            codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!("Cannot run '{name}' in a multi-document transaction."),
        ));
    }
    let ends = matches!(name, "commitTransaction" | "abortTransaction");
    let starts = context.command.get("startTransaction").and_then(Value::as_bool) == Some(true);
    if !ends && context.command.contains("writeConcern") {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "writeConcern is not allowed within a multi-statement transaction",
        ));
    }
    if !starts && context.command.contains("readConcern") {
        return Err(Failure::new(
            codes::INVALID_OPTIONS,
            "Only the first command in a transaction may specify a readConcern",
        ));
    }
    if matches!(context.database, "config" | "local") && !ends {
        return Err(Failure::new(
            codes::OPERATION_NOT_SUPPORTED_IN_TRANSACTION,
            format!("Cannot run command against the '{}' database in a transaction.", context.database),
        ));
    }
    let begun = context.shared.sessions.with(session, |session| {
        let is_current = session.number() == Some(number);
        if starts {
            // One whose first statement failed before it did anything may begin again.
            let is_begun = |open: &Open| open.state != State::Running || open.work.is_some();
            if is_current && session.transaction.as_ref().is_some_and(is_begun) {
                return Err(Failure::new(
                    codes::CONFLICTING_OPERATION_IN_PROGRESS,
                    format!("Transaction {number} is already in progress in this session"),
                ));
            }
            session.advance(number)?;
            session.transaction = Some(Open::begin());
            return Ok(());
        }
        // Whether one that is not known was stored, is found out where it is to be.
        if !is_current && name != "commitTransaction" {
            session.advance(number).and(Err(no_transaction(number)))?;
        }
        Ok(())
    });
    begun.unwrap_or(Ok(()))
}

/// Runs a command.
pub(crate) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let name = context.name;
    if let Some((_, code, message)) = REFUSED.iter().find(|(refused, ..)| *refused == name) {
        return Err(Failure::new(*code, *message));
    }
    let effect = effect(name).unwrap_or(Effect::Administer);
    check_user(context, effect)?;
    let outcome = answer(context).await;
    if let Ok(Reply::Document(reply)) = &outcome
        && let Some((operation, description)) = schema_changes::of_command(name, context.command, reply)
    {
        let namespace = match (name, context.command.get(name)) {
            ("shardCollection", Some(Value::String(whole))) => Namespace::parse(whole),
            _ => context.namespace(),
        };
        if let Ok(namespace) = namespace {
            let shared = context.shared;
            shared.schema_changes.note(&shared.clock, &namespace, operation, description);
        }
    }
    if context.is_in_transaction && !matches!(name, "commitTransaction" | "abortTransaction") {
        let is_failed = match &outcome {
            Ok(Reply::Document(reply)) => reply.contains("writeErrors"),
            Ok(_) => false,
            // A command that could not be read has done nothing.
            Err(failure) => !matches!(failure.code, 9 | 14 | 40_414 | 40_415 | 256 | 251),
        };
        let made = match Held::of(context) {
            Ok(mut held) if is_failed => held.abort(),
            _ => Vec::new(),
        };
        Box::pin(end_transaction::undo(context, made)).await;
    }
    outcome
}

/// Has a command answered. Each that waits for something does so in a box: what is inside of this future is moved with
/// every message, of whichever command.
async fn answer(context: &mut Context<'_>) -> Result<Reply> {
    match context.name {
        "hello" | "isMaster" | "ismaster" => Box::pin(hello::run(context)).await,
        "ping" | "refreshSessions" => Ok(Reply::ok()),
        "buildInfo" | "buildinfo" => Ok(build_info::run()),
        "saslStart" => Box::pin(sasl::start(context)).await,
        "saslContinue" => Box::pin(sasl::go_on(context)).await,
        "logout" => {
            context.connection.user = None;
            Ok(Reply::ok())
        }
        "getnonce" => Ok(Object::from([("nonce", "0000000000000000")]).into()),
        "insert" => Box::pin(insert::run(context)).await,
        "update" => Box::pin(update::run(context)).await,
        "delete" => Box::pin(delete::run(context)).await,
        "find" => Box::pin(find::run(context)).await,
        "getMore" => Box::pin(get_more::run(context)).await,
        "killCursors" => kill_cursors::run(context),
        "aggregate" => Box::pin(aggregate::run(context)).await,
        "count" => Box::pin(count::run(context)).await,
        "distinct" => Box::pin(distinct::run(context)).await,
        "findAndModify" | "findandmodify" => Box::pin(find_and_modify::run(context)).await,
        "create" => Box::pin(create::run(context)).await,
        "drop" => Box::pin(drop::run(context)).await,
        "dropDatabase" => Box::pin(drop_database::run(context)).await,
        "listCollections" => Box::pin(list_collections::run(context)).await,
        "listDatabases" => Box::pin(list_databases::run(context)).await,
        "createIndexes" if context.is_in_transaction => Box::pin(create::index_in_transaction(context)).await,
        "createIndexes" => Box::pin(create_indexes::run(context)).await,
        "listIndexes" => Box::pin(list_indexes::run(context)).await,
        "dropIndexes" | "deleteIndexes" => Box::pin(drop_indexes::run(context)).await,
        "startSession" => sessions::start(context),
        "endSessions" => sessions::end(context),
        "killSessions" => sessions::end(context),
        "killAllSessions" | "killAllSessionsByPattern" => sessions::end_all(context),
        "commitTransaction" => Box::pin(end_transaction::commit(context)).await,
        "abortTransaction" => Box::pin(end_transaction::abort(context)).await,
        "connectionStatus" => Ok(connection_status::run(context)?),
        "hostInfo" => Ok(host_info::run(context)),
        "getParameter" => get_parameter::run(context),
        "getCmdLineOpts" => {
            Ok(Object::from([("argv", Value::Array(Vec::new())), ("parsed", Value::Object(Object::new()))])
                .into())
        }
        "serverStatus" => server_status::run(context),
        "connPoolStats" => Ok(server_status::pool(context)),
        "top" => Ok(server_status::top()),
        "getLog" => get_log::run(context),
        "whatsmyuri" => Ok(Object::from([("you", context.connection.peer.to_string())]).into()),
        "explain" => Box::pin(explain::run(context)).await,
        "collStats" | "collstats" => Box::pin(coll_stats::run(context)).await,
        "dataSize" => Box::pin(coll_stats::data_size(context)).await,
        "dbStats" | "dbstats" => Box::pin(db_stats::run(context)).await,
        "collMod" => Box::pin(coll_mod::run(context)).await,
        "renameCollection" => Box::pin(rename_collection::run(context)).await,
        "validate" => Box::pin(validate::run(context)).await,
        "currentOp" => current_op::run(context),
        "killOp" => current_op::kill(context),
        "listCommands" => Ok(list_commands::run()),
        "replSetGetStatus" => repl_set::status(context),
        "replSetGetConfig" => repl_set::config(context),
        "usersInfo" => Box::pin(users::info(context)).await,
        "createUser" => Box::pin(users::create(context)).await,
        "updateUser" => Box::pin(users::update(context)).await,
        "dropUser" => Box::pin(users::drop(context)).await,
        "dropAllUsersFromDatabase" => Box::pin(users::drop_all(context)).await,
        "rolesInfo" => users::roles(context),
        "getLastError" | "getlasterror" => Ok(get_last_error::run(context)),
        "getLastRequestStatistics" => {
            let by_session = context.session.and_then(|session| context.shared.sessions.statistics(session));
            Ok(Statistics::reply(by_session.as_ref().or(context.connection.last.as_ref())).into())
        }
        "shardCollection" => Box::pin(shard_collection::run(context)).await,
        "enableSharding" => nothing_to_do::enable_sharding(context),
        "customAction" => Box::pin(custom_action::run(context)).await,
        "configureFailPoint" => configure_fail_point::run(context),
        "profile" => get_log::profile(context),
        "isdbgrid" => Err(Failure::new(codes::COMMAND_NOT_FOUND, "no such command: 'isdbgrid'")),
        "fsync" => nothing_to_do::fsync(context),
        "reIndex" | "compact" => nothing_to_do::of_collection(context).await,
        "setFeatureCompatibilityVersion" => nothing_to_do::version(context),
        "features" => Ok(Reply::ok()),
        other => Err(Failure::new(codes::COMMAND_NOT_FOUND, format!("no such command: '{other}'"))),
    }
}

/// Says how far the transaction of a session is.
pub(crate) fn transaction_state(context: &Context<'_>) -> Option<State> {
    let session = context.session?;
    let number = context.number?;
    context
        .shared
        .sessions
        .with(session, |session| {
            (session.number() == Some(number))
                .then(|| session.transaction.as_ref().map(|open| open.state))
                .flatten()
        })
        .flatten()
}
