//! What is kept of a container in memory, for all who do something with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_container::{
    Container, ContainerDefinition, ContainerIdentity, Counters, Limits, LogicalSize, PartitionMap,
};
use armilla_script::{Owner, Workers};
use armilla_value::rid::ContainerRid;
use bytes::Bytes;
use parking_lot::RwLock;
use tokio::sync::{Notify, watch};

use crate::access::Caller;
use crate::background::BackgroundTask;
use crate::computed;
use crate::error::{Error, ErrorKind, Result};
use crate::execution::ScriptTurns;
use crate::queries::ReadQueries;
use crate::record::{self, Record, Version, tag};
use crate::reshaping::Reshaping;
use crate::resource::{Content, Resource, ResourceKind, etag};
use crate::scripts::Scripts;

/// What all containers of an account have in common.
#[derive(Clone)]
pub(crate) struct Common {
    pub(crate) script_workers: Workers,
    /// Texts of queries that were read.
    pub(crate) read_queries: ReadQueries,
}

/// A container as operations on its items find it.
pub struct ContainerHandle {
    rid: ContainerRid,
    id: String,
    database_id: String,
    version: RwLock<Version>,
    /// Set when it was deleted while a request still held it.
    deleted: AtomicBool,
    /// Whether it was made without a partition key.
    is_fixed: bool,
    /// How many bytes one physical partition may hold.
    partition_bytes_max: u64,
    /// Whether it shares the throughput of its database.
    sharing: AtomicBool,
    container: Container,
    reindexing: BackgroundTask,
    reshaping: Reshaping,
    sweeping: BackgroundTask,
    deleting: BackgroundTask,
    unique_sweeping: BackgroundTask,
    /// Held by the task that changes its unique keys.
    unique_turn: tokio::sync::Mutex<()>,
    /// Told when dropped unique keys may have left something behind.
    unswept: Notify,
    /// Set when it was deleted, or its account is closed: then nothing comes of waiting for a change in it.
    ended: watch::Sender<bool>,
    scripts: Scripts,
    script_turns: ScriptTurns,
    common: Common,
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
        common: Common,
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
            reindexing: BackgroundTask::default(),
            reshaping: Reshaping::default(),
            sweeping: BackgroundTask::default(),
            deleting: BackgroundTask::default(),
            unique_sweeping: BackgroundTask::default(),
            unique_turn: tokio::sync::Mutex::default(),
            unswept: Notify::new(),
            ended: watch::Sender::new(false),
            scripts: Scripts::default(),
            script_turns: ScriptTurns::of_container(),
            common,
        }
    }

    /// Returns the container's resource id.
    pub fn rid(&self) -> ContainerRid {
        self.rid
    }

    /// Returns the resource id as a number.
    pub fn number(&self) -> u64 {
        u64::from_be_bytes(self.rid.to_bytes())
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
    pub fn definition(&self) -> Arc<ContainerDefinition> {
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

    /// Says that it has an offer of its own by now.
    pub(crate) fn share_no_more(&self) {
        self.sharing.store(false, Ordering::Release);
    }

    /// Shows what another process has stored of it.
    pub(crate) fn take_record(&self, value: &[u8]) -> Result<()> {
        let record = Record::decode(value, "a container")?;
        let version = record.version()?;
        let definition = read_definition(&record, self.rid)?;
        if definition != *self.definition() {
            let evaluator = computed::evaluator(&definition);
            self.container.set_definition(definition, evaluator);
        }
        self.container.set_map(record.map(version.ts)?);
        self.set_version(version);
        self.reshaping.look_again();
        Ok(())
    }

    pub(crate) fn mark_deleted(&self) {
        self.deleted.store(true, Ordering::Release);
        self.container.mark_deleted();
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
    /// Returns the texts of queries that were read, in all containers.
    pub(crate) fn read_queries(&self) -> &ReadQueries {
        &self.common.read_queries
    }

    pub(crate) fn script_workers(&self) -> &Workers {
        &self.common.script_workers
    }

    /// Returns whose scripts its scripts are: no other container's share a process with them.
    pub(crate) fn script_owner(&self) -> Owner {
        Owner(u64::from_be_bytes(self.rid.to_bytes()))
    }

    /// Returns the task that keeps its index as its policy asks.
    pub(crate) fn reindexing(&self) -> &BackgroundTask {
        &self.reindexing
    }

    /// Returns what is known of its splits and merges.
    pub(crate) fn reshaping(&self) -> &Reshaping {
        &self.reshaping
    }

    /// Returns the task that purges what has expired.
    pub(crate) fn sweeping(&self) -> &BackgroundTask {
        &self.sweeping
    }

    /// Returns the task that takes away what was deleted with its partition key.
    pub(crate) fn deleting(&self) -> &BackgroundTask {
        &self.deleting
    }

    /// Returns the task that removes what dropped unique keys left behind.
    pub(super) fn unique_sweeping(&self) -> &BackgroundTask {
        &self.unique_sweeping
    }

    /// Returns what the task holds that changes its unique keys.
    pub(super) fn unique_turn(&self) -> &tokio::sync::Mutex<()> {
        &self.unique_turn
    }

    /// Says that dropped unique keys may have left something behind.
    pub(super) fn note_unswept(&self) {
        self.unswept.notify_one();
    }

    /// Waits until dropped unique keys may have left something behind.
    pub(super) async fn unswept(&self) {
        self.unswept.notified().await;
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

    pub(super) fn version(&self) -> Version {
        *self.version.read()
    }

    /// Returns the newest commit of any of its partitions.
    pub(crate) fn newest_lsn(&self) -> Result<u64> {
        let positions = self.container.positions().map_err(|error| self.translate(error))?;
        Ok(positions.iter().map(|position| position.lsn).max().unwrap_or(0))
    }

    /// Returns how many items the container has and how many bytes they take. A partition that is on its way from one
    /// process to another is waited for.
    pub fn usage(&self, caller: &Caller) -> Result<Usage> {
        caller.access.check_usage(self.rid)?;
        self.stored()
    }

    /// Returns the same for those who only want to know about how much it is: what does not answer is left out.
    pub fn usage_seen(&self, caller: &Caller) -> Result<Usage> {
        caller.access.check_usage(self.rid)?;
        let mut sum = Usage { items: 0, bytes: 0, index_bytes: 0 };
        for (_, usage) in self.usages()? {
            sum.items += usage.items;
            sum.bytes += usage.bytes;
            sum.index_bytes += usage.index_bytes;
        }
        Ok(sum)
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
        let usage = |(range_id, counters): (u32, Counters)| {
            let Counters { items, bytes, index_bytes, .. } = counters;
            (range_id, Usage { items, bytes, index_bytes })
        };
        let usages = self.container.usages().map_err(|error| self.translate(error))?;
        Ok(usages.into_iter().map(usage).collect())
    }

    /// Returns how much it holds, whatever a caller may see of it. All partitions are opened for it.
    pub(crate) fn stored(&self) -> Result<Usage> {
        let LogicalSize { items, bytes, index_bytes } =
            self.container.held().map_err(|error| self.translate(error))?;
        Ok(Usage { items, bytes, index_bytes })
    }

    /// Says how many partitions the throughput asks for.
    pub(crate) fn want_partitions(&self, count: u32) {
        // A container without a key of its own is one partition by its nature.
        let count = if self.is_fixed { 1 } else { count as usize };
        self.reshaping.want_partitions(count);
    }

    /// Returns whether partitions are still being made for the throughput.
    pub(crate) fn is_pending(&self) -> bool {
        self.reshaping.is_pending(self.container.map().ranges.len())
    }

    /// Shows another definition from now on, which is stored.
    pub(super) fn set_version(&self, version: Version) {
        *self.version.write() = version;
    }

    /// Returns how many bytes one physical partition of it may hold.
    pub fn partition_bytes_max(&self) -> u64 {
        self.partition_bytes_max
    }

    pub(crate) fn self_link(&self) -> String {
        format!("dbs/{}/colls/{}/", self.rid.database(), self.rid)
    }

    pub(super) fn resource(&self) -> Resource {
        let version = self.version();
        Resource {
            kind: ResourceKind::Container,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: self.rid.database().to_string(),
            self_link: self.self_link(),
            etag: etag(ResourceKind::Container, version),
            ts: version.ts,
            content: Content::Container(Box::new((*self.container.definition()).clone())),
        }
    }
}

/// Reads the definition in the record of a container.
pub(crate) fn read_definition(record: &Record<'_>, rid: ContainerRid) -> Result<ContainerDefinition> {
    ContainerDefinition::from_stored(record.get("definition")?).map_err(|error| {
        Error::new(ErrorKind::Corrupt, format!("the definition of container {rid}: {}", error.message))
    })
}

/// Returns the record of a container.
pub(super) fn encode(version: Version, definition: &ContainerDefinition, map: &PartitionMap) -> Bytes {
    let mut object = record::begin(version);
    object.insert("definition", definition.to_stored());
    record::put_map(&mut object, map);
    record::encode(object)
}
