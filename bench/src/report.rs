//! The report: a table for people, JSON for programs.

use armilla_value::{Object, Value, json};

use crate::Options;
use crate::measure::Measurement;

/// Everything that was measured, in order.
pub(crate) struct Report {
    settings: Object,
    measurements: Vec<Measurement>,
    figures: Vec<Figure>,
    ratios: Vec<(&'static str, f64)>,
}

struct Figure {
    name: &'static str,
    value: f64,
    unit: &'static str,
}

/// Which measurements are set in relation: name, of what, to what.
const RATIOS: [(&str, &str, &str); 9] = [
    ("http_read/bare_http", "HTTP: reads", "bare HTTP: reads"),
    ("http_write/raw_store_group_commit", "HTTP: upserts", "raw store: replaces"),
    ("http_replace/raw_store_group_commit", "HTTP: replaces", "raw store: replaces"),
    ("http_load/raw_store_creates", "HTTP: load", "raw store: creates"),
    ("http_write/bare_http_write", "HTTP: upserts", "bare HTTP: writes"),
    ("engine_read/raw_get", "engine: reads, 1 thread", "raw store: gets, 1 thread"),
    ("engine_read/raw_get, 2 threads", "engine: reads, 2 threads", "raw store: gets, 2 threads"),
    ("engine_write/raw_store_group_commit", "engine: upserts", "raw store: replaces"),
    ("http_write/engine_write", "HTTP: upserts", "engine: upserts"),
];

/// The order in which things are measured: what is compared stands together.
const ORDER: [&str; 13] = [
    "raw store: gets, 1 thread",
    "engine: reads, 1 thread",
    "raw store: gets, 2 threads",
    "engine: reads, 2 threads",
    "bare HTTP: reads, two headers in the answer",
    "bare HTTP: reads",
    "HTTP: reads",
    "bare HTTP: writes",
    "raw store: replaces",
    "engine: upserts",
    "HTTP: upserts",
    "engine: replaces",
    "HTTP: replaces",
];

/// Returns a measurement's place in the order.
pub(crate) fn place(name: &str) -> usize {
    ORDER.iter().position(|own| *own == name).unwrap_or(ORDER.len())
}

impl Report {
    pub(crate) fn new(options: &Options, items: usize) -> Report {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let mut settings = Object::new();
        settings.insert("cores", cores as i64);
        settings.insert("items", items as i64);
        settings.insert("itemBytes", options.item_bytes as i64);
        settings.insert("connections", options.setup.connections as i64);
        settings.insert("seconds", options.setup.seconds);
        settings.insert("rounds", options.rounds as i64);
        settings.insert("partitions", i64::from(options.setup.partitions));
        settings.insert("cacheMb", i64::from(options.setup.cache_mb));
        Report { settings, measurements: Vec::new(), figures: Vec::new(), ratios: Vec::new() }
    }

    pub(crate) fn add(&mut self, measurement: Measurement) {
        self.measurements.push(measurement);
    }

    pub(crate) fn figure(&mut self, name: &'static str, value: f64, unit: &'static str) {
        self.figures.push(Figure { name, value, unit });
    }

    pub(crate) fn memory(&mut self, name: &'static str, bytes: u64) {
        self.figure(name, bytes as f64 / (1024.0 * 1024.0), "MB");
    }

    /// Sets measurements in relation, where both were made.
    pub(crate) fn add_ratios(&mut self) {
        let rate = |name: &str| {
            self.measurements.iter().find(|measurement| measurement.name == name).map(Measurement::per_second)
        };
        self.ratios =
            RATIOS.iter().filter_map(|(name, of, to)| Some((*name, rate(of)? / rate(to)?))).collect();
    }

    /// Prints the table.
    pub(crate) fn print(&self) {
        println!("{}", json::to_string(&Value::Object(self.settings.clone())));
        if !self.measurements.is_empty() {
            println!(
                "{:<46} {:>10} {:>9} {:>9} {:>9} {:>9} {:>11} {:>11}",
                "", "a second", "p50 us", "p99 us", "p99.9 us", "max us", "CPU us/op", "client us/op"
            );
        }
        for measurement in &self.measurements {
            let latencies = &measurement.latencies;
            let client = measurement.client_cpu.map(|cpu| measurement.per_operation_us(cpu));
            println!(
                "{:<46} {:>10.0} {:>9.1} {:>9.1} {:>9.1} {:>9.0} {:>11.2} {:>11}",
                measurement.name,
                measurement.per_second(),
                latencies.quantile_us(0.5),
                latencies.quantile_us(0.99),
                latencies.quantile_us(0.999),
                latencies.max_us(),
                measurement.per_operation_us(measurement.cpu),
                client.map_or(String::new(), |client| format!("{client:.2}")),
            );
        }
        for Figure { name, value, unit } in &self.figures {
            println!("{name:<46} {value:>10.1} {unit}");
        }
        for (name, ratio) in &self.ratios {
            println!("{name:<46} {ratio:>10.2}");
        }
    }

    /// Returns everything.
    pub(crate) fn figures(&self) -> Value {
        let measurement = |measurement: &Measurement| {
            let latencies = &measurement.latencies;
            let mut object = Object::new();
            object.insert("name", measurement.name);
            object.insert("operations", latencies.operations() as i64);
            object.insert("seconds", measurement.took.as_secs_f64());
            object.insert("perSecond", measurement.per_second());
            for (name, quantile) in [("p50Us", 0.5), ("p99Us", 0.99), ("p999Us", 0.999)] {
                object.insert(name, latencies.quantile_us(quantile));
            }
            object.insert("maxUs", latencies.max_us());
            object.insert("cpuUsPerOperation", measurement.per_operation_us(measurement.cpu));
            if let Some(client) = measurement.client_cpu {
                object.insert("clientCpuUsPerOperation", measurement.per_operation_us(client));
            }
            Value::Object(object)
        };
        let figure = |Figure { name, value, unit }: &Figure| {
            let mut object = Object::new();
            object.insert("name", *name);
            object.insert("value", *value);
            object.insert("unit", *unit);
            Value::Object(object)
        };
        let mut ratios = Object::new();
        for (name, ratio) in &self.ratios {
            ratios.insert(*name, *ratio);
        }
        let mut all = Object::new();
        all.insert("settings", Value::Object(self.settings.clone()));
        all.insert("measurements", Value::Array(self.measurements.iter().map(measurement).collect()));
        all.insert("figures", Value::Array(self.figures.iter().map(figure).collect()));
        all.insert("ratios", Value::Object(ratios));
        Value::Object(all)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser as _;

    use super::*;
    use crate::measure::Latencies;

    #[test]
    fn figures_come_out_as_json() {
        let options = Options::parse_from(["armilla-bench", "--only", "raw,http"]);
        let mut report = Report::new(&options, 10);
        for name in ["HTTP: reads", "bare HTTP: reads"] {
            let mut latencies = Latencies::new();
            latencies.record(Duration::from_micros(10));
            let second = Duration::from_secs(1);
            report.add(Measurement { name, latencies, took: second, cpu: second, client_cpu: Some(second) });
        }
        report.memory("memory", 3 << 20);
        report.add_ratios();
        let parsed = report.figures();
        assert_eq!(parsed.get("ratios").unwrap().get("http_read/bare_http").unwrap().as_f64(), Some(1.0));
        assert_eq!(parsed.get("measurements").unwrap().as_array().unwrap().len(), 2);
        let figure = &parsed.get("figures").unwrap().as_array().unwrap()[0];
        assert_eq!(figure.get("value").unwrap().as_f64(), Some(3.0));
    }
}
