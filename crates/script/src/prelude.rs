//! The JavaScript that stands around every script: the objects of the server-side API, on top of one native function.
//!
//! It is compiled once per process. Parts that few scripts use are loaded when they are called first.

use std::collections::HashMap;
use std::sync::OnceLock;

use rquickjs::{Ctx, Function, Result, Value};

use crate::error::ScriptError;
use crate::host::{self, Host, Operation};
use crate::limits::{ARRAY_LENGTH_MAX, CALLBACKS_MAX, PAGE_SIZE_DEFAULT, RESPONSE_BYTES_MAX};
use crate::raw::{Bytecode, Keep};
use crate::run::Role;

/// What the names of the prelude's files begin with, in stacks.
pub(crate) const FILE_NAME_PREFIX: &str = "(armilla:";

/// The parts of the prelude. Each is one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What every script has.
    Core,
    /// How `console.log` writes.
    Console,
    /// filter, map and the like.
    Query,
    /// Bounds on what QuickJS does not bound itself. Every interpreter has them.
    Guards,
}

impl Part {
    fn text(self) -> &'static str {
        match self {
            Part::Core => include_str!("prelude/core.js"),
            Part::Console => include_str!("prelude/console.js"),
            Part::Query => include_str!("prelude/query.js"),
            Part::Guards => include_str!("prelude/guards.js"),
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Part::Core => "armilla:core",
            Part::Console => "armilla:console",
            Part::Query => "armilla:query",
            Part::Guards => "armilla:guards",
        }
    }

    fn compiled(self) -> &'static OnceLock<Bytecode> {
        static CORE: OnceLock<Bytecode> = OnceLock::new();
        static CONSOLE: OnceLock<Bytecode> = OnceLock::new();
        static QUERY: OnceLock<Bytecode> = OnceLock::new();
        static GUARDS: OnceLock<Bytecode> = OnceLock::new();
        match self {
            Part::Core => &CORE,
            Part::Console => &CONSOLE,
            Part::Query => &QUERY,
            Part::Guards => &GUARDS,
        }
    }

    /// Makes the function in a context.
    pub(crate) fn load<'js>(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        let compiled = self.compiled();
        let bytecode = match compiled.get() {
            Some(bytecode) => bytecode,
            None => {
                let text = ["(", &with_constants(self.text()), "\n)"].concat();
                let made = Bytecode::compile(ctx, &text, self.file_name(), Keep::Lines)?;
                compiled.get_or_init(|| made)
            }
        };
        bytecode.evaluate(ctx)
    }
}

/// Puts the guards into a context.
pub(crate) fn guard(ctx: &Ctx<'_>) -> Result<()> {
    let install: Function<'_> = Part::Guards.load(ctx)?.get()?;
    install.call(())
}

/// The roles as the prelude knows them.
fn role_number(role: &Role<'_>) -> u32 {
    match role {
        Role::Procedure { .. } => 0,
        Role::PreTrigger { .. } => 1,
        Role::PostTrigger { .. } => 2,
    }
}

/// Puts the values of the constants in the places of their names. Variables would cost every execution the time to
/// make them and to bind every function to them.
fn with_constants(text: &str) -> String {
    let limits = [
        ("ARRAY_LENGTH_MAX", ARRAY_LENGTH_MAX),
        ("CALLBACKS_MAX", CALLBACKS_MAX),
        ("PAGE_SIZE_DEFAULT", PAGE_SIZE_DEFAULT),
        ("RESPONSE_BYTES_MAX", RESPONSE_BYTES_MAX),
        ("PROCEDURE", 0),
        ("PRE_TRIGGER", 1),
        ("POST_TRIGGER", 2),
    ];
    let operations = Operation::ALL.iter().map(|(operation, name)| (*name, *operation as usize));
    let values: HashMap<&str, usize> = limits.into_iter().chain(operations).collect();
    let is_part_of_name = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_name = is_part_of_name(first);
        let end = rest.find(|character| is_part_of_name(character) != is_name).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match values.get(word) {
            Some(value) => written.push_str(&value.to_string()),
            None => written.push_str(word),
        }
        rest = after;
    }
    written
}

/// What moves an execution on.
pub(crate) struct Control<'js> {
    /// Calls the script with an array of arguments.
    pub(crate) start: Function<'js>,
    /// Calls the callback whose turn it is; false if none waits.
    pub(crate) next: Function<'js>,
    /// Throws what the script was aborted with.
    pub(crate) check: Function<'js>,
    /// Hands the bodies to the host.
    pub(crate) finish: Function<'js>,
}

/// Puts the API into a context.
pub(crate) fn install<'js>(ctx: &Ctx<'js>, host: &Host, role: &Role<'_>) -> Result<Control<'js>> {
    let install: Function<'js> = Part::Core.load(ctx)?.get()?;
    let (operation, request, response) = match role {
        Role::Procedure { arguments } => (None, std::str::from_utf8(arguments).ok(), None),
        Role::PreTrigger { operation, body } => (Some(operation.name()), *body, None),
        Role::PostTrigger { operation, request_body, response_body } => {
            (Some(operation.name()), *request_body, *response_body)
        }
    };
    let request = request.filter(|text| !text.trim().is_empty());
    let native = host::native(ctx, host)?;
    let (start, next, check, finish): (Function<'js>, Function<'js>, Function<'js>, Function<'js>) = {
        let control: rquickjs::Array<'js> = install.call((
            native,
            role_number(role),
            Given(operation),
            host.keeps_log(),
            Given(request),
            Given(response),
        ))?;
        (control.get(0)?, control.get(1)?, control.get(2)?, control.get(3)?)
    };
    Ok(Control { start, next, check, finish })
}

/// A text that may be missing, which is undefined then.
struct Given<'a>(Option<&'a str>);

impl<'js> rquickjs::IntoJs<'js> for Given<'_> {
    fn into_js(self, ctx: &Ctx<'js>) -> Result<Value<'js>> {
        match self.0 {
            Some(text) => text.into_js(ctx),
            None => Ok(Value::new_undefined(ctx.clone())),
        }
    }
}

/// Reads the arguments of a procedure; triggers have none.
pub(crate) fn arguments<'js>(
    ctx: &Ctx<'js>,
    role: &Role<'_>,
) -> std::result::Result<Value<'js>, ScriptError> {
    let text = match role {
        Role::Procedure { arguments } => {
            std::str::from_utf8(arguments).map_err(|error| ScriptError::Arguments(error.to_string()))?.trim()
        }
        Role::PreTrigger { .. } | Role::PostTrigger { .. } => "",
    };
    let text = if text.is_empty() { "[]" } else { text };
    match ctx.json_parse(text) {
        Ok(value) if value.is_array() => Ok(value),
        Ok(_) => Err(ScriptError::Arguments("they are another kind of value".to_owned())),
        Err(_) => {
            ctx.catch();
            Err(ScriptError::Arguments("they are not JSON".to_owned()))
        }
    }
}
