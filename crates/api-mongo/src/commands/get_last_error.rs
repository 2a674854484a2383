//! `getLastError`, which drivers of long ago send.

use armilla_value::{Object, Value};

use crate::context::Context;
use crate::reply::Reply;

pub(super) fn run(context: &Context<'_>) -> Reply {
    Object::from([
        ("connectionId", Value::Int32(context.connection.id)),
        ("n", Value::Int32(0)),
        ("err", Value::Null),
    ])
    .into()
}
