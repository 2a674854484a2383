//! User-defined functions of queries.
//!
//! Functions are properties of the global object of an interpreter, which scripts cannot change.

use armilla_script::ScriptError;
use armilla_script::limits::RESULT_BYTES_MAX;
use armilla_script::wire::{Argument, Notice, Order};
use rquickjs::function::Args;
use rquickjs::object::Property;
use rquickjs::{CatchResultExt as _, Ctx, Function};

use crate::channel::{Channel, Over};
use crate::code::{CodeCache, NoFunction};
use crate::failure;
use crate::interpreter::Interpreter;
use crate::kind::Kind;
use crate::warm::WarmPool;

/// What the names of the functions begin with, among the global variables. No identifier can be spelled so.
const GLOBAL_PREFIX: &str = "udf.";

/// The functions of one page of a query.
pub(crate) struct Functions<'w> {
    interpreter: &'w Interpreter,
    code: &'w mut CodeCache,
    channel: &'w Channel,
}

enum Task {
    Add {
        name: String,
        program: u64,
    },
    Call {
        name: String,
        arguments: Vec<Given>,
    },
    /// The time of all of them is over, and stays so.
    Stop,
    Close,
    Wrong,
}

enum Given {
    Json(String),
    Number(f64),
}

impl Functions<'_> {
    /// Serves orders about functions until they are closed.
    pub(crate) fn serve(warm: &mut WarmPool, code: &mut CodeCache, channel: &Channel) -> Result<(), Over> {
        let served = warm
            .use_once(Kind::Functions, None, |interpreter| Functions { interpreter, code, channel }.work());
        match served {
            Ok(served) => served,
            Err(_) => Err(Over),
        }
    }

    fn work(&mut self) -> Result<(), Over> {
        loop {
            let task = self.channel.receive(|order| match order {
                Order::Add { name, program } => Task::Add { name: name.to_owned(), program },
                Order::Call { name, arguments } => Task::Call {
                    name: name.to_owned(),
                    arguments: arguments
                        .into_iter()
                        .map(|argument| match argument {
                            Argument::Json(text) => Given::Json(text.to_owned()),
                            Argument::Number(number) => Given::Number(number),
                        })
                        .collect(),
                },
                Order::Close => Task::Close,
                Order::Stop => Task::Stop,
                _ => Task::Wrong,
            })?;
            match task {
                Task::Add { name, program } => {
                    let added = self.add(&name, program)?;
                    self.channel.send(&Notice::Checked(added))?;
                }
                Task::Call { name, arguments } => {
                    let returned = self.call(&name, &arguments);
                    let returned = match &returned {
                        Ok(text) => Ok(text.as_deref()),
                        Err(error) => Err(error.clone()),
                    };
                    self.channel.send(&Notice::Returned(returned))?;
                }
                Task::Stop => self.interpreter.meter().stop(),
                Task::Close => return Ok(()),
                Task::Wrong => return Err(Over),
            }
        }
    }

    fn add(&mut self, name: &str, program: u64) -> Result<Result<(), ScriptError>, Over> {
        let Functions { interpreter, code, channel } = self;
        interpreter.with(|ctx| {
            let function = match code.function(program, &ctx, interpreter, channel) {
                Ok(function) => function,
                Err(NoFunction::Script(error)) => return Ok(Err(error)),
                Err(NoFunction::Over) => return Err(Over),
            };
            let named = ctx.globals().prop(global_name(name), Property::from(function)).catch(&ctx);
            Ok(named.map_err(|error| failure::brief_error(&ctx, error, interpreter)))
        })
    }

    fn call(&self, name: &str, arguments: &[Given]) -> Result<Option<String>, ScriptError> {
        if self.interpreter.is_stopped() {
            return Err(ScriptError::OutOfTime);
        }
        self.interpreter.with(|ctx| {
            let result = call(&ctx, name, arguments).catch(&ctx);
            match result.map_err(|error| failure::brief_error(&ctx, error, self.interpreter))? {
                Outcome::Unknown => Err(ScriptError::Unknown),
                Outcome::Undefined => Ok(None),
                Outcome::Json(text) if text.len() > RESULT_BYTES_MAX => Err(ScriptError::ResultTooLong),
                Outcome::Json(text) => Ok(Some(text)),
            }
        })
    }
}

enum Outcome {
    Unknown,
    Undefined,
    Json(String),
}

fn call(ctx: &Ctx<'_>, name: &str, arguments: &[Given]) -> rquickjs::Result<Outcome> {
    let function: Option<Function<'_>> = ctx.globals().get(global_name(name))?;
    let Some(function) = function else { return Ok(Outcome::Unknown) };
    let mut passed = Args::new(ctx.clone(), arguments.len());
    for argument in arguments {
        match argument {
            Given::Number(number) => passed.push_arg(*number)?,
            Given::Json(text) => passed.push_arg(ctx.json_parse(text.as_str())?)?,
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
