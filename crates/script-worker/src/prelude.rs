//! The JavaScript that stands around every script: the objects of the server-side API, on top of one native function.
//!
//! It is compiled once per process. Parts that few scripts use are loaded when they are called first.

use std::collections::HashMap;
use std::sync::OnceLock;

use armilla_script::ScriptError;
use armilla_script::limits::{CALLBACKS_MAX, PAGE_SIZE_DEFAULT, RESPONSE_BYTES_MAX};
use rquickjs::{Ctx, Error, Function, Result, Value};

use crate::host::{self, Operation, Place};
use crate::raw::{Bytecode, Keep};
use crate::warm::Kind;

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
}

impl Part {
    fn text(self) -> &'static str {
        match self {
            Part::Core => include_str!("prelude/core.js"),
            Part::Console => include_str!("prelude/console.js"),
            Part::Query => include_str!("prelude/query.js"),
        }
    }

    fn file_name(self) -> &'static str {
        match self {
            Part::Core => "armilla:core",
            Part::Console => "armilla:console",
            Part::Query => "armilla:query",
        }
    }

    fn compiled(self) -> &'static OnceLock<Bytecode> {
        static CORE: OnceLock<Bytecode> = OnceLock::new();
        static CONSOLE: OnceLock<Bytecode> = OnceLock::new();
        static QUERY: OnceLock<Bytecode> = OnceLock::new();
        match self {
            Part::Core => &CORE,
            Part::Console => &CONSOLE,
            Part::Query => &QUERY,
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

/// Puts the values of the constants in the places of their names. Variables would cost every execution the time to
/// make them and to bind every function to them.
fn with_constants(text: &str) -> String {
    let limits = [
        ("CALLBACKS_MAX", CALLBACKS_MAX),
        ("PAGE_SIZE_DEFAULT", PAGE_SIZE_DEFAULT),
        ("RESPONSE_BYTES_MAX", RESPONSE_BYTES_MAX),
        ("PROCEDURE", Kind::Procedure as usize),
        ("PRE_TRIGGER", Kind::PreTrigger as usize),
        ("POST_TRIGGER", Kind::PostTrigger as usize),
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

/// What is kept of the control functions, as data of the interpreter's user.
type Kept<'js> = Vec<Function<'js>>;

/// Puts the API into a context, and keeps what moves executions on there.
pub(crate) fn install(ctx: &Ctx<'_>, place: &Place, kind: Kind) -> Result<()> {
    let install: Function<'_> = Part::Core.load(ctx)?.get()?;
    let control: Kept<'_> = install.call((host::native(ctx, place)?, kind as u32))?;
    ctx.store_userdata(control).map_err(|_| Error::Unknown)?;
    Ok(())
}

/// Returns what moves an execution on, in a context that has the API.
pub(crate) fn control<'js>(ctx: &Ctx<'js>) -> Option<Control<'js>> {
    let kept = ctx.userdata::<Kept<'js>>()?;
    let [start, next, check, finish] = &kept[..] else { return None };
    Some(Control { start: start.clone(), next: next.clone(), check: check.clone(), finish: finish.clone() })
}

/// Reads the arguments of a procedure; triggers have none.
pub(crate) fn arguments<'js>(
    ctx: &Ctx<'js>,
    arguments: &[u8],
) -> std::result::Result<Value<'js>, ScriptError> {
    let text =
        std::str::from_utf8(arguments).map_err(|error| ScriptError::Arguments(error.to_string()))?.trim();
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
