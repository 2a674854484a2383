//! Shapes on the globe and in the plane: reading GeoJSON, distance, containment, intersection and area.
//!
//! In the [`Space::Geography`] positions are degrees of longitude and latitude on the WGS-84 ellipsoid, lengths
//! are metres, and an edge is the shorter great elliptic arc: the cut of the surface with the plane through both
//! ends and the centre. Seen from the centre such arcs are great circles, so every question of crossing and
//! containment is answered on the unit sphere, without approximation; lengths are geodesic. In the
//! [`Space::Geometry`] positions are plane coordinates and edges are straight.
//!
//! Invariants:
//! * a [`Geometry`] is valid in the space it was read for; nothing here fails on one;
//! * on the globe the inside of an outer ring is to its left, so a clockwise ring is the rest of the globe;
//!   holes and all rings in the plane mean the same in both directions;
//! * what lies closer to an edge than rounding can tell lies on it;
//! * every search among edges takes steps of a meter; where that has stopped, the answer means nothing.
//!
//! Rings that cross themselves are not looked for; the answers about them are some answers, always the same.
//!
//! Not here: indexing shapes (`index`), dispatching the `ST_` functions (`shapes`).

mod area;
mod edge_tree;
mod geojson;
mod globe;
mod limits;
mod measure;
mod plane;
mod relate;
mod shape;
mod surface;
mod vector;

#[cfg(test)]
mod tests;

use std::fmt;

use globe::Globe;
use plane::Plane;
use shape::Shape;

use crate::meter::Meter;

pub use limits::{GEOMETRY_POINTS_MAX, PLANE_COORDINATE_MAX, POLYGON_POINTS_MAX};

/// Which surface positions are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Space {
    /// The WGS-84 ellipsoid; degrees in, metres out.
    Geography,
    /// The Euclidean plane; the same unit in and out.
    Geometry,
}

/// A point of the surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// Degrees east, or the first plane coordinate.
    pub x: f64,
    /// Degrees north, or the second plane coordinate.
    pub y: f64,
}

/// An area bounded by closed rings, the outer one first, then its holes.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    /// At least one; each repeats its first position as the last.
    pub rings: Vec<Vec<Position>>,
}

/// A valid shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Geometry {
    /// One position.
    Point(Position),
    /// Two or more positions, joined in order.
    LineString(Vec<Position>),
    /// One area.
    Polygon(Polygon),
    /// Several areas, which count as one shape.
    MultiPolygon(Vec<Polygon>),
}

/// Why a value is not a valid shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    /// A sentence for the user.
    pub reason: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl std::error::Error for Invalid {}

/// Returns the least distance between two shapes, 0 where they meet; `None` if no double holds it.
pub fn distance(left: &Geometry, right: &Geometry, space: Space, meter: &Meter<'_>) -> Option<f64> {
    let distance = match space {
        Space::Geography => match (left, right) {
            (Geometry::Point(left), Geometry::Point(right)) => globe::geodesic_metres(*left, *right),
            _ => {
                let globe = Globe::new();
                measure::distance(&globe, &Shape::new(left, &globe, meter), &Shape::new(right, &globe, meter))
            }
        },
        Space::Geometry => {
            let plane = Plane::holding(&[left, right]);
            measure::distance(&plane, &Shape::new(left, &plane, meter), &Shape::new(right, &plane, meter))
        }
    };
    distance.is_finite().then_some(distance)
}

/// Says whether the first shape lies in the second and not merely on its boundary.
pub fn within(inner: &Geometry, outer: &Geometry, space: Space, meter: &Meter<'_>) -> bool {
    match space {
        Space::Geography => {
            let globe = Globe::new();
            relate::within(&globe, &Shape::new(inner, &globe, meter), &Shape::new(outer, &globe, meter))
        }
        Space::Geometry => {
            let plane = Plane::holding(&[inner, outer]);
            relate::within(&plane, &Shape::new(inner, &plane, meter), &Shape::new(outer, &plane, meter))
        }
    }
}

/// Says whether two shapes have a point in common, be it of their boundaries.
pub fn intersects(left: &Geometry, right: &Geometry, space: Space, meter: &Meter<'_>) -> bool {
    match space {
        Space::Geography => {
            let globe = Globe::new();
            relate::intersects(&globe, &Shape::new(left, &globe, meter), &Shape::new(right, &globe, meter))
        }
        Space::Geometry => {
            let plane = Plane::holding(&[left, right]);
            relate::intersects(&plane, &Shape::new(left, &plane, meter), &Shape::new(right, &plane, meter))
        }
    }
}

/// Returns the area of polygons, in square metres on the globe; points and lines have none.
pub fn area(geometry: &Geometry, space: Space) -> f64 {
    let polygons = match geometry {
        Geometry::Point(_) | Geometry::LineString(_) => return 0.0,
        Geometry::Polygon(polygon) => std::slice::from_ref(polygon),
        Geometry::MultiPolygon(polygons) => polygons,
    };
    let one = match space {
        Space::Geography => area::on_globe,
        Space::Geometry => area::in_plane,
    };
    polygons.iter().map(one).sum()
}
