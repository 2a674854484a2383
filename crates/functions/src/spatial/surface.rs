//! What the globe and the plane have in common: directed edges, their sides, and how far they are apart.

use super::Position;
use super::vector::{Bounds, Vector};

/// A directed edge; one that begins where it ends is a point.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub(crate) from: Vector,
    pub(crate) to: Vector,
    /// Which polygon of the shape it bounds; 0 for points and lines.
    pub(crate) region: usize,
}

/// Where two edges meet, as parts of the way along the first: no, one, or the two ends of an overlap.
pub(crate) type Meeting = [Option<f64>; 4];

/// A surface with straight edges.
pub(crate) trait Surface {
    /// Returns a position as a vector.
    fn vector(&self, position: Position) -> Vector;

    /// Says whether the smaller of the two parts that a closed ring makes is to its left.
    fn is_counterclockwise(&self, ring: &[Vector]) -> bool;

    /// Says whether outer rings mean what is to their left, rather than what they enclose.
    fn is_oriented(&self) -> bool;

    /// Returns how far right (negative) or left of the line through the edge a point is, where it is near; 0 for
    /// an edge that is a point.
    fn side(&self, from: Vector, to: Vector, point: Vector) -> f64;

    /// Returns the point that is a part of the way along.
    fn between(&self, from: Vector, to: Vector, part: f64) -> Vector;

    /// Returns how much of the way along a point on, or near, the edge lies.
    fn part(&self, from: Vector, to: Vector, point: Vector) -> f64;

    /// Says whether a point on the edge's line lies between its ends.
    fn is_between(&self, from: Vector, to: Vector, point: Vector) -> bool;

    /// Returns the point where the lines of two edges that cross do so.
    fn crossing(&self, left: &Edge, right: &Edge) -> Vector;

    /// Says whether two edges on one line lead the same way.
    fn is_same_way(&self, left: &Edge, right: &Edge) -> bool;

    /// Says whether no single edge joins two points.
    fn are_opposite(&self, left: Vector, right: Vector) -> bool;

    /// Returns a box that holds the edge and everything closer to it than the tolerance.
    fn bounds(&self, from: Vector, to: Vector) -> Bounds;

    /// Returns the distance up to which points count as one.
    fn tolerance(&self) -> f64;

    /// Returns the least distance on the surface that points with this straight distance can have.
    fn distance_min(&self, gap: f64) -> f64;

    /// Returns the distance of two edges that do not meet, or anything not less than `enough`.
    fn edge_distance(&self, left: &Edge, right: &Edge, enough: f64) -> f64;

    /// Says how far along an edge a point on it is.
    fn part_if_on(&self, edge: &Edge, point: Vector) -> Option<f64> {
        let (from, to) = (edge.from, edge.to);
        if (point - from).length() <= self.tolerance() {
            Some(0.0)
        } else if (point - to).length() <= self.tolerance() {
            Some(1.0)
        } else if from != to
            && self.side(from, to, point).abs() <= self.tolerance()
            && self.is_between(from, to, point)
        {
            Some(self.part(from, to, point))
        } else {
            None
        }
    }

    /// Says where an edge meets another.
    fn meeting(&self, edge: &Edge, other: &Edge) -> Meeting {
        let touches = [
            self.part_if_on(edge, other.from),
            self.part_if_on(edge, other.to),
            self.part_if_on(other, edge.from).map(|_| 0.0),
            self.part_if_on(other, edge.to).map(|_| 1.0),
        ];
        if touches.iter().all(Option::is_none) && self.crosses(edge, other) && !self.are_in_line(edge, other)
        {
            let crossing = self.crossing(edge, other);
            return [Some(self.part(edge.from, edge.to, crossing)), None, None, None];
        }
        touches
    }

    /// Says whether two edges have a point in common.
    fn meets(&self, edge: &Edge, other: &Edge) -> bool {
        (self.crosses(edge, other) && !self.are_in_line(edge, other))
            || self.part_if_on(edge, other.from).is_some()
            || self.part_if_on(edge, other.to).is_some()
            || self.part_if_on(other, edge.from).is_some()
            || self.part_if_on(other, edge.to).is_some()
    }

    /// Says whether two edges lie on one line. The sides of their ends are then a matter of rounding, and they meet where
    /// an end of one lies on the other, or not at all.
    fn are_in_line(&self, edge: &Edge, other: &Edge) -> bool {
        let is_near = |line: &Edge, point| self.side(line.from, line.to, point).abs() <= self.tolerance();
        (is_near(edge, other.from) && is_near(edge, other.to))
            || (is_near(other, edge.from) && is_near(other, edge.to))
    }

    /// Says whether two edges cross, where a point on the line of the other edge counts as left of it.
    ///
    /// A vertex gets the same side for both edges that end in it, so a path through a vertex of a ring still
    /// crosses the ring the right number of times.
    fn crosses(&self, edge: &Edge, other: &Edge) -> bool {
        let is_left = |line: &Edge, point| self.side(line.from, line.to, point) >= 0.0;
        let from_is_left = is_left(edge, other.from);
        if from_is_left == is_left(edge, other.to) {
            return false;
        }
        // On the globe the two lines meet twice; only where the edges turn the same way round do both hold it.
        let starts_left = is_left(other, edge.from);
        starts_left != is_left(other, edge.to) && starts_left != from_is_left
    }
}
