//! What is told on a terminal, and elsewhere.

use std::io;
use std::sync::{Arc, Mutex};

use indicatif::TermLike;

use super::*;

/// Bytes that tests can look at while they are written.
#[derive(Debug, Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Written {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A terminal of which the line with the cursor is kept.
#[derive(Debug, Clone, Default)]
struct Terminal {
    line: Arc<Mutex<String>>,
    line_ends: Arc<Mutex<usize>>,
}

impl Terminal {
    fn line(&self) -> String {
        self.line.lock().unwrap().trim_end().to_owned()
    }
}

impl TermLike for Terminal {
    fn width(&self) -> u16 {
        60
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write_str(text)?;
        *self.line_ends.lock().unwrap() += 1;
        Ok(())
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.line.lock().unwrap().push_str(text);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.line.lock().unwrap().clear();
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn step(text: impl Into<String>, part: Option<f64>) -> Step {
    Step { text: text.into(), part }
}

fn plain(lines: PlainLines) -> (Progress, Written) {
    let written = Written::default();
    (Progress::new(None, lines, Box::new(written.clone())), written)
}

fn on_terminal() -> (Progress, Terminal, Written) {
    let (terminal, written) = (Terminal::default(), Written::default());
    let target = ProgressDrawTarget::term_like_with_hz(Box::new(terminal.clone()), u8::MAX);
    (Progress::new(Some(target), PlainLines::Never, Box::new(written.clone())), terminal, written)
}

#[test]
fn plain_lines_come_now_and_then() {
    let (mut progress, written) = plain(PlainLines::Every(seconds(10)));
    for second in 5..40 {
        progress.show(seconds(second), || step(format!("at {second}"), None));
    }
    assert_eq!(written.text(), "at 15\nat 25\nat 35\n");
    progress.finish(&step("the end", None));
    drop(progress);
    assert_eq!(written.text(), "at 15\nat 25\nat 35\nthe end\n");
}

#[test]
fn plain_lines_are_few_where_percents_are_told() {
    let (mut progress, written) = plain(PlainLines::EachPercent(10));
    for percent in [0, 5, 9, 10, 10, 19, 55, 64, 100] {
        progress.show(seconds(1), || step(format!("{percent} %"), Some(f64::from(percent) / 100.0)));
    }
    // It was told of already.
    progress.finish(&step("100 %", Some(1.0)));
    assert_eq!(written.text(), "0 %\n10 %\n55 %\n100 %\n");
}

#[test]
fn nothing_is_told_where_nobody_wants_it() {
    let (mut progress, written) = plain(PlainLines::Never);
    progress.show(seconds(1), || panic!("not asked for"));
    progress.finish(&step("the end", None));
    assert_eq!(written.text(), "");
    let mut progress = Progress::silent();
    progress.show(seconds(100), || panic!("not asked for"));
    progress.finish(&step("the end", Some(1.0)));
}

#[test]
fn a_terminal_has_one_line_which_goes() {
    let (mut progress, terminal, written) = on_terminal();
    progress.show(seconds(1), || step("reading: 1 item", None));
    assert_eq!(terminal.line(), "reading: 1 item");
    // Sooner than eyes can follow.
    progress.show(seconds(1) + Duration::from_millis(1), || panic!("not asked for"));
    progress.show(seconds(2), || step("reading: 2 items", Some(0.5)));
    let line = terminal.line();
    assert_eq!(line, "[=====>    ] reading: 2 items");
    progress
        .show(seconds(3), || step("a text that is longer than the terminal is wide, by quite a lot", None));
    assert!(terminal.line().chars().count() <= 60, "{:?}", terminal.line());
    drop(progress);
    assert_eq!((terminal.line().as_str(), *terminal.line_ends.lock().unwrap()), ("", 0));
    assert_eq!(written.text(), "");
}

#[test]
fn a_terminal_keeps_the_last_line_where_it_is_left() {
    let (mut progress, terminal, written) = on_terminal();
    progress.show(seconds(1), || step("reading: 1 item", None));
    progress.finish(&step("read: 7 items", None));
    drop(progress);
    // And the next line is free.
    assert_eq!((terminal.line().as_str(), written.text().as_str()), ("read: 7 items", "\n"));
    let (mut progress, terminal, _) = on_terminal();
    progress.finish(&step("at once", None));
    assert_eq!(terminal.line(), "at once");
    let (mut progress, terminal, written) = on_terminal();
    progress.leave();
    drop(progress);
    assert_eq!((terminal.line().as_str(), written.text().as_str()), ("", ""));
}
