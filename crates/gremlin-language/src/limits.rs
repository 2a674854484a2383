//! The bounds this crate enforces.

/// Longest script in bytes of UTF-8, as the service has it; bindings do not count.
pub const SCRIPT_BYTES_MAX: usize = 64 * 1024;

/// Most steps written in a script of the strict dialect, `times` not counted, as the service has it.
pub const OPERATORS_MAX: usize = 400;

/// Deepest nesting of traversals, predicates and collections in a script.
pub const DEPTH_MAX: usize = 100;

/// Most values that the ranges of a script (`1..5`) stand for, all together.
pub const RANGE_VALUES_MAX: usize = 100_000;

/// Longest text of a closure that an error message repeats, in characters.
pub const CLOSURE_TEXT_MAX: usize = 256;

/// Longest error message, in characters.
pub const MESSAGE_CHARACTERS_MAX: usize = 1_000;

/// Most digits of a decimal number (`1.5m`), its exponent included.
pub const DECIMAL_DIGITS_MAX: usize = 1_000;
