//! Spatial functions: their argument and result types; the geometry has tests of its own.

use super::{check_one, check_wrong_types};

const POINT: &str = "{'type':'Point','coordinates':[1,1]}";
const FAR: &str = "{'type':'Point','coordinates':[4,5]}";
const SQUARE: &str = "{'type':'Polygon','coordinates':[[[0,0],[2,0],[2,2],[0,2],[0,0]]]}";
const WRONG: &str = "{'type':'Point','coordinates':[1]}";

#[test]
fn in_the_plane() {
    let cases = [
        (format!("ST_DISTANCE({POINT}, {FAR})"), "5"),
        (format!("ST_DISTANCE({POINT}, {SQUARE})"), "0"),
        (format!("ST_DISTANCE({POINT}, {WRONG})"), "undefined"),
        (format!("ST_WITHIN({POINT}, {SQUARE})"), "true"),
        (format!("ST_WITHIN({FAR}, {SQUARE})"), "false"),
        (format!("ST_WITHIN({WRONG}, {SQUARE})"), "undefined"),
        (format!("ST_INTERSECTS({POINT}, {SQUARE})"), "true"),
        (format!("ST_INTERSECTS({FAR}, {SQUARE})"), "false"),
        (format!("ST_INTERSECTS({SQUARE}, {WRONG})"), "undefined"),
        (format!("ST_AREA({SQUARE})"), "4"),
        (format!("ST_AREA({WRONG})"), "undefined"),
        (format!("ST_ISVALID({SQUARE})"), "true"),
        (format!("ST_ISVALID({WRONG})"), "false"),
        ("ST_ISVALID({})".to_owned(), "false"),
        (format!("ST_ISVALIDDETAILED({POINT})"), "{\"valid\":true}"),
    ];
    for (text, expected) in cases {
        check_one(&text, expected, true);
    }
}

#[test]
fn on_the_globe() {
    check_one(&format!("ST_DISTANCE({POINT}, {POINT})"), "0", false);
    check_one(&format!("ST_WITHIN({POINT}, {SQUARE})"), "true", false);
    let beyond_the_pole = "{'type':'Point','coordinates':[0,95]}";
    check_one(&format!("ST_ISVALID({beyond_the_pole})"), "false", false);
    check_one(&format!("ST_ISVALID({beyond_the_pole})"), "true", true);
    check_one(
        &format!("ST_ISVALIDDETAILED({beyond_the_pole})"),
        r#"{"valid":false,"reason":"Latitude values must be between -90 and 90 degrees."}"#,
        false,
    );
}

#[test]
fn wrong_types() {
    for name in ["ST_DISTANCE", "ST_WITHIN", "ST_INTERSECTS"] {
        check_wrong_types(&format!("{name}({POINT}, {SQUARE})"), &["", ""]);
    }
    check_wrong_types(&format!("ST_AREA({SQUARE})"), &[""]);
    for name in ["ST_ISVALID", "ST_ISVALIDDETAILED"] {
        check_wrong_types(&format!("{name}({SQUARE})"), &["{'a':1}"]);
    }
}
