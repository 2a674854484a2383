//! `armilla import` and `armilla export`: items of a container from and to files.
//!
//! Import: a thread reads the input and cuts it into records (`input`, `records`), makes an item of each (`shape`),
//! and hands them to as many connections as are asked for, in bulk requests of one physical partition each (`groups`,
//! `sending`). What was acknowledged is tracked in the order of the input (`tracker`), and behind that a position is
//! kept (`state`). Export: pages of the container's feed, without what the server adds (`export`).
//!
//! Invariants of an import:
//! * every record is counted once, as imported, rejected or skipped;
//! * a position is kept only when every record before it was acknowledged, or is durably in the file of rejects;
//! * of two records with the same id and partition key the later one is written later.

mod array;
mod dot;
mod export;
mod groups;
mod import;
mod input;
mod json_lines;
mod limits;
mod options;
mod progress;
mod records;
mod rejects;
mod scan;
mod sending;
mod shape;
mod state;
mod table;
mod tracker;
mod typed;

pub use export::export;
pub use import::import;
pub use options::{ExportOptions, ImportOptions};
