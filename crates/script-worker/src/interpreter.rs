//! An interpreter with bounds.
//!
//! It asks every `STEPS_PER_CHECK` calls and jumps back, and in most of its loops in C as well, whether it is to go
//! on. The number of questions depends on the script and its input alone, which makes it the measure of what a script
//! computed. Whether it is to go on, the server says.

use std::sync::Arc;

use armilla_script::ScriptError;
use armilla_script::limits::{GARBAGE_BYTES_MIN, STACK_BYTES_MAX};
use rquickjs::context::intrinsic::{
    Date, Eval, Json, MapSet, Promise, Proxy, RegExp, RegExpCompiler, TypedArrays, WeakRef,
};
use rquickjs::{Context, Ctx, Runtime};

use crate::arena::{Arena, ArenaAllocator};
use crate::meter::Meter;

/// All of the language. Left out is what belongs to browsers: `performance`, which tells the time, `atob`, `btoa` and
/// `DOMException`.
type Language = (Date, Eval, RegExpCompiler, RegExp, Json, Proxy, MapSet, TypedArrays, Promise, WeakRef);

/// A runtime with one context.
pub(crate) struct Interpreter {
    context: Context,
    meter: Arc<Meter>,
}

impl Interpreter {
    /// Makes an interpreter whose memory is an arena.
    pub(crate) fn new(arena: Arc<Arena>, meter: Arc<Meter>) -> Result<Interpreter, ScriptError> {
        let failed = |error: rquickjs::Error| ScriptError::Sandbox(error.to_string());
        let runtime = Runtime::new_with_alloc(ArenaAllocator(arena)).map_err(failed)?;
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        // Otherwise it looks for garbage while the context is made.
        runtime.set_gc_threshold(GARBAGE_BYTES_MIN);
        let asked = meter.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || asked.check())));
        let context = Context::custom::<Language>(&runtime).map_err(failed)?;
        Ok(Interpreter { context, meter })
    }

    /// Begins to count anew.
    pub(crate) fn begin(&self) {
        self.meter.begin();
    }

    /// Lets nothing run any more until the next beginning.
    pub(crate) fn end(&self) {
        self.meter.end();
    }

    /// Enters the interpreter.
    pub(crate) fn with<R>(&self, work: impl FnOnce(Ctx<'_>) -> R) -> R {
        self.context.with(work)
    }

    /// Returns the runtime.
    pub(crate) fn runtime(&self) -> &Runtime {
        self.context.runtime()
    }

    /// Returns what was computed, and whether to go on.
    pub(crate) fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    /// Says whether a script was stopped because its time was over.
    pub(crate) fn is_stopped(&self) -> bool {
        self.meter.is_stopped()
    }
}

/// Asks for a local time once, in an interpreter that is thrown away.
pub(crate) fn learn_time_zone() -> rquickjs::Result<()> {
    let runtime = Runtime::new()?;
    Context::custom::<(Date, Eval)>(&runtime)?.with(|ctx| ctx.eval("new Date(0).getHours()")).map(|_: i32| ())
}
