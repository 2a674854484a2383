//! The figures of physical partitions: what each holds, serves and refuses.
//!
//! Partitions that nobody opened since the start have none. What is written is bounded: a server with many
//! partitions writes those of its first containers and says how many it left out.

use armilla_engine::{ContainerFigures, OperationKind, PartitionFigures, RequestUnits};

use super::{family, line, single};
use crate::limits::METRICS_PARTITIONS_MAX;

/// A partition with what names it.
struct Row<'f> {
    database: &'f str,
    container: &'f str,
    range: String,
    figures: &'f PartitionFigures,
}

impl Row<'_> {
    fn labels(&self) -> [(&'static str, &str); 3] {
        [("database", self.database), ("container", self.container), ("range", &self.range)]
    }
}

/// One figure of a partition: name, kind, help, value.
type Figure = (&'static str, &'static str, &'static str, fn(&PartitionFigures) -> f64);

const FIGURES: [Figure; 8] = [
    ("armilla_partition_items", "gauge", "Items in a physical partition.", |figures| figures.items as f64),
    ("armilla_partition_bytes", "gauge", "Bytes of items in a physical partition.", |figures| {
        figures.bytes as f64
    }),
    (
        "armilla_partition_index_bytes",
        "gauge",
        "Bytes of index entries in a physical partition.",
        |figures| figures.index_bytes as f64,
    ),
    (
        "armilla_partition_provisioned_ru",
        "gauge",
        "Request units a second of a physical partition.",
        |figures| units(figures.rate),
    ),
    ("armilla_partition_ru_total", "counter", "Request units charged.", |figures| {
        units(figures.governor.charge)
    }),
    ("armilla_partition_requests_total", "counter", "Requests served.", |figures| {
        figures.governor.requests as f64
    }),
    (
        "armilla_partition_refused_total",
        "counter",
        "Requests refused for want of throughput (429).",
        |figures| figures.governor.refused as f64,
    ),
    (
        "armilla_partition_utilization_ratio",
        "gauge",
        "Fullest second of the last minute, as a part of the provisioned request units.",
        |figures| figures.governor.normalized_percent / 100.0,
    ),
];

/// Writes the figures of all partitions that are open, as far as the bound goes.
pub(super) fn render(text: &mut String, containers: &[ContainerFigures]) {
    let mut rows: Vec<Row<'_>> = containers.iter().flat_map(rows).collect();
    let left_out = rows.len().saturating_sub(METRICS_PARTITIONS_MAX);
    rows.truncate(METRICS_PARTITIONS_MAX);
    for (name, kind, help, value) in FIGURES {
        family(text, name, kind, help);
        for row in &rows {
            line(text, name, &row.labels(), value(row.figures));
        }
    }
    render_latencies(text, &rows);
    single(
        text,
        "armilla_partitions_left_out",
        "gauge",
        "Open physical partitions whose figures are not written here, because there are too many.",
        left_out as f64,
    );
}

fn rows(container: &ContainerFigures) -> impl Iterator<Item = Row<'_>> {
    container.partitions.iter().filter_map(|partition| {
        Some(Row {
            database: &container.database,
            container: &container.container,
            range: partition.id.to_string(),
            figures: partition.figures.as_ref()?,
        })
    })
}

fn render_latencies(text: &mut String, rows: &[Row<'_>]) {
    let name = "armilla_partition_request_duration_seconds";
    family(text, name, "histogram", "Time that a physical partition took for a request.");
    let (bucket, sum, count) = (format!("{name}_bucket"), format!("{name}_sum"), format!("{name}_count"));
    for row in rows {
        for (kind, histogram) in &row.figures.governor.latencies {
            let total = histogram.count() as f64;
            if total == 0.0 {
                continue;
            }
            let [database, container, range] = row.labels();
            let labels = [database, container, range, ("kind", word(*kind))];
            for (bound_us, below) in histogram.cumulative() {
                let bound = format!("{}", bound_us as f64 / 1e6);
                line(text, &bucket, &[&labels[..], &[("le", &bound)]].concat(), below as f64);
            }
            line(text, &bucket, &[&labels[..], &[("le", "+Inf")]].concat(), total);
            line(text, &sum, &labels, histogram.sum_us() as f64 / 1e6);
            line(text, &count, &labels, total);
        }
    }
}

fn word(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Read => "read",
        OperationKind::Write => "write",
        OperationKind::Query => "query",
        OperationKind::Script => "script",
    }
}

fn units(amount: RequestUnits) -> f64 {
    amount.hundredths() as f64 / 100.0
}
