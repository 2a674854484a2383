//! `connectionStatus`.

use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::Result;
use crate::reply::Reply;
use crate::users::role_object;

/// What those may do who may write.
const WRITE_ACTIONS: [&str; 12] = [
    "collStats",
    "createCollection",
    "createIndex",
    "dbStats",
    "dropCollection",
    "dropIndex",
    "find",
    "insert",
    "listCollections",
    "listIndexes",
    "remove",
    "update",
];
/// What those may do who may read.
const READ_ACTIONS: [&str; 5] = ["collStats", "dbStats", "find", "listCollections", "listIndexes"];

pub(super) fn run(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["showPrivileges"])?;
    let (mut users, mut roles, mut privileges) = (Vec::new(), Vec::new(), Vec::new());
    if let Some(user) = &context.connection.user {
        users.push(Value::Object(Object::from([
            ("user", user.name.as_str()),
            ("db", user.database.as_str()),
        ])));
        for role in &user.roles {
            roles.push(Value::Object(role_object(role)));
            let everywhere =
                role.database == "admin" && (role.name.ends_with("AnyDatabase") || role.name == "root");
            let database = if everywhere { "" } else { role.database.as_str() };
            let resource = Object::from([("db", database), ("collection", "")]);
            let is_reader = role.name.starts_with("read") && !role.name.starts_with("readWrite");
            let actions: Vec<Value> = match is_reader {
                true => READ_ACTIONS.iter().map(|action| Value::from(*action)).collect(),
                false => WRITE_ACTIONS.iter().map(|action| Value::from(*action)).collect(),
            };
            privileges.push(Value::Object(Object::from([
                ("resource", Value::Object(resource)),
                ("actions", Value::Array(actions)),
            ])));
        }
    }
    let mut info = Object::from([
        ("authenticatedUsers", Value::Array(users)),
        ("authenticatedUserRoles", Value::Array(roles)),
    ]);
    if arguments.truth("showPrivileges")? {
        info.insert("authenticatedUserPrivileges", Value::Array(privileges));
    }
    Ok(Object::from([("authInfo", info)]).into())
}
