//! Compiles traversals of Gremlin and runs them over a graph.
