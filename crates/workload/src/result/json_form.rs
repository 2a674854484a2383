//! Results as JSON, out and in.

use anyhow::{Context as _, Result, anyhow, bail, ensure};
use armilla_value::{Object, Value, json};

use super::{FORMAT, Row, RunResult, VERSION};
use crate::background::BackgroundWrites;
use crate::circumstances::{Circumstances, State};
use crate::drive::OpenLoop;
use crate::limits::RESULT_ROWS_MAX;
use crate::tally::Quantiles;

/// Returns a result as text, with a row a line.
pub(super) fn write(result: &RunResult) -> Vec<u8> {
    let settings: Object =
        result.settings.iter().map(|(name, value)| (name.as_str(), Value::from(value.as_str()))).collect();
    let texts =
        |texts: &[String]| Value::Array(texts.iter().map(|text| Value::from(text.as_str())).collect());
    let indexes: Object = result.indexes.iter().map(|(side, own)| (side.as_str(), texts(own))).collect();
    let head: [(&str, Value); 7] = [
        ("format", Value::from(FORMAT)),
        ("version", Value::from(VERSION)),
        ("startedAt", Value::from(result.started_at.as_str())),
        ("program", Value::from(result.program.as_str())),
        ("settings", Value::Object(settings)),
        ("indexes", Value::Object(indexes)),
        ("notes", texts(&result.notes)),
    ];
    let mut out = b"{".to_vec();
    for (name, value) in &head {
        json::write_string(name, &mut out);
        out.push(b':');
        json::write(value, &mut out);
        out.extend_from_slice(b",\n");
    }
    out.extend_from_slice(b"\"measurements\":[");
    for (index, row) in result.rows.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        json::write(&row_value(row), &mut out);
    }
    out.extend_from_slice(b"\n]}\n");
    out
}

fn row_value(row: &Row) -> Value {
    let mut object = Object::new();
    object.insert("workload", row.workload.as_str());
    if let Some(operation) = &row.operation {
        object.insert("operation", operation.as_str());
    }
    object.insert("side", row.side.as_str());
    object.insert("connections", i64::from(row.circumstances.connections));
    object.insert("state", row.circumstances.state.name());
    object.insert("loop", if row.open_loop.is_some() { "open" } else { "closed" });
    object.insert("operations", whole(row.operations));
    object.insert("seconds", row.seconds);
    object.insert("operationsPerSecond", row.per_second());
    object.insert("refused", whole(row.refused));
    object.insert("failed", whole(row.failed));
    object.insert("requests", whole(row.requests));
    object.insert("items", whole(row.items));
    if let Some(charge) = row.charge {
        object.insert("requestUnits", charge);
        object.insert("requestUnitsPerOperation", row.charge_per_operation().unwrap_or_default());
    }
    if let Some(seconds) = row.cpu_seconds {
        object.insert("cpuSeconds", seconds);
    }
    if let Some(us) = row.cpu_us_per_operation() {
        object.insert("cpuUsPerOperation", us);
    }
    object.insert("latencyUs", quantiles_value(&row.latency));
    object.insert("serviceUs", quantiles_value(&row.service));
    if let Some(open_loop) = &row.open_loop {
        let members: [(&str, Value); 5] = [
            ("rate", open_loop.rate.into()),
            ("due", whole(open_loop.due)),
            ("unsent", whole(open_loop.unsent)),
            ("lateMaxUs", open_loop.late_max_us.into()),
            ("keptRate", open_loop.has_kept_rate().into()),
        ];
        object.insert("openLoop", Value::Object(members.into()));
    }
    if let Some(background) = &row.background {
        let members = [("rate", background.rate), ("operationsPerSecond", background.per_second)];
        object.insert("backgroundWrites", Value::Object(members.into()));
    }
    let point = |(percentile, us): &(f64, f64)| Value::Array(vec![(*percentile).into(), (*us).into()]);
    object.insert("percentilesUs", Value::Array(row.curve.iter().map(point).collect()));
    if !row.by_second.is_empty() {
        object.insert("bySecond", Value::Array(row.by_second.iter().map(|count| whole(*count)).collect()));
    }
    Value::Object(object)
}

fn quantiles_value(quantiles: &Quantiles) -> Value {
    Value::Object(
        [
            ("mean", quantiles.mean_us),
            ("p50", quantiles.p50_us),
            ("p90", quantiles.p90_us),
            ("p99", quantiles.p99_us),
            ("p999", quantiles.p999_us),
            ("max", quantiles.max_us),
        ]
        .into(),
    )
}

fn whole(number: u64) -> Value {
    Value::Int64(i64::try_from(number).unwrap_or(i64::MAX))
}

/// An object whose members are asked for by name.
struct Members(Value);

/// Reads a result.
pub(super) fn parse(bytes: &[u8]) -> Result<RunResult> {
    let root = Members(json::parse(bytes).map_err(|error| anyhow!("it is no JSON: {error}"))?);
    ensure!(root.get("format").and_then(Value::as_str) == Some(FORMAT), "its format is not {FORMAT}");
    match root.get("version").and_then(Value::as_i64) {
        Some(1..=VERSION) => {}
        Some(version) => {
            bail!("it has version {version} of the format, and this program reads those up to {VERSION}")
        }
        None => bail!("it has no version"),
    }
    let settings = root.get("settings").and_then(Value::as_object).into_iter().flat_map(Object::iter);
    let settings =
        settings.map(|(name, value)| (name.to_owned(), value.as_str().unwrap_or_default().to_owned()));
    let texts = |value: Option<&Value>| -> Vec<String> {
        let array = value.and_then(Value::as_array).unwrap_or_default();
        array.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let indexes = root.get("indexes").and_then(Value::as_object).into_iter().flat_map(Object::iter);
    let indexes = indexes.map(|(side, own)| (side.to_owned(), texts(Some(own))));
    // The first version had one number of connections for all, and measured right after the load.
    let connections =
        root.get("settings").and_then(|settings| settings.get("connections")?.as_str()?.parse().ok());
    let of_all = Circumstances { connections: connections.unwrap_or_default(), state: State::Loaded };
    let rows = root.get("measurements").and_then(Value::as_array).context("it has no measurements")?;
    ensure!(rows.len() <= RESULT_ROWS_MAX, "it has more than {RESULT_ROWS_MAX} measurements");
    Ok(RunResult {
        started_at: root.text("startedAt").unwrap_or_default(),
        program: root.text("program").unwrap_or_default(),
        settings: settings.collect(),
        indexes: indexes.collect(),
        notes: texts(root.get("notes")),
        rows: rows
            .iter()
            .enumerate()
            .map(|(index, row)| {
                read_row(&Members(row.clone()), of_all).with_context(|| format!("measurement {}", index + 1))
            })
            .collect::<Result<_>>()?,
    })
}

fn read_row(members: &Members, of_all: Circumstances) -> Result<Row> {
    let curve = members.get("percentilesUs").and_then(Value::as_array).unwrap_or_default();
    let curve = curve.iter().filter_map(|point| {
        let point = point.as_array()?;
        Some((point.first()?.as_f64()?, point.get(1)?.as_f64()?))
    });
    let by_second = members.get("bySecond").and_then(Value::as_array).unwrap_or_default();
    let open_loop = members.get("openLoop").cloned().map(Members);
    let background = members.get("backgroundWrites").cloned().map(Members);
    Ok(Row {
        workload: members.text("workload")?,
        operation: members.text("operation").ok(),
        side: members.text("side")?,
        circumstances: read_circumstances(members, of_all)?,
        operations: members.count("operations")?,
        seconds: members.number("seconds")?,
        refused: members.count("refused").unwrap_or_default(),
        failed: members.count("failed").unwrap_or_default(),
        requests: members.count("requests").unwrap_or_default(),
        items: members.count("items").unwrap_or_default(),
        charge: members.number("requestUnits").ok(),
        cpu_seconds: members.number("cpuSeconds").ok(),
        latency: read_quantiles(members, "latencyUs")?,
        service: read_quantiles(members, "serviceUs")?,
        curve: curve.collect(),
        open_loop: match open_loop {
            Some(members) => Some(OpenLoop {
                rate: members.number("rate")?,
                due: members.count("due")?,
                unsent: members.count("unsent")?,
                late_max_us: members.number("lateMaxUs")?,
            }),
            None => None,
        },
        by_second: by_second.iter().filter_map(|count| u64::try_from(count.as_i64()?).ok()).collect(),
        background: match background {
            Some(members) => Some(BackgroundWrites {
                rate: members.number("rate")?,
                per_second: members.number("operationsPerSecond")?,
            }),
            None => None,
        },
    })
}

fn read_circumstances(members: &Members, of_all: Circumstances) -> Result<Circumstances> {
    let connections = match members.get("connections") {
        Some(_) => u16::try_from(members.count("connections")?).context("there are too many connections")?,
        None => of_all.connections,
    };
    let state = match members.get("state") {
        Some(_) => {
            let name = members.text("state")?;
            State::of_name(&name).with_context(|| format!("there is no state {name}"))?
        }
        None => of_all.state,
    };
    Ok(Circumstances { connections, state })
}

fn read_quantiles(members: &Members, name: &str) -> Result<Quantiles> {
    let members = Members(members.get(name).cloned().with_context(|| format!("it has no {name}"))?);
    Ok(Quantiles {
        mean_us: members.number("mean")?,
        p50_us: members.number("p50")?,
        p90_us: members.number("p90")?,
        p99_us: members.number("p99")?,
        p999_us: members.number("p999")?,
        max_us: members.number("max")?,
    })
}

impl Members {
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    fn text(&self, name: &str) -> Result<String> {
        let text = self.get(name).and_then(Value::as_str);
        Ok(text.with_context(|| format!("{name} is missing or no text"))?.to_owned())
    }

    fn number(&self, name: &str) -> Result<f64> {
        self.get(name).and_then(Value::as_f64).with_context(|| format!("{name} is missing or no number"))
    }

    fn count(&self, name: &str) -> Result<u64> {
        let count = self.get(name).and_then(Value::as_i64).and_then(|count| u64::try_from(count).ok());
        count.with_context(|| format!("{name} is missing or no count"))
    }
}
