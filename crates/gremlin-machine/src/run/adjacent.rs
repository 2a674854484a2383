//! `out()`, `outE()` and their like: neighbourhoods of many vertices by one lookup.

use std::sync::Arc;

use armilla_gremlin_value::{Key, Value, Vertex};

use super::context::Context;
use super::lookup::next_gather;
use super::pipeline::{Input, Operator};
use super::traverser::{Batch, FastMap, Traverser};
use crate::compile::PathNeed;
use crate::error::{MachineError, Result};
use crate::graph::{Adjacency, Adjacent, Element, Pages, Wanted};
use crate::limits;
use crate::step::{AdjacentStep, Step};

pub(crate) struct AdjacentOperator<'p> {
    step: &'p Step,
    adjacent: &'p AdjacentStep,
    /// How many vertices the next lookup asks for at most.
    gather: usize,
    open: Option<Open<'p>>,
    /// What was found but not given on.
    ready: std::vec::IntoIter<Adjacent>,
    done: bool,
    ended: bool,
    /// Input beyond what one lookup asks for.
    left: Batch,
}

struct Open<'p> {
    pages: Box<dyn Pages<Adjacent> + 'p>,
    /// The traversers at each vertex of the request.
    sources: Vec<Vec<Traverser>>,
}

/// Vertices, each once, with the traversers that are there.
#[derive(Default)]
struct Gathered {
    vertices: Vec<Arc<Vertex>>,
    sources: Vec<Vec<Traverser>>,
    places: FastMap<Key, usize>,
}

impl Gathered {
    fn add(&mut self, traverser: Traverser, merges: bool, cx: &Context<'_>) -> Result<()> {
        let Value::Vertex(vertex) = &traverser.value else {
            return Err(MachineError::runtime(format!(
                "only vertices have edges, not a {}",
                traverser.value.type_word()
            )));
        };
        let place = match self.places.get(&Key(traverser.value.clone())) {
            Some(place) => *place,
            None => {
                let place = self.vertices.len();
                self.places.insert(Key(traverser.value.clone()), place);
                self.vertices.push(vertex.clone());
                self.sources.push(Vec::new());
                place
            }
        };
        let Some(source) = self.sources.get_mut(place) else { return Ok(()) };
        if merges && let Some(same) = source.iter_mut().rev().take(8).find(|other| other.is_like(&traverser))
        {
            super::side::merge_into(same, traverser, cx)?;
            return Ok(());
        }
        source.push(traverser);
        Ok(())
    }
}

impl<'p> AdjacentOperator<'p> {
    pub(crate) fn new(step: &'p Step, adjacent: &'p AdjacentStep) -> AdjacentOperator<'p> {
        AdjacentOperator {
            step,
            adjacent,
            gather: if adjacent.all_wanted { limits::GATHER_MAX } else { limits::GATHER_MIN },
            open: None,
            ready: Vec::new().into_iter(),
            done: false,
            ended: false,
            left: Vec::new(),
        }
    }

    /// Takes input until there are enough vertices for a lookup.
    fn gather(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Gathered>> {
        let mut gathered = Gathered::default();
        let mut any = false;
        let mut steps = 0;
        loop {
            let batch =
                if self.left.is_empty() { input.next(cx)? } else { Some(std::mem::take(&mut self.left)) };
            let Some(batch) = batch else { break };
            let mut batch = batch.into_iter();
            for traverser in batch.by_ref() {
                any = true;
                gathered.add(traverser, cx.merges && !cx.one_bulk, cx)?;
                if gathered.vertices.len() >= limits::GATHER_MAX {
                    break;
                }
            }
            self.left = batch.collect();
            steps += 1;
            // Without merging, traversers pile up at vertices, so that a bound of batches is needed too.
            if gathered.vertices.len() >= self.gather
                || ((!cx.merges || cx.path != PathNeed::Nothing) && steps > 64)
            {
                break;
            }
        }
        self.gather = next_gather(self.gather);
        Ok(if any { Some(gathered) } else { None })
    }

    fn request(&self, vertices: Vec<Arc<Vertex>>, limit: Option<u64>) -> Adjacency {
        let need = self.adjacent.need;
        Adjacency {
            vertices,
            direction: self.adjacent.direction,
            labels: self.adjacent.labels.clone(),
            edge_conditions: self.adjacent.edge_conditions.clone(),
            vertex_conditions: self.adjacent.vertex_conditions.clone(),
            want: if self.adjacent.edges { Wanted::Edges(need) } else { Wanted::Vertices(need) },
            limit,
        }
    }

    fn count(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        if std::mem::replace(&mut self.done, true) {
            return Ok(None);
        }
        let mut sums = vec![0u64; input.origins as usize];
        self.gather = limits::GATHER_MAX;
        while let Some(gathered) = self.gather(input, cx)? {
            cx.graph.check()?;
            let counts = cx.graph.count_adjacent(&self.request(gathered.vertices, None))?;
            for (count, source) in counts.into_iter().zip(gathered.sources) {
                for traverser in source {
                    if let Some(sum) = sums.get_mut(traverser.origin as usize) {
                        *sum = sum.saturating_add(count.saturating_mul(traverser.bulk));
                    }
                }
            }
        }
        Ok(Some(super::reduce::numbers(sums, &self.step.labels, cx)))
    }

    fn find(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let mut batch = Vec::new();
        loop {
            if let Some(open) = &self.open {
                for found in self.ready.by_ref() {
                    let value = match found.element {
                        Element::Vertex(vertex) => Value::Vertex(vertex),
                        Element::Edge(edge) => Value::Edge(edge),
                    };
                    let Some(source) = open.sources.get(found.source) else { continue };
                    for traverser in source {
                        batch.push(traverser.to(value.clone(), &self.step.labels, cx.path));
                    }
                    if batch.len() >= limits::BATCH_MAX {
                        return Ok(Some(batch));
                    }
                }
                if !batch.is_empty() {
                    return Ok(Some(batch));
                }
                cx.graph.check()?;
                let open = self.open.as_mut();
                match open.map(|open| open.pages.next_page()).transpose()?.flatten() {
                    Some(page) => {
                        self.ready = page.into_iter();
                        continue;
                    }
                    None => self.open = None,
                }
            }
            if self.ended {
                self.ended = false;
                return Ok(None);
            }
            let Some(gathered) = self.gather(input, cx)? else { return Ok(None) };
            // Where several traversals run at once, one must not take what another is to find.
            let limit = self.adjacent.limit.filter(|_| input.origins == 1);
            let pages = cx.graph.adjacent(&self.request(gathered.vertices, limit))?;
            self.open = Some(Open { pages, sources: gathered.sources });
        }
    }
}

impl<'p> Operator<'p> for AdjacentOperator<'p> {
    fn next(&mut self, input: &mut Input<'_, 'p>, cx: &mut Context<'p>) -> Result<Option<Batch>> {
        let result = if self.adjacent.count { self.count(input, cx) } else { self.find(input, cx) };
        result.map_err(|error| error.at(&self.step.name, self.step.position))
    }

    fn restart(&mut self) {
        self.done = false;
        self.open = None;
        self.ready = Vec::new().into_iter();
        self.left.clear();
    }
}
