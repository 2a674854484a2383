//! Tests of shapes, by subject, and what they share: writing shapes briefly.

mod areas;
mod distances;
mod reading;
mod relations;

use super::*;

fn distance(left: &Geometry, right: &Geometry, space: Space) -> Option<f64> {
    super::distance(left, right, space, &Meter::unlimited())
}

fn within(inner: &Geometry, outer: &Geometry, space: Space) -> bool {
    super::within(inner, outer, space, &Meter::unlimited())
}

fn intersects(left: &Geometry, right: &Geometry, space: Space) -> bool {
    super::intersects(left, right, space, &Meter::unlimited())
}

/// Reads a shape from the text of its coordinates; how deep they nest tells the type.
#[track_caller]
fn shape_in(space: Space, coordinates: &str) -> Geometry {
    let depth = coordinates.find(|letter| letter != '[').expect("coordinates are more than brackets");
    let type_name = ["Point", "LineString", "Polygon", "MultiPolygon"][depth - 1];
    read(space, &format!(r#"{{"type": "{type_name}", "coordinates": {coordinates}}}"#))
        .unwrap_or_else(|invalid| panic!("{coordinates}: {invalid}"))
}

/// Reads a shape in both forms that values have.
#[track_caller]
fn read(space: Space, json: &str) -> Result<Geometry, Invalid> {
    let value = armilla_value::json::parse(json.as_bytes()).expect("test writes JSON");
    let from_value = Geometry::from_value(&value, space);
    // An item is an object, so the value is a member of one.
    let item = format!(r#"{{"shape": {json}}}"#);
    let stored = armilla_value::stored::encode(item.as_bytes(), &[]).expect("test writes JSON");
    let stored = armilla_value::Stored::open(&stored).expect("just encoded");
    let node = stored.root().get("shape").expect("just written");
    assert_eq!(Geometry::from_node(node, space), from_value, "{json}");
    from_value
}

fn globe(coordinates: &str) -> Geometry {
    shape_in(Space::Geography, coordinates)
}

fn plane(coordinates: &str) -> Geometry {
    shape_in(Space::Geometry, coordinates)
}

/// Returns the text of a ring or line of positions.
fn ring_text(positions: impl IntoIterator<Item = (f64, f64)>) -> String {
    let positions: Vec<String> = positions.into_iter().map(|(x, y)| format!("[{x:?},{y:?}]")).collect();
    format!("[{}]", positions.join(","))
}

/// Turns every ring and line round.
fn reversed(geometry: &Geometry) -> Geometry {
    let mut geometry = geometry.clone();
    let polygons = match &mut geometry {
        Geometry::Point(_) => return geometry,
        Geometry::LineString(line) => {
            line.reverse();
            return geometry;
        }
        Geometry::Polygon(polygon) => std::slice::from_mut(polygon),
        Geometry::MultiPolygon(polygons) => polygons,
    };
    polygons.iter_mut().flat_map(|polygon| &mut polygon.rings).for_each(|ring| ring.reverse());
    geometry
}

#[track_caller]
fn assert_close(found: f64, expected: f64, relative: f64) {
    let error = (found - expected).abs();
    assert!(error <= relative * expected.abs(), "{found} is not {expected}, off by {error:e}");
}
