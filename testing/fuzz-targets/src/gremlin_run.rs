//! Traversals that run, over a small graph in memory, for as long as they are let.

use std::cell::Cell;
use std::sync::Arc;

use armilla_gremlin_language::{Dialect as Language, parse};
use armilla_gremlin_machine::graph::{
    Adjacency, Adjacent, Begin, Dropped, Figures, Graph, GraphError, GraphErrorKind, GraphResult, Lookup,
    NewEdge, NewProperty, NewVertex, Outcome, Pages,
};
use armilla_gremlin_machine::testing::{MemoryGraph, modern};
use armilla_gremlin_machine::{Execution, Options, compile};
use armilla_gremlin_value::{Edge, Value, Vertex};

/// How often a traversal may ask whether it may go on.
const CHECKS_MAX: u32 = 2_000;

/// Results that are taken of it.
const RESULTS_MAX: usize = 300;

/// Bytes that it may hold.
const MEMORY_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Reads bytes as a script, and runs it twice over the same graph: the results are the same.
pub fn gremlin_run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(script) = parse(text, &[], Language::Open) else { return };
    let options = Options { memory_bytes_max: MEMORY_BYTES_MAX, repeat_rounds_max: 50, ..Options::default() };
    for query in &script.queries {
        let Ok(plan) = compile(query, &options) else { continue };
        let run = || {
            let graph = Bounded { graph: modern(), left: Cell::new(CHECKS_MAX) };
            let mut running = Execution::new(&plan, &graph, &options);
            let (mut shown, mut count) = (String::new(), 0);
            while count < RESULTS_MAX {
                match running.next_batch() {
                    Ok(Some(answers)) => {
                        count += answers.len();
                        for answer in answers {
                            assert!(answer.bulk > 0, "a result that is there no times");
                            shown.push_str(&format!("{} times {:?}\n", answer.bulk, answer.value));
                        }
                    }
                    Ok(None) => break,
                    Err(error) => {
                        shown.push_str(&format!("{error}\n"));
                        break;
                    }
                }
            }
            drop(running);
            assert!(
                graph.graph.outcome().is_some() || graph.left.get() == CHECKS_MAX,
                "the graph was not told of the end"
            );
            shown
        };
        assert_eq!(run(), run());
    }
}

/// A graph that ends a traversal after a while.
struct Bounded {
    graph: MemoryGraph,
    left: Cell<u32>,
}

impl Graph for Bounded {
    fn check(&self) -> GraphResult<()> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(GraphError::new(GraphErrorKind::TimedOut, "it took long enough")),
        }
    }

    fn begin(&self, begin: &Begin) -> GraphResult<()> {
        self.graph.begin(begin)
    }

    fn finish(&self, outcome: Outcome) -> GraphResult<()> {
        self.graph.finish(outcome)
    }

    fn figures(&self) -> Figures {
        self.graph.figures()
    }

    fn vertices<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Vertex>> + 'a>> {
        self.graph.vertices(lookup)
    }

    fn edges<'a>(&'a self, lookup: &Lookup) -> GraphResult<Box<dyn Pages<Arc<Edge>> + 'a>> {
        self.graph.edges(lookup)
    }

    fn adjacent<'a>(&'a self, request: &Adjacency) -> GraphResult<Box<dyn Pages<Adjacent> + 'a>> {
        self.graph.adjacent(request)
    }

    fn load_vertices(&self, references: &[Arc<Vertex>]) -> GraphResult<Vec<Option<Arc<Vertex>>>> {
        self.graph.load_vertices(references)
    }

    fn load_edges(&self, references: &[Arc<Edge>]) -> GraphResult<Vec<Option<Arc<Edge>>>> {
        self.graph.load_edges(references)
    }

    fn add_vertex(&self, vertex: NewVertex) -> GraphResult<Arc<Vertex>> {
        self.graph.add_vertex(vertex)
    }

    fn add_edge(&self, edge: NewEdge) -> GraphResult<Arc<Edge>> {
        self.graph.add_edge(edge)
    }

    fn set_vertex_properties(
        &self,
        vertex: &Arc<Vertex>,
        properties: &[NewProperty],
    ) -> GraphResult<Arc<Vertex>> {
        self.graph.set_vertex_properties(vertex, properties)
    }

    fn set_edge_properties(
        &self,
        edge: &Arc<Edge>,
        properties: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Edge>> {
        self.graph.set_edge_properties(edge, properties)
    }

    fn set_meta_properties(
        &self,
        vertex: &Arc<Vertex>,
        property_id: &Value,
        properties: &[(Arc<str>, Value)],
    ) -> GraphResult<Arc<Vertex>> {
        self.graph.set_meta_properties(vertex, property_id, properties)
    }

    fn drop_all(&self, dropped: &[Dropped]) -> GraphResult<()> {
        self.graph.drop_all(dropped)
    }
}
