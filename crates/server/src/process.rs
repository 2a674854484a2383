//! What the operating system says about this process.

/// Figures of this process; `None` where the system does not tell.
pub(crate) struct ProcessFigures {
    /// Bytes of memory that are really there.
    pub(crate) resident_bytes: Option<u64>,
    /// Open files and sockets.
    pub(crate) open_files: Option<u64>,
}

/// Asks the operating system.
pub(crate) fn figures() -> ProcessFigures {
    let status = std::fs::read_to_string("/proc/self/status").ok();
    ProcessFigures {
        resident_bytes: status.as_deref().and_then(resident_bytes),
        open_files: std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count() as u64),
    }
}

fn resident_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
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

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_memory_and_files() {
        let figures = figures();
        assert!(figures.resident_bytes.unwrap() > 100_000);
        assert!(figures.open_files.unwrap() >= 3);
    }
}
