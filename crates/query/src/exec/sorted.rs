//! Rows put in order in memory: the best ones that a page can take, the others are forgotten.

use std::collections::{BTreeMap, HashMap};

use super::sink::ByFingerprint;
use crate::budget::Memory;
use crate::error::Result;

#[cfg(test)]
mod tests;

/// What a row takes beside its key and content.
const ROW_BYTES: usize = 96;

/// Where a row stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RowKey {
    /// Its sort key.
    pub(super) key: Vec<u8>,
    /// Its source, by its place on the ring.
    pub(super) source: usize,
    /// Its item's number, inverted where ties come by descending numbers.
    tie: u64,
    /// Its place among the rows of its item.
    pub(super) index: u64,
}

impl RowKey {
    /// Makes the key of a row.
    pub(super) fn new(key: Vec<u8>, source: usize, number: u64, index: u64, backwards: bool) -> RowKey {
        RowKey { key, source, tie: if backwards { !number } else { number }, index }
    }

    /// Returns the number of the row's item.
    pub(super) fn number(&self, backwards: bool) -> u64 {
        if backwards { !self.tie } else { self.tie }
    }
}

/// Rows in order.
pub(super) struct SortedRows<'q, R> {
    rows: BTreeMap<RowKey, (R, usize)>,
    /// The best row of each identity, where equal rows are given once.
    identities: HashMap<u128, RowKey, ByFingerprint>,
    memory: &'q Memory,
    taken: usize,
    /// Bytes of all rows, without keys.
    row_bytes: usize,
    rows_max: Option<u64>,
    row_bytes_max: Option<usize>,
    /// Whether rows were forgotten, so that there are more than these.
    pub(super) forgot: bool,
}

impl<'q, R> SortedRows<'q, R> {
    /// Begins without rows. Rows that come behind `rows_max` others, or behind others of `row_bytes_max` bytes, are
    /// forgotten.
    pub(super) fn new(
        memory: &'q Memory,
        rows_max: Option<u64>,
        row_bytes_max: Option<usize>,
    ) -> SortedRows<'q, R> {
        SortedRows {
            rows: BTreeMap::new(),
            identities: HashMap::default(),
            memory,
            taken: 0,
            row_bytes: 0,
            rows_max,
            row_bytes_max,
            forgot: false,
        }
    }

    /// Returns whether a row with a sort key of some source could be among those that are kept.
    pub(super) fn has_room(&self, key: &[u8], source: usize) -> bool {
        let is_full = self.rows_max.is_some_and(|rows_max| self.rows.len() as u64 >= rows_max)
            || self
                .row_bytes_max
                .is_some_and(|bytes_max| self.row_bytes >= bytes_max && !self.rows.is_empty());
        match self.rows.last_key_value() {
            Some((last, _)) if is_full => (key, source) <= (&last.key[..], last.source),
            _ => true,
        }
    }

    /// Notes that a row was not even made.
    pub(super) fn forget_one(&mut self) {
        self.forgot = true;
    }

    /// Adds a row.
    pub(super) fn insert(
        &mut self,
        key: RowKey,
        row: R,
        row_bytes: usize,
        identity: Option<u128>,
    ) -> Result<()> {
        if let Some(identity) = identity {
            match self.identities.get(&identity) {
                Some(known) if *known <= key => return Ok(()),
                Some(known) => {
                    let known = known.clone();
                    self.remove(&known);
                }
                None => {}
            }
            self.take(key.key.len() + ROW_BYTES)?;
            self.identities.insert(identity, key.clone());
        }
        self.take(key.key.len() + row_bytes + ROW_BYTES)?;
        self.row_bytes += row_bytes;
        self.rows.insert(key, (row, row_bytes));
        self.shrink();
        Ok(())
    }

    /// Forgets rows that no page needs.
    fn shrink(&mut self) {
        while let Some((last, (_, bytes))) = self.rows.last_key_value() {
            let too_many = self.rows_max.is_some_and(|rows_max| self.rows.len() as u64 > rows_max);
            let others = self.row_bytes - bytes;
            let too_large =
                self.rows.len() > 1 && self.row_bytes_max.is_some_and(|bytes_max| others > bytes_max);
            if !too_many && !too_large {
                return;
            }
            let last = last.clone();
            self.remove(&last);
            self.forgot = true;
        }
    }

    fn remove(&mut self, key: &RowKey) {
        if let Some((_, bytes)) = self.rows.remove(key) {
            self.row_bytes -= bytes;
            let freed = key.key.len() + bytes + ROW_BYTES;
            self.memory.give_back(freed);
            self.taken = self.taken.saturating_sub(freed);
        }
    }

    fn take(&mut self, bytes: usize) -> Result<()> {
        self.memory.take(bytes, "the rows of ORDER BY")?;
        self.taken += bytes;
        Ok(())
    }

    /// Returns where the first row stands.
    pub(super) fn first(&self) -> Option<&RowKey> {
        self.rows.first_key_value().map(|(key, _)| key)
    }

    /// Takes the first row.
    pub(super) fn pop_first(&mut self) -> Option<(RowKey, R)> {
        let (key, (row, bytes)) = self.rows.pop_first()?;
        self.row_bytes -= bytes;
        Some((key, row))
    }

    /// Returns whether there are no rows, not even forgotten ones.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && !self.forgot
    }
}

impl<R> Drop for SortedRows<'_, R> {
    fn drop(&mut self) {
        self.memory.give_back(self.taken);
    }
}
