//! `V()` and `E()`.

use std::sync::Arc;

use armilla_gremlin_value::{Key, Value};

use super::context::Context;
use super::pipeline::{Input, Operator};
use super::traverser::{Batch, FastMap, Traverser};
use crate::compile::PathNeed;
use crate::error::{MachineError, Result};
use crate::graph::{Condition, ElementId, Lookup, Pages};
use crate::limits;
use crate::step::{LookupStep, Step};

pub(crate) struct LookupOperator<'p> {
    step: &'p Step,
    lookup: &'p LookupStep,
    /// Inputs whose lookups were not made yet.
    waiting: Vec<Traverser>,
    open: Option<Open<'p>>,
    counted: bool,
}

struct Open<'p> {
    /// All that one lookup is made for.
    inputs: Vec<Traverser>,
    pages: Box<dyn Pages<Value> + 'p>,
    /// The page that is given to the inputs, and the next of them.
    page: Vec<Value>,
    at: usize,
    /// How often each element is to be found, where ids are named more than once.
    repeats: Option<FastMap<Key, u32>>,
}

impl Open<'_> {
    /// Gives the page to inputs, as many as a batch has room for.
    fn next_batch(&mut self, labels: &Arc<[Arc<str>]>, path: PathNeed) -> Batch {
        let mut batch = Vec::with_capacity(self.page.len());
        while let Some(input) = self.inputs.get(self.at) {
            if !batch.is_empty() && batch.len() + self.page.len() > limits::BATCH_MAX {
                break;
            }
            self.at += 1;
            for value in &self.page {
                let traverser = input.to(value.clone(), labels, path);
                let times = self.repeats.as_ref().map_or(1, |repeats| {
                    repeats.get(&Key(traverser.value.as_id_text())).copied().unwrap_or(1)
                });
                for _ in 1..times {
                    batch.push(traverser.clone());
                }
                batch.push(traverser);
            }
        }
        batch
    }
}

/// Pages of elements as values.
struct AsValues<'p, T> {
    pages: Box<dyn Pages<T> + 'p>,
    value: fn(T) -> Value,
}

impl<T> Pages<Value> for AsValues<'_, T> {
    fn next_page(&mut self) -> crate::graph::GraphResult<Option<Vec<Value>>> {
        Ok(self.pages.next_page()?.map(|page| page.into_iter().map(self.value).collect()))
    }
}

impl<'p> LookupOperator<'p> {
    pub(crate) fn new(step: &'p Step, lookup: &'p LookupStep) -> LookupOperator<'p> {
        LookupOperator { step, lookup, waiting: Vec::new(), open: None, counted: false }
    }

    fn request(&self) -> Result<(Lookup, Option<FastMap<Key, u32>>)> {
        let mut repeats: Option<FastMap<Key, u32>> = None;
        let mut ids = None;
        if let Some(given) = &self.lookup.ids {
            let mut list = Vec::with_capacity(given.len());
            for id in given {
                element_ids(id, self.lookup.edges, true, &mut list)?;
            }
            // The same id given twice finds its element twice.
            if list.len() > 1 {
                let mut times: FastMap<Key, u32> = FastMap::default();
                for id in &list {
                    if let ElementId::Id(id) = id {
                        *times.entry(Key(id.as_id_text())).or_default() += 1;
                    }
                }
                if times.values().any(|times| *times > 1) {
                    repeats = Some(times);
                }
            }
            ids = Some(list);
        }
        let limit = if repeats.is_some() { None } else { self.lookup.limit };
        let lookup =
            Lookup { ids, conditions: self.lookup.conditions.clone(), limit, need: self.lookup.need };
        Ok((lookup, repeats))
    }

    fn open(&self, inputs: Vec<Traverser>, cx: &mut Context<'p>) -> Result<Open<'p>> {
        let (lookup, repeats) = self.request()?;
        let pages: Box<dyn Pages<Value> + 'p> = if self.lookup.edges {
            Box::new(AsValues { pages: cx.graph.edges(&lookup)?, value: Value::Edge })
        } else {
            Box::new(AsValues { pages: cx.graph.vertices(&lookup)?, value: Value::Vertex })
        };
        let at = inputs.len();
        Ok(Open { inputs, pages, page: Vec::new(), at, repeats })
    }

    /// Counts for every input, without reading elements where the graph can.
    fn count(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.counted, true) {
            return Ok(None);
        }
        let mut counts = vec![0u64; input.origins as usize];
        let mut each = None;
        while let Some(batch) = input.next(cx)? {
            for traverser in batch {
                let count = match each {
                    Some(count) => count,
                    None => {
                        let (lookup, _) = self.request()?;
                        let count = if self.lookup.edges {
                            cx.graph.count_edges(&lookup)?
                        } else {
                            cx.graph.count_vertices(&lookup)?
                        };
                        *each.insert(count)
                    }
                };
                if let Some(sum) = counts.get_mut(traverser.origin as usize) {
                    *sum = sum.saturating_add(count.saturating_mul(traverser.bulk));
                }
            }
        }
        Ok(Some(super::reduce::numbers(counts, &self.step.labels, cx)))
    }
}

impl<'p> Operator<'p> for LookupOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if self.lookup.count {
            return self.count(input, cx);
        }
        loop {
            cx.graph.check()?;
            if let Some(open) = &mut self.open {
                if open.at < open.inputs.len() {
                    let batch = open.next_batch(&self.step.labels, cx.path);
                    if batch.is_empty() {
                        continue;
                    }
                    return Ok(Some(batch));
                }
                if let Some(page) = open.pages.next_page()? {
                    open.page = page;
                    open.at = 0;
                    continue;
                }
                self.open = None;
            }
            if !self.waiting.is_empty() {
                // What is written on the way is seen by the lookups that come later.
                let inputs =
                    if cx.writes { vec![self.waiting.remove(0)] } else { std::mem::take(&mut self.waiting) };
                self.open = Some(
                    self.open(inputs, cx).map_err(|error| error.at(&self.step.name, self.step.position))?,
                );
                continue;
            }
            let Some(batch) = input.next(cx)? else { return Ok(None) };
            self.waiting = batch;
        }
    }

    fn restart(&mut self) {
        self.counted = false;
        self.open = None;
        self.waiting.clear();
    }
}

/// Reads what `V()` and `E()` take as ids: values, elements, lists of them, and pairs of partition and id.
pub(crate) fn element_ids(
    value: &Value,
    edges: bool,
    outermost: bool,
    ids: &mut Vec<ElementId>,
) -> Result<()> {
    match value {
        Value::Null => {}
        Value::List(values) if outermost && values.len() == 2 && values.iter().all(is_scalar) => {
            if let [partition, id] = values.as_slice() {
                ids.push(ElementId::InPartition { partition: partition.clone(), id: id.clone() });
            }
        }
        Value::List(values) | Value::Set(values) if outermost => {
            for value in values.iter() {
                element_ids(value, edges, false, ids)?;
            }
        }
        // Inside of a list, too, a pair names an element.
        Value::List(values) if values.len() == 2 && values.iter().all(is_scalar) => {
            if let [partition, id] = values.as_slice() {
                ids.push(ElementId::InPartition { partition: partition.clone(), id: id.clone() });
            }
        }
        Value::Vertex(vertex) => ids.push(id_of(&vertex.id, vertex.partition.as_ref())),
        Value::Edge(edge) => ids.push(id_of(&edge.id, edge.partition.as_ref())),
        value if is_scalar(value) => ids.push(ElementId::Id(value.clone())),
        value => {
            let what = if edges { "E" } else { "V" };
            return Err(MachineError::runtime(format!("{what}() takes no {} as an id", value.type_word())));
        }
    }
    Ok(())
}

fn id_of(id: &Value, partition: Option<&Value>) -> ElementId {
    match partition {
        Some(partition) => ElementId::InPartition { partition: partition.clone(), id: id.clone() },
        None => ElementId::Id(id.clone()),
    }
}

fn is_scalar(value: &Value) -> bool {
    value.is_number()
        || matches!(
            value,
            Value::String(_) | Value::Bool(_) | Value::Uuid(_) | Value::Char(_) | Value::Date { .. }
        )
}

/// Says whether a value is an element that satisfies conditions, whose properties must have been read.
pub(crate) fn satisfies(value: &Value, conditions: &[Condition]) -> Result<bool> {
    Ok(match value {
        Value::Vertex(vertex) => conditions.iter().all(|condition| condition.holds_for_vertex(vertex)),
        Value::Edge(edge) => conditions.iter().all(|condition| condition.holds_for_edge(edge)),
        Value::VertexProperty(property) => conditions.iter().all(|condition| {
            let meta = |key: &str| property.properties.iter().find(|other| other.key.as_ref() == key);
            match condition {
                Condition::Id(predicate) => crate::graph::id_satisfies(predicate, &property.id),
                Condition::Label(predicate) => predicate.test(&Value::String(property.key.clone())),
                Condition::Property { key, predicate } => {
                    meta(key).is_some_and(|property| predicate.test(&property.value))
                }
                Condition::Has(key) => meta(key).is_some(),
                Condition::HasNot(key) => meta(key).is_none(),
            }
        }),
        _ => false,
    })
}

/// Most of what one lookup is asked for.
pub(crate) fn next_gather(now: usize) -> usize {
    now.saturating_mul(2).min(limits::GATHER_MAX)
}
