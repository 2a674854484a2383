//! How far a transfer is, on standard error: one line that changes on a terminal, few lines otherwise.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write as _};
use std::time::Duration;

use crate::limits::{PROGRESS_LINE_PERIOD, PROGRESS_PERIOD};
use crate::options::Choice;

/// Shows progress.
pub(crate) struct Progress {
    is_shown: bool,
    overwrites: bool,
    width: usize,
}

/// How far it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    /// Items so far.
    pub(crate) items: u64,
    /// How much of the input is read, from 0 to 1, if that is known.
    pub(crate) part: Option<f64>,
    /// Since the beginning.
    pub(crate) elapsed: Duration,
}

impl Progress {
    /// Shows what is asked for.
    pub(crate) fn new(choice: Choice) -> Progress {
        let is_terminal = std::io::stderr().is_terminal();
        let is_shown = match choice {
            Choice::On => true,
            Choice::Off => false,
            Choice::Auto => is_terminal,
        };
        Progress { is_shown, overwrites: is_terminal, width: 0 }
    }

    /// Returns how often it is to be shown.
    pub(crate) fn period(&self) -> Duration {
        if self.overwrites { PROGRESS_PERIOD } else { PROGRESS_LINE_PERIOD }
    }

    /// Shows how far it is. That nobody reads it is no reason to stop.
    pub(crate) fn show(&mut self, verb: &str, step: Step) {
        if !self.is_shown {
            return;
        }
        let text = line(verb, step);
        let mut out = std::io::stderr().lock();
        let _ = if self.overwrites {
            let width = self.width.max(text.len());
            write!(out, "\r{text:width$}")
        } else {
            writeln!(out, "{text}")
        };
        self.width = text.len();
        let _ = out.flush();
    }

    /// Leaves the line that was overwritten.
    pub(crate) fn finish(&mut self) {
        if self.is_shown && self.overwrites && self.width > 0 {
            let _ = writeln!(std::io::stderr());
        }
    }
}

fn line(verb: &str, step: Step) -> String {
    let seconds = step.elapsed.as_secs_f64();
    let rate = if seconds > 0.0 { step.items as f64 / seconds } else { 0.0 };
    let mut text = format!("{verb} {} items, {rate:.0} a second", step.items);
    if let Some(part) = step.part.filter(|part| *part > 0.0) {
        let part = part.min(1.0);
        let left = seconds / part * (1.0 - part);
        // Writing to a string cannot fail.
        let _ = write!(text, ", {:.0} %, about {left:.0} s left", 100.0 * part);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let step = |items, part, seconds| Step { items, part, elapsed: Duration::from_secs(seconds) };
        for (step, expected) in [
            (step(0, None, 0), "imported 0 items, 0 a second"),
            (step(1_000, Some(0.25), 10), "imported 1000 items, 100 a second, 25 %, about 30 s left"),
            (step(1_000, Some(2.0), 10), "imported 1000 items, 100 a second, 100 %, about 0 s left"),
            (step(7, Some(0.0), 7), "imported 7 items, 1 a second"),
        ] {
            assert_eq!(line("imported", step), expected);
        }
    }
}
