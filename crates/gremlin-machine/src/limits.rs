//! Bounds of the machine.

/// Most bytes that a traversal holds, unless the options say otherwise.
pub const MEMORY_BYTES_MAX: u64 = 256 << 20;

/// Most rounds of a `repeat`, unless the options say otherwise.
pub const REPEAT_ROUNDS_MAX: u32 = 10_000;

/// Most rounds of a `repeat` in the service.
pub const STRICT_REPEAT_ROUNDS_MAX: u32 = 32;

/// Most steps of a traversal, those of its children included.
pub const STEPS_MAX: usize = 2_000;

/// Deepest nesting of traversals in traversals.
pub const NESTING_MAX: usize = 48;

/// Vertices that the first lookup of a neighbourhood asks for; each further one asks for twice as many.
pub const GATHER_MIN: usize = 64;

/// Most vertices that one lookup of a neighbourhood asks for.
pub const GATHER_MAX: usize = 4_096;

/// Most traversers in a batch that an operator gives on.
pub const BATCH_MAX: usize = 4_096;

/// Most characters of a text that a step makes.
pub const TEXT_LEN_MAX: usize = 16 << 20;

/// Deepest nesting of a value that a step gives on, as deep as the formats write.
pub const VALUE_DEPTH_MAX: usize = 200;

/// Most parts of a value that a step gives on, each counted as often as it occurs; 32 bytes of a text are one.
pub const VALUE_PARTS_MAX: u64 = 2 << 20;

/// Most draws that `coin` makes for one traverser that stands for many; beyond it the number is drawn at once.
pub const DRAWS_MAX: u64 = 4_096;

/// Most numbers, names, operators and calls of an expression of `math`.
pub const MATH_PARTS_MAX: usize = 10_000;
