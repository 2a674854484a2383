//! The paths of one update as a tree, so that conflicts show when it is read and new members come in order.

use std::collections::BTreeMap;

use armilla_mongo_expression::{Error, Result, codes};

use crate::operator::Operator;
use crate::path::{Component, Name, Path};

/// What happens at a place of the document.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// An operator changes what is there.
    Leaf(Operator),
    /// Something happens to named members, or elements by index.
    Members {
        /// By name.
        named: BTreeMap<Name, Node>,
        /// To the element that the filter found.
        positional: Option<Box<Node>>,
    },
    /// Something happens to the elements that filters let through, by identifier; the empty one means all.
    Elements(BTreeMap<String, Node>),
}

impl Node {
    /// Returns a tree without paths.
    pub(crate) fn new() -> Node {
        Node::Members { named: BTreeMap::new(), positional: None }
    }

    /// Adds a path. Two paths of which one begins with the other are refused.
    pub(crate) fn add(&mut self, path: &Path, operator: Operator) -> Result<()> {
        let mut current = self;
        let mut operator = Some(operator);
        for (index, component) in path.components.iter().enumerate() {
            let conflict = || {
                Error::new(
                    codes::CONFLICTING_UPDATE_OPERATORS,
                    format!(
                        "Updating the path '{}' would create a conflict at '{}'",
                        path.text,
                        path.prefix(index + 1)
                    ),
                )
            };
            let new = match path.components.get(index + 1) {
                None => Node::Leaf(operator.take().ok_or_else(conflict)?),
                Some(Component::Filtered(_)) => Node::Elements(BTreeMap::new()),
                Some(_) => Node::new(),
            };
            let is_leaf = matches!(new, Node::Leaf(_));
            let is_elements = matches!(new, Node::Elements(_));
            let (was_there, child) = match (current, component) {
                (Node::Members { named, .. }, Component::Name(name)) => {
                    (named.contains_key(name), named.entry(name.clone()).or_insert(new))
                }
                (Node::Members { positional, .. }, Component::Positional) => {
                    (positional.is_some(), &mut **positional.get_or_insert_with(|| Box::new(new)))
                }
                (Node::Elements(filtered), Component::Filtered(identifier)) => {
                    (filtered.contains_key(identifier), filtered.entry(identifier.clone()).or_insert(new))
                }
                _ => return Err(conflict()),
            };
            if was_there
                && (is_leaf
                    || matches!(child, Node::Leaf(_))
                    || is_elements != matches!(child, Node::Elements(_)))
            {
                return Err(conflict());
            }
            current = child;
        }
        Ok(())
    }
}
