//! The area of a polygon.
//!
//! On the ellipsoid the area between the equator and a curve is the integral of `A(s)` over longitude, where `s`
//! is the sine of the geocentric latitude. `A` is split into a multiple of `s`, which would be all of it on a
//! sphere and whose integral along great circles is the solid angle of the ring, and a rest of the order of the
//! flattening, which vanishes at the poles. Divided by the squared cosine of the latitude, the rest is smooth
//! along each arc, and eight points of Gauss and Legendre integrate it to far below a part in 10^9.

use std::f64::consts::PI;

use super::Polygon;
use super::globe::{ECCENTRICITY_SQUARED, POLAR_RADIUS_METRES, direction, solid_angle};
use super::plane::{self, signed_area};
use super::vector::Vector;

/// Half of the eight points and weights for an integral from -1 to 1; the other half mirrors it.
const GAUSS_LEGENDRE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Closer to a pole than this, in the sine of the latitude, a limit stands for the quotient of two tiny numbers.
const POLE_SINE_GAP: f64 = 1e-7;

/// Returns the area of a polygon on the globe in square metres.
pub(crate) fn on_globe(polygon: &Polygon) -> f64 {
    let zonal = ZonalArea::new();
    let areas = polygon.rings.iter().enumerate().map(|(index, ring)| {
        let directions: Vec<Vector> = ring.iter().map(|position| direction(*position)).collect();
        let left = zonal.left_of(&directions);
        let is_outer = index == 0;
        if is_outer { left } else { -left.min(zonal.whole() - left) }
    });
    areas.sum::<f64>().max(0.0)
}

/// Returns the area of a polygon in the plane.
pub(crate) fn in_plane(polygon: &Polygon) -> f64 {
    let areas = polygon.rings.iter().enumerate().map(|(index, ring)| {
        let ring: Vec<Vector> = ring.iter().map(|position| plane::vector(*position)).collect();
        let area = signed_area(&ring).abs();
        let is_outer = index == 0;
        if is_outer { area } else { -area }
    });
    areas.sum::<f64>().max(0.0)
}

/// The area between equator and parallels, per radian of longitude.
struct ZonalArea {
    /// Of a hemisphere.
    to_pole: f64,
    /// The limit of `rest` at the north pole.
    rest_at_pole: f64,
}

impl ZonalArea {
    fn new() -> ZonalArea {
        let to_pole = area_from_equator(1.0);
        // The rest and the squared cosine both vanish there: the quotient of their derivatives counts.
        let slope_at_pole = POLAR_RADIUS_METRES * POLAR_RADIUS_METRES;
        ZonalArea { to_pole, rest_at_pole: (to_pole - slope_at_pole) / 2.0 }
    }

    fn whole(&self) -> f64 {
        4.0 * PI * self.to_pole
    }

    /// Returns the area to the left of a closed ring of directions.
    fn left_of(&self, ring: &[Vector]) -> f64 {
        let angle = solid_angle(ring);
        if angle == 0.0 {
            return 0.0;
        }
        let rest: f64 = ring.windows(2).map(|ends| self.rest_along(ends[0], ends[1])).sum();
        (angle * self.to_pole - rest).clamp(0.0, self.whole())
    }

    /// Integrates the rest along an arc.
    fn rest_along(&self, from: Vector, to: Vector) -> f64 {
        let normal = from.cross(to - from);
        let normal_length = normal.length();
        if normal_length == 0.0 {
            return 0.0;
        }
        let length_angle = normal_length.atan2(from.dot(to));
        let onward = normal.cross(from) * (1.0 / normal_length);
        let rest_at = |angle: f64| {
            let (sin, cos) = angle.sin_cos();
            self.rest(from.0[2] * cos + onward.0[2] * sin)
        };
        let half = length_angle / 2.0;
        let mean: f64 = GAUSS_LEGENDRE
            .iter()
            .map(|(point, weight)| weight * (rest_at(half - half * point) + rest_at(half + half * point)))
            .sum();
        mean * half * (normal.0[2] / normal_length)
    }

    /// Returns what `A` has beyond a sphere, over the squared cosine of the latitude.
    fn rest(&self, sine: f64) -> f64 {
        let gap = 1.0 - sine.abs();
        if gap < POLE_SINE_GAP {
            return self.rest_at_pole.copysign(sine * self.rest_at_pole);
        }
        (area_from_equator(sine) - self.to_pole * sine) / (1.0 - sine * sine)
    }
}

/// Returns the area per radian of longitude from the equator to the parallel with this sine of the geocentric
/// latitude.
fn area_from_equator(sine: f64) -> f64 {
    let squashed = 1.0 - ECCENTRICITY_SQUARED;
    let geodetic_sine = sine / (sine * sine + squashed * squashed * (1.0 - sine * sine)).sqrt();
    let eccentricity = ECCENTRICITY_SQUARED.sqrt();
    let half_square = POLAR_RADIUS_METRES * POLAR_RADIUS_METRES / 2.0;
    half_square
        * (geodetic_sine / (1.0 - ECCENTRICITY_SQUARED * geodetic_sine * geodetic_sine)
            + (eccentricity * geodetic_sine).atanh() / eccentricity)
}
