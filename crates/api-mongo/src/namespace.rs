//! Names of databases and collections.

use armilla_mongo_expression::codes;

use crate::failure::{Failure, Result};
use crate::limits::{DATABASE_NAME_BYTES_MAX, NAMESPACE_BYTES_MAX};

/// A database and a collection in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Namespace {
    pub(crate) database: String,
    pub(crate) collection: String,
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.database, self.collection)
    }
}

impl Namespace {
    /// Names a collection, if it can have that name.
    pub(crate) fn new(database: &str, collection: &str) -> Result<Namespace> {
        check_database(database)?;
        let namespace = Namespace { database: database.to_owned(), collection: collection.to_owned() };
        let wrong = if collection.is_empty() {
            Some("has no collection")
        } else if database.len() + 1 + collection.len() > NAMESPACE_BYTES_MAX {
            Some("is longer than 255 bytes")
        } else if collection.starts_with('.') || collection.ends_with('.') {
            Some("has a dot at an end of its collection")
        } else if collection.contains(['$', '\0']) {
            Some("has a character that names cannot have")
        } else {
            None
        };
        match wrong {
            Some(wrong) => Err(invalid(&format!("Invalid namespace specified '{namespace}': it {wrong}"))),
            None => Ok(namespace),
        }
    }

    /// Says whether it is one of those in which the server keeps users and descriptions: no data command writes them.
    pub(crate) fn is_kept_by_the_server(&self) -> bool {
        self.database == "admin" && matches!(self.collection.as_str(), "system.users" | "system.collections")
    }

    /// Reads `database.collection`.
    pub(crate) fn parse(text: &str) -> Result<Namespace> {
        match text.split_once('.') {
            Some((database, collection)) => Namespace::new(database, collection),
            None => Err(invalid(&format!("Invalid namespace specified '{text}'"))),
        }
    }

    /// Refuses a name that containers cannot have, although collections might.
    pub(crate) fn check_creatable(&self) -> Result<()> {
        if self.collection.starts_with("system.")
            && !matches!(self.database.as_str(), "admin" | "config" | "local")
        {
            let allowed = ["system.js", "system.users", "system.views", "system.profile"];
            if !allowed.contains(&self.collection.as_str()) {
                return Err(invalid(&format!("cannot write to '{self}': names with 'system.' are reserved")));
            }
        }
        if self.collection.contains(['/', '\\', '#', '?']) {
            return Err(invalid(&format!(
                "cannot create '{self}': names of containers have none of / \\ # ?, since other APIs address them by name"
            )));
        }
        Ok(())
    }
}

/// Refuses what cannot be the name of a database.
pub(crate) fn check_database(name: &str) -> Result<()> {
    let is_wrong = name.is_empty()
        || name.len() > DATABASE_NAME_BYTES_MAX
        || name.contains(['/', '\\', '.', ' ', '"', '$', '*', '<', '>', ':', '|', '?', '\0']);
    if is_wrong {
        return Err(invalid(&format!("Invalid database name: '{name}'")));
    }
    Ok(())
}

fn invalid(message: &str) -> Failure {
    Failure::new(codes::INVALID_NAMESPACE, message)
}
