//! The tables of all measurements and how they compare, for people and as JSON.

use armilla_value::{Object, Value};

use super::workload::Case;
use super::{TableOptions, Who, azurite};
use crate::columns::{layout, time};
use crate::measure::Measurement;

/// The figures of one case of one side.
pub(super) struct Line {
    pub(super) who: Who,
    pub(super) case: Case,
    pub(super) connections: usize,
    best: Option<Measurement>,
    /// Operations of all rounds.
    operations: u64,
}

const HEADINGS: [&str; 8] = ["", "connections", "", "a second", "p50", "p99", "CPU us/op", "client us/op"];

impl Line {
    pub(super) fn new(who: Who, case: Case, connections: usize) -> Line {
        Line { who, case, connections, best: None, operations: 0 }
    }

    /// Takes a measurement in; the best one counts.
    pub(super) fn add(&mut self, measurement: Measurement) {
        self.operations += measurement.latencies.operations();
        if self.best.as_ref().is_none_or(|best| best.per_second() < measurement.per_second()) {
            self.best = Some(measurement);
        }
    }

    fn rate(&self) -> Option<f64> {
        self.best.as_ref().map(Measurement::per_second).filter(|rate| *rate > 0.0)
    }

    fn cells(&self) -> Option<[String; HEADINGS.len()]> {
        let best = self.best.as_ref()?;
        let client = best.client_cpu.map(|cpu| format!("{:.0}", best.per_operation_us(cpu)));
        Some([
            self.case.name().to_owned(),
            self.connections.to_string(),
            self.who.name().to_owned(),
            rate_text(best.per_second()),
            time(best.latencies.quantile_us(0.5)),
            time(best.latencies.quantile_us(0.99)),
            format!("{:.0}", best.per_operation_us(best.cpu)),
            client.unwrap_or_else(|| "-".to_owned()),
        ])
    }

    fn to_value(&self) -> Option<Value> {
        let best = self.best.as_ref()?;
        let mut object = Object::new();
        object.insert("case", self.case.key());
        object.insert("side", self.who.name());
        object.insert("connections", self.connections as i64);
        object.insert("operations", self.operations as i64);
        object.insert("perSecond", best.per_second());
        object.insert("entitiesPerSecond", best.per_second() * self.case.entities() as f64);
        for (name, quantile) in [("p50Us", 0.5), ("p99Us", 0.99), ("p999Us", 0.999)] {
            object.insert(name, best.latencies.quantile_us(quantile));
        }
        object.insert("maxUs", best.latencies.max_us());
        object.insert("cpuUsPerOperation", best.per_operation_us(best.cpu));
        object.insert("clientCpuUsPerOperation", best.client_cpu.map(|cpu| best.per_operation_us(cpu)));
        Some(Value::Object(object))
    }
}

/// Slow ones with a digit behind the point.
fn rate_text(rate: f64) -> String {
    if rate < 100.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// Returns how many times the server's rate is that of another, for each case.
fn ratios(lines: &[Line]) -> Vec<(Case, usize, [Option<f64>; COMPARED.len()])> {
    let own = lines.iter().filter(|line| line.who == Who::Armilla);
    own.map(|line| {
        let ratio = |who: Who| {
            let is_other = |other: &&Line| {
                other.who == who && other.case == line.case && other.connections == line.connections
            };
            Some(line.rate()? / lines.iter().find(is_other)?.rate()?)
        };
        (line.case, line.connections, COMPARED.map(ratio))
    })
    .collect()
}

/// Those with whom the server is compared.
const COMPARED: [Who; 3] = [Who::AzuriteFile, Who::AzuriteMemory, Who::Bare];

/// Prints everything.
pub(super) fn print(options: &TableOptions, lines: &[Line], memory: &[(Who, u64)], version: Option<&str>) {
    println!(
        "{} entities of {} bytes, {} under one partition key; armilla on disk, every write durable",
        options.partitions_of_1000 * super::workload::PARTITION_ENTITIES,
        options.entity_bytes,
        super::workload::PARTITION_ENTITIES,
    );
    match version {
        Some(version) => println!("azurite {version}"),
        None => println!("without azurite: {}", azurite::HOW_TO_GET),
    }
    let cells: Vec<_> = lines.iter().filter_map(Line::cells).collect();
    println!("{}", layout(&HEADINGS.map(str::to_owned), &cells).trim_end());
    println!();
    let headings =
        ["armilla's rate as a multiple of", "connections", "azurite, file", "azurite, memory", "bare HTTP"];
    let rows: Vec<_> = ratios(lines)
        .into_iter()
        .map(|(case, connections, ratios)| {
            let [file, memory, bare] =
                ratios.map(|ratio| ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
            [case.name().to_owned(), connections.to_string(), file, memory, bare]
        })
        .collect();
    println!("{}", layout(&headings.map(str::to_owned), &rows).trim_end());
    println!();
    for (who, bytes) in memory.iter().filter(|(who, _)| *who != Who::Bare) {
        println!("{:<46} {:>10.1} MB", format!("memory at the end, {}", who.name()), megabytes(*bytes));
    }
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

/// Returns everything as JSON.
pub(super) fn figures(
    options: &TableOptions,
    lines: &[Line],
    memory: &[(Who, u64)],
    version: Option<&str>,
) -> Value {
    let mut all = Object::new();
    all.insert("cores", std::thread::available_parallelism().map_or(0, usize::from) as i64);
    all.insert("entities", (options.partitions_of_1000 * super::workload::PARTITION_ENTITIES) as i64);
    all.insert("entityBytes", options.entity_bytes as i64);
    all.insert("seconds", options.seconds);
    all.insert("rounds", options.rounds as i64);
    all.insert("azurite", version.map(str::to_owned));
    all.insert("measurements", lines.iter().filter_map(Line::to_value).collect::<Vec<_>>());
    let ratios = ratios(lines).into_iter().map(|(case, connections, ratios)| {
        let mut object = Object::new();
        object.insert("case", case.key());
        object.insert("connections", connections as i64);
        for (who, ratio) in COMPARED.into_iter().zip(ratios) {
            object.insert(who.name(), ratio);
        }
        Value::Object(object)
    });
    all.insert("ratios", ratios.collect::<Vec<_>>());
    let mut resident = Object::new();
    for (who, bytes) in memory {
        resident.insert(who.name(), megabytes(*bytes));
    }
    all.insert("memoryMb", Value::Object(resident));
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measure::Latencies;

    fn line(who: Who, connections: usize, operations: u64) -> Line {
        let mut line = Line::new(who, Case::Get, connections);
        // The second is the better one.
        for operations in [operations / 2, operations] {
            let mut latencies = Latencies::new();
            for _ in 0..operations {
                latencies.record(Duration::from_micros(10));
            }
            let (took, cpu) = (Duration::from_secs(1), Duration::from_secs(1));
            line.add(Measurement { name: "x", latencies, took, cpu, client_cpu: Some(cpu) });
        }
        line
    }

    #[test]
    fn rates_are_compared_where_both_were_measured() {
        let lines = [
            line(Who::Armilla, 16, 1_000),
            line(Who::AzuriteFile, 16, 100),
            line(Who::Bare, 16, 2_000),
            line(Who::Armilla, 1, 500),
            Line::new(Who::AzuriteMemory, Case::Get, 1),
        ];
        assert_eq!(lines[0].operations, 1_500);
        assert_eq!(
            ratios(&lines),
            [(Case::Get, 16, [Some(10.0), None, Some(0.5)]), (Case::Get, 1, [None, None, None])]
        );
        assert!(lines[4].to_value().is_none());
        assert_eq!(rate_text(12.34), "12.3");
        assert_eq!(rate_text(1234.5), "1234");
    }
}
