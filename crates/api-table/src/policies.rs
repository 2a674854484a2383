//! The stored access policies of tables.
//!
//! They are kept by the resource id of the table's container, so that a table that is made again under an old name
//! does not inherit the policies of the one before.

use std::sync::Arc;

use armilla_engine::{ContainerHandle, Engine, Error};
use armilla_env::Env;

use crate::auth::AccessPolicy;
use crate::settings::Settings;
use crate::xml::{SignedIdentifier, read_signed_identifiers, write_signed_identifiers};

/// The stored access policies of all tables.
pub(crate) struct Policies {
    settings: Settings<Vec<SignedIdentifier>>,
}

impl Policies {
    /// Returns the policies that an engine keeps.
    pub(crate) fn new(engine: Engine, env: Env) -> Policies {
        let parse = |text: &str| read_signed_identifiers(text.as_bytes()).ok();
        Policies { settings: Settings::new(engine, env, parse) }
    }

    /// Reads the policies of a table.
    pub(crate) fn read(&self, table: &ContainerHandle) -> Result<Arc<Vec<SignedIdentifier>>, Error> {
        self.settings.read(&setting_id(table))
    }

    /// Finds a policy of a table by its name.
    pub(crate) fn find(&self, table: &ContainerHandle, id: &str) -> Result<Option<AccessPolicy>, Error> {
        let identifiers = self.read(table)?;
        let found = identifiers.iter().find(|identifier| identifier.id == id);
        Ok(found.map(|identifier| identifier.policy.clone()))
    }

    /// Replaces the policies of a table.
    pub(crate) async fn write(
        &self,
        table: &ContainerHandle,
        identifiers: Vec<SignedIdentifier>,
    ) -> Result<(), Error> {
        let id = setting_id(table);
        if identifiers.is_empty() {
            return self.settings.remove(&id).await;
        }
        let text = String::from_utf8_lossy(&write_signed_identifiers(&identifiers, false)).into_owned();
        self.settings.write(&id, text, identifiers).await
    }

    /// Forgets the policies of a table that was deleted. Nobody can use them any more, so it does not matter much
    /// whether that succeeds.
    pub(crate) async fn forget(&self, table: &ContainerHandle) {
        if let Err(error) = self.settings.remove(&setting_id(table)).await {
            tracing::debug!(
                table = table.id(),
                error = error.message,
                "the policies of a deleted table stay behind"
            );
        }
    }
}

fn setting_id(table: &ContainerHandle) -> String {
    format!("policies-{}", table.rid())
}

#[cfg(test)]
mod tests;
