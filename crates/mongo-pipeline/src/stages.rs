//! The stages, each with its reading and its running.

pub mod bucket;
pub mod bucket_auto;
pub mod densify;
pub(crate) mod documents;
pub(crate) mod facet;
pub(crate) mod fill;
pub(crate) mod foreign;
pub mod geo_near;
pub mod graph_lookup;
pub mod group;
pub mod lookup;
pub(crate) mod redact;
pub mod replace_root;
pub(crate) mod sample;
pub(crate) mod sort;
pub mod union_with;
pub mod unwind;
pub mod window;
pub mod write;

mod granularity;
mod time;
