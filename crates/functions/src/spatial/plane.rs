//! The Euclidean plane.

use super::limits::PLANE_TOLERANCE_RATIO;
use super::surface::{Edge, Surface};
use super::vector::{Bounds, Vector};
use super::{Geometry, Position};

/// The plane, with the tolerance that fits the coordinates in use.
#[derive(Debug)]
pub(crate) struct Plane {
    tolerance: f64,
}

impl Plane {
    /// Returns a plane for questions about these shapes.
    pub(crate) fn holding(geometries: &[&Geometry]) -> Plane {
        let largest = |positions: &[Position]| {
            positions
                .iter()
                .fold(0.0, |largest: f64, position| largest.max(position.x.abs()).max(position.y.abs()))
        };
        let largest_coordinate = geometries.iter().fold(0.0, |so_far: f64, geometry| match geometry {
            Geometry::Point(position) => so_far.max(largest(&[*position])),
            Geometry::LineString(line) => so_far.max(largest(line)),
            Geometry::Polygon(polygon) => {
                polygon.rings.iter().fold(so_far, |far, ring| far.max(largest(ring)))
            }
            Geometry::MultiPolygon(polygons) => {
                let rings = polygons.iter().flat_map(|polygon| &polygon.rings);
                rings.fold(so_far, |far, ring| far.max(largest(ring)))
            }
        });
        Plane { tolerance: largest_coordinate * PLANE_TOLERANCE_RATIO }
    }
}

/// Returns the third coordinate of the cross product of two plane vectors.
fn cross(left: Vector, right: Vector) -> f64 {
    left.0[0] * right.0[1] - left.0[1] * right.0[0]
}

/// Returns the area to the left of a closed ring, negative if it runs clockwise.
pub(crate) fn signed_area(ring: &[Vector]) -> f64 {
    let Some(&origin) = ring.first() else { return 0.0 };
    let doubled: f64 = ring.windows(2).map(|ends| cross(ends[0] - origin, ends[1] - origin)).sum();
    doubled / 2.0
}

/// Returns a plane position as a vector.
pub(crate) fn vector(position: Position) -> Vector {
    Vector([position.x, position.y, 0.0])
}

/// Returns the distance of a point from an edge.
fn point_distance(point: Vector, edge: &Edge) -> f64 {
    let along = edge.to - edge.from;
    let length_squared = along.dot(along);
    let part = if length_squared == 0.0 {
        0.0
    } else {
        ((point - edge.from).dot(along) / length_squared).clamp(0.0, 1.0)
    };
    (point - (edge.from + along * part)).length()
}

impl Surface for Plane {
    fn vector(&self, position: Position) -> Vector {
        vector(position)
    }

    fn is_counterclockwise(&self, ring: &[Vector]) -> bool {
        signed_area(ring) >= 0.0
    }

    fn is_oriented(&self) -> bool {
        false
    }

    fn side(&self, from: Vector, to: Vector, point: Vector) -> f64 {
        let along = to - from;
        let length = along.length();
        if length == 0.0 { 0.0 } else { cross(along * (1.0 / length), point - from) }
    }

    fn between(&self, from: Vector, to: Vector, part: f64) -> Vector {
        from + (to - from) * part
    }

    fn part(&self, from: Vector, to: Vector, point: Vector) -> f64 {
        let along = to - from;
        ((point - from).dot(along) / along.dot(along)).clamp(0.0, 1.0)
    }

    fn is_between(&self, from: Vector, to: Vector, point: Vector) -> bool {
        (point - from).dot(to - from) > 0.0 && (point - to).dot(from - to) > 0.0
    }

    fn crossing(&self, left: &Edge, right: &Edge) -> Vector {
        let start = self.side(right.from, right.to, left.from);
        let end = self.side(right.from, right.to, left.to);
        let part = if start == end { 0.5 } else { start / (start - end) };
        self.between(left.from, left.to, part)
    }

    fn is_same_way(&self, left: &Edge, right: &Edge) -> bool {
        (left.to - left.from).dot(right.to - right.from) > 0.0
    }

    fn are_opposite(&self, _left: Vector, _right: Vector) -> bool {
        false
    }

    fn bounds(&self, from: Vector, to: Vector) -> Bounds {
        Bounds::of(from, to, self.tolerance)
    }

    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn distance_min(&self, gap: f64) -> f64 {
        gap
    }

    fn edge_distance(&self, left: &Edge, right: &Edge, _enough: f64) -> f64 {
        // Where two straight edges do not meet, an end of one is nearest to the other.
        point_distance(left.from, right)
            .min(point_distance(left.to, right))
            .min(point_distance(right.from, left))
            .min(point_distance(right.to, left))
    }
}
