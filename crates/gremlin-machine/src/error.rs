//! Failures of compiling and running a traversal.

use std::fmt;
use std::sync::Arc;

use armilla_gremlin_value::{ArithmeticError, Position};

use crate::graph::{GraphError, GraphErrorKind};

/// What a traversal fails with.
#[derive(Debug)]
pub struct MachineError {
    /// What kind of failure it is.
    pub kind: ErrorKind,
    /// What happened, and what to do.
    pub message: String,
    /// The step that failed, as the script names it.
    pub step: Option<Arc<str>>,
    /// Where the script has the step.
    pub position: Option<Position>,
    /// What the graph said, if the failure is its own.
    pub cause: Option<GraphError>,
}

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The traversal cannot be compiled.
    Compile,
    /// A step met a value it cannot work with.
    Runtime,
    /// It held more memory than allowed (1003).
    Memory,
    /// Its time was up (1009).
    TimedOut,
    /// The client left, or the server ends.
    Cancelled,
    /// The store refused or failed; see the cause.
    Storage,
    /// It writes, and may not.
    ReadOnly,
    /// `fail()` was reached.
    Fail,
}

pub(crate) type Result<T> = std::result::Result<T, MachineError>;

impl MachineError {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> MachineError {
        MachineError { kind, message: message.into(), step: None, position: None, cause: None }
    }

    pub(crate) fn runtime(message: impl Into<String>) -> MachineError {
        MachineError::new(ErrorKind::Runtime, message)
    }

    pub(crate) fn compile(message: impl Into<String>) -> MachineError {
        MachineError::new(ErrorKind::Compile, message)
    }

    /// Says which step it was, unless that is known.
    pub(crate) fn at(mut self, step: &Arc<str>, position: Option<Position>) -> MachineError {
        if self.step.is_none() {
            self.step = Some(step.clone());
            self.position = position;
        }
        self
    }
}

impl fmt::Display for MachineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for MachineError {}

impl From<GraphError> for MachineError {
    fn from(error: GraphError) -> MachineError {
        let kind = match error.kind {
            GraphErrorKind::Storage => ErrorKind::Storage,
            GraphErrorKind::Refused => ErrorKind::Runtime,
            GraphErrorKind::TimedOut => ErrorKind::TimedOut,
            GraphErrorKind::Cancelled => ErrorKind::Cancelled,
            GraphErrorKind::ReadOnly => ErrorKind::ReadOnly,
        };
        MachineError { kind, message: error.message.clone(), step: None, position: None, cause: Some(error) }
    }
}

impl From<ArithmeticError> for MachineError {
    fn from(error: ArithmeticError) -> MachineError {
        MachineError::runtime(error.to_string())
    }
}
