//! Bounds that this crate enforces.

/// Longest text of a function, in bytes.
pub const FUNCTION_BYTES_MAX: usize = 256 * 1024;

/// Memory of one sandbox, everything that its functions make included.
pub const SANDBOX_MEMORY_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Stack of one call. Threads that may block have 2 MiB, and a query's own calls lie below.
pub const SANDBOX_STACK_BYTES_MAX: usize = 256 * 1024;

/// Longest JSON text of one result.
pub const RESULT_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Longest part of an exception's message that is passed on.
pub const MESSAGE_CHARACTERS_MAX: usize = 1_000;

/// How often the interpreter may ask for the time while a function is only written down. It asks at the first step and
/// after every 10,000 calls and jumps back.
pub const COMPILE_CHECKS_MAX: usize = 4;
