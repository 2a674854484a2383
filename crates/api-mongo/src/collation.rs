//! Collations: the simple one, by bytes. Others are refused.

use armilla_mongo_expression::codes;
use armilla_value::Value;

use crate::failure::{Failure, Result};

/// Refuses a collation that compares otherwise than by bytes.
pub(crate) fn check(collation: &Value) -> Result<()> {
    match collation {
        Value::Null => Ok(()),
        Value::Object(collation) => match collation.get("locale") {
            _ if collation.is_empty() => Ok(()),
            Some(Value::String(locale)) if locale == "simple" => Ok(()),
            Some(Value::String(locale)) => Err(Failure::new(
                codes::COMMAND_NOT_SUPPORTED,
                format!(
                    "the collation of the locale '{locale}' is not supported: strings are compared by their bytes ('simple')"
                ),
            )),
            _ => Err(Failure::new(40_414, "BSON field 'collation.locale' is missing but a required field")),
        },
        _ => Err(Failure::new(
            codes::TYPE_MISMATCH,
            "BSON field 'collation' is the wrong type, expected type 'object'",
        )),
    }
}
