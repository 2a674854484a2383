//! Pipelines of the MongoDB aggregation language: stages over documents that come one after the other.
//!
//! Documents are pulled: a stage asks the one before it. Stages that must see everything first hold no more than
//! a bound of memory.
//!
//! Not here: where documents come from, and other collections: the caller brings an [`Outside`].

use std::sync::Arc;

use armilla_mongo_expression::{Environment, Error, Result, Scope, codes};
use armilla_mongo_filter::{Filter, Projection, Sort};
use armilla_value::{Object, Value};

/// Documents, one after the other. Where it blocks, it blocks its thread.
pub type Documents = Box<dyn Iterator<Item = Result<Object>> + Send>;

/// What a pipeline reaches besides its own documents.
pub trait Outside: Send + Sync {
    /// Returns the documents of a collection that a filter may be asked to narrow; they may be more than match.
    fn documents(&self, database: Option<&str>, collection: &str, narrowed_by: Option<&Filter>) -> Result<Documents>;
}

/// A pipeline that was read.
#[derive(Debug, Clone)]
pub struct Pipeline {
    /// Its stages.
    pub stages: Vec<Stage>,
}

/// A stage. Those that the caller answers itself (the first ones of some pipelines, and what writes) are told apart.
#[derive(Debug, Clone)]
pub enum Stage {
    /// Lets documents through.
    Match(Filter),
    /// Orders them.
    Sort(Sort),
    /// So many of them.
    Limit(u64),
    /// All but the first.
    Skip(u64),
}

impl Pipeline {
    /// Reads a pipeline.
    pub fn parse(_stages: &[Value], _scope: &Scope) -> Result<Pipeline> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "pipelines are not there yet"))
    }

    /// Runs the stages over documents.
    pub fn run(&self, _input: Documents, _environment: Arc<Environment>, _outside: Arc<dyn Outside>) -> Result<Documents> {
        Err(Error::new(codes::NOT_IMPLEMENTED, "pipelines are not there yet"))
    }
}

const _: Option<Projection> = None;
