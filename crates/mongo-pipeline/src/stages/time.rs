//! Units of time, and dates so many of them later.

use armilla_mongo_expression::{Environment, Error, Expression, Result, Scope};
use armilla_value::{Object, Value};

use crate::arguments::failed;

/// A unit of time.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// Its length, if that is always the same.
    pub(crate) length_ms: Option<i64>,
    /// Adds `n` of it to the date `d`.
    add: Expression,
}

impl Unit {
    /// Reads the name of a unit.
    pub(crate) fn parse(name: &str) -> Result<Unit> {
        let length_ms = match name {
            "year" | "quarter" | "month" => None,
            "week" => Some(7 * 86_400_000),
            "day" => Some(86_400_000),
            "hour" => Some(3_600_000),
            "minute" => Some(60_000),
            "second" => Some(1000),
            "millisecond" => Some(1),
            _ => return Err(failed(format!("unknown time unit value: {name}"))),
        };
        let arguments = Object::from([("startDate", "$d"), ("unit", name), ("amount", "$n")]);
        let add = Expression::parse(
            &Value::Object(Object::from([("$dateAdd", Value::Object(arguments))])),
            &Scope::default(),
        )?;
        Ok(Unit { length_ms, add })
    }

    /// Returns the date that is so many units later.
    pub(crate) fn add(&self, date_ms: i64, count: i64) -> Result<i64> {
        let overflow = || Error::bad_value("a date is out of range");
        if let Some(length_ms) = self.length_ms {
            return count.checked_mul(length_ms).and_then(|ms| date_ms.checked_add(ms)).ok_or_else(overflow);
        }
        let document = Object::from([("d", Value::Date(date_ms)), ("n", Value::Int64(count))]);
        match self.add.evaluate(&document, &Environment::default())? {
            Some(Value::Date(ms)) => Ok(ms),
            _ => Err(overflow()),
        }
    }
}
