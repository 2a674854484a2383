//! How two shapes lie to each other: whether they meet, whether one is in the other.
//!
//! Edges are cut where they meet edges of the other shape. No piece then passes from inside to outside, so that
//! one point of it tells where all of it is.

use std::ops::{ControlFlow, Range};

use super::limits::PATHS_MAX;
use super::shape::{Dimension, Shape};
use super::surface::{Edge, Surface};
use super::vector::Vector;

/// Where a point is, seen from a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Inside,
    Boundary,
    Outside,
}

/// Where on an edge of a ring a path from the point in question may end, in the order they are tried.
const PATH_END_PARTS: [f64; 3] = [0.5, 0.31, 0.77];

/// Says whether two shapes have a point in common.
pub(crate) fn intersects<S: Surface>(surface: &S, left: &Shape<'_>, right: &Shape<'_>) -> bool {
    left.edges.meets(surface, &right.edges)
        || reaches_into(surface, left, right)
        || reaches_into(surface, right, left)
}

/// Says whether a ring, a line or a point starts inside a polygon of the other shape.
fn reaches_into<S: Surface>(surface: &S, shape: &Shape<'_>, areas: &Shape<'_>) -> bool {
    let within_region = |start: &Vector| {
        (0..areas.regions.len()).any(|region| place_in_region(surface, *start, areas, region) == Side::Inside)
    };
    shape.starts.iter().any(within_region)
}

/// Says whether the first shape lies in the second, and their insides meet.
pub(crate) fn within<S: Surface>(surface: &S, inner: &Shape<'_>, outer: &Shape<'_>) -> bool {
    if inner.dimension > outer.dimension {
        return false;
    }
    match inner.dimension {
        Dimension::Point => inner.starts.iter().all(|point| place(surface, *point, outer) == Side::Inside),
        Dimension::Line => line_within(surface, inner, outer),
        Dimension::Area => area_within(surface, inner, outer),
    }
}

fn line_within<S: Surface>(surface: &S, line: &Shape<'_>, outer: &Shape<'_>) -> bool {
    let mut is_inside_somewhere = false;
    for edge in line.edges.edges() {
        for middle in piece_middles(surface, edge, outer) {
            match place(surface, middle, outer) {
                Side::Outside => return false,
                Side::Boundary => {}
                Side::Inside => is_inside_somewhere = true,
            }
        }
    }
    is_inside_somewhere
}

fn area_within<S: Surface>(surface: &S, inner: &Shape<'_>, outer: &Shape<'_>) -> bool {
    let boundary_stays_in = inner.edges.edges().iter().all(|edge| {
        piece_middles(surface, edge, outer).into_iter().all(|middle| match place(surface, middle, outer) {
            Side::Inside => true,
            Side::Outside => false,
            // Both insides are to the left, so they are on one side of the common piece or face each other.
            Side::Boundary => {
                let is_with = |_, other: &Edge| surface.is_same_way(edge, other);
                is_on_edge(surface, middle, outer, is_with)
            }
        })
    });
    // With all of its boundary in the other shape, only an edge of that in its inside can still lead out.
    boundary_stays_in
        && outer.edges.edges().iter().enumerate().all(|(index, edge)| {
            piece_middles(surface, edge, inner).into_iter().all(|middle| {
                place(surface, middle, inner) != Side::Inside || is_seam(surface, middle, outer, index)
            })
        })
}

/// Says whether a point on an edge has the same shape on both sides, in another polygon of it.
fn is_seam<S: Surface>(surface: &S, point: Vector, shape: &Shape<'_>, edge_index: usize) -> bool {
    let edge = &shape.edges.edges()[edge_index];
    let in_other_region = (0..shape.regions.len()).any(|region| {
        region != edge.region && place_in_region(surface, point, shape, region) == Side::Inside
    });
    in_other_region
        || is_on_edge(surface, point, shape, |index, other| {
            index != edge_index && !surface.is_same_way(edge, other)
        })
}

/// Returns a point in the middle of every piece into which a shape cuts an edge.
fn piece_middles<S: Surface>(surface: &S, edge: &Edge, shape: &Shape<'_>) -> Vec<Vector> {
    let mut cuts = vec![0.0, 1.0];
    let all_visited = shape.edges.visit(&shape.all(), &surface.bounds(edge.from, edge.to), |_, other| {
        cuts.extend(surface.meeting(edge, other).into_iter().flatten());
        ControlFlow::Continue(())
    });
    if all_visited.is_break() {
        // The meter has stopped, and nobody believes the answer.
        return Vec::new();
    }
    cuts.sort_by(f64::total_cmp);
    // A piece as short as the tolerance is a place where edges meet, not a way between two such places.
    let part_min = 2.0 * surface.tolerance() / (edge.to - edge.from).length();
    let pieces = cuts.windows(2).filter(|ends| ends[1] - ends[0] > part_min);
    pieces.map(|ends| surface.between(edge.from, edge.to, (ends[0] + ends[1]) / 2.0)).collect()
}

/// Says where a point is in a shape of any dimension.
fn place<S: Surface>(surface: &S, point: Vector, shape: &Shape<'_>) -> Side {
    match shape.dimension {
        Dimension::Point | Dimension::Line => {
            let is_end = |end: &Vector| (point - *end).length() <= surface.tolerance();
            if !is_on_edge(surface, point, shape, |_, _| true) {
                Side::Outside
            } else if shape.ends.iter().any(is_end) {
                Side::Boundary
            } else {
                Side::Inside
            }
        }
        Dimension::Area => {
            let mut place = Side::Outside;
            for region in 0..shape.regions.len() {
                match place_in_region(surface, point, shape, region) {
                    Side::Inside => return Side::Inside,
                    Side::Boundary => place = Side::Boundary,
                    Side::Outside => {}
                }
            }
            place
        }
    }
}

/// Says where a point is in one polygon of a shape.
fn place_in_region<S: Surface>(surface: &S, point: Vector, shape: &Shape<'_>, region: usize) -> Side {
    let range = &shape.regions[region];
    if is_on_edge_of(surface, point, shape, range, |_, _| true) {
        return Side::Boundary;
    }
    // A path from the point to the boundary comes to its end from inside or outside, and changes sides at every
    // crossing before. Paths that end where other edges are as well, or lie along an edge, tell nothing.
    let edges = shape.edges.edges();
    let near = shape.edges.near(range, &surface.bounds(point, point));
    let path_ends = (near..range.end)
        .chain(range.start..near)
        .flat_map(|index| PATH_END_PARTS.map(|part| (index, part)))
        .take(PATHS_MAX);
    for (index, part) in path_ends {
        let edge = &edges[index];
        let side = surface.side(edge.from, edge.to, point);
        let end = surface.between(edge.from, edge.to, part);
        if side.abs() <= surface.tolerance() || surface.are_opposite(point, end) {
            continue;
        }
        let path = Edge { from: point, to: end, region };
        let mut is_left = side > 0.0;
        let path_is_clear = shape.edges.visit(range, &surface.bounds(point, end), |other_index, other| {
            if other_index == index {
                return ControlFlow::Continue(());
            }
            if surface.part_if_on(other, end).is_some() {
                return ControlFlow::Break(());
            }
            is_left ^= surface.crosses(&path, other);
            ControlFlow::Continue(())
        });
        if path_is_clear.is_continue() {
            return if is_left { Side::Inside } else { Side::Outside };
        }
    }
    Side::Outside
}

/// Says whether a point is on an edge of the shape that fulfils a condition.
fn is_on_edge<S: Surface>(
    surface: &S,
    point: Vector,
    shape: &Shape<'_>,
    condition: impl Fn(usize, &Edge) -> bool,
) -> bool {
    is_on_edge_of(surface, point, shape, &shape.all(), condition)
}

/// As [`is_on_edge`], among the edges of a range.
fn is_on_edge_of<S: Surface>(
    surface: &S,
    point: Vector,
    shape: &Shape<'_>,
    range: &Range<usize>,
    condition: impl Fn(usize, &Edge) -> bool,
) -> bool {
    let visited = shape.edges.visit(range, &surface.bounds(point, point), |index, edge| {
        if condition(index, edge) && surface.part_if_on(edge, point).is_some() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    visited.is_break()
}
