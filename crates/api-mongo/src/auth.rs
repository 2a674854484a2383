//! Logging in: with a key of the account, or as a user of a database.

use std::collections::HashMap;
use std::num::NonZeroU32;

use armilla_engine::Access;
use armilla_mongo_expression::codes;
use armilla_mongo_wire::scram::{Account, Mechanism, ScramError, ServerConversation, nonce_text, salt_of};
use armilla_value::{Object, Value};
use parking_lot::Mutex;

use crate::Shared;
use crate::connection::{Connection, Login, LoginStep, Role, User};
use crate::failure::{Failure, Result};
use crate::limits::DERIVED_KEYS_MAX;
use crate::options::MongoApiOptions;

/// The keys of the account, and what was derived from them.
pub(crate) struct Keys {
    account: String,
    keys: Vec<String>,
    read_only_from: usize,
    derived: Mutex<HashMap<&'static str, Account>>,
}

impl Keys {
    pub(crate) fn new(options: &MongoApiOptions) -> Keys {
        let mut keys = options.keys.clone();
        let read_only_from = keys.len();
        keys.extend(options.read_only_keys.iter().cloned());
        Keys { account: options.account.clone(), keys, read_only_from, derived: Mutex::default() }
    }

    /// Returns what salts are made from.
    pub(crate) fn secret(&self) -> &[u8] {
        self.keys.first().map_or(&[], |key| key.as_bytes())
    }

    /// Returns the account, if it is the one. The first login of each kind derives, which takes a few milliseconds.
    fn account(&self, mechanism: Mechanism, user: &str) -> Option<Account> {
        if user != self.account {
            return None;
        }
        let mut derived = self.derived.lock();
        if let Some(account) = derived.get(mechanism.name()) {
            return Some(account.clone());
        }
        let passwords: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        let salt = salt_of(mechanism, user, self.secret());
        let iterations = NonZeroU32::new(mechanism.default_iterations())?;
        let account = Account::derive(mechanism, user, &passwords, &salt, iterations).ok()?;
        if derived.len() < DERIVED_KEYS_MAX {
            derived.insert(mechanism.name(), account.clone());
        }
        Some(account)
    }
}

/// Failures of all kinds look the same.
fn failed() -> Failure {
    Failure::new(codes::AUTHENTICATION_FAILED, "Authentication failed.")
}

/// Begins a login; returns the reply.
pub(crate) async fn start(
    shared: &Shared,
    connection: &mut Connection,
    database: &str,
    command: &Object,
) -> Result<Object> {
    let mechanism = command.get("mechanism").and_then(Value::as_str).unwrap_or_default();
    let Some(mechanism) = Mechanism::from_name(mechanism) else {
        return Err(Failure::new(
            codes::MECHANISM_UNAVAILABLE,
            format!("Received authentication for mechanism {mechanism} which is not enabled"),
        ));
    };
    let payload = payload(command)?;
    let mut nonce = [0; 24];
    shared.env.entropy.fill(&mut nonce);
    let name = user_name(&payload);
    // Users of databases are looked up before, since that may wait.
    let known = match &name {
        Some(name) if *name != shared.keys.account => match shared.users.find(database, name).await? {
            // A driver that guessed goes on with the mechanism that the user has.
            Some(user) => Some(user.accounts.get(mechanism.name()).cloned().ok_or_else(failed)?),
            None => None,
        },
        _ => None,
    };
    let lookup = |user: &str| shared.keys.account(mechanism, user).or(known);
    let started =
        ServerConversation::start(mechanism, &payload, lookup, &nonce_text(&nonce), shared.keys.secret());
    let (conversation, payload) = started.map_err(refused)?;
    let number = 1;
    let skips_empty = command
        .get("options")
        .and_then(|options| options.get("skipEmptyExchange"))
        .and_then(Value::as_bool)
        .unwrap_or(false);
    connection.login = Some(Login {
        number,
        database: database.to_owned(),
        conversation: LoginStep::Proof(Box::new(conversation)),
        skips_empty,
    });
    Ok(step(number, false, payload))
}

/// Goes on with a login.
pub(crate) async fn go_on(shared: &Shared, connection: &mut Connection, command: &Object) -> Result<Object> {
    let Some(login) = connection.login.take() else {
        return Err(Failure::new(codes::PROTOCOL_ERROR, "No SASL session state found"));
    };
    if command.get("conversationId").and_then(crate::arguments::number) != Some(i64::from(login.number)) {
        return Err(Failure::new(codes::PROTOCOL_ERROR, "sasl: Mismatched conversation id"));
    }
    let payload = payload(command)?;
    match login.conversation {
        LoginStep::Proof(conversation) => {
            let finished = conversation.finish(&payload).map_err(refused)?;
            let user = if finished.user == shared.keys.account {
                let is_read_only = finished.credential >= shared.keys.read_only_from;
                account_user(&shared.keys.account, is_read_only)
            } else {
                shared.users.user(&login.database, &finished.user).await?.ok_or_else(failed)?
            };
            if login.skips_empty {
                connection.user = Some(user);
                return Ok(step(login.number, true, finished.payload));
            }
            connection.login = Some(Login { conversation: LoginStep::Empty(Box::new(user)), ..login });
            Ok(step(login.number, false, finished.payload))
        }
        LoginStep::Empty(user) => {
            connection.user = Some(*user);
            Ok(step(login.number, true, Vec::new()))
        }
    }
}

/// Returns who the account itself is.
pub(crate) fn account_user(name: &str, is_read_only: bool) -> User {
    let (role, access) =
        if is_read_only { ("readAnyDatabase", Access::ReadOnly) } else { ("root", Access::Full) };
    User {
        name: name.to_owned(),
        database: "admin".to_owned(),
        roles: vec![Role { name: role.to_owned(), database: "admin".to_owned() }],
        access,
    }
}

fn step(number: i32, is_done: bool, payload: Vec<u8>) -> Object {
    Object::from([
        ("conversationId", Value::Int32(number)),
        ("done", Value::Bool(is_done)),
        ("payload", Value::Binary { subtype: 0, bytes: payload }),
    ])
}

fn payload(command: &Object) -> Result<Vec<u8>> {
    match command.get("payload") {
        Some(Value::Binary { bytes, .. }) => Ok(bytes.clone()),
        Some(Value::String(text)) => Ok(text.as_bytes().to_vec()),
        _ => Err(Failure::new(codes::TYPE_MISMATCH, "BSON field 'payload' must be binary data")),
    }
}

/// Returns the name in a client's first message, undone of its escapes.
fn user_name(payload: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(payload).ok()?;
    let name = text.split(',').find_map(|part| part.strip_prefix("n="))?;
    Some(name.replace("=2C", ",").replace("=3D", "="))
}

fn refused(error: ScramError) -> Failure {
    tracing::debug!("login refused: {error}");
    failed()
}
