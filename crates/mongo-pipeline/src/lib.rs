//! Pipelines of the MongoDB aggregation language: stages over documents that come one after the other.
//!
//! Documents are pulled: a stage asks the one before it. Stages that must see everything first hold no more than
//! a bound of memory (`limits`), and begin when the first document is asked for.
//!
//! Not here: where documents come from, and other collections: the caller brings an [`Outside`]. Expressions
//! (`mongo-expression`), filters, projections and orders (`mongo-filter`).

mod arguments;
mod canonical;
mod dependencies;
mod front;
pub mod limits;
mod memory;
mod parse;
mod path;
mod run;
mod stage;
pub mod stages;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

use armilla_mongo_expression::Result;
use armilla_mongo_filter::Filter;
use armilla_value::Object;

pub use front::{CountAs, Front};
pub use path::FieldPath;
pub use stage::Stage;
pub use stages::write::{Merge, Out, WhenMatched, WhenNotMatched};

use dependencies::Needs;

/// Documents, one after the other. Where it blocks, it blocks its thread.
pub type Documents = Box<dyn Iterator<Item = Result<Object>> + Send>;

/// What a pipeline reaches besides its own documents.
pub trait Outside: Send + Sync {
    /// Returns the documents of a collection that a filter may be asked to narrow; they may be more than match.
    ///
    /// The filter holds only values, no variables. What is missing has no documents; a view gives its own.
    fn documents(
        &self,
        database: Option<&str>,
        collection: &str,
        narrowed_by: Option<&Filter>,
    ) -> Result<Documents>;

    /// Says whether an equality or `$in` on the path narrows well, as an index does.
    ///
    /// If not, joins read the other collection once and keep it, as far as their memory goes.
    fn narrows_by(&self, _database: Option<&str>, _collection: &str, _path: &str) -> bool {
        true
    }

    /// Says whether to go on: a failure (time is up, the operation was killed) ends the pipeline.
    ///
    /// Asked now and then by stages that work long without asking for a document.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A pipeline that was read.
#[derive(Debug, Clone, Default)]
pub struct Pipeline {
    /// Its stages.
    pub stages: Vec<Stage>,
    /// What each of the stages needs of the documents before it; one for each stage.
    needs: Vec<Needs>,
}
