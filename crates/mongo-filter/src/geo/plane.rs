//! Places in the plane.

use super::Position;

pub(super) fn distance(left: Position, right: Position) -> f64 {
    (left.x - right.x).hypot(left.y - right.y)
}

pub(super) fn is_in_box(point: Position, low: Position, high: Position) -> bool {
    (low.x..=high.x).contains(&point.x) && (low.y..=high.y).contains(&point.y)
}

/// Says whether a point is inside a ring or on it, by how often a ray to the right crosses it.
pub(super) fn is_in_polygon(point: Position, ring: &[Position]) -> bool {
    let mut is_inside = false;
    let mut previous = match ring.last() {
        Some(last) => *last,
        None => return false,
    };
    for &vertex in ring {
        if is_on_segment(point, previous, vertex) {
            return true;
        }
        if (vertex.y > point.y) != (previous.y > point.y) {
            let crossing =
                (previous.x - vertex.x) * (point.y - vertex.y) / (previous.y - vertex.y) + vertex.x;
            if point.x < crossing {
                is_inside = !is_inside;
            }
        }
        previous = vertex;
    }
    is_inside
}

fn is_on_segment(point: Position, begin: Position, end: Position) -> bool {
    let cross = (end.x - begin.x) * (point.y - begin.y) - (end.y - begin.y) * (point.x - begin.x);
    cross == 0.0
        && (begin.x.min(end.x)..=begin.x.max(end.x)).contains(&point.x)
        && (begin.y.min(end.y)..=begin.y.max(end.y)).contains(&point.y)
}
