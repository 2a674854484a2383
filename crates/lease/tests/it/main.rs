//! Leases: one holder at every moment, whatever happens to processes, clocks and the object store.

#![expect(clippy::unwrap_used, reason = "tests may panic")]

mod leases;
mod registers;
mod simulation;
