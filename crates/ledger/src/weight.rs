//! How many requests one that is written down stands for.

/// How many requests one that is written down stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Weight(u64);

impl Weight {
    /// It stands for itself.
    pub const ONE: Weight = Weight(1);

    /// Returns the weight of a request that stands for so many, as lines of a log do. None is taken for one.
    pub const fn of(count: u64) -> Weight {
        Weight(if count == 0 { 1 } else { count })
    }

    /// Returns how many it stands for.
    pub const fn count(self) -> u64 {
        self.0
    }

    /// Returns what a figure of the request is for all that it stands for.
    pub(crate) const fn times(self, figure: u64) -> u64 {
        figure.saturating_mul(self.0)
    }
}
