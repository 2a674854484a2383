//! Request units: the currency in which work is priced and budgets are kept.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

/// An amount of request units.
// Kept in hundredths: the wire shows two decimals, and clients add charges up themselves, so a sum of
// floats would disagree with theirs in the last digit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct RequestUnits(u64);

impl RequestUnits {
    /// Nothing.
    pub const ZERO: RequestUnits = RequestUnits(0);

    /// Returns an amount given in hundredths of a request unit.
    pub const fn from_hundredths(hundredths: u64) -> RequestUnits {
        RequestUnits(hundredths)
    }

    /// Returns the amount in hundredths of a request unit.
    pub const fn hundredths(self) -> u64 {
        self.0
    }

    /// Rounds an amount of 1/21 request units, half up.
    pub const fn from_twenty_firsts(units: u64) -> RequestUnits {
        RequestUnits((units * 200 + 21) / 42)
    }

    /// Returns what is left when another amount is taken away, at least nothing.
    pub const fn saturating_sub(self, other: RequestUnits) -> RequestUnits {
        RequestUnits(self.0.saturating_sub(other.0))
    }
}

impl fmt::Display for RequestUnits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:02}", self.0 / 100, self.0 % 100)
    }
}

impl Add for RequestUnits {
    type Output = RequestUnits;

    fn add(self, other: RequestUnits) -> RequestUnits {
        RequestUnits(self.0 + other.0)
    }
}

impl AddAssign for RequestUnits {
    fn add_assign(&mut self, other: RequestUnits) {
        self.0 += other.0;
    }
}

impl Sum for RequestUnits {
    fn sum<I: Iterator<Item = RequestUnits>>(amounts: I) -> RequestUnits {
        amounts.fold(RequestUnits::ZERO, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_firsts_round_half_up() {
        for (units, shown) in
            [(0, "0.00"), (8, "0.38"), (21, "1.00"), (26, "1.24"), (104, "4.95"), (6128, "291.81")]
        {
            assert_eq!(RequestUnits::from_twenty_firsts(units).to_string(), shown, "{units}/21");
        }
    }

    #[test]
    fn amounts_add_up_in_hundredths() {
        let amounts = [5, 99, 1].map(RequestUnits::from_hundredths);
        assert_eq!(amounts.into_iter().sum::<RequestUnits>().to_string(), "1.05");
        let mut sum = RequestUnits::ZERO;
        sum += amounts[1];
        assert_eq!((sum + amounts[2]).hundredths(), 100);
    }
}
