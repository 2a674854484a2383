//! What a running traversal has: the graph, side effects, memory, rounds, and elements that it wrote.

use std::sync::Arc;

use armilla_gremlin_value::{Edge, Key, Value, Vertex};

use super::pipeline::Pipeline;
use super::traverser::{Batch, FastMap, Traverser};
use crate::compile::{PathNeed, Plan, SideKind};
use crate::error::{ErrorKind, MachineError, Result};
use crate::graph::Graph;
use crate::options::Options;
use crate::step::{By, Operator, Traversal};

pub(crate) struct Context<'p> {
    pub(crate) graph: &'p dyn Graph,
    pub(crate) options: &'p Options,
    pub(crate) path: PathNeed,
    /// Whether traversers that are alike may become one.
    pub(crate) merges: bool,
    /// Whether traversers that became one count as one (`withBulk(false)`).
    pub(crate) one_bulk: bool,
    /// Whether a `by` that yields nothing yields null.
    pub(crate) productive_by: bool,
    /// Whether the traversal has steps that write.
    pub(crate) writes: bool,
    pub(crate) sack_merge: Option<Operator>,
    pub(crate) side_effects: Vec<(Arc<str>, SideEffect<'p>)>,
    /// Rounds of the repeats around, the innermost last.
    pub(crate) loops: Vec<(Option<Arc<str>>, u32)>,
    pub(crate) memory: u64,
    random: u64,
    /// Work since the last look at the clock and the client.
    pub(crate) worked: u64,
    /// Elements as this traversal last wrote them; none if it dropped them.
    pub(crate) vertices: FastMap<Key, Option<Arc<Vertex>>>,
    pub(crate) edges: FastMap<Key, Option<Arc<Edge>>>,
}

/// What a side effect has collected.
#[derive(Debug, Clone)]
pub(crate) enum SideEffect<'p> {
    Value(Value, Option<Operator>),
    /// What `aggregate` and `store` collected.
    Collected(Vec<(Value, u64)>),
    Groups(super::group::Groups, &'p [By]),
    Counts(super::group::Counts),
    Tree(armilla_gremlin_value::Tree),
}

fn is_set(plan: &Plan, key: &Arc<str>) -> bool {
    plan.settings.side_effects.iter().any(|(other, ..)| other == key)
}

/// Makes a side effect that has collected nothing yet.
fn empty<'p>((key, kind): &(Arc<str>, SideKind)) -> (Arc<str>, SideEffect<'p>) {
    let effect = match kind {
        SideKind::Collected => SideEffect::Collected(Vec::new()),
        SideKind::Groups => SideEffect::Groups(super::group::Groups::default(), &[]),
        SideKind::Counts => SideEffect::Counts(super::group::Counts::default()),
        SideKind::Tree => SideEffect::Tree(armilla_gremlin_value::Tree::default()),
    };
    (key.clone(), effect)
}

impl<'p> Context<'p> {
    pub(crate) fn new(plan: &'p Plan, graph: &'p dyn Graph, options: &'p Options) -> Context<'p> {
        let merge = plan.settings.sack.as_ref().and_then(|sack| sack.merge);
        Context {
            graph,
            options,
            path: plan.path,
            merges: plan.path != PathNeed::All && (!plan.uses_sack || merge.is_some()),
            one_bulk: plan.settings.no_bulk,
            sack_merge: merge,
            productive_by: plan.settings.productive_by,
            writes: plan.writes,
            side_effects: plan
                .settings
                .side_effects
                .iter()
                .map(|(key, value, operator)| (key.clone(), SideEffect::Value(value.clone(), *operator)))
                .chain(plan.side_effects.iter().filter(|(key, _)| !is_set(plan, key)).map(empty))
                .collect(),
            loops: Vec::new(),
            memory: 0,
            worked: 0,
            random: plan
                .settings
                .seed
                .map_or(options.seed, |seed| (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))
                | 1,
            vertices: FastMap::default(),
            edges: FastMap::default(),
        }
    }

    /// Counts bytes that are held until they are released.
    pub(crate) fn hold(&mut self, bytes: u64) -> Result<()> {
        self.memory = self.memory.saturating_add(bytes);
        let max = self.options.memory_bytes_max;
        if self.memory > max {
            return Err(MachineError::new(
                ErrorKind::Memory,
                format!("Query exceeded memory limit. Bytes Consumed: {}, Max: {max}", self.memory),
            ));
        }
        Ok(())
    }

    pub(crate) fn release(&mut self, bytes: u64) {
        self.memory = self.memory.saturating_sub(bytes);
    }

    /// Counts the bytes of traversers, and returns how many these are.
    pub(crate) fn hold_batch(&mut self, batch: &[Traverser]) -> Result<u64> {
        let bytes = batch.iter().map(|traverser| 96 + bytes_of(&traverser.value)).sum();
        self.hold(bytes)?;
        Ok(bytes)
    }

    /// Draws a number.
    pub(crate) fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Draws a number from zero up to one.
    pub(crate) fn draw_real(&mut self) -> f64 {
        (self.draw() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn side_effect(&mut self, key: &str) -> Option<&mut SideEffect<'p>> {
        self.side_effects.iter_mut().find(|(other, _)| other.as_ref() == key).map(|(_, effect)| effect)
    }

    pub(crate) fn set_side_effect(&mut self, key: &Arc<str>, effect: SideEffect<'p>) {
        match self.side_effect(key) {
            Some(place) => *place = effect,
            None => self.side_effects.push((key.clone(), effect)),
        }
    }

    /// Runs a local child over inputs: results have the index of their input as origin.
    pub(crate) fn local(&mut self, child: &'p Traversal, inputs: Batch) -> Result<Batch> {
        let origins = inputs.len() as u32;
        if origins == 0 {
            return Ok(Vec::new());
        }
        let mut inputs = inputs;
        for (at, input) in inputs.iter_mut().enumerate() {
            input.origin = at as u32;
            input.bulk = 1;
        }
        if child.steps.is_empty() {
            return Ok(inputs);
        }
        if child.sequential && origins > 1 {
            let mut all = Vec::new();
            for mut input in inputs {
                let origin = std::mem::take(&mut input.origin);
                let mut pipeline = Pipeline::new(child, 1);
                pipeline.push(vec![input]);
                let results = pipeline.drain(self)?;
                all.extend(results.into_iter().map(|result| Traverser { origin, ..result }));
            }
            return Ok(all);
        }
        let mut pipeline = Pipeline::new(child, origins);
        pipeline.push(inputs);
        pipeline.drain(self)
    }

    /// Runs a local child and returns for each input whether it has results.
    pub(crate) fn tests(&mut self, child: &'p Traversal, inputs: &[Traverser]) -> Result<Vec<bool>> {
        let mut found = vec![false; inputs.len()];
        for result in self.local(child, inputs.to_vec())? {
            if let Some(place) = found.get_mut(result.origin as usize) {
                *place = true;
            }
        }
        Ok(found)
    }

    /// Runs a local child and returns for each input its first result.
    pub(crate) fn firsts(
        &mut self,
        child: &'p Traversal,
        inputs: &[Traverser],
    ) -> Result<Vec<Option<Traverser>>> {
        let mut found: Vec<Option<Traverser>> = vec![None; inputs.len()];
        for result in self.local(child, inputs.to_vec())? {
            if let Some(place) = found.get_mut(result.origin as usize)
                && place.is_none()
            {
                *place = Some(result);
            }
        }
        Ok(found)
    }

    /// Makes sure that the elements among values have their properties, as they are now.
    pub(crate) fn hydrate(&mut self, batch: &mut [Traverser]) -> Result<()> {
        let mut values: Vec<&mut Value> = batch.iter_mut().map(|traverser| &mut traverser.value).collect();
        self.hydrate_values(&mut values)
    }

    pub(crate) fn hydrate_values(&mut self, values: &mut [&mut Value]) -> Result<()> {
        let written = !self.vertices.is_empty() || !self.edges.is_empty();
        let mut vertices: Vec<(usize, Arc<Vertex>)> = Vec::new();
        let mut edges: Vec<(usize, Arc<Edge>)> = Vec::new();
        for (at, value) in values.iter_mut().enumerate() {
            if written {
                self.refresh(value);
            }
            match &**value {
                Value::Vertex(vertex) if vertex.properties.is_none() => vertices.push((at, vertex.clone())),
                Value::Edge(edge) if edge.properties.is_none() => edges.push((at, edge.clone())),
                _ => {}
            }
        }
        if !vertices.is_empty() {
            let (unique, places) =
                unique(vertices.iter().map(|(_, vertex)| vertex), |vertex| Value::Vertex(vertex.clone()));
            let loaded = self.graph.load_vertices(&unique)?;
            for ((at, vertex), place) in vertices.into_iter().zip(places) {
                let whole = loaded.get(place).cloned().flatten().unwrap_or_else(|| {
                    Arc::new(Vertex { properties: Some(Arc::default()), ..vertex.as_ref().clone() })
                });
                if let Some(value) = values.get_mut(at) {
                    **value = Value::Vertex(whole);
                }
            }
        }
        if !edges.is_empty() {
            let (unique, places) =
                unique(edges.iter().map(|(_, edge)| edge), |edge| Value::Edge(edge.clone()));
            let loaded = self.graph.load_edges(&unique)?;
            for ((at, edge), place) in edges.into_iter().zip(places) {
                let whole = loaded.get(place).cloned().flatten().unwrap_or_else(|| {
                    Arc::new(Edge { properties: Some(Arc::default()), ..edge.as_ref().clone() })
                });
                if let Some(value) = values.get_mut(at) {
                    **value = Value::Edge(whole);
                }
            }
        }
        Ok(())
    }

    /// Replaces an element by what this traversal wrote of it.
    fn refresh(&self, value: &mut Value) {
        match value {
            Value::Vertex(vertex) => {
                if let Some(Some(written)) = self.vertices.get(&Key(Value::Vertex(vertex.clone()))) {
                    *value = Value::Vertex(written.clone());
                }
            }
            Value::Edge(edge) => {
                if let Some(Some(written)) = self.edges.get(&Key(Value::Edge(edge.clone()))) {
                    *value = Value::Edge(written.clone());
                }
            }
            _ => {}
        }
    }

    /// Remembers a vertex as it was written.
    pub(crate) fn wrote_vertex(&mut self, vertex: &Arc<Vertex>) {
        self.vertices.insert(Key(Value::Vertex(vertex.clone())), Some(vertex.clone()));
    }

    /// Remembers an edge as it was written.
    pub(crate) fn wrote_edge(&mut self, edge: &Arc<Edge>) {
        self.edges.insert(Key(Value::Edge(edge.clone())), Some(edge.clone()));
    }
}

fn unique<'a, T: Clone + 'a>(
    items: impl Iterator<Item = &'a T>,
    value: impl Fn(&T) -> Value,
) -> (Vec<T>, Vec<usize>) {
    let mut seen: FastMap<Key, usize> = FastMap::default();
    let mut unique = Vec::new();
    let mut places = Vec::new();
    for item in items {
        let place = *seen.entry(Key(value(item))).or_insert_with(|| {
            unique.push(item.clone());
            unique.len() - 1
        });
        places.push(place);
    }
    (unique, places)
}

/// Estimates the bytes that a value takes.
pub(crate) fn bytes_of(value: &Value) -> u64 {
    match value {
        Value::String(text) | Value::BigDecimal(text) => 32 + text.len() as u64,
        Value::Bytes(bytes) => 32 + bytes.len() as u64,
        Value::List(values) | Value::Set(values) => 32 + values.iter().map(bytes_of).sum::<u64>(),
        Value::BulkSet(values) => 32 + values.iter().map(|(value, _)| bytes_of(value)).sum::<u64>(),
        Value::Map(map) => {
            32 + map.entries.iter().map(|(key, value)| bytes_of(key) + bytes_of(value)).sum::<u64>()
        }
        Value::Entry(entry) => 32 + bytes_of(&entry.0) + bytes_of(&entry.1),
        Value::Vertex(vertex) => {
            200 + vertex.properties.as_ref().map_or(0, |properties| 150 * properties.len() as u64)
        }
        Value::Edge(edge) => {
            300 + edge.properties.as_ref().map_or(0, |properties| 120 * properties.len() as u64)
        }
        Value::Path(path) => 64 + 100 * path.objects.len() as u64,
        _ => 48,
    }
}
