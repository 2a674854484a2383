//! What `armilla bench` measured of several numbers of items, put together as series.

use anyhow::{Context as _, Result, ensure};
use armilla_value::{Object, Value, json};

/// The result of one number of items.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Results {
    pub(super) items: u64,
    /// What was set, as names and values.
    pub(super) settings: Vec<(String, String)>,
    rows: Vec<Row>,
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    key: Key,
    per_second: f64,
    cpu_us: Option<f64>,
}

/// What a series is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) workload: String,
    pub(super) side: String,
    pub(super) connections: i64,
    pub(super) state: String,
}

/// The same thing over more and more items.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub(super) key: Key,
    pub(super) points: Vec<Point>,
}

/// What was measured of one number of items.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) items: u64,
    pub(super) per_second: f64,
    pub(super) cpu_us: Option<f64>,
}

impl Series {
    /// Returns how many times the processor time of the fewest items an operation takes with the most.
    pub(super) fn growth(&self) -> Option<f64> {
        let (first, last) = (self.points.first()?.cpu_us?, self.points.last()?.cpu_us?);
        (self.points.len() > 1 && first > 0.0).then(|| last / first)
    }
}

/// Reads a file of results.
pub(super) fn read(items: u64, text: &[u8]) -> Result<Results> {
    let root = json::parse(text).context("it is no JSON")?;
    let settings = root.get("settings").and_then(Value::as_object).into_iter().flat_map(Object::iter);
    let settings = settings.filter_map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
    let rows = root.get("measurements").and_then(Value::as_array).context("it has no measurements")?;
    // Rows of the kinds of operations of a workload are a part of its own.
    let whole = rows.iter().filter(|row| row.get("operation").is_none());
    let rows = whole.map(read_row).collect::<Result<Vec<_>>>()?;
    let results = Results { items, settings: settings.collect(), rows };
    let told = results.setting("items");
    ensure!(
        told.is_none_or(|told| told == items.to_string()),
        "it is about {} items",
        told.unwrap_or_default()
    );
    Ok(results)
}

fn read_row(row: &Value) -> Result<Row> {
    let text = |name: &str| {
        let text = row.get(name).and_then(Value::as_str).map(str::to_owned);
        text.with_context(|| format!("a measurement has no {name}"))
    };
    let number = |name: &str| row.get(name).and_then(Value::as_f64);
    Ok(Row {
        key: Key {
            workload: text("workload")?,
            side: text("side")?,
            connections: row
                .get("connections")
                .and_then(Value::as_i64)
                .context("a measurement has no connections")?,
            state: text("state")?,
        },
        per_second: number("operationsPerSecond").context("a measurement has no operationsPerSecond")?,
        cpu_us: number("cpuUsPerOperation"),
    })
}

impl Results {
    /// Returns what was set.
    pub(super) fn setting(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// Puts results together, in the order in which they name things.
pub(super) fn series(all: &[Results]) -> Vec<Series> {
    let mut series: Vec<Series> = Vec::new();
    for results in all {
        for Row { key, per_second, cpu_us } in &results.rows {
            let point = Point { items: results.items, per_second: *per_second, cpu_us: *cpu_us };
            match series.iter_mut().find(|one| one.key == *key) {
                Some(one) => one.points.push(point),
                None => series.push(Series { key: key.clone(), points: vec![point] }),
            }
        }
    }
    series
}

/// Returns the states that series have, in their order.
pub(super) fn states(series: &[Series]) -> Vec<String> {
    distinct(series, |key| key.state.clone())
}

/// Returns the workloads that series have, in their order.
pub(super) fn workloads(series: &[Series]) -> Vec<String> {
    distinct(series, |key| key.workload.clone())
}

fn distinct(series: &[Series], part: impl Fn(&Key) -> String) -> Vec<String> {
    let mut all = Vec::new();
    for one in series {
        let part = part(&one.key);
        if !all.contains(&part) {
            all.push(part);
        }
    }
    all
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A file of results with these rows: workload, side, connections, state, a second, microseconds.
    pub(in crate::performance) fn sample(items: u64, rows: &[(&str, &str, i64, &str, f64, f64)]) -> Results {
        let row = |(workload, side, connections, state, per_second, cpu_us): &(
            &str,
            &str,
            i64,
            &str,
            f64,
            f64,
        )| {
            format!(
                r#"{{"workload":"{workload}","side":"{side}","connections":{connections},"state":"{state}",
                    "operationsPerSecond":{per_second},"cpuUsPerOperation":{cpu_us}}}"#
            )
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        let text = format!(
            r#"{{"settings":{{"items":"{items}","cores":"2"}},"measurements":[{},
                {{"workload":"mixed","operation":"read"}}]}}"#,
            rows.join(",")
        );
        read(items, text.as_bytes()).unwrap()
    }

    #[test]
    fn results_become_series() {
        let all = [
            sample(
                10,
                &[
                    ("write", "armilla", 1, "loaded", 500.0, 90.0),
                    ("write", "armilla", 1, "rested", 1.0, 2.0),
                ],
            ),
            sample(
                100,
                &[
                    ("write", "armilla", 1, "loaded", 400.0, 99.0),
                    ("write", "postgresql", 1, "loaded", 3.0, 4.0),
                ],
            ),
        ];
        let series = series(&all);
        assert_eq!(series.len(), 3);
        let points: Vec<_> = series[0].points.iter().map(|point| (point.items, point.per_second)).collect();
        assert_eq!(points, [(10, 500.0), (100, 400.0)]);
        assert_eq!(series[0].growth(), Some(1.1));
        assert_eq!((series[1].growth(), series[1].points.len()), (None, 1));
        assert_eq!(states(&series), ["loaded", "rested"]);
        assert_eq!(workloads(&series), ["write"]);
    }

    #[test]
    fn files_that_are_no_results() {
        for (text, expected) in [
            ("", "no JSON"),
            ("{}", "no measurements"),
            (r#"{"measurements":[{"workload":"x","side":"y","connections":1}]}"#, "no state"),
            (r#"{"settings":{"items":"7"},"measurements":[]}"#, "about 7 items"),
        ] {
            let error = format!("{:#}", read(10, text.as_bytes()).unwrap_err());
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
