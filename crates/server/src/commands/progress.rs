//! How far something is, on standard error: one line that changes on a terminal, few lines otherwise.

use std::io::{IsTerminal as _, Write};

/// Percent between two lines where lines cannot be overwritten.
const LINE_STEP_PERCENT: u8 = 10;

/// Shows the progress of one task.
pub(crate) struct Progress<W: Write> {
    out: W,
    overwrites: bool,
    what: String,
    shown: Option<u8>,
}

impl Progress<std::io::Stderr> {
    /// Starts with nothing shown.
    pub(crate) fn on_stderr(what: String) -> Progress<std::io::Stderr> {
        let out = std::io::stderr();
        let overwrites = out.is_terminal();
        Progress { out, overwrites, what, shown: None }
    }
}

impl<W: Write> Progress<W> {
    /// Shows how far the task is, if that is worth a line. That nobody reads it is no reason to stop.
    pub(crate) fn show(&mut self, percent: u8) {
        let is_news = match self.shown {
            None => true,
            Some(shown) if self.overwrites => shown != percent,
            Some(shown) => percent >= shown.saturating_add(LINE_STEP_PERCENT),
        };
        if !is_news {
            return;
        }
        self.shown = Some(percent);
        let _ = match self.overwrites {
            true => write!(self.out, "\r{} {percent:3} %", self.what),
            false => writeln!(self.out, "{} {percent} %", self.what),
        };
        let _ = self.out.flush();
    }

    /// Leaves the line that was overwritten.
    pub(crate) fn finish(mut self) {
        if self.overwrites && self.shown.is_some() {
            let _ = writeln!(self.out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(overwrites: bool, percents: &[u8]) -> String {
        let mut out = Vec::new();
        let mut progress = Progress { out: &mut out, overwrites, what: "splitting".to_owned(), shown: None };
        for percent in percents {
            progress.show(*percent);
        }
        progress.finish();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_are_few_and_a_terminal_has_one() {
        assert_eq!(
            shown(false, &[0, 5, 9, 10, 10, 19, 55, 100]),
            "splitting 0 %\nsplitting 10 %\nsplitting 55 %\nsplitting 100 %\n"
        );
        assert_eq!(shown(true, &[0, 5, 5, 100]), "\rsplitting   0 %\rsplitting   5 %\rsplitting 100 %\n");
        assert_eq!(shown(true, &[]), "");
    }
}
