//! What the fuzzer calls: for each reader of foreign bytes a function that takes any bytes, and panics where something is
//! wrong.
//!
//! They are run in two ways: by the programs in `fuzz/`, which look for new bytes for as long as they are let, and by a
//! test here, which goes over the bytes that are kept in `fuzz/corpus/` whenever all tests are run.
//!
//! Invariant: the same bytes give the same outcome, whatever ran before.
//!
//! Not here: whole requests (`testing/hostile`) and whole files (`testing/damage`).

mod bodies;
mod gremlin;
mod gremlin_run;
mod json;
mod keys;
mod mongo_language;
mod mongo_wire;
mod sql;
mod stored;
mod tables;
mod tokens;

pub use bodies::{batch, binary_json};
pub use gremlin::{gremlin_graphbinary, gremlin_graphson, gremlin_plan, gremlin_script};
pub use gremlin_run::gremlin_run;
pub use json::json;
pub use keys::keys;
pub use mongo_language::{mongo_expression, mongo_filter, mongo_pipeline, mongo_update};
pub use mongo_wire::{mongo_bson, mongo_message, mongo_scram};
pub use sql::sql;
pub use stored::stored;
pub use tables::{filter, multipart};
pub use tokens::{continuation, session};

/// Reads bytes, and panics where something is wrong.
pub type Target = fn(&[u8]);

/// Every target with its name, which is that of its program and of its folder of kept bytes.
pub const TARGETS: [(&str, Target); 22] = [
    ("batch", batch),
    ("binary_json", binary_json),
    ("continuation", continuation),
    ("filter", filter),
    ("gremlin_graphbinary", gremlin_graphbinary),
    ("gremlin_graphson", gremlin_graphson),
    ("gremlin_plan", gremlin_plan),
    ("gremlin_run", gremlin_run),
    ("gremlin_script", gremlin_script),
    ("json", json),
    ("keys", keys),
    ("mongo_bson", mongo_bson),
    ("mongo_expression", mongo_expression),
    ("mongo_filter", mongo_filter),
    ("mongo_message", mongo_message),
    ("mongo_pipeline", mongo_pipeline),
    ("mongo_scram", mongo_scram),
    ("mongo_update", mongo_update),
    ("multipart", multipart),
    ("session", session),
    ("sql", sql),
    ("stored", stored),
];
