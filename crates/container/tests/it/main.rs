//! The container against the real in-memory store: what each operation does, refuses, costs and survives.

mod charges;
mod faults;
mod history;
mod listing;
mod partitions;
mod support;
mod writes;
