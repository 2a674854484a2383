//! Provisioned throughput: what may be asked for. Stored and returned; not enforced yet.

use crate::error::{Error, Result};

const MANUAL_MIN: u32 = 400;
const MANUAL_STEP: u32 = 100;
const AUTOSCALE_MIN: u32 = 1_000;
const AUTOSCALE_STEP: u32 = 1_000;
const THROUGHPUT_MAX: u32 = 1_000_000;

/// Request units a second that a database or container is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Throughput {
    /// Always the same.
    Manual(u32),
    /// Between a tenth of a maximum and the maximum.
    Autoscale {
        /// The maximum.
        max: u32,
        /// By how many percent the maximum may grow by itself.
        increment_percent: Option<u32>,
    },
}

impl Throughput {
    /// What a container gets that neither says what it wants nor shares its database's.
    pub const DEFAULT: Throughput = Throughput::Manual(MANUAL_MIN);

    /// Checks minimum, maximum and step.
    pub(crate) fn validate(self) -> Result<()> {
        let (what, value, min, step) = match self {
            Throughput::Manual(value) => ("throughput", value, MANUAL_MIN, MANUAL_STEP),
            Throughput::Autoscale { max, .. } => {
                ("autoscale maximum throughput", max, AUTOSCALE_MIN, AUTOSCALE_STEP)
            }
        };
        if value < min || value > THROUGHPUT_MAX || !value.is_multiple_of(step) {
            return Err(Error::invalid(format!(
                "the {what} {value} is not valid: it must be between {min} and {THROUGHPUT_MAX} in steps of {step}"
            )));
        }
        Ok(())
    }

    /// Returns the most that may be used in a second.
    pub fn max(self) -> u32 {
        match self {
            Throughput::Manual(value) => value,
            Throughput::Autoscale { max, .. } => max,
        }
    }

    /// Returns the least that may be provisioned later, given what was provisioned already.
    pub(crate) fn minimum(self, highest_ever: u32) -> u32 {
        match self {
            Throughput::Manual(_) => MANUAL_MIN.max((highest_ever / 100).next_multiple_of(MANUAL_STEP)),
            Throughput::Autoscale { .. } => {
                AUTOSCALE_MIN.max((highest_ever / 10).next_multiple_of(AUTOSCALE_STEP))
            }
        }
    }
}
