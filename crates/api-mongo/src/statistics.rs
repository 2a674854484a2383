//! What the last command cost, for `getLastRequestStatistics`.

use std::time::Duration;

use armilla_engine::RequestUnits;
use armilla_value::{Object, Value};

/// What a command cost.
#[derive(Debug, Clone)]
pub(crate) struct Statistics {
    pub(crate) command: String,
    pub(crate) charge: RequestUnits,
    pub(crate) took: Duration,
}

impl Statistics {
    /// Returns what clients are shown; without a command before, zeros.
    pub(crate) fn reply(last: Option<&Statistics>) -> Object {
        let (command, charge, took) = match last {
            Some(last) => (last.command.as_str(), as_number(last.charge), last.took.as_secs_f64() * 1000.0),
            None => ("", 0.0, 0.0),
        };
        Object::from([
            ("_t", Value::from("GetRequestStatisticsResponse")),
            ("ok", Value::Double(1.0)),
            ("CommandName", Value::from(command)),
            ("RequestCharge", Value::Double(charge)),
            ("RequestDurationInMilliSeconds", Value::Double(took)),
        ])
    }
}

/// Returns a charge as a number.
pub(crate) fn as_number(charge: RequestUnits) -> f64 {
    charge.hundredths() as f64 / 100.0
}
