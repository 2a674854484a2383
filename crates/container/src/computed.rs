//! Computed properties as the index sees them: the caller evaluates them.
//!
//! The query engine lies above this crate, so the caller that opens a container hands in what evaluates its computed
//! properties. Values are evaluated once, when an item is written, and the entries they gave are kept beside the
//! item: what a later program version would compute does not matter for finding them again.

use armilla_value::{Node, Value};

/// Evaluates the computed properties of one container definition.
pub trait ComputedProperties: Send + Sync {
    /// Returns every computed property of an item by name, `None` where it is undefined.
    fn evaluate(&self, root: Node<'_>) -> Vec<(String, Option<Value>)>;
}
