//! Where a walk over the joined sources of one item is: it can pause at any combination, and go on there.
//!
//! A path says, for each join from the outermost on, which of its values is bound. To go on, the values before it are
//! passed over at every level, so that a page takes about as long to come to its place as the sources are long, not as
//! long as their product.

use crate::limits::JOINS_MAX;

/// Which value each join binds, from the outermost on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct TuplePath {
    places: [u64; JOINS_MAX],
    depth: u8,
}

impl TuplePath {
    /// Makes a path; `None` where it is longer than a query may have joins.
    pub(crate) fn new(places: &[u64]) -> Option<TuplePath> {
        let mut path = TuplePath::default();
        path.places.get_mut(..places.len())?.copy_from_slice(places);
        path.depth = places.len() as u8;
        Some(path)
    }

    /// Returns the places.
    pub(crate) fn places(&self) -> &[u64] {
        &self.places[..usize::from(self.depth)]
    }

    /// Returns whether it leads nowhere.
    pub(crate) fn is_empty(&self) -> bool {
        self.depth == 0
    }
}

/// A walk over all combinations, from a path on.
pub(crate) struct TupleWalk<'w> {
    start: TuplePath,
    /// How many levels are bound as the start has them; nothing once one of them has moved on.
    following: Option<usize>,
    /// What is bound now.
    pub(crate) path: TuplePath,
    /// Values that were bound, those of the start excepted, which were counted before.
    pub(crate) tuples: u64,
    /// Asked, with the tuples so far, whether to pause.
    pause: &'w dyn Fn(u64) -> bool,
    /// How often the meter had looked at the time when that was asked last.
    looks: u64,
    /// Whether the walk was paused.
    pub(crate) is_paused: bool,
}

impl<'w> TupleWalk<'w> {
    /// Begins a walk that asks whether to pause now and then: not before it has come further than its start.
    pub(crate) fn new(start: TuplePath, looks: u64, pause: &'w dyn Fn(u64) -> bool) -> TupleWalk<'w> {
        let following = (!start.is_empty()).then_some(0);
        TupleWalk { start, following, path: TuplePath::default(), tuples: 0, pause, looks, is_paused: false }
    }

    /// Begins a walk over everything.
    pub(crate) fn whole() -> TupleWalk<'static> {
        TupleWalk::new(TuplePath::default(), 0, &|_| false)
    }

    /// Returns the first value of a level that is not passed over; nothing where that is the first of all.
    pub(crate) fn first(&self, level: usize) -> Option<u64> {
        self.start.places().get(level).copied().filter(|_| self.following == Some(level))
    }

    /// Notes that a value of a level is bound; `is_known` says that it is where the walk began.
    pub(crate) fn enter(&mut self, level: usize, place: u64, is_known: bool) {
        if is_known {
            self.following = Some(level + 1);
        } else {
            self.following = None;
            self.tuples += 1;
        }
        self.path.places[level] = place;
        self.path.depth = level as u8 + 1;
    }

    /// Returns whether to pause; only asked where the meter has looked since.
    #[inline]
    pub(crate) fn is_to_pause(&mut self, looks: u64) -> bool {
        if looks == self.looks || self.tuples == 0 {
            return false;
        }
        self.looks = looks;
        self.is_paused = (self.pause)(self.tuples);
        self.is_paused
    }
}
