//! How far a transfer is, in words.

use std::fmt::Write as _;
use std::time::Duration;

use armilla_report::{PlainLines, Progress};

use crate::limits::PROGRESS_LINE_PERIOD;
use crate::options::Choice;

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

/// Returns what shows as much as is asked for.
pub(crate) fn progress(choice: Choice) -> Progress {
    match choice {
        Choice::On => Progress::on_stderr(PlainLines::Every(PROGRESS_LINE_PERIOD)),
        Choice::Off => Progress::silent(),
        Choice::Auto => Progress::on_stderr(PlainLines::Never),
    }
}

impl Step {
    /// Returns what is shown of it.
    pub(crate) fn shown(self, verb: &str) -> armilla_report::Step {
        armilla_report::Step { text: line(verb, self), part: self.part }
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
