//! Databases.

use armilla_container::ETag;
use std::sync::Arc;

use armilla_kv::SpaceId;
use armilla_value::rid::DatabaseRid;

use crate::access::{Action, Caller};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::key_deletion;
use crate::offers::Offer;
use crate::record::{self, Version, tag};
use crate::resource::{
    self, Answer, Content, Feed, Resource, ResourceKind, ResourcePrecondition, check_id, check_modified, etag,
};
use crate::throughput::Throughput;
use crate::tree::{Change, Children, Database, Page};

impl Database {
    pub(crate) fn self_link(&self) -> String {
        format!("dbs/{}/", self.rid)
    }

    fn resource(&self) -> Resource {
        Resource {
            kind: ResourceKind::Database,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: String::new(),
            self_link: self.self_link(),
            etag: etag(ResourceKind::Database, self.version),
            ts: self.version.ts,
            content: Content::Database,
        }
    }
}

impl Engine {
    /// Creates a database, with throughput of its own where some is given.
    pub async fn create_database(
        &self,
        caller: &Caller,
        id: &str,
        throughput: Option<Throughput>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        check_id(ResourceKind::Database, id)?;
        if let Some(throughput) = throughput {
            throughput.validate()?;
        }
        let mut writer = self.writer().await?;
        if self.tree().databases.contains(id) {
            return Err(Error::exists(ResourceKind::Database, id));
        }
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.counters.database += 1;
        let rid = DatabaseRid::new(change.counters.database)
            .ok_or_else(|| Error::invalid("the account has no resource ids for databases left"))?;
        let database = Database {
            rid,
            id: id.to_owned(),
            version: change.version,
            shared: throughput.map(|throughput| Arc::new(self.shared_budgets(throughput.max()))),
            containers: Children::default(),
            users: Children::default(),
            encryption_keys: Children::default(),
        };
        change.put(record::key(tag::DATABASE, rid.to_string().as_bytes()), encode(id, change.version));
        let offer = match throughput {
            Some(throughput) => {
                Some(Offer::create(&mut change, &database.self_link(), &rid.to_string(), throughput)?)
            }
            None => None,
        };
        change.commit().await?;
        let answer = resource::written(database.resource());
        let mut tree = self.tree_mut();
        tree.databases.insert(id, u64::from(rid.number()), database);
        tree.offers.extend(offer.map(|offer| (offer.number, offer)));
        Ok(answer)
    }

    /// Reads a database. `known` is the version that the caller holds already.
    pub fn read_database(
        &self,
        caller: &Caller,
        database: &str,
        known: Option<ETag>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let tree = self.tree();
        let found =
            tree.database(database).ok_or_else(|| Error::not_found(ResourceKind::Database, database))?;
        check_modified(known, etag(ResourceKind::Database, found.version))?;
        Ok(resource::read(found.resource()))
    }

    /// Lists the databases, oldest first.
    pub fn list_databases(
        &self,
        caller: &Caller,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let tree = self.tree();
        let (databases, continuation) = tree.databases.page(&Page::new(count_max, continuation)?);
        let resources = databases.into_iter().map(Database::resource).collect();
        Ok(resource::feed(String::new(), resources, continuation))
    }

    /// Deletes a database with everything in it.
    pub async fn delete_database(
        &self,
        caller: &Caller,
        database: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<()>> {
        caller.access.check_account(Action::Write)?;
        let known: Vec<_> = {
            let tree = self.tree();
            let found = tree.database(database);
            found.into_iter().flat_map(|found| found.containers.iter().cloned()).collect()
        };
        let newest = self.ask_newest(&known).await;
        let mut writer = self.writer().await?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let mut spaces: Vec<SpaceId> = Vec::new();
        let mut offers = Vec::new();
        let id = {
            let tree = self.tree();
            let found =
                tree.database(database).ok_or_else(|| Error::not_found(ResourceKind::Database, database))?;
            precondition.check(etag(ResourceKind::Database, found.version))?;
            change.delete(record::key(tag::DATABASE, found.rid.to_string().as_bytes()));
            let mut rids = vec![found.rid.to_string()];
            for container in found.containers.iter() {
                let rid = container.rid().to_string();
                change.delete(record::key(tag::CONTAINER, rid.as_bytes()));
                rids.push(rid);
                for key in container.scripts().record_keys() {
                    change.delete(key);
                }
                key_deletion::forget(&mut change, container);
                change.raise_lsn_floor(newest.bound_of(container));
                spaces.extend(container.container().map().ranges.iter().map(|range| range.space));
            }
            for key in found.encryption_keys.iter() {
                change.delete(key.key());
            }
            for user in found.users.iter() {
                change.delete(record::key(tag::USER, user.rid.to_string().as_bytes()));
                for permission in user.permissions.iter() {
                    change.delete(record::key(tag::PERMISSION, permission.rid.to_string().as_bytes()));
                }
            }
            for offer in tree.offers.values().filter(|offer| rids.contains(&offer.resource_rid)) {
                change.delete(Offer::key(offer.number));
                offers.push(offer.number);
            }
            found.id.clone()
        };
        for space in &spaces {
            change.drop_space(*space);
        }
        change.commit().await?;
        {
            let mut tree = self.tree_mut();
            if let Some(removed) = tree.databases.remove(&id) {
                for container in removed.containers.iter() {
                    container.mark_deleted();
                    self.ledger().forget_container(container.number());
                }
            }
            tree.offers.retain(|number, _| !offers.contains(number));
        }
        drop(writer);
        self.drop_spaces(&spaces).await?;
        Ok(resource::deleted())
    }
}

fn encode(id: &str, version: Version) -> bytes::Bytes {
    let mut object = record::begin(version);
    object.insert("id", id);
    record::encode(object)
}
