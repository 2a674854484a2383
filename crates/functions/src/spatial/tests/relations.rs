//! Which shapes meet and which lie in which: tables, and shapes on a grid whose answers integers give.
//!
//! A gnomonic projection turns straight lines of the plane into great circles, so each question about shapes on
//! the grid has the same answer on the globe, wherever the projection touches it.

use std::collections::HashSet;

use proptest::prelude::*;

use super::super::globe::{direction, position};
use super::super::vector::Vector;
use super::*;

const SQUARE: &str = "[[[0,0],[10,0],[10,10],[0,10],[0,0]]]";
const HOLED: &str = "[[[0,0],[10,0],[10,10],[0,10],[0,0]],[[4,4],[4,6],[6,6],[6,4],[4,4]]]";
const TWO: &str = "[[[[0,0],[5,0],[5,10],[0,10],[0,0]]],[[[5,0],[10,0],[10,10],[5,10],[5,0]]]]";

#[derive(Debug, PartialEq)]
enum Relation {
    /// First in second.
    Within,
    /// They meet.
    Meets,
    /// They do not.
    Apart,
}
use Relation::{Apart, Meets, Within};

#[track_caller]
fn check(space: Space, inner: &Geometry, outer: &Geometry, expected: Relation) {
    let found = if within(inner, outer, space) {
        assert!(intersects(inner, outer, space), "within without meeting: {inner:?} {outer:?}");
        Within
    } else if intersects(inner, outer, space) {
        Meets
    } else {
        Apart
    };
    assert_eq!(found, expected, "{space:?} {inner:?} {outer:?}");
    assert_eq!(intersects(outer, inner, space), expected != Apart, "{space:?} {inner:?} {outer:?}");
    let distance = distance(inner, outer, space).expect("finite");
    assert_eq!(distance == 0.0, expected != Apart, "{space:?} {inner:?} {outer:?}: {distance}");
}

fn plane_table() -> Vec<(&'static str, &'static str, Relation)> {
    vec![
        ("[1,1]", "[1,1]", Within),
        ("[1,1]", "[1,2]", Apart),
        ("[1,1]", "[[0,0],[3,3]]", Within),
        ("[0,0]", "[[0,0],[3,3]]", Meets),
        ("[0,0]", "[[0,0],[3,3],[3,0],[0,0]]", Within),
        ("[4,4]", "[[0,0],[3,3]]", Apart),
        ("[5,5]", SQUARE, Within),
        ("[0,5]", SQUARE, Meets),
        ("[10,10]", SQUARE, Meets),
        ("[11,10]", SQUARE, Apart),
        ("[5,5]", HOLED, Apart),
        ("[4,5]", HOLED, Meets),
        ("[3,5]", HOLED, Within),
        ("[2,5]", TWO, Within),
        ("[7,5]", TWO, Within),
        ("[[1,1],[9,9]]", SQUARE, Within),
        ("[[0,0],[10,10]]", SQUARE, Within),
        ("[[0,0],[10,0]]", SQUARE, Meets),
        ("[[0,0],[10,0],[5,5]]", SQUARE, Within),
        ("[[5,5],[15,5]]", SQUARE, Meets),
        ("[[-5,5],[15,5]]", SQUARE, Meets),
        ("[[-5,15],[15,15]]", SQUARE, Apart),
        ("[[-5,5],[5,15]]", SQUARE, Meets),
        ("[[1,1],[9,9]]", HOLED, Meets),
        ("[[1,4],[9,4]]", HOLED, Within),
        ("[[4.5,5],[5.5,5]]", HOLED, Apart),
        ("[[2,5],[8,5]]", TWO, Within),
        ("[[5,2],[5,8]]", TWO, Meets),
        ("[[1,1],[2,2]]", "[[0,0],[3,3]]", Within),
        ("[[0,0],[3,3]]", "[[0,0],[1,1],[3,3]]", Within),
        ("[[0,0],[3,3]]", "[[0,0],[1,1],[3,3],[3,0]]", Within),
        ("[[0,0],[4,4]]", "[[0,0],[3,3]]", Meets),
        ("[[0,3],[3,0]]", "[[0,0],[3,3]]", Meets),
        (SQUARE, "[5,5]", Meets),
        (SQUARE, "[[1,1],[2,2]]", Meets),
        (SQUARE, SQUARE, Within),
        (HOLED, SQUARE, Within),
        (SQUARE, HOLED, Meets),
        (HOLED, HOLED, Within),
        ("[[[1,1],[9,1],[9,3],[1,3],[1,1]]]", HOLED, Within),
        ("[[[4,4],[6,4],[6,6],[4,6],[4,4]]]", HOLED, Meets),
        ("[[[4.5,4.5],[5.5,4.5],[5.5,5.5],[4.5,5.5],[4.5,4.5]]]", HOLED, Apart),
        ("[[[4,0],[6,0],[6,4],[4,4],[4,0]]]", HOLED, Within),
        ("[[[3,3],[7,3],[7,7],[3,7],[3,3]]]", HOLED, Meets),
        ("[[[10,0],[20,0],[20,10],[10,10],[10,0]]]", SQUARE, Meets),
        ("[[[10,10],[20,10],[20,20],[10,20],[10,10]]]", SQUARE, Meets),
        ("[[[11,0],[20,0],[20,10],[11,10],[11,0]]]", SQUARE, Apart),
        ("[[[2,2],[8,2],[8,8],[2,8],[2,2]]]", TWO, Within),
        (SQUARE, TWO, Within),
        (TWO, SQUARE, Within),
        (TWO, TWO, Within),
        (TWO, HOLED, Meets),
    ]
}

#[test]
fn relations_in_the_plane() {
    for (inner, outer, expected) in plane_table() {
        let (inner, outer) = (plane(inner), plane(outer));
        check(Space::Geometry, &inner, &outer, copy(&expected));
        check(Space::Geometry, &reversed(&inner), &outer, copy(&expected));
        check(Space::Geometry, &inner, &reversed(&outer), expected);
    }
}

#[test]
fn the_same_relations_on_the_globe() {
    for center in [(0.0, 0.0), (180.0, 0.0), (30.0, 50.0), (-100.0, 90.0), (0.0, -90.0), (179.0, -89.0)] {
        for (inner, outer, expected) in plane_table() {
            let projection = Projection::touching(center, 0.04);
            check(Space::Geography, &projection.of(&plane(inner)), &projection.of(&plane(outer)), expected);
        }
    }
}

fn copy(relation: &Relation) -> Relation {
    match relation {
        Within => Within,
        Meets => Meets,
        Apart => Apart,
    }
}

#[test]
fn rings_around_poles_and_across_the_antimeridian() {
    const NORTH: &str = "[[[0,60],[90,60],[180,60],[-90,60],[0,60]]]";
    const SOUTH: &str = "[[[0,-60],[-90,-60],[180,-60],[90,-60],[0,-60]]]";
    const FIJI: &str = "[[[175,-20],[-175,-20],[-175,-10],[175,-10],[175,-20]]]";
    const ALL_BUT_SMALL: &str = "[[[0,0],[0,1],[1,1],[1,0],[0,0]]]";
    let table = [
        ("[0,90]", NORTH, Within),
        ("[77,90]", NORTH, Within),
        ("[0,-90]", NORTH, Apart),
        ("[45,75]", NORTH, Within),
        // An edge bends towards the pole: its middle is well north of its ends.
        ("[45,61]", NORTH, Apart),
        ("[0,60]", NORTH, Meets),
        ("[-90,60]", NORTH, Meets),
        ("[123,-90]", SOUTH, Within),
        ("[0,90]", SOUTH, Apart),
        (NORTH, SOUTH, Apart),
        ("[[0,80],[180,80]]", NORTH, Within),
        ("[[0,80],[0,-80]]", NORTH, Meets),
        ("[180,-15]", FIJI, Within),
        ("[-180,-15]", FIJI, Within),
        ("[178,-15]", FIJI, Within),
        ("[-178,-15]", FIJI, Within),
        ("[0,-15]", FIJI, Apart),
        ("[174,-15]", FIJI, Apart),
        ("[[170,-15],[-170,-15]]", FIJI, Meets),
        ("[[179,-15],[-179,-15]]", FIJI, Within),
        ("[0.5,0.5]", ALL_BUT_SMALL, Apart),
        ("[1,1]", ALL_BUT_SMALL, Meets),
        ("[2,2]", ALL_BUT_SMALL, Within),
        ("[-179.5,-0.5]", ALL_BUT_SMALL, Within),
        ("[0,90]", ALL_BUT_SMALL, Within),
        (NORTH, ALL_BUT_SMALL, Within),
        (FIJI, ALL_BUT_SMALL, Within),
        ("[[[0.2,0.2],[0.8,0.2],[0.8,0.8],[0.2,0.2]]]", ALL_BUT_SMALL, Apart),
        ("[[[0.2,0.2],[3,0.2],[0.8,0.8],[0.2,0.2]]]", ALL_BUT_SMALL, Meets),
        (ALL_BUT_SMALL, NORTH, Meets),
        (ALL_BUT_SMALL, ALL_BUT_SMALL, Within),
        // All but the one and all but the other cover each other's hole.
        (ALL_BUT_SMALL, "[[[10,10],[10,11],[11,11],[11,10],[10,10]]]", Meets),
        // All but a larger square is in all but a smaller one.
        ("[[[-1,-1],[-1,2],[2,2],[2,-1],[-1,-1]]]", ALL_BUT_SMALL, Within),
        (ALL_BUT_SMALL, "[[[-1,-1],[-1,2],[2,2],[2,-1],[-1,-1]]]", Meets),
    ];
    for (inner, outer, expected) in table {
        check(Space::Geography, &globe(inner), &globe(outer), expected);
    }
}

#[test]
fn vertices_and_edges_belong_to_their_polygon() {
    // Awkward decimals: what is said to be on the boundary must be found there in spite of rounding.
    let ring: Vec<(f64, f64)> = (0..60)
        .map(|index| f64::from(index % 59) / 59.0 * std::f64::consts::TAU)
        .map(|turn| (12.3 + 7.7 * turn.cos(), 45.6 + 5.5 * turn.sin()))
        .collect();
    let polygon = globe(&format!("[{}]", ring_text(ring.clone())));
    for &(x, y) in &ring {
        check(Space::Geography, &Geometry::Point(Position { x, y }), &polygon, Meets);
    }
    for ends in ring.windows(2) {
        let [from, to] = [ends[0], ends[1]].map(|(x, y)| direction(Position { x, y }));
        for part in [0.1, 0.5, 0.77] {
            let place = position((from * (1.0 - part) + to * part).unit());
            check(Space::Geography, &Geometry::Point(place), &polygon, Meets);
        }
    }
}

/// Maps the plane to the globe so that straight lines become great ellipses, and the left of a line its left.
struct Projection {
    center: Vector,
    east: Vector,
    north: Vector,
    scale: f64,
}

impl Projection {
    fn touching((x, y): (f64, f64), scale: f64) -> Projection {
        let center = direction(Position { x, y });
        let (sin, cos) = x.to_radians().sin_cos();
        let east = Vector([-sin, cos, 0.0]);
        Projection { center, east, north: center.cross(east), scale }
    }

    fn position(&self, plane: Position) -> Position {
        let offset = self.east * (plane.x * self.scale) + self.north * (plane.y * self.scale);
        position((self.center + offset).unit())
    }

    fn of(&self, geometry: &Geometry) -> Geometry {
        let ring = |ring: &Vec<Position>| ring.iter().map(|each| self.position(*each)).collect::<Vec<_>>();
        let polygon = |polygon: &Polygon| Polygon { rings: polygon.rings.iter().map(ring).collect() };
        match geometry {
            Geometry::Point(point) => Geometry::Point(self.position(*point)),
            Geometry::LineString(line) => Geometry::LineString(ring(line)),
            Geometry::Polygon(each) => Geometry::Polygon(polygon(each)),
            Geometry::MultiPolygon(polygons) => {
                Geometry::MultiPolygon(polygons.iter().map(polygon).collect())
            }
        }
    }
}

/// A rectangle of whole numbers, maybe with a hole one unit from its sides.
#[derive(Debug, Clone)]
struct Box {
    x: i32,
    y: i32,
    width: i32,
    height: i32,
    has_hole: bool,
}

impl Box {
    fn polygon(&self) -> Polygon {
        let ring = |inset: i32, order: [usize; 5]| {
            let (left, right) = (self.x + inset, self.x + self.width - inset);
            let (low, high) = (self.y + inset, self.y + self.height - inset);
            let corners = [(left, low), (right, low), (right, high), (left, high)];
            order.map(|index| corners[index]).map(|(x, y)| Position { x: x.into(), y: y.into() }).to_vec()
        };
        let mut rings = vec![ring(0, [0, 1, 2, 3, 0])];
        if self.hole() {
            rings.push(ring(1, [2, 1, 0, 3, 2]));
        }
        Polygon { rings }
    }

    fn hole(&self) -> bool {
        self.has_hole && self.width > 2 && self.height > 2
    }

    /// Adds the unit cells that it covers.
    fn cells(&self, cells: &mut HashSet<(i32, i32)>) {
        for x in self.x..self.x + self.width {
            for y in self.y..self.y + self.height {
                let in_hole =
                    x > self.x && x < self.x + self.width - 1 && y > self.y && y < self.y + self.height - 1;
                if !(self.hole() && in_hole) {
                    cells.insert((x, y));
                }
            }
        }
    }
}

fn boxes() -> impl Strategy<Value = Box> {
    (-5..5_i32, -5..5_i32, 1..7_i32, 1..7_i32, any::<bool>())
        .prop_map(|(x, y, width, height, has_hole)| Box { x, y, width, height, has_hole })
}

/// One or two boxes; two never overlap, but may share a side or a corner.
fn box_shapes() -> impl Strategy<Value = Vec<Box>> {
    prop::collection::vec(boxes(), 1..3).prop_map(|mut boxes| {
        if let [first, second] = &mut boxes[..] {
            second.x = first.x + first.width;
        }
        boxes
    })
}

fn geometry_of(boxes: &[Box]) -> Geometry {
    match boxes {
        [only] => Geometry::Polygon(only.polygon()),
        several => Geometry::MultiPolygon(several.iter().map(Box::polygon).collect()),
    }
}

fn relation_of(inner: &[Box], outer: &[Box]) -> Relation {
    let cells = |boxes: &[Box]| {
        let mut cells = HashSet::new();
        boxes.iter().for_each(|each| each.cells(&mut cells));
        cells
    };
    let (inner, outer) = (cells(inner), cells(outer));
    let corners = |cells: &HashSet<(i32, i32)>| -> HashSet<(i32, i32)> {
        cells.iter().flat_map(|(x, y)| [(*x, *y), (x + 1, *y), (*x, y + 1), (x + 1, y + 1)]).collect()
    };
    if inner.is_subset(&outer) {
        Within
    } else if corners(&inner).is_disjoint(&corners(&outer)) {
        Apart
    } else {
        Meets
    }
}

#[test]
fn edges_in_line_meet_only_where_they_touch() {
    let boxes = |corners: &[(i32, i32, i32, i32)]| -> Vec<Box> {
        let of = |&(x, y, width, height): &(i32, i32, i32, i32)| Box { x, y, width, height, has_hole: false };
        corners.iter().map(of).collect()
    };
    // A side of the first and a side of the second lie on one line, two units apart.
    let (inner, outer) = (boxes(&[(4, 1, 1, 5)]), boxes(&[(1, 3, 1, 2), (2, -4, 2, 3)]));
    let centers =
        (0..500).map(|number| (f64::from(number) * 0.7 - 180.0, f64::from(number % 89) * 2.0 - 88.0));
    for center in centers.chain([(-32.14167039653463, 62.232741181255165)]) {
        let projection = Projection::touching(center, 0.05);
        let of = |boxes: &[Box]| projection.of(&geometry_of(boxes));
        check(Space::Geography, &of(&inner), &of(&outer), Apart);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn boxes_relate_as_their_cells_do(
        inner in box_shapes(), outer in box_shapes(), center in (-180.0..180.0_f64, -90.0..90.0_f64),
    ) {
        let expected = relation_of(&inner, &outer);
        let (inner, outer) = (geometry_of(&inner), geometry_of(&outer));
        check(Space::Geometry, &inner, &outer, copy(&expected));
        let projection = Projection::touching(center, 0.05);
        check(Space::Geography, &projection.of(&inner), &projection.of(&outer), expected);
    }

    #[test]
    fn triangles_meet_as_integers_tell(corners in prop::array::uniform6((-6..6_i64, -6..6_i64))) {
        let (mut left, mut right) = ([corners[0], corners[1], corners[2]], [corners[3], corners[4], corners[5]]);
        for corners in [&mut left, &mut right] {
            let turn = turn(corners[0], corners[1], corners[2]);
            prop_assume!(turn != 0);
            if turn < 0 {
                corners.swap(0, 1);
            }
        }
        let expected = triangles_meet(left, right);
        let (left, right) = (triangle(left), triangle(right));
        prop_assert_eq!(intersects(&left, &right, Space::Geometry), expected);
        let distance = distance(&left, &right, Space::Geometry).expect("finite");
        prop_assert_eq!(distance == 0.0, expected);
        let projection = Projection::touching((100.0, 80.0), 0.1);
        prop_assert_eq!(intersects(&projection.of(&left), &projection.of(&right), Space::Geography), expected);
    }

    #[test]
    fn a_point_is_on_one_side_of_a_ring(
        corners in prop::collection::vec((5.0..80.0_f64, 0.3..1.0_f64), 3..20),
        center in (-180.0..180.0_f64, -90.0..90.0_f64),
        point in (-180.0..180.0_f64, -90.0..90.0_f64),
    ) {
        // A star seen from the centre of the projection, so it never crosses itself.
        let whole: f64 = corners.iter().map(|(step, _)| step).sum();
        let mut turn = 0.0;
        let mut ring: Vec<Position> = Vec::new();
        for (step, radius) in &corners {
            turn += step / whole * std::f64::consts::TAU;
            ring.push(Position { x: radius * turn.cos(), y: radius * turn.sin() });
        }
        ring.push(ring[0]);
        // A gap of half a turn or more would leave the centre outside.
        prop_assume!(corners.iter().all(|(step, _)| step / whole < 0.49));
        let flat = Geometry::Polygon(Polygon { rings: vec![ring] });
        let projection = Projection::touching(center, 1.5);
        let polygon = projection.of(&flat);
        let middle = Geometry::Point(projection.position(Position { x: 0.0, y: 0.0 }));
        prop_assert!(within(&middle, &polygon, Space::Geography));
        prop_assert!(!within(&middle, &reversed(&polygon), Space::Geography));
        let point = Position { x: point.0, y: point.1 };
        let is_within = within(&Geometry::Point(point), &polygon, Space::Geography);
        prop_assert_eq!(within(&Geometry::Point(point), &reversed(&polygon), Space::Geography), !is_within);
        // The projection shows the half of the globe around its centre.
        let seen = direction(point);
        let height = seen.dot(projection.center);
        let expected = height > 0.0 && {
            let (x, y) = (seen.dot(projection.east) / height, seen.dot(projection.north) / height);
            let flat_point = Geometry::Point(Position { x: x / projection.scale, y: y / projection.scale });
            within(&flat_point, &flat, Space::Geometry)
        };
        prop_assert_eq!(is_within, expected);
    }
}

type Corner = (i64, i64);

/// Positive if the third corner is left of the way from the first to the second.
fn turn(first: Corner, second: Corner, third: Corner) -> i64 {
    (second.0 - first.0) * (third.1 - first.1) - (second.1 - first.1) * (third.0 - first.0)
}

/// Two convex figures are apart exactly if an edge of one has all of the other strictly on its right.
fn triangles_meet(left: [Corner; 3], right: [Corner; 3]) -> bool {
    let separates = |one: [Corner; 3], other: [Corner; 3]| {
        (0..3).any(|index| other.iter().all(|corner| turn(one[index], one[(index + 1) % 3], *corner) < 0))
    };
    !separates(left, right) && !separates(right, left)
}

fn triangle(corners: [Corner; 3]) -> Geometry {
    let position = |(x, y): Corner| Position { x: x as f64, y: y as f64 };
    let ring = [corners[0], corners[1], corners[2], corners[0]].map(position).to_vec();
    Geometry::Polygon(Polygon { rings: vec![ring] })
}

#[test]
fn a_ring_that_runs_back_on_itself_holds_nothing() {
    // More edges than paths are tried, and each path ends on two edges at once.
    for points in [2, 20, POLYGON_POINTS_MAX / 2 - 1] {
        let there = (0..points).map(|index| (index as f64 / points as f64, f64::from(index as u32 % 2)));
        let back: Vec<(f64, f64)> = there.clone().rev().collect();
        let coordinates = format!("[{}]", ring_text(there.chain([(5.0, 5.0)]).chain(back)));
        for space in [Space::Geometry, Space::Geography] {
            let ring = shape_in(space, &coordinates);
            check(space, &shape_in(space, "[3,0]"), &ring, Apart);
            check(space, &shape_in(space, "[0.2,0.9999]"), &ring, Apart);
            check(space, &shape_in(space, "[0,0]"), &ring, Meets);
            check(space, &shape_in(space, "[5,5]"), &ring, Meets);
        }
    }
}

#[test]
fn large_shapes_are_quick() {
    // Two rings of the most points there may be, one in the other, with every edge of each looked at.
    let ring = |radius: f64| {
        let points = POLYGON_POINTS_MAX - 1;
        globe(&format!(
            "[{}]",
            ring_text((0..=points).map(|index| {
                let turn = (index % points) as f64 / points as f64 * std::f64::consts::TAU;
                (20.0 + radius * turn.cos(), 50.0 + radius * turn.sin())
            }))
        ))
    };
    let (small, large) = (ring(3.0), ring(3.001));
    check(Space::Geography, &small, &large, Within);
    check(Space::Geography, &large, &small, Meets);
    check(Space::Geography, &large, &large, Within);
    check(Space::Geography, &large, &reversed(&small), Meets);
    check(Space::Geography, &small, &reversed(&large), Apart);
    let metres = distance(&small, &reversed(&large), Space::Geography).expect("finite");
    assert!((60.0..112.0).contains(&metres), "{metres}");
}
