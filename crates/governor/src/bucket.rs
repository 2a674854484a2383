//! Throughput buckets: parts of a container's throughput, of which requests may name one.
//!
//! A bucket has a highest share, in percent. Requests that name it never use more than that share of each physical
//! partition, whatever is left of the rest; nothing is set aside for them. A bucket without a share bounds nothing.

use std::sync::Arc;

use parking_lot::RwLock;

use crate::budget::{Budget, Policy, Priority};
use crate::limits::BUCKETS_MAX;
use crate::units::RequestUnits;

/// One of a container's throughput buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Bucket(u8);

impl Bucket {
    /// Returns the bucket with a number, from 1 to 5.
    pub fn new(number: u8) -> Option<Bucket> {
        (1..=BUCKETS_MAX as u8).contains(&number).then_some(Bucket(number))
    }

    /// Returns its number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Returns all there can be.
    pub fn all() -> impl Iterator<Item = Bucket> {
        (1..=BUCKETS_MAX as u8).map(Bucket)
    }

    fn place(self) -> usize {
        usize::from(self.0) - 1
    }
}

/// How a request claims throughput.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Whether others go first when it is short.
    pub priority: Priority,
    /// The part of it that the request is counted against as well.
    pub bucket: Option<Bucket>,
}

impl From<Priority> for Claim {
    fn from(priority: Priority) -> Claim {
        Claim { priority, bucket: None }
    }
}

/// The highest shares of a container's buckets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BucketShares([Option<u8>; BUCKETS_MAX]);

impl BucketShares {
    /// Returns the highest share of a bucket in percent, if it has one.
    pub fn percent(&self, bucket: Bucket) -> Option<u8> {
        self.0[bucket.place()]
    }

    /// Gives a bucket a highest share, from 1 to 100 percent. Returns whether it is one.
    pub fn set(&mut self, bucket: Bucket, percent: u8) -> bool {
        let is_share = (1..=100).contains(&percent);
        if is_share {
            self.0[bucket.place()] = Some(percent);
        }
        is_share
    }

    /// Returns the buckets that have a share, with it.
    pub fn iter(&self) -> impl Iterator<Item = (Bucket, u8)> {
        Bucket::all().filter_map(|bucket| Some((bucket, self.percent(bucket)?)))
    }
}

/// What the buckets of one physical partition may spend.
#[derive(Debug)]
pub struct BucketBudgets {
    policy: Policy,
    budgets: RwLock<[Option<Arc<Budget>>; BUCKETS_MAX]>,
}

impl BucketBudgets {
    /// Returns budgets that bound nothing yet.
    pub fn new(policy: Policy) -> BucketBudgets {
        // What is banked is the partition's as a whole.
        BucketBudgets { policy: Policy { burst: false, ..policy }, budgets: RwLock::default() }
    }

    /// Gives each bucket its share of a partition's rate, from the running window on.
    pub fn set(&self, now_ms: i64, rate: RequestUnits, shares: &BucketShares) {
        let mut budgets = self.budgets.write();
        for bucket in Bucket::all() {
            let budget = &mut budgets[bucket.place()];
            let Some(percent) = shares.percent(bucket) else {
                *budget = None;
                continue;
            };
            let rate = RequestUnits::from_hundredths(rate.hundredths().saturating_mul(percent.into()) / 100);
            match budget {
                Some(budget) => budget.set_rate(now_ms, rate),
                None => *budget = Some(Arc::new(Budget::new(rate, self.policy))),
            }
        }
    }

    /// Returns the budget that bounds a claim beside the partition's own.
    pub fn of(&self, claim: Claim) -> Option<Arc<Budget>> {
        // Most claims name none, and need no lock.
        let bucket = claim.bucket?;
        self.budgets.read()[bucket.place()].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW_MS: i64 = 1_000_000;

    fn bucket(number: u8) -> Bucket {
        Bucket::new(number).unwrap()
    }

    fn claim(number: u8) -> Claim {
        Claim { bucket: Some(bucket(number)), ..Claim::default() }
    }

    #[test]
    fn buckets_have_numbers_from_1_to_5() {
        let numbers: Vec<u8> = Bucket::all().map(Bucket::number).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 5]);
        assert_eq!([0, 6, 255].map(Bucket::new), [None; 3]);
    }

    #[test]
    fn shares_are_percents() {
        let mut shares = BucketShares::default();
        for (percent, is_share) in [(0, false), (1, true), (100, true), (101, false)] {
            assert_eq!(shares.set(bucket(2), percent), is_share, "{percent}");
        }
        assert!(shares.set(bucket(5), 7));
        assert_eq!(shares.iter().collect::<Vec<_>>(), [(bucket(2), 100), (bucket(5), 7)]);
        assert_eq!(shares.percent(bucket(1)), None);
    }

    #[test]
    fn a_share_follows_the_rate_and_goes_with_its_definition() {
        let mut shares = BucketShares::default();
        shares.set(bucket(1), 40);
        let budgets = BucketBudgets::new(Policy { enforced: true, burst: true });
        assert!(budgets.of(claim(1)).is_none());
        budgets.set(NOW_MS, RequestUnits::from_hundredths(40_000), &shares);
        let budget = budgets.of(claim(1)).unwrap();
        assert_eq!(budget.rate(), RequestUnits::from_hundredths(16_000));
        assert!(budgets.of(claim(2)).is_none());
        assert!(budgets.of(Claim::default()).is_none());
        // The same budget goes on: what was spent stays spent.
        budget.spend(NOW_MS, Priority::High, RequestUnits::from_hundredths(30_000));
        budgets.set(NOW_MS, RequestUnits::from_hundredths(50_000), &shares);
        let budget = budgets.of(claim(1)).unwrap();
        assert_eq!(budget.rate(), RequestUnits::from_hundredths(20_000));
        assert!(budget.admit(NOW_MS, Priority::High).is_err());
        budgets.set(NOW_MS, RequestUnits::from_hundredths(50_000), &BucketShares::default());
        assert!(budgets.of(claim(1)).is_none());
    }
}
