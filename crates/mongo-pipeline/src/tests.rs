//! Tests of pipelines as a whole.

mod bucket;
mod front;
mod group;
mod join;
mod random;
mod shape;
mod simple;
mod window;
