//! Spatial indexes: `[{"path": "/loc/*", "types": ["Point", ...], "boundingBox": {...}}, ...]`.

use armilla_value::Value;

use super::{bad_path, check_word, object};
use crate::paths::IndexPath;
use crate::reader::{Field, PolicyError};

/// A kind of GeoJSON value that a spatial index takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpatialType {
    /// A position.
    Point,
    /// A chain of positions.
    LineString,
    /// An area with its holes.
    Polygon,
    /// Several areas.
    MultiPolygon,
}

impl SpatialType {
    /// Every type, in the order of the documentation.
    pub const ALL: [SpatialType; 4] =
        [SpatialType::Point, SpatialType::LineString, SpatialType::Polygon, SpatialType::MultiPolygon];

    /// Returns the word that stands for the type in a policy.
    pub fn word(self) -> &'static str {
        match self {
            SpatialType::Point => "Point",
            SpatialType::LineString => "LineString",
            SpatialType::Polygon => "Polygon",
            SpatialType::MultiPolygon => "MultiPolygon",
        }
    }
}

/// The part of the plane that a spatial index over planar shapes divides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundingBox {
    /// Left edge.
    pub x_min: f64,
    /// Lower edge.
    pub y_min: f64,
    /// Right edge.
    pub x_max: f64,
    /// Upper edge.
    pub y_max: f64,
}

/// One spatial index.
#[derive(Debug, Clone, PartialEq)]
pub struct SpatialIndex {
    /// Where the shapes stand.
    pub path: IndexPath,
    /// Which shapes are taken in.
    pub types: Vec<SpatialType>,
    /// The plane's relevant part, for planar shapes.
    pub bounding_box: Option<BoundingBox>,
}

pub(super) fn read(policy: &Field<'_>) -> Result<Option<Vec<SpatialIndex>>, PolicyError> {
    let Some(list) = policy.member("spatialIndexes") else { return Ok(None) };
    let mut indexes: Vec<SpatialIndex> = Vec::new();
    for element in list.elements()? {
        element.expect_object()?;
        let path_field = element.required("path")?;
        let text = path_field.text()?;
        let path = IndexPath::parse(text).map_err(|bad| bad_path(&path_field, text, bad))?;
        if indexes.iter().any(|earlier| earlier.path == path) {
            return Err(path_field.refuse(format!("the spatial path '{text}' is given more than once")));
        }
        let bounding_box = element.member("boundingBox").map(|field| read_box(&field)).transpose()?;
        indexes.push(SpatialIndex { path, types: read_types(&element)?, bounding_box });
    }
    Ok(Some(indexes))
}

/// Without a list of types, all of them are meant.
fn read_types(element: &Field<'_>) -> Result<Vec<SpatialType>, PolicyError> {
    let mut types = Vec::new();
    if let Some(list) = element.member("types") {
        let words = SpatialType::ALL.map(SpatialType::word);
        for field in list.elements()? {
            let spatial_type = SpatialType::ALL[check_word(&field, "spatial type", &words)?];
            if !types.contains(&spatial_type) {
                types.push(spatial_type);
            }
        }
    }
    if types.is_empty() {
        types.extend(SpatialType::ALL);
    }
    Ok(types)
}

fn read_box(field: &Field<'_>) -> Result<BoundingBox, PolicyError> {
    field.expect_object()?;
    let edge = |name| field.required(name)?.number();
    let bounding_box = BoundingBox {
        x_min: edge("xmin")?,
        y_min: edge("ymin")?,
        x_max: edge("xmax")?,
        y_max: edge("ymax")?,
    };
    if bounding_box.x_min >= bounding_box.x_max || bounding_box.y_min >= bounding_box.y_max {
        return Err(field.refuse(format!(
            "the bounding box at '{}' is empty: xmin must be below xmax, and ymin below ymax",
            field.path()
        )));
    }
    Ok(bounding_box)
}

pub(super) fn write(indexes: &[SpatialIndex]) -> Value {
    let write_one = |index: &SpatialIndex| {
        let words = index.types.iter().map(|spatial_type| Value::String(spatial_type.word().into()));
        let mut members =
            vec![("path", Value::String(index.path.text().into())), ("types", Value::Array(words.collect()))];
        if let Some(bounding_box) = index.bounding_box {
            let edges = [
                ("xmin", number(bounding_box.x_min)),
                ("ymin", number(bounding_box.y_min)),
                ("xmax", number(bounding_box.x_max)),
                ("ymax", number(bounding_box.y_max)),
            ];
            members.push(("boundingBox", object(edges)));
        }
        object(members)
    };
    Value::Array(indexes.iter().map(write_one).collect())
}

/// Edges are mostly whole numbers, and those are written without a fraction.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9.0e15 {
        Value::Int64(value as i64)
    } else {
        Value::Double(value)
    }
}
