//! What a server says of its partitions, read from its JSON.
//!
//! Only what names a partition must be there: figures that a server does not give are left blank.

use anyhow::{Context, Result};
use armilla_value::Value;

/// All containers.
#[derive(Debug, Default)]
pub struct Listing {
    /// All containers, of all databases.
    pub containers: Vec<ContainerRow>,
}

/// A container.
#[derive(Debug, Clone, Default)]
pub struct ContainerRow {
    /// The name of its database.
    pub database: String,
    /// Its name.
    pub container: String,
    /// Request units a second of its own.
    pub throughput: Option<i64>,
    /// Whether it shares the throughput of its database.
    pub shared: bool,
    /// What autoscale reports at the moment.
    pub autoscale_now: Option<i64>,
    /// Whether its throughput is being changed.
    pub pending: bool,
    /// Why the last split or merge was given up.
    pub failed: Option<String>,
    /// Its physical partitions.
    pub partitions: Vec<PartitionRow>,
}

/// A physical partition.
#[derive(Debug, Clone, Default)]
pub struct PartitionRow {
    /// Its id.
    pub id: String,
    /// The start of its range of hashed keys.
    pub min: String,
    /// The ranges that it comes from.
    pub parents: Vec<String>,
    /// `online`, or what is being done to it.
    pub status: String,
    /// The node that has it, where several serve the account.
    pub node: Option<String>,
    /// How far a split or merge is.
    pub progress_percent: Option<u8>,
    /// How many items it has.
    pub items: Option<i64>,
    /// Bytes of its items.
    pub bytes: Option<i64>,
    /// Bytes of their index.
    pub index_bytes: Option<i64>,
    /// Request units a second that it serves.
    pub provisioned_ru: Option<f64>,
    /// Request units that it served in the last whole second.
    pub used_ru_last_second: Option<f64>,
    /// Requests that it refused for their rate in the last minute.
    pub refused_last_minute: Option<i64>,
    /// The fullest second of the last minute.
    pub normalized_percent: Option<f64>,
    /// The logical key that cost the most, as JSON, and what it cost in the last minute.
    pub hottest: Option<(String, f64)>,
}

impl Listing {
    /// Reads a listing.
    pub(crate) fn read(value: &Value) -> Result<Listing> {
        let containers = rows(value, "containers")?.iter().map(container).collect::<Result<_>>()?;
        Ok(Listing { containers })
    }

    /// Returns a container by its names.
    pub fn container(&self, database: &str, container: &str) -> Option<&ContainerRow> {
        self.containers.iter().find(|row| row.database == database && row.container == container)
    }
}

fn container(value: &Value) -> Result<ContainerRow> {
    Ok(ContainerRow {
        database: text(value, "database")?,
        container: text(value, "container")?,
        throughput: whole(value, "throughput"),
        shared: value.get("shared").and_then(Value::as_bool).unwrap_or(false),
        autoscale_now: whole(value, "autoscaleNow"),
        pending: value.get("pending").and_then(Value::as_bool).unwrap_or(false),
        failed: value.get("failed").and_then(Value::as_str).map(str::to_owned),
        partitions: rows(value, "partitions")?.iter().map(partition).collect::<Result<_>>()?,
    })
}

fn partition(value: &Value) -> Result<PartitionRow> {
    let parents = value.get("parents").and_then(Value::as_array).unwrap_or_default();
    let number = |name| value.get(name).and_then(Value::as_f64);
    let hottest = value.get("hottest").and_then(Value::as_array).and_then(|keys| keys.first());
    Ok(PartitionRow {
        id: text(value, "id")?,
        min: text(value, "minInclusive")?,
        parents: parents.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        status: text(value, "status")?,
        node: value.get("node").and_then(Value::as_str).map(str::to_owned),
        progress_percent: whole(value, "progressPercent").and_then(|percent| u8::try_from(percent).ok()),
        items: whole(value, "items"),
        bytes: whole(value, "bytes"),
        index_bytes: whole(value, "indexBytes"),
        provisioned_ru: number("provisionedRu"),
        used_ru_last_second: number("usedRuLastSecond"),
        refused_last_minute: whole(value, "refusedLastMinute"),
        normalized_percent: number("normalizedPercent"),
        hottest: hottest.and_then(|key| {
            let mut name = Vec::new();
            armilla_value::json::write(key.get("partitionKey")?, &mut name);
            Some((String::from_utf8(name).ok()?, key.get("ru")?.as_f64()?))
        }),
    })
}

fn rows<'v>(value: &'v Value, name: &str) -> Result<&'v [Value]> {
    value.get(name).and_then(Value::as_array).with_context(|| format!("there is no list of {name}"))
}

fn text(value: &Value, name: &str) -> Result<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned).with_context(|| format!("there is no {name}"))
}

fn whole(value: &Value, name: &str) -> Option<i64> {
    value.get(name).and_then(Value::as_i64)
}

#[cfg(test)]
mod tests {
    use armilla_value::json;

    use super::*;

    fn read(text: &str) -> Result<Listing> {
        Listing::read(&json::parse(text.as_bytes()).unwrap())
    }

    #[test]
    fn figures_may_be_missing_but_names_may_not() {
        let listing = read(
            r#"{"containers":[{"database":"d","container":"c","rid":"x","throughput":20000,"shared":false,
            "autoscaleNow":null,"pending":true,"mapVersion":3,"failed":"disk full","partitions":[
            {"id":"0","minInclusive":"","maxExclusive":"20","parents":[],"status":"splitting","progressPercent":42,
             "items":7,"bytes":100,"indexBytes":50,"provisionedRu":10000,"usedRuLastSecond":1.5,
             "refusedLastMinute":3,"normalizedPercent":12.25,"hottest":[{"partitionKey":["a",1],"ru":9.5}]},
            {"id":"2","minInclusive":"20","maxExclusive":"FF","parents":["1"],"status":"online","node":"n","items":null}]}]}"#,
        )
        .unwrap();
        let container = listing.container("d", "c").unwrap();
        assert!(listing.container("d", "x").is_none());
        assert_eq!(
            (container.throughput, container.autoscale_now, container.pending),
            (Some(20_000), None, true)
        );
        assert_eq!(container.failed.as_deref(), Some("disk full"));
        let [first, second] = &container.partitions[..] else { panic!("{container:?}") };
        assert_eq!(
            (first.progress_percent, first.items, first.normalized_percent),
            (Some(42), Some(7), Some(12.25))
        );
        assert_eq!(first.hottest, Some((r#"["a",1]"#.to_owned(), 9.5)));
        assert_eq!((second.parents.as_slice(), second.items), (&["1".to_owned()][..], None));
        assert_eq!(
            (&second.hottest, first.node.as_deref(), second.node.as_deref()),
            (&None, None, Some("n"))
        );
        for (text, expected) in [
            ("[]", "no list of containers"),
            (r#"{"containers":{}}"#, "no list of containers"),
            (r#"{"containers":[{}]}"#, "no database"),
            (r#"{"containers":[{"database":"d","container":"c"}]}"#, "no list of partitions"),
            (r#"{"containers":[{"database":"d","container":"c","partitions":[{}]}]}"#, "no id"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
