//! Every bound of the server itself, with its default.
//!
//! Bounds of items, names and partitions belong to the crates that enforce them; here is what a socket
//! may cost. Those with a flag are defaults; `options` says which flag.

use std::time::Duration;

/// Connections open at once; further ones wait in the operating system's queue.
pub(crate) const CONNECTIONS_MAX: u32 = 10_000;

/// Bytes of a request line with all its headers.
pub(crate) const HEADER_BYTES_MAX: u32 = 64 * 1024;

/// The least that may be asked for as `HEADER_BYTES_MAX`; the HTTP stack needs as much.
pub(crate) const HEADER_BYTES_MAX_LEAST: u32 = 8 * 1024;

/// Requests open at once on one HTTP/2 connection.
pub(crate) const HTTP2_STREAMS_MAX: u32 = 256;

/// Bytes that an HTTP/2 client may send ahead on one stream. The HTTP stack holds what nobody has read yet, and some
/// hundred bytes more for each frame, however small.
pub(crate) const HTTP2_STREAM_WINDOW_BYTES: u32 = 256 * 1024;

/// Bytes that an HTTP/2 client may send ahead on all streams of a connection.
pub(crate) const HTTP2_CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;

/// How often an HTTP/2 client is asked whether it is still there, and how long it may take to say so.
pub(crate) const HTTP2_PING_INTERVAL: Duration = Duration::from_secs(60);
/// See [`HTTP2_PING_INTERVAL`].
pub(crate) const HTTP2_PING_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a WebSocket connection may rest: clients keep them for later, and do not look whether they are still open.
pub(crate) const WEB_SOCKET_IDLE_TIMEOUT: Duration = Duration::from_secs(3_600);

/// Frames of one WebSocket message.
pub(crate) const MESSAGE_FRAMES_MAX: usize = 1_024;

/// WebSocket messages of one connection that are written and not sent.
pub(crate) const UNSENT_MESSAGES_MAX: usize = 4;

/// How long a new connection may take to send its first byte and to finish its TLS handshake.
pub(crate) const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the first line and the headers of one request may take.
pub(crate) const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a request body may take for its next `PROGRESS_BYTES`, or for its end; and a client to take as much of an
/// answer.
pub(crate) const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a request body may take in all, however steadily it drips.
pub(crate) const BODY_TOTAL_TIMEOUT: Duration = Duration::from_secs(300);

/// Bytes by which a request body, or an answer on its way out, must get on for its time to begin again: together with
/// `BODY_TIMEOUT` the least rate.
pub(crate) const PROGRESS_BYTES: usize = 16 * 1024;

/// Bytes of request bodies that are held at once, over all connections, counted as they come.
pub(crate) const BODIES_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of them that one client may hold: two clients at least find room.
pub(crate) const BODIES_SHARE_BYTES_MAX: usize = 128 * 1024 * 1024;

/// The part of all room, one in so many, that only bodies and answers of at most `SMALL_BYTES_MAX` take.
pub(crate) const SMALL_PART: usize = 16;
/// See [`SMALL_PART`].
pub(crate) const SMALL_BYTES_MAX: usize = 64 * 1024;

/// Bytes that a body is gathered to before it is passed on: the longest that any API takes.
pub(crate) const BODY_GATHERED_BYTES_MAX: usize = 4 * 1024 * 1024;

/// The least that a body in several pieces is gathered in.
pub(crate) const BODY_GATHERED_BYTES_MIN: usize = 1024;

/// Bytes that are read ahead on a connection that speaks in frames; the length of a frame must stand in as many.
pub(crate) const FRAME_READ_AHEAD_BYTES: usize = 8 * 1024;

/// Bytes of answers that were made and not sent yet, over all connections. From half of it on requests wait.
pub(crate) const ANSWERS_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Bytes of them that one client may hold. From half of it on its requests wait.
pub(crate) const ANSWERS_SHARE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of unsent answers from which on the next requests of the same connection wait.
pub(crate) const CONNECTION_ANSWERS_BYTES_ENOUGH: usize = 16 * 1024 * 1024;

/// Bytes of unsent answers of one connection beyond which an answer that can be asked for again is given up.
pub(crate) const CONNECTION_ANSWERS_BYTES_MAX: usize = 64 * 1024 * 1024;

/// What the answer to a request is taken to have before it is there: a page of items, and anything else.
pub(crate) const PAGE_BYTES_EXPECTED: usize = 1024 * 1024;
/// See [`PAGE_BYTES_EXPECTED`].
pub(crate) const ANSWER_BYTES_EXPECTED: usize = 16 * 1024;

/// How long a request waits for room before its client is asked to come again.
pub(crate) const ROOM_PATIENCE: Duration = Duration::from_secs(5);

/// How often a request that waits for room looks who could give way.
pub(crate) const ROOM_LOOK_PERIOD: Duration = Duration::from_millis(100);

/// When a client that has no room is asked to come again.
pub(crate) const NO_ROOM_RETRY_MS: u64 = 1_000;

/// How long a body or an answer must have stood still for its connection to give way to others that wait for room.
pub(crate) const GIVES_WAY_AFTER: Duration = Duration::from_secs(1);

/// How long nothing must have been going on on a connection for it to give way to a new one.
pub(crate) const IDLE_GIVES_WAY_AFTER: Duration = Duration::from_secs(1);

/// Descriptors that are kept for the store, or half of all where there are fewer than twice as many: 256 of its sorted
/// files are held open, and while it merges and flushes it opens some more.
pub(crate) const DESCRIPTORS_RESERVED: u64 = 512;

/// How often the threads that serve are made to look through their memory, and for how many periods after the last bytes
/// came in.
pub(crate) const MEMORY_PERIOD: Duration = Duration::from_millis(2_500);
/// See [`MEMORY_PERIOD`].
pub(crate) const MEMORY_QUIET_PERIODS: u32 = 12;

/// Blocks that a thread allocates for it, and their size: the allocator looks through what it has every 10,000 blocks
/// beyond the smallest sizes. That takes half a millisecond.
pub(crate) const MEMORY_BLOCKS: usize = 11_000;
/// See [`MEMORY_BLOCKS`].
pub(crate) const MEMORY_BLOCK_BYTES: usize = 2 * 1024;

/// How long a connection may stay open with nothing going on. Longer than the pools of the SDKs keep
/// theirs, so that it is the client who hangs up.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(180);

/// How long requests in flight may take to finish once a shutdown is asked for.
pub(crate) const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// The part of it, at most, that is kept for closing the store; a quarter of it where that is less.
pub(crate) const CLOSING_TIME: Duration = Duration::from_secs(2);

/// From how long on a request is worth a warning: the service's own limit for one operation.
pub(crate) const SLOW_REQUEST: Duration = Duration::from_secs(5);

/// How long to stop accepting after the operating system refused a connection (too many open files).
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Connections that the operating system may queue before they are accepted.
pub(crate) const ACCEPT_BACKLOG: u32 = 1_024;

/// How far the date of a signature may lie from the machine's clock. Service limit.
pub(crate) const DATE_SKEW: Duration = Duration::from_secs(15 * 60);

/// The least time between two lines about the progress of a check.
pub(crate) const PROGRESS_PERIOD: Duration = Duration::from_secs(1);

/// Folders of earlier repairs that may lie beside a store.
pub(crate) const DAMAGED_FOLDERS_MAX: u32 = 100;

/// Bytes of a configuration file.
pub(crate) const CONFIG_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Bytes of a certificate or key file.
pub(crate) const PEM_FILE_BYTES_MAX: u64 = 1024 * 1024;

/// Names in the self-signed certificate.
pub(crate) const TLS_NAMES_MAX: usize = 100;

/// How long a self-signed certificate is valid: some systems trust none for longer than 825 days.
pub(crate) const CERTIFICATE_VALID: Duration = Duration::from_secs(820 * 24 * 60 * 60);

/// How long before its end a self-signed certificate is replaced at the next start.
pub(crate) const CERTIFICATE_RENEWAL: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Bytes of a key where others than this machine reach the server: a signature tells whoever sees one whether a guess is
/// right, so a key must be beyond guessing.
pub(crate) const KEY_BYTES_MIN: usize = 32;

/// Values of `--allowed-hosts`, and of `--allowed-origins`.
pub(crate) const ALLOWED_MAX: usize = 100;

/// Longest name of a host: that of DNS.
pub(crate) const HOST_BYTES_MAX: usize = 253;

/// How long a browser may remember what a page may send.
pub(crate) const PREFLIGHT_SECONDS: u64 = 600;

/// Threads beside those that serve, for what computes or waits for longer: long queries, scripts, pages of changes, backups.
/// What comes beyond waits for one of them.
pub(crate) const BLOCKING_THREADS_MAX: usize = 128;

/// Threads beside those for a node, of whose requests each that waits for another node or for the object store has one.
pub(crate) const BLOCKING_THREADS_OF_NODE_MAX: usize = 512;

/// Megabytes of memory for caches: half for items, an eighth for where they lie by number, the rest for the store's blocks.
pub(crate) const CACHE_MB: u32 = 128;

/// Megabytes of memory for what was written and is not in sorted files yet.
pub(crate) const WRITE_BUFFER_MB: u32 = 64;

/// The least that may be asked for as the size of a physical partition: smaller ones would do nothing but split.
pub(crate) const PHYSICAL_PARTITION_BYTES_LEAST: u64 = 64 * 1024;

/// Physical partitions whose figures `/metrics` gives: about two megabytes of text when all of them are busy.
pub(crate) const METRICS_PARTITIONS_MAX: usize = 200;

/// How often a command asks how far a split or merge is.
pub(crate) const POLL_PERIOD: Duration = Duration::from_millis(200);

/// How often a command asks again about a split or merge that does not run and is not done, when the server
/// says why the last one was given up; that may be an older one for a moment.
pub(crate) const POLLS_GIVEN_UP_MAX: u32 = 5;

/// As [`POLLS_GIVEN_UP_MAX`], when the server does not say why.
pub(crate) const POLLS_SILENT_MAX: u32 = 50;

/// How long a feed asks the server to wait for a change before it answers that there is none.
pub(crate) const FEED_WAIT: Duration = Duration::from_secs(20);

/// Changes that a feed asks for at once, at most and by default; servers give no more.
pub(crate) const FEED_PAGE_ITEMS_MAX: u32 = 1_000;

/// Bytes of a position in a feed: it has to fit into the headers of a request.
pub(crate) const FEED_POSITION_BYTES_MAX: usize = 60 * 1024;

/// Bytes of the file that keeps a position.
pub(crate) const FEED_STATE_BYTES_MAX: u64 = 128 * 1024;

/// How long a feed waits before it asks a server again that was away; doubled each time up to the longest.
pub(crate) const FEED_RETRY_LEAST: Duration = Duration::from_millis(100);
/// See [`FEED_RETRY_LEAST`].
pub(crate) const FEED_RETRY_MOST: Duration = Duration::from_secs(5);

/// How long a feed that does not follow waits for a server to come back.
pub(crate) const FEED_ONCE_PATIENCE: Duration = Duration::from_secs(60);

/// How long a page that is being printed may take once a signal asked for the end.
pub(crate) const FEED_LAST_WRITE: Duration = Duration::from_secs(2);

/// Pieces of a backup that are in memory between the connection and the disk, besides the two that are under way.
pub(crate) const BACKUP_FRAMES_AHEAD: usize = 2;

/// Memory for written data while a backup is restored: nothing else runs.
pub(crate) const RESTORE_WRITE_BUFFER_BYTES: u64 = 256 * 1024 * 1024;

/// The exit code when something stored does not agree.
pub(crate) const EXIT_PROBLEMS: u8 = 2;

/// Days for which all versions of items can be kept at most.
pub(crate) const CONTINUOUS_BACKUP_DAYS_MAX: u32 = 30;

/// Largest set of keys of an issuer of tokens, and largest file of roles, in bytes.
pub(crate) const OPEN_ID_BYTES_MAX: usize = 1024 * 1024;

/// How long an issuer may take to answer with its keys.
pub(crate) const OPEN_ID_FETCH_TIMEOUT: Duration = Duration::from_secs(10);

/// How often an issuer's keys are read again.
pub(crate) const OPEN_ID_LOOK_PERIOD: Duration = Duration::from_secs(60 * 60);

/// How often they are read again at most, however many tokens name keys that are not known.
pub(crate) const OPEN_ID_LOOK_PERIOD_MIN: Duration = Duration::from_secs(30);

/// For how long the lease of an object store is valid, in seconds.
pub(crate) const LEASE_SECONDS: u32 = 6;

/// The least of that: a renewal that is tried again must fit into it.
pub(crate) const LEASE_SECONDS_LEAST: u32 = 2;
