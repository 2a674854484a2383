//! The physical partitions of a container, as of one moment, and which of them holds what.
//!
//! A map is replaced as a whole. A task that took one goes on with it, and so keeps the partitions in it alive until it is
//! done; a writer whose partition was retired meanwhile takes the next map and routes again.
//!
//! In this folder: the ranges of the map that clients see (`ranges`), arcs of the ring in positions (`arcs`).
//! Not here: how a map comes to be replaced (`split`), who may spend how much (`source`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use armilla_governor::{BucketBudgets, Budget, Meter, Policy, RequestUnits};
use armilla_value::HashedKey;
use parking_lot::{Mutex, RwLock};

use crate::map::ranges::{PartitionMap, Range};
use crate::partition::Partition;

pub(crate) mod arcs;
pub(crate) mod ranges;

/// The physical partitions of a container in the order of their ranges, which cover the ring without gap or overlap.
pub(crate) struct Map {
    pub(crate) version: u64,
    pub(crate) slots: Vec<Arc<Slot>>,
}

/// A physical partition that is opened when it is first needed: a thousand idle containers cost nothing.
pub(crate) struct Slot {
    pub(crate) range: Range,
    /// With what it was opened under, which grows when it is given to this process anew.
    partition: RwLock<Option<(u64, Arc<Partition>)>>,
    /// The same as another process has it, if one was found to.
    far: RwLock<Option<Arc<Partition>>>,
    /// Whether there is one.
    is_far: AtomicBool,
    /// Taken while the partition is opened.
    pub(crate) opening: Mutex<()>,
    pub(crate) meter: Meter,
    /// Operations that were served, to see whether there are any.
    pub(crate) served: AtomicU64,
    /// The budget of a partition that does not share.
    pub(crate) own_budget: Arc<Budget>,
    /// What the throughput buckets may spend of it.
    pub(crate) buckets: BucketBudgets,
    /// The budget that it draws on.
    budget: RwLock<Arc<Budget>>,
}

impl Slot {
    pub(crate) fn new(range: Range, policy: Policy) -> Slot {
        let own_budget = Arc::new(Budget::new(RequestUnits::ZERO, policy));
        Slot {
            range,
            partition: RwLock::default(),
            far: RwLock::default(),
            is_far: AtomicBool::new(false),
            opening: Mutex::new(()),
            meter: Meter::new(),
            served: AtomicU64::new(0),
            buckets: BucketBudgets::new(policy),
            budget: RwLock::new(own_budget.clone()),
            own_budget,
        }
    }

    /// Returns the partition, if it is open here.
    pub(crate) fn opened(&self) -> Option<Arc<Partition>> {
        self.partition.read().as_ref().map(|(_, partition)| partition.clone())
    }

    /// Returns the partition, if it was opened under this or later.
    pub(crate) fn opened_since(&self, since: u64) -> Option<Arc<Partition>> {
        self.partition.read().as_ref().filter(|(at, _)| *at >= since).map(|(_, partition)| partition.clone())
    }

    /// Serves a partition that was opened, from now on.
    pub(crate) fn set_opened(&self, since: u64, partition: Arc<Partition>) {
        *self.partition.write() = Some((since, partition));
        self.set_far(None);
    }

    /// Does not serve the partition any more. Returns it.
    pub(crate) fn take_opened(&self) -> Option<Arc<Partition>> {
        self.partition.write().take().map(|(_, partition)| partition)
    }

    /// Returns the partition as another process has it, if that is known.
    pub(crate) fn far(&self) -> Option<Arc<Partition>> {
        if self.is_far.load(Ordering::Acquire) { self.far.read().clone() } else { None }
    }

    /// Takes note of who has the partition.
    pub(crate) fn set_far(&self, far: Option<Arc<Partition>>) {
        if far.is_none() && !self.is_far.load(Ordering::Acquire) {
            return;
        }
        let mut known = self.far.write();
        self.is_far.store(far.is_some(), Ordering::Release);
        *known = far;
    }

    /// Returns the budget that the partition draws on.
    pub(crate) fn budget(&self) -> Arc<Budget> {
        self.budget.read().clone()
    }

    /// Lets the partition draw on another budget from now on.
    pub(crate) fn set_budget(&self, budget: Arc<Budget>) {
        *self.budget.write() = budget;
    }
}

impl Map {
    pub(crate) fn new(map: PartitionMap, policy: Policy) -> Map {
        let slots = map.ranges.into_iter().map(|range| Arc::new(Slot::new(range, policy)));
        let map = Map { version: map.version, slots: slots.collect() };
        map.assert_whole();
        map
    }

    /// Stops if the ranges do not cover the ring.
    pub(crate) fn assert_whole(&self) {
        let (Some(first), Some(last)) = (self.slots.first(), self.slots.last()) else {
            panic!("a map has at least one range")
        };
        assert!(first.range.min == HashedKey::MIN, "ranges begin at the minimum");
        assert!(last.range.max == HashedKey::MAX, "ranges end at the maximum");
        assert!(
            self.slots.windows(2).all(|pair| pair[0].range.max == pair[1].range.min),
            "ranges have no gap and no overlap"
        );
    }

    /// Returns the ranges.
    pub(crate) fn ranges(&self) -> PartitionMap {
        PartitionMap {
            version: self.version,
            ranges: self.slots.iter().map(|slot| slot.range.clone()).collect(),
        }
    }

    /// Returns the partition that holds a hashed key.
    pub(crate) fn route(&self, hashed: &HashedKey) -> &Arc<Slot> {
        let after = self.slots.partition_point(|slot| slot.range.min <= *hashed);
        &self.slots[after.checked_sub(1).expect("the first range begins at the minimum")]
    }

    /// Returns the place of the partition with an id.
    pub(crate) fn place_of(&self, range_id: u32) -> Option<usize> {
        self.slots.iter().position(|slot| slot.range.id == range_id)
    }

    /// Returns the partition with an id.
    pub(crate) fn find(&self, range_id: u32) -> Option<&Arc<Slot>> {
        self.place_of(range_id).map(|place| &self.slots[place])
    }

    /// Returns the partitions that were opened here.
    pub(crate) fn opened(&self) -> impl Iterator<Item = (&Arc<Slot>, Arc<Partition>)> {
        self.slots.iter().filter_map(|slot| Some((slot, slot.opened()?)))
    }
}
