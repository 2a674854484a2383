//! Shapes on the globe and in the plane, as `$geoWithin`, `$geoIntersects` and `$near` ask about them.

use armilla_mongo_expression::{Error, Result, codes};
use armilla_value::{Object, Value};

use crate::path::Path;

/// A place: longitude and latitude in degrees, or x and y.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// The longitude, or x.
    pub x: f64,
    /// The latitude, or y.
    pub y: f64,
}

/// A shape of GeoJSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// One place.
    Point(Position),
    /// Several places.
    MultiPoint(Vec<Position>),
    /// A line.
    LineString(Vec<Position>),
    /// Several lines.
    MultiLineString(Vec<Vec<Position>>),
    /// An area: its outer ring, then its holes.
    Polygon(Vec<Vec<Position>>),
    /// Several areas.
    MultiPolygon(Vec<Vec<Vec<Position>>>),
    /// Several shapes.
    Collection(Vec<Shape>),
}

/// A region that `$geoWithin` names.
#[derive(Debug, Clone, PartialEq)]
pub enum Region {
    /// `$geometry`: areas on the globe.
    Geometry(Shape),
    /// `$box` in the plane.
    Box(Position, Position),
    /// `$polygon` in the plane.
    Polygon(Vec<Position>),
    /// `$center` in the plane.
    Center(Position, f64),
    /// `$centerSphere` on the globe; the radius in radians.
    CenterSphere(Position, f64),
}

/// `$near` or `$nearSphere`.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// The path of the places.
    pub path: Path,
    /// The centre.
    pub center: Position,
    /// In which unit distances are.
    pub unit: Unit,
    /// The least distance.
    pub min: Option<f64>,
    /// The greatest distance.
    pub max: Option<f64>,
}

/// The unit of a distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Metres on the globe.
    Metres,
    /// Radians on the globe.
    Radians,
    /// The unit of the plane.
    Plane,
}

impl Near {
    /// Returns how far a document's nearest place is from the centre; nothing if it has none, or none within the bounds.
    pub fn distance(&self, _document: &Object) -> Option<f64> {
        None
    }
}

pub(crate) fn parse_within(_operand: &Value) -> Result<Region> {
    Err(Error::new(codes::NOT_IMPLEMENTED, "$geoWithin is not there yet"))
}

pub(crate) fn parse_intersects(_operand: &Value) -> Result<Shape> {
    Err(Error::new(codes::NOT_IMPLEMENTED, "$geoIntersects is not there yet"))
}

pub(crate) fn parse_near(_path: &str, _operator: &str, _operators: &Object) -> Result<Near> {
    Err(Error::new(codes::NOT_IMPLEMENTED, "$near is not there yet"))
}

impl Region {
    pub(crate) fn contains(&self, _value: &Value) -> bool {
        false
    }
}

impl Shape {
    pub(crate) fn intersects(&self, _value: &Value) -> bool {
        false
    }
}

impl Near {
    pub(crate) fn admits(&self, _value: &Value) -> bool {
        false
    }
}
