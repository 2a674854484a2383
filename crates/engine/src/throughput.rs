//! Provisioned throughput: what may be asked for, and what follows from it. Enforced by the container's budgets.

use armilla_container::Limits;

use crate::error::{Error, Result};

const MANUAL_MIN: u32 = 400;
const MANUAL_STEP: u32 = 100;
const AUTOSCALE_MIN: u32 = 1_000;
const AUTOSCALE_STEP: u32 = 1_000;
const THROUGHPUT_MAX: u32 = 1_000_000;

/// The part of an autoscale maximum that is always there.
const AUTOSCALE_FLOOR_PART: u32 = 10;

const BYTES_PER_GB: u64 = 1 << 30;

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

/// What bounds how little may be provisioned.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Past {
    /// The most that was ever provisioned.
    pub(crate) highest_ever: u32,
    /// What is stored, items and index.
    pub(crate) stored_bytes: u64,
    /// Containers that share the throughput of a database; nothing for that of a container.
    pub(crate) sharing: usize,
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

    /// Refuses what a container without a partition key of its own cannot have.
    pub(crate) fn validate_fixed(self, limits: &Limits) -> Result<()> {
        let most = limits.fixed_container_ru;
        if self.max() > most {
            return Err(Error::invalid(format!(
                "the throughput {} is not valid for a container without a partition key: it must be at most {most}",
                self.max()
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

    /// Returns the least that may be provisioned later, given what was.
    pub(crate) fn minimum(self, past: &Past, limits: &Limits) -> u32 {
        let more_sharing =
            u32::try_from(past.sharing.saturating_sub(limits.sharing_containers_max)).unwrap_or(u32::MAX);
        let (least, step, per_sharing, of_highest, per_gb) = match self {
            Throughput::Manual(_) => (MANUAL_MIN, MANUAL_STEP, MANUAL_STEP, 100, 1),
            Throughput::Autoscale { .. } => (AUTOSCALE_MIN, AUTOSCALE_STEP, AUTOSCALE_STEP, 10, 10),
        };
        let minimum = least
            .saturating_add(per_sharing.saturating_mul(more_sharing))
            .max(past.highest_ever / of_highest)
            .max(by_storage(past.stored_bytes, per_gb));
        minimum.min(THROUGHPUT_MAX).next_multiple_of(step)
    }

    /// Returns this manual throughput as an autoscale one.
    pub(crate) fn to_autoscale(self, past: &Past) -> Throughput {
        let max = AUTOSCALE_MIN
            .max(self.max())
            .max(past.highest_ever / 10)
            .max(by_storage(past.stored_bytes, 10))
            .min(THROUGHPUT_MAX);
        Throughput::Autoscale { max: max.next_multiple_of(AUTOSCALE_STEP), increment_percent: None }
    }

    /// Returns this autoscale throughput as a manual one.
    pub(crate) fn to_manual(self) -> Throughput {
        Throughput::Manual(self.max())
    }

    /// Returns the throughput that is reported, where the busiest partition has used this part of its share.
    pub(crate) fn reported(self, used_part: f64) -> u32 {
        match self {
            Throughput::Manual(value) => value,
            Throughput::Autoscale { max, .. } => {
                // What is used in vain beyond the maximum does not count.
                let used = (f64::from(max) * used_part.clamp(0.0, 1.0)).ceil() as u32;
                used.clamp(max / AUTOSCALE_FLOOR_PART, max)
            }
        }
    }
}

fn by_storage(bytes: u64, per_gb: u64) -> u32 {
    u32::try_from(bytes.div_ceil(BYTES_PER_GB).saturating_mul(per_gb)).unwrap_or(u32::MAX)
}

/// Returns how many physical partitions a throughput asks for.
pub(crate) fn partitions_for(throughput: u32, limits: &Limits) -> u32 {
    throughput.div_ceil(limits.physical_partition_ru.max(1)).clamp(1, limits.physical_partitions_max.max(1))
}

/// Returns how many physical partitions a container begins with.
pub(crate) fn initial_partitions(throughput: Throughput, is_shared: bool, limits: &Limits) -> u32 {
    let needed = partitions_for(throughput.max(), limits);
    match throughput {
        Throughput::Manual(value) if !is_shared => {
            let count = value.div_ceil(limits.initial_partition_ru.max(1));
            count.clamp(needed, limits.physical_partitions_max.max(needed))
        }
        _ => needed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANUAL: Throughput = Throughput::Manual(400);
    const AUTOSCALE: Throughput = Throughput::Autoscale { max: 1_000, increment_percent: None };
    const GB: u64 = BYTES_PER_GB;

    #[test]
    fn least_throughput() {
        let past = |highest_ever, stored_bytes, sharing| Past { highest_ever, stored_bytes, sharing };
        #[rustfmt::skip]
        let rows = [
            (past(400, 0, 0), 400, 1_000),
            (past(40_000, 0, 0), 400, 4_000),
            (past(40_100, 0, 0), 500, 5_000),
            (past(100_000, 0, 0), 1_000, 10_000),
            (past(1_000_000, 0, 0), 10_000, 100_000),
            (past(400, 400 * GB, 0), 400, 4_000),
            (past(400, 400 * GB + 1, 0), 500, 5_000),
            (past(400, 100 * GB, 0), 400, 1_000),
            (past(400, 100 * GB + 1, 0), 400, 2_000),
            (past(400, 0, 25), 400, 1_000),
            (past(400, 0, 26), 500, 2_000),
            (past(400, 0, 30), 900, 6_000),
            (past(400, u64::MAX, 0), 1_000_000, 1_000_000),
        ];
        let limits = Limits::default();
        for (past, manual, autoscale) in rows {
            assert_eq!(MANUAL.minimum(&past, &limits), manual, "manual {past:?}");
            assert_eq!(AUTOSCALE.minimum(&past, &limits), autoscale, "autoscale {past:?}");
        }
        let more = Limits { sharing_containers_max: 40, ..Limits::default() };
        assert_eq!(MANUAL.minimum(&past(400, 0, 40), &more), 400);
    }

    #[test]
    fn migration() {
        #[rustfmt::skip]
        let rows = [
            (400, 400, 0, 1_000),
            (1_000, 1_000, 0, 1_000),
            (1_100, 1_100, 0, 2_000),
            (400, 50_000, 0, 5_000),
            (400, 400, 150 * GB, 2_000),
            (1_000_000, 1_000_000, 0, 1_000_000),
        ];
        for (manual, highest_ever, stored_bytes, expected) in rows {
            let past = Past { highest_ever, stored_bytes, sharing: 0 };
            let migrated = Throughput::Manual(manual).to_autoscale(&past);
            assert_eq!(migrated.max(), expected, "{manual} {past:?}");
            assert_eq!(migrated.to_manual(), Throughput::Manual(expected));
        }
    }

    #[test]
    fn what_autoscale_reports() {
        let autoscale = Throughput::Autoscale { max: 4_000, increment_percent: None };
        for (used, expected) in
            [(0.0, 400), (0.1, 400), (0.25, 1_000), (1.0, 4_000), (7.0, 4_000), (f64::NAN, 400)]
        {
            assert_eq!(autoscale.reported(used), expected, "{used}");
        }
        assert_eq!(Throughput::Manual(500).reported(0.9), 500);
    }

    #[test]
    fn partitions_that_containers_begin_with() {
        let limits = Limits::default();
        let small = Limits { physical_partition_ru: 1_000, ..Limits::default() };
        for (throughput, is_shared, limits, expected) in [
            (Throughput::Manual(400), false, &limits, 1),
            (Throughput::Manual(6_000), false, &limits, 1),
            (Throughput::Manual(6_100), false, &limits, 2),
            (Throughput::Manual(12_000), false, &limits, 2),
            (Throughput::Manual(21_000), false, &limits, 4),
            (Throughput::Manual(30_000), false, &limits, 5),
            (Throughput::Manual(30_000), true, &limits, 3),
            (Throughput::Autoscale { max: 30_000, increment_percent: None }, false, &limits, 3),
            (Throughput::Manual(3_000), false, &small, 3),
        ] {
            let count = initial_partitions(throughput, is_shared, limits);
            assert_eq!(count, expected, "{throughput:?}, shared: {is_shared}");
        }
    }

    #[test]
    fn partitions_by_throughput() {
        let limits =
            Limits { physical_partition_ru: 10_000, physical_partitions_max: 5, ..Limits::default() };
        for (throughput, expected) in
            [(400, 1), (10_000, 1), (10_100, 2), (20_000, 2), (50_000, 5), (60_000, 5)]
        {
            assert_eq!(partitions_for(throughput, &limits), expected, "{throughput}");
        }
    }
}
