//! What an operation costs, in request units.
//!
//! Every layer counts what it did into [`Work`]; only this module knows prices. A charge depends on the
//! request and the data alone, never on time, caches or plans, so the same request on the same data always
//! costs the same. The model and its fit to the published figures: `docs/request-units.md`.
//!
//! Queries are counted in a record of their own ([`QueryWork`]), because it adds up over pages.
//!
//! In this folder: what queries cost (`query`), which budget a partition draws on (`source`), what it shows of itself
//! (`figures`). Not here: the budget of a partition and its enforcement (`governor`).

use std::ops::AddAssign;

pub(crate) mod figures;
pub(crate) mod source;

pub use armilla_governor::RequestUnits;

/// How many replicas a read asks, which is what a consistency level costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadCost {
    /// Session and weaker levels ask one replica.
    Single,
    /// Bounded staleness and strong reads ask two.
    Double,
}

/// What an operation did. Item bytes include the system properties, as the service counts them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// One item was read by its key.
    Read {
        /// Size of the item.
        item_bytes: usize,
    },
    /// An item was created.
    Create {
        /// Size of the item.
        item_bytes: usize,
        /// Its index terms.
        terms: TermCount,
    },
    /// An item was deleted.
    Delete {
        /// Size of the item.
        item_bytes: usize,
        /// Its index terms.
        terms: TermCount,
    },
    /// An item was replaced.
    Replace {
        /// Size of the item before.
        old_bytes: usize,
        /// Size of the item after.
        new_bytes: usize,
        /// Index terms that went and came.
        terms: TermCount,
        /// Patch operations that made the new item; 0 for a replace.
        patch_operations: usize,
    },
    /// A page of items was read.
    Page {
        /// Sizes of the items.
        item_bytes: Vec<usize>,
        /// Entries that were walked but not returned.
        entries_skipped: usize,
    },
    /// A read found nothing, or nothing new.
    ReadNothing,
    /// The request was routed to a partition and refused there.
    Refused,
    /// The request was routed to a partition that had no budget left.
    Throttled,
    /// A script ran; what it read and wrote is counted by itself.
    Script {
        /// Steps of the interpreter.
        steps: u64,
    },
}

/// Index terms that an operation wrote or removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TermCount {
    /// Distinct (path, value) leaves.
    pub leaves: usize,
    /// Composite-index and unique-key entries.
    pub entries: usize,
    /// Whether the partition key is a path of its own, which is one more term, rather than `/id`.
    pub partition_key: bool,
}

impl TermCount {
    fn write_units(self) -> u64 {
        2 * self.leaves as u64 + self.entries as u64 + u64::from(self.partition_key)
    }
}

/// What a write costs less because of where it happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saving {
    /// Nothing: the write stands by itself.
    None,
    /// It is one of a transaction or a batch.
    Shared,
    /// It is one of a transaction or a batch that read or wrote the item before.
    Known,
}

/// An amount that is not rounded yet, so that the parts of a transaction add up exactly.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// In 1/21 request units.
    units: u64,
    hundredths: u64,
}

impl Tally {
    /// Rounds the amount, half up.
    pub(crate) fn total(self) -> RequestUnits {
        RequestUnits::from_twenty_firsts(self.units) + RequestUnits::from_hundredths(self.hundredths)
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.units += other.units;
        self.hundredths += other.hundredths;
    }
}

/// Returns the price of some work.
pub fn price(work: &Work, cost: ReadCost) -> RequestUnits {
    measure(work, cost, Saving::None).total()
}

/// Returns the price of some work, not rounded.
pub(crate) fn measure(work: &Work, cost: ReadCost, saving: Saving) -> Tally {
    let replicas = match cost {
        ReadCost::Single => 1,
        ReadCost::Double => 2,
    };
    let units = |units| Tally { units, hundredths: 0 };
    let written = |write_units: u64| {
        let saved = if saving == Saving::None { 0 } else { SHARED_WRITE_UNITS_SAVED };
        units(UNITS_PER_WRITE_UNIT * write_units.saturating_sub(saved))
    };
    match work {
        Work::Read { item_bytes } => units(replicas * read_units(*item_bytes)),
        Work::Create { item_bytes, terms } | Work::Delete { item_bytes, terms } => {
            written(write_units(*item_bytes) + terms.write_units())
        }
        Work::Replace { old_bytes, new_bytes, terms, patch_operations } => {
            // A patch has to look at the old version whether or not it was read before.
            let old = match saving {
                Saving::Known if *patch_operations == 0 => 0,
                _ => write_units(*old_bytes),
            };
            let whole = written(old + write_units(*new_bytes) + terms.write_units());
            Tally { hundredths: PATCH_OPERATION_HUNDREDTHS * *patch_operations as u64, ..whole }
        }
        Work::Page { item_bytes, entries_skipped } => {
            let units: u64 = item_bytes.iter().map(|bytes| read_units(*bytes)).sum();
            // 0.0042 a skipped entry: counted in ten-thousandths and rounded once.
            let skipped = RequestUnits::from_hundredths((42 * *entries_skipped as u64 + 50) / 100);
            let page = RequestUnits::from_twenty_firsts(replicas * units) + skipped;
            let least = RequestUnits::from_hundredths(100 * replicas);
            Tally { units: 0, hundredths: page.max(least).hundredths() }
        }
        Work::ReadNothing => Tally { units: 0, hundredths: 100 * replicas },
        Work::Refused => units(26),
        Work::Throttled => units(8),
        Work::Script { steps } => Tally {
            units: SCRIPT_UNITS,
            hundredths: SCRIPT_STEPS_HUNDREDTHS * (steps / SCRIPT_STEPS_CHARGED),
        },
    }
}

/// What each write of a transaction or batch costs less than one by itself, in write units.
const SHARED_WRITE_UNITS_SAVED: u64 = 4;

/// What running a script costs, in 1/21 request units.
const SCRIPT_UNITS: u64 = 12;

/// So many steps of a script cost [`SCRIPT_STEPS_HUNDREDTHS`].
const SCRIPT_STEPS_CHARGED: u64 = 100_000;

const SCRIPT_STEPS_HUNDREDTHS: u64 = 10;

/// One write unit is 4/21 of a request unit: presumably the four replicas.
const UNITS_PER_WRITE_UNIT: u64 = 4;

/// 0.4 request units for each property that a patch changes.
const PATCH_OPERATION_HUNDREDTHS: u64 = 40;

/// Size in KiB, read price in 1/21, write price in 4/21 request units: the published table.
const PRICES: [(u64, u64, u64); 12] = [
    (1, 21, 26),
    (2, 22, 33),
    (4, 24, 35),
    (8, 28, 37),
    (16, 35, 50),
    (32, 46, 59),
    (64, 100, 119),
    (128, 209, 253),
    (256, 426, 516),
    (512, 860, 969),
    (1024, 3064, 3281),
    (2048, 6128, 6562),
];

fn read_units(item_bytes: usize) -> u64 {
    interpolate(item_bytes, |row| row.1)
}

fn write_units(item_bytes: usize) -> u64 {
    interpolate(item_bytes, |row| row.2)
}

/// Linear between the rows of the table, rounded down; flat below the first row; beyond the last row the
/// last slope goes on.
fn interpolate(item_bytes: usize, column: fn(&(u64, u64, u64)) -> u64) -> u64 {
    let bytes = item_bytes as u64;
    if bytes <= PRICES[0].0 * 1024 {
        return column(&PRICES[0]);
    }
    let upper = PRICES.iter().position(|row| bytes <= row.0 * 1024).unwrap_or(PRICES.len() - 1);
    let (low, high) = (&PRICES[upper - 1], &PRICES[upper]);
    let width = (high.0 - low.0) * 1024;
    column(low) + (bytes - low.0 * 1024) * (column(high) - column(low)) / width
}

mod query;

pub use query::{PricedPart, PricedWork, QueryWork, query_charge, query_price};

#[cfg(test)]
mod tests;
