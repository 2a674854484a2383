//! What a page of a query may spend in each partition, and who pays for it.
//!
//! A page is priced as a whole, because that is what makes the sum over all pages that of the whole query. What each
//! partition pays is its part of the work, as near as it was seen from here: what was read of it.

use std::time::Duration;

use armilla_container::{QueryWork, ReadCost, RequestUnits, query_charge};

use super::source::ReaderSource;
use crate::containers::ContainerHandle;
use crate::error::{Error, Result};

/// What the first visit of a partition, an item and a KB of items weigh among themselves: about their prices.
const VISIT_WEIGHT: u64 = 247;
const ITEM_WEIGHT: u64 = 9;
const KIB_WEIGHT: u64 = 8;

/// The partitions of one page.
pub(super) struct Admission<'s> {
    sources: &'s [ReaderSource],
    /// Whether the page is the first, which pays for the visits.
    is_first: bool,
    cost: ReadCost,
}

impl<'s> Admission<'s> {
    pub(super) fn new(sources: &'s [ReaderSource], is_first: bool, cost: ReadCost) -> Admission<'s> {
        Admission { sources, is_first, cost }
    }

    /// Asks all partitions beforehand, for a query that reads them at the same time.
    pub(super) fn ask_all(&self, handle: &ContainerHandle) -> Result<()> {
        // All of them, so that the wait is long enough for all.
        let asked: Vec<bool> = self.sources.iter().map(ReaderSource::admit).collect();
        match asked.contains(&false) {
            true => Err(self.refusal(handle).unwrap_or_else(lost_refusal)),
            false => Ok(()),
        }
    }

    /// Returns the refusal with the longest wait, if a partition was asked and refused.
    pub(super) fn refusal(&self, handle: &ContainerHandle) -> Option<Error> {
        let refusals = self.sources.iter().filter_map(ReaderSource::refusal);
        let longest = refusals.max_by_key(|error| error.retry_after)?;
        Some(handle.translate(longest.clone()))
    }

    /// Returns whether a partition has spent what it had left, where a page did this so far.
    pub(super) fn is_spent(&self, page: &QueryWork) -> bool {
        if self.sources.iter().all(|source| source.left().is_none()) {
            return false;
        }
        let charge = query_charge(&QueryWork::default(), page, self.cost);
        let mut spent: Vec<(u32, RequestUnits, RequestUnits)> = Vec::new();
        for (source, part) in self.parts(charge) {
            let Some(left) = source.left() else { continue };
            let range_id = source.position().range_id;
            match spent.iter_mut().find(|(id, ..)| *id == range_id) {
                // Parts of a partition that were asked later found less, or the same.
                Some((_, least, sum)) => {
                    *least = left.min(*least);
                    *sum += part;
                }
                None => spent.push((range_id, left, part)),
            }
        }
        spent.iter().any(|(_, left, sum)| sum >= left)
    }

    /// Lets the partitions pay for a page.
    pub(super) fn spend(&self, charge: RequestUnits, took: Duration) {
        for (source, part) in self.parts(charge) {
            source.spend(part, took);
        }
    }

    /// Returns the part of a charge of every partition that was read.
    fn parts(&self, charge: RequestUnits) -> Vec<(&'s ReaderSource, RequestUnits)> {
        let weigh = |source: &ReaderSource| {
            let (items, bytes) = source.loaded();
            let visit = if self.is_first { VISIT_WEIGHT } else { 1 };
            visit + items * ITEM_WEIGHT + bytes / 1_024 * KIB_WEIGHT
        };
        let mut visited: Vec<&ReaderSource> =
            self.sources.iter().filter(|source| source.is_visited()).collect();
        if visited.is_empty() {
            // The first partition pays for a page that nothing was read for.
            visited.extend(self.sources.first());
        }
        let total: u64 = visited.iter().map(|source| weigh(source)).sum();
        let mut rest = charge.hundredths();
        let mut parts: Vec<(&ReaderSource, RequestUnits)> = Vec::with_capacity(visited.len());
        for source in visited {
            let part = u128::from(charge.hundredths()) * u128::from(weigh(source)) / u128::from(total.max(1));
            let part = u64::try_from(part).unwrap_or(u64::MAX).min(rest);
            rest -= part;
            parts.push((source, RequestUnits::from_hundredths(part)));
        }
        if let Some((_, first)) = parts.first_mut() {
            *first += RequestUnits::from_hundredths(rest);
        }
        parts
    }
}

fn lost_refusal() -> Error {
    Error::new(crate::error::ErrorKind::Internal, "a partition refused a query without a reason")
}
