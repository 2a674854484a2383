//! An interpreter with bounds.
//!
//! Each sandbox has a runtime of its own, because bounds on memory are per runtime. Its functions are properties of
//! its global object that scripts cannot change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use armilla_value::{Value, json};
use rquickjs::context::EvalOptions;
use rquickjs::function::Args;
use rquickjs::object::Property;
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Runtime};

use crate::error::ScriptError;
use crate::function::UserFunction;
use crate::limits::{
    MESSAGE_CHARACTERS_MAX, RESULT_BYTES_MAX, SANDBOX_MEMORY_BYTES_MAX, SANDBOX_STACK_BYTES_MAX,
};

/// What the names of the functions begin with, among the global variables. No identifier can be spelled so.
const GLOBAL_PREFIX: &str = "udf.";

/// What is said of null as an exception.
const OUT_OF_MEMORY_OR_NULL: &str = "out of memory, or null was thrown";

/// A place where functions run. They share its global variables, and nothing with any other sandbox.
pub struct Sandbox {
    context: Context,
    /// Set once a script was stopped because its time was over.
    stopped: Arc<AtomicBool>,
}

impl Sandbox {
    /// Makes a sandbox without functions. It asks now and then whether the time of its scripts is over.
    pub fn new(expired: impl Fn() -> bool + Send + 'static) -> Result<Sandbox, ScriptError> {
        let failed = |error: rquickjs::Error| ScriptError::Sandbox(error.to_string());
        let runtime = Runtime::new().map_err(failed)?;
        runtime.set_memory_limit(SANDBOX_MEMORY_BYTES_MAX);
        runtime.set_max_stack_size(SANDBOX_STACK_BYTES_MAX);
        let stopped = Arc::new(AtomicBool::new(false));
        let flag = stopped.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || {
            let is_over = expired();
            if is_over {
                flag.store(true, Ordering::Relaxed);
            }
            is_over
        })));
        let context = Context::full(&runtime).map_err(failed)?;
        Ok(Sandbox { context, stopped })
    }

    /// Adds a function under a name that none has yet.
    pub fn add(&mut self, name: &str, function: &UserFunction) -> Result<(), ScriptError> {
        self.context.with(|ctx| {
            let mut options = EvalOptions::default();
            options.strict = false;
            let value: rquickjs::Value<'_> = ctx
                .eval_with_options(function.expression(), options)
                .catch(&ctx)
                .map_err(|error| match self.failure(&ctx, error) {
                    ScriptError::Thrown(message) => ScriptError::NotAFunction(message),
                    other => other,
                })?;
            let Some(function) = value.into_function() else {
                return Err(ScriptError::NotAFunction("it is another kind of expression".to_owned()));
            };
            ctx.globals()
                .prop(global_name(name), Property::from(function))
                .catch(&ctx)
                .map_err(|error| self.failure(&ctx, error))
        })
    }

    /// Calls a function. `Ok(None)` is an undefined result.
    pub fn call(&self, name: &str, arguments: &[Value]) -> Result<Option<Value>, ScriptError> {
        self.context.with(|ctx| {
            let result = call(&ctx, name, arguments).catch(&ctx);
            match result.map_err(|error| self.failure(&ctx, error))? {
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

    fn failure<'js>(&self, ctx: &Ctx<'js>, error: CaughtError<'js>) -> ScriptError {
        let message = match error {
            CaughtError::Error(error) => error.to_string(),
            CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
            // The interpreter throws null where no memory is left for an error.
            CaughtError::Value(value) if value.is_null() => OUT_OF_MEMORY_OR_NULL.to_owned(),
            CaughtError::Value(value) => match value.as_string().map(rquickjs::String::to_string) {
                Some(Ok(text)) => text,
                _ => match ctx.json_stringify(value).catch(ctx) {
                    Ok(Some(text)) => text.to_string().unwrap_or_default(),
                    _ => "an object that cannot be shown".to_owned(),
                },
            },
        };
        // Looked at last, because showing an exception may run a script too.
        if self.stopped.load(Ordering::Relaxed) {
            return ScriptError::OutOfTime;
        }
        ScriptError::Thrown(message.chars().take(MESSAGE_CHARACTERS_MAX).collect())
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
