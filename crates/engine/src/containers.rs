//! Containers: their definitions, and what is kept of them in memory.
//!
//! In this folder: what is kept of one in memory (`handle`), what all stand on (`ground`), how far one got that goes (`newest`), unique keys that come and go (`unique_keys`). Not here: their
//! partition maps (`ranges`), and how those change (`reshaping`).

pub(crate) mod ground;
mod handle;
mod newest;
pub(crate) mod unique_keys;

use std::sync::Arc;

use armilla_container::{
    Container, ContainerDefinition, ContainerIdentity, ETag, FIRST_MAP_VERSION, Limits, PartitionMap,
    ThroughputSource, initial_ranges,
};
use armilla_kv::SpaceId;
use armilla_value::rid::ContainerRid;

use crate::access::{Access, Action, Caller, outside};
use crate::computed;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::key_deletion;
use crate::offers::Offer;
use crate::record::{self, tag};
use crate::resource::{
    self, Answer, Feed, Resource, ResourceKind, ResourcePrecondition, check_id, check_modified, etag,
};
use crate::throughput::{Past, Throughput, initial_partitions, partitions_for};
use crate::tree::{Change, Page};
use handle::encode;

pub(crate) use handle::Common;
pub use handle::{ContainerHandle, Located, Usage};

impl Engine {
    /// Finds a container by name or by resource id.
    pub fn container(&self, database: &str, container: &str) -> Result<Located> {
        self.check_in_touch()?;
        let tree = self.tree();
        let owner = tree
            .database(database)
            .ok_or_else(|| Error::owner_not_found(ResourceKind::Database, database))?;
        let by_rid = owner.is_named_by_rid(database);
        let found = owner
            .container(container, by_rid)
            .ok_or_else(|| Error::owner_not_found(ResourceKind::Container, container))?;
        Ok(Located { container: found.clone(), by_rid })
    }

    /// Finds a container for a caller. A caller with a token for one is told the same of every other, whether it exists
    /// or not: a container that was made again under the same name is another.
    pub fn locate(&self, access: &Access, database: &str, container: &str) -> Result<Located> {
        let found = self.container(database, container);
        match access {
            Access::Full | Access::ReadOnly | Access::Role(_) => found,
            Access::Granted(grant) => {
                found.ok().filter(|found| found.container.rid() == grant.container).ok_or_else(outside)
            }
        }
    }

    /// Creates a container from its definition.
    pub async fn create_container(
        &self,
        caller: &Caller,
        database: &str,
        definition: ContainerDefinition,
        throughput: Option<Throughput>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        computed::compile(&definition)?;
        check_id(ResourceKind::Container, &definition.id)?;
        if let Some(throughput) = throughput {
            throughput.validate()?;
        }
        let mut writer = self.writer().await?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let (owner_rid, owner_id, shared, sharing) = {
            let tree = self.tree();
            let owner = tree
                .database(database)
                .ok_or_else(|| Error::owner_not_found(ResourceKind::Database, database))?;
            if owner.containers.contains(&definition.id) {
                return Err(Error::exists(ResourceKind::Container, &definition.id));
            }
            let shared = tree.offer_of(&owner.rid.to_string()).map(|offer| offer.throughput);
            let sharing = owner.containers.iter().filter(|container| container.is_sharing()).count();
            (owner.rid, owner.id.clone(), shared.zip(owner.shared.clone()), sharing)
        };
        let is_fixed = definition.is_fixed();
        if let (None, Some((shared, _))) = (throughput, &shared) {
            check_sharing(*shared, sharing, is_fixed, self.limits())?;
        }
        change.counters.container += 1;
        let rid = ContainerRid::new(owner_rid, change.counters.container);
        // A container without throughput of its own shares its database's, or gets the least there is.
        let own = throughput.or(if shared.is_none() { Some(Throughput::DEFAULT) } else { None });
        let provisioned = match (own, &shared) {
            (Some(own), _) => own,
            (None, Some((shared, _))) => *shared,
            (None, None) => Throughput::DEFAULT,
        };
        if is_fixed {
            provisioned.validate_fixed(self.limits())?;
        }
        let supply = match (own, shared) {
            (None, Some((_, budgets))) => ThroughputSource::Shared(budgets),
            _ => ThroughputSource::own(provisioned.max()),
        };
        let is_sharing = matches!(supply, ThroughputSource::Shared(_));
        let (version, ts) = (definition.partition_key.version, change.version.ts);
        let lsn_floor = change.counters.lsn_floor;
        // One without a key is one partition, whatever its throughput.
        let count = if is_fixed { 1 } else { initial_partitions(provisioned, is_sharing, self.limits()) };
        let ranges = initial_ranges(count, version, lsn_floor, ts, || {
            change.counters.space += 1;
            SpaceId(change.counters.space)
        });
        let map = PartitionMap { version: FIRST_MAP_VERSION, ranges };
        let record = encode(change.version, &definition, &map);
        change.put(record::key(tag::CONTAINER, rid.to_string().as_bytes()), record);
        let id = definition.id.clone();
        let evaluator = computed::evaluator(&definition);
        let container = Container::open(
            self.store().clone(),
            self.env().clone(),
            self.limits_arc().clone(),
            ContainerIdentity::new(rid),
            definition,
            evaluator,
            map,
            supply,
            self.policy(),
            self.shared.known_numbers.clone(),
            self.shared.among.as_ref().map(|among| among.peers()),
        );
        let common = self.shared.common.clone();
        let handle =
            ContainerHandle::new(rid, &id, &owner_id, change.version, container, self.limits(), common);
        if is_sharing {
            handle.share();
        }
        handle.want_partitions(partitions_for(provisioned.max(), self.limits()));
        let offer = match own {
            Some(throughput) => {
                Some(Offer::create(&mut change, &handle.self_link(), &rid.to_string(), throughput)?)
            }
            None => None,
        };
        change.commit().await?;
        let answer = resource::written(handle.resource());
        let mut tree = self.tree_mut();
        let owner = tree.database_mut(owner_rid).expect("databases go only with the writer's lock held");
        let handle = Arc::new(handle);
        self.start_background_work(&handle);
        owner.containers.insert(&id, u64::from(rid.number()), handle);
        tree.offers.extend(offer.map(|offer| (offer.number, offer)));
        Ok(answer)
    }

    /// Reads a container. `known` is the version that the caller holds already.
    pub fn read_container(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        known: Option<ETag>,
    ) -> Result<Answer<Resource>> {
        let located = self.locate(&caller.access, database, container).map_err(not_found_itself)?;
        let found = located.container;
        caller.access.check_container(Action::Read, found.rid())?;
        check_modified(known, etag(ResourceKind::Container, found.version()))?;
        Ok(resource::read(found.resource()))
    }

    /// Lists the containers of a database, oldest first.
    pub fn list_containers(
        &self,
        caller: &Caller,
        database: &str,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let tree = self.tree();
        let owner = tree
            .database(database)
            .ok_or_else(|| Error::owner_not_found(ResourceKind::Database, database))?;
        let (containers, continuation) = owner.containers.page(&Page::new(count_max, continuation)?);
        let resources = containers.into_iter().map(|container| container.resource()).collect();
        Ok(resource::feed(owner.rid.to_string(), resources, continuation))
    }

    /// Replaces the parts of a container's definition that may change.
    pub async fn replace_container(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        definition: ContainerDefinition,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        computed::compile(&definition)?;
        let mut writer = self.writer().await?;
        let found = self.container(database, container).map_err(not_found_itself)?.container;
        precondition.check(etag(ResourceKind::Container, found.version()))?;
        let definition = found.definition().replace(&definition)?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        change.put(found.record_key(), encode(version, &definition, &found.container().map()));
        change.commit().await?;
        let evaluator = computed::evaluator(&definition);
        found.container().set_definition(definition, evaluator);
        found.set_version(version);
        Ok(resource::written(found.resource()))
    }

    /// Deletes a container with everything in it.
    pub async fn delete_container(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<()>> {
        caller.access.check_account(Action::Write)?;
        let known: Vec<_> =
            self.container(database, container).map(|found| found.container).into_iter().collect();
        let newest = self.ask_newest(&known).await;
        let mut writer = self.writer().await?;
        let found = self.container(database, container).map_err(not_found_itself)?.container;
        precondition.check(etag(ResourceKind::Container, found.version()))?;
        let rid = found.rid().to_string();
        let offer = self.tree().offer_of(&rid).map(|offer| offer.number);
        let spaces: Vec<SpaceId> = found.container().map().ranges.iter().map(|range| range.space).collect();
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.delete(record::key(tag::CONTAINER, rid.as_bytes()));
        for key in found.scripts().record_keys() {
            change.delete(key);
        }
        key_deletion::forget(&mut change, &found);
        change.raise_lsn_floor(newest.bound_of(&found));
        if let Some(number) = offer {
            change.delete(Offer::key(number));
        }
        for space in &spaces {
            change.drop_space(*space);
        }
        change.commit().await?;
        {
            let mut tree = self.tree_mut();
            if let Some(owner) = tree.database_mut(found.rid().database()) {
                owner.containers.remove(found.id());
            }
            if let Some(number) = offer {
                tree.offers.remove(&number);
            }
        }
        found.mark_deleted();
        self.ledger().forget_container(found.number());
        drop(writer);
        self.drop_spaces(&spaces).await?;
        Ok(resource::deleted())
    }
}

/// Refuses to let a container share the throughput of a database.
fn check_sharing(shared: Throughput, sharing: usize, is_fixed: bool, limits: &Limits) -> Result<()> {
    if is_fixed {
        return Err(Error::invalid(
            "a container without a partition key cannot share the throughput of its database: give it its own",
        ));
    }
    let least = shared.minimum(&Past { sharing: sharing + 1, ..Past::default() }, limits);
    if shared.max() < least {
        return Err(Error::invalid(format!(
            "{sharing} containers share the throughput of the database already; for one more it must be at least \
             {least}, it is {}",
            shared.max()
        )));
    }
    Ok(())
}

/// A missing container is an owner to operations on items, and the thing itself to those on containers.
fn not_found_itself(error: Error) -> Error {
    match error.kind {
        ErrorKind::OwnerNotFound(ResourceKind::Container) => {
            Error { kind: ErrorKind::NotFound(ResourceKind::Container), ..error }
        }
        _ => error,
    }
}
