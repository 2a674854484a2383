//! Places on the globe as directions from its centre, lines between them as great circles.
//!
//! A ring is told inside from outside by how often it goes around a place. It goes around the opposite place the other
//! way, so that rings that hold a place and the one opposite are not told right; none does that is smaller than half of
//! the globe and not bent around it.

use std::f64::consts::PI;

use super::{Position, Shape};

/// Angles below this are none: less than a tenth of a millimetre.
const TOLERANCE: f64 = 1e-11;

/// A direction, of length one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

impl Vector {
    pub(super) fn of(position: Position) -> Vector {
        let (longitude, latitude) = (position.x.to_radians(), position.y.to_radians());
        Vector { x: latitude.cos() * longitude.cos(), y: latitude.cos() * longitude.sin(), z: latitude.sin() }
    }

    fn dot(self, other: Vector) -> f64 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    fn cross(self, other: Vector) -> Vector {
        Vector {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    fn scaled(self, factor: f64) -> Vector {
        Vector { x: self.x * factor, y: self.y * factor, z: self.z * factor }
    }

    /// Returns the angle to another direction, exact for small ones too.
    pub(super) fn angle(self, other: Vector) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }
}

/// A ring with the side that is meant.
#[derive(Debug, Clone)]
struct Ring {
    /// Its corners, the first not repeated at the end.
    corners: Vec<Vector>,
    /// 1 if the inside is to the left of its lines, -1 if to the right.
    side: f64,
}

/// A shape taken apart.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts {
    points: Vec<Vector>,
    lines: Vec<Vec<Vector>>,
    /// Outer rings with their holes.
    areas: Vec<Vec<Ring>>,
}

impl Parts {
    pub(super) fn of(shape: &Shape) -> Parts {
        let mut parts = Parts::default();
        parts.add(shape);
        parts
    }

    fn add(&mut self, shape: &Shape) {
        let directions =
            |positions: &[Position]| positions.iter().map(|position| Vector::of(*position)).collect();
        let area = |rings: &[Vec<Position>]| rings.iter().map(|ring| Ring::new(ring)).collect();
        match shape {
            Shape::Point(point) => self.points.push(Vector::of(*point)),
            Shape::MultiPoint(points) => self.points.extend(points.iter().map(|point| Vector::of(*point))),
            Shape::LineString(line) => self.lines.push(directions(line)),
            Shape::MultiLineString(lines) => self.lines.extend(lines.iter().map(|line| directions(line))),
            Shape::Polygon(rings) => self.areas.push(area(rings)),
            Shape::MultiPolygon(areas) => self.areas.extend(areas.iter().map(|rings| area(rings))),
            Shape::Collection(shapes) => shapes.iter().for_each(|shape| self.add(shape)),
        }
    }

    fn is_empty(&self) -> bool {
        self.points.is_empty() && self.lines.is_empty() && self.areas.is_empty()
    }

    /// Returns the angle from a place to the nearest of this; nothing if this is nothing.
    pub(super) fn distance(&self, place: Vector) -> Option<f64> {
        if self.areas.iter().any(|area| area_holds(area, place)) {
            return Some(0.0);
        }
        let points = self.points.iter().map(|point| point.angle(place));
        let edges = self.edges().map(|(begin, end)| distance_to_arc(place, begin, end));
        points.chain(edges).reduce(f64::min)
    }

    /// Walks the lines between neighbouring corners.
    fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> {
        let lines = self.lines.iter().flat_map(|line| line.windows(2).map(|pair| (pair[0], pair[1])));
        lines.chain(self.areas.iter().flatten().flat_map(Ring::edges))
    }

    fn corners(&self) -> impl Iterator<Item = Vector> {
        let lines = self.lines.iter().flatten().copied();
        let rings = self.areas.iter().flatten().flat_map(|ring| ring.corners.iter().copied());
        self.points.iter().copied().chain(lines).chain(rings)
    }

    /// Says whether there is a place that belongs to both.
    pub(super) fn intersects(&self, other: &Parts) -> bool {
        self.touches(other) || other.touches(self) || {
            self.edges().any(|(a, b)| other.edges().any(|(c, d)| arcs_meet(a, b, c, d)))
        }
    }

    /// Says whether a corner of another shape lies in this one.
    fn touches(&self, other: &Parts) -> bool {
        other.corners().any(|corner| {
            self.points.iter().any(|point| point.angle(corner) <= TOLERANCE)
                || self.areas.iter().any(|area| area_holds(area, corner))
                || self.edges().any(|(begin, end)| distance_to_arc(corner, begin, end) <= TOLERANCE)
        })
    }

    /// Says whether another shape lies in the areas of this one, each part in one of them.
    pub(super) fn contains(&self, other: &Parts) -> bool {
        !other.is_empty()
            && other.points.iter().all(|point| self.areas.iter().any(|area| area_holds(area, *point)))
            && other.lines.iter().all(|line| {
                let edges: Vec<_> = line.windows(2).map(|pair| (pair[0], pair[1])).collect();
                self.areas.iter().any(|area| area_holds_all(area, line, &edges))
            })
            && other.areas.iter().all(|rings| {
                let Some(outer) = rings.first() else { return false };
                let edges: Vec<_> = outer.edges().collect();
                self.areas.iter().any(|area| {
                    area_holds_all(area, &outer.corners, &edges)
                        // A hole that lies wholly inside is not met by any line, but is not ours.
                        && area.iter().skip(1).all(|hole| {
                            !hole.corners.iter().any(|corner| outer.holds(*corner) && !outer.is_at_edge(*corner))
                        })
                })
            })
    }
}

/// Says whether an area has a place in it or on its boundary.
fn area_holds(area: &[Ring], place: Vector) -> bool {
    match area.split_first() {
        Some((outer, holes)) => {
            outer.holds(place) && holes.iter().all(|hole| !hole.holds(place) || hole.is_at_edge(place))
        }
        None => false,
    }
}

fn area_holds_all(area: &[Ring], corners: &[Vector], edges: &[(Vector, Vector)]) -> bool {
    corners.iter().all(|corner| area_holds(area, *corner))
        && edges.iter().all(|(a, b)| {
            let middle = Vector { x: a.x + b.x, y: a.y + b.y, z: a.z + b.z };
            let length = middle.length();
            // The middle decides where both ends are on the boundary; a line through the centre has none.
            (length == 0.0 || area_holds(area, middle.scaled(1.0 / length)))
                && !area.iter().flat_map(Ring::edges).any(|(c, d)| arcs_cross(*a, *b, c, d))
        })
}

/// Says whether a shape lies within an angle of a place.
pub(super) fn is_in_cap(center: Vector, radius: f64, parts: &Parts) -> bool {
    // Up to a quarter of the globe around, what lies between two places inside is inside too.
    !parts.is_empty() && parts.corners().all(|corner| corner.angle(center) <= radius)
}

impl Ring {
    fn new(positions: &[Position]) -> Ring {
        let mut corners: Vec<Vector> = Vec::with_capacity(positions.len());
        for position in positions {
            let corner = Vector::of(*position);
            if corners.last().is_none_or(|last| last.angle(corner) > TOLERANCE) {
                corners.push(corner);
            }
        }
        while corners.len() > 1 && corners[0].angle(corners[corners.len() - 1]) <= TOLERANCE {
            corners.pop();
        }
        let area = signed_area(&corners);
        Ring { corners, side: if area < 0.0 { -1.0 } else { 1.0 } }
    }

    fn edges(&self) -> impl Iterator<Item = (Vector, Vector)> {
        let next = self.corners.iter().skip(1).chain(self.corners.first());
        self.corners.iter().copied().zip(next.copied())
    }

    fn is_at_edge(&self, place: Vector) -> bool {
        self.edges().any(|(begin, end)| distance_to_arc(place, begin, end) <= TOLERANCE)
    }

    /// Says whether a place is inside or on the ring.
    fn holds(&self, place: Vector) -> bool {
        if self.is_at_edge(place) {
            return true;
        }
        let mut turned = 0.0;
        for (begin, end) in self.edges() {
            // The angle between the two as they are seen from the place.
            let (to_begin, to_end) = (place.cross(begin), place.cross(end));
            turned += place.dot(to_begin.cross(to_end)).atan2(to_begin.dot(to_end));
        }
        turned * self.side > PI
    }
}

/// Returns the area to the left of a ring, below zero if it is to the right that the smaller one is.
fn signed_area(corners: &[Vector]) -> f64 {
    let Some((first, rest)) = corners.split_first() else { return 0.0 };
    let mut area = 0.0;
    for pair in rest.windows(2) {
        let (second, third) = (pair[0], pair[1]);
        let volume = first.dot(second.cross(third));
        area += 2.0 * volume.atan2(1.0 + first.dot(second) + second.dot(third) + third.dot(*first));
    }
    // Around the globe once is 4 pi; the smaller of both sides is meant.
    let area = area.rem_euclid(4.0 * PI);
    if area > 2.0 * PI { area - 4.0 * PI } else { area }
}

fn distance_to_arc(place: Vector, begin: Vector, end: Vector) -> f64 {
    let ends = place.angle(begin).min(place.angle(end));
    let normal = begin.cross(end);
    let length = normal.length();
    if length <= f64::EPSILON {
        return ends;
    }
    let normal = normal.scaled(1.0 / length);
    // The foot of the perpendicular lies between the ends if the place is beyond neither.
    let is_between = normal.cross(begin).dot(place) >= 0.0 && end.cross(normal).dot(place) >= 0.0;
    let aside = place.dot(normal).clamp(-1.0, 1.0).asin().abs();
    if is_between { aside.min(ends) } else { ends }
}

/// Says whether two lines have a place in common.
fn arcs_meet(a: Vector, b: Vector, c: Vector, d: Vector) -> bool {
    arcs_cross(a, b, c, d)
        || distance_to_arc(a, c, d) <= TOLERANCE
        || distance_to_arc(b, c, d) <= TOLERANCE
        || distance_to_arc(c, a, b) <= TOLERANCE
        || distance_to_arc(d, a, b) <= TOLERANCE
}

/// Says whether two lines go through each other, at a place that is an end of neither.
fn arcs_cross(a: Vector, b: Vector, c: Vector, d: Vector) -> bool {
    let (ab, cd) = (a.cross(b), c.cross(d));
    let (sc, sd) = (ab.dot(c), ab.dot(d));
    let (sa, sb) = (cd.dot(a), cd.dot(b));
    let is_apart = |value: f64| value.abs() > TOLERANCE;
    if ![sa, sb, sc, sd].into_iter().all(is_apart) || (sc > 0.0) == (sd > 0.0) || (sa > 0.0) == (sb > 0.0) {
        return false;
    }
    // Great circles meet at two places; both lines must go through the same one.
    (sa > 0.0) != (sc > 0.0)
}
