//! How many files and sockets the process may have open, and how many of them are for connections.
//!
//! A store that finds none left cannot write what it has to. So as many are asked for as will be needed, and where the
//! system gives fewer, it is connections that are done without.

use crate::limits::DESCRIPTORS_RESERVED;

/// Asks the system for as many as so many connections need; returns how many connections there can be.
pub(crate) fn connections(connections_max: u32) -> u32 {
    let needed = u64::from(connections_max) + DESCRIPTORS_RESERVED;
    let Some(limit) = raise(needed) else { return connections_max };
    let connections = connections_of(limit, connections_max);
    if connections < connections_max {
        tracing::info!(
            "at most {connections} connections at once, not {connections_max}: the system lets this process open \
             {limit} files and sockets (raise it with ulimit -n {needed})"
        );
    }
    connections
}

/// Returns how many connections there can be with so many descriptors.
fn connections_of(limit: u64, connections_max: u32) -> u32 {
    let reserved = DESCRIPTORS_RESERVED.min(limit / 2);
    let left = u32::try_from(limit - reserved).unwrap_or(u32::MAX);
    connections_max.min(left).max(1)
}

/// Raises the soft limit as far as needed and allowed; returns what holds, unless there is none.
#[cfg(unix)]
fn raise(needed: u64) -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    if current >= needed {
        return Some(current);
    }
    let wanted = limit.maximum.map_or(needed, |maximum| needed.min(maximum)).max(current);
    let raised = Rlimit { current: Some(wanted), maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => Some(wanted),
        // Some systems refuse what they said they allow; then the old one holds.
        Err(_) => Some(current),
    }
}

#[cfg(not(unix))]
fn raise(_needed: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_kept_for_the_store() {
        for (limit, connections_max, expected) in [
            (1_000_000, 10_000, 10_000),
            (10_512, 10_000, 10_000),
            (10_511, 10_000, 9_999),
            (1_024, 10_000, 512),
            (1_023, 10_000, 512),
            (256, 10_000, 128),
            (256, 100, 100),
            (1, 10, 1),
            (0, 10, 1),
            (u64::MAX, u32::MAX, u32::MAX),
        ] {
            assert_eq!(connections_of(limit, connections_max), expected, "{limit} {connections_max}");
        }
    }
}
