//! How far a command is, told to people by the clock of its environment.

use armilla_env::Env;
use armilla_report::{PlainLines, Progress, Step};

use crate::limits::PROGRESS_PERIOD;

/// Says how far something is, now and then. What it showed on a terminal is gone when it is dropped.
pub(crate) struct Telling {
    env: Env,
    progress: Progress,
    bytes: u64,
}

impl Telling {
    pub(crate) fn new(env: &Env) -> Telling {
        let progress = Progress::on_stderr(PlainLines::Every(PROGRESS_PERIOD));
        Telling { env: env.clone(), progress, bytes: 0 }
    }

    /// Tells something of which nobody knows how much there is.
    pub(crate) fn tell(&mut self, text: impl FnOnce() -> String) {
        self.progress.show(self.env.clock.elapsed(), || Step { text: text(), part: None });
    }

    /// Tells how much of a whole is done.
    pub(crate) fn tell_part(&mut self, done: u64, whole: u64, text: impl FnOnce() -> String) {
        let part = if whole > 0 { done as f64 / whole as f64 } else { 1.0 };
        self.progress.show(self.env.clock.elapsed(), || Step { text: text(), part: Some(part) });
    }

    /// So many more bytes were read, these of a file.
    pub(crate) fn read(&mut self, file: &str, bytes: u64) {
        self.bytes += bytes;
        let read = self.bytes;
        self.tell(|| format!("reading {file}: {read} bytes so far"));
    }

    /// So many items were checked somewhere.
    pub(crate) fn checked(&mut self, place: &str, items: u64) {
        self.tell(|| format!("checking {place}: {items} items"));
    }
}
