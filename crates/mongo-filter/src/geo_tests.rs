//! What lies where on the globe and in the plane.

use armilla_mongo_expression::{Environment, Scope};

use super::EARTH_RADIUS_METRES;
use crate::filter::Filter;
use crate::testing::object;

fn filter(query: &str) -> Filter {
    Filter::parse(&object(query), &Scope::default()).unwrap_or_else(|error| panic!("{query}: {error:?}"))
}

#[track_caller]
fn check(query: &str, cases: &[(&str, bool)]) {
    let filter = filter(query);
    for (location, expected) in cases {
        let document = object(&format!("{{a: {location}}}"));
        assert_eq!(filter.matches(&document, &Environment::default()), Ok(*expected), "{query} {location}");
    }
}

fn point(x: f64, y: f64) -> String {
    format!("{{type: 'Point', coordinates: [{x:?}, {y:?}]}}")
}

const SQUARE: &str = "{type: 'Polygon', coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}";
const SQUARE_CLOCKWISE: &str =
    "{type: 'Polygon', coordinates: [[[0, 0], [0, 10], [10, 10], [10, 0], [0, 0]]]}";
const FRAME: &str = "{type: 'Polygon', coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]], [[4, 4], [6, 4], [6, 6], [4, 6], [4, 4]]]}";

#[test]
fn areas_on_the_globe() {
    for square in [SQUARE, SQUARE_CLOCKWISE] {
        check(
            &format!("{{a: {{$geoWithin: {{$geometry: {square}}}}}}}"),
            &[
                (&point(5.0, 5.0), true),
                (&point(0.0, 0.0), true),
                (&point(5.0, 0.0), true),
                (&point(-1.0, 5.0), false),
                (&point(-175.0, -5.0), false),
                (&point(175.0, -5.0), false),
                (&point(180.0, 5.0), false),
                // The northern side is a great circle, which bulges north.
                (&point(5.0, 10.02), true),
                (&point(5.0, 10.06), false),
                ("[5, 5]", true),
                ("{x: 5, y: 5}", true),
                ("[[5, 5], [50, 50]]", true),
                ("'x'", false),
                ("5", false),
                ("{type: 'LineString', coordinates: [[1, 1], [9, 9]]}", true),
                ("{type: 'LineString', coordinates: [[1, 1], [19, 9]]}", false),
                ("{type: 'Polygon', coordinates: [[[1, 1], [2, 1], [2, 2], [1, 1]]]}", true),
                ("{type: 'Polygon', coordinates: [[[1, 1], [20, 1], [2, 2], [1, 1]]]}", false),
                (SQUARE, true),
                ("{type: 'MultiPoint', coordinates: [[1, 1], [2, 2]]}", true),
                ("{type: 'MultiPoint', coordinates: [[1, 1], [20, 2]]}", false),
                (&format!("{{type: 'GeometryCollection', geometries: [{}]}}", point(1.0, 1.0)), true),
                ("{type: 'Point', coordinates: [500, 0]}", false),
            ],
        );
    }
    check(
        &format!("{{a: {{$geoWithin: {{$geometry: {FRAME}}}}}}}"),
        &[
            (&point(5.0, 5.0), false),
            (&point(4.0, 4.0), true),
            (&point(2.0, 2.0), true),
            ("{type: 'LineString', coordinates: [[1, 5], [9, 5]]}", false),
            ("{type: 'Polygon', coordinates: [[[1, 1], [9, 1], [9, 9], [1, 9], [1, 1]]]}", false),
        ],
    );
    // Across the date line, and around a pole.
    check(
        "{a: {$geoWithin: {$geometry: {type: 'Polygon', coordinates: [[[170, -5], [-170, -5], [-170, 5], [170, 5], [170, -5]]]}}}}",
        &[(&point(180.0, 0.0), true), (&point(-175.0, 0.0), true), (&point(0.0, 0.0), false)],
    );
    check(
        "{a: {$geoWithin: {$geometry: {type: 'Polygon', coordinates: [[[0, 70], [90, 70], [180, 70], [-90, 70], [0, 70]]]}}}}",
        &[
            (&point(33.0, 89.0), true),
            (&point(0.0, 90.0), true),
            (&point(0.0, -90.0), false),
            (&point(0.0, 60.0), false),
        ],
    );
    check(
        "{a: {$geoWithin: {$geometry: {type: 'MultiPolygon', coordinates: [[[[0, 0], [1, 0], [1, 1], [0, 0]]], [[[20, 20], [30, 20], [30, 30], [20, 20]]]]}}}}",
        &[(&point(29.0, 25.0), true), (&point(0.5, 0.2), true), (&point(10.0, 10.0), false)],
    );
}

#[test]
fn what_they_have_in_common() {
    check(
        &format!("{{a: {{$geoIntersects: {{$geometry: {SQUARE}}}}}}}"),
        &[
            (&point(5.0, 5.0), true),
            (&point(10.0, 0.0), true),
            (&point(11.0, 0.0), false),
            ("{type: 'LineString', coordinates: [[-5, 5], [15, 5]]}", true),
            ("{type: 'LineString', coordinates: [[-5, 5], [-5, 15]]}", false),
            (
                "{type: 'Polygon', coordinates: [[[-20, -20], [20, -20], [20, 20], [-20, 20], [-20, -20]]]}",
                true,
            ),
            ("{type: 'Polygon', coordinates: [[[20, 20], [30, 20], [30, 30], [20, 20]]]}", false),
            ("[5, 5]", true),
        ],
    );
    check(
        "{a: {$geoIntersects: {$geometry: {type: 'LineString', coordinates: [[0, 0], [10, 0]]}}}}",
        &[
            (&point(5.0, 0.0), true),
            (&point(5.0, 0.001), false),
            ("{type: 'LineString', coordinates: [[5, -5], [5, 5]]}", true),
            ("{type: 'LineString', coordinates: [[10, 0], [10, 5]]}", true),
            ("{type: 'LineString', coordinates: [[175, 1], [175, -1]]}", false),
            (SQUARE, true),
        ],
    );
    check(
        &format!("{{a: {{$geoIntersects: {{$geometry: {}}}}}}}", point(1.0, 2.0)),
        &[(&point(1.0, 2.0), true), (&point(1.0, 2.1), false), (SQUARE, true)],
    );
}

#[test]
fn regions_of_the_plane() {
    check(
        "{a: {$geoWithin: {$box: [[10, 10], [0, 0]]}}}",
        &[
            ("[0, 0]", true),
            ("[10, 10]", true),
            ("[10, 11]", false),
            ("{x: 1, y: 1}", true),
            (&point(5.0, 5.0), true),
            ("[[50, 50], [1, 1]]", true),
        ],
    );
    check(
        "{a: {$geoWithin: {$polygon: [[0, 0], [4, 8], [8, 0]]}}}",
        &[("[4, 4]", true), ("[4, 8]", true), ("[1, 7]", false), ("[4, 0]", true)],
    );
    check(
        "{a: {$geoWithin: {$center: [[0, 0], 5]}}}",
        &[("[3, 4]", true), ("[4, 4]", false), ("[300, 400]", false)],
    );
    check(
        "{a: {$within: {$centerSphere: [[0, 0], 0.1]}}}",
        &[("[5, 0]", true), ("[6, 0]", false), ("{type: 'LineString', coordinates: [[1, 1], [2, 2]]}", true)],
    );
}

#[test]
fn distances() {
    let distance = |query: &str, document: &str| {
        let filter = filter(query);
        let document = object(document);
        let distance = filter.near().expect("a $near").distance(&document);
        assert_eq!(
            filter.matches(&document, &Environment::default()),
            Ok(distance.is_some()),
            "{query} {document:?}"
        );
        distance
    };
    let near = format!("{{a: {{$near: {{$geometry: {}, $maxDistance: 200000}}}}}}", point(0.0, 0.0));
    let degree = EARTH_RADIUS_METRES.to_radians();
    let is_close = |left: Option<f64>, right: f64| left.is_some_and(|left| (left - right).abs() < 1e-6);
    assert!(is_close(distance(&near, "{a: [0, 1]}"), degree));
    assert!(is_close(distance(&near, "{a: [[0, 1.5], [1, 0]]}"), degree));
    assert!(is_close(distance(&near, "{a: {type: 'LineString', coordinates: [[-5, 1], [5, 1]]}}"), {
        // The great circle between both ends passes north of the parallel.
        let (longitude, latitude) = (5f64.to_radians(), 1f64.to_radians());
        (latitude.tan() / longitude.cos()).atan() * EARTH_RADIUS_METRES
    }));
    assert_eq!(distance(&near, "{a: [0, 3]}"), None);
    assert_eq!(distance(&near, "{b: [0, 3]}"), None);
    let ring = format!("{{b: 1, a: {{$nearSphere: {{$geometry: {}, $minDistance: 100}}}}}}", point(0.0, 0.0));
    assert_eq!(filter(&ring).near().expect("a $near").distance(&object("{b: 1, a: [0, 0]}")), None);
    assert!(is_close(distance("{a: {$near: [0, 0], $maxDistance: 5}}", "{a: [3, 4]}"), 5.0));
    assert_eq!(distance("{a: {$near: [0, 0, 4]}}", "{a: [3, 4]}"), None);
    assert!(is_close(distance("{a: {$nearSphere: [0, 0]}}", "{a: [180, 0]}"), std::f64::consts::PI));
    assert!(is_close(distance("{a: {$near: {x: 0, y: 0}}}", "{a: {x: 0, y: 2}}"), 2.0));
    assert!(filter("{$and: [{a: {$near: [0, 0]}}]}").near().is_some());
    assert!(filter("{a: 1}").near().is_none());
}

#[test]
fn what_is_refused() {
    for query in [
        "{a: {$geoWithin: 1}}",
        "{a: {$geoWithin: {}}}",
        "{a: {$geoWithin: {$foo: 1}}}",
        "{a: {$geoWithin: {$geometry: {type: 'Point', coordinates: [1, 1]}}}}",
        "{a: {$geoWithin: {$geometry: {type: 'Polygon', coordinates: [[[0, 0], [1, 0], [1, 1]]]}}}}",
        "{a: {$geoWithin: {$geometry: {type: 'Polygon', coordinates: [[[0, 0], [1, 0], [0, 0]]]}}}}",
        "{a: {$geoWithin: {$geometry: {type: 'Polygon', coordinates: [[[0, 0], [200, 0], [1, 1], [0, 0]]]}}}}",
        "{a: {$geoWithin: {$box: [[0, 0]]}}}",
        "{a: {$geoWithin: {$center: [[0, 0], -1]}}}",
        "{a: {$geoWithin: {$polygon: [[0, 0], [1, 1]]}}}",
        "{a: {$geoIntersects: {$geometry: {type: 'Foo', coordinates: []}}}}",
        "{a: {$geoIntersects: {$box: [[0, 0], [1, 1]]}}}",
        "{a: {$near: 1}}",
        "{a: {$near: ['x', 1]}}",
        "{a: {$near: [0, 0], $maxDistance: -1}}",
        "{a: {$near: [0, 0], $maxDistance: 'x'}}",
        "{a: {$near: {$geometry: {type: 'Point', coordinates: [0, 0]}}, $maxDistance: 1}}",
        "{a: {$near: {$geometry: {type: 'LineString', coordinates: [[0, 0], [1, 1]]}}}}",
        "{$or: [{a: {$near: [0, 0]}}]}",
        "{a: {$not: {$near: [0, 0]}}}",
    ] {
        let error = Filter::parse(&object(query), &Scope::default()).expect_err(query);
        assert_eq!(error.code, 2, "{query}");
    }
}

#[test]
fn shapes_have_bounds() {
    let points = |count: usize| {
        let query = format!(
            "{{a: {{$geoIntersects: {{$geometry: {{type: 'MultiPoint', coordinates: [{}]}}}}}}}}",
            vec!["[1, 2]"; count].join(", ")
        );
        Filter::parse(&object(&query), &Scope::default()).map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(points(crate::limits::SHAPE_VERTICES_MAX), Ok(()));
    assert_eq!(points(crate::limits::SHAPE_VERTICES_MAX + 1), Err(2));
    let nested = |depth: usize| {
        let mut shape = point(1.0, 2.0);
        for _ in 0..depth {
            shape = format!("{{type: 'GeometryCollection', geometries: [{shape}]}}");
        }
        let query = format!("{{a: {{$geoIntersects: {{$geometry: {shape}}}}}}}");
        Filter::parse(&object(&query), &Scope::default()).map(|_| ()).map_err(|error| error.code)
    };
    assert_eq!(nested(crate::limits::SHAPE_DEPTH_MAX), Ok(()));
    assert_eq!(nested(crate::limits::SHAPE_DEPTH_MAX + 1), Err(2));
}
