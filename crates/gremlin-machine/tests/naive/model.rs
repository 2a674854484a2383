//! The model: a graph of plain lists, and each step by its definition.

use armilla_gremlin_machine::graph::{Graph as _, NewEdge, NewProperty, NewVertex};
use armilla_gremlin_machine::testing::MemoryGraph;
use armilla_gremlin_value::Value;

use crate::make::{Emit, Key, OrderBy, Step, Test, Way};

#[derive(Debug, Clone)]
pub(crate) struct Graph {
    vertices: Vec<Vertex>,
    edges: Vec<Edge>,
}

#[derive(Debug, Clone)]
struct Vertex {
    label: &'static str,
    n: Option<i64>,
    t: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct Edge {
    label: &'static str,
    out: usize,
    into: usize,
    w: Option<i64>,
}

impl Graph {
    /// Makes a graph from bytes: three for a vertex, then three for an edge.
    pub(crate) fn drawn(bytes: &[u8]) -> Graph {
        let mut vertices = Vec::new();
        let mut edges = Vec::new();
        let (first, rest) = bytes.split_at(bytes.len().min(18));
        for bytes in first.chunks_exact(3) {
            vertices.push(Vertex {
                label: ["a", "b"][usize::from(bytes[0]) % 2],
                n: (bytes[1] % 4 != 0).then(|| i64::from(bytes[1] / 4 % 4)),
                t: [None, Some("u"), Some("w")][usize::from(bytes[2]) % 3],
            });
        }
        for bytes in rest.chunks_exact(3).filter(|_| !vertices.is_empty()) {
            edges.push(Edge {
                label: ["x", "y"][usize::from(bytes[0]) % 2],
                out: usize::from(bytes[1]) % vertices.len(),
                into: usize::from(bytes[2]) % vertices.len(),
                w: (bytes[0] % 3 != 0).then(|| i64::from(bytes[0] / 3 % 4)),
            });
        }
        Graph { vertices, edges }
    }

    /// Puts the graph where the machine finds it.
    pub(crate) fn stored(&self) -> MemoryGraph {
        let graph = MemoryGraph::default();
        let number = |number: i64| Value::Int32(number as i32);
        let mut stored = Vec::new();
        for (at, vertex) in self.vertices.iter().enumerate() {
            let n = vertex.n.map(|n| ("n", number(n)));
            let t = vertex.t.map(|t| ("t", Value::text(t)));
            let properties = n.into_iter().chain(t).map(|(key, value)| NewProperty {
                cardinality: None,
                key: key.into(),
                value,
                meta: Vec::new(),
            });
            let id = Some(Value::text(at.to_string()));
            let new = NewVertex { id, label: Some(vertex.label.into()), properties: properties.collect() };
            stored.push(graph.add_vertex(new).expect("it is added"));
        }
        for (at, edge) in self.edges.iter().enumerate() {
            let new = NewEdge {
                id: Some(Value::text(format!("{at}"))),
                label: edge.label.into(),
                out_vertex: stored[edge.out].clone(),
                in_vertex: stored[edge.into].clone(),
                properties: edge.w.map(|w| ("w".into(), number(w))).into_iter().collect(),
            };
            graph.add_edge(new).expect("it is added");
        }
        graph
    }
}

/// What a traverser is at.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Object {
    Vertex(usize),
    Edge(usize),
    Number(i64),
    Real(f64),
    Text(String),
    Bag(Vec<Object>),
    Map(Vec<(Object, Object)>),
    Path(Vec<Object>),
}

#[derive(Debug, Clone)]
pub(crate) struct Traverser {
    object: Object,
    /// Where it was, with the labels there; the last is where it is.
    path: Vec<(Object, Vec<&'static str>)>,
    loops: u32,
}

impl Traverser {
    fn at(object: Object) -> Traverser {
        Traverser { path: vec![(object.clone(), Vec::new())], object, loops: 0 }
    }

    fn to(&self, object: Object) -> Traverser {
        let mut next = self.clone();
        next.path.push((object.clone(), Vec::new()));
        next.object = object;
        next
    }

    fn last(&self, label: &str) -> Option<Object> {
        self.path.iter().rev().find(|(_, labels)| labels.contains(&label)).map(|(object, _)| object.clone())
    }
}

/// Writes values as a bag.
pub(crate) fn bag(mut texts: Vec<String>) -> String {
    texts.sort();
    format!("[{}]", texts.join(","))
}

/// Writes the entries of a map.
pub(crate) fn braces(mut texts: Vec<String>) -> String {
    texts.sort();
    format!("{{{}}}", texts.join(","))
}

/// Writes an object so that equal ones are written alike.
pub(crate) fn written(object: &Object) -> String {
    match object {
        Object::Vertex(at) => format!("v{at}"),
        Object::Edge(at) => format!("e{at}"),
        Object::Number(number) => number.to_string(),
        Object::Real(number) => format!("{number:.6}"),
        Object::Text(text) => format!("'{text}'"),
        Object::Bag(objects) => bag(objects.iter().map(written).collect()),
        Object::Map(entries) => braces(
            entries.iter().map(|(key, value)| format!("{}={}", written(key), written(value))).collect(),
        ),
        Object::Path(objects) => format!("p({})", objects.iter().map(written).collect::<Vec<_>>().join(",")),
    }
}

/// Runs a traversal that begins at all vertices.
pub(crate) fn run(graph: &Graph, steps: &[Step]) -> Vec<Object> {
    let start = (0..graph.vertices.len()).map(|at| Traverser::at(Object::Vertex(at))).collect();
    all(graph, steps, start).into_iter().map(|traverser| traverser.object).collect()
}

fn all(graph: &Graph, steps: &[Step], traversers: Vec<Traverser>) -> Vec<Traverser> {
    steps.iter().fold(traversers, |traversers, step| one(graph, step, traversers))
}

/// Runs a child for one traverser alone.
fn child(graph: &Graph, steps: &[Step], traverser: &Traverser) -> Vec<Traverser> {
    all(graph, steps, vec![traverser.clone()])
}

fn holds(graph: &Graph, steps: &[Step], traverser: &Traverser) -> bool {
    !child(graph, steps, traverser).is_empty()
}

fn satisfies(test: &Test, number: i64) -> bool {
    match test {
        Test::Eq(other) => number == *other,
        Test::Neq(other) => number != *other,
        Test::Gt(other) => number > *other,
        Test::Lt(other) => number < *other,
        Test::Within(left, right) => number == *left || number == *right,
    }
}

fn label_of(graph: &Graph, object: &Object) -> Object {
    Object::Text(match object {
        Object::Vertex(at) => graph.vertices[*at].label.into(),
        Object::Edge(at) => graph.edges[*at].label.into(),
        other => panic!("no label of {other:?}"),
    })
}

fn property(graph: &Graph, object: &Object, key: &str) -> Option<Object> {
    match (object, key) {
        (Object::Vertex(at), "n") => graph.vertices[*at].n.map(Object::Number),
        (Object::Vertex(at), "t") => graph.vertices[*at].t.map(|text| Object::Text(text.into())),
        (Object::Edge(at), "w") => graph.edges[*at].w.map(Object::Number),
        _ => None,
    }
}

fn key_of(graph: &Graph, key: &Key, object: &Object) -> Option<Object> {
    match key {
        Key::Property(name) => property(graph, object, name),
        Key::Label => Some(label_of(graph, object)),
    }
}

/// Edges of a vertex with the vertex at their other end; one to itself is there twice if both ways are asked.
fn incident(graph: &Graph, vertex: usize, way: Way, label: Option<&str>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (at, edge) in graph.edges.iter().enumerate() {
        if label.is_some_and(|label| label != edge.label) {
            continue;
        }
        if way != Way::In && edge.out == vertex {
            found.push((at, edge.into));
        }
        if way != Way::Out && edge.into == vertex {
            found.push((at, edge.out));
        }
    }
    found
}

fn numbers(traversers: &[Traverser]) -> Vec<i64> {
    traversers
        .iter()
        .map(|traverser| match traverser.object {
            Object::Number(number) => number,
            ref other => panic!("no number: {other:?}"),
        })
        .collect()
}

/// Puts traversers in groups by a key, in the order the keys come.
fn grouped(graph: &Graph, key: &Key, traversers: Vec<Traverser>) -> Vec<(Object, Vec<Traverser>)> {
    let mut groups: Vec<(Object, Vec<Traverser>)> = Vec::new();
    for traverser in traversers {
        let Some(key) = key_of(graph, key, &traverser.object) else { continue };
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, members)) => members.push(traverser),
            None => groups.push((key, vec![traverser])),
        }
    }
    groups
}

fn compare(left: &Object, right: &Object) -> std::cmp::Ordering {
    match (left, right) {
        (Object::Number(left), Object::Number(right)) => left.cmp(right),
        (Object::Text(left), Object::Text(right)) => left.cmp(right),
        (left, right) => panic!("no order of {left:?} and {right:?}"),
    }
}

fn id_of(object: &Object) -> Object {
    match object {
        Object::Vertex(at) | Object::Edge(at) => Object::Text(at.to_string()),
        other => panic!("no id of {other:?}"),
    }
}

fn sorted(graph: &Graph, by: OrderBy, descending: bool, traversers: Vec<Traverser>) -> Vec<Traverser> {
    let mut rows: Vec<(Vec<Object>, Traverser)> = Vec::new();
    for traverser in traversers {
        let keys = match by {
            OrderBy::Itself => vec![traverser.object.clone()],
            OrderBy::Id => vec![id_of(&traverser.object)],
            OrderBy::Key(key) => match property(graph, &traverser.object, key) {
                Some(value) => vec![value, id_of(&traverser.object)],
                None => continue,
            },
        };
        rows.push((keys, traverser));
    }
    rows.sort_by(|left, right| {
        let order = left.0.iter().zip(&right.0).map(|(left, right)| compare(left, right));
        let order = order.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then);
        if descending { order.reverse() } else { order }
    });
    rows.into_iter().map(|(_, traverser)| traverser).collect()
}

fn single(object: Option<Object>) -> Vec<Traverser> {
    object.map(Traverser::at).into_iter().collect()
}

fn is_simple(traverser: &Traverser) -> bool {
    let objects: Vec<&Object> = traverser.path.iter().map(|(object, _)| object).collect();
    objects.iter().enumerate().all(|(at, object)| !objects[..at].contains(object))
}

fn one(graph: &Graph, step: &Step, input: Vec<Traverser>) -> Vec<Traverser> {
    let keep = |test: &dyn Fn(&Traverser) -> bool| -> Vec<Traverser> {
        input.iter().filter(|traverser| test(traverser)).cloned().collect()
    };
    let each = |make: &dyn Fn(&Traverser) -> Vec<Object>| -> Vec<Traverser> {
        input
            .iter()
            .flat_map(|traverser| {
                make(traverser).into_iter().map(|object| traverser.to(object)).collect::<Vec<_>>()
            })
            .collect()
    };
    let vertex = |traverser: &Traverser| match traverser.object {
        Object::Vertex(at) => at,
        ref other => panic!("no vertex: {other:?}"),
    };
    match step {
        Step::Hop(way, label) => each(&|traverser| {
            let found = incident(graph, vertex(traverser), *way, *label);
            found.into_iter().map(|(_, other)| Object::Vertex(other)).collect()
        }),
        Step::Edges(way, label) => each(&|traverser| {
            let found = incident(graph, vertex(traverser), *way, *label);
            found.into_iter().map(|(edge, _)| Object::Edge(edge)).collect()
        }),
        Step::Ends(name) => each(&|traverser| {
            let Object::Edge(at) = traverser.object else { panic!("no edge") };
            let edge = &graph.edges[at];
            match *name {
                "outV" => vec![Object::Vertex(edge.out)],
                "inV" => vec![Object::Vertex(edge.into)],
                "bothV" => vec![Object::Vertex(edge.out), Object::Vertex(edge.into)],
                _ => {
                    let (before, _) = &traverser.path[traverser.path.len() - 2];
                    let other = if *before == Object::Vertex(edge.out) { edge.into } else { edge.out };
                    vec![Object::Vertex(other)]
                }
            }
        }),
        Step::Has(key, test) => keep(&|traverser| match property(graph, &traverser.object, key) {
            Some(Object::Number(number)) => satisfies(test, number),
            _ => false,
        }),
        Step::HasLabel(label) => {
            keep(&|traverser| label_of(graph, &traverser.object) == Object::Text((*label).into()))
        }
        Step::HasKey(key) => keep(&|traverser| property(graph, &traverser.object, key).is_some()),
        Step::HasNot(key) => keep(&|traverser| property(graph, &traverser.object, key).is_none()),
        Step::Values(keys) => {
            each(&|traverser| keys.iter().filter_map(|key| property(graph, &traverser.object, key)).collect())
        }
        Step::Id => each(&|traverser| vec![id_of(&traverser.object)]),
        Step::Label => each(&|traverser| vec![label_of(graph, &traverser.object)]),
        Step::Constant(number) => each(&|_| vec![Object::Number(*number)]),
        Step::Is(test) => keep(&|traverser| match traverser.object {
            Object::Number(number) => satisfies(test, number),
            _ => false,
        }),
        Step::Dedup => {
            let mut kept: Vec<Traverser> = Vec::new();
            for traverser in input {
                if kept.iter().all(|other| other.object != traverser.object) {
                    kept.push(traverser);
                }
            }
            kept
        }
        Step::Order(by, descending) => sorted(graph, *by, *descending, input),
        Step::Limit(amount) => input.into_iter().take(*amount as usize).collect(),
        Step::Range(low, high) => input.into_iter().take(*high as usize).skip(*low as usize).collect(),
        Step::Tail(amount) => {
            let skipped = input.len().saturating_sub(*amount as usize);
            input.into_iter().skip(skipped).collect()
        }
        Step::Count => single(Some(Object::Number(input.len() as i64))),
        Step::Sum => single((!input.is_empty()).then(|| Object::Number(numbers(&input).iter().sum()))),
        Step::Max => single(numbers(&input).into_iter().max().map(Object::Number)),
        Step::Min => single(numbers(&input).into_iter().min().map(Object::Number)),
        Step::Mean => single((!input.is_empty()).then(|| {
            let sum: i64 = numbers(&input).iter().sum();
            Object::Real(sum as f64 / input.len() as f64)
        })),
        Step::Fold => {
            single(Some(Object::Bag(input.into_iter().map(|traverser| traverser.object).collect())))
        }
        Step::Unfold => each(&|traverser| match &traverser.object {
            Object::Bag(objects) => objects.clone(),
            other => vec![other.clone()],
        }),
        Step::GroupCount(key) => {
            let groups = grouped(graph, key, input);
            let entries =
                groups.into_iter().map(|(key, members)| (key, Object::Number(members.len() as i64)));
            single(Some(Object::Map(entries.collect())))
        }
        Step::GroupLists(key) => {
            let groups = grouped(graph, key, input).into_iter();
            let bag = |members: Vec<Traverser>| members.into_iter().map(|member| member.object).collect();
            single(Some(Object::Map(groups.map(|(key, members)| (key, Object::Bag(bag(members)))).collect())))
        }
        Step::GroupBy(key, by) => {
            let mut entries = Vec::new();
            for (key, members) in grouped(graph, key, input) {
                if let Some(result) = all(graph, by, members).pop() {
                    entries.push((key, result.object));
                }
            }
            single(Some(Object::Map(entries)))
        }
        Step::Project(parts) => each(&|traverser| {
            let entries = parts.iter().filter_map(|(name, by)| {
                let first = child(graph, by, traverser).into_iter().next()?;
                Some((Object::Text((*name).into()), first.object))
            });
            vec![Object::Map(entries.collect())]
        }),
        Step::Path => each(&|traverser| {
            vec![Object::Path(traverser.path.iter().map(|(object, _)| object.clone()).collect())]
        }),
        Step::SimplePath => keep(&is_simple),
        Step::CyclicPath => keep(&|traverser| !is_simple(traverser)),
        Step::As(label) => {
            let mut labelled = input;
            for (_, labels) in labelled.iter_mut().filter_map(|traverser| traverser.path.last_mut()) {
                labels.push(label);
            }
            labelled
        }
        Step::Select(label) => each(&|traverser| traverser.last(label).into_iter().collect()),
        Step::SelectBoth => each(&|traverser| match (traverser.last("k"), traverser.last("l")) {
            (Some(left), Some(right)) => {
                vec![Object::Map(vec![(Object::Text("k".into()), left), (Object::Text("l".into()), right)])]
            }
            _ => Vec::new(),
        }),
        Step::Where(steps) => keep(&|traverser| holds(graph, steps, traverser)),
        Step::Not(steps) => keep(&|traverser| !holds(graph, steps, traverser)),
        Step::And(left, right) => {
            keep(&|traverser| holds(graph, left, traverser) && holds(graph, right, traverser))
        }
        Step::Or(left, right) => {
            keep(&|traverser| holds(graph, left, traverser) || holds(graph, right, traverser))
        }
        Step::WhereNeq(label) => {
            keep(&|traverser| traverser.last(label).is_some_and(|object| object != traverser.object))
        }
        Step::Union(left, right) => {
            let mut results = all(graph, left, input.clone());
            results.extend(all(graph, right, input));
            results
        }
        // Only the result of the child is on the way.
        Step::Coalesce(left, right) => each(&|traverser| {
            let found = child(graph, left, traverser);
            let found = if found.is_empty() { child(graph, right, traverser) } else { found };
            found.into_iter().map(|result| result.object).collect()
        }),
        Step::FlatMap(steps) => each(&|traverser| {
            child(graph, steps, traverser).into_iter().map(|result| result.object).collect()
        }),
        Step::Map(steps) => each(&|traverser| {
            child(graph, steps, traverser).into_iter().take(1).map(|result| result.object).collect()
        }),
        // The whole way of the child is on the way.
        Step::Choose(test, left, right) => input
            .iter()
            .flat_map(|traverser| {
                child(graph, if holds(graph, test, traverser) { left } else { right }, traverser)
            })
            .collect(),
        Step::Optional(steps) => input
            .iter()
            .flat_map(|traverser| {
                let found = child(graph, steps, traverser);
                if found.is_empty() { vec![traverser.clone()] } else { found }
            })
            .collect(),
        Step::Local(steps) => input.iter().flat_map(|traverser| child(graph, steps, traverser)).collect(),
        Step::Repeat { body, times, emit, until } => input
            .iter()
            .flat_map(|traverser| repeated(graph, body, *times, *emit, until.as_deref(), traverser))
            .collect(),
        Step::Barrier | Step::Identity => input,
    }
}

/// Goes round for one traverser: the body, then whether it ends, then whether it is emitted.
fn repeated(
    graph: &Graph,
    body: &[Step],
    times: u32,
    emit: Emit,
    until: Option<&[Step]>,
    start: &Traverser,
) -> Vec<Traverser> {
    let mut results = Vec::new();
    let mut going = vec![Traverser { loops: 0, ..start.clone() }];
    while !going.is_empty() {
        let mut next = Vec::new();
        for traverser in going {
            if emit == Emit::Before {
                results.push(traverser.clone());
            }
            for mut round in child(graph, body, &traverser) {
                round.loops = traverser.loops + 1;
                let ends = round.loops >= times || until.is_some_and(|until| holds(graph, until, &round));
                if ends {
                    results.push(round);
                    continue;
                }
                if emit == Emit::After {
                    results.push(round.clone());
                }
                next.push(round);
            }
        }
        going = next;
    }
    results
}
