//! A geometry made ready for questions: its edges as vectors, in a tree, with the inside of polygons to their left.

use std::ops::Range;

use super::edge_tree::EdgeTree;
use super::surface::{Edge, Surface};
use super::vector::Vector;
use super::{Geometry, Polygon, Position};
use crate::meter::Meter;

/// How many ways one can move in a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dimension {
    Point,
    Line,
    Area,
}

/// A geometry as edges.
pub(crate) struct Shape<'m> {
    pub(crate) dimension: Dimension,
    pub(crate) edges: EdgeTree<'m>,
    /// For every polygon, which edges bound it.
    pub(crate) regions: Vec<Range<usize>>,
    /// One vertex of every ring, or of the line, or the point.
    pub(crate) starts: Vec<Vector>,
    /// The two ends of a line that is not closed.
    pub(crate) ends: Vec<Vector>,
}

impl<'m> Shape<'m> {
    pub(crate) fn new<S: Surface>(geometry: &Geometry, surface: &S, meter: &'m Meter<'m>) -> Shape<'m> {
        let mut builder = Builder { surface, edges: Vec::new(), starts: Vec::new() };
        let mut ends = Vec::new();
        let mut regions = Vec::new();
        let dimension = match geometry {
            Geometry::Point(position) => {
                builder.add(&[surface.vector(*position)], 0);
                Dimension::Point
            }
            Geometry::LineString(positions) => {
                let line = builder.vectors(positions);
                if let [first, .., last] = line[..]
                    && (last - first).length() > surface.tolerance()
                {
                    ends = vec![first, last];
                }
                builder.add(&line, 0);
                Dimension::Line
            }
            Geometry::Polygon(polygon) => {
                regions.push(builder.add_polygon(polygon, 0));
                Dimension::Area
            }
            Geometry::MultiPolygon(polygons) => {
                regions.extend(
                    polygons.iter().enumerate().map(|(index, polygon)| builder.add_polygon(polygon, index)),
                );
                Dimension::Area
            }
        };
        let Builder { edges, starts, .. } = builder;
        Shape { dimension, edges: EdgeTree::new(surface, edges, meter), regions, starts, ends }
    }

    /// Returns the range of all edges.
    pub(crate) fn all(&self) -> Range<usize> {
        0..self.edges.edges().len()
    }
}

struct Builder<'a, S> {
    surface: &'a S,
    edges: Vec<Edge>,
    starts: Vec<Vector>,
}

impl<S: Surface> Builder<'_, S> {
    fn vectors(&self, positions: &[Position]) -> Vec<Vector> {
        positions.iter().map(|position| self.surface.vector(*position)).collect()
    }

    fn add_polygon(&mut self, polygon: &Polygon, region: usize) -> Range<usize> {
        let first = self.edges.len();
        for (index, ring) in polygon.rings.iter().enumerate() {
            let mut ring = self.vectors(ring);
            let is_outer = index == 0;
            let direction_counts = is_outer && self.surface.is_oriented();
            if !direction_counts && self.surface.is_counterclockwise(&ring) != is_outer {
                ring.reverse();
            }
            self.add(&ring, region);
        }
        first..self.edges.len()
    }

    /// Adds the edges between points in order, or one edge without length if all points are one.
    fn add(&mut self, points: &[Vector], region: usize) {
        let Some(&start) = points.first() else { return };
        self.starts.push(start);
        let count_before = self.edges.len();
        let edges = points.windows(2).map(|ends| Edge { from: ends[0], to: ends[1], region });
        self.edges.extend(edges.filter(|edge| edge.from != edge.to));
        if self.edges.len() == count_before {
            self.edges.push(Edge { from: start, to: start, region });
        }
    }
}
