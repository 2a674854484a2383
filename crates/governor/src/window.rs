//! Which window it is, for clocks that may also go back.

use crate::limits::{STEP_BACK_WINDOWS_MAX, WINDOW_MS};

/// The running window, in whole seconds since 1970.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Window {
    // None until the first call.
    second: Option<i64>,
}

impl Window {
    /// Moves on to the window of `now_ms` and returns how many windows were begun since; a clock that went
    /// back begins none.
    pub(crate) fn advance(&mut self, now_ms: i64) -> u64 {
        let now = now_ms.div_euclid(WINDOW_MS);
        let Some(running) = self.second else {
            self.second = Some(now);
            return 0;
        };
        if now > running {
            self.second = Some(now);
            return now.abs_diff(running);
        }
        // A clock that was set must not stand still here until it is where it was before.
        if running.saturating_sub(now) > STEP_BACK_WINDOWS_MAX {
            self.second = Some(now);
        }
        0
    }

    /// The running window.
    pub(crate) fn second(self) -> i64 {
        self.second.unwrap_or(0)
    }

    /// Milliseconds from `now_ms` to the start of the window `windows` after the running one.
    pub(crate) fn ms_until(self, windows: u64, now_ms: i64) -> u64 {
        let start = i128::from(self.second()) + i128::from(windows);
        let wait = start * i128::from(WINDOW_MS) - i128::from(now_ms);
        u64::try_from(wait.max(0)).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_begin_once_and_never_when_the_clock_goes_back() {
        let mut window = Window::default();
        let steps = [
            // now, begun, running after
            (10_999, 0, 10),
            (11_000, 1, 11),
            (11_999, 0, 11),
            (10_999, 0, 11),
            (6_000, 0, 11), // five back: at the bound, held
            (11_500, 0, 11),
            (5_999, 0, 5), // six back: the clock was set
            (7_000, 2, 7),
            (-1, 0, -1),
            (0, 1, 0),
            (i64::MIN, 0, i64::MIN.div_euclid(1_000)),
            (i64::MAX, 18_446_744_073_709_551, i64::MAX / 1_000),
        ];
        for (index, (now, begun, running)) in steps.into_iter().enumerate() {
            assert_eq!((window.advance(now), window.second()), (begun, running), "step {index}: {now}");
        }
    }

    #[test]
    fn time_to_a_later_window_does_not_overflow() {
        let mut window = Window::default();
        window.advance(10_250);
        for (windows, now, wait) in
            [(1, 10_250, 750), (2, 10_250, 1_750), (1, 9_900, 1_100), (1, 20_000, 0), (u64::MAX, 0, u64::MAX)]
        {
            assert_eq!(window.ms_until(windows, now), wait, "{windows} windows after {now}");
        }
    }
}
