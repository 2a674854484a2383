//! What an exception becomes outside.
//!
//! A script may throw anything: an error whose message is a getter that throws, a proxy, null. Looking at it runs
//! code of the script again, so every look may fail, and time is asked last.

use armilla_script::ScriptError;
use armilla_script::limits::{MESSAGE_CHARACTERS_MAX, STACK_TRACE_CHARACTERS_MAX};
use rquickjs::{CatchResultExt as _, CaughtError, Coerced, Ctx, Object, Value};

use crate::interpreter::Interpreter;
use crate::part::FILE_NAME_PREFIX;

/// What is said of an object that does not let itself be shown.
const NOT_SHOWN: &str = "an object that cannot be shown";

/// What QuickJS says of a text or buffer that is longer than any can be.
const OUT_OF_MEMORY: &str = "out of memory";

/// Takes an exception over as clients of scripts are shown it: `Error: text`, and the stack.
pub(crate) fn script_error<'js>(
    ctx: &Ctx<'js>,
    error: CaughtError<'js>,
    interpreter: &Interpreter,
) -> ScriptError {
    shown(ctx, error, interpreter, true)
}

/// Takes an exception over as its message alone.
pub(crate) fn brief_error<'js>(
    ctx: &Ctx<'js>,
    error: CaughtError<'js>,
    interpreter: &Interpreter,
) -> ScriptError {
    shown(ctx, error, interpreter, false)
}

fn shown<'js>(
    ctx: &Ctx<'js>,
    error: CaughtError<'js>,
    interpreter: &Interpreter,
    is_whole: bool,
) -> ScriptError {
    let thrown = match error {
        CaughtError::Error(error) => Thrown::of_text(error.to_string()),
        CaughtError::Exception(exception) => Thrown::of_error(ctx, exception.as_object()),
        CaughtError::Value(value) => Thrown::of_value(ctx, value),
    };
    // Looked at last, because showing an exception may run a script too.
    if interpreter.is_stopped() {
        return ScriptError::OutOfTime;
    }
    if thrown.is_out_of_memory {
        return ScriptError::OutOfMemory;
    }
    let text = match &thrown.name {
        Some(name) if is_whole && !name.is_empty() && !thrown.text.is_empty() => {
            &[name, ": ", &thrown.text].concat()
        }
        Some(name) if thrown.text.is_empty() => name,
        _ => &thrown.text,
    };
    let mut message: String = text.chars().take(MESSAGE_CHARACTERS_MAX).collect();
    let stack = own_lines(&thrown.stack);
    if is_whole && !stack.is_empty() {
        message.push('\n');
        message.extend(stack.chars().take(STACK_TRACE_CHARACTERS_MAX));
    }
    ScriptError::Thrown { number: thrown.number, message }
}

#[derive(Default)]
struct Thrown {
    number: Option<u32>,
    /// Of an error: its name.
    name: Option<String>,
    text: String,
    stack: String,
    is_out_of_memory: bool,
}

impl Thrown {
    fn of_text(text: String) -> Thrown {
        Thrown { text, ..Thrown::default() }
    }

    fn of_value<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Thrown {
        if value.is_null() {
            return Thrown::of_text("null".to_owned());
        }
        if let Some(object) = value.as_object() {
            let number = number_of(ctx, object);
            let text = match text_of(ctx, object, "message") {
                Some(message) => message,
                None => match ctx.json_stringify(value.clone()).catch(ctx) {
                    Ok(Some(text)) => text.to_string().unwrap_or_else(|_| NOT_SHOWN.to_owned()),
                    _ => NOT_SHOWN.to_owned(),
                },
            };
            return Thrown { number, ..Thrown::of_text(text) };
        }
        if value.is_symbol() {
            return Thrown::of_text("a symbol".to_owned());
        }
        if let Some(text) = value.as_string() {
            return Thrown::of_text(lossy_text(ctx, text));
        }
        let text = value.get::<Coerced<String>>().catch(ctx);
        Thrown::of_text(text.map_or_else(|_| NOT_SHOWN.to_owned(), |text| text.0))
    }

    fn of_error<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Thrown {
        let name = text_of(ctx, object, "name");
        let message = text_of(ctx, object, "message");
        let is_out_of_memory =
            name.as_deref() == Some("InternalError") && message.as_deref() == Some(OUT_OF_MEMORY);
        let number = number_of(ctx, object);
        let stack = text_of(ctx, object, "stack").unwrap_or_default();
        // What hides its name and its message is nothing that could be shown.
        let text = message.unwrap_or_else(|| match name {
            Some(_) => String::new(),
            None => NOT_SHOWN.to_owned(),
        });
        Thrown { number, name, text, stack, is_out_of_memory }
    }
}

/// Returns a member if it is there and a string.
fn text_of<'js>(ctx: &Ctx<'js>, object: &Object<'js>, member: &str) -> Option<String> {
    let value: Value<'js> = object.get(member).catch(ctx).ok()?;
    Some(lossy_text(ctx, value.as_string()?))
}

/// Returns a text. Halves of characters, which JavaScript allows and we do not, are shown as JSON escapes them.
pub(crate) fn lossy_text<'js>(ctx: &Ctx<'js>, text: &rquickjs::String<'js>) -> String {
    if let Ok(text) = text.to_string().catch(ctx) {
        return text;
    }
    match ctx.json_stringify(text.clone()).catch(ctx) {
        Ok(Some(json)) => {
            let json = json.to_string().unwrap_or_default();
            json.strip_prefix('"').and_then(|json| json.strip_suffix('"')).unwrap_or(&json).to_owned()
        }
        _ => NOT_SHOWN.to_owned(),
    }
}

fn number_of<'js>(ctx: &Ctx<'js>, object: &Object<'js>) -> Option<u32> {
    let value: Value<'js> = object.get("number").catch(ctx).ok()?;
    let number = value.as_number()?;
    (number >= 0.0 && number <= f64::from(u32::MAX) && number.fract() == 0.0).then_some(number as u32)
}

/// What a stack says between a line of the prelude and the function that it called.
const NATIVE_CALL: &str = "at apply (native)";

/// Leaves the lines of the prelude out of a stack: their author cannot look them up.
fn own_lines(stack: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in stack.lines().filter(|line| !line.trim().is_empty()) {
        if !line.contains(FILE_NAME_PREFIX) {
            lines.push(line);
        } else if lines.last().is_some_and(|last| last.trim() == NATIVE_CALL) {
            lines.pop();
        }
    }
    lines.join("\n")
}
