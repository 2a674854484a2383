//! `usersInfo`, `createUser`, `updateUser`, `dropUser`, `dropAllUsersFromDatabase`, `rolesInfo`.

use std::collections::HashMap;

use armilla_mongo_expression::{Scope, codes};
use armilla_mongo_filter::Filter;
use armilla_mongo_wire::scram::Account;
use armilla_value::{Object, Value};

use crate::arguments::Arguments;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::reply::Reply;
use crate::users::{ROLES, Stored, derive, read_roles, role_object};

pub(super) async fn info(context: &mut Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&[
        "showCredentials",
        "showCustomData",
        "showPrivileges",
        "showAuthenticationRestrictions",
        "filter",
    ])?;
    arguments.refuse(&["showCredentials"], "what proves a password is not shown")?;
    arguments.refuse(&["showPrivileges"], "see connectionStatus for one's own")?;
    let filter = match arguments.object("filter")? {
        Some(filter) => Some(Filter::parse(filter, &Scope::default())?),
        None => None,
    };
    let (_, environment) = context.environment_with(None)?;
    let shows_custom = arguments.truth_or_true("showCustomData")?;
    let shows_restrictions = arguments.truth("showAuthenticationRestrictions")?;
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
    let mut shown = Vec::new();
    for user in &listed {
        let roles = user.roles.iter().map(|role| Value::Object(role_object(role)));
        let mut one = Object::from([
            ("_id", Value::from(format!("{}.{}", user.database, user.name))),
            ("userId", Value::Binary { subtype: 4, bytes: user.uuid.to_vec() }),
            ("user", Value::from(user.name.as_str())),
            ("db", Value::from(user.database.as_str())),
        ]);
        if let Some(custom) = user.custom.as_ref().filter(|_| shows_custom) {
            one.insert("customData", custom.clone());
        }
        one.insert("roles", Value::Array(roles.collect()));
        one.insert("mechanisms", Value::from(user.mechanisms()));
        if shows_restrictions {
            one.insert("authenticationRestrictions", Value::Array(Vec::new()));
        }
        if let Some(filter) = &filter
            && !filter.matches(&one, &environment)?
        {
            continue;
        }
        shown.push(Value::Object(one));
    }
    Ok(Object::from([("users", Value::Array(shown))]).into())
}

fn salts(context: &Context<'_>) -> ([u8; 32], [u8; 32]) {
    let (mut first, mut second) = ([0; 32], [0; 32]);
    context.shared.env.entropy.fill(&mut first);
    context.shared.env.entropy.fill(&mut second);
    (first, second)
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
    check_user(&arguments)?;
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
    check_user(&arguments)?;
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

/// Refuses what a user cannot have here.
fn check_user(arguments: &Arguments<'_>) -> Result<()> {
    if !arguments.truth_or_true("digestPassword")? {
        return Err(Failure::bad_value(
            "digestPassword must be true: the server makes of a password what each mechanism needs",
        ));
    }
    arguments.refuse(&["authenticationRestrictions"], "users may come from everywhere")
}

/// `rolesInfo`: the roles are those that the server has.
pub(super) fn roles(context: &Context<'_>) -> Result<Reply> {
    let arguments = context.arguments();
    arguments.allow(&["showPrivileges", "showBuiltinRoles", "showAuthenticationRestrictions"])?;
    arguments.refuse(&["showPrivileges"], "see connectionStatus for one's own")?;
    let shown = |name: &str, database: &str| {
        Value::Object(Object::from([
            ("role", Value::from(name)),
            ("db", Value::from(database)),
            ("isBuiltin", Value::Bool(true)),
            ("roles", Value::Array(Vec::new())),
            ("inheritedRoles", Value::Array(Vec::new())),
        ]))
    };
    let named = |value: &Value| -> Result<Option<Value>> {
        let (name, database) = match value {
            Value::String(name) => (name.as_str(), context.database),
            Value::Object(role) => (
                role.get("role").and_then(Value::as_str).unwrap_or_default(),
                role.get("db").and_then(Value::as_str).unwrap_or(context.database),
            ),
            _ => {
                return Err(Failure::bad_value(
                    "rolesInfo names a role, roles, or 1 for all of the database",
                ));
            }
        };
        Ok(ROLES.contains(&name).then(|| shown(name, database)))
    };
    let roles = match context.command.iter().next().map(|(_, value)| value) {
        Some(Value::Array(several)) => several.iter().filter_map(|value| named(value).transpose()).collect(),
        Some(value @ (Value::String(_) | Value::Object(_))) => Ok(named(value)?.into_iter().collect()),
        // All of a database: those of one's own, of which there are none, and the others if they are asked for.
        _ if arguments.truth("showBuiltinRoles")? => {
            Ok(ROLES.iter().map(|name| shown(name, context.database)).collect::<Vec<_>>())
        }
        _ => Ok(Vec::new()),
    };
    Ok(Object::from([("roles", Value::Array(roles?))]).into())
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
