//! The distance between two shapes.

use super::relate;
use super::shape::Shape;
use super::surface::Surface;

/// Returns the least distance between two shapes.
pub(crate) fn distance<S: Surface>(surface: &S, left: &Shape<'_>, right: &Shape<'_>) -> f64 {
    if relate::intersects(surface, left, right) {
        return 0.0;
    }
    left.edges.distance(surface, &right.edges)
}
