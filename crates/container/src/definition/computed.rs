//! `computedProperties`: `[{"name": "lowerName", "query": "SELECT VALUE LOWER(c.name) FROM c"}, ...]`.
//!
//! Not here: parsing the query, which the query engine does; only its frame is checked.

use armilla_index::IndexingPolicy;
use armilla_index::paths::PathSegment;
use armilla_index::reader::Field;
use armilla_value::Value;

use super::json::object;
use super::{DefinitionError, PartitionKeyDefinition, limits};

/// A property that is computed when it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComputedProperty {
    /// The name under which queries see it.
    pub name: String,
    /// `SELECT VALUE <expression> FROM <root>`.
    pub query: String,
}

/// Names that the system gives a meaning at the root of an item.
const SYSTEM_NAMES: [&str; 8] = ["id", "_rid", "_ts", "_self", "_etag", "_attachments", "_lsn", "_metadata"];

pub(super) fn read(body: &Field<'_>) -> Result<Option<Vec<ComputedProperty>>, DefinitionError> {
    let Some(list) = body.member("computedProperties") else { return Ok(None) };
    // Clients look for the sentence.
    let elements = list.elements().map_err(|error| {
        DefinitionError::new(error.path, format!("One of the specified inputs is invalid. {}", error.message))
    })?;
    if elements.len() > limits::COMPUTED_PROPERTIES_MAX {
        let message = format!(
            "the container has {} computed properties, more than the {} allowed",
            elements.len(),
            limits::COMPUTED_PROPERTIES_MAX
        );
        return Err(DefinitionError::new(list.path(), message));
    }
    let mut properties: Vec<ComputedProperty> = Vec::new();
    for element in elements {
        element.expect_object()?;
        let name_field = element.required("name")?;
        let name = name_field.text()?;
        let refuse = |message: String| Err(DefinitionError::new(name_field.path(), message));
        if name.is_empty() {
            return refuse(format!("the computed property name at '{}' is empty", name_field.path()));
        }
        if SYSTEM_NAMES.contains(&name) {
            return refuse(format!("the computed property name '{name}' belongs to the system"));
        }
        if properties.iter().any(|earlier| earlier.name == name) {
            return refuse(format!("the computed property '{name}' is defined more than once"));
        }
        let query_field = element.required("query")?;
        let query = query_field.text()?;
        check_query(name, query).map_err(|message| DefinitionError::new(query_field.path(), message))?;
        properties.push(ComputedProperty { name: name.to_owned(), query: query.to_owned() });
    }
    Ok(Some(properties))
}

fn check_query(name: &str, query: &str) -> Result<(), String> {
    if query.len() > limits::COMPUTED_QUERY_BYTES_MAX {
        return Err(format!(
            "the query of the computed property '{name}' has {} bytes, more than the {} allowed",
            query.len(),
            limits::COMPUTED_QUERY_BYTES_MAX
        ));
    }
    let mut words = query.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    let begins = query.trim_start().get(..6).is_some_and(|start| start.eq_ignore_ascii_case("select"))
        && words.next().is_some_and(|word| word.eq_ignore_ascii_case("select"))
        && words.next().is_some_and(|word| word.eq_ignore_ascii_case("value"));
    if begins && words.any(|word| word.eq_ignore_ascii_case("from")) {
        Ok(())
    } else {
        Err(format!(
            "the query of the computed property '{name}' must be SELECT VALUE <expression> FROM <root>"
        ))
    }
}

/// A computed property shadows the stored one of its name, so it must not hide what the system reads.
pub(super) fn check_names(
    properties: &[ComputedProperty],
    key: &PartitionKeyDefinition,
    indexing: &IndexingPolicy,
) -> Result<(), DefinitionError> {
    for (position, property) in properties.iter().enumerate() {
        let in_key = |path: &armilla_value::PropertyPath| path.names().first() == Some(&property.name);
        if key.paths.iter().any(in_key) {
            let message =
                format!("the computed property '{}' has the name of a partition key property", property.name);
            return Err(DefinitionError::new(format!("computedProperties[{position}].name"), message));
        }
        let is_spatial = |first: Option<&PathSegment>| matches!(first, Some(PathSegment::Property(name)) if *name == property.name);
        if let Some(index) =
            indexing.spatials().iter().find(|index| is_spatial(index.path.segments().first()))
        {
            let message = format!(
                "the computed property '{}' cannot have the spatial index '{}'",
                property.name, index.path
            );
            return Err(DefinitionError::new("indexingPolicy.spatialIndexes", message));
        }
    }
    Ok(())
}

pub(super) fn write(properties: &[ComputedProperty]) -> Value {
    let write_one = |property: &ComputedProperty| {
        object([("name", property.name.as_str().into()), ("query", property.query.as_str().into())])
    };
    Value::Array(properties.iter().map(write_one).collect())
}
