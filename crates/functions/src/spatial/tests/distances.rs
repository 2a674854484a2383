//! Distances: known ones, those of symmetric situations, and a search by brute force.

use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic};
use proptest::prelude::*;

use super::super::globe::{direction, position};
use super::super::surface::Surface;
use super::*;

/// A quarter of a meridian of WGS-84.
const QUARTER_MERIDIAN_METRES: f64 = 10_001_965.729_312_74;

/// From the equator to 60 degrees north.
const MERIDIAN_TO_60_METRES: f64 = 6_654_072.819_367;

/// A degree of the equator of WGS-84.
const EQUATOR_DEGREE_METRES: f64 = 6_378_137.0 * std::f64::consts::PI / 180.0;

#[track_caller]
fn metres(left: &str, right: &str) -> f64 {
    let (left, right) = (globe(left), globe(right));
    let there = distance(&left, &right, Space::Geography).expect("finite");
    let back = distance(&right, &left, Space::Geography).expect("finite");
    assert_close(back, there, 1e-12);
    there
}

#[test]
fn between_points_on_the_globe() {
    let table = [
        ("[0,0]", "[0,0]", 0.0),
        ("[0,0]", "[1,0]", EQUATOR_DEGREE_METRES),
        ("[-179.5,0]", "[179.5,0]", EQUATOR_DEGREE_METRES),
        ("[180,10]", "[-180,10]", 0.0),
        ("[33,90]", "[-120,90]", 0.0),
        ("[0,0]", "[0,90]", QUARTER_MERIDIAN_METRES),
        ("[0,0]", "[17,-90]", QUARTER_MERIDIAN_METRES),
        ("[0,-90]", "[0,90]", 2.0 * QUARTER_MERIDIAN_METRES),
        // Over a pole, since the meridian is shorter than the equator.
        ("[0,0]", "[180,0]", 2.0 * QUARTER_MERIDIAN_METRES),
        ("[20,60]", "[-160,60]", 2.0 * (QUARTER_MERIDIAN_METRES - MERIDIAN_TO_60_METRES)),
        // New York to London, and Wellington to Salamanca: published examples of geodesics.
        ("[-73.8,40.6]", "[-0.5,51.6]", 5_551_759.400),
        ("[174.81,-41.32]", "[-5.5,40.96]", 19_959_679.267),
    ];
    for (left, right, expected) in table {
        let found = metres(left, right);
        assert!(
            (found - expected).abs() <= 1e-6_f64.max(expected * 1e-9),
            "{left} {right}: {found} {expected}"
        );
    }
}

#[test]
fn from_lines_and_polygons_on_the_globe() {
    const EAST_SQUARE: &str = "[[[1,-1],[2,-1],[2,1],[1,1],[1,-1]]]";
    const HOLED: &str = "[[[-9,-9],[9,-9],[9,9],[-9,9],[-9,-9]],[[-3,-3],[3,-3],[3,3],[-3,3],[-3,-3]]]";
    let table = [
        // The equator and meridians are geodesics and great ellipses at once.
        ("[5,0]", "[[0,0],[10,0]]", 0.0),
        ("[11,0]", "[[0,0],[10,0]]", EQUATOR_DEGREE_METRES),
        ("[-1,0]", "[[0,0],[10,0]]", EQUATOR_DEGREE_METRES),
        ("[5,90]", "[[0,0],[10,0]]", QUARTER_MERIDIAN_METRES),
        ("[0,0]", EAST_SQUARE, EQUATOR_DEGREE_METRES),
        ("[1.5,0]", EAST_SQUARE, 0.0),
        ("[1,0]", EAST_SQUARE, 0.0),
        ("[[3,0],[4,0]]", EAST_SQUARE, EQUATOR_DEGREE_METRES),
        ("[[1.5,0],[4,0]]", EAST_SQUARE, 0.0),
        ("[[0,0],[20,0]]", HOLED, 0.0),
        ("[[[4,0],[5,0],[5,1],[4,0]]]", EAST_SQUARE, 2.0 * EQUATOR_DEGREE_METRES),
        (
            "[[[[4,0],[5,0],[5,1],[4,0]]],[[[60,0],[61,0],[61,1],[60,0]]]]",
            EAST_SQUARE,
            2.0 * EQUATOR_DEGREE_METRES,
        ),
        // Across the antimeridian.
        ("[-179,0]", "[[178,0],[179,0]]", 2.0 * EQUATOR_DEGREE_METRES),
        ("[-179,0]", "[[[178,-1],[179,-1],[179,1],[178,1],[178,-1]]]", 2.0 * EQUATOR_DEGREE_METRES),
        // A polygon around the pole holds it; a clockwise one holds everything else.
        ("[45,90]", "[[[0,80],[90,80],[180,80],[-90,80],[0,80]]]", 0.0),
        ("[45,-90]", "[[[0,80],[-90,80],[180,80],[90,80],[0,80]]]", 0.0),
    ];
    for (left, right, expected) in table {
        let found = metres(left, right);
        assert!(
            (found - expected).abs() <= 1e-5_f64.max(expected * 1e-9),
            "{left} {right}: {found} {expected}"
        );
    }
    assert_close(metres("[0,0]", HOLED), globe_min_by_steps("[0,0]", HOLED), 1e-12);
    // Two meridians are nearest at their ends away from the equator.
    let corners = metres("[-1,1]", "[1,1]");
    assert_close(metres("[[-1,-1],[-1,1]]", EAST_SQUARE), corners, 1e-12);
    // The far side of the hole of a polygon that is the rest of the globe.
    let outside = metres("[45,90]", "[[[0,80],[-90,80],[180,80],[90,80],[0,80]]]");
    assert!(outside > 0.0 && outside < metres("[45,90]", "[0,80]"));
}

/// Returns the least distance from a point to the edges of a shape, by walking along them.
fn globe_min_by_steps(point: &str, shape: &str) -> f64 {
    let Geometry::Point(point) = globe(point) else { panic!("not a point") };
    let Geometry::Polygon(polygon) = globe(shape) else { panic!("not a polygon") };
    let edges = polygon.rings.iter().flat_map(|ring| ring.windows(2));
    edges.map(|ends| edge_min_by_steps(point, ends[0], ends[1])).fold(f64::INFINITY, f64::min)
}

/// Halves steps along an edge around the nearest point so far.
fn edge_min_by_steps(point: Position, from: Position, to: Position) -> f64 {
    let globe = Globe::new();
    let at = |part: f64| {
        let place = position(globe.between(direction(from), direction(to), part));
        let metres: f64 = Geodesic::wgs84().inverse(point.y, point.x, place.y, place.x);
        metres
    };
    let mut step = 0.5 / 64.0;
    let mut best = (0..=64)
        .map(|index| f64::from(index) / 64.0)
        .min_by(|left, right| at(*left).total_cmp(&at(*right)))
        .expect("65 places");
    while step > 1e-12 {
        for part in [best - step, best + step].map(|part| part.clamp(0.0, 1.0)) {
            if at(part) < at(best) {
                best = part;
            }
        }
        step *= 0.6;
    }
    at(best)
}

#[test]
fn in_the_plane() {
    const SQUARE: &str = "[[[0,0],[10,0],[10,10],[0,10],[0,0]]]";
    const HOLED: &str = "[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[6,4],[6,6],[4,6],[4,4]]]";
    let table = [
        ("[0,0]", "[3,4]", 5.0),
        ("[1e99,0]", "[-1e99,0]", 2e99),
        ("[5,5]", "[[0,0],[10,0]]", 5.0),
        ("[-3,4]", "[[0,0],[10,0]]", 5.0),
        ("[13,4]", "[[0,0],[10,0]]", 5.0),
        ("[[0,1],[10,5]]", "[[0,0],[10,0]]", 1.0),
        ("[[5,-1],[5,1]]", "[[0,0],[10,0]]", 0.0),
        ("[5,5]", SQUARE, 0.0),
        ("[10,5]", SQUARE, 0.0),
        ("[14,13]", SQUARE, 5.0),
        ("[5,5]", HOLED, 1.0),
        ("[[4.5,5],[5.5,5]]", HOLED, 0.5),
        ("[[4.5,5],[8,5]]", HOLED, 0.0),
        ("[[[4.5,4.5],[5.5,4.5],[5.5,5.5],[4.5,5.5],[4.5,4.5]]]", HOLED, 0.5),
        ("[[[14,13],[20,13],[20,20],[14,13]]]", SQUARE, 5.0),
        ("[[[2,2],[3,2],[3,3],[2,2]]]", SQUARE, 0.0),
        ("[[[[90,0],[91,0],[91,1],[90,0]]],[[[14,13],[20,13],[20,20],[14,13]]]]", SQUARE, 5.0),
    ];
    for (left, right, expected) in table {
        for left in [plane(left), reversed(&plane(left))] {
            for right in [plane(right), reversed(&plane(right))] {
                assert_eq!(distance(&left, &right, Space::Geometry), Some(expected), "{left:?} {right:?}");
                assert_eq!(distance(&right, &left, Space::Geometry), Some(expected), "{left:?} {right:?}");
            }
        }
    }
}

fn positions() -> impl Strategy<Value = Position> {
    let anywhere = (-180.0..180.0_f64, -90.0..90.0_f64);
    let round = (-36..=36_i32, -18..=18_i32).prop_map(|(x, y)| (f64::from(x) * 5.0, f64::from(y) * 5.0));
    prop_oneof![3 => anywhere, 1 => round].prop_map(|(x, y)| Position { x, y })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn to_any_line_as_by_walking_along_it(point in positions(), from in positions(), to in positions()) {
        prop_assume!(!globe::are_antipodes(from, to) && !globe::same_place(from, to));
        let line = Geometry::LineString(vec![from, to]);
        let found = distance(&Geometry::Point(point), &line, Space::Geography).expect("finite");
        let expected = edge_min_by_steps(point, from, to);
        prop_assert!((found - expected).abs() <= 1e-4 + expected * 1e-9, "{found} {expected}");
    }

    #[test]
    fn to_any_nearby_line_as_by_walking_along_it(
        point in positions(), azimuths in prop::array::uniform2(-180.0..180.0_f64),
        lengths in prop::array::uniform2(1.0..100_000.0_f64),
    ) {
        let step = |start: Position, index: usize| {
            let (y, x): (f64, f64) = Geodesic::wgs84().direct(start.y, start.x, azimuths[index], lengths[index]);
            Position { x, y }
        };
        let from = step(point, 0);
        let to = step(from, 1);
        let line = Geometry::LineString(vec![from, to]);
        let found = distance(&Geometry::Point(point), &line, Space::Geography).expect("finite");
        let expected = edge_min_by_steps(point, from, to);
        prop_assert!((found - expected).abs() <= 1e-6 + expected * 1e-9, "{found} {expected}");
    }

    #[test]
    fn pruning_loses_nothing(seed in prop::collection::vec((-170.0..170.0_f64, -80.0..80.0_f64), 40), x in -170.0..170.0_f64, y in -80.0..80.0_f64) {
        // A long line against a point: as far as the nearest of its edges taken one by one.
        let line: Vec<Position> = seed.into_iter().map(|(x, y)| Position { x, y }).collect();
        let point = Geometry::Point(Position { x, y });
        let whole = distance(&point, &Geometry::LineString(line.clone()), Space::Geography).expect("finite");
        let each = line.windows(2).map(|ends| {
            distance(&point, &Geometry::LineString(ends.to_vec()), Space::Geography).expect("finite")
        });
        let least = each.fold(f64::INFINITY, f64::min);
        prop_assert!((whole - least).abs() <= 1e-6 + least * 1e-10, "{whole} {least}");
    }
}
