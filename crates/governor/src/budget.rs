//! The budget of a physical partition: what it may spend in each second.
//!
//! A request is admitted while the balance is above zero and pays what it turned out to cost, so the balance
//! may fall below zero; that debt is carried. Each window adds the rate. What a window leaves is lost, or,
//! where bursts are allowed, banked.
//!
//! Two accounts make that: `funds` is what there is to spend (the bank and this window's share), `pace` what
//! may be spent in one window. Without bursts they are the same number.
//!
//! Low-priority requests leave alone what high-priority ones are expected to use in the rest of the window:
//! what they wanted in the last window less what they used in this one. Refused requests were wanted too:
//! by use alone, a load of low priority that came first would hide the demand it displaces, for ever.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::limits::{
    BURST_BANK_WINDOWS, BURST_RATE_HUNDREDTHS, DEBT_HUNDREDTHS_MAX, NO_RATE_RETRY_AFTER, RATE_HUNDREDTHS_MAX,
};
use crate::units::RequestUnits;
use crate::window::Window;

/// Which requests go first when the budget is short.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Priority {
    /// Refused only when the budget is spent.
    #[default]
    High,
    /// Refused already when what is left is expected to be needed by high-priority requests.
    Low,
}

/// How budgets are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Whether requests beyond the budget are refused.
    pub enforced: bool,
    /// Whether unused budget is banked and may be spent in bursts.
    pub burst: bool,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy { enforced: true, burst: false }
    }
}

/// A request that may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// What the window has left for requests of this priority, always more than nothing; none where budgets
    /// are not enforced.
    pub left: Option<RequestUnits>,
}

impl Admitted {
    /// Returns what two budgets leave that both count.
    pub fn least(self, other: Admitted) -> Admitted {
        let left = match (self.left, other.left) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Admitted { left }
    }
}

/// A request that may not begin now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttled {
    /// When it will be admitted if no other request comes in between.
    pub retry_after: Duration,
}

/// What a physical partition may spend, second by second.
#[derive(Debug)]
pub struct Budget {
    policy: Policy,
    /// The rate in hundredths: of its own, so that it is read without the lock.
    rate: AtomicU64,
    accounts: Mutex<Accounts>,
}

impl Budget {
    /// Returns a budget with this rate a second and an empty bank.
    pub fn new(rate: RequestUnits, policy: Policy) -> Budget {
        let rate = rate.hundredths().min(RATE_HUNDREDTHS_MAX);
        Budget {
            policy,
            rate: AtomicU64::new(rate),
            accounts: Mutex::new(Accounts::new(Terms::of(rate, policy))),
        }
    }

    /// Returns the rate a second.
    pub fn rate(&self) -> RequestUnits {
        RequestUnits::from_hundredths(self.rate.load(Ordering::Relaxed))
    }

    /// Changes the rate, from the running window on. A higher rate adds its difference to the window; a lower
    /// one never makes debt of what was already spent.
    pub fn set_rate(&self, now_ms: i64, rate: RequestUnits) {
        let rate = rate.hundredths().min(RATE_HUNDREDTHS_MAX);
        let mut accounts = self.lock();
        accounts.advance(now_ms);
        accounts.change_terms(Terms::of(rate, self.policy));
        self.rate.store(rate, Ordering::Relaxed);
    }

    /// Says whether a request may begin; what it costs is told to [`Budget::spend`] when it has ended.
    pub fn admit(&self, now_ms: i64, priority: Priority) -> Result<Admitted, Throttled> {
        if !self.policy.enforced {
            return Ok(Admitted { left: None });
        }
        let mut accounts = self.lock();
        accounts.advance(now_ms);
        let left = accounts.left(priority);
        if left > 0 {
            return Ok(Admitted { left: Some(RequestUnits::from_hundredths(left.unsigned_abs())) });
        }
        accounts.refuse(priority);
        Err(Throttled { retry_after: accounts.retry_after(now_ms, priority) })
    }

    /// Deducts what a request cost from the running window.
    pub fn spend(&self, now_ms: i64, priority: Priority, charge: RequestUnits) {
        if !self.policy.enforced {
            return;
        }
        let mut accounts = self.lock();
        accounts.advance(now_ms);
        accounts.spend(priority, charge.hundredths());
    }

    fn lock(&self) -> MutexGuard<'_, Accounts> {
        // Every change is complete before anything can panic.
        self.accounts.lock()
    }
}

/// What a rate means for the accounts, in hundredths of a request unit.
#[derive(Debug, Clone, Copy)]
struct Terms {
    rate: i64,
    /// Most that may be spent in a window.
    pace: i64,
    /// Most that is kept beside the window's own share.
    bank_max: i64,
}

impl Terms {
    fn of(rate: u64, policy: Policy) -> Terms {
        let bursts = policy.burst && rate < BURST_RATE_HUNDREDTHS;
        let (pace, bank_max) =
            if bursts { (BURST_RATE_HUNDREDTHS, rate * BURST_BANK_WINDOWS) } else { (rate, 0) };
        let signed = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
        Terms { rate: signed(rate), pace: signed(pace), bank_max: signed(bank_max) }
    }

    fn funds_max(self) -> i64 {
        self.bank_max + self.rate
    }
}

#[derive(Debug)]
struct Accounts {
    terms: Terms,
    window: Window,
    /// What there is to spend; below zero what is owed.
    funds: i64,
    /// What may still be spent in this window; below zero what later windows give up.
    pace: i64,
    /// The highest rate and pace that held in this window, which it has granted.
    granted: Terms,
    /// What high-priority requests used in this window.
    high_used: u64,
    /// What those of them would have cost that were refused in this window.
    high_refused: u64,
    /// What high-priority requests used and would have used in the window before.
    high_wanted_before: u64,
    /// What one of them usually costs: a moving average.
    high_usual: u64,
}

impl Accounts {
    fn new(terms: Terms) -> Accounts {
        Accounts {
            terms,
            window: Window::default(),
            funds: terms.rate,
            pace: terms.pace,
            granted: terms,
            high_used: 0,
            high_refused: 0,
            high_wanted_before: 0,
            high_usual: HIGH_USUAL_AT_FIRST,
        }
    }

    fn advance(&mut self, now_ms: i64) {
        let begun = self.window.advance(now_ms);
        if begun == 0 {
            return;
        }
        (self.funds, self.pace) = self.after(begun);
        self.granted = self.terms;
        self.high_wanted_before = if begun == 1 { self.high_wanted() } else { 0 };
        (self.high_used, self.high_refused) = (0, 0);
    }

    /// The accounts so many windows later if no request spends anything.
    fn after(&self, windows: u64) -> (i64, i64) {
        let grown = |balance: i64, step: i64, max: i64| {
            let sum = i128::from(balance) + i128::from(windows) * i128::from(step);
            i64::try_from(sum.min(i128::from(max))).unwrap_or(max)
        };
        let terms = self.terms;
        (grown(self.funds, terms.rate, terms.funds_max()), grown(self.pace, terms.pace, terms.pace))
    }

    fn change_terms(&mut self, terms: Terms) {
        // What a window grants is the most that was promised in it, once: a rate that goes down and up
        // again, however often, grants nothing twice.
        self.funds += (terms.rate - self.granted.rate).max(0);
        self.pace += (terms.pace - self.granted.pace).max(0);
        self.granted.rate = self.granted.rate.max(terms.rate);
        self.granted.pace = self.granted.pace.max(terms.pace);
        self.funds = self.funds.min(terms.funds_max());
        self.pace = self.pace.min(terms.pace);
        self.terms = terms;
    }

    fn left(&self, priority: Priority) -> i64 {
        let left = self.funds.min(self.pace);
        match priority {
            Priority::High => left,
            Priority::Low => {
                left.saturating_sub_unsigned(self.high_wanted_before.saturating_sub(self.high_used))
            }
        }
    }

    fn spend(&mut self, priority: Priority, charge: u64) {
        let owed_max = DEBT_HUNDREDTHS_MAX.cast_signed();
        self.funds = self.funds.saturating_sub_unsigned(charge).max(-owed_max);
        self.pace = self.pace.saturating_sub_unsigned(charge).max(-owed_max);
        if priority == Priority::High {
            self.high_used = self.high_used.saturating_add(charge);
            self.high_usual =
                self.high_usual - self.high_usual / HIGH_USUAL_WEIGHT + charge / HIGH_USUAL_WEIGHT;
        }
    }

    /// Takes down that a request was not admitted.
    fn refuse(&mut self, priority: Priority) {
        if priority == Priority::High {
            self.high_refused = self.high_refused.saturating_add(self.high_usual);
        }
    }

    fn high_wanted(&self) -> u64 {
        self.high_used.saturating_add(self.high_refused)
    }

    /// Time to the start of the first window in which a request is admitted if no other comes.
    fn retry_after(&self, now_ms: i64, priority: Priority) -> Duration {
        if self.terms.rate == 0 || self.terms.pace == 0 {
            return NO_RATE_RETRY_AFTER;
        }
        let mut windows = windows_until_positive(self.funds, self.terms.rate)
            .max(windows_until_positive(self.pace, self.terms.pace))
            .max(1);
        if priority == Priority::Low && windows == 1 {
            // In the next window this one's high-priority demand is expected again; in the one after that, as
            // no request came, none is.
            let (funds, pace) = self.after(1);
            if funds.min(pace).saturating_sub_unsigned(self.high_wanted()) <= 0 {
                windows = 2;
            }
        }
        Duration::from_millis(self.window.ms_until(windows, now_ms))
    }
}

/// What a high-priority request is taken to cost before one was seen: a small read.
const HIGH_USUAL_AT_FIRST: u64 = 100;

/// One in so many parts of the moving average is the newest request.
const HIGH_USUAL_WEIGHT: u64 = 8;

/// How many steps make a balance positive.
fn windows_until_positive(balance: i64, step: i64) -> u64 {
    if balance > 0 { 0 } else { balance.unsigned_abs() / step.unsigned_abs() + 1 }
}

#[cfg(test)]
mod tests;
