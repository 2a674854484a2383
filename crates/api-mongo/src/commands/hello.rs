//! `hello`, and the two names that it had before.

use std::time::Duration;

use armilla_mongo_expression::codes;
use armilla_mongo_wire::bson;
use armilla_mongo_wire::compress::negotiate;
use armilla_value::{Object, Value};

use crate::auth;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::limits::{
    APPLICATION_NAME_BYTES_MAX, BATCH_STATEMENTS_MAX, CLIENT_METADATA_BYTES_MAX, DOCUMENT_BYTES_MAX,
    HELLO_WAIT_MAX, MESSAGE_BYTES_MAX,
};
use crate::reply::Reply;

/// The version of the protocol that server 7.0 has.
const WIRE_VERSION: i32 = 21;

/// How many times the topology changed, which it never does.
const TOPOLOGY_CHANGES: i64 = 0;

pub(super) async fn run(context: &mut Context<'_>) -> Result<Reply> {
    let command = context.command;
    if let Some(wait) = wait_of(context)? {
        tokio::select! {
            () = context.shared.env.clock.sleep(wait) => {}
            () = context.connection.ended() => {}
        }
    }
    if let Some(client) = command.get("client") {
        note_client(context, client)?;
    }
    if command.contains("backpressure") {
        context.connection.waits = true;
    }
    let shared = context.shared;
    let address = shared.options.advertised.clone().unwrap_or_else(|| context.connection.came_to.clone());
    let now = shared.clock.now();
    let date = Value::Date(shared.env.clock.now_ms());
    let moment = || Object::from([("ts", Value::from(now)), ("t", Value::Int64(1))]);
    let mut reply = Object::from([
        ("helloOk", Value::Bool(true)),
        (
            "topologyVersion",
            Value::Object(Object::from([
                ("processId", shared.process_id()),
                ("counter", Value::Int64(TOPOLOGY_CHANGES)),
            ])),
        ),
        ("hosts", Value::from(vec![address.as_str()])),
        ("setName", Value::from(shared.options.set_name.as_str())),
        ("setVersion", Value::Int32(1)),
        ("isWritablePrimary", Value::Bool(true)),
        ("ismaster", Value::Bool(true)),
        ("secondary", Value::Bool(false)),
        ("primary", Value::from(address.as_str())),
        ("me", Value::from(address.as_str())),
        ("electionId", Value::ObjectId([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 1])),
        (
            "lastWrite",
            Value::Object(Object::from([
                ("opTime", Value::Object(moment())),
                ("lastWriteDate", date.clone()),
                ("majorityOpTime", Value::Object(moment())),
                ("majorityWriteDate", date.clone()),
            ])),
        ),
        ("maxBsonObjectSize", Value::Int32(DOCUMENT_BYTES_MAX as i32)),
        ("maxMessageSizeBytes", Value::Int32(MESSAGE_BYTES_MAX as i32)),
        ("maxWriteBatchSize", Value::Int32(BATCH_STATEMENTS_MAX as i32)),
        ("localTime", date),
        ("logicalSessionTimeoutMinutes", Value::Int32(30)),
        ("connectionId", Value::Int32(context.connection.id)),
        ("minWireVersion", Value::Int32(0)),
        ("maxWireVersion", Value::Int32(WIRE_VERSION)),
        ("readOnly", Value::Bool(false)),
    ]);
    if let Some(offered) = command.get("compression").and_then(Value::as_array) {
        let common = negotiate(offered.iter().filter_map(Value::as_str));
        if !common.is_empty() {
            let names = common.iter().map(|compressor| Value::from(compressor.name()));
            reply.insert("compression", Value::Array(names.collect()));
        }
    }
    let mut lacks_speculative = false;
    if let Some(user) = command.get("saslSupportedMechs").and_then(Value::as_str) {
        // Who is not there has all: whether a user exists is not told.
        let stored = match user.split_once('.') {
            Some((_, name)) if name == shared.options.account => None,
            // Another node that has the users and is away must not keep clients from being told of this one.
            Some((database, name)) => shared.users.find(database, name).await.unwrap_or_default(),
            None => None,
        };
        let all = || vec!["SCRAM-SHA-256", "SCRAM-SHA-1"];
        let mechanisms = stored.map_or_else(all, |stored| stored.mechanisms());
        let begun = command.get("speculativeAuthenticate").and_then(|begun| begun.get("mechanism")?.as_str());
        lacks_speculative = begun.is_some_and(|begun| !mechanisms.contains(&begun));
        reply.insert("saslSupportedMechs", Value::from(mechanisms));
    }
    if let Some(speculative) = command.get("speculativeAuthenticate").and_then(Value::as_object)
        && !lacks_speculative
    {
        let database = speculative.get("db").and_then(Value::as_str).unwrap_or("admin");
        // One that cannot be served is passed over: the client then logs in the long way.
        if let Ok(started) = auth::start(shared, context.connection, database, speculative).await {
            reply.insert("speculativeAuthenticate", started);
        }
    }
    Ok(reply.into())
}

/// Returns how long to wait: a client that knows the topology as it is wants to be told of another, or that there is
/// none after a while.
fn wait_of(context: &Context<'_>) -> Result<Option<Duration>> {
    let arguments = context.arguments();
    let version = arguments.object("topologyVersion")?;
    let wait = arguments.integer("maxAwaitTimeMS")?;
    let (version, wait) = match (version, wait) {
        (None, None) => return Ok(None),
        (Some(version), Some(wait)) => (version, wait),
        (Some(_), None) => {
            return Err(Failure::new(
                31_368,
                "A request with a 'topologyVersion' must include 'maxAwaitTimeMS'",
            ));
        }
        (None, Some(_)) => {
            return Err(Failure::new(
                31_368,
                "A request with 'maxAwaitTimeMS' must include a 'topologyVersion'",
            ));
        }
    };
    let wait = u64::try_from(wait)
        .map_err(|_| Failure::new(31_373, "maxAwaitTimeMS must be a non-negative integer"))?;
    let (Some(process @ Value::ObjectId(_)), Some(Value::Int64(counter))) =
        (version.get("processId"), version.get("counter"))
    else {
        return Err(Failure::new(
            codes::TYPE_MISMATCH,
            "'topologyVersion' has a 'processId', an object id, and a 'counter', a long",
        ));
    };
    if *process != context.shared.process_id() {
        return Ok(None);
    }
    if *counter > TOPOLOGY_CHANGES {
        return Err(Failure::new(
            31_382,
            format!(
                "Received a topology version with counter: {counter} which is greater than the server topology \
                 version counter: {TOPOLOGY_CHANGES}"
            ),
        ));
    }
    // One that is behind is told at once.
    Ok((*counter == TOPOLOGY_CHANGES).then(|| Duration::from_millis(wait).min(HELLO_WAIT_MAX)))
}

/// Takes down what a client tells of itself, once for each connection.
fn note_client(context: &mut Context<'_>, client: &Value) -> Result<()> {
    let Some(client) = client.as_object() else {
        return Err(Failure::new(codes::TYPE_MISMATCH, "The client metadata document must be a document"));
    };
    if let Some(known) = &context.connection.metadata {
        if known == client {
            return Ok(());
        }
        return Err(Failure::new(
            codes::CLIENT_METADATA_CANNOT_BE_MUTATED,
            "The client metadata document may only be sent in the first hello",
        ));
    }
    if bson::encoded_bytes(client) > CLIENT_METADATA_BYTES_MAX {
        return Err(Failure::new(
            codes::CLIENT_METADATA_DOCUMENT_TOO_LARGE,
            format!(
                "The client metadata document must be less then or equal to {CLIENT_METADATA_BYTES_MAX} bytes"
            ),
        ));
    }
    let name =
        client.get("application").and_then(|application| application.get("name")).and_then(Value::as_str);
    if name.is_some_and(|name| name.len() > APPLICATION_NAME_BYTES_MAX) {
        return Err(Failure::new(
            codes::CLIENT_APP_NAME_TOO_LARGE,
            format!(
                "The 'client.application.name' field must be less then or equal to {APPLICATION_NAME_BYTES_MAX} bytes"
            ),
        ));
    }
    context.connection.metadata = Some(client.clone());
    Ok(())
}
