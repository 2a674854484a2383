//! Bounds that this crate and its workers enforce.

use std::time::Duration;

/// Longest text of a script, in bytes.
pub const PROGRAM_BYTES_MAX: usize = 256 * 1024;

/// Memory of one sandbox of user-defined functions, everything that they make included.
pub const SANDBOX_MEMORY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Memory of one execution of a procedure or trigger: its request, its response and what it read in between.
pub const SCRIPT_MEMORY_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Stack of one call into the interpreter. Threads that may block have 2 MiB; a query's own calls lie below, and the
/// queries of a script above.
pub const STACK_BYTES_MAX: usize = 256 * 1024;

/// How much an interpreter holds before it looks for cycles of garbage for the first time. More than its beginnings
/// take, so that short scripts never look.
pub const GARBAGE_BYTES_MIN: usize = 4 * 1024 * 1024;

/// How many calls and jumps back the interpreter makes between two looks at the time. It is fixed inside QuickJS.
pub const STEPS_PER_CHECK: u64 = 10_000;

/// Longest JSON text of one result of a user-defined function.
pub const RESULT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Longest JSON text of the response of a procedure or trigger.
pub const RESPONSE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Longest log of one execution. It travels in one header, where a byte may become three, and clients take 16 KiB of
/// headers altogether.
pub const LOG_BYTES_MAX: usize = 4 * 1024;

/// How many callbacks may wait for their turn. Operations beyond are not accepted.
pub const CALLBACKS_MAX: usize = 10_000;

/// Documents on a page that a script asks for without saying how many.
pub const PAGE_SIZE_DEFAULT: usize = 100;

/// Longest part of an exception's message that is passed on.
pub const MESSAGE_CHARACTERS_MAX: usize = 1_000;

/// Longest part of an exception's stack that is passed on.
pub const STACK_TRACE_CHARACTERS_MAX: usize = 1_000;

/// Longest message between a worker and the server: a page of documents, or the largest response, with room for what
/// goes with it.
pub const FRAME_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Operations of a script that are accepted without asking the server, at most: they are sent together.
pub const WINDOW_MAX: u64 = 64;

/// How much a script computes before a window is worth nothing any more: time may be running out by then.
pub const WINDOW_STEPS_MAX: u64 = 500_000;

/// Bytes of operations that wait to be sent. What is longer is sent before the next one is taken.
pub const WAITING_CALLS_BYTES_MAX: usize = 64 * 1024;

/// Calls in one message: a window, with how much is stored and one more.
pub const CALLS_MAX: u64 = WINDOW_MAX + 2;

/// Bytes of replies that the server gathers before it sends them.
pub const GATHERED_REPLIES_BYTES_MAX: usize = 32 * 1024;

/// Ids for documents without one that are handed over at a time.
pub const GUIDS_PER_CALL: usize = 8;

/// Numbers for `Math.random` that are handed over at a time.
pub const RANDOMS_PER_CALL: usize = 32;

/// How long the server waits for a worker before it looks at the time, and how long a script computes before its worker
/// has to stand back behind the server's own work.
pub const WAIT_SLICE: Duration = Duration::from_millis(20);

/// How many slices a worker is given to end a script by itself once its time is over. Then it is killed.
pub const STOP_SLICES_MAX: u32 = 5;

/// How many slices a worker is given to start.
pub const START_SLICES_MAX: u32 = 500;

/// What a script has computed, as far as its price is concerned, that had to be killed: its worker cannot say any more.
/// It is what five seconds of a plain loop come to.
pub const KILLED_STEPS: u64 = 250_000_000;

/// Workers that there may be at the same time: all scripts that may run, the functions of all queries that may, and those
/// without work.
pub const WORKERS_MAX: usize = 112;

/// Workers without work that are kept for the next script of the same owner.
pub const IDLE_WORKERS_MAX: usize = 8;

/// How long they are kept without work: this long at least, and not twice as long.
pub const IDLE_WORKER_PERIOD: Duration = Duration::from_secs(60);

/// How much lower the priority is of a worker that has computed for longer than [`WAIT_SLICE`].
pub const WORKER_NICENESS: i32 = 10;

/// What an execution may have touched of its interpreter's memory for the interpreter to be kept.
pub const WARM_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Compiled scripts that a worker keeps, in bytes of their texts.
pub const CODE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What a worker may take from the system beyond what it has when it starts: the interpreter's memory, and the texts
/// that pass between it and the server.
pub const WORKER_MEMORY_BYTES_MAX: u64 = 256 * 1024 * 1024;
