//! Showing what another process has changed in the resource tree.
//!
//! Records of what is gone come first, and of these what lies in something before what it lies in; then those that were
//! written, the other way round. So a name that one resource has given up is free for the next.

use std::sync::Arc;

use armilla_container::{Range, SharedBudgets, Whereabouts};
use armilla_kv::SpaceId;
use armilla_value::rid::{ContainerRid, DatabaseRid, PermissionRid, UserRid};
use bytes::Bytes;

use super::{Children, Database, User};
use crate::among::Copied;
use crate::containers::ContainerHandle;
use crate::encryption_keys::EncryptionKey;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::key_deletion::DeletionRecord;
use crate::offers::Offer;
use crate::permissions::Permission;
use crate::record::{Record, tag};
use crate::scripts::{self, ScriptKind, StoredScript};

/// Kinds of records in the order in which they are shown: what lies in something after what it lies in.
fn rank(key: &[u8]) -> u8 {
    match key.first().copied().unwrap_or_default() {
        tag::DATABASE => 0,
        tag::CONTAINER => 1,
        tag::OFFER | tag::USER | tag::ENCRYPTION_KEY => 2,
        _ => 3,
    }
}

fn damaged(key: &Bytes) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the tree has a record with the unknown key {key:?}"))
}

impl Engine {
    /// Shows changes that another process has stored.
    pub(crate) fn apply(&self, changed: &[Copied]) -> Result<()> {
        let (mut gone, mut written): (Vec<&Copied>, Vec<&Copied>) =
            changed.iter().partition(|changed| changed.after.is_none());
        gone.sort_by_key(|changed| std::cmp::Reverse(rank(&changed.key)));
        written.sort_by_key(|changed| rank(&changed.key));
        for Copied { key, before, .. } in gone {
            self.apply_removal(key, before.as_ref())?;
        }
        for Copied { key, after, .. } in written {
            if let Some(value) = after {
                self.apply_record(key, value)?;
            }
        }
        Ok(())
    }

    /// Returns a container by its resource id.
    pub(crate) fn container_by_rid(&self, rid: ContainerRid) -> Option<Arc<ContainerHandle>> {
        let tree = self.tree();
        let database = tree.databases.get_by_ordinal(u64::from(rid.database().number()))?;
        database.containers.get_by_ordinal(u64::from(rid.number())).cloned()
    }

    fn apply_record(&self, key: &Bytes, value: &Bytes) -> Result<()> {
        let (kind, rest) = key.split_first().ok_or_else(|| damaged(key))?;
        let text = || std::str::from_utf8(rest).ok();
        let unknown = || damaged(key);
        match *kind {
            tag::COUNTERS | tag::SECRET | tag::SPACE_TO_DROP => {}
            tag::DATABASE => {
                let rid: DatabaseRid = text().and_then(DatabaseRid::parse).ok_or_else(unknown)?;
                let record = Record::decode(value, "a database")?;
                let (id, version) = (record.text("id")?, record.version()?);
                let mut tree = self.tree_mut();
                if let Some(known) = tree.database_mut(rid) {
                    known.version = version;
                    return Ok(());
                }
                let database = Database {
                    rid,
                    id: id.clone(),
                    version,
                    shared: None,
                    containers: Children::default(),
                    users: Children::default(),
                    encryption_keys: Children::default(),
                };
                tree.databases.insert(&id, u64::from(rid.number()), database);
            }
            tag::CONTAINER => {
                let rid = text().and_then(ContainerRid::parse).ok_or_else(unknown)?;
                self.apply_container(rid, value)?;
            }
            tag::USER_FUNCTION | tag::STORED_PROCEDURE | tag::TRIGGER => {
                let kind = ScriptKind::of_record_tag(*kind).ok_or_else(unknown)?;
                let rid = text().and_then(|text| scripts::parse_rid(kind, text)).ok_or_else(unknown)?;
                let script = StoredScript::decode(kind, rid, value)?;
                let Some(container) = self.container_by_rid(rid.container()) else { return Ok(()) };
                let mut scripts = container.scripts().of_mut(kind);
                scripts.remove_ordinal(rid.number());
                scripts.insert(&script.id.clone(), rid.number(), script);
            }
            tag::OFFER => {
                let number = u32::from_be_bytes(rest.try_into().map_err(|_| unknown())?);
                self.apply_offer(Offer::decode(number, value)?);
            }
            tag::ENCRYPTION_KEY => {
                let rid = text().and_then(UserRid::parse).ok_or_else(unknown)?;
                let encryption_key = EncryptionKey::decode(rid, value)?;
                if let Some(database) = self.tree_mut().database_mut(rid.database()) {
                    let ordinal = u64::from(rid.number());
                    database.encryption_keys.remove_ordinal(ordinal);
                    database.encryption_keys.insert(&encryption_key.id.clone(), ordinal, encryption_key);
                }
            }
            tag::USER => {
                let rid: UserRid = text().and_then(UserRid::parse).ok_or_else(unknown)?;
                let record = Record::decode(value, "a user")?;
                let (id, version) = (record.text("id")?, record.version()?);
                if let Some(database) = self.tree_mut().database_mut(rid.database()) {
                    let ordinal = u64::from(rid.number());
                    let known = database.users.remove_ordinal(ordinal);
                    let permissions = known.map(|user| user.permissions).unwrap_or_default();
                    let user = User { rid, id: id.clone(), version, permissions };
                    database.users.insert(&id, ordinal, user);
                }
            }
            tag::PERMISSION => {
                let rid: PermissionRid = text().and_then(PermissionRid::parse).ok_or_else(unknown)?;
                let permission = Permission::decode(rid, value)?;
                let mut tree = self.tree_mut();
                let user = tree
                    .database_mut(rid.user().database())
                    .and_then(|database| database.users.by_ordinal_mut(u64::from(rid.user().number())));
                if let Some(user) = user {
                    user.permissions.remove_ordinal(rid.number());
                    user.permissions.insert(&permission.id.clone(), rid.number(), permission);
                }
            }
            tag::KEY_DELETION => {
                let DeletionRecord { container, partition_key, lsn } = DeletionRecord::decode(value)?;
                if let Some(container) = self.container_by_rid(container) {
                    container.container().hide_key(&partition_key, lsn)?;
                }
            }
            _ => return Err(unknown()),
        }
        Ok(())
    }

    fn apply_container(&self, rid: ContainerRid, value: &Bytes) -> Result<()> {
        if let Some(known) = self.container_by_rid(rid) {
            return known.take_record(value);
        }
        let ground = self.ground();
        let handle = {
            let mut tree = self.tree_mut();
            let Some(database) = tree.database_mut(rid.database()) else { return Ok(()) };
            let handle = Arc::new(ground.container(rid, value, &database.id)?);
            database.containers.insert(handle.id(), u64::from(rid.number()), handle.clone());
            let owner = database.rid.to_string();
            // An offer of its own comes behind it, and says so.
            if tree.offer_of(&owner).is_some() {
                handle.share();
                if let Some(offer) = tree.offer_of(&owner).cloned() {
                    tree.supply(&offer, self.limits(), self.env().clock.now_ms());
                }
            }
            handle
        };
        self.start_background_work(&handle);
        Ok(())
    }

    fn apply_offer(&self, offer: Offer) {
        let mut tree = self.tree_mut();
        let of_database = DatabaseRid::parse(&offer.resource_rid).and_then(|rid| tree.database_mut(rid));
        if let Some(database) = of_database
            && database.shared.is_none()
        {
            database.shared =
                Some(Arc::new(SharedBudgets::new(offer.throughput.max(), self.limits(), self.policy())));
        }
        for container in tree.containers_of(&offer) {
            if ContainerRid::parse(&offer.resource_rid).is_some() {
                container.share_no_more();
            }
        }
        tree.supply(&offer, self.limits(), self.env().clock.now_ms());
        tree.offers.insert(offer.number, offer);
    }

    fn apply_removal(&self, key: &Bytes, before: Option<&Bytes>) -> Result<()> {
        let (kind, rest) = key.split_first().ok_or_else(|| damaged(key))?;
        let text = || std::str::from_utf8(rest).ok();
        let unknown = || damaged(key);
        match *kind {
            tag::DATABASE => {
                let rid: DatabaseRid = text().and_then(DatabaseRid::parse).ok_or_else(unknown)?;
                let removed = self.tree_mut().databases.remove_ordinal(u64::from(rid.number()));
                for container in removed.iter().flat_map(|database| database.containers.iter()) {
                    self.end_container(container);
                }
            }
            tag::CONTAINER => {
                let rid: ContainerRid = text().and_then(ContainerRid::parse).ok_or_else(unknown)?;
                let removed = self
                    .tree_mut()
                    .database_mut(rid.database())
                    .and_then(|database| database.containers.remove_ordinal(u64::from(rid.number())));
                if let Some(container) = removed {
                    self.end_container(&container);
                }
            }
            tag::USER_FUNCTION | tag::STORED_PROCEDURE | tag::TRIGGER => {
                let kind = ScriptKind::of_record_tag(*kind).ok_or_else(unknown)?;
                let rid = text().and_then(|text| scripts::parse_rid(kind, text)).ok_or_else(unknown)?;
                if let Some(container) = self.container_by_rid(rid.container()) {
                    container.scripts().of_mut(kind).remove_ordinal(rid.number());
                }
            }
            tag::OFFER => {
                let number = u32::from_be_bytes(rest.try_into().map_err(|_| unknown())?);
                self.tree_mut().offers.remove(&number);
            }
            tag::ENCRYPTION_KEY => {
                let rid: UserRid = text().and_then(UserRid::parse).ok_or_else(unknown)?;
                if let Some(database) = self.tree_mut().database_mut(rid.database()) {
                    database.encryption_keys.remove_ordinal(u64::from(rid.number()));
                }
            }
            tag::USER => {
                let rid: UserRid = text().and_then(UserRid::parse).ok_or_else(unknown)?;
                if let Some(database) = self.tree_mut().database_mut(rid.database()) {
                    database.users.remove_ordinal(u64::from(rid.number()));
                }
            }
            tag::PERMISSION => {
                let rid: PermissionRid = text().and_then(PermissionRid::parse).ok_or_else(unknown)?;
                let mut tree = self.tree_mut();
                let user = tree
                    .database_mut(rid.user().database())
                    .and_then(|database| database.users.by_ordinal_mut(u64::from(rid.user().number())));
                if let Some(user) = user {
                    user.permissions.remove_ordinal(rid.number());
                }
            }
            tag::KEY_DELETION => {
                let Some(before) = before else { return Ok(()) };
                let DeletionRecord { container, partition_key, lsn } = DeletionRecord::decode(before)?;
                if let Some(container) = self.container_by_rid(container) {
                    container.container().forget_deleted_key(&partition_key, lsn)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends a container that another process has deleted.
    fn end_container(&self, container: &Arc<ContainerHandle>) {
        container.mark_deleted();
        self.ledger().forget_container(container.number());
        let map = container.container().map();
        let is_own = |range: &&Range| container.container().has_opened(range.id) || self.is_here(range.space);
        let own: Vec<SpaceId> = map.ranges.iter().filter(is_own).map(|range| range.space).collect();
        if own.is_empty() {
            return;
        }
        let (container, engine) = (container.clone(), self.downgrade());
        // Each process drops what it had of it.
        drop(tokio::spawn(async move {
            container.container().release(&own).await;
            let Some(engine) = engine.upgrade() else { return };
            if let Err(error) = engine.drop_spaces(&own).await {
                tracing::info!(%error, "what a deleted container held is not dropped yet");
            }
        }));
    }

    fn is_here(&self, space: SpaceId) -> bool {
        self.among().is_some_and(|among| matches!(among.nodes().find(space), Whereabouts::Here { .. }))
    }
}
