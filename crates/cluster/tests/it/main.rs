//! Nodes that share partitions: what is promised of them, whatever happens to processes, clocks and the object store.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod alone;
mod history;
mod nodes;
mod shelf;
mod simulation;
