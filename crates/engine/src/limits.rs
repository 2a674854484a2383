//! Bounds that this crate enforces.

use std::time::Duration;

use armilla_container::RequestUnits;

/// Longest id of a database, container, user, permission or script, in characters.
pub const ID_CHARACTERS_MAX: usize = 255;

/// Most resources in one page of a list.
pub const LIST_MAX: usize = 1_000;

/// How long a resource token is valid unless the caller says otherwise.
pub const TOKEN_SECONDS_DEFAULT: u32 = 3_600;

/// The shortest time that a caller may ask for.
pub const TOKEN_SECONDS_MIN: u32 = 10;

/// The longest time that a caller may ask for.
pub const TOKEN_SECONDS_MAX: u32 = 24 * 3_600;

/// How far ahead of the clock a resource token may have been made, in seconds.
pub(crate) const TOKEN_CLOCK_SECONDS_MAX: i64 = 300;

/// Longest resource token that is looked at.
pub(crate) const TOKEN_BYTES_MAX: usize = 16 * 1024;

/// Most stored procedures of one container.
pub const STORED_PROCEDURES_MAX: usize = 100;

/// Most triggers of one container.
pub const TRIGGERS_MAX: usize = 25;

/// Most user-defined functions of one container.
pub const USER_FUNCTIONS_MAX: usize = 50;

/// Queries that begin at the same time; others wait their turn.
pub(crate) const QUERIES_AT_ONCE_MAX: usize = 16;

/// Queries with user-defined functions that begin at the same time, beside them.
pub(crate) const FUNCTION_QUERIES_AT_ONCE_MAX: usize = 48;

/// How long a query may compute in the task that asks for it, before it gets one of its own.
pub(crate) const TRIAL_TIME: Duration = Duration::from_millis(4);

/// How often it is looked at in that time, which ends with the last look as well: about as many as there are in it.
pub(crate) const TRIAL_LOOKS_MAX: u32 = 32;

/// Shapes of queries that are known not to be done in that time.
pub(crate) const TRIAL_SHAPES_MAX: usize = 1_024;

/// Bytes of the texts of queries that are kept as they were read. What is made of one takes some ten times as much, and
/// where it is a list of single digits about a hundred times.
pub(crate) const READ_QUERIES_BYTES_MAX: usize = 256 << 10;

/// Longest text that is kept so: what is longer was likely made for one time.
pub(crate) const READ_QUERY_BYTES_MAX: usize = 2 << 10;

/// How long a query may compute before it counts as long.
pub(crate) const SHORT_QUERY_TIME: Duration = Duration::from_millis(20);

/// Long queries that were begun; as many of them as there are cores compute at a time.
pub(crate) const LONG_QUERIES_AT_ONCE_MAX: usize = 16;

/// How long a long query computes before others have their turn.
pub(crate) const LONG_QUERY_SLICE: Duration = Duration::from_millis(10);

/// How often a query that waits for its turn looks whether its caller still waits for it.
pub(crate) const LONG_QUERY_WAIT: Duration = Duration::from_millis(20);

/// How long a page of a query may take before it is given as far as it is.
pub(crate) const PAGE_PATIENCE: Duration = Duration::from_secs(5);

/// How long a page of a query may take where it cannot end before.
pub(crate) const PAGE_TIME_MAX: Duration = Duration::from_secs(60);

/// Steps that the computed properties of an item, or the condition of a patch, may take.
pub(crate) const ITEM_STEPS_MAX: u64 = 20_000_000;

/// How long the user-defined functions of a page may go on after the page should have ended.
pub(crate) const FUNCTION_GRACE: Duration = Duration::from_secs(1);

/// How long a script may run unless the account is told otherwise.
pub const SCRIPT_SECONDS_MAX: u32 = 5;

/// Percent of that time after which a script's operations are refused, so that it can end in good order.
pub(crate) const SCRIPT_CLOSING_PERCENT: u32 = 80;

/// How long a script runs before it is one that takes long.
pub(crate) const SCRIPT_SPRINT: Duration = Duration::from_millis(20);

/// Bytes of the list of writes that a script's footprint tells one by one: it has to fit into a header.
pub(crate) const FOOTPRINT_BYTES_MAX: usize = 1024;

/// What a script may spend before its operations are refused: what a physical partition serves in a second.
pub const SCRIPT_CHARGE_MAX: RequestUnits = RequestUnits::from_hundredths(10_000 * 100);

/// Which part of that a script may have spent for its operations to be accepted without asking about each.
pub(crate) const SCRIPT_WINDOW_SHARE: u64 = 4;

/// Scripts that run at the same time and have just begun; others wait their turn.
pub const SCRIPTS_AT_ONCE_MAX: usize = 16;

/// Scripts that take long and run at the same time beside them.
pub(crate) const LONG_SCRIPTS_AT_ONCE_MAX: usize = 32;

/// The same for the scripts of one container, so that those of others find a turn; fewer where there are few processors.
pub const CONTAINER_SCRIPTS_AT_ONCE_MAX: usize = 8;

/// Scripts of one container that have just begun, for each processor.
pub(crate) const CONTAINER_SCRIPTS_PER_PROCESSOR: usize = 2;

/// See [`CONTAINER_SCRIPTS_AT_ONCE_MAX`].
pub(crate) const CONTAINER_LONG_SCRIPTS_AT_ONCE_MAX: usize = 16;

/// How often a script is run again because another writer came between, before the caller is told. All but the first
/// few runs hold the logical partition, so that no other writer can.
pub const TRANSACTION_ATTEMPTS_MAX: u32 = 8;

/// Most actions of one batch.
pub const BATCH_ACTIONS_MAX: usize = 100;

/// Pages of change feeds that are read at the same time; others wait their turn.
pub const FEED_READS_AT_ONCE_MAX: usize = 16;

/// Callers that wait for changes at the same time; others are answered at once.
pub const FEED_WAITERS_MAX: usize = 1_024;

/// The longest that a caller may wait for changes.
pub const FEED_WAIT_MAX: Duration = Duration::from_secs(60);

/// How far apart the reads of one wait are that found nothing: at first, and at last.
pub(crate) const FEED_PAUSE_LEAST: Duration = Duration::from_millis(5);
/// See [`FEED_PAUSE_LEAST`].
pub(crate) const FEED_PAUSE_MOST: Duration = Duration::from_millis(500);

/// Splits and merges of an account that are carried out at the same time; others wait their turn.
pub const RESHAPES_AT_ONCE_MAX: usize = 1;

/// How long a split that failed, and is needed all the same, waits before it is tried again.
pub(crate) const RESHAPE_RETRY_PERIOD: Duration = Duration::from_secs(5);

/// How long the resource tree is left alone before it is asked again what became of a write to it.
pub(crate) const OUTCOME_RETRY_PERIOD: Duration = Duration::from_millis(100);

/// Characters that are kept of why a split or merge was given up.
pub(crate) const FAILURE_CHARACTERS_MAX: usize = 500;

/// Transactions that callers hold open at the same time. Each keeps its writes in memory, up to the container's bound on
/// those of one transaction, and the files of its snapshot from being deleted.
pub const TRANSACTIONS_OPEN_MAX: usize = 256;

/// How long a transaction may be open.
pub const TRANSACTION_TIME_MAX: Duration = Duration::from_secs(60);

/// Backups that are read at the same time. Each keeps the files of its moment from being deleted.
pub const BACKUPS_AT_ONCE_MAX: usize = 2;

/// How long a backup is kept that no client asks for: the one that takes it has gone away.
pub const BACKUP_IDLE_MAX: Duration = Duration::from_secs(60);

/// Partition keys of a container that are being deleted at once; each is kept in memory.
pub(crate) const DELETED_KEYS_MAX: usize = 10_000;

/// How long other processes may take to tell of their partitions.
pub(crate) const FAR_FIGURES_PATIENCE: Duration = Duration::from_secs(2);

/// How long partitions may take to come together that are to become one, and the process that has them to begin.
pub(crate) const RESHAPE_ASK_PATIENCE: Duration = Duration::from_secs(20);

/// How often it is looked whether they have.
pub(crate) const MOVE_PERIOD: Duration = Duration::from_millis(100);

/// How often a process that splits or merges partitions says that they are to stay.
pub(crate) const STAY_PERIOD: Duration = Duration::from_secs(10);

/// How often it is looked for spaces that a process has left behind which has ended.
pub(crate) const LEFTOVERS_PERIOD: Duration = Duration::from_secs(30);

/// How often in a row one has to be found before it is dropped: readers may have it until then.
pub(crate) const LEFTOVER_LOOKS: u32 = 10;

/// For how long a copy of the tree is trusted: longer than it takes another process to become the keeper when one has died, so
/// that no process stops for that.
pub(crate) const TREE_LEASE: Duration = Duration::from_secs(30);

/// How much longer the keeper of the tree waits for those that may still trust their copy: no clock is that much slower.
pub(crate) const TREE_LEASE_GRACE: Duration = Duration::from_secs(3);

/// How long a page of a query is begun anew because a partition has gone to another process.
pub(crate) const MOVED_PAGE_PATIENCE: Duration = Duration::from_secs(20);
