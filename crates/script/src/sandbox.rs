//! User-defined functions of queries.
//!
//! Functions are properties of the global object of an interpreter, which scripts cannot change.

use armilla_value::{Value, json};
use rquickjs::function::Args;
use rquickjs::object::Property;
use rquickjs::{CatchResultExt as _, Ctx, Function};

use crate::error::ScriptError;
use crate::failure;
use crate::interpreter::{Interpreter, Purpose};
use crate::limits::RESULT_BYTES_MAX;
use crate::program::Program;

/// What the names of the functions begin with, among the global variables. No identifier can be spelled so.
const GLOBAL_PREFIX: &str = "udf.";

/// A place where functions run. They share its global variables, and nothing with any other sandbox.
pub struct Sandbox {
    interpreter: Interpreter,
}

impl Sandbox {
    /// Makes a sandbox without functions. It asks now and then whether the time of its scripts is over.
    pub fn new(expired: impl Fn() -> bool + Send + 'static) -> Result<Sandbox, ScriptError> {
        Ok(Sandbox { interpreter: Interpreter::new(Purpose::Functions, Box::new(expired))? })
    }

    /// Adds a function under a name that none has yet.
    pub fn add(&mut self, name: &str, program: &Program) -> Result<(), ScriptError> {
        self.interpreter.with(|ctx| {
            let function = program.function(&ctx, &self.interpreter)?;
            ctx.globals()
                .prop(global_name(name), Property::from(function))
                .catch(&ctx)
                .map_err(|error| failure::brief_error(&ctx, error, &self.interpreter))
        })
    }

    /// Calls a function. `Ok(None)` is an undefined result.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, ScriptError> {
        self.interpreter.with(|ctx| {
            let result = call(&ctx, name, arguments).catch(&ctx);
            match result.map_err(|error| failure::brief_error(&ctx, error, &self.interpreter))? {
                Outcome::Unknown => Err(ScriptError::Unknown),
                Outcome::Undefined => Ok(None),
                Outcome::Json(text) if text.len() > RESULT_BYTES_MAX => Err(ScriptError::ResultTooLong),
                Outcome::Json(text) => match json::parse(text.as_bytes()) {
                    Ok(value) => Ok(Some(value)),
                    Err(error) => Err(ScriptError::Result(error.to_string())),
                },
            }
        })
    }
}

enum Outcome {
    Unknown,
    Undefined,
    Json(String),
}

fn call(ctx: &Ctx<'_>, name: &str, arguments: &[Value]) -> rquickjs::Result<Outcome> {
    let function: Option<Function<'_>> = ctx.globals().get(global_name(name))?;
    let Some(function) = function else { return Ok(Outcome::Unknown) };
    let mut passed = Args::new(ctx.clone(), arguments.len());
    for argument in arguments {
        match argument {
            // JSON has no word for these, and JavaScript has.
            Value::Double(number) if !number.is_finite() => passed.push_arg(*number)?,
            other => passed.push_arg(ctx.json_parse(json::to_string(other))?)?,
        }
    }
    let result: rquickjs::Value<'_> = function.call_arg(passed)?;
    Ok(match ctx.json_stringify(result)? {
        Some(text) => Outcome::Json(text.to_string()?),
        None => Outcome::Undefined,
    })
}

fn global_name(name: &str) -> String {
    [GLOBAL_PREFIX, name].concat()
}

#[cfg(test)]
mod tests;
