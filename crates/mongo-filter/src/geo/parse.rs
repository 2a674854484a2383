//! Reads shapes of filters and of documents.

use armilla_mongo_expression::{Error, Result};
use armilla_value::{Object, Value};

use super::{Geometry, Near, Position, Region, Shape, Unit};
use crate::limits::{SHAPE_DEPTH_MAX, SHAPE_VERTICES_MAX};
use crate::number::to_f64;
use crate::path::Path;
use crate::text::{show, show_member};

/// Reads the operand of `$geoWithin`.
pub(crate) fn parse_within(operand: &Value) -> Result<Region> {
    let refused =
        || Error::bad_value(format!("$geoWithin not supported with provided geometry: {}", show(operand)));
    let Value::Object(object) = operand else { return Err(refused()) };
    let mut members = object.iter().filter(|(name, _)| *name != "$uniqueDocs");
    let Some((name, value)) = members.next() else { return Err(refused()) };
    match name {
        "$geometry" => {
            let shape = query_shape(value)?;
            match shape {
                Shape::Polygon(_) | Shape::MultiPolygon(_) => Ok(Region::Geometry(Geometry::new(shape))),
                _ => Err(refused()),
            }
        }
        "$box" => {
            let corners = positions(value, "$box")?;
            let [first, second] = corners.as_slice() else {
                return Err(Error::bad_value(
                    "Point must only contain numeric elements: $box takes two corners",
                ));
            };
            let low = Position { x: first.x.min(second.x), y: first.y.min(second.y) };
            let high = Position { x: first.x.max(second.x), y: first.y.max(second.y) };
            Ok(Region::Box(low, high))
        }
        "$polygon" => {
            let ring = positions(value, "$polygon")?;
            if ring.len() < 3 {
                return Err(Error::bad_value("Polygon must have at least 3 points"));
            }
            Ok(Region::Polygon(ring))
        }
        "$center" => {
            let (center, radius) = circle(value)?;
            Ok(Region::Center(center, radius))
        }
        "$centerSphere" => {
            let (center, radius) = circle(value)?;
            on_globe(center)?;
            Ok(Region::CenterSphere(center, radius))
        }
        _ => Err(Error::bad_value(format!("unknown geo specifier: {}", show_member(name, value)))),
    }
}

/// Reads the operand of `$geoIntersects`.
pub(crate) fn parse_intersects(operand: &Value) -> Result<Geometry> {
    let geometry = operand.as_object().and_then(|object| object.get("$geometry"));
    let Some(geometry) = geometry else {
        return Err(Error::bad_value(format!(
            "$geoIntersects not supported with provided geometry: {}",
            show(operand)
        )));
    };
    Ok(Geometry::new(query_shape(geometry)?))
}

/// Reads `$near` or `$nearSphere` among the operators of a path.
pub(crate) fn parse_near(path: &str, operator: &str, operators: &Object) -> Result<Near> {
    let operand = operators.get(operator).unwrap_or(&Value::Null);
    let new = |center, unit| Near { path: Path::new(path), center, unit, min: None, max: None };
    if let Some(geometry) = operand.as_object().and_then(|object| object.get("$geometry")) {
        if let Some((name, value)) =
            operators.iter().find(|(name, _)| *name != operator && *name != "$comment")
        {
            return Err(Error::bad_value(format!(
                "{operator} accepts just one argument when querying for a GeoJSON point. Extra field found: {}",
                show_member(name, value)
            )));
        }
        let Shape::Point(center) = query_shape(geometry)? else {
            return Err(Error::bad_value(format!(
                "invalid point in geo near query $geometry argument: {}",
                show(geometry)
            )));
        };
        let mut near = new(center, Unit::Metres);
        for (name, value) in operand.as_object().into_iter().flat_map(Object::iter) {
            match name {
                "$geometry" => {}
                "$minDistance" => near.min = Some(bound(name, value)?),
                "$maxDistance" => near.max = Some(bound(name, value)?),
                _ => {
                    return Err(Error::bad_value(format!("invalid argument in geo near query: {name}")));
                }
            }
        }
        return Ok(near);
    }
    let unit = if operator == "$nearSphere" { Unit::Radians } else { Unit::Plane };
    let center = match operand {
        Value::Array(elements) => pair(elements),
        Value::Object(object) => {
            let values: Vec<Value> = object.iter().map(|(_, value)| value.clone()).collect();
            pair(&values)
        }
        _ => None,
    };
    let Some(center) = center else {
        return Err(Error::bad_value(format!("{operator} requires a point, given {}", show(operand))));
    };
    if unit == Unit::Radians {
        on_globe(center)?;
    }
    let mut near = new(center, unit);
    // An old form has the greatest distance behind the coordinates.
    if let Some(max) = operand.as_array().and_then(|elements| elements.get(2)) {
        near.max = Some(bound("$maxDistance", max)?);
    }
    if let Some(min) = operators.get("$minDistance") {
        near.min = Some(bound("$minDistance", min)?);
    }
    if let Some(max) = operators.get("$maxDistance") {
        near.max = Some(bound("$maxDistance", max)?);
    }
    Ok(near)
}

fn bound(name: &str, value: &Value) -> Result<f64> {
    match to_f64(value) {
        None => Err(Error::bad_value(format!("{} must be a number", &name[1..]))),
        Some(number) if number >= 0.0 => Ok(number),
        Some(_) => Err(Error::bad_value(format!("{} must be non-negative", &name[1..]))),
    }
}

fn circle(value: &Value) -> Result<(Position, f64)> {
    let (center, radius) = match value.as_array() {
        Some([center, radius]) => (position(center), to_f64(radius)),
        _ => return Err(Error::bad_value("Only 2 fields allowed for circular region")),
    };
    let Some(center) = center else {
        return Err(Error::bad_value("Point must be an array or object"));
    };
    match radius {
        Some(radius) if radius >= 0.0 => Ok((center, radius)),
        _ => Err(Error::bad_value("radius must be a non-negative number")),
    }
}

fn positions(value: &Value, name: &str) -> Result<Vec<Position>> {
    let elements: Vec<&Value> = match value {
        Value::Array(elements) => elements.iter().collect(),
        Value::Object(object) => object.iter().map(|(_, value)| value).collect(),
        _ => return Err(Error::bad_value(format!("{name} must be an array or object"))),
    };
    if elements.len() > SHAPE_VERTICES_MAX {
        return Err(too_many());
    }
    elements
        .into_iter()
        .map(|element| position(element).ok_or_else(|| Error::bad_value("Point must be an array or object")))
        .collect()
}

fn too_many() -> Error {
    Error::bad_value(format!("a shape has at most {SHAPE_VERTICES_MAX} vertices"))
}

/// Reads a place as old coordinates have it: two numbers in an array or object.
fn position(value: &Value) -> Option<Position> {
    match value {
        Value::Array(elements) => pair(elements),
        Value::Object(object) => {
            let mut values = object.iter().map(|(_, value)| value);
            Some(Position { x: coordinate(values.next()?)?, y: coordinate(values.next()?)? })
        }
        _ => None,
    }
}

fn pair(elements: &[Value]) -> Option<Position> {
    match elements {
        [x, y, ..] => Some(Position { x: coordinate(x)?, y: coordinate(y)? }),
        _ => None,
    }
}

fn coordinate(value: &Value) -> Option<f64> {
    to_f64(value).filter(|number| number.is_finite())
}

fn on_globe(position: Position) -> Result<Position> {
    if position.is_on_globe() {
        return Ok(position);
    }
    Err(Error::bad_value(format!(
        "longitude/latitude is out of bounds, lng: {} lat: {}",
        position.x, position.y
    )))
}

/// Reads a shape of a filter.
fn query_shape(value: &Value) -> Result<Shape> {
    let Value::Object(object) = value else {
        return Err(Error::bad_value("geometry must be an object"));
    };
    let mut reader = Reader { vertices: 0 };
    // Old coordinates may stand for a point.
    if !object.contains("type") && !object.contains("coordinates") {
        return match position(value) {
            Some(point) => Ok(Shape::Point(on_globe(point)?)),
            None => Err(Error::bad_value(format!("unknown GeoJSON type: {}", show(value)))),
        };
    }
    reader.shape(object, 0)
}

/// Reads a shape of a document; nothing if it is none.
pub(super) fn document_shape(value: &Value) -> Option<Shape> {
    match value {
        Value::Array(elements) => pair(elements).map(Shape::Point),
        Value::Object(object) if matches!(object.get("type"), Some(Value::String(_))) => {
            Reader { vertices: 0 }.shape(object, 0).ok()
        }
        Value::Object(_) => position(value).map(Shape::Point),
        _ => None,
    }
}

struct Reader {
    vertices: usize,
}

impl Reader {
    fn shape(&mut self, object: &Object, depth: usize) -> Result<Shape> {
        let Some(name) = object.get("type").and_then(Value::as_str) else {
            return Err(Error::bad_value("unknown GeoJSON type"));
        };
        if name == "GeometryCollection" {
            let shapes = object.get("geometries").and_then(Value::as_array);
            let Some(shapes) = shapes.filter(|shapes| !shapes.is_empty() && depth < SHAPE_DEPTH_MAX) else {
                return Err(Error::bad_value("GeometryCollection geometries must be an array"));
            };
            let shapes = shapes.iter().map(|shape| match shape {
                Value::Object(object) => self.shape(object, depth + 1),
                _ => Err(Error::bad_value("Element of geometries is not an object")),
            });
            return Ok(Shape::Collection(shapes.collect::<Result<_>>()?));
        }
        let Some(coordinates) = object.get("coordinates") else {
            return Err(Error::bad_value("GeoJSON coordinates must be an array"));
        };
        Ok(match name {
            "Point" => Shape::Point(self.position(coordinates)?),
            "MultiPoint" => Shape::MultiPoint(self.list(coordinates, 1, Reader::position)?),
            "LineString" => Shape::LineString(self.line(coordinates)?),
            "MultiLineString" => Shape::MultiLineString(self.list(coordinates, 1, Reader::line)?),
            "Polygon" => Shape::Polygon(self.area(coordinates)?),
            "MultiPolygon" => Shape::MultiPolygon(self.list(coordinates, 1, Reader::area)?),
            other => return Err(Error::bad_value(format!("unknown GeoJSON type: {other}"))),
        })
    }

    fn position(&mut self, value: &Value) -> Result<Position> {
        self.vertices += 1;
        if self.vertices > SHAPE_VERTICES_MAX {
            return Err(too_many());
        }
        let Some(position) = value.as_array().and_then(pair) else {
            return Err(Error::bad_value("Point must only contain numeric elements"));
        };
        on_globe(position)
    }

    fn list<T>(
        &mut self,
        value: &Value,
        least: usize,
        read: fn(&mut Reader, &Value) -> Result<T>,
    ) -> Result<Vec<T>> {
        match value.as_array() {
            Some(elements) if elements.len() >= least => {
                elements.iter().map(|element| read(self, element)).collect()
            }
            Some(_) => Err(Error::bad_value("GeoJSON coordinates have not enough elements")),
            None => Err(Error::bad_value("GeoJSON coordinates must be an array of coordinates")),
        }
    }

    fn line(&mut self, value: &Value) -> Result<Vec<Position>> {
        self.list(value, 2, Reader::position)
    }

    fn area(&mut self, value: &Value) -> Result<Vec<Vec<Position>>> {
        self.list(value, 1, Reader::ring)
    }

    fn ring(&mut self, value: &Value) -> Result<Vec<Position>> {
        let ring = self.list(value, 1, Reader::position)?;
        if ring.first() != ring.last() {
            return Err(Error::bad_value(format!("Loop is not closed: {}", show(value))));
        }
        if ring.len() < 4 {
            return Err(Error::bad_value(format!(
                "Loop must have at least 3 different vertices: {}",
                show(value)
            )));
        }
        Ok(ring)
    }
}
