//! The spatial functions: what types they take and give.
//!
//! Not here: the geometry (`spatial`).

use armilla_value::{Object, Value};

use crate::datum::Datum;
use crate::meter::Meter;
use crate::spatial::{self, Geometry, Invalid, Space};

fn space(geometry: bool) -> Space {
    if geometry { Space::Geometry } else { Space::Geography }
}

/// Reads an argument that has to be an object; `None` where it is none.
fn read(args: &[Datum<'_>], index: usize, space: Space) -> Option<Result<Geometry, Invalid>> {
    match args.get(index).filter(|datum| datum.is_object())? {
        Datum::Node(node) => Some(Geometry::from_node(*node, space)),
        Datum::Value(value) => Some(Geometry::from_value(value, space)),
        _ => None,
    }
}

fn shape(args: &[Datum<'_>], index: usize, space: Space) -> Option<Geometry> {
    read(args, index, space)?.ok()
}

/// Returns the least distance of two shapes.
pub(crate) fn distance<'a>(args: &[Datum<'_>], geometry: bool, meter: &Meter<'_>) -> Option<Datum<'a>> {
    let space = space(geometry);
    spatial::distance(&shape(args, 0, space)?, &shape(args, 1, space)?, space, meter).map(Datum::Double)
}

/// Says whether a shape lies in another.
pub(crate) fn within<'a>(args: &[Datum<'_>], geometry: bool, meter: &Meter<'_>) -> Option<Datum<'a>> {
    let space = space(geometry);
    Some(Datum::Bool(spatial::within(&shape(args, 0, space)?, &shape(args, 1, space)?, space, meter)))
}

/// Says whether two shapes meet.
pub(crate) fn intersects<'a>(args: &[Datum<'_>], geometry: bool, meter: &Meter<'_>) -> Option<Datum<'a>> {
    let space = space(geometry);
    Some(Datum::Bool(spatial::intersects(&shape(args, 0, space)?, &shape(args, 1, space)?, space, meter)))
}

/// Returns the area of a shape.
pub(crate) fn area<'a>(args: &[Datum<'_>], geometry: bool) -> Option<Datum<'a>> {
    let space = space(geometry);
    Some(Datum::Double(spatial::area(&shape(args, 0, space)?, space)))
}

/// Says whether an object is a shape.
pub(crate) fn is_valid<'a>(args: &[Datum<'_>], geometry: bool) -> Option<Datum<'a>> {
    Some(Datum::Bool(read(args, 0, space(geometry))?.is_ok()))
}

/// Says whether an object is a shape, and if not, why.
pub(crate) fn is_valid_detailed<'a>(args: &[Datum<'_>], geometry: bool) -> Option<Datum<'a>> {
    let answer = match read(args, 0, space(geometry))? {
        Ok(_) => Object::from([("valid", Value::Bool(true))]),
        Err(invalid) => {
            Object::from([("valid", Value::Bool(false)), ("reason", Value::String(invalid.reason))])
        }
    };
    Some(answer.into())
}
