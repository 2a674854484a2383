//! What the operating system says about this process.

use std::time::Duration;

/// Figures of this process; `None` where the system does not tell.
pub(crate) struct ProcessFigures {
    /// Bytes of memory that are really there.
    pub(crate) resident_bytes: Option<u64>,
    /// Open files and sockets.
    pub(crate) open_files: Option<u64>,
    /// Processor time since the start, of all threads, in the program and in the system on its behalf. What worker
    /// processes of scripts compute is theirs.
    pub(crate) cpu: Option<Duration>,
}

/// Asks the operating system.
pub(crate) fn figures() -> ProcessFigures {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    ProcessFigures {
        resident_bytes: status.as_deref().and_then(resident_bytes),
        open_files: std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count() as u64),
        cpu: std::fs::read_to_string("/proc/self/stat").ok().and_then(|stat| cpu(&stat, ticks_per_second()?)),
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// Reads `utime` and `stime`, the fields 14 and 15 of `/proc/self/stat`.
fn cpu(stat: &str, ticks_per_second: u64) -> Option<Duration> {
    // The second field is the program's name in parentheses, which may have spaces and parentheses of its own.
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut fields = behind_name.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let ticks = ticks()?.checked_add(ticks()?)?;
    Some(Duration::from_secs_f64(ticks as f64 / ticks_per_second as f64))
}

#[cfg(unix)]
fn ticks_per_second() -> Option<u64> {
    Some(rustix::param::clock_ticks_per_second()).filter(|ticks| *ticks > 0)
}

#[cfg(not(unix))]
fn ticks_per_second() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resident_memory_is_read() {
        assert_eq!(resident_bytes("Name:\tarmilla\nVmRSS:\t   12 kB\nThreads: 3\n"), Some(12_288));
        assert_eq!(resident_bytes("Name:\tarmilla\n"), None);
        assert_eq!(resident_bytes("VmRSS: many kB\n"), None);
    }

    #[test]
    fn processor_time_is_read() {
        let stat = "7 (armilla) S 1 7 7 0 -1 4194560 9 8 7 6 150 75 3 4 20 0 9 0 12345";
        assert_eq!(cpu(stat, 100), Some(Duration::from_millis(2_250)));
        assert_eq!(cpu(stat, 1_000), Some(Duration::from_millis(225)));
        let renamed = stat.replace("(armilla)", "(an (odd) name 1 2 3)");
        assert_eq!(cpu(&renamed, 100), Some(Duration::from_millis(2_250)));
        for broken in
            ["", "7 armilla S 1", "7 (armilla) S 1 7 7 0 -1 4194560 9 8 7 6 150", &stat.replace("75", "x")]
        {
            assert_eq!(cpu(broken, 100), None, "{broken}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn processor_time_grows_with_work() {
        let begin = figures().cpu.unwrap();
        let mut sum = 0u64;
        // A tick is a hundredth of a second on most machines.
        while figures().cpu.unwrap() < begin + Duration::from_millis(20) {
            sum = (0..100_000u64).fold(sum, |sum, number| std::hint::black_box(sum ^ number));
        }
        assert!(figures().cpu.unwrap() >= begin + Duration::from_millis(20), "{sum}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_and_files() {
        let figures = figures();
        assert!(figures.resident_bytes.unwrap() > 100_000);
        assert!(figures.open_files.unwrap() >= 3);
    }
}
