//! The figures as JSON, for programs.
//!
//! Members are only ever added.

use armilla_value::{Object, Value, json};

use super::{Run, judge};

/// The form of the document.
const FORM: i64 = 1;

/// Returns the figures of all runs.
pub(crate) fn json(runs: &[Run]) -> String {
    let mut document = Object::new();
    document.insert("form".to_owned(), Value::Int64(FORM));
    document.insert("demo".to_owned(), text("blog"));
    document.insert("runs".to_owned(), Value::Array(runs.iter().map(run_value).collect()));
    json::to_string(&Value::Object(document))
}

fn run_value(run: &Run) -> Value {
    let mut object = Object::new();
    let mut put = |name: &str, value: Value| {
        object.insert(name.to_owned(), value);
    };
    put("users", whole(u64::from(run.users)));
    put("seed", whole(run.seed));
    put("connections", whole(u64::from(run.connections)));
    put("rounds", whole(u64::from(run.rounds)));
    put("partitions", whole(u64::from(run.measured.partitions)));
    put("posts", whole(run.totals.posts));
    put("comments", whole(run.totals.comments));
    put("likes", whole(run.totals.likes));
    put("tookSeconds", seconds(run.took));
    if let Some(loaded) = &run.loaded {
        put(
            "load",
            object_of([
                ("items", whole(loaded.items)),
                ("seconds", seconds(loaded.took)),
                ("throttled", whole(loaded.throttled)),
            ]),
        );
    }
    put(
        "catchUp",
        object_of([("changes", whole(run.caught_up.changes)), ("seconds", seconds(run.caught_up.took))]),
    );
    if let Some(settled) = run.settled {
        put("settleSeconds", seconds(settled));
    }
    let fan_outs = run.measured.fan_outs.iter().map(|fan_out| {
        object_of([
            ("version", text(fan_out.version.name())),
            ("postsPerPartition", Value::Double(fan_out.posts_per_partition)),
            ("postsOneByOne", Value::Double(fan_out.posts_one_by_one)),
            ("postsMerged", Value::Double(fan_out.posts_merged)),
            ("feedPage", Value::Double(fan_out.feed_page)),
            ("feedOneByOne", Value::Double(fan_out.feed_one_by_one)),
            ("feedMerged", Value::Double(fan_out.feed_merged)),
        ])
    });
    put("fanOut", Value::Array(fan_outs.collect()));
    put("cells", Value::Array(cells(run)));
    if let Some(lived) = &run.lived {
        put(
            "live",
            object_of([
                ("writes", whole(lived.writes)),
                ("seconds", seconds(lived.took)),
                ("killed", Value::Bool(lived.was_killed)),
                ("repairs", whole(lived.repairs)),
            ]),
        );
    }
    if let Some(checked) = &run.checked {
        put(
            "check",
            object_of([
                ("items", whole(checked.items)),
                ("copies", whole(checked.copies)),
                ("problems", whole(checked.problem_count)),
                ("seconds", seconds(checked.took)),
            ]),
        );
    }
    put("good", Value::Bool(run.is_good()));
    Value::Object(object)
}

fn cells(run: &Run) -> Vec<Value> {
    let cell = |judged: &super::Judged<'_>| {
        let optional = |value: Option<Value>| value.unwrap_or(Value::Null);
        object_of([
            ("operation", text(judged.cell.operation.name())),
            ("version", text(judged.cell.version.name())),
            ("samples", whole(judged.cell.latencies.count() as u64)),
            ("p50Ms", Value::Double(judged.p50_ms())),
            ("p90Ms", Value::Double(judged.cell.latencies.percentile(90.0).as_secs_f64() * 1_000.0)),
            ("p99Ms", Value::Double(judged.p99_ms())),
            ("publishedMs", Value::Double(judged.published.latency_ms)),
            ("latencyKept", Value::Bool(judged.is_latency_kept)),
            ("requestUnits", Value::Double(judged.cell.charge)),
            ("requestUnitsAtPublished", optional(judged.cell.charge_at_published.map(Value::Double))),
            ("publishedRequestUnits", Value::Double(judged.published.charge)),
            ("requestUnitsKept", optional(judged.is_charge_kept.map(Value::Bool))),
            ("requests", Value::Double(judged.cell.requests)),
            ("note", optional(judged.note.map(text))),
        ])
    };
    judge(run).iter().map(cell).collect()
}

fn object_of<const N: usize>(members: [(&str, Value); N]) -> Value {
    let mut object = Object::new();
    for (name, value) in members {
        object.insert(name.to_owned(), value);
    }
    Value::Object(object)
}

fn whole(number: u64) -> Value {
    Value::Int64(i64::try_from(number).unwrap_or(i64::MAX))
}

fn seconds(duration: std::time::Duration) -> Value {
    Value::Double(duration.as_secs_f64())
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}
