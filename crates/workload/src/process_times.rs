//! Processor time of a process and of those that it started, as `/proc` tells it.
//!
//! Invariant: the time of a child that ends meanwhile is counted, and counted once. The system hands it to the parent
//! when that takes notice of the end, so the parent is looked at before and behind the children, and all of them again
//! where it has been handed something in between.

use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the system tells of processes.
const PROC: &str = "/proc";

/// How often a family is looked at before it is given up: one whose processes end that fast has no time to tell.
const LOOKS_MAX: usize = 10;

/// A process and its children.
#[derive(Debug, Clone)]
pub(crate) struct ProcessFamily {
    proc: PathBuf,
    pid: u32,
    ticks_per_second: u64,
}

impl ProcessFamily {
    /// Returns the family of a process.
    pub(crate) fn of(pid: u32) -> ProcessFamily {
        let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
        ProcessFamily { proc: PROC.into(), pid, ticks_per_second }
    }

    /// Returns the processor time that all have used, those included that have ended; nothing where it is not told.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let ticks = family_ticks(|| Times::read(&self.proc, self.pid), || self.children_ticks())?;
        Some(Duration::from_secs_f64(ticks as f64 / self.ticks_per_second as f64))
    }

    fn children_ticks(&self) -> u64 {
        let entries = std::fs::read_dir(&self.proc).into_iter().flatten().flatten();
        let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let all = pids.filter_map(|pid| Times::read(&self.proc, pid));
        // The children of a child are its own business until it has ended; PostgreSQL's have none.
        all.filter(|times| times.parent == self.pid).map(|times| times.own + times.ended_children).sum()
    }
}

/// What is told of one process, in ticks of the system's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Times {
    parent: u32,
    own: u64,
    ended_children: u64,
}

impl Times {
    fn read(proc: &Path, pid: u32) -> Option<Times> {
        // A process may be gone by now.
        let text = std::fs::read_to_string(proc.join(pid.to_string()).join("stat")).ok()?;
        Times::parse(&text)
    }

    /// Reads the fields 4 (the parent) and 14 to 17 (`utime`, `stime`, `cutime`, `cstime`).
    fn parse(stat: &str) -> Option<Times> {
        // The second field is the program's name in parentheses, which may have spaces and parentheses of its own.
        let (_, behind_name) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = behind_name.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Times {
            parent: u32::try_from(number(1)?).ok()?,
            own: number(11)?.checked_add(number(12)?)?,
            ended_children: number(13)?.checked_add(number(14)?)?,
        })
    }
}

fn family_ticks(parent: impl Fn() -> Option<Times>, children: impl Fn() -> u64) -> Option<u64> {
    let mut before = parent()?;
    for _ in 0..LOOKS_MAX {
        let of_children = children();
        let behind = parent()?;
        if behind.ended_children == before.ended_children {
            return Some(behind.own + behind.ended_children + of_children);
        }
        before = behind;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// A folder like `/proc`, with the files that are given.
    fn proc(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (pid, stat) in files {
            let own = folder.path().join(pid);
            std::fs::create_dir(&own).unwrap();
            std::fs::write(own.join("stat"), stat).unwrap();
        }
        folder
    }

    fn stat(pid: u32, name: &str, parent: u32, times: &str) -> String {
        format!("{pid} ({name}) S {parent} 7 7 0 -1 4194560 9 8 7 6 {times} 20 0 9 0 12345 1 2 3\n")
    }

    #[test]
    fn the_time_of_a_family() {
        let files = [
            ("70", stat(70, "postgres", 1, "10 5 200 100")),
            ("71", stat(71, "postgres: checkpointer ", 70, "30 10 0 0")),
            ("72", stat(72, "an (odd) name 1 2 3", 70, "1 1 0 0")),
            // Somebody else's, one that is not understood, and what is no process at all.
            ("73", stat(73, "postgres", 69, "1000 1000 1000 1000")),
            ("74", "74 (postgres) S 70".to_owned()),
            ("self", stat(70, "postgres", 70, "1000 1000 0 0")),
        ];
        let files: Vec<_> = files.iter().map(|(pid, text)| (*pid, text.as_str())).collect();
        let folder = proc(&files);
        for (pid, ticks_per_second, expected_ms) in [
            (70, 100, Some(3_570)),
            (70, 1_000, Some(357)),
            (71, 100, Some(400)),
            (99, 100, None),
            (74, 100, None),
        ] {
            let family = ProcessFamily { proc: folder.path().into(), pid, ticks_per_second };
            assert_eq!(family.cpu(), expected_ms.map(Duration::from_millis), "{pid}");
        }
    }

    #[test]
    fn a_child_that_ends_meanwhile_is_counted_once() {
        // It had 40 ticks; the parent is handed them after the children were looked at for the first time.
        let looks = Cell::new(0);
        let parent = || {
            looks.set(looks.get() + 1);
            let ended_children = if looks.get() == 1 { 0 } else { 40 };
            Some(Times { parent: 1, own: 5, ended_children })
        };
        let children = || if looks.get() == 1 { 40 } else { 0 };
        assert_eq!(family_ticks(parent, children), Some(45));
        // One that loses children all the time has no figure.
        let parent = || {
            looks.set(looks.get() + 1);
            Some(Times { parent: 1, own: 5, ended_children: looks.get() })
        };
        assert_eq!(family_ticks(parent, || 0), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_a_time() {
        let family = ProcessFamily::of(std::process::id());
        let begin = family.cpu().unwrap();
        let mut sum = 0u64;
        while family.cpu().unwrap() < begin + Duration::from_millis(20) {
            sum = (0..100_000u64).fold(sum, |sum, number| std::hint::black_box(sum ^ number));
        }
        assert!(family.cpu().unwrap() >= begin + Duration::from_millis(20), "{sum}");
    }
}
