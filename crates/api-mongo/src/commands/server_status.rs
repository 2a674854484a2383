//! `serverStatus`, `connPoolStats` and `top`.

use std::sync::atomic::{AtomicU64, Ordering};

use armilla_value::{Object, Value};

use super::build_info::VERSION;
use crate::context::Context;
use crate::failure::Result;
use crate::reply::Reply;

fn whole(counter: &AtomicU64) -> Value {
    Value::Int64(i64::try_from(counter.load(Ordering::Relaxed)).unwrap_or(i64::MAX))
}

fn size(count: usize) -> Value {
    Value::Int64(i64::try_from(count).unwrap_or(i64::MAX))
}

pub(super) fn run(context: &Context<'_>) -> Result<Reply> {
    let shared = context.shared;
    let counters = &shared.counters;
    let uptime = shared.env.clock.elapsed();
    let (sessions, transactions) = shared.sessions.counts();
    let connections = Object::from([
        ("current", Value::Int32(shared.open_connections.load(Ordering::Relaxed))),
        ("totalCreated", Value::Int32(shared.connections.load(Ordering::Relaxed))),
        ("active", Value::Int32(1)),
    ]);
    let address = shared.options.advertised.clone().unwrap_or_else(|| context.connection.came_to.clone());
    Ok(Object::from([
        ("host", Value::from(address.as_str())),
        ("version", Value::from(VERSION)),
        ("process", Value::from("armilla")),
        ("pid", Value::Int64(i64::from(std::process::id()))),
        ("uptime", Value::Double(uptime.as_secs_f64())),
        ("uptimeMillis", Value::Int64(i64::try_from(uptime.as_millis()).unwrap_or(i64::MAX))),
        ("localTime", Value::Date(shared.env.clock.now_ms())),
        ("connections", Value::Object(connections)),
        (
            "network",
            Value::Object(Object::from([
                ("bytesIn", whole(&counters.bytes_in)),
                ("bytesOut", whole(&counters.bytes_out)),
                ("numRequests", whole(&counters.requests)),
            ])),
        ),
        (
            "opcounters",
            Value::Object(Object::from([
                ("insert", whole(&counters.insert)),
                ("query", whole(&counters.query)),
                ("update", whole(&counters.update)),
                ("delete", whole(&counters.delete)),
                ("getmore", whole(&counters.get_more)),
                ("command", whole(&counters.command)),
            ])),
        ),
        (
            "mem",
            Value::Object(Object::from([
                ("bits", Value::Int32(64)),
                ("resident", Value::Int64(resident_mb())),
                ("supported", Value::Bool(true)),
            ])),
        ),
        (
            "repl",
            Value::Object(Object::from([
                ("setName", Value::from(shared.options.set_name.as_str())),
                ("setVersion", Value::Int32(1)),
                ("isWritablePrimary", Value::Bool(true)),
                ("secondary", Value::Bool(false)),
                ("primary", Value::from(address.as_str())),
                ("me", Value::from(address.as_str())),
                ("hosts", Value::from(vec![address.as_str()])),
            ])),
        ),
        (
            "storageEngine",
            Value::Object(Object::from([
                ("name", Value::from("armilla")),
                ("supportsCommittedReads", Value::Bool(true)),
                ("persistent", Value::Bool(true)),
                ("readOnly", Value::Bool(false)),
            ])),
        ),
        (
            "metrics",
            Value::Object(Object::from([(
                "cursor",
                Value::Object(Object::from([(
                    "open",
                    Value::Object(Object::from([("total", size(shared.cursors.count()))])),
                )])),
            )])),
        ),
        (
            "transactions",
            Value::Object(Object::from([("currentOpen", size(transactions)), ("currentActive", size(0))])),
        ),
        ("logicalSessionRecordCache", Value::Object(Object::from([("activeSessionsCount", size(sessions))]))),
        ("security", Value::Object(Object::new())),
    ])
    .into())
}

/// Returns the memory that the process holds, where the machine says so.
fn resident_mb() -> i64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("VmRSS:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kb| kb.parse::<i64>().ok());
    kb.unwrap_or(0) / 1024
}

pub(super) fn pool(context: &Context<'_>) -> Reply {
    let current = context.shared.open_connections.load(Ordering::Relaxed);
    Object::from([
        ("numClientConnections", Value::Int32(current)),
        ("numAScopedConnections", Value::Int32(0)),
        ("totalInUse", Value::Int32(0)),
        ("totalAvailable", Value::Int32(0)),
        ("totalCreated", Value::Int32(0)),
        ("hosts", Value::Object(Object::new())),
    ])
    .into()
}

pub(super) fn top() -> Reply {
    Object::from([("totals", Value::Object(Object::from([("note", "all times in microseconds")])))]).into()
}
