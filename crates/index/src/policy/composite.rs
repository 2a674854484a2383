//! Composite indexes: `[[{"path": "/name", "order": "ascending"}, ...], ...]`.

use armilla_value::Value;

use super::{bad_path, check_count, check_word, object};
use crate::limits;
use crate::paths::PropertyRoute;
use crate::reader::{Field, PolicyError};

/// The direction in which one property of a composite index is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortOrder {
    /// Smallest first.
    Ascending,
    /// Largest first.
    Descending,
}

impl SortOrder {
    /// Returns the word that stands for the order in a policy.
    pub fn word(self) -> &'static str {
        match self {
            SortOrder::Ascending => "ascending",
            SortOrder::Descending => "descending",
        }
    }
}

/// One property of a composite index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompositePath {
    /// Which property.
    pub path: PropertyRoute,
    /// In which direction.
    pub order: SortOrder,
}

pub(super) fn read(policy: &Field<'_>) -> Result<Option<Vec<Vec<CompositePath>>>, PolicyError> {
    let Some(list) = policy.member("compositeIndexes") else { return Ok(None) };
    let mut indexes = Vec::new();
    let mut path_count = 0;
    for element in list.elements()? {
        let index = read_one(&element)?;
        path_count += index.len();
        indexes.push(index);
    }
    check_count(&list, path_count, limits::COMPOSITE_PATHS_MAX, "composite paths in all")?;
    Ok(Some(indexes))
}

fn read_one(field: &Field<'_>) -> Result<Vec<CompositePath>, PolicyError> {
    let elements = field.elements()?;
    check_count(field, elements.len(), limits::COMPOSITE_PROPERTIES_MAX, "properties")?;
    if elements.len() < limits::COMPOSITE_PROPERTIES_MIN {
        return Err(field.refuse(format!(
            "the composite index '{}' has {} properties, fewer than the {} it needs",
            field.path(),
            elements.len(),
            limits::COMPOSITE_PROPERTIES_MIN
        )));
    }
    let mut paths: Vec<CompositePath> = Vec::new();
    for element in elements {
        element.expect_object()?;
        let path_field = element.required("path")?;
        let text = path_field.text()?;
        let path = PropertyRoute::parse(text).map_err(|bad| bad_path(&path_field, text, bad))?;
        if paths.iter().any(|earlier| earlier.path == path) {
            return Err(path_field.refuse(format!(
                "the path '{text}' stands more than once in the composite index '{}'",
                field.path()
            )));
        }
        let order = match element.member("order") {
            None => SortOrder::Ascending,
            Some(order) => match check_word(&order, "order", &["ascending", "descending"])? {
                0 => SortOrder::Ascending,
                _ => SortOrder::Descending,
            },
        };
        paths.push(CompositePath { path, order });
    }
    Ok(paths)
}

pub(super) fn write(indexes: &[Vec<CompositePath>]) -> Value {
    let write_path = |path: &CompositePath| {
        object([
            ("path", Value::String(path.path.text().into())),
            ("order", Value::String(path.order.word().into())),
        ])
    };
    Value::Array(indexes.iter().map(|index| Value::Array(index.iter().map(write_path).collect())).collect())
}
