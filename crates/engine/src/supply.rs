//! What follows from offers for containers: the throughput that each is given, and how many partitions it takes.
//!
//! A container has an offer of its own, or shares that of its database. What was provisioned decides at once how much
//! its partitions may spend; more partitions are made in the background (`reshaping`).

use std::sync::Arc;

use armilla_container::{Limits, PartitionFigures, ThroughputSource};
use armilla_value::rid::{ContainerRid, DatabaseRid};

use crate::containers::ContainerHandle;
use crate::error::Result;
use crate::neighbours::FarAccount;
use crate::offers::Offer;
use crate::throughput::partitions_for;
use crate::tree::Tree;

impl Tree {
    /// Returns the containers that draw on an offer.
    pub(crate) fn containers_of(&self, offer: &Offer) -> Vec<Arc<ContainerHandle>> {
        let rid = &offer.resource_rid;
        let of_container = ContainerRid::parse(rid).and_then(|rid| {
            let database = self.databases.get_by_ordinal(u64::from(rid.database().number()))?;
            database.containers.get_by_ordinal(u64::from(rid.number()))
        });
        if let Some(container) = of_container {
            return vec![container.clone()];
        }
        let of_database =
            DatabaseRid::parse(rid).and_then(|rid| self.databases.get_by_ordinal(u64::from(rid.number())));
        match of_database {
            Some(database) => {
                database.containers.iter().filter(|container| container.is_sharing()).cloned().collect()
            }
            None => Vec::new(),
        }
    }

    /// Gives the containers of an offer what it says.
    pub(crate) fn supply(&self, offer: &Offer, limits: &Limits, now_ms: i64) {
        let throughput = offer.throughput.max();
        let shared = DatabaseRid::parse(&offer.resource_rid)
            .and_then(|rid| self.databases.get_by_ordinal(u64::from(rid.number())))
            .and_then(|database| database.shared.clone());
        if let Some(shared) = &shared {
            shared.set_throughput(now_ms, throughput);
        }
        for container in self.containers_of(offer) {
            let supply = match &shared {
                Some(shared) => ThroughputSource::Shared(shared.clone()),
                None => ThroughputSource::Own { throughput, buckets: offer.buckets },
            };
            container.container().set_throughput_source(supply);
            container.want_partitions(partitions_for(throughput, limits));
        }
    }
}

/// What the containers of an offer use of it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Consumption {
    /// What they store, items and index.
    pub(crate) stored_bytes: u64,
    /// The part of their throughput that they have used at most in this hour, as autoscale counts it.
    pub(crate) used_part: f64,
    /// How many share the throughput of a database.
    pub(crate) sharing: usize,
    /// Whether physical partitions are still being made for one of them.
    pub(crate) is_pending: bool,
}

impl Consumption {
    /// Returns what the partitions use that are open; the others stand still.
    pub(crate) fn seen(containers: &[Arc<ContainerHandle>], far: &FarAccount) -> Consumption {
        let mut sum = Consumption::default();
        for container in containers {
            let mut figures = container.container().figures();
            figures.extend(far.get(&container.rid()).into_iter().flat_map(|far| far.figures.iter().cloned()));
            sum.stored_bytes +=
                figures.iter().map(|partition| partition.bytes + partition.index_bytes).sum::<u64>();
            // Containers that share draw on the same budgets.
            sum.used_part += used_part(&figures);
            sum.sharing += usize::from(container.is_sharing());
            sum.is_pending |= container.is_pending();
        }
        sum
    }

    /// Returns the same with what all partitions store.
    pub(crate) fn whole(containers: &[Arc<ContainerHandle>], far: &FarAccount) -> Result<Consumption> {
        let mut stored_bytes = 0;
        for container in containers {
            let stored = container.stored()?;
            stored_bytes += stored.bytes + stored.index_bytes;
        }
        Ok(Consumption { stored_bytes, ..Consumption::seen(containers, far) })
    }

    /// Returns what they store in KB, begun ones included.
    pub(crate) fn stored_kb(&self) -> u64 {
        self.stored_bytes.div_ceil(1_024)
    }
}

/// Returns the part of its share that the busiest partition has used at most.
pub(crate) fn used_part(figures: &[PartitionFigures]) -> f64 {
    let part = |partition: &PartitionFigures| match partition.rate.hundredths() {
        0 => 0.0,
        rate => partition.governor.five_second_peak.hundredths() as f64 / rate as f64,
    };
    figures.iter().map(part).fold(0.0, f64::max)
}
