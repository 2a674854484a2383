//! The bounds this crate enforces.

/// Deepest nesting of a filter, a projection or a schema; beyond it reading fails with `Overflow`.
pub const DEPTH_MAX: usize = 200;

/// Most keys of an order.
pub const SORT_KEYS_MAX: usize = 32;

/// Most vertices of one shape in a filter: they are compared with those of each document.
pub const SHAPE_VERTICES_MAX: usize = 10_000;

/// Deepest nesting of collections of shapes.
pub const SHAPE_DEPTH_MAX: usize = 16;
