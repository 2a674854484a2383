//! `hostInfo`.

use armilla_value::{Object, Value};

use crate::context::Context;
use crate::reply::Reply;

pub(super) fn run(context: &Context<'_>) -> Reply {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let memory = memory_mb();
    Object::from([
        (
            "system",
            Value::Object(Object::from([
                ("currentTime", Value::Date(context.shared.env.clock.now_ms())),
                ("hostname", Value::from(context.connection.came_to.as_str())),
                ("cpuAddrSize", Value::Int32(64)),
                ("memSizeMB", Value::Int64(memory)),
                ("memLimitMB", Value::Int64(memory)),
                ("numCores", Value::Int32(i32::try_from(cores).unwrap_or(i32::MAX))),
                ("cpuArch", Value::from(std::env::consts::ARCH)),
                ("numaEnabled", Value::Bool(false)),
            ])),
        ),
        (
            "os",
            Value::Object(Object::from([
                ("type", std::env::consts::OS),
                ("name", std::env::consts::OS),
                ("version", ""),
            ])),
        ),
        ("extra", Value::Object(Object::new())),
    ])
    .into()
}

/// Returns how much memory the machine has, where it says so.
fn memory_mb() -> i64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("MemTotal:"));
    let kb = line.and_then(|line| line.split_whitespace().nth(1)).and_then(|kb| kb.parse::<i64>().ok());
    kb.unwrap_or(0) / 1024
}
