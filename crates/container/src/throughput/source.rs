//! Where a container's physical partitions take their request units from, and who may spend them.
//!
//! A container has a throughput of its own, or shares that of its database. In both cases the budget of a physical
//! partition is a share, never the whole: T/N, and never more than one partition can serve.
//!
//! Every operation asks for admission before it does anything, and says what it cost when it is done, whatever came of
//! it. What it asks is the partition that it was routed to at first; what it cost goes to the one that served it.
//!
//! Not here: budgets and figures themselves (`governor`), prices (`throughput`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use armilla_env::Clock;
use armilla_governor::{Admitted, Bucket, BucketShares, Budget, Claim, OperationKind, Policy, RequestUnits};
use bytes::Bytes;
use parking_lot::RwLock;

use crate::error::{Error, ErrorKind, Result};
use crate::far::request::{AdmitCall, AdmitReply, Request, SpendCall};
use crate::limits::Limits;
use crate::map::{Map, Slot};
use crate::throughput::{ReadCost, Work, price};

/// Where a container's throughput comes from.
#[derive(Clone)]
pub enum ThroughputSource {
    /// It has throughput of its own.
    Own {
        /// Request units a second.
        throughput: u32,
        /// How much of them some requests may use at most.
        buckets: BucketShares,
    },
    /// It shares those of its database.
    Shared(Arc<SharedBudgets>),
}

/// The budgets that the containers of a database share.
pub struct SharedBudgets {
    physical_partition_ru: u32,
    policy: Policy,
    state: RwLock<SharedState>,
}

struct SharedState {
    throughput: u32,
    budgets: Vec<Arc<Budget>>,
}

impl SharedBudgets {
    /// Returns the budgets of a throughput in request units a second: as many as it takes so that none is more than a
    /// physical partition can serve.
    pub fn new(throughput: u32, limits: &Limits, policy: Policy) -> SharedBudgets {
        let physical_partition_ru = limits.physical_partition_ru.max(1);
        let shared = SharedBudgets {
            physical_partition_ru,
            policy,
            state: RwLock::new(SharedState { throughput: 0, budgets: Vec::new() }),
        };
        shared.set_throughput(0, throughput);
        shared
    }

    /// Changes the throughput. Each container that shares it must be told (`Container::set_throughput_source`), because the
    /// number of budgets may change.
    pub fn set_throughput(&self, now_ms: i64, throughput: u32) {
        let count = throughput.div_ceil(self.physical_partition_ru).max(1);
        let rate = share(throughput, count as usize);
        let mut state = self.state.write();
        state.throughput = throughput;
        state.budgets.truncate(count as usize);
        state.budgets.iter().for_each(|budget| budget.set_rate(now_ms, rate));
        let missing = count as usize - state.budgets.len();
        state.budgets.extend((0..missing).map(|_| Arc::new(Budget::new(rate, self.policy))));
    }

    /// Returns the throughput in request units a second.
    pub fn throughput(&self) -> u32 {
        self.state.read().throughput
    }

    /// Returns the budget of one of a container's partitions.
    fn budget_of(&self, place: usize, partitions: usize) -> Arc<Budget> {
        let state = self.state.read();
        state.budgets[place * state.budgets.len() / partitions].clone()
    }
}

fn share(throughput: u32, count: usize) -> RequestUnits {
    RequestUnits::from_hundredths(u64::from(throughput) * 100 / count as u64)
}

impl ThroughputSource {
    /// Returns a throughput of a container's own, which no bucket bounds.
    pub fn own(throughput: u32) -> ThroughputSource {
        ThroughputSource::Own { throughput, buckets: BucketShares::default() }
    }

    /// Gives every partition of a map its budget.
    pub(crate) fn apply(&self, map: &Map, limits: &Limits, now_ms: i64) {
        let count = map.slots.len();
        for (place, slot) in map.slots.iter().enumerate() {
            match self {
                ThroughputSource::Own { throughput, buckets } => {
                    let most = share(limits.physical_partition_ru, 1);
                    let rate = share(*throughput, count).min(most);
                    slot.own_budget.set_rate(now_ms, rate);
                    slot.set_budget(slot.own_budget.clone());
                    slot.buckets.set(now_ms, rate, buckets);
                }
                ThroughputSource::Shared(shared) => {
                    slot.set_budget(shared.budget_of(place, count));
                    slot.buckets.set(now_ms, RequestUnits::ZERO, &BucketShares::default());
                }
            }
        }
    }
}

/// The budget and the figures of a physical partition, for a caller that says later what something cost.
#[derive(Clone)]
pub struct ChargeMeter {
    slot: Arc<Slot>,
    clock: Arc<dyn Clock>,
    kind: OperationKind,
    claim: Claim,
    /// The logical partition, where there is one.
    logical: Option<bytes::Bytes>,
}

impl ChargeMeter {
    pub(crate) fn new(
        slot: Arc<Slot>,
        clock: Arc<dyn Clock>,
        kind: OperationKind,
        claim: Claim,
        logical: Option<bytes::Bytes>,
    ) -> ChargeMeter {
        ChargeMeter { slot, clock, kind, claim, logical }
    }

    /// Takes down what something cost and how long it took.
    pub fn spend(&self, charge: RequestUnits, took: Duration) {
        let logical = self.logical.as_deref();
        self.slot.spend(self.clock.as_ref(), self.kind, self.claim, logical, charge, took);
    }
}

impl Slot {
    /// Asks whether an operation may begin.
    pub(crate) fn admit(&self, clock: &dyn Clock, claim: Claim, logical: Option<&[u8]>) -> Result<Admitted> {
        if let Some(far) = self.far().and_then(|partition| partition.far.clone()) {
            let logical = logical.map(Bytes::copy_from_slice);
            let reply: AdmitReply = far.ask_here(&Request::Admit(AdmitCall { claim, logical }))?;
            return Ok(Admitted { left: reply.left });
        }
        let now_ms = clock.now_ms();
        let of_bucket = self.buckets.of(claim).map(|budget| budget.admit(now_ms, claim.priority)).transpose();
        let is_of_bucket = of_bucket.is_err();
        let admitted = of_bucket.and_then(|of_bucket| {
            let admitted = self.budget().admit(now_ms, claim.priority)?;
            Ok(of_bucket.map_or(admitted, |of_bucket| admitted.least(of_bucket)))
        });
        admitted.map_err(|throttled| {
            self.meter.refused(now_ms, logical);
            let bucket = claim.bucket.filter(|_| is_of_bucket).map_or(0, Bucket::number);
            let what = match bucket {
                0 => format!("range {} has spent what it may", self.range.id),
                bucket => {
                    format!("throughput bucket {bucket} has spent its share of range {}", self.range.id)
                }
            };
            Error {
                retry_after: Some(throttled.retry_after),
                charge: price(&Work::Throttled, ReadCost::Single),
                position: self.opened().map(|partition| partition.position()),
                ..Error::new(
                    ErrorKind::Throttled,
                    format!(
                        "request rate is large: {what}, retry in {} ms",
                        throttled.retry_after.as_millis()
                    ),
                )
            }
        })
    }

    /// Takes down what an operation cost.
    pub(crate) fn spend(
        &self,
        clock: &dyn Clock,
        kind: OperationKind,
        claim: Claim,
        logical: Option<&[u8]>,
        charge: RequestUnits,
        took: Duration,
    ) {
        if let Some(far) = self.far().and_then(|partition| partition.far.clone()) {
            let logical = logical.map(Bytes::copy_from_slice);
            // Waited for, so that what comes next finds that it was spent. Where the partition is by now, it is forgotten.
            let spent = far.ask_here::<()>(&Request::Spend(SpendCall { kind, claim, logical, charge, took }));
            if let Err(error) = spent {
                tracing::debug!(?error, "a charge did not reach the node of its partition");
            }
            return;
        }
        let now_ms = clock.now_ms();
        self.served.fetch_add(1, Ordering::Relaxed);
        self.budget().spend(now_ms, claim.priority, charge);
        if let Some(bucket) = self.buckets.of(claim) {
            bucket.spend(now_ms, claim.priority, charge);
        }
        self.meter.record(now_ms, kind, logical, charge, took);
    }
}

/// An operation that was admitted, until it says what it cost.
pub(crate) struct Admission<'a> {
    clock: &'a dyn Clock,
    kind: OperationKind,
    claim: Claim,
    began: Duration,
    /// What the partition has left in this second, where that counts.
    pub(crate) left: Option<RequestUnits>,
}

impl<'a> Admission<'a> {
    /// Asks a partition whether an operation may begin.
    pub(crate) fn ask(
        slot: &Slot,
        clock: &'a dyn Clock,
        kind: OperationKind,
        claim: Claim,
        logical: Option<&[u8]>,
    ) -> Result<Admission<'a>> {
        let Admitted { left } = slot.admit(clock, claim, logical)?;
        Ok(Admission { clock, kind, claim, began: clock.elapsed(), left })
    }

    /// Takes down what the operation cost where it was served in the end.
    pub(crate) fn spend(&self, slot: &Slot, logical: Option<&[u8]>, charge: RequestUnits) {
        let took = self.clock.elapsed().saturating_sub(self.began);
        slot.spend(self.clock, self.kind, self.claim, logical, charge, took);
    }

    /// The same for what the operation came to; failures cost too.
    pub(crate) fn finish<T>(
        &self,
        slot: &Slot,
        logical: Option<&[u8]>,
        result: Result<T>,
        charge: impl FnOnce(&T) -> RequestUnits,
    ) -> Result<T> {
        let spent = match &result {
            Ok(done) => charge(done),
            Err(error) => error.charge,
        };
        self.spend(slot, logical, spent);
        result
    }
}
