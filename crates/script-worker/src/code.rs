//! Compiled scripts.
//!
//! QuickJS trusts bytecode blindly, so it is made and used inside one process, and leaves it never.

use std::collections::HashMap;

use armilla_script::ScriptError;
use armilla_script::limits::CODE_BYTES_MAX;
use armilla_script::wire::{Notice, Order};
use rquickjs::{CatchResultExt as _, Ctx, Function};

use crate::channel::{Channel, Over};
use crate::failure;
use crate::interpreter::Interpreter;
use crate::raw::{Bytecode, Keep};

/// What stacks call the text of a script.
const FILE_NAME: &str = "script.js";

/// Why there is no function.
pub(crate) enum NoFunction {
    /// The script is to blame.
    Script(ScriptError),
    /// The server is gone.
    Over,
}

impl From<ScriptError> for NoFunction {
    fn from(error: ScriptError) -> NoFunction {
        NoFunction::Script(error)
    }
}

impl From<Over> for NoFunction {
    fn from(_: Over) -> NoFunction {
        NoFunction::Over
    }
}

/// Code by the number of its program.
#[derive(Default)]
pub(crate) struct CodeCache {
    code: HashMap<u64, Bytecode>,
    /// How long the texts are together.
    bytes: usize,
}

impl CodeCache {
    /// Makes the function of a program in an interpreter. Asks for its text if it is not known.
    pub(crate) fn function<'js>(
        &mut self,
        program: u64,
        ctx: &Ctx<'js>,
        interpreter: &Interpreter,
        channel: &Channel,
    ) -> Result<Function<'js>, NoFunction> {
        let code = match self.code.get(&program) {
            Some(code) => code.clone(),
            None => {
                channel.send(&Notice::NeedBody)?;
                let body = channel.receive(|order| match order {
                    Order::Body(body) => Some(body.to_owned()),
                    _ => None,
                })?;
                let Some(body) = body else { return Err(ScriptError::OutOfTime.into()) };
                let code = compile(&body, ctx, interpreter)?;
                // Simple, and rare: a container has some hundred scripts of some kilobytes.
                if self.bytes + body.len() > CODE_BYTES_MAX {
                    self.code.clear();
                    self.bytes = 0;
                }
                self.bytes += body.len();
                self.code.insert(program, code.clone());
                code
            }
        };
        let value = code.evaluate(ctx).catch(ctx).map_err(|error| refused(ctx, error, interpreter))?;
        let function = value.into_function();
        Ok(function
            .ok_or_else(|| ScriptError::NotAFunction("it is another kind of expression".to_owned()))?)
    }
}

/// Compiles a text as an expression, without evaluating it. It may end with a comment, or with the semicolon of a
/// statement.
pub(crate) fn compile(body: &str, ctx: &Ctx<'_>, interpreter: &Interpreter) -> Result<Bytecode, ScriptError> {
    let compile = |body: &str| {
        let expression = ["(", body, "\n)"].concat();
        Bytecode::compile(ctx, &expression, FILE_NAME, Keep::Text)
    };
    let compiled = compile(body);
    let compiled = match body.trim_end().strip_suffix(';') {
        Some(shorter) if compiled.is_err() => {
            ctx.catch();
            compile(shorter)
        }
        _ => compiled,
    };
    compiled.catch(ctx).map_err(|error| refused(ctx, error, interpreter))
}

fn refused<'js>(ctx: &Ctx<'js>, error: rquickjs::CaughtError<'js>, interpreter: &Interpreter) -> ScriptError {
    match failure::brief_error(ctx, error, interpreter) {
        ScriptError::Thrown { message, .. } => ScriptError::NotAFunction(message),
        other => other,
    }
}
