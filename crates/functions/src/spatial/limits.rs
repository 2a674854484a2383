//! The bounds of shapes, each tested at the bound and one past it, and the tolerances of their arithmetic.

/// Most positions in the rings of one polygon, repeated ones included. Service limit.
pub const POLYGON_POINTS_MAX: usize = 4096;

/// Most positions in a line string or in all polygons of a multi-polygon.
pub const GEOMETRY_POINTS_MAX: usize = 65_536;

/// Largest plane coordinate, so that products of a few of them stay finite.
pub const PLANE_COORDINATE_MAX: f64 = 1e100;

/// On the unit sphere, what is closer than this is the same: 64 nm, some fifty times the rounding of a position.
pub(crate) const SPHERE_TOLERANCE: f64 = 1e-14;

/// In the plane, what is closer than this part of the largest coordinate is the same.
pub(crate) const PLANE_TOLERANCE_RATIO: f64 = 1e-14;

/// Ends of an edge whose directions sum up to less than this are antipodes: too many arcs join them.
pub(crate) const ANTIPODE_TOLERANCE: f64 = 1e-9;

/// Edges in one leaf of an edge tree.
pub(crate) const LEAF_EDGES: usize = 8;

/// Steps by which the nearest point of an edge is approached; three are usual.
pub(crate) const NEAREST_STEPS_MAX: usize = 12;

/// Paths to the boundary of a polygon that are tried before a point counts as outside: the first tells, unless the
/// ring lies on itself where the path ends or the point on the line of the edge.
pub(crate) const PATHS_MAX: usize = 96;
