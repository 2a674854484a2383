//! How much a page may hold and how long it may take, and how much memory a query may have.

use std::cell::Cell;

use armilla_functions::Look;

use crate::error::{Error, Result};
use crate::limits::{PAGE_BYTES_MAX, PAGE_ROWS_DEFAULT, QUERY_MEMORY_BYTES_MAX};
use crate::row::{JsonRows, RowForm};
use crate::work::Work;

/// How much a page may hold and in which form, and how long it may take.
#[derive(Clone, Copy)]
pub struct Budget<'b> {
    /// Most rows; a page has room for one at least.
    pub rows_max: usize,
    /// How rows are written.
    pub form: &'b dyn RowForm,
    /// Bytes of rows after which the page ends; the first row may be larger.
    pub bytes_max: usize,
    /// Tells of what the page has counted so far whether it is enough, or has taken long enough; asked now and then.
    pub expired: &'b dyn Fn(&Work) -> bool,
    /// How many other threads may help; the page is the same with them and without.
    pub helpers: usize,
    /// Asked with the steps that the page took so far, wherever it is: whether it may go on at all. What it stops ends
    /// with an error, so it is for pages that do not end by themselves.
    pub watch: &'b dyn Fn(u64) -> Look,
}

/// Steps between two questions whether a page may go on, where the caller sets no watch.
const STEPS_UNWATCHED: u64 = 1_000;

impl Default for Budget<'_> {
    /// The page of a client that asks for nothing in particular, without a bound on its time.
    fn default() -> Self {
        Budget {
            rows_max: PAGE_ROWS_DEFAULT,
            form: &JsonRows,
            bytes_max: PAGE_BYTES_MAX,
            expired: &|_| false,
            helpers: 0,
            watch: &|_| Look::GoOn(STEPS_UNWATCHED),
        }
    }
}

/// The memory that a query holds on to, as far as it grows with the data.
pub(crate) struct Memory {
    used: Cell<usize>,
    bytes_max: usize,
}

impl Memory {
    /// Returns the account of a query that holds nothing yet.
    pub(crate) fn new() -> Memory {
        Memory::with_limit(QUERY_MEMORY_BYTES_MAX)
    }

    /// Returns an account with a limit of its own.
    pub(crate) fn with_limit(bytes_max: usize) -> Memory {
        Memory { used: Cell::new(0), bytes_max }
    }

    /// Takes bytes for `what`, or says that there are not enough.
    pub(crate) fn take(&self, bytes: usize, what: &str) -> Result<()> {
        let used = self.used.get().saturating_add(bytes);
        if used > self.bytes_max {
            let message = format!(
                "{what} would take more than the {} MiB of memory that a query may have; narrow the filter",
                self.bytes_max >> 20
            );
            return Err(Error::too_large(message));
        }
        self.used.set(used);
        Ok(())
    }

    /// Takes bytes for `what` until the result is dropped.
    pub(crate) fn hold(&self, bytes: usize, what: &str) -> Result<Held<'_>> {
        self.take(bytes, what)?;
        Ok(Held { memory: self, bytes })
    }

    /// Gives bytes back.
    pub(crate) fn give_back(&self, bytes: usize) {
        self.used.set(self.used.get().saturating_sub(bytes));
    }
}

/// Bytes that were taken, and are given back when this is dropped.
pub(crate) struct Held<'m> {
    memory: &'m Memory,
    bytes: usize,
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.memory.give_back(self.bytes);
    }
}
