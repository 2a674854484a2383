//! Reading shapes from GeoJSON, in either form that values have.
//!
//! Points, line strings, polygons and multi-polygons are shapes; other types of GeoJSON are not. A third
//! coordinate, the height, is allowed and ignored, and so are further members.

use std::borrow::Cow;

use armilla_value::{Kind, Node, Value};

use super::limits::{GEOMETRY_POINTS_MAX, PLANE_COORDINATE_MAX, POLYGON_POINTS_MAX};
use super::{Geometry, Invalid, Polygon, Position, Space, globe};

impl Geometry {
    /// Reads a shape from a stored item.
    pub fn from_node(node: Node<'_>, space: Space) -> Result<Geometry, Invalid> {
        read(node, space)
    }

    /// Reads a shape from a value in memory.
    pub fn from_value(value: &Value, space: Space) -> Result<Geometry, Invalid> {
        read(value, space)
    }
}

/// What both forms of values have in common.
trait Json: Sized {
    fn is_object(&self) -> bool;
    fn member(&self, name: &str) -> Option<Self>;
    fn string(&self) -> Option<Cow<'_, str>>;
    fn number(&self) -> Option<f64>;
    fn elements(&self) -> Option<impl Iterator<Item = Self>>;
}

impl Json for Node<'_> {
    fn is_object(&self) -> bool {
        self.kind() == Kind::Object
    }

    fn member(&self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn string(&self) -> Option<Cow<'_, str>> {
        self.as_str()
    }

    fn number(&self) -> Option<f64> {
        self.as_f64()
    }

    fn elements(&self) -> Option<impl Iterator<Item = Self>> {
        (self.kind() == Kind::Array).then(|| Node::elements(self))
    }
}

impl Json for &Value {
    fn is_object(&self) -> bool {
        self.as_object().is_some()
    }

    fn member(&self, name: &str) -> Option<Self> {
        self.get(name)
    }

    fn string(&self) -> Option<Cow<'_, str>> {
        self.as_str().map(Cow::Borrowed)
    }

    fn number(&self) -> Option<f64> {
        self.as_f64()
    }

    fn elements(&self) -> Option<impl Iterator<Item = Self>> {
        self.as_array().map(|elements| elements.iter())
    }
}

fn invalid(reason: impl Into<String>) -> Invalid {
    Invalid { reason: reason.into() }
}

fn read<J: Json>(json: J, space: Space) -> Result<Geometry, Invalid> {
    if !json.is_object() {
        return Err(invalid("The input is not a GeoJSON object."));
    }
    let unknown_type =
        || invalid("The type of a GeoJSON object must be Point, LineString, Polygon or MultiPolygon.");
    let type_value = json.member("type").ok_or_else(unknown_type)?;
    let type_name = type_value.string().ok_or_else(unknown_type)?;
    let coordinates = || {
        json.member("coordinates").ok_or_else(|| {
            invalid(format!("The {type_name} input is not valid because it has no coordinates."))
        })
    };
    match &*type_name {
        "Point" => Ok(Geometry::Point(position(coordinates()?, "Point", space)?)),
        "LineString" => line_string(coordinates()?, space).map(Geometry::LineString),
        "Polygon" => polygon(coordinates()?, "Polygon", space).map(Geometry::Polygon),
        "MultiPolygon" => multi_polygon(coordinates()?, space).map(Geometry::MultiPolygon),
        _ => Err(unknown_type()),
    }
}

fn position<J: Json>(json: J, type_name: &str, space: Space) -> Result<Position, Invalid> {
    let malformed = || {
        invalid(format!(
            "The {type_name} input is not valid because a position is not an array of two or three numbers."
        ))
    };
    let mut numbers = [0.0; 3];
    let mut count = 0;
    for element in json.elements().ok_or_else(malformed)? {
        let number = element.number().filter(|number| number.is_finite()).ok_or_else(malformed)?;
        *numbers.get_mut(count).ok_or_else(malformed)? = number;
        count += 1;
    }
    if count < 2 {
        return Err(malformed());
    }
    let [x, y, _] = numbers;
    match space {
        Space::Geography if y.abs() > 90.0 => {
            Err(invalid("Latitude values must be between -90 and 90 degrees."))
        }
        Space::Geography if x.abs() > 180.0 => {
            Err(invalid("Longitude values must be between -180 and 180 degrees."))
        }
        Space::Geometry if x.abs().max(y.abs()) > PLANE_COORDINATE_MAX => Err(invalid(format!(
            "Coordinates must be between -{PLANE_COORDINATE_MAX:e} and {PLANE_COORDINATE_MAX:e}."
        ))),
        Space::Geography | Space::Geometry => Ok(Position { x, y }),
    }
}

/// Reads positions up to a limit on their number.
fn positions<J: Json>(
    json: J,
    type_name: &str,
    space: Space,
    limit: Limit,
) -> Result<Vec<Position>, Invalid> {
    let elements = json.elements().ok_or_else(|| {
        invalid(format!(
            "The {type_name} input is not valid because its coordinates are not arrays of positions."
        ))
    })?;
    let mut positions = Vec::new();
    for element in elements {
        if positions.len() == limit.left {
            return Err(limit.exceeded(type_name));
        }
        positions.push(position(element, type_name, space)?);
    }
    Ok(positions)
}

/// How many positions may still come, of how many.
#[derive(Clone, Copy)]
struct Limit {
    left: usize,
    points_max: usize,
}

impl Limit {
    fn new(points_max: usize) -> Limit {
        Limit { left: points_max, points_max }
    }

    fn exceeded(self, type_name: &str) -> Invalid {
        invalid(format!(
            "The {type_name} input is not valid because it has more than {} points.",
            self.points_max
        ))
    }
}

fn line_string<J: Json>(json: J, space: Space) -> Result<Vec<Position>, Invalid> {
    let line = positions(json, "LineString", space, Limit::new(GEOMETRY_POINTS_MAX))?;
    if line.iter().all(|position| same_place(*position, line[0], space)) {
        return Err(invalid(
            "The LineString input is not valid because it does not have enough distinct points. \
             A LineString must have at least two distinct points.",
        ));
    }
    check_edges(&line, "LineString", space)?;
    Ok(line)
}

fn polygon<J: Json>(json: J, type_name: &str, space: Space) -> Result<Polygon, Invalid> {
    let elements = json.elements().ok_or_else(|| {
        invalid(format!(
            "The {type_name} input is not valid because its coordinates are not arrays of rings."
        ))
    })?;
    let mut rings = Vec::new();
    let mut limit = Limit::new(POLYGON_POINTS_MAX);
    for (index, element) in elements.enumerate() {
        let ring = positions(element, type_name, space, limit)?;
        limit.left -= ring.len();
        check_ring(&ring, index + 1, type_name, space)?;
        rings.push(ring);
    }
    if rings.is_empty() {
        return Err(invalid(format!("The {type_name} input is not valid because it has no rings.")));
    }
    Ok(Polygon { rings })
}

fn multi_polygon<J: Json>(json: J, space: Space) -> Result<Vec<Polygon>, Invalid> {
    let elements = json.elements().ok_or_else(|| {
        invalid("The MultiPolygon input is not valid because its coordinates are not an array of polygons.")
    })?;
    let mut polygons = Vec::new();
    let mut points_left = GEOMETRY_POINTS_MAX;
    for element in elements {
        let polygon = polygon(element, "MultiPolygon", space)?;
        let points: usize = polygon.rings.iter().map(Vec::len).sum();
        points_left = points_left
            .checked_sub(points)
            .ok_or_else(|| Limit::new(GEOMETRY_POINTS_MAX).exceeded("MultiPolygon"))?;
        polygons.push(polygon);
    }
    if polygons.is_empty() {
        return Err(invalid("The MultiPolygon input is not valid because it has no polygons."));
    }
    Ok(polygons)
}

fn check_ring(ring: &[Position], number: usize, type_name: &str, space: Space) -> Result<(), Invalid> {
    let closed = ring.first().zip(ring.last()).is_some_and(|(first, last)| same_place(*first, *last, space));
    if !ring.is_empty() && (!closed || ring.len() == 1) {
        return Err(invalid(format!(
            "The {type_name} input is not valid because the start and end points of the ring number {number} \
             are not the same. Each ring of a {type_name} must have the same start and end points."
        )));
    }
    let second = ring.iter().find(|position| !same_place(**position, ring[0], space));
    let third = second.and_then(|second| {
        ring.iter().find(|position| {
            !same_place(**position, ring[0], space) && !same_place(**position, *second, space)
        })
    });
    if third.is_none() {
        return Err(invalid(format!(
            "The {type_name} input is not valid because the ring number {number} does not have enough distinct \
             points. Each ring of a {type_name} must contain at least three distinct points."
        )));
    }
    check_edges(ring, type_name, space)
}

fn check_edges(positions: &[Position], type_name: &str, space: Space) -> Result<(), Invalid> {
    let ambiguous = |edge: &[Position]| globe::are_antipodes(edge[0], edge[1]);
    if space == Space::Geography && positions.windows(2).any(ambiguous) {
        return Err(invalid(format!(
            "The {type_name} input is not valid because it has an edge between antipodal points."
        )));
    }
    Ok(())
}

/// Says whether two positions name one place: on the globe, poles and the antimeridian have several names.
fn same_place(left: Position, right: Position, space: Space) -> bool {
    left == right || space == Space::Geography && globe::same_place(left, right)
}
