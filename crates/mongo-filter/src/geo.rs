//! Shapes on the globe and in the plane, as `$geoWithin`, `$geoIntersects` and `$near` ask about them.
//!
//! The globe is a sphere of [`EARTH_RADIUS_METRES`], lines on it are great circles, and of the two sides of a ring the
//! smaller one is meant, as the server has it. A boundary belongs to what it bounds.
//!
//! Not here: indexes; the ellipsoid that SQL measures on.

mod globe;
mod parse;
mod plane;

use armilla_value::{Object, Value};

use crate::path::{Leaf, Path, Subject, walk};
use globe::{Parts, Vector};

pub(crate) use parse::{parse_intersects, parse_near, parse_within};

/// The radius of the globe.
pub const EARTH_RADIUS_METRES: f64 = 6_378_100.0;

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

/// A shape of a filter, made ready to be compared with those of documents.
#[derive(Debug, Clone)]
pub struct Geometry {
    /// The shape.
    pub shape: Shape,
    parts: Parts,
}

/// A region that `$geoWithin` names.
#[derive(Debug, Clone)]
pub enum Region {
    /// `$geometry`: areas on the globe.
    Geometry(Geometry),
    /// `$box` in the plane: its lowest corner, and its highest.
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

impl Geometry {
    pub(crate) fn new(shape: Shape) -> Geometry {
        let parts = Parts::of(&shape);
        Geometry { shape, parts }
    }

    /// Says whether a value of a document is a shape that has a point in common with this one.
    pub fn intersects(&self, value: &Value) -> bool {
        parse::document_shape(value).is_some_and(|shape| self.parts.intersects(&Parts::of(&shape)))
    }
}

impl Region {
    /// Says whether a value of a document is a shape that lies in the region.
    pub fn contains(&self, value: &Value) -> bool {
        let Some(shape) = parse::document_shape(value) else { return false };
        let point = match &shape {
            Shape::Point(point) => Some(*point),
            _ => None,
        };
        match self {
            Region::Geometry(geometry) => is_on_globe(&shape) && geometry.parts.contains(&Parts::of(&shape)),
            Region::CenterSphere(center, radius) => {
                is_on_globe(&shape) && globe::is_in_cap(Vector::of(*center), *radius, &Parts::of(&shape))
            }
            // In the plane only points are known.
            Region::Box(low, high) => point.is_some_and(|point| plane::is_in_box(point, *low, *high)),
            Region::Polygon(ring) => point.is_some_and(|point| plane::is_in_polygon(point, ring)),
            Region::Center(center, radius) => {
                point.is_some_and(|point| plane::distance(point, *center) <= *radius)
            }
        }
    }
}

/// Says whether a shape's coordinates are longitudes and latitudes; those of old pairs may be anything.
fn is_on_globe(shape: &Shape) -> bool {
    match shape {
        Shape::Point(point) => point.is_on_globe(),
        _ => true,
    }
}

impl Position {
    pub(crate) fn is_on_globe(self) -> bool {
        (-180.0..=180.0).contains(&self.x) && (-90.0..=90.0).contains(&self.y)
    }
}

impl Near {
    /// Returns how far a document's nearest place within the bounds is from the centre, in the unit of `$near`.
    pub fn distance(&self, document: &Object) -> Option<f64> {
        let mut nearest: Option<f64> = None;
        let visited = walk(Subject::Document(document), &self.path, Leaf::Elements, &mut |value, _| {
            if let Some(distance) = value.and_then(|value| self.distance_of(value)) {
                nearest = Some(nearest.map_or(distance, |nearest| nearest.min(distance)));
            }
            Ok(false)
        });
        visited.ok().and(nearest)
    }

    /// Returns how far a value that is a shape is from the centre, if it is within the bounds.
    pub fn distance_of(&self, value: &Value) -> Option<f64> {
        let shape = parse::document_shape(value)?;
        let distance = match self.unit {
            Unit::Plane => match shape {
                Shape::Point(point) => plane::distance(point, self.center),
                _ => return None,
            },
            _ if !is_on_globe(&shape) => return None,
            unit => {
                let angle = Parts::of(&shape).distance(Vector::of(self.center))?;
                if unit == Unit::Metres { angle * EARTH_RADIUS_METRES } else { angle }
            }
        };
        let is_within =
            self.min.is_none_or(|min| distance >= min) && self.max.is_none_or(|max| distance <= max);
        is_within.then_some(distance)
    }
}

#[cfg(test)]
#[path = "geo_tests.rs"]
mod tests;
