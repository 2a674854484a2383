//! What every container of an account stands on.

use std::sync::Arc;

use armilla_container::{Container, ContainerIdentity, KnownNumbers, Limits, Peers, ThroughputSource};
use armilla_env::Env;
use armilla_governor::Policy;
use armilla_kv::Store;
use armilla_value::rid::ContainerRid;

use super::handle::{Common, ContainerHandle, read_definition};
use crate::computed;
use crate::error::Result;
use crate::record::Record;
use crate::throughput::Throughput;

/// What every container of an account stands on.
#[derive(Clone)]
pub(crate) struct Ground {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) env: Env,
    pub(crate) limits: Arc<Limits>,
    pub(crate) policy: Policy,
    pub(crate) common: Common,
    pub(crate) known_numbers: Arc<KnownNumbers>,
    /// Who else serves partitions, where others do.
    pub(crate) peers: Option<Arc<dyn Peers>>,
}

impl Ground {
    /// Opens a container of which the tree has this record. Its throughput is said by its offer.
    pub(crate) fn container(
        &self,
        rid: ContainerRid,
        value: &[u8],
        database_id: &str,
    ) -> Result<ContainerHandle> {
        let record = Record::decode(value, "a container")?;
        let definition = read_definition(&record, rid)?;
        let id = definition.id.clone();
        let evaluator = computed::evaluator(&definition);
        let version = record.version()?;
        let container = Container::open(
            self.store.clone(),
            self.env.clone(),
            self.limits.clone(),
            ContainerIdentity::new(rid),
            definition,
            evaluator,
            record.map(version.ts)?,
            ThroughputSource::own(Throughput::DEFAULT.max()),
            self.policy,
            self.known_numbers.clone(),
            self.peers.clone(),
        );
        let common = self.common.clone();
        Ok(ContainerHandle::new(rid, &id, database_id, version, container, &self.limits, common))
    }
}
