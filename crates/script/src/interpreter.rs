//! An interpreter of its own for every use, with bounds.
//!
//! Memory is bounded per runtime, so each use has a runtime. Time is asked for by the interpreter every
//! [`STEPS_PER_CHECK`] calls and jumps back, and by its loops in C as well; the number of questions depends on the
//! script and its input alone, which makes it the measure of what a script computed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rquickjs::context::intrinsic::{
    Date, Eval, Json, MapSet, Promise, Proxy, RegExp, RegExpCompiler, TypedArrays, WeakRef,
};
use rquickjs::{Context, Ctx, Runtime};

use crate::arena::{Arena, ArenaAllocator};
use crate::error::ScriptError;
use crate::limits::{
    GARBAGE_BYTES_MIN, SANDBOX_MEMORY_BYTES_MAX, SCRIPT_MEMORY_BYTES_MAX, STACK_BYTES_MAX, STEPS_PER_CHECK,
};
use crate::prelude;

/// All of the language. Left out is what belongs to browsers: `performance`, which tells the time, `atob`, `btoa` and
/// `DOMException`.
type Language = (Date, Eval, RegExpCompiler, RegExp, Json, Proxy, MapSet, TypedArrays, Promise, WeakRef);

/// What an interpreter is for, which says how much memory it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// User-defined functions, and checking texts.
    Functions,
    /// Procedures and triggers.
    Scripts,
}

impl Purpose {
    fn memory_bytes_max(self) -> usize {
        match self {
            Purpose::Functions => SANDBOX_MEMORY_BYTES_MAX,
            Purpose::Scripts => SCRIPT_MEMORY_BYTES_MAX,
        }
    }
}

/// A runtime with one context.
pub(crate) struct Interpreter {
    context: Context,
    meter: Arc<Meter>,
    memory_bytes_max: usize,
}

type Expired = Box<dyn Fn() -> bool + Send>;

#[derive(Default)]
struct Meter {
    /// Set once a script was stopped because its time was over.
    is_stopped: AtomicBool,
    checks: AtomicU64,
    /// Says whether the time is over. Without it, it is: nobody runs anything then.
    expired: Mutex<Option<Expired>>,
}

impl Meter {
    fn check(&self) -> bool {
        self.checks.fetch_add(1, Ordering::Relaxed);
        // Time that is over stays over, whatever the closure says later.
        let is_over = self.is_stopped.load(Ordering::Relaxed)
            || self
                .expired
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .as_ref()
                .is_none_or(|expired| expired());
        if is_over {
            self.is_stopped.store(true, Ordering::Relaxed);
        }
        is_over
    }
}

impl Interpreter {
    /// Makes an interpreter. It asks now and then whether the time of its scripts is over.
    pub(crate) fn new(purpose: Purpose, expired: Expired) -> Result<Interpreter, ScriptError> {
        Interpreter::on(Runtime::new(), purpose, expired)
    }

    /// Makes one whose memory is an arena.
    pub(crate) fn in_arena(
        arena: Arc<Arena>,
        purpose: Purpose,
        expired: Expired,
    ) -> Result<Interpreter, ScriptError> {
        Interpreter::on(Runtime::new_with_alloc(ArenaAllocator(arena)), purpose, expired)
    }

    fn on(
        runtime: rquickjs::Result<Runtime>,
        purpose: Purpose,
        expired: Expired,
    ) -> Result<Interpreter, ScriptError> {
        let failed = |error: rquickjs::Error| ScriptError::Sandbox(error.to_string());
        let runtime = runtime.map_err(failed)?;
        let memory_bytes_max = purpose.memory_bytes_max();
        runtime.set_memory_limit(memory_bytes_max);
        runtime.set_max_stack_size(STACK_BYTES_MAX);
        // Otherwise it looks for garbage while the context is made.
        runtime.set_gc_threshold(GARBAGE_BYTES_MIN);
        let meter = Arc::new(Meter::default());
        let asked = meter.clone();
        runtime.set_interrupt_handler(Some(Box::new(move || asked.check())));
        let context = Context::custom::<Language>(&runtime).map_err(failed)?;
        let interpreter = Interpreter { context, meter, memory_bytes_max };
        interpreter.begin(expired);
        interpreter.with(|ctx| prelude::guard(&ctx)).map_err(failed)?;
        Ok(interpreter)
    }

    /// Begins to count anew, with another end of time.
    pub(crate) fn begin(&self, expired: Expired) {
        self.meter.is_stopped.store(false, Ordering::Relaxed);
        self.meter.checks.store(0, Ordering::Relaxed);
        *self.meter.expired.lock().unwrap_or_else(PoisonError::into_inner) = Some(expired);
    }

    /// Lets nothing run any more until the next beginning.
    pub(crate) fn end(&self) {
        *self.meter.expired.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Enters the interpreter.
    pub(crate) fn with<R>(&self, work: impl FnOnce(Ctx<'_>) -> R) -> R {
        self.context.with(work)
    }

    /// Returns the runtime.
    pub(crate) fn runtime(&self) -> &Runtime {
        self.context.runtime()
    }

    /// Says whether a script was stopped because its time was over.
    pub(crate) fn is_stopped(&self) -> bool {
        self.meter.is_stopped.load(Ordering::Relaxed)
    }

    /// Returns how much was computed, in whole multiples of [`STEPS_PER_CHECK`].
    pub(crate) fn steps(&self) -> u64 {
        self.meter.checks.load(Ordering::Relaxed).saturating_mul(STEPS_PER_CHECK)
    }

    /// Returns the most that it may hold.
    pub(crate) fn memory_bytes_max(&self) -> usize {
        self.memory_bytes_max
    }
}
