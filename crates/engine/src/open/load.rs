//! Putting the resource tree together from its records.

use std::collections::HashSet;
use std::sync::Arc;

use armilla_container::SharedBudgets;
use armilla_kv::SpaceId;
use armilla_value::rid::{ContainerRid, DatabaseRid, PermissionRid, UserRid};
use bytes::Bytes;

use crate::containers::ground::Ground;
use crate::encryption_keys::EncryptionKey;
use crate::error::{Error, ErrorKind, Result};
use crate::key_deletion::DeletionRecord;
use crate::offers::Offer;
use crate::permissions::Permission;
use crate::record::{Record, TreeCounters, tag};
use crate::scripts::{self, ScriptKind, StoredScript};
use crate::tree::{Children, Database, Tree, User};

/// Puts the tree together from its records, which come in the order of their keys: containers (`k`) after
/// databases (`d`) like client encryption keys (`e`), scripts (`f`, `r`, `t`) before or after containers, permissions (`p`) before users (`u`),
/// deletions of partition keys (`y`) after containers.
pub(super) struct Loader {
    ground: Ground,
    tree: Tree,
    counters: TreeCounters,
    scripts: Vec<StoredScript>,
    permissions: Vec<Permission>,
    pub(super) to_drop: Vec<SpaceId>,
}

impl Loader {
    pub(super) fn new(ground: Ground) -> Loader {
        Loader {
            ground,
            tree: Tree::default(),
            counters: TreeCounters::default(),
            scripts: Vec::new(),
            permissions: Vec::new(),
            to_drop: Vec::new(),
        }
    }

    pub(super) fn load(&mut self, key: &Bytes, value: &Bytes) -> Result<()> {
        let damaged =
            || Error::new(ErrorKind::Corrupt, format!("the tree has a record with the unknown key {key:?}"));
        let (tag, rest) = key.split_first().ok_or_else(damaged)?;
        let text = || std::str::from_utf8(rest).ok();
        match *tag {
            tag::COUNTERS => self.counters = TreeCounters::decode(value)?,
            tag::SECRET => {}
            tag::DATABASE => {
                let rid = text().and_then(DatabaseRid::parse).ok_or_else(damaged)?;
                let record = Record::decode(value, "a database")?;
                let id = record.text("id")?;
                let database = Database {
                    rid,
                    id: id.clone(),
                    version: record.version()?,
                    shared: None,
                    containers: Children::default(),
                    users: Children::default(),
                    encryption_keys: Children::default(),
                };
                self.tree.databases.insert(&id, u64::from(rid.number()), database);
            }
            tag::CONTAINER => {
                let rid = text().and_then(ContainerRid::parse).ok_or_else(damaged)?;
                let database =
                    self.tree.database_mut(rid.database()).ok_or_else(|| orphan("container", rid))?;
                let handle = self.ground.container(rid, value, &database.id)?;
                let id = handle.id().to_owned();
                database.containers.insert(&id, u64::from(rid.number()), Arc::new(handle));
            }
            tag::USER_FUNCTION | tag::STORED_PROCEDURE | tag::TRIGGER => {
                let kind = ScriptKind::of_record_tag(*tag).ok_or_else(damaged)?;
                let rid = text().and_then(|text| scripts::parse_rid(kind, text)).ok_or_else(damaged)?;
                self.scripts.push(StoredScript::decode(kind, rid, value)?);
            }
            tag::OFFER => {
                let ordinal = u32::from_be_bytes(rest.try_into().map_err(|_| damaged())?);
                self.tree.offers.insert(ordinal, Offer::decode(ordinal, value)?);
            }
            tag::ENCRYPTION_KEY => {
                let rid = text().and_then(UserRid::parse).ok_or_else(damaged)?;
                let key = EncryptionKey::decode(rid, value)?;
                let database = self.tree.database_mut(rid.database());
                let database = database.ok_or_else(|| orphan("client encryption key", rid))?;
                database.encryption_keys.insert(&key.id.clone(), u64::from(rid.number()), key);
            }
            tag::USER => {
                let rid = text().and_then(UserRid::parse).ok_or_else(damaged)?;
                let record = Record::decode(value, "a user")?;
                let id = record.text("id")?;
                let user = User {
                    rid,
                    id: id.clone(),
                    version: record.version()?,
                    permissions: Children::default(),
                };
                let database = self.tree.database_mut(rid.database()).ok_or_else(|| orphan("user", rid))?;
                database.users.insert(&id, u64::from(rid.number()), user);
            }
            tag::PERMISSION => {
                let rid = text().and_then(PermissionRid::parse).ok_or_else(damaged)?;
                self.permissions.push(Permission::decode(rid, value)?);
            }
            tag::SPACE_TO_DROP => {
                self.to_drop.push(SpaceId(u64::from_be_bytes(rest.try_into().map_err(|_| damaged())?)));
            }
            tag::KEY_DELETION => {
                let DeletionRecord { container: rid, partition_key, lsn } = DeletionRecord::decode(value)?;
                let database = self.tree.database_mut(rid.database());
                let container =
                    database.and_then(|database| database.containers.get_by_ordinal(u64::from(rid.number())));
                // Without its container there is nothing to delete.
                if let Some(container) = container {
                    container.container().hide_key(&partition_key, lsn)?;
                }
            }
            _ => return Err(damaged()),
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(Tree, TreeCounters)> {
        for permission in std::mem::take(&mut self.permissions) {
            let rid = permission.rid;
            let user_rid = rid.user();
            let user = self
                .tree
                .database_mut(user_rid.database())
                .and_then(|database| database.users.by_ordinal_mut(u64::from(user_rid.number())))
                .ok_or_else(|| orphan("permission", rid))?;
            let id = permission.id.clone();
            user.permissions.insert(&id, rid.number(), permission);
        }
        for script in std::mem::take(&mut self.scripts) {
            let rid = script.rid;
            let container_rid = rid.container();
            let container = self
                .tree
                .database_mut(container_rid.database())
                .and_then(|database| database.containers.get_by_ordinal(u64::from(container_rid.number())))
                .ok_or_else(|| orphan(script.kind.noun(), rid))?;
            let id = script.id.clone();
            container.scripts().of_mut(script.kind).insert(&id, rid.number(), script);
        }
        self.supply();
        Ok((self.tree, self.counters))
    }

    /// Gives containers the throughput that the offers say.
    fn supply(&mut self) {
        let owners: HashSet<&str> = self.tree.offers.values().map(|offer| &*offer.resource_rid).collect();
        for database in self.tree.databases.iter() {
            if owners.contains(&*database.rid.to_string()) {
                let sharing = database
                    .containers
                    .iter()
                    .filter(|container| !owners.contains(&*container.rid().to_string()));
                sharing.for_each(|container| container.share());
            }
        }
        let now_ms = self.ground.env.clock.now_ms();
        let offers: Vec<Offer> = self.tree.offers.values().cloned().collect();
        for offer in offers {
            let database =
                DatabaseRid::parse(&offer.resource_rid).and_then(|rid| self.tree.database_mut(rid));
            if let Some(database) = database {
                let budgets =
                    SharedBudgets::new(offer.throughput.max(), &self.ground.limits, self.ground.policy);
                database.shared = Some(Arc::new(budgets));
            }
            self.tree.supply(&offer, &self.ground.limits, now_ms);
        }
    }
}

fn orphan(kind: &str, rid: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the {kind} {rid} lies in nothing"))
}
