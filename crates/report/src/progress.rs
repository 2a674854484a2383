//! How far something is, on standard error: one line that changes on a terminal, a plain line now and then elsewhere.
//!
//! Time is an argument, by whatever clock the caller has. That nobody reads what is told is no reason to stop.
//!
//! Invariants:
//! * a terminal is left without a trace of the line, unless the caller leaves the last one;
//! * where lines cannot be changed, nothing is written but whole lines.

use std::io::{IsTerminal as _, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::limits::{PROGRESS_BAR_STEPS, PROGRESS_TERMINAL_PERIOD};

/// The line on a terminal where it is known how much there is; the text is cut where the terminal ends.
const WITH_BAR: &str = "[{bar:10}] {wide_msg}";

/// The same where it is not known.
const WITHOUT_BAR: &str = "{wide_msg}";

/// What is told where lines cannot be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainLines {
    /// Nothing.
    Never,
    /// A line after every such time.
    Every(Duration),
    /// A line at the beginning, and then whenever so many more of a hundred parts are done.
    EachPercent(u8),
}

/// How far it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What to tell people.
    pub text: String,
    /// How much is done, from 0 to 1, if that is known.
    pub part: Option<f64>,
}

/// Shows how far something is.
pub struct Progress {
    /// The line on a terminal.
    bar: Option<ProgressBar>,
    has_style_with_bar: bool,
    plain: PlainLines,
    out: Box<dyn Write + Send>,
    /// When it was told last, or when it began.
    told_at: Option<Duration>,
    told_percent: Option<u8>,
    has_told: bool,
}

impl Progress {
    /// Starts with nothing shown.
    pub fn on_stderr(plain: PlainLines) -> Progress {
        let target = std::io::stderr().is_terminal().then(ProgressDrawTarget::stderr);
        Progress::new(target, plain, Box::new(std::io::stderr()))
    }

    /// Shows nothing, not even on a terminal.
    pub fn silent() -> Progress {
        Progress::new(None, PlainLines::Never, Box::new(std::io::sink()))
    }

    fn new(terminal: Option<ProgressDrawTarget>, plain: PlainLines, out: Box<dyn Write + Send>) -> Progress {
        let bar = terminal.map(|target| {
            let bar = ProgressBar::with_draw_target(Some(PROGRESS_BAR_STEPS), target);
            bar.set_style(style(WITHOUT_BAR));
            bar
        });
        Progress {
            bar,
            has_style_with_bar: false,
            plain,
            out,
            told_at: None,
            told_percent: None,
            has_told: false,
        }
    }

    /// Shows how far it is at a time, if that is worth it; `step` is asked only then.
    pub fn show(&mut self, now: Duration, step: impl FnOnce() -> Step) {
        let since = self.told_at.map(|told_at| now.saturating_sub(told_at));
        let is_due = match (&self.bar, self.plain, since) {
            (Some(_), _, since) => since.is_none_or(|since| since >= PROGRESS_TERMINAL_PERIOD),
            (None, PlainLines::Never, _) => false,
            (None, PlainLines::Every(period), Some(since)) => since >= period,
            (None, PlainLines::Every(_), None) => {
                // What is over soon is not worth a line.
                self.told_at = Some(now);
                false
            }
            (None, PlainLines::EachPercent(_), _) => true,
        };
        if is_due {
            let step = step();
            if self.is_news(&step) {
                self.told_at = Some(now);
                self.tell(&step);
            }
        }
    }

    /// Shows how far it came in the end, and leaves that there.
    pub fn finish(&mut self, step: &Step) {
        let is_told = self.bar.is_some() || self.plain != PlainLines::Never;
        if is_told && self.is_news(step) {
            self.tell(step);
        }
        self.leave();
    }

    /// Leaves what was shown last.
    pub fn leave(&mut self) {
        if let Some(bar) = self.bar.take()
            && self.has_told
        {
            bar.abandon();
            // The line is left with the cursor at its end, and what comes next is for the next one.
            let _ = writeln!(self.out).and_then(|()| self.out.flush());
        }
    }

    /// Whether a line about a step would say more than the last.
    fn is_news(&self, step: &Step) -> bool {
        match (&self.bar, self.plain, self.told_percent) {
            (None, PlainLines::EachPercent(more), Some(told)) => {
                percent(step).is_some_and(|percent| percent >= told.saturating_add(more))
            }
            _ => true,
        }
    }

    fn tell(&mut self, step: &Step) {
        self.told_percent = percent(step);
        self.has_told = true;
        let Some(bar) = &self.bar else {
            let _ = writeln!(self.out, "{}", step.text).and_then(|()| self.out.flush());
            return;
        };
        if step.part.is_some() != self.has_style_with_bar {
            self.has_style_with_bar = step.part.is_some();
            bar.set_style(style(if self.has_style_with_bar { WITH_BAR } else { WITHOUT_BAR }));
        }
        // Each of the two draws; what there is to read comes first.
        bar.set_message(step.text.clone());
        if let Some(part) = step.part {
            bar.set_position((part.clamp(0.0, 1.0) * PROGRESS_BAR_STEPS as f64) as u64);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed").progress_chars("=> ")
}

fn percent(step: &Step) -> Option<u8> {
    step.part.map(|part| (part.clamp(0.0, 1.0) * 100.0 + 1e-9) as u8)
}

#[cfg(test)]
mod tests;
