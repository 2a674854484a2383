//! Bounds that this crate enforces.

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

/// Longest array on which the functions work that do not ask for the time: more than memory can hold.
pub const ARRAY_LENGTH_MAX: usize = 1 << 23;

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

/// How often the interpreter may ask for the time while a function is only written down. It asks at the first step and
/// after every 10,000 calls and jumps back.
pub const COMPILE_CHECKS_MAX: usize = 4;

/// Interpreters that are kept for later executions, for each place in which scripts stand.
pub const WARM_INTERPRETERS_MAX: usize = 8;

/// What an execution may have touched of its interpreter's memory for the interpreter to be kept.
pub const WARM_BYTES_MAX: usize = 2 * 1024 * 1024;
