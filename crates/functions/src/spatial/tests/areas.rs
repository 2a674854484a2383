//! Areas: known ones, those of symmetric polygons, and sums of parts.

use geographiclib_rs::{Geodesic, PolygonArea, Winding};
use proptest::prelude::*;

use super::super::globe::{direction, position};
use super::super::surface::Surface;
use super::*;

/// The surface of WGS-84.
const WHOLE_SQUARE_METRES: f64 = 510_065_621_724_088.44;

fn square_metres(coordinates: &str) -> f64 {
    area(&globe(coordinates), Space::Geography)
}

#[test]
fn parts_of_the_globe() {
    let table = [
        ("[[[0,0],[90,0],[0,90],[0,0]]]", 1.0 / 8.0),
        ("[[[0,0],[0,90],[90,0],[0,0]]]", 7.0 / 8.0),
        ("[[[0,0],[120,0],[-120,0],[0,0]]]", 1.0 / 2.0),
        ("[[[0,0],[-120,0],[120,0],[0,0]]]", 1.0 / 2.0),
        ("[[[170,0],[-170,0],[-170,90],[170,0]]]", 20.0 / 720.0),
        ("[[[30,-90],[31,0],[31,90],[29,0],[29,-90]]]", 2.0 / 360.0),
        ("[[[[0,0],[90,0],[0,90],[0,0]]],[[[0,0],[0,-90],[90,0],[0,0]]]]", 1.0 / 4.0),
    ];
    for (coordinates, part) in table {
        assert_close(square_metres(coordinates), part * WHOLE_SQUARE_METRES, 1e-12);
    }
    assert_eq!(square_metres("[1,2]"), 0.0);
    assert_eq!(square_metres("[[1,2],[3,4],[5,0],[1,2]]"), 0.0);
}

#[test]
fn holes_and_turns() {
    let outer = "[[0,40],[10,40],[10,50],[0,50],[0,40]]";
    let hole = "[[4,44],[4,46],[6,46],[6,44],[4,44]]";
    let hole_reversed = "[[4,44],[6,44],[6,46],[4,46],[4,44]]";
    let of_outer = square_metres(&format!("[{outer}]"));
    let of_hole = square_metres(&format!("[{hole_reversed}]"));
    for hole in [hole, hole_reversed] {
        assert_close(square_metres(&format!("[{outer},{hole}]")), of_outer - of_hole, 1e-12);
    }
    let rest = area(&reversed(&globe(&format!("[{outer}]"))), Space::Geography);
    assert_close(rest, WHOLE_SQUARE_METRES - of_outer, 1e-12);
    let rest = area(&reversed(&globe(&format!("[{outer},{hole}]"))), Space::Geography);
    assert_close(rest, WHOLE_SQUARE_METRES - of_outer - of_hole, 1e-12);
}

#[test]
fn rings_without_area() {
    for coordinates in [
        "[[[0,0],[1,0],[2,0],[0,0]]]",
        "[[[0,0],[0,45],[0,80],[0,0]]]",
        "[[[7,3],[9,5],[8,8],[9,5],[7,3]]]",
        "[[[170,0],[-170,0],[180,0],[170,0]]]",
    ] {
        assert_eq!(square_metres(coordinates), 0.0, "{coordinates}");
        assert_eq!(area(&reversed(&globe(coordinates)), Space::Geography), 0.0, "{coordinates}");
    }
    assert_eq!(area(&plane("[[[0,0],[1,1],[2,2],[0,0]]]"), Space::Geometry), 0.0);
}

#[test]
fn small_squares_keep_their_digits() {
    // A degree of longitude and one of latitude at the equator, in metres.
    let degrees = (111_319.490_793_273_58, 110_574.275_821_594_81);
    for side in [1e-3, 1e-5, 1e-7] {
        let coordinates =
            format!("[{}]", ring_text([(0.0, 0.0), (side, 0.0), (side, side), (0.0, side), (0.0, 0.0)]));
        assert_close(square_metres(&coordinates), degrees.0 * degrees.1 * side * side, 1e-7);
    }
}

#[test]
fn in_the_plane() {
    let table = [
        ("[[[0,0],[4,0],[4,3],[0,0]]]", 6.0),
        ("[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]", 96.0),
        ("[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[4,6],[6,6],[6,4],[4,4]]]", 96.0),
        ("[[[[0,0],[4,0],[4,3],[0,0]]],[[[10,0],[11,0],[11,1],[10,1],[10,0]]]]", 7.0),
        ("[[[1e9,1e9],[1000000001,1e9],[1000000001,1000000001],[1e9,1000000001],[1e9,1e9]]]", 1.0),
        ("[5,5]", 0.0),
        ("[[0,0],[1,1]]", 0.0),
    ];
    for (coordinates, expected) in table {
        assert_eq!(area(&plane(coordinates), Space::Geometry), expected, "{coordinates}");
        assert_eq!(area(&reversed(&plane(coordinates)), Space::Geometry), expected, "{coordinates}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn as_a_geodesic_polygon_with_very_short_edges(
        x in -180.0..180.0_f64, y in -70.0..70.0_f64, corners in 3..8_usize, radius in 0.01..60.0_f64,
    ) {
        let globe = Globe::new();
        let ring = circle_around(x, y, corners, radius);
        let polygon = Geometry::Polygon(Polygon { rings: vec![ring.clone()] });
        let found = area(&polygon, Space::Geography);
        let geodesic = Geodesic::wgs84();
        let mut dense = PolygonArea::new(&geodesic, Winding::CounterClockwise);
        const PIECES: u32 = 2000;
        for ends in ring.windows(2) {
            let (from, to) = (direction(ends[0]), direction(ends[1]));
            for piece in 0..PIECES {
                let place = position(globe.between(from, to, f64::from(piece) / f64::from(PIECES)));
                dense.add_point(place.y, place.x);
            }
        }
        let (_, expected, _) = dense.compute(true);
        prop_assert!((found - expected).abs() <= 0.01 + expected.abs() * 1e-9, "{found} {expected}");
        let rest = area(&reversed(&polygon), Space::Geography);
        prop_assert!((found + rest - WHOLE_SQUARE_METRES).abs() <= WHOLE_SQUARE_METRES * 1e-13);
    }
}

/// Returns a counter-clockwise ring at an angle around a place, over poles and antimeridian where it lies so.
fn circle_around(x: f64, y: f64, corners: usize, radius_degrees: f64) -> Vec<Position> {
    use geographiclib_rs::DirectGeodesic;
    let corner = |index: usize| {
        let azimuth = -360.0 * (index % corners) as f64 / corners as f64;
        let metres = radius_degrees * 111_000.0;
        let (y, x): (f64, f64) = Geodesic::wgs84().direct(y, x, azimuth, metres);
        Position { x, y }
    };
    (0..=corners).map(corner).collect()
}
