//! What is bounded, and by how much.

use std::time::Duration;

/// Bytes of a request or of an answer.
pub const FRAME_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Calls of one connection that are sent and not answered. The others wait on the side of the caller, so that the server
/// need not stop reading: what it would not read then is which calls were given up.
pub const CALLS_MAX: usize = 4_096;

/// How long connecting may take.
pub const CONNECT_TIME: Duration = Duration::from_secs(2);

/// How long the sides of a new connection may take to prove what they are.
pub const GREETING_TIME: Duration = Duration::from_secs(3);

/// How much longer than a server the other side waits for that: it is told what was wrong.
pub(crate) const GREETING_GRACE: Duration = Duration::from_secs(1);

/// A server that has a call under way says after so long a silence that it is alive.
pub const KEEPALIVE: Duration = Duration::from_secs(1);

/// A server that was not heard for so long while calls are pending is taken to be gone, half a second later at most.
pub const SILENCE_MAX: Duration = Duration::from_secs(3);

/// Looks at whether a server is silent in that time.
pub(crate) const SILENT_LOOKS_MAX: u32 = 6;

/// How long it is between two of them.
pub(crate) const LOOK: Duration =
    Duration::from_millis(SILENCE_MAX.as_millis() as u64 / SILENT_LOOKS_MAX as u64);

/// How often a node that has no calls says that it is alive, so that servers can tell it from one that is gone.
pub(crate) const IDLE: Duration = Duration::from_secs(10);

/// A connection is closed by its server after so long a silence.
pub(crate) const IDLE_SILENCE_MAX: Duration = Duration::from_secs(60);

/// After connecting has failed, calls fail at once for this long.
pub(crate) const BACKOFF: Duration = Duration::from_millis(100);

/// How long calls under way may take to finish when a server ends.
pub const ENDING_TIME: Duration = Duration::from_secs(10);

/// How long accepting pauses after it has failed, as it does when there are no file descriptors left.
pub(crate) const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a connection that is no longer needed may take to close.
pub(crate) const CLOSE_TIME: Duration = Duration::from_secs(1);

/// Connections of which a server does not know yet whose they are. More wait to be accepted.
pub(crate) const STRANGERS_MAX: usize = 256;

/// Bytes of frames that wait to be written; one frame may go past it. Callers wait, and servers stop reading.
pub(crate) const QUEUE_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of requests that are sent and not answered; one request may go past it.
pub(crate) const REQUEST_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Requests without an answer that a connection has under way. More are dropped, unless they are small.
pub(crate) const TELLS_MAX: usize = 4_096;

/// A request without an answer that has no more bytes is not dropped as long as the connection holds: it may let go of
/// something that is kept for it.
pub(crate) const SMALL_TELL_BYTES: usize = 64;

/// Small ones that a connection has under way; one that sends more is closed, with what is kept for it.
pub(crate) const SMALL_TELLS_MAX: usize = 16 * TELLS_MAX;

/// Bytes that are put together to be written at once; one frame may go past it.
pub(crate) const BATCH_BYTES: usize = 256 * 1024;

/// Larger payloads are written from where they are, and not copied to others.
pub(crate) const COPIED_BYTES_MAX: usize = 16 * 1024;

/// Bytes that are read from a socket at a time.
pub(crate) const READ_BYTES: usize = 32 * 1024;

/// TLS records that are read before what is in them is looked at.
pub(crate) const RECORDS_AT_ONCE: usize = 16;

/// Bytes that are set aside for a payload before they have come.
pub(crate) const RESERVED_BYTES_MAX: usize = 1024 * 1024;

/// Bytes of a message that says why a call failed.
pub(crate) const MESSAGE_BYTES_MAX: usize = 1024;
