//! Tests of the query engine as a whole, over sources in memory.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod agreement;
mod generate;
mod scalars;
mod without_index;
