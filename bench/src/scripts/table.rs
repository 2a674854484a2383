//! The table of all ways and how they compare, for people and as JSON.

use armilla_value::{Object, Value};

use super::ScriptOptions;
use super::workload::{Case, Requests, Spread, Table, Way};
use crate::columns::{layout, time};
use crate::measure::Measurement;

/// The figures of one way.
pub(super) struct Line {
    pub(super) case: Case,
    pub(super) best: Option<Measurement>,
    /// Request units of an operation, where there are any.
    pub(super) charge: Option<f64>,
    /// Operations of all rounds.
    pub(super) operations: u64,
}

/// Pairs whose rates are compared in each spread.
const PAIRS: [(&str, Way, Way); 6] = [
    ("procedure/batch", Way::Own(Requests::Procedure), Way::Own(Requests::Batch)),
    ("procedure/batch of 20", Way::Own(Requests::LoopProcedure), Way::Own(Requests::LargeBatch)),
    ("procedure/separate", Way::Own(Requests::Procedure), Way::Own(Requests::Separate)),
    ("procedure/PostgreSQL", Way::Own(Requests::Procedure), Way::Postgres(Table::Plain)),
    ("procedure/PostgreSQL with GIN", Way::Own(Requests::Procedure), Way::Postgres(Table::Indexed)),
    ("batch/PostgreSQL", Way::Own(Requests::Batch), Way::Postgres(Table::Plain)),
];

const HEADINGS: [&str; 7] = ["", "a second", "p50", "p99", "RU", "CPU us/op", "client us/op"];

impl Line {
    pub(super) fn new(case: Case) -> Line {
        Line { case, best: None, charge: None, operations: 0 }
    }

    /// Takes a measurement in; the best one counts.
    pub(super) fn add(&mut self, measurement: Measurement, charge: Option<f64>) {
        self.operations += measurement.latencies.operations();
        if self.best.as_ref().is_none_or(|best| best.per_second() < measurement.per_second()) {
            self.best = Some(measurement);
            self.charge = charge;
        }
    }

    fn cells(&self) -> Option<[String; HEADINGS.len()]> {
        let best = self.best.as_ref()?;
        let client = best.client_cpu.map(|cpu| format!("{:.0}", best.per_operation_us(cpu)));
        Some([
            self.case.name().to_owned(),
            format!("{:.0}", best.per_second()),
            time(best.latencies.quantile_us(0.5)),
            time(best.latencies.quantile_us(0.99)),
            self.charge.map_or("-".to_owned(), |charge| format!("{charge:.2}")),
            format!("{:.0}", best.per_operation_us(best.cpu)),
            client.unwrap_or_else(|| "-".to_owned()),
        ])
    }

    fn to_value(&self) -> Option<Value> {
        let best = self.best.as_ref()?;
        let mut object = Object::new();
        object.insert("name", self.case.name());
        object.insert("operations", self.operations as i64);
        object.insert("perSecond", best.per_second());
        object.insert("p50Us", best.latencies.quantile_us(0.5));
        object.insert("p99Us", best.latencies.quantile_us(0.99));
        object.insert("requestUnits", self.charge);
        object.insert("cpuUsPerOperation", best.per_operation_us(best.cpu));
        object.insert("clientCpuUsPerOperation", best.client_cpu.map(|cpu| best.per_operation_us(cpu)));
        Some(Value::Object(object))
    }
}

/// Returns how rates compare, with a name for each.
fn ratios(lines: &[Line]) -> Vec<(String, f64)> {
    let rate = |way, spread| {
        let line = lines.iter().find(|line| line.case == Case { way, spread })?;
        line.best.as_ref().map(Measurement::per_second).filter(|rate| *rate > 0.0)
    };
    let mut ratios = Vec::new();
    for (spread, end) in [(Spread::Apart, ""), (Spread::Hot, ", one counter")] {
        for (name, of, to) in PAIRS {
            if let Some((of, to)) = rate(of, spread).zip(rate(to, spread)) {
                ratios.push((format!("{name}{end}"), of / to));
            }
        }
    }
    for (name, way) in [
        ("procedure: hot/no conflict", Way::Own(Requests::Procedure)),
        ("batch: hot/no conflict", Way::Own(Requests::Batch)),
        ("separate: hot/no conflict", Way::Own(Requests::Separate)),
        ("PostgreSQL: hot/no conflict", Way::Postgres(Table::Plain)),
    ] {
        if let Some((hot, apart)) = rate(way, Spread::Hot).zip(rate(way, Spread::Apart)) {
            ratios.push((name.to_owned(), hot / apart));
        }
    }
    ratios
}

/// Prints everything.
pub(super) fn print(options: &ScriptOptions, lines: &[Line], postgres: Option<&str>) {
    println!(
        "an entry of {} bytes put in and counted, {} connections, {} logical partitions or one, {} physical",
        options.entry_bytes,
        options.connections,
        options.connections * options.keys_per_connection,
        options.partitions
    );
    println!("{}", postgres.unwrap_or("without PostgreSQL"));
    let cells: Vec<_> = lines.iter().filter_map(Line::cells).collect();
    println!("{}", layout(&HEADINGS.map(str::to_owned), &cells).trim_end());
    for (name, ratio) in ratios(lines) {
        println!("{name:<46} {ratio:>6.2}");
    }
}

/// Returns everything as JSON.
pub(super) fn figures(options: &ScriptOptions, lines: &[Line], postgres: Option<&str>) -> Value {
    let mut all = Object::new();
    all.insert("connections", options.connections as i64);
    all.insert("keysPerConnection", options.keys_per_connection as i64);
    all.insert("entryBytes", options.entry_bytes as i64);
    all.insert("seconds", options.seconds);
    all.insert("rounds", options.rounds as i64);
    all.insert("partitions", i64::from(options.partitions));
    all.insert("postgres", postgres.map(str::to_owned));
    all.insert("measurements", lines.iter().filter_map(Line::to_value).collect::<Vec<_>>());
    let mut compared = Object::new();
    for (name, ratio) in ratios(lines) {
        compared.insert(name.as_str(), ratio);
    }
    all.insert("ratios", Value::Object(compared));
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::measure::Latencies;

    fn line(way: Way, spread: Spread, operations: u64) -> Line {
        let mut line = Line::new(Case { way, spread });
        // The second is the better one.
        for operations in [operations / 2, operations] {
            let mut latencies = Latencies::new();
            for _ in 0..operations {
                latencies.record(Duration::from_micros(10));
            }
            let (took, cpu) = (Duration::from_secs(1), Duration::from_secs(1));
            let name = line.case.name();
            line.add(Measurement { name, latencies, took, cpu, client_cpu: Some(cpu) }, Some(1.5));
        }
        line
    }

    #[test]
    fn rates_are_compared_where_both_were_measured() {
        let lines = [
            line(Way::Own(Requests::Procedure), Spread::Apart, 100),
            line(Way::Own(Requests::Batch), Spread::Apart, 200),
            line(Way::Own(Requests::Procedure), Spread::Hot, 10),
            Line::new(Case { way: Way::Postgres(Table::Plain), spread: Spread::Apart }),
        ];
        assert_eq!(lines[0].operations, 150);
        assert_eq!(
            ratios(&lines),
            [("procedure/batch".to_owned(), 0.5), ("procedure: hot/no conflict".to_owned(), 0.1)]
        );
    }
}
