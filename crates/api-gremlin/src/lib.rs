//! The Gremlin API: graphs on the items of containers.

mod bodies;
mod elements;
mod graph;
mod layout;
mod limits;
mod lowering;
mod pending;
mod store;
mod values;
