//! A container: its definition, its physical partitions, and every operation on its items.
//!
//! Every operation is routed with the partition map of the moment. A write that comes to a partition which was replaced
//! meanwhile is routed again; callers do not notice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_env::{Clock, Env};
use armilla_governor::{Claim, OperationKind, Policy};
use armilla_kv::Store;
use armilla_value::{HashedKey, PartitionKey};
use bytes::Bytes;
use parking_lot::{Mutex, RwLock};
use tokio::sync::{Notify, watch};

use crate::compiled_definition::{CompiledDefinition, CurrentDefinition};
use crate::computed::ComputedProperties;
use crate::definition::ContainerDefinition;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::far::request::{DeleteCall, PatchCall, PatchForm, PutCall, ReadCall, Request};
use crate::index::layout::Layout;
use crate::item::expiry::Expiry;
use crate::item::keys::LogicalKey;
use crate::item::patch::Patch;
use crate::item::{ContainerIdentity, ETag, Item};
use crate::limits::Limits;
use crate::map::ranges::{PartitionMap, Range};
use crate::map::{Map, Slot};
use crate::partition::counters::Counters;
use crate::partition::known_numbers::KnownNumbers;
use crate::partition::{Gate, Partition};
use crate::peers::Peers;
use crate::read::session::SessionToken;
use crate::throughput::source::{Admission, ThroughputSource};
use crate::throughput::{ReadCost, RequestUnits, Work, price};
use crate::turn::Turn;
use crate::write::body::ItemBody;
use crate::write::outcome::{ReadItem, Written};
use crate::write::task::{Done, Task, Unqueued};
use crate::write::{self, Intent, ItemAddress, Precondition, WriteMode};

/// A container with its physical partitions. Cloning it gives another handle to the same one.
#[derive(Clone)]
pub struct Container {
    pub(crate) core: Arc<Core>,
}

/// What all handles of a container share.
pub(crate) struct Core {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    pub(crate) limits: Arc<Limits>,
    identity: Arc<ContainerIdentity>,
    pub(crate) policy: Policy,
    pub(crate) compiled: Arc<CurrentDefinition>,
    pub(crate) map: RwLock<Arc<Map>>,
    /// Where the throughput comes from; locked before the map where both are.
    pub(crate) source: Mutex<ThroughputSource>,
    /// What is known of item numbers, in all containers.
    pub(crate) known_numbers: Arc<KnownNumbers>,
    /// Who else serves partitions, where others do.
    pub(crate) peers: Option<Arc<dyn Peers>>,
    /// Whether it was deleted: then no process is going to serve its partitions any more.
    pub(crate) is_deleted: Arc<AtomicBool>,
    /// Told when there may be something to re-index.
    pub(crate) reindex_wanted: Notify,
    /// Told when a partition may have become too large.
    pub(crate) grown: Arc<Notify>,
    /// Told when there may be something to sweep; one waits for it.
    pub(crate) sweep_wanted: Notify,
    /// Told when there may be items of deleted logical partitions to take away; one waits for it.
    pub(crate) deletion_wanted: Notify,
    /// Behind which key each of them goes on, where it does not begin anew.
    pub(crate) deletion_cursors: Mutex<BTreeMap<Bytes, Bytes>>,
    /// The version of the map, for those who wait for another.
    pub(crate) map_version: watch::Sender<u64>,
}

impl Container {
    /// Opens a container. `computed` evaluates the computed properties of the definition; without it they have no
    /// entries in the index. `known_numbers` are shared with the other containers of the account.
    #[expect(clippy::too_many_arguments, reason = "a container is made of so many things, in one place")]
    pub fn open(
        store: Arc<dyn Store>,
        env: Env,
        limits: Arc<Limits>,
        identity: ContainerIdentity,
        definition: ContainerDefinition,
        computed: Option<Arc<dyn ComputedProperties>>,
        map: PartitionMap,
        source: ThroughputSource,
        policy: Policy,
        known_numbers: Arc<KnownNumbers>,
        peers: Option<Arc<dyn Peers>>,
    ) -> Container {
        let map = Map::new(map, policy);
        source.apply(&map, &limits, env.clock.now_ms());
        let compiled = CompiledDefinition::new(definition, computed, &limits);
        let core = Core {
            store,
            env,
            limits,
            identity: Arc::new(identity),
            policy,
            compiled: Arc::new(CurrentDefinition::new(compiled)),
            map_version: watch::Sender::new(map.version),
            map: RwLock::new(Arc::new(map)),
            source: Mutex::new(source),
            known_numbers,
            peers,
            is_deleted: Arc::default(),
            reindex_wanted: Notify::new(),
            grown: Arc::new(Notify::new()),
            sweep_wanted: Notify::new(),
            deletion_wanted: Notify::new(),
            deletion_cursors: Mutex::default(),
        };
        // The sweeper looks once, whatever happens.
        core.sweep_wanted.notify_one();
        Container { core: Arc::new(core) }
    }

    /// Returns what items need to know to show themselves.
    pub fn identity(&self) -> &ContainerIdentity {
        &self.core.identity
    }

    /// Returns the container's definition.
    pub fn definition(&self) -> Arc<ContainerDefinition> {
        self.compiled().definition.clone()
    }

    /// Puts another definition in place, which the caller has checked and stored, with what evaluates its computed
    /// properties. If it asks for another index, [`Container::reindex_step`] makes it.
    pub fn set_definition(
        &self,
        definition: ContainerDefinition,
        computed: Option<Arc<dyn ComputedProperties>>,
    ) {
        self.core.compiled.set(CompiledDefinition::new(definition, computed, &self.core.limits));
        self.core.reindex_wanted.notify_waiters();
        self.core.sweep_wanted.notify_one();
    }

    /// Returns the partition map.
    pub fn map(&self) -> PartitionMap {
        self.map_now().ranges()
    }

    /// Goes by another map from now on, which another process has stored. Does nothing where this one is as new.
    pub fn set_map(&self, map: PartitionMap) {
        let core = &self.core;
        let source = core.source.lock();
        let mut current = core.map.write();
        if map.version <= current.version {
            return;
        }
        let known = |range: &Range| {
            let slot = current.find(range.id).filter(|slot| slot.range.space == range.space);
            slot.cloned().unwrap_or_else(|| Arc::new(Slot::new(range.clone(), core.policy)))
        };
        let version = map.version;
        let next = Map { version, slots: map.ranges.iter().map(known).collect() };
        next.assert_whole();
        source.apply(&next, &core.limits, core.env.clock.now_ms());
        let before = std::mem::replace(&mut *current, Arc::new(next));
        let is_gone = |slot: &&Arc<Slot>| current.find(slot.range.id).is_none();
        for slot in before.slots.iter().filter(is_gone) {
            if let Some(partition) = slot.opened() {
                partition.set_gate(Gate::Retired);
            }
        }
        drop(current);
        core.map_version.send_replace(version);
    }

    /// Says that it was deleted: what waits for a partition waits in vain.
    pub fn mark_deleted(&self) {
        self.core.is_deleted.store(true, Ordering::Release);
    }

    /// Takes throughput from somewhere else, or another amount of it, from now on.
    pub fn set_throughput_source(&self, source: ThroughputSource) {
        let mut current = self.core.source.lock();
        source.apply(&self.map_now(), &self.core.limits, self.clock().now_ms());
        *current = source;
    }

    /// Returns how far every physical partition is, in the order of their ranges.
    pub fn positions(&self) -> Result<Vec<Position>> {
        let fresh = |slot: &Arc<Slot>| self.partition(slot)?.fresh_position();
        self.settled(|| self.map_now().slots.iter().map(fresh).collect())
    }

    /// Reads an item. `known` is the version that the caller holds already, if it asks for another only.
    pub fn read_item(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        known: Option<ETag>,
        session: &SessionToken,
        cost: ReadCost,
        claim: impl Into<Claim>,
    ) -> Result<ReadItem> {
        let claim = claim.into();
        self.settled(|| self.read_settled(partition_key, id, known, session, cost, claim))
    }

    fn read_settled(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        known: Option<ETag>,
        session: &SessionToken,
        cost: ReadCost,
        claim: Claim,
    ) -> Result<ReadItem> {
        let address = ItemAddress::new(&self.compiled(), partition_key, id)?;
        let (slot, partition) = self.route(&address.hashed)?;
        if let Some(far) = &partition.far {
            let (partition_key, id, session) = (partition_key.clone(), id.to_owned(), session.clone());
            let call = ReadCall { partition_key, id, known, session, cost, claim };
            return Ok(far.ask_here(&Request::Read(call))?);
        }
        let logical = Some(&address.logical.as_bytes()[..]);
        let admission = Admission::ask(&slot, self.clock(), OperationKind::Read, claim, logical)?;
        let read = || {
            check_session(&slot, &partition, session)?;
            let item = partition.read(&address.key).map_err(|error| self.failed(error, &partition))?;
            self.answer_read((&address.key, item), known, &partition, cost, || format!("'{id}'"))
        };
        admission.finish(&slot, logical, read(), |read| read.charge)
    }

    /// Returns an item as it is, without charging for it, if this process has its partition: for those who look at how
    /// items change.
    pub fn peek(&self, partition_key: &PartitionKey, id: &str) -> Option<Item> {
        let address = ItemAddress::new(&self.compiled(), partition_key, id).ok()?;
        let (_, partition) = self.route(&address.hashed).ok()?;
        match partition.far {
            Some(_) => None,
            None => partition.read(&address.key).ok()?,
        }
    }

    /// Reads an item by its number, which its resource id holds.
    pub fn read_item_by_number(
        &self,
        number: u64,
        known: Option<ETag>,
        session: &SessionToken,
        cost: ReadCost,
        claim: impl Into<Claim>,
    ) -> Result<ReadItem> {
        let claim = claim.into();
        self.settled(|| self.read_number_settled(number, known, session, cost, claim))
    }

    fn read_number_settled(
        &self,
        number: u64,
        known: Option<ETag>,
        session: &SessionToken,
        cost: ReadCost,
        claim: Claim,
    ) -> Result<ReadItem> {
        // Whichever the partition of its birth was, its children hold it now.
        for slot in &self.map_now().slots {
            let partition = self.partition(slot)?;
            let Some(key) = partition.read_number(number).map_err(|error| self.failed(error, &partition))?
            else {
                continue;
            };
            let admission = Admission::ask(slot, self.clock(), OperationKind::Read, claim, None)?;
            let read = || {
                check_session(slot, &partition, session)?;
                let item = partition.read(&key).map_err(|error| self.failed(error, &partition))?;
                self.answer_read((&key, item), known, &partition, cost, || format!("number {number}"))
            };
            return admission.finish(slot, None, read(), |read| read.charge);
        }
        Err(Error {
            charge: price(&Work::ReadNothing, cost),
            ..Error::new(
                ErrorKind::ItemNotFound,
                format!("entity with the specified id does not exist in the system: number {number}"),
            )
        })
    }

    fn answer_read(
        &self,
        (key, item): (&[u8], Option<Item>),
        known: Option<ETag>,
        partition: &Partition,
        cost: ReadCost,
        name: impl Fn() -> String,
    ) -> Result<ReadItem> {
        let mut position = partition.position();
        let nothing = price(&Work::ReadNothing, cost);
        let expiry = self.expiry();
        let Some(item) = item.filter(|item| !expiry.hides(key, item)) else {
            let message = format!("entity with the specified id does not exist in the system: {}", name());
            return Err(Error::new(ErrorKind::ItemNotFound, message).at(position, nothing));
        };
        // The item may be newer than the position, which moves only once its whole group is answered.
        position.lsn = position.lsn.max(item.header().lsn);
        if known == Some(item.etag(&self.core.identity)) {
            return Err(Error::new(ErrorKind::NotModified, "the item did not change").at(position, nothing));
        }
        let charge = price(&Work::Read { item_bytes: item.json_bytes(&self.core.identity) }, cost);
        Ok(ReadItem { item, charge, position })
    }

    /// Writes a whole item. `id` is the item that a replace names, which may get another id by it.
    pub async fn write_item(
        &self,
        mode: WriteMode,
        partition_key: &PartitionKey,
        id: Option<&str>,
        body: ItemBody,
        precondition: Precondition,
        claim: impl Into<Claim>,
    ) -> Result<Written> {
        let claim = claim.into();
        let mut turn = self.turn();
        loop {
            let far = || {
                let (partition_key, id) = (partition_key.clone(), id.map(str::to_owned));
                Request::Put(PutCall { partition_key, mode, id, body: body.clone(), precondition, claim })
            };
            if let Some(written) = self.done_elsewhere(partition_key, &mut turn, far).await {
                return written;
            }
            let compiled = self.compiled();
            let prepare = || {
                write::prepare_put(&compiled, &self.core.limits, mode, id, &body, partition_key, precondition)
                    .map_err(write::refused)
            };
            match self.write(&compiled, partition_key, claim, prepare).await {
                Err(error) if error.kind == ErrorKind::Moved => self.await_move(&mut turn, error).await?,
                written => return written,
            }
        }
    }

    /// Deletes an item.
    pub async fn delete_item(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        precondition: Precondition,
        claim: impl Into<Claim>,
    ) -> Result<Written> {
        let claim = claim.into();
        let mut turn = self.turn();
        loop {
            let far = || {
                let (partition_key, id) = (partition_key.clone(), id.to_owned());
                Request::Delete(DeleteCall { partition_key, id, precondition, claim })
            };
            if let Some(written) = self.done_elsewhere(partition_key, &mut turn, far).await {
                return written;
            }
            let compiled = self.compiled();
            let prepare = || {
                let address = ItemAddress::new(&compiled, partition_key, id)?;
                Ok(Intent::Delete { address, precondition })
            };
            match self.write(&compiled, partition_key, claim, prepare).await {
                Err(error) if error.kind == ErrorKind::Moved => self.await_move(&mut turn, error).await?,
                written => return written,
            }
        }
    }

    /// Changes parts of an item.
    pub async fn patch_item(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        patch: Patch,
        precondition: Precondition,
        claim: impl Into<Claim>,
    ) -> Result<Written> {
        let claim = claim.into();
        let mut turn = self.turn();
        loop {
            let far = || {
                let (partition_key, id) = (partition_key.clone(), id.to_owned());
                let patch = PatchForm::of(patch.clone());
                Request::Patch(PatchCall { partition_key, id, patch, precondition, claim })
            };
            if let Some(written) = self.done_elsewhere(partition_key, &mut turn, far).await {
                return written;
            }
            let compiled = self.compiled();
            let prepare = || {
                let address = ItemAddress::new(&compiled, partition_key, id)?;
                let (partition_key, patch) = (partition_key.clone(), patch.clone());
                Ok(Intent::Patch { address, partition_key, patch, precondition })
            };
            match self.write(&compiled, partition_key, claim, prepare).await {
                Err(error) if error.kind == ErrorKind::Moved => self.await_move(&mut turn, error).await?,
                written => return written,
            }
        }
    }

    async fn write(
        &self,
        compiled: &Arc<CompiledDefinition>,
        partition_key: &PartitionKey,
        claim: Claim,
        prepare: impl FnOnce() -> Result<Intent>,
    ) -> Result<Written> {
        // A key that leads nowhere is found wrong with the rest of the request.
        let Ok((hashed, logical)) = write::locate(compiled, partition_key) else {
            prepare()?;
            return Err(Error::new(ErrorKind::Internal, "a write has no place to go to"));
        };
        let (slot, _) = self.route(&hashed)?;
        let bytes = Some(&logical.as_bytes()[..]);
        let admission = Admission::ask(&slot, self.clock(), OperationKind::Write, claim, bytes)?;
        let intent = match prepare() {
            Ok(intent) => intent,
            Err(error) => {
                return admission.finish(&slot, bytes, Err(error), |_: &Written| RequestUnits::ZERO);
            }
        };
        // The item's own key decides where it goes; mostly it is the one of the request.
        let (hashed, logical) = (intent.address().hashed.clone(), intent.address().logical.clone());
        let (slot, done) = self.submit(compiled, Task::Write(intent), &hashed, &logical).await;
        let written = done.and_then(|done| match done {
            Done::Written(written) => Ok(*written),
            _ => Err(Error::new(ErrorKind::Internal, "a write was taken for something else")),
        });
        let Some(slot) = slot else { return written };
        admission.finish(&slot, Some(&logical.as_bytes()[..]), written, |written| written.charge)
    }

    /// Has a task done by whichever partition holds a logical partition by the time it is queued. Returns the
    /// partition too, where it got as far as to one.
    pub(crate) async fn submit(
        &self,
        compiled: &Arc<CompiledDefinition>,
        mut task: Task,
        hashed: &HashedKey,
        logical: &LogicalKey,
    ) -> (Option<Arc<Slot>>, Result<Done>) {
        loop {
            let (slot, partition) = match self.route(hashed) {
                Ok(routed) => routed,
                Err(error) => return (None, Err(error)),
            };
            match partition.submit(compiled.clone(), task, Some(logical)).await {
                Ok(done) => return (Some(slot), Ok(done)),
                Err(Unqueued::Failed(error)) => return (Some(slot), Err(error)),
                Err(Unqueued::Retired(back)) => task = *back,
            }
        }
    }

    /// Returns how much a logical partition holds.
    pub fn logical_size(&self, partition_key: &PartitionKey) -> Result<crate::LogicalSize> {
        let (hashed, logical) = write::locate(&self.compiled(), partition_key)?;
        self.settled(|| {
            let (_, partition) = self.route(&hashed)?;
            match partition.space().get(armilla_kv::Family::Meta, &crate::item::keys::size(&logical))? {
                Some(bytes) => crate::LogicalSize::decode(&bytes),
                None => Ok(crate::LogicalSize::default()),
            }
        })
    }

    /// Returns what each physical partition holds, in the order of their ranges. All are opened for it. One that another
    /// process has which does not answer counts as empty: figures are not worth waiting for.
    pub fn usages(&self) -> Result<Vec<(u32, crate::Counters)>> {
        let map = self.map_now();
        let usage = |slot: &Arc<Slot>| Ok((slot.range.id, self.counters_of(slot)?.unwrap_or_default()));
        map.slots.iter().map(usage).collect()
    }

    /// Returns how far every physical partition is, in the order of their ranges, as far as that can be said now.
    pub fn known_positions(&self) -> Result<Vec<Position>> {
        let map = self.map_now();
        let position = |slot: &Arc<Slot>| {
            let lsn = match self.core.peers {
                None => self.partition(slot)?.position().lsn,
                Some(_) => self.counters_of(slot)?.map_or(slot.range.lsn_base, |counters| counters.lsn),
            };
            Ok(Position { range_id: slot.range.id, lsn })
        };
        map.slots.iter().map(position).collect()
    }

    /// Adds up what all physical partitions hold. All are opened for it, and one that another process has which does not
    /// answer is waited for: where it counts whether there is anything, nothing may be missing.
    pub fn held(&self) -> Result<crate::LogicalSize> {
        self.settled(|| {
            let mut sum = crate::LogicalSize::default();
            for slot in &self.map_now().slots {
                let counters = self.totals_of(slot)?;
                sum.items += counters.items;
                sum.bytes += counters.bytes;
                sum.index_bytes += counters.index_bytes;
            }
            Ok(sum)
        })
    }

    fn totals_of(&self, slot: &Slot) -> Result<crate::Counters> {
        let partition = self.partition(slot)?;
        match &partition.far {
            None => Ok(partition.totals()),
            Some(_) => crate::Counters::load(partition.space().as_ref(), slot.range.lsn_base),
        }
    }

    /// Returns what a partition holds; nothing if another process has it, which does not answer.
    fn counters_of(&self, slot: &Slot) -> Result<Option<crate::Counters>> {
        match self.totals_of(slot) {
            Err(error) if error.kind == ErrorKind::Moved => Ok(None),
            counters => counters.map(Some),
        }
    }

    /// Adds up the counters of all physical partitions.
    pub fn counters(&self) -> Result<crate::Counters> {
        self.settled(|| self.settled_counters())
    }

    fn settled_counters(&self) -> Result<crate::Counters> {
        let mut sum = crate::Counters::default();
        for slot in &self.map_now().slots {
            let counters =
                crate::Counters::load(self.partition(slot)?.space().as_ref(), slot.range.lsn_base)?;
            sum.lsn += counters.lsn;
            sum.sequence += counters.sequence;
            sum.items += counters.items;
            sum.bytes += counters.bytes;
            sum.index_bytes += counters.index_bytes;
        }
        Ok(sum)
    }

    /// Waits until no write is on its way.
    pub async fn drain(&self) {
        for (_, partition) in self.map_now().opened() {
            partition.drain().await;
        }
    }

    pub(crate) fn compiled(&self) -> Arc<CompiledDefinition> {
        self.core.compiled.get()
    }

    /// Returns what tells which items have expired by now.
    pub(crate) fn expiry(&self) -> Expiry {
        let compiled = self.compiled();
        // Most containers need not ask for the time.
        let now = compiled.default_ttl().map_or(0, |_| self.clock().now_seconds());
        compiled.expiry(u32::try_from(now).unwrap_or(0))
    }

    /// Begins to try something that may find partitions on their way.
    pub(crate) fn turn(&self) -> Turn {
        let core = &self.core;
        Turn::new(&core.env.clock, core.peers.as_ref(), &core.is_deleted)
    }

    /// Returns the partitions as they are now.
    pub(crate) fn map_now(&self) -> Arc<Map> {
        self.core.map.read().clone()
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        self.core.env.clock.as_ref()
    }

    pub(crate) fn shared_identity(&self) -> &Arc<ContainerIdentity> {
        &self.core.identity
    }

    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.core.limits
    }

    /// Returns the partition that holds a hashed key.
    pub(crate) fn route(&self, hashed: &HashedKey) -> Result<(Arc<Slot>, Arc<Partition>)> {
        let slot = self.map_now().route(hashed).clone();
        let partition = self.partition(&slot)?;
        Ok((slot, partition))
    }

    pub(crate) fn partition(&self, slot: &Slot) -> Result<Arc<Partition>> {
        match &self.core.peers {
            None => self.open_here(slot, 0),
            Some(peers) => self.partition_of(peers.as_ref(), slot),
        }
    }

    /// Returns a partition that is this process's, opening it where it is not open.
    pub(crate) fn open_here(&self, slot: &Slot, since: u64) -> Result<Arc<Partition>> {
        // Everything that is known in memory may be old from here on, and no longer this process's to say.
        if !self.core.store.is_current() {
            return Err(Error::new(
                ErrorKind::Unavailable,
                "another process may have taken the account over",
            ));
        }
        if let Some(partition) = slot.opened_since(since) {
            return Ok(partition);
        }
        let _opening = self.begin_opening(slot)?;
        if let Some(partition) = slot.opened_since(since) {
            return Ok(partition);
        }
        let holding = self.holding(slot.range.space, since);
        // It may have been let go of since it was found here, and is not to be taken back.
        if holding.as_ref().is_some_and(|holding| !holding.holds()) {
            return Err(Error::new(ErrorKind::Moved, "the partition is on its way to another node"));
        }
        self.forget_old(slot);
        let partition = Arc::new(self.open_partition(&slot.range, self.compiled().layout.clone())?);
        partition.hold_under(holding);
        if !partition.is_held() {
            drop(partition);
            return Err(self.let_go_of(slot));
        }
        self.settle_map(slot, &partition)?;
        slot.set_opened(since, partition.clone());
        self.core.deletion_wanted.notify_one();
        self.core.reindex_wanted.notify_waiters();
        self.core.grown.notify_waiters();
        self.core.sweep_wanted.notify_one();
        Ok(partition)
    }

    /// Opens the partition of a range, which takes it over from the handle that had it.
    pub(crate) fn open_partition(&self, range: &Range, first_layout: Arc<Layout>) -> Result<Partition> {
        let core = &self.core;
        Partition::open(
            core.store.clone(),
            range,
            core.identity.clone(),
            core.limits.clone(),
            core.env.clone(),
            core.compiled.clone(),
            first_layout,
            core.grown.clone(),
            core.known_numbers.clone(),
        )
    }

    pub(crate) fn failed(&self, error: Error, partition: &Partition) -> Error {
        error.at(partition.position(), RequestUnits::ZERO)
    }
}

/// Refuses a read from a partition that is behind what the client has seen.
pub(crate) fn check_session(slot: &Slot, partition: &Partition, session: &SessionToken) -> Result<()> {
    let seen = session.lsn(slot.range.id, &slot.range.parents);
    let mut position = partition.position();
    if seen <= position.lsn {
        return Ok(());
    }
    // Who reads sees a commit as soon as it is durable, which may be a moment before its writers are told.
    position.lsn = Counters::load(partition.space().as_ref(), slot.range.lsn_base)?.lsn;
    if seen <= position.lsn {
        return Ok(());
    }
    let message = format!(
        "the read session is not available for the input session token: it has seen commit {seen} of range {}, \
         which is at {}",
        slot.range.id, position.lsn
    );
    Err(Error::new(ErrorKind::SessionNotAvailable, message)
        .at(position, price(&Work::ReadNothing, ReadCost::Single)))
}
