//! A container: its definition, its partition map, and every operation on its items.

use std::sync::{Arc, Mutex, OnceLock, RwLock};

use armilla_env::Env;
use armilla_index::Matcher;
use armilla_kv::Store;
use armilla_value::{HashedKey, Node, PartitionKey, Value};
use tokio::sync::Notify;

use crate::committer::{Done, Partition, Task};
use crate::computed::ComputedProperties;
use crate::definition::ContainerDefinition;
use crate::error::{Error, ErrorKind, Position, Result};
use crate::index_state::IndexState;
use crate::item::{ContainerIdentity, ETag, Item};
use crate::layout::Layout;
use crate::limits::Limits;
use crate::patch::Patch;
use crate::ranges::Range;
use crate::session::SessionToken;
use crate::settle::Written;
use crate::throughput::{ReadCost, RequestUnits, Work, price};
use crate::write::{self, Intent, ItemAddress, Precondition, WriteMode};

/// A container with its physical partitions.
pub struct Container {
    store: Arc<dyn Store>,
    env: Env,
    limits: Arc<Limits>,
    identity: Arc<ContainerIdentity>,
    plan: RwLock<Arc<Plan>>,
    slots: Vec<Slot>,
    /// Told when there may be something to re-index.
    pub(crate) reindex_wanted: Notify,
}

/// A definition with what is derived from it once and used by every write.
pub(crate) struct Plan {
    pub(crate) definition: ContainerDefinition,
    /// Which entries items are to have in the index.
    pub(crate) layout: Arc<Layout>,
    computed: Option<Arc<dyn ComputedProperties>>,
    /// A key that is the id itself costs no index term of its own.
    pub(crate) partition_key_is_id: bool,
    /// Whether the change log keeps replaced versions.
    pub(crate) keeps_all_versions: bool,
}

impl Plan {
    fn new(definition: ContainerDefinition, computed: Option<Arc<dyn ComputedProperties>>) -> Plan {
        let layout = Arc::new(Layout::of(&definition));
        let paths = &definition.partition_key.paths;
        let partition_key_is_id = paths.len() == 1 && paths[0].names() == ["id"];
        let keeps_all_versions = definition.change_feed_retention_minutes.is_some_and(|minutes| minutes > 0);
        Plan { definition, layout, computed, partition_key_is_id, keeps_all_versions }
    }

    /// Returns the compiled indexing policy.
    pub(crate) fn matcher(&self) -> &Matcher {
        &self.layout.matcher
    }

    /// Returns the computed properties of an item, if any have entries in the index.
    pub(crate) fn computed(&self, root: Node<'_>) -> Vec<(String, Option<Value>)> {
        match &self.computed {
            Some(computed) if self.layout.has_computed => computed.evaluate(root),
            _ => Vec::new(),
        }
    }

    /// Returns whether a partition has something to do to get to the layout that is wanted, and can.
    pub(crate) fn needs_reindex(&self, state: &IndexState) -> bool {
        state.needs(&self.layout) && (self.evaluates() || !self.layout.has_computed)
    }

    /// Returns whether computed properties can be evaluated.
    pub(crate) fn evaluates(&self) -> bool {
        self.computed.is_some()
    }
}

/// A physical partition that is opened when it is first needed: a thousand idle containers cost nothing.
pub(crate) struct Slot {
    pub(crate) range: Range,
    partition: OnceLock<Arc<Partition>>,
    opening: Mutex<()>,
}

/// An item that was read.
pub struct ReadItem {
    /// The item.
    pub item: Item,
    /// What the read cost.
    pub charge: RequestUnits,
    /// Where it was read.
    pub position: Position,
}

impl Container {
    /// Opens a container. Ranges are sorted and cover the ring without gap or overlap. `computed` evaluates the
    /// computed properties of the definition; without it they have no entries in the index.
    pub fn open(
        store: Arc<dyn Store>,
        env: Env,
        limits: Arc<Limits>,
        identity: ContainerIdentity,
        definition: ContainerDefinition,
        computed: Option<Arc<dyn ComputedProperties>>,
        ranges: Vec<Range>,
    ) -> Container {
        assert!(
            ranges.first().is_some_and(|first| first.min == HashedKey::MIN),
            "ranges begin at the minimum"
        );
        assert!(
            ranges.windows(2).all(|pair| pair[0].max == pair[1].min),
            "ranges have no gap and no overlap"
        );
        let slots = ranges
            .into_iter()
            .map(|range| Slot { range, partition: OnceLock::new(), opening: Mutex::new(()) })
            .collect();
        Container {
            store,
            env,
            limits,
            identity: Arc::new(identity),
            plan: RwLock::new(Arc::new(Plan::new(definition, computed))),
            slots,
            reindex_wanted: Notify::new(),
        }
    }

    /// Returns what items need to know to show themselves.
    pub fn identity(&self) -> &ContainerIdentity {
        &self.identity
    }

    /// Returns the container's definition.
    pub fn definition(&self) -> ContainerDefinition {
        self.plan().definition.clone()
    }

    /// Puts another definition in place, which the caller has checked and stored, with what evaluates its computed
    /// properties. If it asks for another index, [`Container::reindex_step`] makes it.
    pub fn set_definition(
        &self,
        definition: ContainerDefinition,
        computed: Option<Arc<dyn ComputedProperties>>,
    ) {
        *self.plan.write().expect("no panic while the definition is held") =
            Arc::new(Plan::new(definition, computed));
        self.reindex_wanted.notify_waiters();
    }

    /// Returns the partition map.
    pub fn ranges(&self) -> impl Iterator<Item = &Range> {
        self.slots.iter().map(|slot| &slot.range)
    }

    /// Returns how far every physical partition is.
    pub fn positions(&self) -> Result<Vec<Position>> {
        self.slots.iter().map(|slot| Ok(self.partition(slot)?.position())).collect()
    }

    /// Reads an item. `known` is the version that the caller holds already, if it asks for another only.
    pub fn read_item(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        known: Option<ETag>,
        session: &SessionToken,
        cost: ReadCost,
    ) -> Result<ReadItem> {
        let address = ItemAddress::new(&self.plan(), partition_key, id)?;
        let (slot, partition) = self.route(&address.hashed)?;
        check_session(slot, &partition, session)?;
        let item = partition.read(&address.key).map_err(|error| self.failed(error, &partition))?;
        self.answer_read(item, known, &partition, cost, || format!("'{id}'"))
    }

    /// Reads an item by its number, which its resource id holds.
    pub fn read_item_by_number(
        &self,
        number: u64,
        known: Option<ETag>,
        session: &SessionToken,
        cost: ReadCost,
    ) -> Result<ReadItem> {
        // Whoever the partition of its birth was, its children hold it now.
        for slot in &self.slots {
            let partition = self.partition(slot)?;
            let Some(key) = partition.read_number(number).map_err(|error| self.failed(error, &partition))?
            else {
                continue;
            };
            check_session(slot, &partition, session)?;
            let item = partition.read(&key).map_err(|error| self.failed(error, &partition))?;
            return self.answer_read(item, known, &partition, cost, || format!("number {number}"));
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
        item: Option<Item>,
        known: Option<ETag>,
        partition: &Partition,
        cost: ReadCost,
        name: impl Fn() -> String,
    ) -> Result<ReadItem> {
        let mut position = partition.position();
        let nothing = price(&Work::ReadNothing, cost);
        let Some(item) = item else {
            let message = format!("entity with the specified id does not exist in the system: {}", name());
            return Err(Error::new(ErrorKind::ItemNotFound, message).at(position, nothing));
        };
        // The item may be newer than the position, which moves only once its whole group is answered.
        position.lsn = position.lsn.max(item.header().lsn);
        if known == Some(item.etag(&self.identity)) {
            return Err(Error::new(ErrorKind::NotModified, "the item did not change").at(position, nothing));
        }
        let charge = price(&Work::Read { item_bytes: item.json_bytes(&self.identity) }, cost);
        Ok(ReadItem { item, charge, position })
    }

    /// Writes a whole item given as JSON. `id` is the item that a replace names.
    pub async fn write_item(
        &self,
        mode: WriteMode,
        partition_key: &PartitionKey,
        id: Option<&str>,
        body: &[u8],
        precondition: Precondition,
    ) -> Result<Written> {
        let plan = self.plan();
        let item =
            write::prepare_put(&plan, &self.limits, id, body, partition_key, None).map_err(write::refused)?;
        self.submit(plan, Intent::Put { mode, item, precondition }).await
    }

    /// Deletes an item.
    pub async fn delete_item(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        precondition: Precondition,
    ) -> Result<Written> {
        let plan = self.plan();
        let address = ItemAddress::new(&plan, partition_key, id)?;
        self.submit(plan, Intent::Delete { address, precondition }).await
    }

    /// Changes parts of an item.
    pub async fn patch_item(
        &self,
        partition_key: &PartitionKey,
        id: &str,
        patch: Patch,
        precondition: Precondition,
    ) -> Result<Written> {
        let plan = self.plan();
        let address = ItemAddress::new(&plan, partition_key, id)?;
        let partition_key = partition_key.clone();
        self.submit(plan, Intent::Patch { address, partition_key, patch, precondition }).await
    }

    async fn submit(&self, plan: Arc<Plan>, intent: Intent) -> Result<Written> {
        let (_, partition) = self.route(&intent.address().hashed)?;
        let logical = intent.address().logical.clone();
        match partition.submit(plan, Task::Write(intent), Some(&logical)).await? {
            Done::Written(written) => Ok(*written),
            _ => Err(Error::new(ErrorKind::Internal, "a write was taken for something else")),
        }
    }

    /// Returns how much a logical partition holds.
    pub fn logical_size(&self, partition_key: &PartitionKey) -> Result<crate::LogicalSize> {
        let (hashed, logical) = write::locate(&self.plan(), partition_key)?;
        let (_, partition) = self.route(&hashed)?;
        match partition.space().get(armilla_kv::Family::Meta, &crate::keys::size(&logical))? {
            Some(bytes) => crate::LogicalSize::decode(&bytes),
            None => Ok(crate::LogicalSize::default()),
        }
    }

    /// Adds up the counters of all physical partitions.
    pub fn counters(&self) -> Result<crate::Counters> {
        let mut sum = crate::Counters::default();
        for slot in &self.slots {
            let counters =
                crate::Counters::load(self.partition(slot)?.space().as_ref(), slot.range.lsn_base)?;
            sum.lsn += counters.lsn;
            sum.sequence += counters.sequence;
            sum.items += counters.items;
            sum.bytes += counters.bytes;
        }
        Ok(sum)
    }

    /// Waits until no write is on its way.
    pub async fn drain(&self) {
        for partition in self.open_partitions() {
            partition.drain().await;
        }
    }

    pub(crate) fn plan(&self) -> Arc<Plan> {
        self.plan.read().expect("no panic while the definition is held").clone()
    }

    /// Returns the partitions that were opened.
    pub(crate) fn open_partitions(&self) -> impl Iterator<Item = &Arc<Partition>> {
        self.slots.iter().filter_map(|slot| slot.partition.get())
    }

    pub(crate) fn shared_identity(&self) -> &Arc<ContainerIdentity> {
        &self.identity
    }

    pub(crate) fn limits(&self) -> &Arc<Limits> {
        &self.limits
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the partition that holds a hashed key.
    pub(crate) fn route(&self, hashed: &HashedKey) -> Result<(&Slot, Arc<Partition>)> {
        let after = self.slots.partition_point(|slot| slot.range.min <= *hashed);
        let slot = &self.slots[after.checked_sub(1).expect("the first range begins at the minimum")];
        Ok((slot, self.partition(slot)?))
    }

    pub(crate) fn partition(&self, slot: &Slot) -> Result<Arc<Partition>> {
        if let Some(partition) = slot.partition.get() {
            return Ok(partition.clone());
        }
        let _opening = slot.opening.lock().expect("no panic while a partition is opened");
        if let Some(partition) = slot.partition.get() {
            return Ok(partition.clone());
        }
        let partition = Arc::new(Partition::open(
            self.store.clone(),
            &slot.range,
            self.identity.clone(),
            self.limits.clone(),
            self.env.clone(),
            self.plan().layout.clone(),
        )?);
        let partition = slot.partition.get_or_init(|| partition).clone();
        self.reindex_wanted.notify_waiters();
        Ok(partition)
    }

    pub(crate) fn failed(&self, error: Error, partition: &Partition) -> Error {
        error.at(partition.position(), RequestUnits::ZERO)
    }
}

/// Refuses a read from a partition that is behind what the client has seen.
pub(crate) fn check_session(slot: &Slot, partition: &Partition, session: &SessionToken) -> Result<()> {
    let seen = session.lsn(slot.range.id, &slot.range.parents);
    let position = partition.position();
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
