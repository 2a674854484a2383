//! Interpreters that wait for a script, with everything that stands around it in place.
//!
//! Making a runtime, a context and the API in it takes several times as long as running a small script. So it is done
//! ahead, once for each place in which scripts stand, and an image is made of the result. After each execution the
//! image is put back: nothing of it is left, not even a byte.

use std::sync::Arc;

use armilla_script::ScriptError;
use armilla_script::limits::WARM_BYTES_MAX;

use crate::arena::{Arena, Exhausted};
use crate::channel::Channel;
use crate::host::{Host, HostCell};
use crate::interpreter::Interpreter;
use crate::kind::Kind;
use crate::meter::Meter;
use crate::prelude;
use crate::rejections::track_rejections;

/// Those that wait, one of each kind.
pub(crate) struct WarmPool {
    waiting: [Option<Warm>; Kind::COUNT],
    channel: Channel,
    exhausted: Exhausted,
}

impl WarmPool {
    pub(crate) fn new(channel: Channel, exhausted: Exhausted) -> WarmPool {
        WarmPool { waiting: [const { None }; Kind::COUNT], channel, exhausted }
    }

    /// Makes one ahead.
    pub(crate) fn prepare(&mut self, kind: Kind) {
        // If it fails, it does so again when it is needed.
        self.waiting[kind as usize] = Warm::new(kind, &self.channel, self.exhausted).ok();
    }

    /// Lets something run in an interpreter, then makes it forget and wait for the next.
    pub(crate) fn use_once<R>(
        &mut self,
        kind: Kind,
        host: Option<Host>,
        work: impl FnOnce(&Interpreter) -> R,
    ) -> Result<R, ScriptError> {
        let warm = match self.waiting[kind as usize].take() {
            Some(warm) => warm,
            None => Warm::new(kind, &self.channel, self.exhausted)?,
        };
        warm.place.set(host);
        warm.interpreter.begin();
        let result = work(&warm.interpreter);
        warm.interpreter.end();
        warm.place.set(None);
        let used_bytes = warm.arena.used();
        warm.forget();
        // What was touched stays with the process, so one that grew is let go.
        if used_bytes <= WARM_BYTES_MAX {
            self.waiting[kind as usize] = Some(warm);
        }
        Ok(result)
    }
}

/// An interpreter as it is right after the API was put into it.
struct Warm {
    interpreter: Interpreter,
    place: HostCell,
    arena: Arc<Arena>,
    image: Box<[u8]>,
}

impl Warm {
    fn new(kind: Kind, channel: &Channel, exhausted: Exhausted) -> Result<Warm, ScriptError> {
        let failed = |why: String| ScriptError::Sandbox(why);
        let meter = Meter::new(channel.clone());
        let arena = Arena::new(kind.memory_bytes_max(), exhausted, meter.clone())
            .ok_or_else(|| failed("no memory is left".to_owned()))?;
        let interpreter = Interpreter::new(arena.clone(), meter)?;
        track_rejections(interpreter.runtime());
        let place = HostCell::default();
        interpreter.begin();
        if kind != Kind::Functions {
            interpreter
                .with(|ctx| prelude::install(&ctx, &place, kind))
                .map_err(|error| failed(error.to_string()))?;
        }
        interpreter.end();
        interpreter.runtime().run_gc();
        let image = arena.image();
        Ok(Warm { interpreter, place, arena, image })
    }

    /// Puts the interpreter back to its beginning.
    #[expect(unsafe_code, reason = "what the arena relies on is known here")]
    fn forget(&self) {
        // SAFETY: the image was made of this arena. No code runs inside the interpreter, which is this value's own, and
        // values cannot leave it. Outside there are the context and the control functions, as when the image was
        // made; what else an execution keeps as the interpreter's data it has taken away.
        unsafe { self.arena.restore(&self.image) };
    }
}
