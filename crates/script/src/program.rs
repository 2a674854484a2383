//! The text of a script.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::ScriptError;
use crate::limits::{CHECK_SLICES_MAX, PROGRAM_BYTES_MAX};
use crate::wire::{Notice, Order};
use crate::worker::Owner;
use crate::workers::Workers;

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
    /// Checks that a text has the form of a function, such as `function (x) { return x; }`, named or not.
    ///
    /// A worker compiles it, and nothing of it is evaluated. What only turns out when it is, is said when it runs.
    pub fn compile(workers: &Workers, owner: Owner, body: &str) -> Result<Program, ScriptError> {
        if body.len() > PROGRAM_BYTES_MAX {
            return Err(ScriptError::TooLong);
        }
        if !may_be_function(body) {
            return Err(ScriptError::NotAFunction("it is another kind of expression".to_owned()));
        }
        let mut worker = workers.take(owner)?;
        let mut slices = 0;
        let mut expired = || {
            slices += 1;
            slices > CHECK_SLICES_MAX
        };
        let checked = worker.ask(&Order::Check { body }, &mut expired, |notice| match notice {
            Notice::Checked(checked) => Some(checked),
            _ => None,
        });
        match checked {
            Ok(Ok(())) => {
                workers.give_back(worker);
                Ok(Program::of_checked(body.to_owned()))
            }
            Ok(Err(error)) => {
                workers.give_back(worker);
                Err(error)
            }
            Err(ScriptError::OutOfTime | ScriptError::Ended | ScriptError::OutOfMemory) => {
                Err(ScriptError::NotAFunction("it cannot be compiled".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// Takes a text over that [`Program::compile`] found to be a function before.
    pub fn of_checked(body: String) -> Program {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        Program { inner: Arc::new(Inner { body, number: NUMBERS.fetch_add(1, Ordering::Relaxed) }) }
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

/// Says whether an expression may be a function, by how it begins: with one of the words, or as the parameters of an
/// arrow. Whether it really is one, only evaluating it could tell.
fn may_be_function(body: &str) -> bool {
    let mut rest = body;
    loop {
        rest = rest.trim_start_matches(|character: char| character.is_whitespace() || character == '(');
        let after = match rest.get(..2) {
            Some("//") => rest.split_once(['\n', '\r', '\u{2028}', '\u{2029}']),
            Some("/*") => rest.split_once("*/"),
            _ => break,
        };
        match after {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    let word_end = rest.find(|character: char| !(character.is_alphanumeric() || character == '_'));
    let word = &rest[..word_end.unwrap_or(rest.len())];
    matches!(word, "function" | "async" | "class") || rest.contains("=>")
}

#[cfg(test)]
mod tests;
