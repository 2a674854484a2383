//! `geospatialConfig`: `{"type": "Geography"}` or `{"type": "Geometry"}`.

use armilla_index::IndexingPolicy;
use armilla_index::reader::Field;

use super::DefinitionError;
use super::json::word_position;

/// Which space GeoJSON values lie in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GeospatialType {
    /// The round earth.
    #[default]
    Geography,
    /// A plane.
    Geometry,
}

impl GeospatialType {
    /// Returns the word that stands for the type in a definition.
    pub fn word(self) -> &'static str {
        match self {
            GeospatialType::Geography => "Geography",
            GeospatialType::Geometry => "Geometry",
        }
    }
}

pub(super) fn read(body: &Field<'_>) -> Result<GeospatialType, DefinitionError> {
    let Some(field) = body.member("geospatialConfig") else { return Ok(GeospatialType::default()) };
    field.expect_object()?;
    let Some(word) = field.member("type") else { return Ok(GeospatialType::default()) };
    let position = word_position(&word, "geospatial type", &["Geography", "Geometry"])?;
    Ok(if position == 0 { GeospatialType::Geography } else { GeospatialType::Geometry })
}

/// A plane has no edges of its own, the earth needs none.
pub(super) fn check_indexes(
    geospatial: GeospatialType,
    indexing: &IndexingPolicy,
) -> Result<(), DefinitionError> {
    for (position, index) in indexing.spatials().iter().enumerate() {
        let message = match (geospatial, index.bounding_box) {
            (GeospatialType::Geometry, None) => format!(
                "Required parameter 'boundingBox' for 'Geometry' collection is missing in spatial path '{}'",
                index.path
            ),
            (GeospatialType::Geography, Some(_)) => format!(
                "Incorrect parameter 'boundingBox' specified for 'Geography' collection in spatial path '{}'",
                index.path
            ),
            _ => continue,
        };
        let path = format!("indexingPolicy.spatialIndexes[{position}].boundingBox");
        return Err(DefinitionError::new(path, message));
    }
    Ok(())
}
