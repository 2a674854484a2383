//! The parts of the prelude, each one function in JavaScript, compiled once per process.

use std::collections::HashMap;
use std::sync::OnceLock;

use armilla_script::limits::{CALLBACKS_MAX, PAGE_SIZE_DEFAULT, RESPONSE_BYTES_MAX};
use rquickjs::{Ctx, Result, Value};

use crate::kind::Kind;
use crate::operation::Operation;
use crate::raw::{Bytecode, Keep};

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
