//! The text of a user-defined function.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::ScriptError;
use crate::limits::{COMPILE_CHECKS_MAX, FUNCTION_BYTES_MAX};
use crate::sandbox::Sandbox;

/// A JavaScript function, as text that was found to be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFunction {
    body: String,
}

impl UserFunction {
    /// Checks that a text is a function: an expression such as `function (x) { return x; }`, named or not.
    pub fn compile(body: &str) -> Result<UserFunction, ScriptError> {
        if body.len() > FUNCTION_BYTES_MAX {
            return Err(ScriptError::TooLong);
        }
        let function = UserFunction { body: body.to_owned() };
        // Writing down a function takes no time worth mentioning; text that runs longer does something else.
        let asked = AtomicUsize::new(0);
        let expired = move || asked.fetch_add(1, Ordering::Relaxed) >= COMPILE_CHECKS_MAX;
        match Sandbox::new(expired)?.add("f", &function) {
            Err(ScriptError::OutOfTime) => {
                Err(ScriptError::NotAFunction("it computes instead of defining one".to_owned()))
            }
            outcome => outcome.map(|()| function),
        }
    }

    /// Takes a text over that [`UserFunction::compile`] found to be a function before.
    pub fn of_checked(body: String) -> UserFunction {
        UserFunction { body }
    }

    /// Returns the text.
    pub fn body(&self) -> &str {
        &self.body
    }

    /// Returns the text as an expression. It may end with a comment.
    pub(crate) fn expression(&self) -> String {
        ["(", &self.body, "\n)"].concat()
    }
}
