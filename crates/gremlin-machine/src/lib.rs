//! Compiles traversals of Gremlin and runs them over a graph.
//!
//! A [`armilla_gremlin_value::Bytecode`] is compiled to a `Plan`; an `Execution` runs the plan over a [`graph::Graph`]
//! in batches of traversers.
//!
//! Not here: parsing (`gremlin-language`), formats (`gremlin-wire`), where elements are kept (`api-gremlin`).

pub mod graph;
