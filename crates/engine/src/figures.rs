//! What physical partitions do and hold, for those who watch an account.

use std::collections::HashMap;
use std::sync::Arc;

use crate::access::{Action, Caller};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::neighbours::{FarAccount, FarFigures};
use crate::ranges::RangeStatus;
use crate::resource::ResourceKind;
use crate::supply::used_part;
use crate::throughput::Throughput;
use armilla_container::{PartitionFigures, Whereabouts};
use armilla_governor::History;
use armilla_kv::SpaceId;

/// The figures of a container.
#[derive(Debug, Clone)]
pub struct ContainerFigures {
    /// The name of its database.
    pub database: String,
    /// Its name.
    pub container: String,
    /// Its resource id.
    pub rid: String,
    /// Its own throughput, in request units a second; the maximum of an autoscale one.
    pub throughput: Option<u32>,
    /// Whether it shares the throughput of its database.
    pub shared: bool,
    /// What is reported of its own autoscale throughput.
    pub autoscale_now: Option<u32>,
    /// Whether partitions are still being made for its throughput.
    pub pending: bool,
    /// The version of its partition map.
    pub map_version: u64,
    /// Its physical partitions, in the order of their ranges.
    pub partitions: Vec<RangeFigures>,
    /// Why the last split or merge was given up, unless one went through since.
    pub failed: Option<String>,
}

/// The figures of a physical partition.
#[derive(Debug, Clone)]
pub struct RangeFigures {
    /// Names it in its container.
    pub id: u32,
    /// Its first hashed key, in hexadecimal.
    pub min: String,
    /// The first hashed key beyond it, in hexadecimal.
    pub max: String,
    /// The partitions it came from, oldest first.
    pub parents: Vec<u32>,
    /// What it is doing.
    pub status: RangeStatus,
    /// The name of the process that has it, where several serve the account and one has it at present.
    pub node: Option<String>,
    /// What it holds and serves; nothing while no request has used it since the start.
    pub figures: Option<PartitionFigures>,
}

impl Engine {
    /// Returns what every physical partition does and holds, whichever process has it.
    pub async fn partitions_everywhere(&self, caller: &Caller) -> Result<Vec<ContainerFigures>> {
        caller.access.check_account(Action::Read)?;
        let far = match self.among() {
            Some(among) => among.clone().far_figures().await,
            None => HashMap::new(),
        };
        self.partitions_with(caller, far, |_| true)
    }

    /// Returns the same of one container.
    pub async fn partitions_of(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
    ) -> Result<ContainerFigures> {
        caller.access.check_account(Action::Read)?;
        let rid = self.container(database, container)?.container.rid();
        let far = match self.among() {
            Some(among) => among.clone().far_figures().await,
            None => HashMap::new(),
        };
        let found = self.partitions_with(caller, far, |handle| handle.rid() == rid)?;
        found.into_iter().next().ok_or_else(|| Error::not_found(ResourceKind::Container, container))
    }

    /// Returns what every physical partition of this process does and holds.
    pub fn partitions(&self, caller: &Caller) -> Result<Vec<ContainerFigures>> {
        self.partitions_with(caller, HashMap::new(), |_| true)
    }

    /// Returns what the physical partitions of a container that this process has have served lately, by their ids.
    pub fn histories(&self, caller: &Caller, database: &str, container: &str) -> Result<Vec<(u32, History)>> {
        caller.access.check_account(Action::Read)?;
        Ok(self.container(database, container)?.container.container().histories())
    }

    fn partitions_with(
        &self,
        caller: &Caller,
        mut far: FarAccount,
        is_wanted: impl Fn(&ContainerHandle) -> bool,
    ) -> Result<Vec<ContainerFigures>> {
        caller.access.check_account(Action::Read)?;
        let containers: Vec<(Arc<ContainerHandle>, Option<Throughput>)> = {
            let tree = self.tree();
            let offers: HashMap<&str, Throughput> =
                tree.offers.values().map(|offer| (&*offer.resource_rid, offer.throughput)).collect();
            let own = |rid: String| offers.get(&*rid).copied();
            let containers = tree.databases.iter().flat_map(|database| database.containers.iter());
            let containers = containers.filter(|container| is_wanted(container));
            containers.map(|container| (container.clone(), own(container.rid().to_string()))).collect()
        };
        let node = |space| match self.among()?.nodes().find(space) {
            Whereabouts::Here { .. } => Some(self.among()?.nodes().name()),
            Whereabouts::At(peer) => Some(peer.name().to_owned()),
            Whereabouts::Nowhere => None,
        };
        let figures = |(container, own): (Arc<ContainerHandle>, _)| {
            let far = far.remove(&container.rid()).unwrap_or_default();
            container.figures(own, far, node)
        };
        Ok(containers.into_iter().map(figures).collect())
    }
}

impl ContainerHandle {
    fn figures(
        &self,
        own: Option<Throughput>,
        far: FarFigures,
        node: impl Fn(SpaceId) -> Option<String>,
    ) -> ContainerFigures {
        let map = self.container().map();
        let FarFigures { figures: mut there, busy, failed } = far;
        let mut figures = self.container().figures();
        // It may have moved while they were asked.
        there.retain(|figure| figures.iter().all(|known| known.range_id != figure.range_id));
        figures.extend(there);
        let autoscale_now = own
            .filter(|own| matches!(own, Throughput::Autoscale { .. }))
            .map(|own| own.reported(used_part(&figures)));
        let partitions = map.ranges.into_iter().map(|range| RangeFigures {
            figures: figures
                .iter()
                .position(|partition| partition.range_id == range.id)
                .map(|at| figures.swap_remove(at)),
            node: node(range.space),
            id: range.id,
            min: range.min.to_hex(),
            max: range.max.to_hex(),
            parents: range.parents,
            status: match busy.contains(&range.id) {
                true => RangeStatus::Splitting,
                false => self.range_status(range.id),
            },
        });
        ContainerFigures {
            partitions: partitions.collect(),
            database: self.database_id().to_owned(),
            container: self.id().to_owned(),
            rid: self.rid().to_string(),
            throughput: own.map(Throughput::max),
            shared: self.is_sharing(),
            autoscale_now,
            pending: self.is_pending(),
            map_version: map.version,
            failed: self.reshaping().failed().or(failed),
        }
    }
}
