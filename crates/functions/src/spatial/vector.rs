//! Vectors of three coordinates, and boxes of them.
//!
//! The plane uses them with a third coordinate of 0, so that one edge tree serves both spaces.

use std::ops::{Add, Mul, Sub};

/// A point or a direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Vector(pub(crate) [f64; 3]);

impl Vector {
    pub(crate) fn dot(self, other: Vector) -> f64 {
        self.0[0] * other.0[0] + self.0[1] * other.0[1] + self.0[2] * other.0[2]
    }

    pub(crate) fn cross(self, other: Vector) -> Vector {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Vector([b * f - c * e, c * d - a * f, a * e - b * d])
    }

    pub(crate) fn length(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// Returns the vector of length 1 in this direction; the zero vector stays.
    pub(crate) fn unit(self) -> Vector {
        let length = self.length();
        if length == 0.0 { self } else { self * (1.0 / length) }
    }
}

impl Add for Vector {
    type Output = Vector;

    fn add(self, other: Vector) -> Vector {
        Vector(std::array::from_fn(|axis| self.0[axis] + other.0[axis]))
    }
}

impl Sub for Vector {
    type Output = Vector;

    fn sub(self, other: Vector) -> Vector {
        Vector(std::array::from_fn(|axis| self.0[axis] - other.0[axis]))
    }
}

impl Mul<f64> for Vector {
    type Output = Vector;

    fn mul(self, factor: f64) -> Vector {
        Vector(self.0.map(|coordinate| coordinate * factor))
    }
}

/// A box along the axes; the empty one holds nothing and is far from everything.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bounds {
    least: Vector,
    greatest: Vector,
}

impl Bounds {
    pub(crate) const EMPTY: Bounds =
        Bounds { least: Vector([f64::INFINITY; 3]), greatest: Vector([f64::NEG_INFINITY; 3]) };

    /// Returns the smallest box of two points, with a margin around it.
    pub(crate) fn of(from: Vector, to: Vector, margin: f64) -> Bounds {
        Bounds {
            least: Vector(std::array::from_fn(|axis| from.0[axis].min(to.0[axis]) - margin)),
            greatest: Vector(std::array::from_fn(|axis| from.0[axis].max(to.0[axis]) + margin)),
        }
    }

    /// Returns the smallest box that holds both.
    pub(crate) fn union(self, other: Bounds) -> Bounds {
        Bounds {
            least: Vector(std::array::from_fn(|axis| self.least.0[axis].min(other.least.0[axis]))),
            greatest: Vector(std::array::from_fn(|axis| self.greatest.0[axis].max(other.greatest.0[axis]))),
        }
    }

    /// Says whether the boxes have a point in common.
    pub(crate) fn meets(&self, other: &Bounds) -> bool {
        (0..3).all(|axis| {
            self.least.0[axis] <= other.greatest.0[axis] && other.least.0[axis] <= self.greatest.0[axis]
        })
    }

    /// Returns the straight distance between the boxes.
    pub(crate) fn gap(&self, other: &Bounds) -> f64 {
        let gaps = std::array::from_fn(|axis| {
            (self.least.0[axis] - other.greatest.0[axis])
                .max(other.least.0[axis] - self.greatest.0[axis])
                .max(0.0)
        });
        Vector(gaps).length()
    }
}
