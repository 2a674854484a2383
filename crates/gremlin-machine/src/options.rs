//! What a traversal may do, and how.

use crate::limits;

/// Whose rules hold where the service and TinkerPop differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// TinkerPop's, with everything that there is.
    #[default]
    Open,
    /// The service's.
    CosmosStrict,
}

/// What a traversal may do, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whose rules hold.
    pub dialect: Dialect,
    /// Most bytes that the traversal holds.
    pub memory_bytes_max: u64,
    /// Most rounds of a `repeat`.
    pub repeat_rounds_max: u32,
    /// Whether steps that write are refused.
    pub read_only: bool,
    /// What `coin`, `sample` and `shuffle` draw from.
    pub seed: u64,
    /// The text of the script, for `executionProfile()`.
    pub script: Option<std::sync::Arc<str>>,
    /// Whether answers have the properties of elements.
    pub whole_elements: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            dialect: Dialect::Open,
            memory_bytes_max: limits::MEMORY_BYTES_MAX,
            repeat_rounds_max: limits::REPEAT_ROUNDS_MAX,
            read_only: false,
            seed: 0x9e37_79b9_7f4a_7c15,
            script: None,
            whole_elements: true,
        }
    }
}

impl Options {
    /// Returns the options of a dialect.
    pub fn of(dialect: Dialect) -> Options {
        let repeat_rounds_max = match dialect {
            Dialect::Open => limits::REPEAT_ROUNDS_MAX,
            Dialect::CosmosStrict => limits::STRICT_REPEAT_ROUNDS_MAX,
        };
        Options { dialect, repeat_rounds_max, ..Options::default() }
    }
}
