//! Interpreters that wait for a script, with everything that stands around it in place.
//!
//! Making a runtime, a context and the API in it takes several times as long as running a small script. So it is done
//! ahead, once for each place in which scripts stand, and an image is made of the result. After each execution the
//! image is put back: nothing of it is left, not even a byte. A few interpreters are kept for the next ones.

use std::sync::{Arc, Mutex, PoisonError};

use crate::arena::Arena;
use crate::error::ScriptError;
use crate::host::{Host, Place};
use crate::interpreter::{Interpreter, Purpose};
use crate::limits::{SCRIPT_MEMORY_BYTES_MAX, WARM_BYTES_MAX, WARM_INTERPRETERS_MAX};
use crate::prelude::{self, RoleKind};
use crate::run::track_rejections;

/// An interpreter as it is right after the API was put into it.
pub(crate) struct Warm {
    kind: RoleKind,
    interpreter: Interpreter,
    place: Place,
    arena: Arc<Arena>,
    image: Box<[u8]>,
}

/// Those that wait, by the place in which their scripts stand.
static WAITING: [Mutex<Vec<Warm>>; RoleKind::COUNT] = [const { Mutex::new(Vec::new()) }; RoleKind::COUNT];

impl Warm {
    /// Takes one that waits, or makes one.
    pub(crate) fn take(kind: RoleKind) -> Result<Warm, ScriptError> {
        let waiting = WAITING[kind as usize].lock().unwrap_or_else(PoisonError::into_inner).pop();
        match waiting {
            Some(warm) => Ok(warm),
            None => Warm::new(kind),
        }
    }

    fn new(kind: RoleKind) -> Result<Warm, ScriptError> {
        let failed = |why: String| ScriptError::Sandbox(why);
        let arena =
            Arena::new(SCRIPT_MEMORY_BYTES_MAX).ok_or_else(|| failed("no memory is left".to_owned()))?;
        let interpreter = Interpreter::in_arena(arena.clone(), Purpose::Scripts, Box::new(|| false))?;
        track_rejections(interpreter.runtime());
        let place = Place::default();
        interpreter
            .with(|ctx| prelude::install(&ctx, &place, kind))
            .map_err(|error| failed(error.to_string()))?;
        interpreter.end();
        interpreter.runtime().run_gc();
        let image = arena.image();
        Ok(Warm { kind, interpreter, place, arena, image })
    }

    /// Lets something run in the interpreter, then makes it forget and wait for the next.
    pub(crate) fn use_once<R>(
        self,
        host: Host,
        expired: Box<dyn Fn() -> bool + Send>,
        work: impl FnOnce(&Interpreter) -> R,
    ) -> R {
        self.interpreter.begin(expired);
        self.place.set(Some(host));
        let result = work(&self.interpreter);
        self.place.set(None);
        self.interpreter.end();
        self.wait();
        result
    }

    /// Puts the interpreter back to its beginning.
    #[expect(unsafe_code, reason = "what the arena relies on is known here")]
    fn forget(&self) {
        // SAFETY: the image was made of this arena. Nobody is inside the interpreter, which is this value's own, and
        // values cannot leave it. Outside there are the context and the control functions, as when the image was
        // made; what else an execution keeps as the interpreter's data it has taken away.
        unsafe { self.arena.restore(&self.image) };
    }

    fn wait(self) {
        let used_bytes = self.arena.used();
        self.forget();
        // What was touched stays with the process, so one that grew is let go.
        if used_bytes > WARM_BYTES_MAX {
            return;
        }
        let mut waiting = WAITING[self.kind as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < WARM_INTERPRETERS_MAX {
            waiting.push(self);
        }
    }
}
