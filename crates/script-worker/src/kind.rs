//! What an interpreter is for.

use armilla_script::limits::{SANDBOX_MEMORY_BYTES_MAX, SCRIPT_MEMORY_BYTES_MAX};

/// What an interpreter is for. The API differs between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Procedure = 0,
    PreTrigger = 1,
    PostTrigger = 2,
    /// User-defined functions, and checking texts: there is no API.
    Functions = 3,
}

impl Kind {
    /// How many there are.
    pub(crate) const COUNT: usize = 4;

    /// Returns how much memory such an interpreter may take.
    pub(crate) fn memory_bytes_max(self) -> usize {
        match self {
            Kind::Functions => SANDBOX_MEMORY_BYTES_MAX,
            Kind::Procedure | Kind::PreTrigger | Kind::PostTrigger => SCRIPT_MEMORY_BYTES_MAX,
        }
    }
}
