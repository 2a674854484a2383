//! What a query costs.
//!
//! The price is a function of everything the query did so far. A page is charged the price so far less the price
//! when the page before it ended, so that the sum over all pages does not depend on where they end.

use std::ops::AddAssign;

use super::{ReadCost, RequestUnits};

/// What a query did, over all partitions and pages so far. Item bytes include the system properties.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueryWork {
    /// Physical partitions that were visited.
    pub partitions: u64,
    /// Predicates and orders that an index served, the partition-key filter included.
    pub seeks: u64,
    /// Items that were loaded through the index.
    pub fetched: u64,
    /// Their bytes.
    pub fetched_bytes: u64,
    /// Items that were loaded by a scan.
    pub scanned: u64,
    /// Their bytes.
    pub scanned_bytes: u64,
    /// Index entries that were walked.
    pub entries: u64,
    /// Rows that were fed to aggregates.
    pub aggregate_rows: u64,
    /// Tuples that joins made.
    pub join_tuples: u64,
    /// Calls of user-defined functions.
    pub function_calls: u64,
    /// Steps of computing. Most queries take fewer than their other work pays for, and nothing more is charged then.
    pub steps: u64,
}

impl AddAssign for QueryWork {
    fn add_assign(&mut self, other: QueryWork) {
        self.partitions += other.partitions;
        self.seeks += other.seeks;
        self.fetched += other.fetched;
        self.fetched_bytes += other.fetched_bytes;
        self.scanned += other.scanned;
        self.scanned_bytes += other.scanned_bytes;
        self.entries += other.entries;
        self.aggregate_rows += other.aggregate_rows;
        self.join_tuples += other.join_tuples;
        self.function_calls += other.function_calls;
        self.steps += other.steps;
    }
}

// In ten-thousandths of a request unit, the finest step that the model has.
const PARTITION: u128 = 20_800;
const SEEK: u128 = 3_900;
const FETCHED: u128 = 870;
const FETCHED_KIB: u128 = 800;
const SCANNED: u128 = 200;
const SCANNED_KIB: u128 = 73;
const ENTRY: u128 = 42;
const AGGREGATE_ROW: u128 = 90;
const JOIN_TUPLE: u128 = 20;
const FUNCTION_CALL: u128 = 100;
const STEP: u128 = 1;

/// Steps that cost nothing, whatever else a query did.
const STEPS_FREE: u64 = 100_000;

const KIB: u128 = 1_024;
const TEN_THOUSANDTHS_PER_HUNDREDTH: u128 = 100;

/// The least that a page of a query costs.
const FLOOR: RequestUnits = RequestUnits::from_hundredths(100);

/// Returns what a page costs that ended with `total` done, where the page before it ended with `before` done:
/// nothing for the first page. Pages that cost less than the least by themselves cost more in sum than the query would on
/// one page.
pub fn query_charge(before: &QueryWork, total: &QueryWork, cost: ReadCost) -> RequestUnits {
    let paid = match *before == QueryWork::default() {
        true => RequestUnits::ZERO,
        false => price_so_far(before, cost),
    };
    let left = price_so_far(total, cost).hundredths().saturating_sub(paid.hundredths());
    FLOOR.max(RequestUnits::from_hundredths(left))
}

fn price_so_far(work: &QueryWork, cost: ReadCost) -> RequestUnits {
    let whole = PARTITION * u128::from(work.partitions)
        + SEEK * u128::from(work.seeks)
        + FETCHED * u128::from(work.fetched)
        + SCANNED * u128::from(work.scanned)
        + ENTRY * u128::from(work.entries)
        + AGGREGATE_ROW * u128::from(work.aggregate_rows)
        + JOIN_TUPLE * u128::from(work.join_tuples)
        + FUNCTION_CALL * u128::from(work.function_calls);
    let by_bytes =
        FETCHED_KIB * u128::from(work.fetched_bytes) + SCANNED_KIB * u128::from(work.scanned_bytes);
    // What was read pays for as much computing; a query that computes more pays for that instead.
    let computed = STEP * u128::from(work.steps.saturating_sub(STEPS_FREE)) * KIB;
    // Exact up to here, then rounded once, half up.
    let amount = replicas(cost) * (whole * KIB + by_bytes).max(computed);
    let hundredth = TEN_THOUSANDTHS_PER_HUNDREDTH * KIB;
    let rounded = (amount + hundredth / 2) / hundredth;
    FLOOR.max(RequestUnits::from_hundredths(u64::try_from(rounded).unwrap_or(u64::MAX)))
}

/// A part of what a query did that has a price of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PricedWork {
    /// Physical partitions that were visited.
    Partitions,
    /// Predicates and orders that an index served.
    Seeks,
    /// Items that were loaded through the index, with their bytes.
    Fetched,
    /// Items that were loaded by a scan, with their bytes.
    Scanned,
    /// Index entries that were walked.
    Entries,
    /// Rows that were fed to aggregates.
    AggregateRows,
    /// Tuples that joins made.
    JoinTuples,
    /// Calls of user-defined functions.
    FunctionCalls,
    /// Steps of computing, beyond what the rest pays for.
    Steps,
    /// What is left to the least that a query costs, and of rounding.
    Rest,
}

/// What a part of a page's work costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PricedPart {
    /// What was done.
    pub work: PricedWork,
    /// How often.
    pub count: u64,
    /// Over how many bytes, where that counts.
    pub bytes: u64,
    /// Its share of the charge, in hundredths of a request unit. The rest can be less than nothing.
    pub hundredths: i64,
}

/// Returns what [`query_charge`] is made of: the shares add up to it exactly. Parts of which there is nothing are left out.
pub fn query_price(before: &QueryWork, total: &QueryWork, cost: ReadCost) -> Vec<PricedPart> {
    use PricedWork as Part;
    let charge = query_charge(before, total, cost).hundredths() as i64;
    let count = |of: fn(&QueryWork) -> u64| of(total).saturating_sub(of(before));
    let (fetched_bytes, scanned_bytes) = (count(|work| work.fetched_bytes), count(|work| work.scanned_bytes));
    let rows = [
        (Part::Partitions, count(|work| work.partitions), PARTITION, 0, 0),
        (Part::Seeks, count(|work| work.seeks), SEEK, 0, 0),
        (Part::Fetched, count(|work| work.fetched), FETCHED, fetched_bytes, FETCHED_KIB),
        (Part::Scanned, count(|work| work.scanned), SCANNED, scanned_bytes, SCANNED_KIB),
        (Part::Entries, count(|work| work.entries), ENTRY, 0, 0),
        (Part::AggregateRows, count(|work| work.aggregate_rows), AGGREGATE_ROW, 0, 0),
        (Part::JoinTuples, count(|work| work.join_tuples), JOIN_TUPLE, 0, 0),
        (Part::FunctionCalls, count(|work| work.function_calls), FUNCTION_CALL, 0, 0),
    ];
    let hundredth = TEN_THOUSANDTHS_PER_HUNDREDTH * KIB;
    let rounded = |amount: u128| ((amount + hundredth / 2) / hundredth) as i64;
    let (mut parts, mut amount) = (Vec::new(), 0);
    for (work, count, price, bytes, price_of_kib) in rows {
        // Where the sum is rounded rather than each, nothing gets lost between them.
        let before = rounded(amount);
        amount += replicas(cost) * (price * u128::from(count) * KIB + price_of_kib * u128::from(bytes));
        if count > 0 || bytes > 0 {
            parts.push(PricedPart { work, count, bytes, hundredths: rounded(amount) - before });
        }
    }
    let left = charge - rounded(amount);
    if left != 0 {
        let steps = count(|work| work.steps);
        let is_computing = left > 0 && total.steps > STEPS_FREE && charge > FLOOR.hundredths() as i64;
        let (work, count) = if is_computing { (Part::Steps, steps) } else { (Part::Rest, 0) };
        parts.push(PricedPart { work, count, bytes: 0, hundredths: left });
    }
    parts
}

fn replicas(cost: ReadCost) -> u128 {
    match cost {
        ReadCost::Single => 1,
        ReadCost::Double => 2,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn charge(work: QueryWork, cost: ReadCost) -> String {
        query_charge(&QueryWork::default(), &work, cost).to_string()
    }

    #[test]
    fn prices() {
        let one = QueryWork { partitions: 1, ..QueryWork::default() };
        #[rustfmt::skip]
        let rows = [
            ("1.00", QueryWork::default()),
            ("2.08", one),
            ("2.47", QueryWork { seeks: 1, ..one }),
            ("6.24", QueryWork { partitions: 3, ..one }),
            // One item of 1 KB through the index.
            ("2.64", QueryWork { seeks: 1, fetched: 1, fetched_bytes: 1_024, ..one }),
            // A hundred of them.
            ("19.17", QueryWork { seeks: 1, fetched: 100, fetched_bytes: 102_400, ..one }),
            // A hundred by a scan: 2 + 0.73.
            ("4.81", QueryWork { scanned: 100, scanned_bytes: 102_400, ..one }),
            ("6.28", QueryWork { entries: 1_000, ..one }),
            ("2.98", QueryWork { aggregate_rows: 100, ..one }),
            ("2.28", QueryWork { join_tuples: 100, ..one }),
            ("3.08", QueryWork { function_calls: 100, ..one }),
            // As much computing as the visit of a partition pays for, beyond what is free; and more.
            ("2.08", QueryWork { steps: 120_800, ..one }),
            ("12.00", QueryWork { steps: 220_000, ..one }),
            ("100.00", QueryWork { steps: 1_100_000, ..QueryWork::default() }),
            // 0.5 of a hundredth goes up: 2.08 + 0.01 * 0.5.
            ("2.09", QueryWork { scanned_bytes: 702, ..one }),
            ("2.08", QueryWork { scanned_bytes: 701, ..one }),
        ];
        for (expected, work) in rows {
            assert_eq!(charge(work, ReadCost::Single), expected, "{work:?}");
        }
        assert_eq!(charge(QueryWork { seeks: 1, ..one }, ReadCost::Double), "4.94");
        // Each page costs something.
        let entry = QueryWork { entries: 1, ..one };
        assert_eq!(query_charge(&one, &entry, ReadCost::Single), FLOOR);
        assert_eq!(query_charge(&one, &one, ReadCost::Single), FLOOR);
    }

    fn work() -> impl Strategy<Value = QueryWork> {
        prop::array::uniform11(0u64..5_000).prop_map(|[a, b, c, d, e, f, g, h, i, j, k]| QueryWork {
            partitions: a % 3,
            seeks: b % 4,
            fetched: c,
            fetched_bytes: d * 97,
            scanned: e,
            scanned_bytes: f * 97,
            entries: g,
            aggregate_rows: h,
            join_tuples: i,
            function_calls: j,
            steps: k * 1_000,
        })
    }

    proptest! {
        #[test]
        fn the_sum_does_not_depend_on_the_pages(pages in prop::collection::vec(work(), 1..20), double in any::<bool>()) {
            let cost = if double { ReadCost::Double } else { ReadCost::Single };
            let (mut total, mut sum) = (QueryWork::default(), RequestUnits::ZERO);
            let mut is_least = false;
            for page in pages.iter().filter(|page| **page != QueryWork::default()) {
                let before = total;
                total += *page;
                let charge = query_charge(&before, &total, cost);
                is_least |= charge == FLOOR;
                sum += charge;
            }
            prop_assume!(total != QueryWork::default());
            let whole = query_charge(&QueryWork::default(), &total, cost);
            prop_assert!(if is_least { sum >= whole } else { sum == whole }, "{} {}", sum, whole);
        }

        #[test]
        fn shares_add_up_to_the_charge(pages in prop::collection::vec(work(), 1..5), double in any::<bool>()) {
            let cost = if double { ReadCost::Double } else { ReadCost::Single };
            let mut total = QueryWork::default();
            for page in &pages {
                let before = total;
                total += *page;
                let shares = query_price(&before, &total, cost);
                let sum: i64 = shares.iter().map(|part| part.hundredths).sum();
                prop_assert_eq!(sum, query_charge(&before, &total, cost).hundredths() as i64, "{:?}", shares);
            }
        }
    }
}
