//! What the operating system says of a process: processor time, memory, open files.

use std::time::Duration;

use anyhow::{Context, Result, anyhow};

/// Ticks of processor time in a second, as `/proc` counts them on every Linux of today.
const TICKS_PER_SECOND: u64 = 100;

/// Memory of a process, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Memory {
    /// Everything resident.
    pub resident: u64,
    /// The part that no file backs.
    pub anonymous: u64,
}

/// Returns the processor time that a process has used, all its threads together.
pub fn cpu_time(pid: u32) -> Result<Duration> {
    let text = read(pid, "stat")?;
    let stat = Stat::parse(&text).with_context(|| format!("/proc/{pid}/stat has an unknown form"))?;
    Ok(ticks_to_time(stat.ticks))
}

/// Returns the processor time of a process and its children, those that have ended included.
pub fn family_cpu_time(pid: u32) -> Result<Duration> {
    let text = read(pid, "stat")?;
    let own = Stat::parse(&text).with_context(|| format!("/proc/{pid}/stat has an unknown form"))?;
    let children_ticks: u64 = children(pid)?.iter().map(|(_, stat)| stat.ticks).sum();
    Ok(ticks_to_time(own.ticks + own.ended_children_ticks + children_ticks))
}

/// Returns what a process and its children hold in memory, in bytes. What they share counts for each.
pub fn family_resident(pid: u32) -> Result<u64> {
    let own = memory(pid)?.resident;
    // A child that has ended meanwhile holds nothing.
    let of_children = children(pid)?.into_iter().filter_map(|(child, _)| memory(child).ok());
    Ok(own + of_children.map(|memory| memory.resident).sum::<u64>())
}

/// Returns the children that a process has now.
fn children(pid: u32) -> Result<Vec<(u32, Stat)>> {
    let mut children = Vec::new();
    for entry in std::fs::read_dir("/proc").context("cannot list /proc")?.flatten() {
        let Some(child) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        // A process may be gone by now; then its parent has its time, as of the next look.
        let Some(stat) = read(child, "stat").ok().and_then(|text| Stat::parse(&text)) else { continue };
        if stat.parent == pid {
            children.push((child, stat));
        }
    }
    Ok(children)
}

/// Returns the memory that a process holds.
pub fn memory(pid: u32) -> Result<Memory> {
    let text = read(pid, "status")?;
    let field =
        |name: &str| kib_field(&text, name).ok_or_else(|| anyhow!("/proc/{pid}/status has no {name}"));
    Ok(Memory { resident: field("VmRSS:")?, anonymous: field("RssAnon:")? })
}

/// Returns how many files and sockets a process has open.
pub fn open_files(pid: u32) -> Result<usize> {
    let path = format!("/proc/{pid}/fd");
    Ok(std::fs::read_dir(&path).with_context(|| format!("cannot list {path}"))?.count())
}

/// Returns how many threads a process has.
pub fn threads(pid: u32) -> Result<usize> {
    let path = format!("/proc/{pid}/task");
    Ok(std::fs::read_dir(&path).with_context(|| format!("cannot list {path}"))?.count())
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
}

/// What `/proc/<pid>/stat` says of a process's time.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: u32,
    /// Of the process itself.
    ticks: u64,
    /// Of its children that have ended.
    ended_children_ticks: u64,
}

impl Stat {
    fn parse(stat: &str) -> Option<Stat> {
        // The name of the program is in brackets and may hold anything, brackets and spaces included.
        let (_, rest) = stat.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        Some(Stat {
            parent: u32::try_from(number(1)?).ok()?,
            ticks: number(11)? + number(12)?,
            ended_children_ticks: number(13)? + number(14)?,
        })
    }
}

fn ticks_to_time(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND)
}

fn kib_field(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find(|line| line.starts_with(name))?;
    let kib: u64 = line.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time() {
        let stat = "123 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 7 3 20 0 9 0 1";
        assert_eq!(Stat::parse(stat), Some(Stat { parent: 1, ticks: 300, ended_children_ticks: 10 }));
        assert_eq!(ticks_to_time(300), Duration::from_secs(3));
        assert_eq!(Stat::parse("123 (a) S 1"), None);
    }

    #[test]
    fn memory_fields() {
        let status = "Name:\tarmilla\nVmRSS:\t   2048 kB\nRssAnon:\t 1024 kB\n";
        assert_eq!(kib_field(status, "VmRSS:"), Some(2 * 1024 * 1024));
        assert_eq!(kib_field(status, "RssAnon:"), Some(1024 * 1024));
        assert_eq!(kib_field(status, "VmSwap:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_figures() {
        let pid = std::process::id();
        assert!(cpu_time(pid).unwrap() <= family_cpu_time(pid).unwrap());
        assert!(memory(pid).unwrap().resident > 0);
        assert!(family_resident(pid).unwrap() > 0);
        assert!(open_files(pid).unwrap() > 0);
        assert!(threads(pid).unwrap() > 0);
    }
}
