//! Which values are shapes, and what is wrong with the others.

use armilla_value::Value;

use super::*;

#[test]
fn the_four_types() {
    let first = Position { x: 1.0, y: 2.0 };
    let second = Position { x: 3.5, y: -4.0 };
    let third = Position { x: 5.0, y: 6.0 };
    let ring = vec![first, second, third, first];
    let polygon = Polygon { rings: vec![ring] };
    let table = [
        (r#"{"type":"Point","coordinates":[1,2]}"#, Geometry::Point(first)),
        (r#"{"coordinates":[1.0,2e0],"type":"Point"}"#, Geometry::Point(first)),
        (r#"{"type":"Po\u0069nt","coordinates":[1,2],"crs":{"x":1},"bbox":[]}"#, Geometry::Point(first)),
        (r#"{"type":"Point","coordinates":[1,2,-300]}"#, Geometry::Point(first)),
        (
            r#"{"type":"LineString","coordinates":[[1,2],[3.5,-4]]}"#,
            Geometry::LineString(vec![first, second]),
        ),
        (
            r#"{"type":"Polygon","coordinates":[[[1,2],[3.5,-4],[5,6],[1,2]]]}"#,
            Geometry::Polygon(polygon.clone()),
        ),
        (
            r#"{"type":"MultiPolygon","coordinates":[[[[1,2],[3.5,-4],[5,6],[1,2]]]]}"#,
            Geometry::MultiPolygon(vec![polygon]),
        ),
    ];
    for (json, expected) in table {
        for space in [Space::Geography, Space::Geometry] {
            assert_eq!(read(space, json), Ok(expected.clone()), "{json}");
        }
    }
}

#[test]
fn reasons() {
    let table = [
        ("null", "The input is not a GeoJSON object."),
        ("[1,2]", "The input is not a GeoJSON object."),
        ("\"Point\"", "The input is not a GeoJSON object."),
        ("{}", "The type of a GeoJSON object must be Point, LineString, Polygon or MultiPolygon."),
        (
            r#"{"type":1,"coordinates":[1,2]}"#,
            "The type of a GeoJSON object must be Point, LineString, Polygon or MultiPolygon.",
        ),
        (
            r#"{"type":"point","coordinates":[1,2]}"#,
            "The type of a GeoJSON object must be Point, LineString, Polygon or MultiPolygon.",
        ),
        (
            r#"{"type":"MultiPoint","coordinates":[[1,2]]}"#,
            "The type of a GeoJSON object must be Point, LineString, Polygon or MultiPolygon.",
        ),
        (r#"{"type":"Point"}"#, "The Point input is not valid because it has no coordinates."),
        (r#"{"type":"Polygon","coordinates":[]}"#, "The Polygon input is not valid because it has no rings."),
        (
            r#"{"type":"Polygon","coordinates":[1]}"#,
            "The Polygon input is not valid because its coordinates are not arrays of positions.",
        ),
        (
            r#"{"type":"Polygon","coordinates":{}}"#,
            "The Polygon input is not valid because its coordinates are not arrays of rings.",
        ),
        (
            r#"{"type":"MultiPolygon","coordinates":[]}"#,
            "The MultiPolygon input is not valid because it has no polygons.",
        ),
        (
            r#"{"type":"MultiPolygon","coordinates":0}"#,
            "The MultiPolygon input is not valid because its coordinates are not an array of polygons.",
        ),
        (
            r#"{"type":"LineString","coordinates":[]}"#,
            "The LineString input is not valid because it does not have enough distinct points. \
             A LineString must have at least two distinct points.",
        ),
        (
            r#"{"type":"LineString","coordinates":[[1,2],[1,2]]}"#,
            "The LineString input is not valid because it does not have enough distinct points. \
             A LineString must have at least two distinct points.",
        ),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],[[1,1],[2,1],[2,2]]]}"#,
            "The Polygon input is not valid because the start and end points of the ring number 2 are not the \
             same. Each ring of a Polygon must have the same start and end points.",
        ),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0]]]}"#,
            "The Polygon input is not valid because the start and end points of the ring number 1 are not the \
             same. Each ring of a Polygon must have the same start and end points.",
        ),
        (
            r#"{"type":"Polygon","coordinates":[[]]}"#,
            "The Polygon input is not valid because the ring number 1 does not have enough distinct points. \
             Each ring of a Polygon must contain at least three distinct points.",
        ),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,1],[0,0],[1,1],[0,0]]]}"#,
            "The Polygon input is not valid because the ring number 1 does not have enough distinct points. \
             Each ring of a Polygon must contain at least three distinct points.",
        ),
    ];
    for (json, reason) in table {
        for space in [Space::Geography, Space::Geometry] {
            let invalid = read(space, json).expect_err(json);
            assert_eq!(invalid.to_string(), reason, "{json}");
        }
    }
    for position in ["[]", "[1]", "[1,2,3,4]", "[1,null]", "[\"1\",2]", "[1,2,null]", "{}", "1"] {
        for (type_name, open, close) in [("Point", "", ""), ("LineString", "[[0,0],", "]")] {
            let json = format!(r#"{{"type":"{type_name}","coordinates":{open}{position}{close}}}"#);
            let invalid = read(Space::Geography, &json).expect_err(&json);
            let reason = "a position is not an array of two or three numbers.";
            assert!(invalid.reason.ends_with(reason), "{json}: {invalid}");
        }
    }
}

#[test]
fn ranges_of_coordinates() {
    const LATITUDE: &str = "Latitude values must be between -90 and 90 degrees.";
    const LONGITUDE: &str = "Longitude values must be between -180 and 180 degrees.";
    let table = [
        ("180", "90", None),
        ("-180", "-90", None),
        ("0", "90.00000000000001", Some(LATITUDE)),
        ("0", "-90.00000000000001", Some(LATITUDE)),
        ("180.00000000000003", "0", Some(LONGITUDE)),
        ("-180.00000000000003", "0", Some(LONGITUDE)),
        ("133.75", "-184.38", Some(LATITUDE)),
        ("200", "100", Some(LATITUDE)),
        ("1e100", "0", Some(LONGITUDE)),
    ];
    for (x, y, reason) in table {
        let json = format!(r#"{{"type":"Point","coordinates":[{x},{y}]}}"#);
        let found = read(Space::Geography, &json).err().map(|invalid| invalid.reason);
        assert_eq!(found.as_deref(), reason, "{json}");
        assert!(read(Space::Geometry, &json).is_ok(), "{json}");
    }
    let bound = read(Space::Geometry, r#"{"type":"Point","coordinates":[0,-1e100]}"#);
    assert!(bound.is_ok());
    let past = read(Space::Geometry, r#"{"type":"Point","coordinates":[0,-1.0000000000000002e100]}"#);
    assert_eq!(past.expect_err("past the bound").reason, "Coordinates must be between -1e100 and 1e100.");
    let infinite = Value::from(vec![1.0, f64::INFINITY]);
    let value =
        Value::from(armilla_value::Object::from([("type", Value::from("Point")), ("coordinates", infinite)]));
    assert!(Geometry::from_value(&value, Space::Geometry).is_err());
}

#[test]
fn places_with_several_names() {
    // A pole at any longitude and the antimeridian from both sides close a ring, on the globe only.
    for ring in ["[[[10,90],[0,80],[20,80],[-50,90]]]", "[[[180,0],[170,10],[170,-10],[-180,0]]]"] {
        let json = format!(r#"{{"type":"Polygon","coordinates":{ring}}}"#);
        assert!(read(Space::Geography, &json).is_ok(), "{json}");
        assert!(read(Space::Geometry, &json).is_err(), "{json}");
    }
    let poles = r#"{"type":"LineString","coordinates":[[10,90],[50,90]]}"#;
    assert!(read(Space::Geography, poles).is_err());
}

#[test]
fn edges_between_antipodes() {
    for line in ["[[0,0],[180,0]]", "[[10,20],[-170,-20]]", "[[5,90],[7,-90]]", "[[0,0],[180,1e-9]]"] {
        let json = format!(r#"{{"type":"LineString","coordinates":{line}}}"#);
        let invalid = read(Space::Geography, &json).expect_err(&json);
        assert!(invalid.reason.ends_with("it has an edge between antipodal points."), "{json}: {invalid}");
        assert!(read(Space::Geometry, &json).is_ok(), "{json}");
    }
    assert!(read(Space::Geography, r#"{"type":"LineString","coordinates":[[0,0],[179.999,0]]}"#).is_ok());
}

/// Returns a ring of so many positions, the last of which repeats the first.
fn ring_of(points: usize) -> String {
    let last = points - 1;
    ring_text((0..points).map(|index| {
        let turn = (index % last) as f64 / last as f64 * std::f64::consts::TAU;
        (turn.cos(), turn.sin())
    }))
}

#[test]
fn numbers_of_points() {
    let polygon = |rings: &[String]| format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, rings.join(","));
    assert!(read(Space::Geography, &polygon(&[ring_of(POLYGON_POINTS_MAX)])).is_ok());
    let split = [ring_of(POLYGON_POINTS_MAX - 4), ring_of(4)];
    assert!(read(Space::Geography, &polygon(&split)).is_ok());
    for rings in [vec![ring_of(POLYGON_POINTS_MAX + 1)], vec![ring_of(POLYGON_POINTS_MAX - 3), ring_of(4)]] {
        let invalid = read(Space::Geography, &polygon(&rings)).expect_err("one point too many");
        assert_eq!(invalid.reason, "The Polygon input is not valid because it has more than 4096 points.");
    }

    let full = format!("[{}]", ring_of(POLYGON_POINTS_MAX));
    let mut polygons = vec![full; GEOMETRY_POINTS_MAX / POLYGON_POINTS_MAX];
    let multi =
        |polygons: &[String]| format!(r#"{{"type":"MultiPolygon","coordinates":[{}]}}"#, polygons.join(","));
    assert!(read(Space::Geography, &multi(&polygons)).is_ok());
    polygons.push(format!("[{}]", ring_of(4)));
    let invalid = read(Space::Geography, &multi(&polygons)).expect_err("four points too many");
    assert_eq!(invalid.reason, "The MultiPolygon input is not valid because it has more than 65536 points.");

    let line = |points: usize| {
        let positions = ring_text((0..points).map(|index| (f64::from(index as u32 % 2), 0.0)));
        format!(r#"{{"type":"LineString","coordinates":{positions}}}"#)
    };
    assert!(read(Space::Geometry, &line(GEOMETRY_POINTS_MAX)).is_ok());
    let invalid = read(Space::Geometry, &line(GEOMETRY_POINTS_MAX + 1)).expect_err("one point too many");
    assert_eq!(invalid.reason, "The LineString input is not valid because it has more than 65536 points.");
}
