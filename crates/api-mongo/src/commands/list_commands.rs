//! `listCommands`.

use armilla_value::{Object, Value};

use crate::reply::Reply;

pub(super) fn run() -> Reply {
    let commands = super::names().map(|name| {
        let about = Object::from([
            ("help", Value::from("")),
            ("requiresAuth", Value::Bool(!super::needs_no_user(name))),
            ("secondaryOk", Value::Bool(true)),
            (
                "adminOnly",
                Value::Bool(matches!(name, "renameCollection" | "listDatabases" | "replSetGetStatus")),
            ),
            ("apiVersions", Value::Array(Vec::new())),
            ("deprecatedApiVersions", Value::Array(Vec::new())),
        ]);
        (name.to_owned(), Value::Object(about))
    });
    Object::from([("commands", Value::Object(commands.collect()))]).into()
}
