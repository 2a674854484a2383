//! The text of a script and its compiled code.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use rquickjs::{CatchResultExt as _, Ctx, Function};

use crate::error::ScriptError;
use crate::failure;
use crate::interpreter::{Interpreter, Purpose};
use crate::limits::{COMPILE_CHECKS_MAX, PROGRAM_BYTES_MAX};
use crate::raw::{Bytecode, Keep};

/// What stacks call the text of a script.
const FILE_NAME: &str = "script.js";

/// A JavaScript function: its text, and its code, which is compiled once.
#[derive(Clone)]
pub struct Program {
    inner: Arc<Inner>,
}

struct Inner {
    body: String,
    /// Made when it is needed for the first time; whether that succeeds depends on the text alone.
    code: OnceLock<Result<Bytecode, ScriptError>>,
}

impl Program {
    /// Checks that a text is a function, such as `function (x) { return x; }`, named or not, and compiles it.
    pub fn compile(body: &str) -> Result<Program, ScriptError> {
        if body.len() > PROGRAM_BYTES_MAX {
            return Err(ScriptError::TooLong);
        }
        let program = Program::of_checked(body.to_owned());
        // Writing down a function takes no time worth mentioning; text that runs longer does something else.
        let asked = AtomicUsize::new(0);
        let expired = move || asked.fetch_add(1, Ordering::Relaxed) >= COMPILE_CHECKS_MAX;
        let interpreter = Interpreter::new(Purpose::Functions, Box::new(expired))?;
        let found = interpreter.with(|ctx| program.function(&ctx, &interpreter).map(drop));
        match found {
            Ok(()) => Ok(program),
            Err(ScriptError::OutOfTime) => {
                Err(ScriptError::NotAFunction("it computes instead of defining one".to_owned()))
            }
            Err(error) => Err(error),
        }
    }

    /// Takes a text over that [`Program::compile`] found to be a function before. It is compiled at its first use.
    pub fn of_checked(body: String) -> Program {
        Program { inner: Arc::new(Inner { body, code: OnceLock::new() }) }
    }

    /// Returns the text.
    pub fn body(&self) -> &str {
        &self.inner.body
    }

    /// Makes the function in an interpreter.
    pub(crate) fn function<'js>(
        &self,
        ctx: &Ctx<'js>,
        interpreter: &Interpreter,
    ) -> Result<Function<'js>, ScriptError> {
        let refused = |error| match failure::brief_error(ctx, error, interpreter) {
            ScriptError::Thrown { message, .. } => ScriptError::NotAFunction(message),
            other => other,
        };
        let code = match self.inner.code.get() {
            Some(code) => code,
            None => {
                let made = self.code(ctx).catch(ctx).map_err(refused);
                // What the text is not to blame for may be otherwise next time.
                if let Err(error @ (ScriptError::OutOfTime | ScriptError::OutOfMemory)) = made {
                    return Err(error);
                }
                self.inner.code.get_or_init(|| made)
            }
        };
        let value = code.clone()?.evaluate(ctx).catch(ctx).map_err(refused)?;
        value
            .into_function()
            .ok_or_else(|| ScriptError::NotAFunction("it is another kind of expression".to_owned()))
    }

    /// Compiles the text as an expression. It may end with a comment, or with the semicolon of a statement.
    fn code(&self, ctx: &Ctx<'_>) -> rquickjs::Result<Bytecode> {
        let body = self.body();
        let compile = |body: &str| {
            let expression = ["(", body, "\n)"].concat();
            Bytecode::compile(ctx, &expression, FILE_NAME, Keep::Text)
        };
        let compiled = compile(body);
        match body.trim_end().strip_suffix(';') {
            Some(shorter) if compiled.is_err() => {
                ctx.catch();
                compile(shorter)
            }
            _ => compiled,
        }
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("body", &self.inner.body).finish_non_exhaustive()
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
