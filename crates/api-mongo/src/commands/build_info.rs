//! `buildInfo`: the version that is spoken.

use armilla_value::{Object, Value};

use crate::reply::Reply;

/// The version of the server whose language is spoken.
pub(super) const VERSION: &str = "7.0.14";

pub(super) fn run() -> Reply {
    let numbers = [7, 0, 14, 0].map(Value::Int32).to_vec();
    let none = || Value::Object(Object::new());
    Object::from([
        ("version", Value::from(VERSION)),
        ("gitVersion", Value::from(env!("CARGO_PKG_VERSION"))),
        ("modules", Value::Array(Vec::new())),
        ("allocator", Value::from("mimalloc")),
        ("javascriptEngine", Value::from("none")),
        ("sysInfo", Value::from("deprecated")),
        ("versionArray", Value::Array(numbers)),
        ("openssl", Value::Object(Object::from([("running", "rustls"), ("compiled", "rustls")]))),
        ("buildEnvironment", none()),
        ("bits", Value::Int32(64)),
        ("debug", Value::Bool(false)),
        ("maxBsonObjectSize", Value::Int32(16 * 1024 * 1024)),
        ("storageEngines", Value::from(vec!["armilla"])),
    ])
    .into()
}
