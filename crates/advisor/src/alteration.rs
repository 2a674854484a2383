//! What can be changed about a model: each makes another model, whose items and operations are as if the application had
//! been written for it.

mod apply;
mod parse;

use armilla_value::Value;

use crate::model::Model;

/// A change of a data model.
#[derive(Debug, Clone, PartialEq)]
pub enum Alteration {
    /// A container gets another partition key.
    Key {
        /// The container.
        container: String,
        /// The paths of the key.
        paths: Vec<String>,
    },
    /// A container gets a composite index.
    Composite {
        /// The container.
        container: String,
        /// Its paths, and whether each runs downwards.
        paths: Vec<(String, bool)>,
    },
    /// A container's index leaves paths out.
    Exclude {
        /// The container.
        container: String,
        /// The paths as in an indexing policy: `/content/?`.
        paths: Vec<String>,
    },
    /// A container's index includes paths that it left out.
    Include {
        /// The container.
        container: String,
        /// The paths as in an indexing policy.
        paths: Vec<String>,
    },
    /// Items get copies of members of what they refer to.
    Embed {
        /// The container of the items.
        container: String,
        /// What they say they are, if it is about a sort.
        entity: Option<String>,
        /// The path of the reference.
        reference: String,
        /// The container of what they refer to.
        source: String,
        /// The paths of the members that are copied.
        members: Vec<String>,
    },
    /// Items count other items of their logical partition.
    Count {
        /// The container.
        container: String,
        /// What the items that count say they are.
        entity: String,
        /// The member with the count.
        member: String,
        /// What the items that are counted say they are.
        counted: String,
    },
    /// Items are copied into a container of another key.
    Copy {
        /// The container.
        container: String,
        /// What they say they are, if it is about a sort.
        entity: Option<String>,
        /// The path of the other key.
        key: String,
        /// Texts that copies have the beginning of, and how many characters.
        shortened: Vec<(String, usize)>,
    },
    /// What a query asks for is read by its id.
    PointRead {
        /// The container.
        container: String,
        /// The shape of the query.
        shape: u32,
    },
    /// The newest of them are copied into a container in which they all have one key.
    Newest {
        /// The container.
        container: String,
        /// What they say they are.
        entity: String,
        /// The path that is sorted by, downwards.
        order: String,
        /// How many are kept.
        count: usize,
        /// Texts that copies have the beginning of, and how many characters.
        shortened: Vec<(String, usize)>,
    },
}

/// Why something cannot be changed so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CannotAlter(pub String);

impl std::fmt::Display for CannotAlter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for CannotAlter {}

impl Alteration {
    /// Makes the model that has been changed so.
    pub fn apply(&self, model: &Model) -> Result<Model, CannotAlter> {
        apply::apply(self, model)
    }

    /// Returns the name of a member for a copy: `/userId` and `/username` give `userUsername`.
    pub fn copied_name(reference: &str, member: &str) -> String {
        let base = crate::paths::last(reference);
        let base = ["Id", "_id", "ID", "Ref"].iter().find_map(|end| base.strip_suffix(end)).unwrap_or(base);
        let member = crate::paths::last(member);
        let mut letters = member.chars();
        let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
        format!("{base}{first}{}", letters.as_str())
    }
}

/// Cuts texts of a copy.
pub(crate) fn shorten(item: &mut Value, shortened: &[(String, usize)]) {
    for (path, characters) in shortened {
        let Some(Value::String(text)) = crate::paths::at(item, path) else { continue };
        if text.chars().count() > *characters {
            let cut = text.chars().take(*characters).collect();
            crate::paths::put(item, path, Value::String(cut));
        }
    }
}
