//! A request as handlers see it.

use std::sync::Arc;

use armilla_engine::{Access, Caller, ContainerHandle, Engine, ErrorKind};
use armilla_value::{Component, PartitionKey};
use bytes::Bytes;
use http::HeaderMap;

use crate::Shared;
use crate::auth::{Operation, Permit, Principal};
use crate::entity::MetadataLevel;
use crate::failure::{Failure, Kind};
use crate::headers::{self, Verb};
use crate::options::Flavour;
use crate::parameters::Parameters;
use crate::table_name::{self, TableNameError};
use crate::tables;

/// A request that was let in.
pub(crate) struct Request<'r> {
    pub(crate) shared: &'r Shared,
    pub(crate) flavour: Flavour,
    pub(crate) verb: Verb,
    pub(crate) headers: &'r HeaderMap,
    pub(crate) parameters: &'r Parameters,
    pub(crate) body: Bytes,
    /// What the one who asks may do.
    pub(crate) permit: &'r Permit,
    /// The name by which they know the account.
    pub(crate) account: &'r str,
    /// What stands before the name of a table in the addresses that they are given: with a slash at the end.
    pub(crate) base_url: &'r str,
    /// What stands in their paths before the resource: nothing, or a slash and the account.
    pub(crate) path_prefix: &'r str,
    /// What the request is called.
    pub(crate) request_id: &'r str,
}

/// A table that a request found.
pub(crate) struct Table {
    /// Its name as it was created.
    pub(crate) name: String,
    pub(crate) container: Arc<ContainerHandle>,
}

impl Request<'_> {
    /// Returns which of the services it is.
    pub(crate) fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Returns the engine.
    pub(crate) fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    /// Returns the caller for the engine. What a signature for some operations permits was checked before.
    pub(crate) fn caller(&self) -> Caller {
        let access = match self.permit.principal {
            Principal::Full | Principal::Sas(_) => Access::Full,
            Principal::ReadOnly => Access::ReadOnly,
        };
        Caller { access, ..Caller::full() }
    }

    /// Refuses what the one who asks may not do.
    pub(crate) fn allow(
        &self,
        operation: Operation,
        table: Option<&str>,
        keys: Option<(&str, &str)>,
    ) -> Result<(), Failure> {
        self.permit.allows(operation, table, keys).map_err(Failure::from)
    }

    /// Returns how much of the answer is to be about its data.
    pub(crate) fn metadata_level(&self) -> Result<MetadataLevel, Failure> {
        headers::metadata_level(self.headers, self.parameters.format.as_deref())
    }

    /// Finds a table.
    pub(crate) fn table(&self, name: &str) -> Result<Table, Failure> {
        match tables::find(self.shared, self.flavour, name)? {
            Some(table) => Ok(table),
            // A name that no table can have is told as such, since clients look for it.
            None => Err(table_name::check(name, self.flavour())
                .map_or_else(of_missing, |()| Kind::TableMissing)
                .into()),
        }
    }
}

/// Tells of a table that is not there and cannot be. Where names may be of any length, one that is too long is just
/// not there.
fn of_missing(error: TableNameError) -> Kind {
    match error {
        TableNameError::Length => Kind::TableMissing,
        error => Kind::TableName(error),
    }
}

/// Returns the logical partition of a partition key.
pub(crate) fn logical_partition(partition_key: &str) -> PartitionKey {
    PartitionKey(vec![Component::String(partition_key.to_owned())])
}

/// Says of an entity that is not there just that, and not what the engine calls it.
pub(crate) fn is_missing_item(error: &armilla_engine::Error) -> bool {
    matches!(error.kind, ErrorKind::NotFound(armilla_engine::ResourceKind::Item))
}
