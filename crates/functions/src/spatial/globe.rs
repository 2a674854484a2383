//! The WGS-84 ellipsoid, seen from its centre as a unit sphere.
//!
//! A vector here is the direction from the centre to a place on the surface. Edges are great elliptic arcs, which
//! are great circles of directions. Turning directions by an angle moves the place by at least the polar and at
//! most the equatorial radius times that angle, which is how angles bound distances before any is computed.

use std::f64::consts::PI;

use geographiclib_rs::{Geodesic, InverseGeodesic};

use super::Position;
use super::limits::{ANTIPODE_TOLERANCE, NEAREST_STEPS_MAX, SPHERE_TOLERANCE};
use super::surface::{Edge, Surface};
use super::vector::{Bounds, Vector};

/// Metres from the centre to the equator.
pub(crate) const EQUATORIAL_RADIUS_METRES: f64 = 6_378_137.0;

/// How much shorter the polar radius is, as a part of the equatorial one.
pub(crate) const FLATTENING: f64 = 1.0 / 298.257_223_563;

/// Metres from the centre to a pole.
pub(crate) const POLAR_RADIUS_METRES: f64 = EQUATORIAL_RADIUS_METRES * (1.0 - FLATTENING);

/// First eccentricity, squared.
pub(crate) const ECCENTRICITY_SQUARED: f64 = FLATTENING * (2.0 - FLATTENING);

/// The nearest point of an edge is found once the next step is this part of the distance, or less: the distance
/// itself is then off by half the square of it.
const NEAREST_STEP_RATIO: f64 = 1e-6;

/// Lower bounds are taken down by so little that rounding never hides the nearest pair.
const ROUNDED_DOWN: f64 = 1.0 - 1e-12;

/// The surface of the Earth.
pub(crate) struct Globe {
    geodesic: Geodesic,
}

impl Globe {
    pub(crate) fn new() -> Globe {
        Globe { geodesic: Geodesic::wgs84() }
    }

    /// Returns the distance between a direction and an edge, or anything not less than `enough`.
    fn point_distance(&self, point: Vector, edge: &Edge, enough: f64) -> f64 {
        let arc = Arc::new(edge.from, edge.to);
        let mut angle = arc.nearest_angle(point);
        if distance_min_near(point, arc.at(angle)) >= enough {
            return enough;
        }
        let start = position(point);
        let mut least = f64::INFINITY;
        let mut previous: Option<(f64, f64)> = None;
        for _ in 0..NEAREST_STEPS_MAX {
            let place = arc.at(angle);
            let end = position(place);
            let (metres, _, azimuth, _): (f64, f64, f64, f64) =
                self.geodesic.inverse(start.y, start.x, end.y, end.x);
            least = least.min(metres);
            if arc.length_angle == 0.0 || metres == 0.0 {
                break;
            }
            // How the distance changes with the angle, and how that changes: by the difference to the last step,
            // or at first as it would on a sphere.
            let (east, north) = surface_velocity(place, arc.velocity_at(angle), end);
            let (azimuth_sin, azimuth_cos) = sin_cos_degrees(azimuth);
            let slope = east * azimuth_sin + north * azimuth_cos;
            let speed_squared = east * east + north * north;
            let distance_angle = metres / EQUATORIAL_RADIUS_METRES;
            let on_sphere = speed_squared / (EQUATORIAL_RADIUS_METRES * distance_angle.min(PI / 4.0).tan());
            let bend = previous
                .map(|(last_angle, last_slope)| (slope - last_slope) / (angle - last_angle))
                .filter(|bend| bend.is_finite() && *bend > 0.0)
                .unwrap_or(on_sphere);
            let next = (angle - slope / bend).clamp(0.0, arc.length_angle);
            if (next - angle).abs() * speed_squared.sqrt() <= NEAREST_STEP_RATIO * metres {
                break;
            }
            previous = Some((angle, slope));
            angle = next;
        }
        least
    }
}

/// Returns the length of the shortest path between two positions.
pub(crate) fn geodesic_metres(left: Position, right: Position) -> f64 {
    Geodesic::wgs84().inverse(left.y, left.x, right.y, right.x)
}

/// Says whether two positions name one place.
pub(crate) fn same_place(left: Position, right: Position) -> bool {
    (direction(left) - direction(right)).length() == 0.0
}

/// Says whether two positions lie so far apart that every way round is equally short.
pub(crate) fn are_antipodes(left: Position, right: Position) -> bool {
    // Two places a quarter of a turn of latitude or longitude apart are found out without trigonometry.
    if (left.y + right.y).abs() > 1.0 {
        return false;
    }
    (direction(left) + direction(right)).length() < ANTIPODE_TOLERANCE
}

/// Returns the direction from the centre to a position.
pub(crate) fn direction(position: Position) -> Vector {
    let (latitude_sin, latitude_cos) = sin_cos_degrees(position.y);
    let (longitude_sin, longitude_cos) = sin_cos_degrees(position.x);
    Vector([
        latitude_cos * longitude_cos,
        latitude_cos * longitude_sin,
        (1.0 - ECCENTRICITY_SQUARED) * latitude_sin,
    ])
    .unit()
}

/// Returns the position in a direction.
pub(crate) fn position(direction: Vector) -> Position {
    let [x, y, z] = direction.0;
    let latitude = z.atan2((1.0 - ECCENTRICITY_SQUARED) * x.hypot(y));
    Position { x: y.atan2(x).to_degrees(), y: latitude.to_degrees() }
}

/// Returns sine and cosine of degrees, exact at the multiples of 90.
fn sin_cos_degrees(degrees: f64) -> (f64, f64) {
    let quarter_turns = (degrees / 90.0).round();
    let (sin, cos) = (degrees - 90.0 * quarter_turns).to_radians().sin_cos();
    let (sin, cos) = match quarter_turns.rem_euclid(4.0) as u8 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    };
    // Minus zero would make 180 degrees west another direction than 180 degrees east.
    (sin + 0.0, cos + 0.0)
}

/// Returns how fast, in metres per radian, a place moves east and north when its direction moves with a velocity.
fn surface_velocity(direction: Vector, velocity: Vector, position: Position) -> (f64, f64) {
    let flattened = POLAR_RADIUS_METRES.powi(-2) - EQUATORIAL_RADIUS_METRES.powi(-2);
    let height = direction.0[2];
    let radius = radius_metres(height);
    let radius_change = -radius.powi(3) * flattened * height * velocity.0[2];
    let place_velocity = velocity * radius + direction * radius_change;
    let (latitude_sin, latitude_cos) = sin_cos_degrees(position.y);
    let (longitude_sin, longitude_cos) = sin_cos_degrees(position.x);
    let east = Vector([-longitude_sin, longitude_cos, 0.0]);
    let north = Vector([-latitude_sin * longitude_cos, -latitude_sin * longitude_sin, latitude_cos]);
    (place_velocity.dot(east), place_velocity.dot(north))
}

/// An edge as a turn of its first direction.
struct Arc {
    from: Vector,
    /// At a right angle to `from`, on the way.
    onward: Vector,
    length_angle: f64,
}

impl Arc {
    fn new(from: Vector, to: Vector) -> Arc {
        let chord = to - from;
        // From the difference: for a short edge the directions themselves are equal in most of their digits.
        let onward = (chord - from * from.dot(chord)).unit();
        Arc { from, onward, length_angle: angle_between(from, to) }
    }

    fn at(&self, angle: f64) -> Vector {
        let (sin, cos) = angle.sin_cos();
        self.from * cos + self.onward * sin
    }

    fn velocity_at(&self, angle: f64) -> Vector {
        let (sin, cos) = angle.sin_cos();
        self.onward * cos - self.from * sin
    }

    /// Returns the angle at which the arc comes nearest to a direction, on the sphere.
    fn nearest_angle(&self, point: Vector) -> f64 {
        // Along the great circle the direction lies at this angle; off the arc, the nearer end is nearest.
        let angle = self.onward.dot(point).atan2(self.from.dot(point));
        if (0.0..=self.length_angle).contains(&angle) {
            return angle;
        }
        let to_end = (self.at(self.length_angle) - point).length();
        if (self.from - point).length() <= to_end { 0.0 } else { self.length_angle }
    }
}

/// Returns a length that the distance between two places, and between places near them, is not below.
///
/// The shortest path turns by little more than the angle between them, so this is how far it can leave their
/// latitudes, and turning by an angle moves by no less than the radius at the highest latitude reached. The
/// radius changes so little on the way that this is within a hair of the distance, where the polar radius alone
/// may be a third of a percent off.
fn distance_min_near(point: Vector, nearest_of_arc: Vector) -> f64 {
    let gap = (nearest_of_arc - point).length();
    let angle = 2.0 * (gap / 2.0).min(1.0).asin();
    let latitude = point.0[2].abs().max(nearest_of_arc.0[2].abs()).min(1.0).asin();
    // At worst more by the ratio of the radii: 1.0034.
    let reached_latitude = (latitude + angle * 1.01).min(PI / 2.0);
    radius_metres(reached_latitude.sin()) * angle * ROUNDED_DOWN
}

/// Returns the distance from the centre to the surface at the sine of a geocentric latitude.
fn radius_metres(sine: f64) -> f64 {
    POLAR_RADIUS_METRES / (1.0 - ECCENTRICITY_SQUARED * (1.0 - sine * sine)).sqrt()
}

/// Returns the angle between two directions, to full precision however small or large.
fn angle_between(from: Vector, to: Vector) -> f64 {
    from.cross(to - from).length().atan2(from.dot(to))
}

/// Returns the solid angle to the left of a closed ring of directions, from 0 up to, but not including, 4π.
pub(crate) fn solid_angle(ring: &[Vector]) -> f64 {
    let apex = fan_apex(ring);
    let mut sum = 0.0;
    let mut perimeter = 0.0;
    for ends in ring.windows(2) {
        let (from, to) = (ends[0], ends[1]);
        // From differences: the volume of a small triangle with the centre is lost in that of its corners.
        let volume = apex.dot((from - apex).cross(to - apex));
        sum += 2.0 * volume.atan2(1.0 + apex.dot(from) + from.dot(to) + to.dot(apex));
        perimeter += (to - from).length();
    }
    // A ring that encloses nothing must not become the whole globe by rounding.
    if sum.abs() <= perimeter * SPHERE_TOLERANCE {
        return 0.0;
    }
    let whole = 4.0 * PI;
    let left = sum.rem_euclid(whole);
    if left < whole { left } else { 0.0 }
}

/// Returns a direction from which the ring is split into triangles: no vertex is near its antipode.
fn fan_apex(ring: &[Vector]) -> Vector {
    let Some(&first) = ring.first() else { return Vector([0.0, 0.0, 1.0]) };
    // The clearest of a few: the first vertex if that will do, since then small rings have small triangles.
    let elsewhere = [[0.36, 0.48, 0.8], [-0.8, 0.36, 0.48], [0.48, -0.8, 0.36], [-0.48, 0.6, -0.64]];
    let clearance =
        |apex: Vector| ring.iter().map(|vertex| (*vertex + apex).length()).fold(f64::INFINITY, f64::min);
    const CLEAR: f64 = 1e-3;
    if clearance(first) > CLEAR {
        return first;
    }
    let candidates = elsewhere.map(|coordinates| Vector(coordinates).unit());
    candidates.into_iter().find(|apex| clearance(*apex) > CLEAR).unwrap_or(first)
}

impl Surface for Globe {
    fn vector(&self, position: Position) -> Vector {
        direction(position)
    }

    fn is_counterclockwise(&self, ring: &[Vector]) -> bool {
        solid_angle(ring) <= 2.0 * PI
    }

    fn is_oriented(&self) -> bool {
        true
    }

    fn side(&self, from: Vector, to: Vector, point: Vector) -> f64 {
        let normal = from.cross(to - from);
        let length = normal.length();
        if length == 0.0 { 0.0 } else { normal.dot(point - from) / length }
    }

    fn between(&self, from: Vector, to: Vector, part: f64) -> Vector {
        let arc = Arc::new(from, to);
        arc.at(part * arc.length_angle)
    }

    fn part(&self, from: Vector, to: Vector, point: Vector) -> f64 {
        (angle_between(from, point) / angle_between(from, to)).clamp(0.0, 1.0)
    }

    fn is_between(&self, from: Vector, to: Vector, point: Vector) -> bool {
        point.dot(from + to) > 0.0 && (point - from).dot(to - from) > 0.0 && (point - to).dot(from - to) > 0.0
    }

    fn crossing(&self, left: &Edge, right: &Edge) -> Vector {
        let left_normal = left.from.cross(left.to - left.from);
        let right_normal = right.from.cross(right.to - right.from);
        let crossing = left_normal.unit().cross(right_normal.unit()).unit();
        // The lines meet in this direction and in the opposite one; the edge is on one side only.
        if crossing.dot(left.from + left.to) < 0.0 { crossing * -1.0 } else { crossing }
    }

    fn is_same_way(&self, left: &Edge, right: &Edge) -> bool {
        left.from.cross(left.to - left.from).dot(right.from.cross(right.to - right.from)) > 0.0
    }

    fn are_opposite(&self, left: Vector, right: Vector) -> bool {
        (left + right).length() < ANTIPODE_TOLERANCE
    }

    fn bounds(&self, from: Vector, to: Vector) -> Bounds {
        let chord = (to - from).length();
        let bulge = 1.0 - (1.0 - chord * chord / 4.0).max(0.0).sqrt();
        Bounds::of(from, to, bulge + SPHERE_TOLERANCE)
    }

    fn tolerance(&self) -> f64 {
        SPHERE_TOLERANCE
    }

    fn distance_min(&self, gap: f64) -> f64 {
        2.0 * (gap / 2.0).min(1.0).asin() * POLAR_RADIUS_METRES * ROUNDED_DOWN
    }

    fn edge_distance(&self, left: &Edge, right: &Edge, enough: f64) -> f64 {
        // As in the plane: where two arcs do not meet, an end of one is nearest to the other.
        let mut least = self.point_distance(left.from, right, enough);
        if left.from != left.to {
            least = least.min(self.point_distance(left.to, right, least));
        }
        if left.from != left.to || right.from != right.to {
            least = least.min(self.point_distance(right.from, left, least));
            least = least.min(self.point_distance(right.to, left, least));
        }
        least
    }
}
