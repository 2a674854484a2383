//! The resource tree in memory, and how it is changed.
//!
//! Readers take a short read lock. Changes go one at a time: check, write one batch to the root space, wait until it
//! is durable, then show it to readers. So a change that was answered is stored, and no reader sees one that is not.

mod apply;
mod change;
mod children;

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_container::SharedBudgets;
use armilla_value::rid::{ContainerRid, DatabaseRid, UserRid};

use crate::containers::ContainerHandle;
use crate::encryption_keys::EncryptionKey;
use crate::offers::Offer;
use crate::permissions::Permission;
use crate::record::Version;

pub(crate) use change::{Change, Writer, WriterGuard};
pub(crate) use children::{Children, Page, page_of};

/// The whole tree.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) databases: Children<Database>,
    pub(crate) offers: BTreeMap<u32, Offer>,
}

/// A database with what lies in it.
pub(crate) struct Database {
    pub(crate) rid: DatabaseRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    /// What the containers without throughput of their own share, if it was given some.
    pub(crate) shared: Option<Arc<SharedBudgets>>,
    pub(crate) containers: Children<Arc<ContainerHandle>>,
    pub(crate) users: Children<User>,
    pub(crate) encryption_keys: Children<EncryptionKey>,
}

/// A user with their permissions.
pub(crate) struct User {
    pub(crate) rid: UserRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) permissions: Children<Permission>,
}

impl Tree {
    /// Finds a database by its name, or by its resource id where no database has that name.
    pub(crate) fn database(&self, segment: &str) -> Option<&Database> {
        self.databases.get(segment).or_else(|| {
            let rid: DatabaseRid = DatabaseRid::parse(segment)?;
            self.databases.get_by_ordinal(u64::from(rid.number()))
        })
    }

    pub(crate) fn database_mut(&mut self, rid: DatabaseRid) -> Option<&mut Database> {
        self.databases.by_ordinal_mut(u64::from(rid.number()))
    }

    /// Finds the offer of a database or container.
    pub(crate) fn offer_of(&self, resource_rid: &str) -> Option<&Offer> {
        self.offers.values().find(|offer| offer.resource_rid == resource_rid)
    }
}

impl Database {
    /// Finds a container by its name, or by its resource id if the database was found by its own.
    pub(crate) fn container(&self, segment: &str, by_rid: bool) -> Option<&Arc<ContainerHandle>> {
        if !by_rid {
            return self.containers.get(segment);
        }
        let rid: ContainerRid = ContainerRid::parse(segment)?;
        self.containers.get_by_ordinal(u64::from(rid.number())).filter(|container| container.rid() == rid)
    }

    /// Whether a path segment names this database by its resource id.
    pub(crate) fn is_named_by_rid(&self, segment: &str) -> bool {
        self.id != segment
    }

    /// Finds a user by name or resource id.
    pub(crate) fn user(&self, segment: &str, by_rid: bool) -> Option<&User> {
        if !by_rid {
            return self.users.get(segment);
        }
        let rid: UserRid = UserRid::parse(segment)?;
        self.users.get_by_ordinal(u64::from(rid.number())).filter(|user| user.rid == rid)
    }
}
