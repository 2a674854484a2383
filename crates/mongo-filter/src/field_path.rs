//! The rules for paths in projections and orders.

use armilla_mongo_expression::{Error, Result, codes};

use crate::limits::DEPTH_MAX;

const EMPTY_PATH: i32 = 40352;
const TRAILING_DOT: i32 = 40353;
const EMPTY_COMPONENT: i32 = 15998;
const DOLLAR: i32 = 16410;
const NUL: i32 = 16411;

/// Says what is wrong with a path, if anything is.
pub(crate) fn check(path: &str) -> Result<()> {
    if path.is_empty() {
        return Err(Error::new(EMPTY_PATH, "FieldPath cannot be constructed with empty string"));
    }
    if path.ends_with('.') {
        return Err(Error::new(TRAILING_DOT, "FieldPath must not end with a '.'."));
    }
    for (index, component) in path.split('.').enumerate() {
        if component.is_empty() {
            return Err(Error::new(EMPTY_COMPONENT, "FieldPath field names may not be empty strings."));
        }
        // References to documents of other collections have such members.
        let is_reference = matches!(component, "$id" | "$ref" | "$db");
        if component.starts_with('$') && !is_reference {
            return Err(Error::new(
                DOLLAR,
                "FieldPath field names may not start with '$'. Consider using $getField or $setField.",
            ));
        }
        if component.contains('\0') {
            return Err(Error::new(NUL, "FieldPath field names may not contain '\\0'."));
        }
        if index >= DEPTH_MAX {
            return Err(Error::new(codes::OVERFLOW, "FieldPath is too long"));
        }
    }
    Ok(())
}
