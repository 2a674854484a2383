//! Bounds of what the demonstration takes, keeps and waits for.

use std::time::Duration;

/// Users at most: names have nine digits, and a check keeps a few dozen bytes of each post.
pub(crate) const USERS_MAX: u32 = 10_000_000;

/// Physical partitions at most: 10,000,000 RU/s.
pub(crate) const PARTITIONS_MAX: u32 = 1_000;

/// Connections at most.
pub(crate) const CONNECTIONS_MAX: u32 = 256;

/// Rounds of a measurement at most.
pub(crate) const ROUNDS_MAX: u32 = 1_000_000;

/// Writes of the live phase at most.
pub(crate) const LIVE_MAX: u32 = 10_000_000;

/// How long one operation of one version is measured at most.
pub(crate) const CELL_TIME_MAX: Duration = Duration::from_secs(8);

/// Megabytes of the write buffer of a server of our own: it begins with a load.
pub(crate) const WRITE_BUFFER_MB: u32 = 256;

/// The same where it holds a good part of all the data, so that less is merged again: a fifth less time to load.
pub(crate) const WRITE_BUFFER_MB_OF_FEW: u32 = 1_024;

/// Users up to whom that is so.
pub(crate) const USERS_FEW_MAX: u32 = 2_000;

/// Physical partitions of a server of our own that are loaded at a time: it does not hold back what is beyond their
/// throughput, as others may.
pub(crate) const LOADED_AT_ONCE: usize = 8;

/// How long a server of our own may take to put away what was loaded before it is measured all the same.
pub(crate) const SETTLE_MAX: Duration = Duration::from_secs(120);

/// How often it is asked whether it is done.
pub(crate) const SETTLE_POLL_PERIOD: Duration = Duration::from_millis(200);

/// So often in a row it has to have nothing to do: one piece of work may bring about the next.
pub(crate) const SETTLED_POLLS: u32 = 5;

/// Request units a second of a physical partition. Service limit.
pub(crate) const PARTITION_THROUGHPUT: u32 = 10_000;

/// Request units a second of the containers of users, and of the lists of the newest.
pub(crate) const USERS_THROUGHPUT: u32 = 100_000;

/// Request units a second of the list of the newest posts, and of the positions: one logical partition is the most
/// that is written there at a time.
pub(crate) const SMALL_THROUGHPUT: u32 = 10_000;

/// Names of users that a worker remembers; then it forgets all and reads them again.
pub(crate) const NAMES_MAX: usize = 200_000;

/// Changes of a page that a worker asks for.
pub(crate) const PAGE_CHANGES_MAX: u32 = 1_000;

/// Rows of a page that a check asks for.
pub(crate) const PAGE_ROWS_MAX: u32 = 2_000;

/// How long a worker that has nothing to do lets the server wait for a change.
pub(crate) const CHANGE_WAIT: Duration = Duration::from_secs(1);

/// How long a server may be away before a client gives up.
pub(crate) const AWAY_MAX: Duration = Duration::from_secs(60);

/// How long to wait before a server that is away is asked again.
pub(crate) const AWAY_WAIT: Duration = Duration::from_millis(100);

/// How often one write is begun anew because others were there first.
pub(crate) const ATTEMPTS_MAX: u32 = 1_000;

/// Copies that are not in step which a check tells one by one.
pub(crate) const PROBLEMS_TOLD_MAX: usize = 20;
