//! What a physical partition served: totals, the last minute second by second and the last hour minute by minute,
//! latencies and hot keys.
//!
//! Bounded whatever happens: a ring of seconds and one of minutes, fixed histograms, a fixed number of keys.
//!
//! Not here: what may be served (`budget`).

use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};

use crate::histogram::Histogram;
use crate::hot_keys::{HotKey, HotKeys};
use crate::limits::{HOUR_MINUTES, HOUR_WINDOWS, MINUTE_WINDOWS, STRETCH_WINDOWS};
use crate::units::RequestUnits;
use crate::window::Window;

/// What kind of operation was served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OperationKind {
    /// A point read or a page of a feed.
    Read,
    /// A create, replace, upsert, patch or delete, or a batch of them.
    Write,
    /// A page of a query.
    Query,
    /// A stored procedure or a write with triggers.
    Script,
}

impl OperationKind {
    /// All kinds, in the order of [`Figures::latencies`].
    pub const ALL: [OperationKind; 4] =
        [OperationKind::Read, OperationKind::Write, OperationKind::Query, OperationKind::Script];
}

/// What was served in some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Requests that were served, whatever came of them.
    pub requests: u64,
    /// Requests that were refused for want of budget; they are not among those served.
    pub refused: u64,
    /// What the served ones cost.
    pub charge: RequestUnits,
}

/// What a meter shows.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// Requests served since the meter began.
    pub requests: u64,
    /// Requests refused for want of budget since the meter began.
    pub refused: u64,
    /// What was charged since the meter began.
    pub charge: RequestUnits,
    /// The whole second before the running one.
    pub last_second: Stretch,
    /// The sixty whole seconds before the running one.
    pub last_minute: Stretch,
    /// Highest part of the rate that a second of the last minute used, in percent, at most 100.
    pub normalized_percent: f64,
    /// Highest average rate a second of any five whole seconds that ended in this hour.
    pub five_second_peak: RequestUnits,
    /// Latencies since the meter began, in the order of [`OperationKind::ALL`].
    pub latencies: [(OperationKind, Histogram); 4],
    /// Keys that cost the most in the last minute, the most costly first.
    pub hottest: Vec<HotKey>,
}

/// What a meter has seen lately, in steps of one length each, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct History {
    /// The running second, in seconds since 1970: the last of `seconds` ends where it begins.
    pub now: i64,
    /// The whole seconds before it.
    pub seconds: Vec<Stretch>,
    /// The running minute, in minutes since 1970: the last of `minutes` ends where it begins.
    pub minute: i64,
    /// The whole minutes before it.
    pub minutes: Vec<Stretch>,
}

/// Counts what one physical partition serves.
#[derive(Debug, Default)]
pub struct Meter {
    counts: Mutex<Counts>,
}

impl Meter {
    /// Returns a meter that has seen nothing.
    pub fn new() -> Meter {
        Meter::default()
    }

    /// Counts a request that was served, and the logical key it was for if it was for one.
    pub fn record(
        &self,
        now_ms: i64,
        kind: OperationKind,
        logical: Option<&[u8]>,
        charge: RequestUnits,
        took: Duration,
    ) {
        let mut counts = self.lock();
        counts.advance(now_ms);
        let one = Stretch { requests: 1, refused: 0, charge };
        add(&mut counts.total, one);
        add(counts.running(), one);
        counts.latencies[kind as usize].record(took);
        if let Some(logical) = logical {
            let second = counts.window.second();
            counts.hot_keys.record(second, logical, charge);
        }
    }

    /// Counts a request that was refused for want of budget.
    pub fn refused(&self, now_ms: i64, logical: Option<&[u8]>) {
        let mut counts = self.lock();
        counts.advance(now_ms);
        let one = Stretch { requests: 0, refused: 1, charge: RequestUnits::ZERO };
        add(&mut counts.total, one);
        add(counts.running(), one);
        if let Some(logical) = logical {
            let second = counts.window.second();
            counts.hot_keys.refused(second, logical);
        }
    }

    /// Returns what was counted, measured against the rate that the partition has.
    pub fn figures(&self, now_ms: i64, rate: RequestUnits) -> Figures {
        let mut counts = self.lock();
        counts.advance(now_ms);
        let second = counts.window.second();
        let mut last_minute = Stretch::default();
        let mut highest = RequestUnits::ZERO;
        for back in 1..=MINUTE_WINDOWS {
            let stretch = counts.back(back);
            add(&mut last_minute, stretch);
            highest = highest.max(stretch.charge);
        }
        Figures {
            requests: counts.total.requests,
            refused: counts.total.refused,
            charge: counts.total.charge,
            last_second: counts.back(1),
            last_minute,
            normalized_percent: percent(highest, rate),
            five_second_peak: counts.peak,
            latencies: OperationKind::ALL.map(|kind| (kind, counts.latencies[kind as usize])),
            hottest: counts.hot_keys.hottest(second),
        }
    }

    /// Returns what was counted lately.
    pub fn history(&self, now_ms: i64) -> History {
        let mut counts = self.lock();
        counts.advance(now_ms);
        let now = counts.window.second();
        History {
            now,
            seconds: (1..=MINUTE_WINDOWS).rev().map(|back| counts.back(back)).collect(),
            minute: minute(now),
            minutes: (1..=HOUR_MINUTES).rev().map(|back| counts.minutes_back(back)).collect(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        // Counts that a panic cut short are figures still.
        self.counts.lock()
    }
}

fn percent(used: RequestUnits, rate: RequestUnits) -> f64 {
    if used >= rate {
        return if used == RequestUnits::ZERO { 0.0 } else { 100.0 };
    }
    used.hundredths() as f64 * 100.0 / rate.hundredths() as f64
}

fn add(sum: &mut Stretch, more: Stretch) {
    sum.requests = sum.requests.saturating_add(more.requests);
    sum.refused = sum.refused.saturating_add(more.refused);
    let charge = sum.charge.hundredths().saturating_add(more.charge.hundredths());
    sum.charge = RequestUnits::from_hundredths(charge);
}

/// Room for the last minute and the running second, and a power of two.
const RING: usize = 64;

const _: () = assert!(MINUTE_WINDOWS < RING && STRETCH_WINDOWS < RING);

/// Room for the last hour and the running minute.
const MINUTES: usize = HOUR_MINUTES + 1;

/// The minute of a second.
fn minute(second: i64) -> i64 {
    second.div_euclid(MINUTE_WINDOWS as i64)
}

#[derive(Debug)]
struct Counts {
    window: Window,
    total: Stretch,
    /// The running second is at `place`, the one before it one place before, round the end.
    ring: [Stretch; RING],
    place: usize,
    /// The minute of the running second is at `minute_place`, without that second.
    minutes: [Stretch; MINUTES],
    minute_place: usize,
    latencies: [Histogram; 4],
    hot_keys: HotKeys,
    /// Highest average of a stretch that ended in the hour of the running second.
    peak: RequestUnits,
    hour: i64,
}

impl Default for Counts {
    fn default() -> Counts {
        Counts {
            window: Window::default(),
            total: Stretch::default(),
            ring: [Stretch::default(); RING],
            place: 0,
            minutes: [Stretch::default(); MINUTES],
            minute_place: 0,
            latencies: [Histogram::default(); 4],
            hot_keys: HotKeys::default(),
            peak: RequestUnits::ZERO,
            hour: 0,
        }
    }
}

impl Counts {
    fn advance(&mut self, now_ms: i64) {
        let before = minute(self.window.second());
        let begun = self.window.advance(now_ms);
        let second = self.window.second();
        if begun > 0 {
            // Stretches that end later lose a second and gain an empty one: none of them is higher.
            self.end_stretch();
            let ended = self.ring[self.place];
            add(&mut self.minutes[self.minute_place], ended);
            for _ in 0..minute(second).abs_diff(before).min(MINUTES as u64) {
                self.minute_place = (self.minute_place + 1) % MINUTES;
                self.minutes[self.minute_place] = Stretch::default();
            }
            for _ in 0..begun.min(RING as u64) {
                self.place = (self.place + 1) % RING;
                self.ring[self.place] = Stretch::default();
            }
        }
        let hour = second.div_euclid(HOUR_WINDOWS);
        if hour != self.hour {
            self.hour = hour;
            self.peak = RequestUnits::ZERO;
        }
    }

    fn end_stretch(&mut self) {
        let sum = (0..STRETCH_WINDOWS)
            .fold(0, |sum: u64, back| sum.saturating_add(self.back(back).charge.hundredths()));
        self.peak = self.peak.max(RequestUnits::from_hundredths(sum / STRETCH_WINDOWS as u64));
    }

    fn running(&mut self) -> &mut Stretch {
        &mut self.ring[self.place]
    }

    fn back(&self, seconds: usize) -> Stretch {
        self.ring[(self.place + RING - seconds) % RING]
    }

    fn minutes_back(&self, minutes: usize) -> Stretch {
        self.minutes[(self.minute_place + MINUTES - minutes) % MINUTES]
    }
}

#[cfg(test)]
mod tests;
