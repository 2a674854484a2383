//! `usersInfo`, `createUser`, `updateUser`, `dropUser`, `dropAllUsersFromDatabase`.

use std::collections::HashMap;

use armilla_mongo_expression::codes;
use armilla_mongo_wire::scram::Account;
use armilla_value::{Object, Value};

use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::users::{Stored, derive, read_roles, role_object};

pub(super) async fn info(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "showCredentials",
        "showCustomData",
        "showPrivileges",
        "showAuthenticationRestrictions",
        "filter",
    ])?;
    let users = &context.shared.users;
    let named = |value: &Value| -> Option<(String, String)> {
        match value {
            Value::String(name) => Some((context.database.to_owned(), name.clone())),
            Value::Object(user) => Some((
                user.get("db").and_then(Value::as_str).unwrap_or(context.database).to_owned(),
                user.get("user")?.as_str()?.to_owned(),
            )),
            _ => None,
        }
    };
    let listed = match context.command.iter().next().map(|(_, value)| value) {
        Some(Value::Object(all)) if all.contains("forAllDBs") => users.list(None).await?,
        Some(Value::Array(several)) => {
            let mut listed = Vec::new();
            for value in several {
                if let Some((database, name)) = named(value) {
                    listed.extend(users.find(&database, &name).await?);
                }
            }
            listed
        }
        Some(value @ (Value::String(_) | Value::Object(_))) => match named(value) {
            Some((database, name)) => users.find(&database, &name).await?.into_iter().collect(),
            None => {
                return Err(Failure::bad_value(
                    "usersInfo names a user, users, or 1 for all of the database",
                ));
            }
        },
        _ => users.list(Some(context.database)).await?,
    };
    let shown = listed.iter().map(|user| {
        let roles = user.roles.iter().map(|role| Value::Object(role_object(role)));
        let mut shown = Object::from([
            ("_id", Value::from(format!("{}.{}", user.database, user.name))),
            ("userId", Value::Binary { subtype: 4, bytes: user.uuid.to_vec() }),
            ("user", Value::from(user.name.as_str())),
            ("db", Value::from(user.database.as_str())),
        ]);
        if let Some(custom) = &user.custom {
            shown.insert("customData", custom.clone());
        }
        shown.insert("roles", Value::Array(roles.collect()));
        shown.insert("mechanisms", Value::from(user.mechanisms()));
        Value::Object(shown)
    });
    Ok(Object::from([("users", Value::Array(shown.collect()))]).into())
}

/// Leaves the mechanisms that a user is to have, which are all unless it is said.
fn chosen(
    mut accounts: HashMap<&'static str, Account>,
    mechanisms: Option<&[Value]>,
) -> Result<HashMap<&'static str, Account>> {
    let Some(mechanisms) = mechanisms else { return Ok(accounts) };
    let names: Vec<&str> = mechanisms.iter().filter_map(Value::as_str).collect();
    let is_unknown = |name: &&&str| !accounts.contains_key(**name);
    if let Some(unknown) = names.iter().find(is_unknown) {
        return Err(Failure::bad_value(format!(
            "the mechanism '{unknown}' is not there: mechanisms are SCRAM-SHA-1 and SCRAM-SHA-256, and one that a user \
             had given up needs the password again"
        )));
    }
    if names.is_empty() || names.len() != mechanisms.len() {
        return Err(Failure::bad_value("mechanisms must name at least one mechanism"));
    }
    accounts.retain(|name, _| names.contains(name));
    Ok(accounts)
}

fn salts(context: &Context<'_>) -> ([u8; 32], [u8; 32]) {
    let (mut first, mut second) = ([0; 32], [0; 32]);
    context.shared.env.entropy.fill(&mut first);
    context.shared.env.entropy.fill(&mut second);
    (first, second)
}

pub(super) async fn create(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "pwd",
        "roles",
        "customData",
        "mechanisms",
        "digestPassword",
        "authenticationRestrictions",
    ])?;
    let name = arguments.required_string("createUser")?;
    if name.is_empty() || name == context.shared.options.account {
        return Err(Failure::bad_value("this name is the account's, or none"));
    }
    let password = arguments.required_string("pwd")?;
    if password.is_empty() {
        return Err(Failure::bad_value("User passwords must not be empty"));
    }
    let roles = read_roles(arguments.required_array("roles")?, context.database)?;
    let users = &context.shared.users;
    if users.find(context.database, name).await?.is_some() {
        return Err(Failure::new(51_003, format!("User \"{name}@{}\" already exists", context.database)));
    }
    let (first, second) = salts(context);
    let mut uuid = [0; 16];
    context.shared.env.entropy.fill(&mut uuid);
    uuid[6] = uuid[6] & 0x0f | 0x40;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    users
        .keep(Stored {
            database: context.database.to_owned(),
            name: name.to_owned(),
            roles,
            accounts: chosen(derive(name, password, [&first, &second])?, arguments.array("mechanisms")?)?,
            custom: arguments.object("customData")?.cloned(),
            uuid,
        })
        .await?;
    Ok(Reply::ok())
}

pub(super) async fn update(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "pwd",
        "roles",
        "customData",
        "mechanisms",
        "digestPassword",
        "authenticationRestrictions",
    ])?;
    let name = arguments.required_string("updateUser")?;
    let users = &context.shared.users;
    let known = users.find(context.database, name).await?.ok_or_else(|| not_found(context, name))?;
    let mut user = Stored::clone(&known);
    if let Some(password) = arguments.string("pwd")? {
        let (first, second) = salts(context);
        let known = user.mechanisms().into_iter().map(Value::from).collect::<Vec<_>>();
        let mechanisms = arguments.array("mechanisms")?.unwrap_or(&known);
        user.accounts = chosen(derive(name, password, [&first, &second])?, Some(mechanisms))?;
    } else if let Some(mechanisms) = arguments.array("mechanisms")? {
        user.accounts = chosen(user.accounts, Some(mechanisms))?;
    }
    if let Some(roles) = arguments.array("roles")? {
        user.roles = read_roles(roles, context.database)?;
    }
    if let Some(custom) = arguments.object("customData")? {
        user.custom = Some(custom.clone());
    }
    users.keep(user).await?;
    Ok(Reply::ok())
}

fn not_found(context: &Context<'_>, name: &str) -> Failure {
    Failure::new(codes::USER_NOT_FOUND, format!("User '{name}@{}' not found", context.database))
}

pub(super) async fn drop(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[])?;
    let name = arguments.required_string("dropUser")?;
    if !context.shared.users.drop(context.database, name).await? {
        return Err(not_found(context, name));
    }
    Ok(Reply::ok())
}

pub(super) async fn drop_all(context: &mut Context<'_>) -> Result<Reply> {
    context.arguments().allow(&[])?;
    let listed = context.shared.users.list(Some(context.database)).await?;
    for user in &listed {
        context.shared.users.drop(&user.database, &user.name).await?;
    }
    Ok(Object::from([("n", Value::Int32(i32::try_from(listed.len()).unwrap_or(i32::MAX)))]).into())
}
