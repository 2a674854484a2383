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
    parse_cpu_time(&text).with_context(|| format!("/proc/{pid}/stat has an unknown form"))
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

fn parse_cpu_time(stat: &str) -> Option<Duration> {
    // The name of the program is in brackets and may hold anything, brackets and spaces included.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Duration::from_millis((user + system) * 1_000 / TICKS_PER_SECOND))
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
        let stat = "123 (a) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 9 0 1";
        assert_eq!(parse_cpu_time(stat), Some(Duration::from_secs(3)));
        assert_eq!(parse_cpu_time("123 (a) S 1"), None);
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
        assert!(cpu_time(pid).is_ok());
        assert!(memory(pid).unwrap().resident > 0);
        assert!(open_files(pid).unwrap() > 0);
        assert!(threads(pid).unwrap() > 0);
    }
}
