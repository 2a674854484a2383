//! Profiles: what each step took and read, as `executionProfile()` and `profile()` show it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use armilla_gremlin_value::Value;

use super::context::Context;
use super::pipeline::{Input, Operator};
use super::traverser::Batch;
use super::values::{list, map};
use crate::error::Result;
use crate::graph::Figures;
use crate::step::{Kind, Traversal};

/// What a step did. Times and figures contain those of the steps before it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Metric {
    time: Duration,
    figures: Figures,
    traversers: u64,
    elements: u64,
}

pub(crate) type Watch = Rc<RefCell<Vec<Metric>>>;

pub(crate) struct Watched<'p> {
    inner: Box<dyn Operator<'p> + 'p>,
    at: usize,
    watch: Watch,
}

impl<'p> Watched<'p> {
    pub(crate) fn new(inner: Box<dyn Operator<'p> + 'p>, at: usize, watch: Watch) -> Watched<'p> {
        Watched { inner, at, watch }
    }
}

impl<'p> Operator<'p> for Watched<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let (began, before) = (cx.graph.elapsed(), cx.graph.figures());
        let result = self.inner.next(input, cx);
        let (ended, after) = (cx.graph.elapsed(), cx.graph.figures());
        let mut metrics = self.watch.borrow_mut();
        if metrics.len() <= self.at {
            metrics.resize(self.at + 1, Metric::default());
        }
        if let Some(metric) = metrics.get_mut(self.at) {
            metric.time += ended.saturating_sub(began);
            metric.figures = add(&metric.figures, &difference(&after, &before));
            if let Ok(Some(batch)) = &result {
                metric.traversers += batch.len() as u64;
                let elements = batch.iter().map(|traverser| traverser.bulk);
                metric.elements = elements.fold(metric.elements, u64::saturating_add);
            }
        }
        result
    }

    fn restart(&mut self) {
        self.inner.restart();
    }

    fn is_done(&self) -> bool {
        self.inner.is_done()
    }
}

fn add(left: &Figures, right: &Figures) -> Figures {
    Figures {
        operations: left.operations + right.operations,
        items: left.items + right.items,
        bytes: left.bytes + right.bytes,
        partitions: left.partitions + right.partitions,
        request_units: left.request_units + right.request_units,
        time: left.time + right.time,
    }
}

fn difference(left: &Figures, right: &Figures) -> Figures {
    Figures {
        operations: left.operations.saturating_sub(right.operations),
        items: left.items.saturating_sub(right.items),
        bytes: left.bytes.saturating_sub(right.bytes),
        partitions: left.partitions.saturating_sub(right.partitions),
        request_units: left.request_units - right.request_units,
        time: left.time.saturating_sub(right.time),
    }
}

fn milliseconds(time: Duration) -> Value {
    Value::Int64(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

fn integer(value: u64) -> Value {
    Value::Int64(i64::try_from(value).unwrap_or(i64::MAX))
}

fn entry(key: &str, value: Value) -> (Value, Value) {
    (Value::text(key), value)
}

/// The name of an operator as the service calls it.
fn operator_name(kind: &Kind) -> &'static str {
    match kind {
        Kind::Lookup(lookup) if lookup.edges => "GetEdges",
        Kind::Lookup(_) => "GetVertices",
        Kind::Adjacent(adjacent) if adjacent.edges => "GetEdges",
        Kind::Adjacent(_) | Kind::EdgeVertex { .. } => "GetNeighborVertices",
        Kind::Coalesce(_) => "Coalesce",
        Kind::Inject { .. } | Kind::Constant(_) => "ConstantSourceOperator",
        Kind::Reduce(_) | Kind::Group { .. } | Kind::GroupCount { .. } | Kind::Tree { .. } => {
            "ProjectAggregation"
        }
        Kind::Has(_) | Kind::Is(_) | Kind::Filter { .. } | Kind::And(_) | Kind::Or(_) => {
            "FilterInBatchOperator"
        }
        Kind::Range { .. } | Kind::Tail(_) | Kind::Sample { .. } => "RangeOperator",
        Kind::Order(_) => "OrderOperator",
        Kind::Dedup { .. } => "DedupOperator",
        Kind::Repeat(_) => "RepeatOperator",
        Kind::Union { .. } => "UnionOperator",
        Kind::AddVertex { .. } => "AddVertex",
        Kind::AddEdge { .. } => "AddEdge",
        Kind::Property(_) | Kind::PropertyMap(_) => "UpdateProperty",
        Kind::Drop => "Drop",
        Kind::Merge(_) => "MergeOperator",
        _ => "ProjectOperator",
    }
}

/// Each step's own share of times and figures.
fn own(metrics: &[Metric]) -> Vec<(Duration, Figures)> {
    let mut before = (Duration::ZERO, Figures::default());
    let mut own = Vec::with_capacity(metrics.len());
    for metric in metrics {
        own.push((metric.time.saturating_sub(before.0), difference(&metric.figures, &before.1)));
        before = (metric.time, metric.figures);
    }
    own
}

/// Makes the answer of `executionProfile()`.
pub(crate) fn execution_profile(
    traversal: &Traversal,
    watch: &Watch,
    script: &str,
    total: Duration,
) -> Value {
    let metrics = watch.borrow();
    let mut rows = Vec::with_capacity(metrics.len());
    let whole = total.as_secs_f64();
    for ((step, metric), (time, figures)) in traversal.steps.iter().zip(metrics.iter()).zip(own(&metrics)) {
        let percent = if whole > 0.0 { time.as_secs_f64() / whole * 100.0 } else { 0.0 };
        let mut row = vec![
            entry("name", Value::text(operator_name(&step.kind))),
            entry("time", milliseconds(time)),
            entry(
                "annotations",
                map(vec![entry("percentTime", Value::Double((percent * 100.0).round() / 100.0))]),
            ),
            entry("counts", map(vec![entry("resultCount", integer(metric.elements))])),
        ];
        if figures.operations > 0 {
            let operation = map(vec![
                entry("fanoutFactor", integer(figures.partitions.max(1) / figures.operations.max(1))),
                entry("count", integer(figures.items)),
                entry("size", integer(figures.bytes)),
                entry("storageCount", integer(figures.operations)),
                entry("time", milliseconds(figures.time)),
            ]);
            row.push(entry("storeOps", list(vec![operation])));
        }
        rows.push(map(row));
    }
    map(vec![
        entry("gremlin", Value::text(script)),
        entry("totalTime", milliseconds(total)),
        entry("metrics", list(rows)),
    ])
}

/// Makes the answer of `profile()`.
pub(crate) fn profile(traversal: &Traversal, watch: &Watch, total: Duration) -> Value {
    let metrics = watch.borrow();
    let mut rows = Vec::with_capacity(metrics.len());
    for (at, ((step, metric), (time, _))) in
        traversal.steps.iter().zip(metrics.iter()).zip(own(&metrics)).enumerate()
    {
        rows.push(map(vec![
            entry("id", Value::text(format!("{at}.0.0()"))),
            entry("name", Value::text(format!("{}Step", step.name))),
            entry("dur", Value::Double(time.as_secs_f64() * 1000.0)),
            entry(
                "counts",
                map(vec![
                    entry("traverserCount", integer(metric.traversers)),
                    entry("elementCount", integer(metric.elements)),
                ]),
            ),
        ]));
    }
    Value::Metrics(Arc::new(armilla_gremlin_value::Map {
        entries: vec![
            entry("dur", Value::Double(total.as_secs_f64() * 1000.0)),
            entry("metrics", list(rows)),
        ],
    }))
}
