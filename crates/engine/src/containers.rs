//! Containers: their definitions, and what is kept of them in memory.
//!
//! Not here: their partition maps (`ranges`), and how those change (`reshaping`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use armilla_container::{
    Container, ContainerDefinition, ContainerIdentity, FIRST_MAP_VERSION, Limits, PartitionMap,
    ThroughputSource, initial_ranges,
};
use armilla_kv::SpaceId;
use armilla_script::{Owner, Workers};
use armilla_value::Value;
use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use tokio::sync::watch;

use crate::access::{Action, Caller};
use crate::computed;
use crate::databases::check_id;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::ScriptTurns;
use crate::offers::Offer;
use crate::open::Engine;
use crate::record::{self, Version, tag};
use crate::reindexing::Reindexing;
use crate::reshaping::Reshaping;
use crate::resource::{self, Answer, Feed, Resource, ResourceKind, ResourcePrecondition, check_modified};
use crate::scripts::Scripts;
use crate::sweeping::Sweeping;
use crate::throughput::{Past, Throughput, partitions_for};
use crate::tree::{Change, Page, etag};

/// A container as operations on its items find it.
pub struct ContainerHandle {
    rid: ContainerRid,
    id: String,
    database_id: String,
    version: RwLock<Version>,
    /// Set when it was deleted while somebody still held it.
    deleted: AtomicBool,
    /// Whether it was made without a partition key.
    is_fixed: bool,
    /// How many bytes one physical partition may hold.
    partition_bytes_max: u64,
    /// Whether it shares the throughput of its database.
    sharing: AtomicBool,
    container: Container,
    reindexing: Reindexing,
    reshaping: Reshaping,
    sweeping: Sweeping,
    /// Set when it was deleted, or its account is closed: whoever waits for something in it waits in vain.
    ended: watch::Sender<bool>,
    scripts: Scripts,
    script_turns: ScriptTurns,
    script_workers: Workers,
}

/// A container that was found, and how.
pub struct Located {
    /// The container.
    pub container: Arc<ContainerHandle>,
    /// Whether the path named it by resource id; then it names items by theirs as well.
    pub by_rid: bool,
}

/// How much a container holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Live items.
    pub items: u64,
    /// Their bytes, keys and values.
    pub bytes: u64,
    /// The bytes of the index.
    pub index_bytes: u64,
}

impl ContainerHandle {
    pub(crate) fn new(
        rid: ContainerRid,
        id: &str,
        database_id: &str,
        version: Version,
        container: Container,
        limits: &Limits,
        script_workers: Workers,
    ) -> ContainerHandle {
        let is_fixed = container.definition().is_fixed();
        ContainerHandle {
            rid,
            id: id.to_owned(),
            database_id: database_id.to_owned(),
            version: RwLock::new(version),
            deleted: AtomicBool::new(false),
            is_fixed,
            partition_bytes_max: match is_fixed {
                true => limits.fixed_container_bytes,
                false => limits.physical_partition_bytes,
            },
            sharing: AtomicBool::new(false),
            container,
            reindexing: Reindexing::default(),
            reshaping: Reshaping::default(),
            sweeping: Sweeping::default(),
            ended: watch::Sender::new(false),
            scripts: Scripts::default(),
            script_turns: ScriptTurns::of_container(),
            script_workers,
        }
    }

    /// Returns the container's resource id.
    pub fn rid(&self) -> ContainerRid {
        self.rid
    }

    /// Returns the container's name.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name of its database.
    pub fn database_id(&self) -> &str {
        &self.database_id
    }

    /// Returns what items need to know to show themselves.
    pub fn identity(&self) -> &ContainerIdentity {
        self.container.identity()
    }

    /// Returns the container's definition.
    pub fn definition(&self) -> ContainerDefinition {
        self.container.definition()
    }

    pub(crate) fn container(&self) -> &Container {
        &self.container
    }

    /// Returns whether it was made without a partition key: then it is one physical partition, with limits of its own.
    pub fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    /// Returns whether it shares the throughput of its database.
    pub(crate) fn is_sharing(&self) -> bool {
        self.sharing.load(Ordering::Acquire)
    }

    pub(crate) fn share(&self) {
        self.sharing.store(true, Ordering::Release);
    }

    pub(crate) fn mark_deleted(&self) {
        self.deleted.store(true, Ordering::Release);
        self.reindexing.stop();
        self.reshaping.container_deleted();
        self.end();
    }

    /// Says that nothing comes of it any more.
    pub(crate) fn end(&self) {
        self.ended.send_replace(true);
    }

    /// Returns what tells when nothing comes of it any more.
    pub(crate) fn ended(&self) -> watch::Receiver<bool> {
        self.ended.subscribe()
    }

    /// Returns the refusal of an operation on a container that was deleted.
    pub(crate) fn missing(&self) -> Error {
        Error::owner_not_found(ResourceKind::Container, &self.id)
    }

    pub(crate) fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }

    pub(crate) fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// Returns the turns of its scripts.
    pub(crate) fn script_turns(&self) -> &ScriptTurns {
        &self.script_turns
    }

    /// Returns the processes in which its scripts run.
    pub(crate) fn script_workers(&self) -> &Workers {
        &self.script_workers
    }

    /// Returns whose scripts its scripts are: no other container's share a process with them.
    pub(crate) fn script_owner(&self) -> Owner {
        Owner(u64::from_be_bytes(self.rid.to_bytes()))
    }

    pub(crate) fn reindexing(&self) -> &Reindexing {
        &self.reindexing
    }

    pub(crate) fn reshaping(&self) -> &Reshaping {
        &self.reshaping
    }

    pub(crate) fn sweeping(&self) -> &Sweeping {
        &self.sweeping
    }

    /// Returns the key of its record in the tree.
    pub(crate) fn record_key(&self) -> Bytes {
        record::key(tag::CONTAINER, self.rid.to_string().as_bytes())
    }

    /// Returns its record with a partition map.
    pub(crate) fn record(&self, map: &PartitionMap) -> Bytes {
        encode(self.version(), &self.definition(), map)
    }

    /// Says of a container that went away in the middle of an operation that it is not there.
    pub(crate) fn translate(&self, error: armilla_container::Error) -> Error {
        if self.deleted.load(Ordering::Acquire) {
            return self.missing();
        }
        error.into()
    }

    fn version(&self) -> Version {
        *self.version.read().expect("no panic while the version is held")
    }

    /// Returns the newest commit of any of its partitions.
    pub(crate) fn newest_lsn(&self) -> Result<u64> {
        let positions = self.container.positions().map_err(|error| self.translate(error))?;
        Ok(positions.iter().map(|position| position.lsn).max().unwrap_or(0))
    }

    /// Returns how many items the container has and how many bytes they take.
    pub fn usage(&self, caller: &Caller) -> Result<Usage> {
        caller.access.check_usage(self.rid)?;
        self.stored()
    }

    /// Returns what one physical partition holds, if it is there and open. Cheap: it is asked for with every answer.
    pub fn partition_usage(&self, range_id: u32) -> Option<Usage> {
        let counters = self.container.partition_usage(range_id)?;
        Some(Usage { items: counters.items, bytes: counters.bytes, index_bytes: counters.index_bytes })
    }

    /// Returns what each physical partition holds, in the order of their ranges. All are opened for it.
    pub fn partition_usages(&self, caller: &Caller) -> Result<Vec<(u32, Usage)>> {
        caller.access.check_usage(self.rid)?;
        self.usages()
    }

    fn usages(&self) -> Result<Vec<(u32, Usage)>> {
        loop {
            let positions = self.container.positions().map_err(|error| self.translate(error))?;
            let ids = positions.iter().map(|position| position.range_id);
            let usages = ids.map(|range_id| Some((range_id, self.partition_usage(range_id)?)));
            // One may have been split in between.
            if let Some(usages) = usages.collect() {
                return Ok(usages);
            }
        }
    }

    /// Returns how much it holds, whoever asks. All partitions are opened for it.
    pub(crate) fn stored(&self) -> Result<Usage> {
        let mut sum = Usage { items: 0, bytes: 0, index_bytes: 0 };
        for (_, usage) in self.usages()? {
            sum.items += usage.items;
            sum.bytes += usage.bytes;
            sum.index_bytes += usage.index_bytes;
        }
        Ok(sum)
    }

    /// Returns how many bytes one physical partition of it may hold.
    pub fn partition_bytes_max(&self) -> u64 {
        self.partition_bytes_max
    }

    pub(crate) fn self_link(&self) -> String {
        format!("dbs/{}/colls/{}/", self.rid.database(), self.rid)
    }

    fn resource(&self) -> Resource {
        let Value::Object(body) = self.container.definition().to_value() else {
            unreachable!("a definition is an object");
        };
        let version = self.version();
        Resource {
            kind: ResourceKind::Container,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: self.rid.database().to_string(),
            self_link: self.self_link(),
            etag: etag(ResourceKind::Container, version),
            ts: version.ts,
            body,
        }
    }
}

impl Engine {
    /// Finds a container by name or by resource id.
    pub fn container(&self, database: &str, container: &str) -> Result<Located> {
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

    /// Creates a container from its definition.
    pub async fn create_container(
        &self,
        caller: &Caller,
        database: &str,
        definition: &Value,
        throughput: Option<Throughput>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        let definition = read_definition(definition)?;
        check_id(ResourceKind::Container, &definition.id)?;
        if let Some(throughput) = throughput {
            throughput.validate()?;
        }
        let mut writer = self.writer().await;
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
            check_sharing(*shared, sharing, is_fixed)?;
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
            _ => ThroughputSource::Own(provisioned.max()),
        };
        let is_sharing = matches!(supply, ThroughputSource::Shared(_));
        let (version, ts) = (definition.partition_key.version, change.version.ts);
        let lsn_floor = change.counters.lsn_floor;
        // One without a key is one partition, whatever its throughput.
        let served = if is_fixed { 1 } else { provisioned.max() };
        let ranges = initial_ranges(served, version, self.limits(), lsn_floor, ts, || {
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
        );
        let workers = self.script_workers().clone();
        let handle =
            ContainerHandle::new(rid, &id, &owner_id, change.version, container, self.limits(), workers);
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
        self.tend(&handle);
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
        known: Option<crate::ETag>,
    ) -> Result<Answer<Resource>> {
        let located = self.locate(&caller.access, database, container).map_err(not_found_itself)?;
        let found = located.container;
        caller.access.check_container(Action::Read, found.rid)?;
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
        definition: &Value,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        let definition = read_definition(definition)?;
        let mut writer = self.writer().await;
        let found = self.container(database, container).map_err(not_found_itself)?.container;
        precondition.check(etag(ResourceKind::Container, found.version()))?;
        let definition = found
            .container
            .definition()
            .replace(&definition)
            .map_err(|error| Error::invalid(definition_message(&error)))?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        change.put(found.record_key(), encode(version, &definition, &found.container.map()));
        change.commit().await?;
        let evaluator = computed::evaluator(&definition);
        found.container.set_definition(definition, evaluator);
        *found.version.write().expect("no panic while the version is held") = version;
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
        let mut writer = self.writer().await;
        let found = self.container(database, container).map_err(not_found_itself)?.container;
        precondition.check(etag(ResourceKind::Container, found.version()))?;
        let rid = found.rid.to_string();
        let offer = self.tree().offer_of(&rid).map(|offer| offer.number);
        let spaces: Vec<SpaceId> = found.container.map().ranges.iter().map(|range| range.space).collect();
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.delete(record::key(tag::CONTAINER, rid.as_bytes()));
        for key in found.scripts().record_keys() {
            change.delete(key);
        }
        change.raise_lsn_floor(&found);
        if let Some(number) = offer {
            change.delete(Offer::key(number));
        }
        for space in &spaces {
            change.drop_space(*space);
        }
        change.commit().await?;
        {
            let mut tree = self.tree_mut();
            if let Some(owner) = tree.database_mut(found.rid.database()) {
                owner.containers.remove(&found.id);
            }
            if let Some(number) = offer {
                tree.offers.remove(&number);
            }
        }
        found.mark_deleted();
        drop(writer);
        self.drop_spaces(&spaces).await?;
        Ok(resource::deleted())
    }
}

/// Refuses to let a container share the throughput of a database.
fn check_sharing(shared: Throughput, sharing: usize, is_fixed: bool) -> Result<()> {
    if is_fixed {
        return Err(Error::invalid(
            "a container without a partition key cannot share the throughput of its database: give it its own",
        ));
    }
    let least = shared.minimum(&Past { sharing: sharing + 1, ..Past::default() });
    if shared.max() < least {
        return Err(Error::invalid(format!(
            "{sharing} containers share the throughput of the database already; for one more it must be at least \
             {least}, it is {}",
            shared.max()
        )));
    }
    Ok(())
}

fn encode(version: Version, definition: &ContainerDefinition, map: &PartitionMap) -> Bytes {
    let mut object = record::begin(version);
    object.insert("definition", definition.to_value());
    record::put_map(&mut object, map);
    record::encode(object)
}

fn read_definition(definition: &Value) -> Result<ContainerDefinition> {
    let definition = ContainerDefinition::from_value(definition)
        .map_err(|error| Error::invalid(definition_message(&error)))?;
    computed::compile(&definition)?;
    Ok(definition)
}

fn definition_message(error: &armilla_container::DefinitionError) -> String {
    if error.path.is_empty() { error.message.clone() } else { format!("{}: {}", error.path, error.message) }
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
