//! Everything that is known of an account when it is judged.

use armilla_engine::{ContainerDefinition, RequestUnits};
use armilla_ledger::report::{ContainerRequests, Report, Shape};
use armilla_profile::{Profile, Sketches};
use armilla_value::{PartitionKey, Value};

/// What is known of an account.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Its containers, in the order of their names.
    pub containers: Vec<ContainerEvidence>,
    /// What was asked of it.
    pub report: Report,
    /// Which values of one container are ids in another.
    pub references: Vec<armilla_profile::Reference>,
    /// Which values are copies of others.
    pub copies: Vec<armilla_profile::Copy>,
    /// Whether reads cost twice as much by default as they have to.
    pub is_strong: bool,
    /// Limits that findings are measured against.
    pub limits: Limits,
}

/// Limits that the account has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// Bytes of an item, at most.
    pub item_bytes: u64,
    /// Bytes of a logical partition, at most.
    pub logical_partition_bytes: u64,
    /// Bytes of a physical partition, at most.
    pub physical_partition_bytes: u64,
}

/// What is known of a container.
#[derive(Debug)]
pub struct ContainerEvidence {
    /// `database/container`.
    pub name: String,
    /// Its resource id, as a number.
    pub number: u64,
    /// Its definition.
    pub definition: ContainerDefinition,
    /// The paths of its partition key: `/postId`.
    pub key_paths: Vec<String>,
    /// Its own throughput, in request units a second.
    pub throughput: Option<u32>,
    /// Whether it shares the throughput of its database.
    pub is_sharing: bool,
    /// Its physical partitions.
    pub partitions: Vec<PartitionEvidence>,
    /// Items that it holds.
    pub items: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What the sample shows.
    pub profile: Profile,
    /// Values of the sample.
    pub sketches: Sketches,
    /// The sample: items without what the server adds.
    pub sample: Vec<Value>,
    /// Its largest logical partitions, as far as the sample has them whole: key, items, bytes.
    pub logical: Vec<(String, u64, u64)>,
}

/// What is known of a physical partition.
#[derive(Debug, Clone, Default)]
pub struct PartitionEvidence {
    /// Items that it holds.
    pub items: u64,
    /// Bytes of items.
    pub bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Request units a second that it may spend.
    pub rate: f64,
    /// What it was charged in each minute of the last hour, and how many requests were refused.
    pub minutes: Vec<(f64, u64)>,
    /// Its hottest keys of the last minute, and what they were charged.
    pub hottest: Vec<(PartitionKey, RequestUnits)>,
}

impl Evidence {
    /// Returns how many seconds were watched; at least one.
    pub fn seconds(&self) -> f64 {
        ((self.report.until_ms - self.report.since_ms) as f64 / 1_000.0).max(1.0)
    }

    /// Returns the container of a number.
    pub fn container(&self, number: u64) -> Option<&ContainerEvidence> {
        self.containers.iter().find(|container| container.number == number)
    }

    /// Returns what was asked of a container.
    pub fn requests(&self, container: &ContainerEvidence) -> Option<&ContainerRequests> {
        self.report.containers.get(&container.number)
    }

    /// Returns a shape of a container's requests.
    pub fn shape(&self, container: u64, shape: u32) -> Option<&Shape> {
        self.report.containers.get(&container)?.shapes.iter().find(|known| known.id == shape)
    }

    /// Returns what all requests were charged, in request units.
    pub fn charge(&self) -> f64 {
        let requests = self.report.containers.values();
        requests.map(charge_of).sum()
    }
}

/// Returns what the requests of a container were charged, in request units.
pub(crate) fn charge_of(requests: &ContainerRequests) -> f64 {
    let shapes: u64 = requests.shapes.iter().map(|shape| shape.total.charge).sum();
    (shapes + requests.beyond.charge) as f64 / 100.0
}

impl ContainerEvidence {
    /// Returns how much of the container the sample is, from 0 to 1.
    pub fn sampled(&self) -> f64 {
        match self.items {
            0 => 1.0,
            items => (self.sample.len() as f64 / items as f64).min(1.0),
        }
    }

    /// Returns the name of the container without that of its database.
    pub fn short_name(&self) -> &str {
        self.name.split_once('/').map_or(&*self.name, |(_, name)| name)
    }

    /// Returns whether a path is part of the partition key.
    pub fn is_key_path(&self, path: &str) -> bool {
        self.key_paths.iter().any(|key| key == path)
    }
}
