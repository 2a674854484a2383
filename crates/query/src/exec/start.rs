//! Where one source begins in sort order: from a continuation token, a resume filter, or both.

use std::cmp::Ordering;

use crate::source::Source;

/// Where a source begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    /// A sort key.
    pub(super) key: Vec<u8>,
    /// Where among the rows with that key.
    pub(super) tie: Tie,
}

/// Where among rows with equal sort keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// At the first.
    First,
    /// At an item.
    At(u64),
    /// Behind an item.
    Behind(u64),
    /// Behind all.
    Last,
}

impl Tie {
    /// Orders ties as rows come: by number, backwards where the order is descending.
    fn rank(self, backwards: bool) -> (u8, u64, bool) {
        let place = |number: u64| if backwards { !number } else { number };
        match self {
            Tie::First => (0, 0, false),
            Tie::At(number) => (1, place(number), false),
            Tie::Behind(number) => (1, place(number), true),
            Tie::Last => (2, 0, false),
        }
    }
}

impl Start {
    /// Returns whether a row is at or behind the start.
    pub(super) fn admits(&self, key: &[u8], number: u64, backwards: bool) -> bool {
        match key.cmp(&self.key[..]) {
            Ordering::Less => false,
            Ordering::Greater => true,
            Ordering::Equal => Tie::At(number).rank(backwards) >= self.tie.rank(backwards),
        }
    }

    /// Returns the one that is further on.
    pub(super) fn further(first: Option<Start>, second: Option<Start>, backwards: bool) -> Option<Start> {
        match (first, second) {
            (Some(first), Some(second)) => {
                let order = first
                    .key
                    .cmp(&second.key)
                    .then_with(|| first.tie.rank(backwards).cmp(&second.tie.rank(backwards)));
                Some(if order.is_lt() { second } else { first })
            }
            (first, second) => first.or(second),
        }
    }
}

/// Returns an item by its number, where a source has it.
pub(super) fn item_of(source: &dyn Source, number: u64) -> crate::Result<Option<crate::SourceItem>> {
    let mut items = Vec::new();
    source.load(&[number], &mut items)?;
    Ok(items.pop().flatten())
}
