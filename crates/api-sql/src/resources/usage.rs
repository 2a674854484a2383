//! How full a container is: the headers about quota and usage, and the statistics of its physical partitions.
//!
//! An answer about items tells of the physical partition that served it, an answer about the container of all of them
//! together. Both count what is stored now; nothing is sampled.
//!
//! ```text
//! documentSize=0;documentsSize=884;documentsCount=2000;collectionSize=1408;
//! items in MB    items in KB       items               items and their index in KB
//! ```

use std::fmt;

use armilla_engine::{Caller, ContainerHandle, Usage};
use armilla_rest_wire::names;

use crate::json_text::{push_integer, push_string};
use crate::reply::Reply;
use crate::reply::failure::Failure;

const KIB: u64 = 1024;
const MIB: u64 = 1024 * 1024;

/// How much may be stored, as a header says it.
struct QuotaText {
    bytes: u64,
}

impl fmt::Display for QuotaText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mib, kib) = (self.bytes / MIB, self.bytes / KIB);
        write!(f, "documentSize={mib};documentsSize={kib};documentsCount=-1;collectionSize={kib};")
    }
}

/// How much is stored, as a header says it.
struct UsageText {
    usage: Usage,
}

impl fmt::Display for UsageText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Usage { items, bytes, index_bytes } = self.usage;
        let mib = (bytes + MIB / 2) / MIB;
        let kib = bytes.div_ceil(KIB);
        let all_kib = (bytes + index_bytes).div_ceil(KIB);
        write!(f, "documentSize={mib};documentsSize={kib};documentsCount={items};collectionSize={all_kib};")
    }
}

/// Tells of the physical partition that served a reply, if one did.
pub(crate) fn tell_of_partition(reply: &mut Reply, container: &ContainerHandle) {
    let usage = reply.range_id().and_then(|range_id| container.partition_usage(range_id));
    if let Some(usage) = usage {
        set(reply, container.partition_bytes_max(), usage);
    }
}

/// The physical partitions of a container: their ids, and what they hold.
pub(crate) struct PartitionUsages(Vec<(u32, Usage)>);

impl PartitionUsages {
    /// Looks at all physical partitions.
    pub(crate) fn of(container: &ContainerHandle, caller: &Caller) -> Result<PartitionUsages, Failure> {
        Ok(PartitionUsages(container.partition_usages(caller)?))
    }

    /// Tells of all of them together.
    pub(crate) fn tell(&self, reply: &mut Reply, container: &ContainerHandle) {
        let mut sum = Usage { items: 0, bytes: 0, index_bytes: 0 };
        for (_, usage) in &self.0 {
            sum.items += usage.items;
            sum.bytes += usage.bytes;
            sum.index_bytes += usage.index_bytes;
        }
        let count = u64::try_from(self.0.len()).unwrap_or(u64::MAX);
        set(reply, container.partition_bytes_max().saturating_mul(count), sum);
    }

    /// Appends the member of a container's document that tells of each of them.
    ///
    /// The service adds the largest logical partitions of a sample; here none is named.
    pub(crate) fn push_statistics(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(b"\"statistics\":[");
        for (index, (range_id, usage)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            text.extend_from_slice(b"{\"id\":");
            push_string(text, &range_id.to_string());
            text.extend_from_slice(b",\"sizeInKB\":");
            push_integer(text, (usage.bytes + usage.index_bytes).div_ceil(KIB));
            text.extend_from_slice(b",\"documentCount\":");
            push_integer(text, usage.items);
            text.extend_from_slice(b",\"partitionKeys\":[]}");
        }
        text.push(b']');
    }
}

fn set(reply: &mut Reply, quota_bytes: u64, usage: Usage) {
    reply.set_short(&names::RESOURCE_QUOTA, QuotaText { bytes: quota_bytes });
    reply.set_short(&names::RESOURCE_USAGE, UsageText { usage });
}

#[cfg(test)]
mod tests {
    use armilla_engine::Usage;

    use super::{MIB, PartitionUsages, QuotaText, UsageText};

    #[test]
    fn sizes_are_in_kilobytes() {
        for (items, bytes, index_bytes, expected) in [
            (0, 0, 0, "documentSize=0;documentsSize=0;documentsCount=0;collectionSize=0;"),
            (1, 1, 0, "documentSize=0;documentsSize=1;documentsCount=1;collectionSize=1;"),
            (3, 1_024, 1, "documentSize=0;documentsSize=1;documentsCount=3;collectionSize=2;"),
            (3, 1_025, 1_023, "documentSize=0;documentsSize=2;documentsCount=3;collectionSize=2;"),
            (
                2_000,
                884 * 1_024,
                524 * 1_024,
                "documentSize=1;documentsSize=884;documentsCount=2000;collectionSize=1408;",
            ),
            (9, MIB / 2 - 1, 0, "documentSize=0;documentsSize=512;documentsCount=9;collectionSize=512;"),
        ] {
            let usage = Usage { items, bytes, index_bytes };
            assert_eq!(UsageText { usage }.to_string(), expected);
        }
    }

    #[test]
    fn quotas_are_those_of_the_service() {
        for (gib, expected) in [
            (10, "documentSize=10240;documentsSize=10485760;documentsCount=-1;collectionSize=10485760;"),
            (50, "documentSize=51200;documentsSize=52428800;documentsCount=-1;collectionSize=52428800;"),
        ] {
            assert_eq!(QuotaText { bytes: gib * 1_024 * MIB }.to_string(), expected);
        }
    }

    #[test]
    fn statistics_name_every_partition() {
        let usage = |items, bytes, index_bytes| Usage { items, bytes, index_bytes };
        for (partitions, expected) in [
            (vec![], r#""statistics":[]"#),
            (
                vec![(1, usage(2, 1_000, 25)), (4, usage(0, 0, 0))],
                concat!(
                    r#""statistics":[{"id":"1","sizeInKB":2,"documentCount":2,"partitionKeys":[]},"#,
                    r#"{"id":"4","sizeInKB":0,"documentCount":0,"partitionKeys":[]}]"#
                ),
            ),
        ] {
            let mut text = Vec::new();
            PartitionUsages(partitions).push_statistics(&mut text);
            assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }
}
