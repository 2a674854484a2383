//! Containers: their definitions and their partition maps.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use armilla_container::{Container, ContainerDefinition, ContainerIdentity, initial_ranges};
use armilla_kv::SpaceId;
use armilla_value::Value;
use armilla_value::rid::{ChildKind, ChildRid, ContainerRid};

use crate::access::{Action, Caller};
use crate::computed;
use crate::databases::check_id;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::ScriptTurns;
use crate::offers::Offer;
use crate::open::Engine;
use crate::record::{self, Version, tag};
use crate::reindexing::Reindexing;
use crate::resource::{self, Answer, Feed, Resource, ResourceKind, ResourcePrecondition, check_modified};
use crate::scripts::Scripts;
use crate::throughput::Throughput;
use crate::tree::{Change, Page, etag};

/// A container as operations on its items find it.
pub struct ContainerHandle {
    rid: ContainerRid,
    id: String,
    database_id: String,
    version: RwLock<Version>,
    /// Set when it was deleted while somebody still held it.
    deleted: AtomicBool,
    container: Container,
    reindexing: Reindexing,
    scripts: Scripts,
    script_turns: ScriptTurns,
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
}

/// The partition map of a container.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeMap {
    /// Grows with every change of the map.
    pub version: u64,
    /// The physical partitions, in the order of their ranges.
    pub ranges: Vec<RangeInfo>,
}

/// One physical partition, as clients see it.
#[derive(Debug, Clone, PartialEq)]
pub struct RangeInfo {
    /// Names it in its container.
    pub id: u32,
    /// Its first hashed key, in hexadecimal.
    pub min: String,
    /// The first hashed key beyond it, in hexadecimal.
    pub max: String,
    /// The partitions it came from, oldest first.
    pub parents: Vec<u32>,
    /// Its resource id.
    pub rid: String,
    /// Its link.
    pub self_link: String,
    /// Its version.
    pub etag: crate::ETag,
    /// Seconds since 1970 UTC when it was made.
    pub ts: u32,
    /// Its newest commit.
    pub lsn: u64,
    /// Its share of the container's throughput.
    pub throughput_fraction: f64,
}

impl ContainerHandle {
    pub(crate) fn new(
        rid: ContainerRid,
        id: &str,
        database_id: &str,
        version: Version,
        container: Container,
    ) -> ContainerHandle {
        ContainerHandle {
            rid,
            id: id.to_owned(),
            database_id: database_id.to_owned(),
            version: RwLock::new(version),
            deleted: AtomicBool::new(false),
            container,
            reindexing: Reindexing::default(),
            scripts: Scripts::default(),
            script_turns: ScriptTurns::of_container(),
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

    pub(crate) fn mark_deleted(&self) {
        self.deleted.store(true, Ordering::Release);
        self.reindexing.stop();
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

    pub(crate) fn reindexing(&self) -> &Reindexing {
        &self.reindexing
    }

    /// Says of a container that went away in the middle of an operation that it is not there.
    pub(crate) fn translate(&self, error: armilla_container::Error) -> Error {
        if self.deleted.load(Ordering::Acquire) {
            return Error::owner_not_found(ResourceKind::Container, &self.id);
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
        caller.access.check_container(Action::Read, self.rid)?;
        let counters = self.container.counters().map_err(|error| self.translate(error))?;
        Ok(Usage { items: counters.items, bytes: counters.bytes })
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

    /// Returns the partition map.
    pub fn ranges(&self, caller: &Caller) -> Result<RangeMap> {
        caller.access.check_container(Action::Read, self.rid)?;
        let positions = self.container.positions().map_err(|error| self.translate(error))?;
        let count = positions.len() as f64;
        // The map does not change yet, so its version is that of the container's making.
        let version = Version { number: 1, ts: self.version().ts };
        let ranges = self.container.ranges().zip(positions).map(|(range, position)| {
            let rid = ChildRid::new(self.rid, ChildKind::PartitionKeyRange, u64::from(range.id) + 1)
                .expect("range ids have 32 bits")
                .to_string();
            RangeInfo {
                id: range.id,
                min: range.min.to_hex(),
                max: range.max.to_hex(),
                parents: range.parents.clone(),
                self_link: format!("{}pkranges/{rid}/", self.self_link()),
                rid,
                etag: etag(ResourceKind::Container, Version { number: u64::from(range.id) + 1, ..version }),
                ts: version.ts,
                lsn: position.lsn,
                throughput_fraction: 1.0 / count,
            }
        });
        Ok(RangeMap { version: version.number, ranges: ranges.collect() })
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
        let (owner_rid, owner_id, shared) = {
            let tree = self.tree();
            let owner = tree
                .database(database)
                .ok_or_else(|| Error::owner_not_found(ResourceKind::Database, database))?;
            if owner.containers.contains(&definition.id) {
                return Err(Error::exists(ResourceKind::Container, &definition.id));
            }
            let shared = tree.offer_of(&owner.rid.to_string()).map(|offer| offer.throughput);
            (owner.rid, owner.id.clone(), shared)
        };
        change.counters.container += 1;
        let rid = ContainerRid::new(owner_rid, change.counters.container);
        // A container without throughput of its own shares its database's, or gets the least there is.
        let own = throughput.or(if shared.is_none() { Some(Throughput::DEFAULT) } else { None });
        let provisioned = own.or(shared).unwrap_or(Throughput::DEFAULT);
        let version = definition.partition_key.version;
        let lsn_floor = change.counters.lsn_floor;
        let ranges = initial_ranges(provisioned.max(), version, self.limits(), lsn_floor, || {
            change.counters.space += 1;
            SpaceId(change.counters.space)
        });
        let mut object = record::begin(change.version);
        object.insert("definition", definition.to_value());
        record::put_ranges(&mut object, ranges.iter());
        change.put(record::key(tag::CONTAINER, rid.to_string().as_bytes()), record::encode(object));
        let id = definition.id.clone();
        let evaluator = computed::evaluator(&definition);
        let container = Container::open(
            self.store().clone(),
            self.env().clone(),
            self.limits_arc().clone(),
            ContainerIdentity::new(rid),
            definition,
            evaluator,
            ranges,
        );
        let handle = ContainerHandle::new(rid, &id, &owner_id, change.version, container);
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
        Reindexing::start(&handle, self.env());
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
        let found = self.container(database, container).map_err(not_found_itself)?.container;
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
        let definition = read_definition(definition)?;
        caller.access.check_account(Action::Write)?;
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
        let mut object = record::begin(version);
        object.insert("definition", definition.to_value());
        record::put_ranges(&mut object, found.container.ranges());
        change.put(record::key(tag::CONTAINER, found.rid.to_string().as_bytes()), record::encode(object));
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
        let spaces: Vec<SpaceId> = found.container.ranges().map(|range| range.space).collect();
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
