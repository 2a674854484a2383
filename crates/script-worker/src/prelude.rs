//! The JavaScript that stands around every script: the objects of the server-side API, on top of one native function.
//!
//! Parts that few scripts use are loaded when they are called first.
//!
//! Not here: the parts themselves (`part`).

use armilla_script::ScriptError;
use rquickjs::{Ctx, Error, Function, Result, Value};

use crate::host::{self, HostCell};
use crate::kind::Kind;
use crate::part::Part;

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
pub(crate) fn install(ctx: &Ctx<'_>, place: &HostCell, kind: Kind) -> Result<()> {
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
