//! What a server says of its physical partitions: `/_armilla/partitions`, read.
//!
//! Figures of partitions that nobody has opened since the start are not there, and count as nothing here.

use armilla_value::{Value, json};

/// A container with its physical partitions.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerState {
    /// The name of its database.
    pub database: String,
    /// Its own name.
    pub container: String,
    /// Its resource id.
    pub rid: String,
    /// Its own throughput, in request units a second, if it has any.
    pub throughput: Option<u64>,
    /// Whether partitions are still to be split for the throughput that it was given.
    pub pending: bool,
    /// The version of the partition map, which only grows.
    pub map_version: u64,
    /// Why the last split or merge was given up, if it was.
    pub failed: Option<String>,
    /// Its partitions.
    pub partitions: Vec<PartitionState>,
}

/// One physical partition.
#[derive(Debug, Clone, PartialEq)]
pub struct PartitionState {
    /// Its id.
    pub id: u32,
    /// The first hashed key of its arc, in hexadecimal.
    pub min: String,
    /// The hashed key behind its last one.
    pub max: String,
    /// Whether it is being split or merged.
    pub is_splitting: bool,
    /// How far that is, in percent.
    pub percent: Option<u8>,
    /// Its items.
    pub items: u64,
    /// Bytes of its items.
    pub bytes: u64,
    /// Request units that it has served since the start.
    pub total_ru: f64,
    /// Requests that it has served since the start.
    pub total_requests: u64,
    /// Requests that it has refused since the start.
    pub total_refused: u64,
}

impl ContainerState {
    /// Says whether any of its partitions is being split or merged.
    pub fn is_splitting(&self) -> bool {
        self.partitions.iter().any(|partition| partition.is_splitting)
    }

    /// Returns how far the split or merge is that is furthest, in percent.
    pub fn percent(&self) -> Option<u8> {
        self.partitions.iter().filter(|own| own.is_splitting).filter_map(|own| own.percent).max()
    }
}

/// Reads the answer of the server.
pub fn parse(body: &[u8]) -> Result<Vec<ContainerState>, String> {
    let answer = json::parse(body).map_err(|error| format!("the partitions are not JSON: {error}"))?;
    let containers = answer.get("containers").and_then(Value::as_array).ok_or("there are no containers")?;
    containers.iter().map(container).collect()
}

fn container(value: &Value) -> Result<ContainerState, String> {
    let partitions =
        value.get("partitions").and_then(Value::as_array).ok_or("a container has no partitions")?;
    Ok(ContainerState {
        database: text(value, "database")?,
        container: text(value, "container")?,
        rid: text(value, "rid")?,
        throughput: value.get("throughput").and_then(whole),
        pending: is_true(value, "pending"),
        map_version: value.get("mapVersion").and_then(whole).ok_or("a container has no mapVersion")?,
        failed: value.get("failed").and_then(Value::as_str).map(str::to_owned),
        partitions: partitions.iter().map(partition).collect::<Result<_, _>>()?,
    })
}

fn partition(value: &Value) -> Result<PartitionState, String> {
    let figure = |name: &str| value.get(name).and_then(whole).unwrap_or(0);
    let percent = value.get("progressPercent").and_then(whole);
    Ok(PartitionState {
        id: text(value, "id")?.parse().map_err(|_| "a partition's id is not a number")?,
        min: text(value, "minInclusive")?,
        max: text(value, "maxExclusive")?,
        is_splitting: text(value, "status")? == "splitting",
        percent: percent.map(|percent| u8::try_from(percent).unwrap_or(u8::MAX)),
        items: figure("items"),
        bytes: figure("bytes"),
        total_ru: value.get("totalRu").and_then(Value::as_f64).unwrap_or(0.0),
        total_requests: figure("totalRequests"),
        total_refused: figure("totalRefused"),
    })
}

fn text(value: &Value, name: &str) -> Result<String, String> {
    let text = value.get(name).and_then(Value::as_str).map(str::to_owned);
    text.ok_or_else(|| format!("there is no text {name} in {}", json::to_string(value)))
}

fn whole(value: &Value) -> Option<u64> {
    value.as_i64().and_then(|number| u64::try_from(number).ok())
}

fn is_true(value: &Value, name: &str) -> bool {
    matches!(value.get(name), Some(Value::Bool(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = r#"{"containers":[{"database":"d","container":"c","rid":"r","throughput":400,"shared":false,
        "autoscaleNow":null,"pending":true,"mapVersion":3,"failed":null,"partitions":[
        {"id":"1","minInclusive":"","maxExclusive":"1F","parents":["0"],"status":"splitting","progressPercent":40,
         "items":7,"bytes":70,"indexBytes":9,"lsn":8,"totalRu":12.5,"totalRequests":3,"totalRefused":1},
        {"id":"2","minInclusive":"1F","maxExclusive":"FF","parents":["0"],"status":"online"}]}]}"#;

    #[test]
    fn answers_are_read() {
        let containers = parse(ANSWER.as_bytes()).unwrap();
        let [container] = &containers[..] else { panic!("one container") };
        assert_eq!((container.throughput, container.pending, container.map_version), (Some(400), true, 3));
        assert_eq!((container.is_splitting(), container.percent()), (true, Some(40)));
        let [first, second] = &container.partitions[..] else { panic!("two partitions") };
        assert_eq!((first.id, first.items, first.total_requests, first.total_refused), (1, 7, 3, 1));
        assert!((first.total_ru - 12.5).abs() < 1e-9);
        assert_eq!((second.id, second.items, second.percent, second.is_splitting), (2, 0, None, false));
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        for (from, to) in [
            ("\"mapVersion\":3,", ""),
            ("\"id\":\"1\"", "\"id\":\"x\""),
            ("\"status\":\"online\"", "\"status\":1"),
            ("\"containers\"", "\"others\""),
            ("]}]}", "]}"),
        ] {
            assert!(parse(ANSWER.replacen(from, to, 1).as_bytes()).is_err(), "{from}");
        }
    }
}
