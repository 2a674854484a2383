//! Full-text indexes: `[{"path": "/text"}, ...]`.
//!
//! The texts of refusals are the service's own: the official clients' tests look for parts of them.

use armilla_value::Value;

use super::object;
use crate::paths::PropertyRoute;
use crate::reader::{Field, PolicyError};

/// One full-text index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullTextIndex {
    /// Where the text stands.
    pub path: PropertyRoute,
}

pub(super) fn read(policy: &Field<'_>) -> Result<Option<Vec<FullTextIndex>>, PolicyError> {
    let Some(list) = policy.member("fullTextIndexes") else { return Ok(None) };
    let mut indexes: Vec<FullTextIndex> = Vec::new();
    for (position, element) in list.elements()?.into_iter().enumerate() {
        element.expect_object()?;
        let Some(path_field) = element.member("path") else {
            return Err(element
                .refuse(format!("Missing path in full-text index specification at index ({position})")));
        };
        let text = path_field.text()?;
        let path = PropertyRoute::parse_outside_arrays(text).map_err(|_| {
            path_field.refuse(format!(
                "Full-text index specification at index ({position}) contains invalid path '{text}'"
            ))
        })?;
        if indexes.iter().any(|earlier| earlier.path == path) {
            return Err(path_field.refuse(format!("the full-text path '{text}' is indexed more than once")));
        }
        indexes.push(FullTextIndex { path });
    }
    Ok(Some(indexes))
}

pub(super) fn write(indexes: &[FullTextIndex]) -> Value {
    let write_one = |index: &FullTextIndex| object([("path", Value::String(index.path.text().into()))]);
    Value::Array(indexes.iter().map(write_one).collect())
}
