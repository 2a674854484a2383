//! Users of databases and their roles, kept as items beside the descriptions of collections.
//!
//! One process alone holds all of them in memory once they are read. Where several serve the account, nothing of a user is
//! remembered: whoever was dropped by way of another process, or has another password by now, must not get in by the old
//! one, and what is changed of a user must not undo what another process has changed.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;

use armilla_engine::{Access, DataRole, Engine};
use armilla_mongo_expression::codes;
use armilla_mongo_wire::scram::{Account, Credential, Mechanism, ScramError, password_text};
use armilla_value::{Object, Value};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::RwLock;
use tokio::sync::OnceCell;

use crate::connection::{Role, User};
use crate::failure::{Failure, Result};
use crate::kept::Kept;

/// The container of what is kept.
const CONTAINER: &str = "system.users";
/// Users of an account.
const USERS_MAX: usize = 10_000;
/// Roles of a user.
const ROLES_MAX: usize = 100;

/// Roles that there are.
pub(crate) const ROLES: [&str; 14] = [
    "read",
    "readWrite",
    "dbAdmin",
    "dbOwner",
    "userAdmin",
    "readAnyDatabase",
    "readWriteAnyDatabase",
    "dbAdminAnyDatabase",
    "userAdminAnyDatabase",
    "clusterMonitor",
    "clusterAdmin",
    "backup",
    "restore",
    "root",
];

/// A user as it is kept.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) database: String,
    pub(crate) name: String,
    pub(crate) roles: Vec<Role>,
    /// What proves a password, by mechanism.
    pub(crate) accounts: HashMap<&'static str, Account>,
    pub(crate) custom: Option<Object>,
    pub(crate) uuid: [u8; 16],
}

impl Stored {
    /// Returns the names of the mechanisms by which the user logs in.
    pub(crate) fn mechanisms(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self.accounts.keys().copied().collect();
        names.sort_unstable();
        names
    }
}

type Known = HashMap<(String, String), Arc<Stored>>;

/// All users.
pub(crate) struct Users {
    kept: Kept,
    known: OnceCell<RwLock<Known>>,
}

impl Users {
    pub(crate) fn new(engine: Engine) -> Users {
        Users { kept: Kept::new(engine, CONTAINER), known: OnceCell::new() }
    }

    async fn known(&self) -> Result<&RwLock<Known>> {
        self.known.get_or_try_init(|| async { self.load().map(RwLock::new) }).await
    }

    fn load(&self) -> Result<Known> {
        let mut known = Known::new();
        self.kept.read(|value, _| {
            if let Some(user) = read(&value) {
                known.insert((user.database.clone(), user.name.clone()), Arc::new(user));
            }
            Ok(())
        })?;
        Ok(known)
    }

    /// Finds a user.
    pub(crate) async fn find(&self, database: &str, name: &str) -> Result<Option<Arc<Stored>>> {
        if self.kept.is_shared() {
            let item = self.kept.read_one(&item_id(database, name))?;
            return Ok(item.and_then(|(value, _)| read(&value)).map(Arc::new));
        }
        let known = self.known().await?.read();
        Ok(known.get(&(database.to_owned(), name.to_owned())).cloned())
    }

    /// Returns a user who has logged in.
    pub(crate) async fn user(&self, database: &str, name: &str) -> Result<Option<User>> {
        Ok(self.find(database, name).await?.map(|stored| User {
            name: stored.name.clone(),
            database: stored.database.clone(),
            roles: stored.roles.clone(),
            access: access(&stored.roles),
        }))
    }

    /// Lists the users of a database, or of all.
    pub(crate) async fn list(&self, database: Option<&str>) -> Result<Vec<Arc<Stored>>> {
        let is_chosen = |user: &&Arc<Stored>| database.is_none_or(|database| user.database == database);
        let mut users: Vec<_> = match self.kept.is_shared() {
            true => self.load()?.values().filter(is_chosen).cloned().collect(),
            false => self.known().await?.read().values().filter(is_chosen).cloned().collect(),
        };
        users.sort_by(|a, b| (&a.database, &a.name).cmp(&(&b.database, &b.name)));
        Ok(users)
    }

    /// Keeps a user.
    pub(crate) async fn keep(&self, user: Stored) -> Result<()> {
        let count = match self.kept.is_shared() {
            true => self.load()?.len(),
            false => self.known().await?.read().len(),
        };
        if count >= USERS_MAX {
            return Err(Failure::bad_value(format!("an account has at most {USERS_MAX} users")));
        }
        let id = item_id(&user.database, &user.name);
        self.kept.write(&id, write(&id, &user)).await?;
        if self.kept.is_shared() {
            return Ok(());
        }
        self.known().await?.write().insert((user.database.clone(), user.name.clone()), Arc::new(user));
        Ok(())
    }

    /// Drops a user; says whether there was one.
    pub(crate) async fn drop(&self, database: &str, name: &str) -> Result<bool> {
        if self.find(database, name).await?.is_none() {
            return Ok(false);
        }
        self.kept.remove(&item_id(database, name)).await?;
        if self.kept.is_shared() {
            return Ok(true);
        }
        self.known().await?.write().remove(&(database.to_owned(), name.to_owned()));
        Ok(true)
    }
}

/// Derives what proves a password, for both mechanisms.
pub(crate) fn derive(
    name: &str,
    password: &str,
    salts: [&[u8]; 2],
) -> Result<HashMap<&'static str, Account>> {
    let mut accounts = HashMap::new();
    for (mechanism, salt) in [Mechanism::Sha1, Mechanism::Sha256].into_iter().zip(salts) {
        let text = password_text(mechanism, name, password)
            .map_err(|error: ScramError| Failure::bad_value(error.to_string()))?;
        let salt = salt.get(..mechanism.salt_bytes()).unwrap_or(salt);
        let iterations = NonZeroU32::new(mechanism.default_iterations()).unwrap_or(NonZeroU32::MIN);
        let credential = Credential::derive(mechanism, &text, salt, iterations);
        let account =
            Account { salt: salt.to_vec(), iterations: iterations.get(), credentials: vec![credential] };
        accounts.insert(mechanism.name(), account);
    }
    Ok(accounts)
}

/// Reads the roles of a user.
pub(crate) fn read_roles(roles: &[Value], database: &str) -> Result<Vec<Role>> {
    if roles.len() > ROLES_MAX {
        return Err(Failure::bad_value(format!("a user has at most {ROLES_MAX} roles")));
    }
    roles
        .iter()
        .map(|role| {
            let (name, of) = match role {
                Value::String(name) => (name.as_str(), database),
                Value::Object(role) => (
                    role.get("role").and_then(Value::as_str).unwrap_or_default(),
                    role.get("db").and_then(Value::as_str).unwrap_or(database),
                ),
                _ => return Err(Failure::bad_value("a role is a name, or an object with role and db")),
            };
            if !ROLES.contains(&name) {
                return Err(Failure::new(codes::ROLE_NOT_FOUND, format!("Could not find role: {name}@{of}")));
            }
            Ok(Role { name: name.to_owned(), database: of.to_owned() })
        })
        .collect()
}

/// Returns what roles allow at most; what they allow in which database is decided command by command.
fn access(roles: &[Role]) -> Access {
    let any = |names: &[&str]| roles.iter().any(|role| names.contains(&role.name.as_str()));
    if any(&[
        "root",
        "readWriteAnyDatabase",
        "dbAdminAnyDatabase",
        "clusterAdmin",
        "restore",
        "dbOwner",
        "dbAdmin",
        "readWrite",
        "userAdmin",
        "userAdminAnyDatabase",
    ]) {
        Access::Full
    } else if any(&["read", "readAnyDatabase", "backup", "clusterMonitor"]) {
        Access::ReadOnly
    } else {
        Access::Role(DataRole::Reader)
    }
}

/// Says whether a user may read, or write, in a database.
pub(crate) fn may(user: &User, database: &str, is_write: bool) -> bool {
    user.roles.iter().any(|role| {
        let everywhere = role.database == "admin";
        match role.name.as_str() {
            "root" => everywhere,
            "readWriteAnyDatabase" => everywhere,
            "readAnyDatabase" | "backup" => everywhere && !is_write,
            "restore" => everywhere,
            "readWrite" | "dbOwner" => role.database == database,
            "dbAdmin" | "userAdmin" => role.database == database,
            "dbAdminAnyDatabase" | "userAdminAnyDatabase" | "clusterAdmin" => everywhere,
            "read" => role.database == database && !is_write,
            "clusterMonitor" => everywhere && !is_write,
            _ => false,
        }
    })
}

fn item_id(database: &str, name: &str) -> String {
    URL_SAFE_NO_PAD.encode(format!("{database}.{name}"))
}

fn binary(bytes: &[u8]) -> Value {
    Value::Binary { subtype: 0, bytes: bytes.to_vec() }
}

fn write(id: &str, user: &Stored) -> Object {
    let credentials = user.accounts.iter().filter_map(|(name, account)| {
        let credential = account.credentials.first()?;
        let members = Object::from([
            ("iterationCount", Value::Int32(i32::try_from(account.iterations).ok()?)),
            ("salt", binary(&account.salt)),
            ("storedKey", binary(&credential.stored_key)),
            ("serverKey", binary(&credential.server_key)),
        ]);
        Some(((*name).to_owned(), Value::Object(members)))
    });
    let roles = user.roles.iter().map(|role| Value::Object(role_object(role)));
    Object::from([
        ("id", Value::from(id)),
        ("db", Value::from(user.database.as_str())),
        ("user", Value::from(user.name.as_str())),
        ("roles", Value::Array(roles.collect())),
        ("credentials", Value::Object(credentials.collect())),
        ("customData", user.custom.clone().map_or(Value::Null, Value::Object)),
        ("userId", Value::Binary { subtype: 4, bytes: user.uuid.to_vec() }),
    ])
}

/// Returns a role as it is shown.
pub(crate) fn role_object(role: &Role) -> Object {
    Object::from([("role", role.name.as_str()), ("db", role.database.as_str())])
}

fn read(value: &Value) -> Option<Stored> {
    let bytes = |value: &Value| match value {
        Value::Binary { bytes, .. } => Some(bytes.clone()),
        _ => None,
    };
    let database = value.get("db")?.as_str()?.to_owned();
    let mut accounts = HashMap::new();
    for (name, members) in value.get("credentials")?.as_object()?.iter() {
        let mechanism = Mechanism::from_name(name)?;
        let credential = Credential {
            stored_key: bytes(members.get("storedKey")?)?,
            server_key: bytes(members.get("serverKey")?)?,
        };
        let account = Account {
            salt: bytes(members.get("salt")?)?,
            iterations: u32::try_from(members.get("iterationCount")?.as_i64()?).ok()?,
            credentials: vec![credential],
        };
        accounts.insert(mechanism.name(), account);
    }
    Some(Stored {
        name: value.get("user")?.as_str()?.to_owned(),
        roles: read_roles(value.get("roles")?.as_array()?, &database).ok()?,
        accounts,
        custom: value.get("customData").and_then(Value::as_object).cloned(),
        uuid: bytes(value.get("userId")?)?.try_into().ok()?,
        database,
    })
}

/// Says whether the client of a connection may write at all.
pub(crate) fn may_write(connection: &crate::connection::Connection) -> bool {
    connection.user.as_ref().is_some_and(|user| matches!(user.access, Access::Full))
}
