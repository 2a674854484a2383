//! The text of a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::ScriptError;
use crate::limits::PROGRAM_BYTES_MAX;

/// A JavaScript function: its text, and a number by which workers know what they have compiled.
#[derive(Debug, Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    body: String,
    number: u64,
}

impl Program {
    /// Takes a text. Whether it is a function, such as `function (x) { return x; }`, is found out when it runs: only
    /// evaluating it could tell.
    pub fn new(body: String) -> Result<Program, ScriptError> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        if body.len() > PROGRAM_BYTES_MAX {
            return Err(ScriptError::TooLong);
        }
        Ok(Program { inner: Arc::new(Inner { body, number: NUMBERS.fetch_add(1, Ordering::Relaxed) }) })
    }

    /// Returns the text.
    pub fn body(&self) -> &str {
        &self.inner.body
    }

    /// Returns the number, which no other program of this process has.
    pub(crate) fn number(&self) -> u64 {
        self.inner.number
    }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        self.inner.body == other.inner.body
    }
}

impl Eq for Program {}

#[cfg(test)]
mod tests;
