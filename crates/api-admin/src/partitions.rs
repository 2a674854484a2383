//! `/_armilla/partitions`: the figures of physical partitions as JSON, for tools and for people who look at them through
//! tools.
//!
//! What is not counted yet, because the partition was not opened since the start, is `null`.

use armilla_engine::{
    ContainerFigures, Histogram, OperationKind, PartitionFigures, RangeFigures, RangeStatus, RequestUnits,
};
use armilla_value::{Object, Value, json};
use http::StatusCode;

use crate::failure::Failure;
use crate::reply::Reply;
use crate::request::Request;

/// Tells of the physical partitions of all containers.
pub(crate) async fn read(request: &Request<'_>) -> Result<Reply, Failure> {
    request.expect_verb("GET")?;
    let containers = request.engine.partitions_everywhere(&request.caller).await?;
    Ok(Reply::json(StatusCode::OK, document(&containers)))
}

/// Tells of the physical partitions of one container, with what bounds them.
pub(crate) async fn read_one(request: &Request<'_>, database: &str, name: &str) -> Result<Reply, Failure> {
    request.expect_verb("GET")?;
    let figures = request.engine.partitions_of(&request.caller, database, name).await?;
    let limits = request.engine.limits();
    let mut bounds = Object::default();
    bounds.insert("physicalPartitionRu", i64::from(limits.physical_partition_ru));
    bounds.insert("physicalPartitionBytes", count(limits.physical_partition_bytes));
    bounds.insert("logicalPartitionBytes", count(limits.logical_partition_bytes_max));
    let mut document = container(&figures, Detail::All);
    document.insert("limits", bounds);
    Ok(Reply::json(StatusCode::OK, json::to_string(&document.into())))
}

/// How much is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// What fits where all containers are told of.
    Short,
    /// Latencies as histograms, too.
    All,
}

fn document(containers: &[ContainerFigures]) -> Vec<u8> {
    let mut document = Object::default();
    let containers: Vec<Object> =
        containers.iter().map(|figures| container(figures, Detail::Short)).collect();
    let mut text = Vec::with_capacity(1_024 * (1 + containers.len()));
    document.insert("containers", containers);
    json::write(&document.into(), &mut text);
    text
}

fn container(figures: &ContainerFigures, detail: Detail) -> Object {
    let mut object = Object::default();
    object.insert("database", figures.database.as_str());
    object.insert("container", figures.container.as_str());
    object.insert("rid", figures.rid.as_str());
    object.insert("throughput", figures.throughput);
    object.insert("shared", figures.shared);
    object.insert("autoscaleNow", figures.autoscale_now);
    object.insert("pending", figures.pending);
    object.insert("mapVersion", count(figures.map_version));
    object.insert("failed", figures.failed.clone());
    object.insert(
        "partitions",
        figures.partitions.iter().map(|range| partition(range, detail)).collect::<Vec<Object>>(),
    );
    object
}

fn partition(range: &RangeFigures, detail: Detail) -> Object {
    let mut object = Object::default();
    object.insert("id", range.id.to_string());
    object.insert("minInclusive", range.min.as_str());
    object.insert("maxExclusive", range.max.as_str());
    object.insert("parents", range.parents.iter().map(u32::to_string).collect::<Vec<String>>());
    object.insert("status", status_word(range.status));
    object.insert("node", range.node.clone());
    push_figures(&mut object, range.figures.as_ref(), detail);
    object
}

fn push_figures(object: &mut Object, figures: Option<&PartitionFigures>, detail: Detail) {
    let of = |value: fn(&PartitionFigures) -> Value| figures.map_or(Value::Null, value);
    object.insert("progressPercent", of(|figures| figures.reshaping.map(u32::from).into()));
    object.insert("items", of(|figures| count(figures.items)));
    object.insert("bytes", of(|figures| count(figures.bytes)));
    object.insert("indexBytes", of(|figures| count(figures.index_bytes)));
    object.insert("lsn", of(|figures| count(figures.lsn)));
    object.insert("provisionedRu", of(|figures| units(figures.rate)));
    object.insert("usedRuLastSecond", of(|figures| units(figures.governor.last_second.charge)));
    object.insert("usedRuLastMinute", of(|figures| units(figures.governor.last_minute.charge)));
    object.insert("refusedLastMinute", of(|figures| count(figures.governor.last_minute.refused)));
    object.insert("requestsLastMinute", of(|figures| count(figures.governor.last_minute.requests)));
    object.insert("normalizedPercent", of(|figures| rounded(figures.governor.normalized_percent)));
    object.insert("totalRu", of(|figures| units(figures.governor.charge)));
    object.insert("totalRequests", of(|figures| count(figures.governor.requests)));
    object.insert("totalRefused", of(|figures| count(figures.governor.refused)));
    object.insert("hottest", of(hottest));
    object.insert("latencies", figures.map_or(Value::Null, |figures| latencies(figures, detail)));
}

fn hottest(figures: &PartitionFigures) -> Value {
    let keys = figures.hottest.iter().map(|(key, charge)| {
        let mut object = Object::default();
        object.insert("partitionKey", json::parse(key.to_json().as_bytes()).unwrap_or(Value::Null));
        object.insert("ru", units(*charge));
        object
    });
    keys.collect::<Vec<Object>>().into()
}

fn latencies(figures: &PartitionFigures, detail: Detail) -> Value {
    let mut object = Object::default();
    for (kind, histogram) in &figures.governor.latencies {
        object.insert(operation_word(*kind), latency(histogram, detail));
    }
    object.into()
}

fn latency(histogram: &Histogram, detail: Detail) -> Object {
    let quantile = |fraction| histogram.quantile_us(fraction).map_or(Value::Null, count);
    let mut object = Object::default();
    object.insert("count", count(histogram.count()));
    object.insert("p50Us", quantile(0.5));
    object.insert("p99Us", quantile(0.99));
    if detail == Detail::All {
        object.insert("upTo", cumulative(histogram));
    }
    object
}

/// Returns how many took up to how many microseconds, from the first bound that was kept to the last.
fn cumulative(histogram: &Histogram) -> Vec<Value> {
    let all = histogram.count();
    let mut steps: Vec<Value> = Vec::new();
    let mut before = 0;
    for (bound_us, number) in histogram.cumulative() {
        if number > 0 {
            steps.push(Value::Array(vec![count(bound_us), count(number)]));
        }
        before = number;
        if number == all {
            break;
        }
    }
    if before < all {
        steps.push(Value::Array(vec![Value::Null, count(all)]));
    }
    steps
}

fn operation_word(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Read => "read",
        OperationKind::Write => "write",
        OperationKind::Query => "query",
        OperationKind::Script => "script",
    }
}

/// Returns a whole number; JSON of ours holds those of 63 bits exactly.
fn count(number: u64) -> Value {
    i64::try_from(number).unwrap_or(i64::MAX).into()
}

/// Returns request units, with two decimals.
fn units(charge: RequestUnits) -> Value {
    Value::from(charge.hundredths() as f64 / 100.0)
}

/// Returns a number with two decimals.
fn rounded(number: f64) -> Value {
    Value::from((number * 100.0).round() / 100.0)
}

/// Returns the state of a range in the word that the partition map has for it.
fn status_word(status: RangeStatus) -> &'static str {
    match status {
        RangeStatus::Online => "online",
        RangeStatus::Splitting => "splitting",
    }
}
