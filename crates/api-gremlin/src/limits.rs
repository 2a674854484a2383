//! Bounds that this crate enforces.

use std::time::Duration;

/// The longest message that a client may send.
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Requests of one connection that are being answered at once.
pub(crate) const REQUESTS_IN_FLIGHT_MAX: usize = 32;
/// Requests that wait on a connection until its client has logged in: some drivers send all they have before they do.
pub(crate) const WAITING_REQUESTS_MAX: usize = 1_024;
/// Bytes of these requests.
pub(crate) const WAITING_BYTES_MAX: usize = 1024 * 1024;
/// Traversals that run at once on threads of their own.
pub(crate) const TRAVERSALS_AT_ONCE_MAX: usize = 32;
/// Those of one connection: the others leave room for other clients.
pub(crate) const CONNECTION_TRAVERSALS_MAX: usize = 8;
/// Bytes that all traversals share: those that begin while others run may hold less.
pub(crate) const TRAVERSALS_BYTES_ENOUGH: u64 = 1 << 30;
/// How long a traversal may take if its client does not say.
pub(crate) const TRAVERSAL_TIME_DEFAULT: Duration = Duration::from_secs(30);
/// How long it may take if its client does, unless the default is longer.
pub(crate) const TRAVERSAL_TIME_MAX: Duration = Duration::from_secs(600);
/// Results of one answer, unless the client says how many.
pub(crate) const BATCH_RESULTS_DEFAULT: usize = 64;
/// Results of one answer at most.
pub(crate) const BATCH_RESULTS_MAX: usize = 10_000;
/// Bytes of results after which an answer ends and another begins.
pub(crate) const ANSWER_BYTES_ENOUGH: usize = 1024 * 1024;
/// Bytes of results of an answer that has to have all of them.
pub(crate) const WHOLE_ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Answers that wait to be sent while a traversal goes on.
pub(crate) const ANSWERS_AHEAD_MAX: usize = 2;
/// Rows of a page that is asked of the engine.
pub(crate) const PAGE_ROWS: usize = 1_000;
/// Rows of the first page of a lookup: many traversals want no more.
pub(crate) const FIRST_PAGE_ROWS: usize = 100;
/// Values of a list in a query.
pub(crate) const LIST_VALUES_MAX: usize = 1_000;
/// Entries of one value in an index that are looked up without a query: where there are more, a query may know a better way.
pub(crate) const LOOKUP_ENTRIES_MAX: usize = 128;
/// How long a look-up of many values goes on before the deadline of its traversal, or of its trial, is looked at again.
pub(crate) const LOOKUP_TIME_MAX: Duration = Duration::from_millis(2);
/// Logical partitions that are asked one by one rather than all at once.
pub(crate) const SCOPES_MAX: usize = 32;
/// Parts of a condition that are lowered to a query.
pub(crate) const CONDITION_PARTS_MAX: usize = 500;
/// Writes that are gathered before they are done.
pub(crate) const WRITES_GATHERED_MAX: usize = 1_000;
/// Writes that are done as one, in one logical partition.
pub(crate) const BATCH_WRITES_MAX: usize = armilla_engine::BATCH_ACTIONS_MAX;
/// Logical partitions that are written at once.
pub(crate) const BATCHES_AT_ONCE_MAX: usize = 32;
/// Bytes of a name of a database or a graph in a login.
pub(crate) const USER_BYTES_MAX: usize = 1_024;
/// How long a traversal is tried in the task of its connection, which meanwhile does nothing else.
pub(crate) const TRIAL_TIME: Duration = Duration::from_millis(4);
/// The longest message whose traversal is tried.
pub(crate) const TRIAL_MESSAGE_BYTES_MAX: usize = 16 * 1024;
/// Bytes of answers of a traversal that is tried.
pub(crate) const TRIAL_ANSWER_BYTES_MAX: usize = 256 * 1024;
/// Shapes of traversals of which it is remembered that they take longer.
pub(crate) const TRIAL_SHAPES_MAX: usize = 1_024;
