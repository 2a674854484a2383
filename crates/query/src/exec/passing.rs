//! Which items of a walk can belong to the result, as other indexes tell.
//!
//! A walk in the order of one property meets items that a condition on another rejects. Where few items pass, their
//! numbers are read from the other index once, and all else is passed over without being loaded.

use super::context::Context;
use super::numbers::open_set;
use crate::budget::Held;
use crate::error::{ErrorKind, Result};
use crate::limits::ORDERED_NUMBERS_MAX;
use crate::physical::IndexSet;
use crate::source::Source;

/// Most numbers that are read: estimates may be wrong by a factor.
const NUMBERS_MAX: usize = 4 * ORDERED_NUMBERS_MAX;

/// The items that can belong to the result.
pub(super) enum Passing<'q> {
    /// All of them.
    All,
    /// Those of a set that is not read yet.
    Unread(IndexSet),
    /// These, in order.
    Numbers(Vec<u64>, #[expect(dead_code, reason = "gives the memory back when it is dropped")] Held<'q>),
}

impl<'q> Passing<'q> {
    /// Keeps the numbers of items that can belong to the result.
    pub(super) fn retain(
        &mut self,
        context: &'q Context<'q>,
        source: &'q dyn Source,
        numbers: &mut Vec<u64>,
    ) -> Result<()> {
        if let Passing::Unread(set) = self {
            *self = read(context, source, set)?;
        }
        if let Passing::Numbers(passing, _) = self {
            numbers.retain(|number| passing.binary_search(number).is_ok());
        }
        Ok(())
    }
}

/// Reads the numbers; where there are more than was thought, or no memory is left, the items themselves are looked at
/// instead.
fn read<'q>(context: &'q Context<'q>, source: &'q dyn Source, set: &IndexSet) -> Result<Passing<'q>> {
    let mut opened = match open_set(context, source, set, 0) {
        Ok(Some(opened)) => opened,
        Ok(None) => return Ok(Passing::All),
        Err(error) if error.kind == ErrorKind::TooLarge => return Ok(Passing::All),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    if opened.stream.read(0, NUMBERS_MAX, &mut numbers)? {
        return Ok(Passing::All);
    }
    let bytes = numbers.capacity() * size_of::<u64>();
    Ok(match context.memory.hold(bytes, "the items that an index names") {
        Ok(held) => Passing::Numbers(numbers, held),
        Err(_) => Passing::All,
    })
}
