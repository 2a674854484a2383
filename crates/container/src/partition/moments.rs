//! The moments that a partition gives to the versions of its items.

use super::Partition;
use crate::error::{Error, ErrorKind, Result};
use crate::item::Item;
use crate::item::moment::Moment;

impl Partition {
    /// Gives a version its moment, given the time of the clock and the version whose place it takes.
    pub(crate) fn next_moment(&self, clock: Moment, replaced: Option<&Item>) -> Result<Moment> {
        self.moments.next(clock, replaced.map(Item::moment)).ok_or_else(|| {
            Error::new(ErrorKind::Unavailable, "the clock is beyond the last second that an item can have")
        })
    }

    /// Sees to it that only later moments are given.
    pub(crate) fn skip_moments(&self, until: Moment) {
        self.moments.skip(until);
    }

    /// Returns the last moment that was given, or the one of now if that is later.
    pub(crate) fn latest_moment(&self) -> Moment {
        self.moments.latest(Moment::now(self.env.clock.as_ref()))
    }
}
