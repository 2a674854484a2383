//! An explained query as JSON: what is done, how items are found in each partition, and what each step cost.

use armilla_engine::plans::{LogicalPlan, PhysicalPlan, PricedPart, PricedWork, Served};
use armilla_engine::{Explanation, QueryPage};
use armilla_value::{Object, Value, json};

/// Writes how a query would be answered.
pub(crate) fn plan(explanation: &Explanation) -> Vec<u8> {
    let mut object = Object::new();
    object.insert("plan", steps(&explanation.plan));
    let partitions = explanation.partitions.iter().map(|partition| {
        let mut object = Object::new();
        object.insert("id", partition.range_id.to_string());
        object.insert("items", number(partition.item_count));
        add_access(&mut object, &partition.plan);
        Value::Object(object)
    });
    object.insert("partitions", Value::Array(partitions.collect()));
    written(object)
}

/// Writes how a page was answered, and what it cost.
pub(crate) fn run(explanation: &Explanation, page: &QueryPage) -> Vec<u8> {
    let mut object = Object::new();
    object.insert("plan", steps(&explanation.plan));
    // Where a page came to its end early, not all partitions were reached.
    let reached = page.plans.iter().map(|plan| {
        let mut object = Object::new();
        add_access(&mut object, plan);
        Value::Object(object)
    });
    object.insert("partitions", Value::Array(reached.collect()));
    object.insert("rows", number(page.row_count() as u64));
    object.insert("itemsLookedAt", number(page.metrics.retrieved_count));
    object.insert("price", Value::Array(page.price().iter().map(part).collect()));
    object.insert("charge", units(page.charge.hundredths() as i64));
    written(object)
}

fn written(object: Object) -> Vec<u8> {
    let mut text = Vec::new();
    json::write(&Value::Object(object), &mut text);
    text
}

fn steps(plan: &LogicalPlan) -> Value {
    lines(&plan.to_string())
}

fn add_access(object: &mut Object, plan: &PhysicalPlan) {
    object.insert("access", lines(&plan.to_string()));
    object.insert("indexes", Value::Array(plan.served.iter().map(index).collect()));
    object.insert("missingIndexes", Value::Array(plan.missing.iter().map(index).collect()));
}

fn lines(text: &str) -> Value {
    Value::Array(text.lines().map(Value::from).collect())
}

fn index(served: &Served) -> Value {
    let mut object = Object::new();
    object
        .insert("paths", Value::Array(served.paths.iter().map(|path| Value::from(path.as_str())).collect()));
    object.insert("isComposite", served.composite);
    object.insert("isPrecise", served.precise);
    Value::Object(object)
}

fn part(part: &PricedPart) -> Value {
    let mut object = Object::new();
    object.insert("what", what(part.work));
    object.insert("count", number(part.count));
    if part.bytes > 0 {
        object.insert("bytes", number(part.bytes));
    }
    object.insert("charge", units(part.hundredths));
    Value::Object(object)
}

fn what(work: PricedWork) -> &'static str {
    match work {
        PricedWork::Partitions => "visit partitions",
        PricedWork::Seeks => "seek in indexes",
        PricedWork::Fetched => "load items by an index",
        PricedWork::Scanned => "load items by a scan",
        PricedWork::Entries => "walk index entries",
        PricedWork::AggregateRows => "aggregate rows",
        PricedWork::JoinTuples => "join",
        PricedWork::FunctionCalls => "call functions",
        PricedWork::Steps => "compute",
        PricedWork::Rest => "rest to the least charge",
    }
}

fn number(number: u64) -> Value {
    i64::try_from(number).map_or(Value::Double(number as f64), Value::Int64)
}

/// Returns hundredths of a request unit as request units.
fn units(hundredths: i64) -> Value {
    Value::Double(hundredths as f64 / 100.0)
}
