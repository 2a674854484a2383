//! Why a definition cannot be accepted.

use std::fmt;

use armilla_index::PolicyError;

/// A definition that cannot be accepted: what is wrong, and where in the request body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionError {
    /// What is wrong, complete in itself.
    pub message: String,
    /// The member that is wrong, such as `partitionKey.paths[1]`.
    pub path: String,
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for DefinitionError {}

impl From<PolicyError> for DefinitionError {
    fn from(error: PolicyError) -> DefinitionError {
        DefinitionError { message: error.message, path: error.path }
    }
}

impl DefinitionError {
    pub(super) fn new(path: impl Into<String>, message: impl Into<String>) -> DefinitionError {
        DefinitionError { message: message.into(), path: path.into() }
    }
}
