//! One execution of a stored procedure or a trigger.
//!
//! The function is called; then the callbacks that its operations left behind, first come, first served, until none
//! waits. After each call the jobs of promises run to their end. Callbacks never run inside one another, so a chain
//! of them has no depth.

use armilla_script::wire::Notice;
use armilla_script::{Finished, Role, ScriptError};
use rquickjs::{CatchResultExt as _, CaughtError, Ctx};

use crate::channel::{Channel, Over};
use crate::code::{CodeCache, NoFunction};
use crate::failure;
use crate::host::{Given, Host};
use crate::interpreter::Interpreter;
use crate::kind::Kind;
use crate::prelude;
use crate::rejections::{Rejections, first_rejection};
use crate::warm::WarmPool;

/// An execution that was ordered.
pub(crate) struct Task {
    program: u64,
    kind: Kind,
    /// The text of a procedure's arguments.
    arguments: Vec<u8>,
    given: Given,
}

impl Task {
    pub(crate) fn new(program: u64, role: &Role<'_>, given: Given) -> Task {
        let (kind, arguments) = match *role {
            Role::Procedure { arguments } => (Kind::Procedure, arguments.to_vec()),
            Role::PreTrigger { .. } => (Kind::PreTrigger, Vec::new()),
            Role::PostTrigger { .. } => (Kind::PostTrigger, Vec::new()),
        };
        Task { program, kind, arguments, given }
    }
}

/// Runs a script, and says what became of it.
pub(crate) fn execute(
    warm: &mut WarmPool,
    code: &mut CodeCache,
    channel: &Channel,
    task: Task,
) -> Result<(), Over> {
    let Task { program, kind, arguments, given } = task;
    let host = Host::new(channel.clone(), given);
    let work = |interpreter: &Interpreter| {
        host.use_meter(interpreter.meter());
        let result = interpreter.with(|ctx| {
            let stored = ctx.store_userdata(Rejections::default());
            if stored.is_err() {
                return Err(ScriptError::Sandbox("its data are in use".to_owned()).into());
            }
            let function = || code.function(program, &ctx, interpreter, channel);
            let result = drive(&ctx, interpreter, function, &arguments, &host);
            // What is left holds on to the context.
            drop(ctx.remove_userdata::<Rejections<'_>>());
            result
        });
        let result = match result {
            Ok(finished) => Ok(finished),
            Err(NoFunction::Script(error)) => {
                // What it did before it failed is charged.
                host.send_waiting()?;
                Err(error)
            }
            Err(NoFunction::Over) => return Err(Over),
        };
        // Said before the interpreter is put back, which the server need not wait for.
        channel.send(&Notice::Done { result, steps: interpreter.meter().steps() })
    };
    match warm.use_once(kind, Some(host.clone()), work) {
        Ok(done) => done,
        Err(error) => channel.send(&Notice::Done { result: Err(error), steps: 0 }),
    }
}

fn drive<'js>(
    ctx: &Ctx<'js>,
    interpreter: &Interpreter,
    function: impl FnOnce() -> Result<rquickjs::Function<'js>, NoFunction>,
    arguments: &[u8],
    host: &Host,
) -> Result<Finished, NoFunction> {
    let failed = |error: CaughtError<'js>| host.too_long_or(failure::script_error(ctx, error, interpreter));
    let control = prelude::control(ctx).ok_or_else(|| ScriptError::Sandbox("it has no API".to_owned()))?;
    let function = function()?;
    let arguments = prelude::arguments(ctx, arguments)?;
    // Ends a turn: the jobs of promises run, then everything that went wrong in it is looked at.
    let checked = |result: rquickjs::Result<bool>| -> Result<bool, ScriptError> {
        let is_more = result.catch(ctx).map_err(failed)?;
        while !interpreter.is_stopped() && ctx.execute_pending_job() {}
        if interpreter.is_stopped() {
            return Err(ScriptError::OutOfTime);
        }
        // What the script was aborted with comes before what that led to.
        control.check.call::<_, ()>(()).catch(ctx).map_err(failed)?;
        match first_rejection(ctx) {
            Some(reason) => {
                ctx.throw(reason);
                Err(failed(CaughtError::from_error(ctx, rquickjs::Error::Exception)))
            }
            None => Ok(is_more),
        }
    };
    checked(control.start.call((function, arguments)))?;
    while checked(control.next.call(()))? {}
    checked(control.finish.call::<_, ()>(()).map(|()| false))?;
    Ok(host.take_finished())
}
