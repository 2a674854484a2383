//! One execution of a stored procedure or a trigger.
//!
//! The function is called; then the callbacks that its operations left behind, first come, first served, until none
//! waits. After each call the jobs of promises run to their end. Callbacks never run inside one another, so a chain
//! of them has no depth.

use std::cell::RefCell;

use rquickjs::{CatchResultExt as _, CaughtError, Ctx, Runtime, Value};

use crate::collection::Collection;
use crate::error::ScriptError;
use crate::failure;
use crate::host::Host;
use crate::interpreter::Interpreter;
use crate::prelude;
use crate::program::Program;
use crate::raw::lend;
use crate::warm::Warm;

/// In which place a script stands. All texts are JSON.
#[derive(Debug, Clone, Copy)]
pub enum Role<'a> {
    /// A stored procedure.
    Procedure {
        /// A JSON array, or an empty text for no arguments.
        arguments: &'a [u8],
    },
    /// Before a write.
    PreTrigger {
        /// What will be written.
        operation: WriteKind,
        /// The document that is to be written, if one is.
        body: Option<&'a str>,
    },
    /// After a write.
    PostTrigger {
        /// What was written.
        operation: WriteKind,
        /// The document that was to be written, if one was.
        request_body: Option<&'a str>,
        /// The document as it is stored now, if one is.
        response_body: Option<&'a str>,
    },
}

/// The write that a trigger goes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// A new document.
    Create,
    /// Another body for a document.
    Replace,
    /// One of both.
    Upsert,
    /// No document any more.
    Delete,
}

impl WriteKind {
    /// Returns the name by which scripts know it.
    pub fn name(self) -> &'static str {
        match self {
            WriteKind::Create => "Create",
            WriteKind::Replace => "Replace",
            WriteKind::Upsert => "Upsert",
            WriteKind::Delete => "Delete",
        }
    }
}

/// What is to be run, and how.
pub struct Run<'a> {
    /// The script.
    pub program: &'a Program,
    /// Its place.
    pub role: Role<'a>,
    /// Whether `console.log` is kept.
    pub keeps_log: bool,
    /// Says whether the time is over. Asked by the interpreter now and then.
    pub expired: Box<dyn Fn() -> bool + Send>,
}

/// What became of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What it gave, or why it failed. All that it wrote is void then.
    pub result: Result<Finished, ScriptError>,
    /// What it logged, also if it failed.
    pub log: String,
    /// How much it computed; the same for the same script on the same documents.
    pub steps: u64,
}

/// What an execution gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finished {
    /// The JSON text of the response: of a procedure, if it set one; of a post-trigger, if it set another one.
    pub response_body: Option<String>,
    /// Of a pre-trigger, the JSON text of what is to be written now.
    pub request_body: Option<String>,
}

/// Runs a script on a collection.
pub fn run(run: Run<'_>, collection: &mut dyn Collection) -> Outcome {
    let Run { program, role, keeps_log, expired } = run;
    let warm = match Warm::take(role.kind()) {
        Ok(warm) => warm,
        Err(error) => return Outcome { result: Err(error), log: String::new(), steps: 0 },
    };
    lend(collection, |lent| {
        let host = Host::new(lent, &role, keeps_log);
        let (result, steps) = warm.use_once(host.clone(), expired, |interpreter| {
            (execute(interpreter, program, &role, &host), interpreter.steps())
        });
        Outcome { result, log: host.take_log(), steps }
    })
}

fn execute(
    interpreter: &Interpreter,
    program: &Program,
    role: &Role<'_>,
    host: &Host,
) -> Result<Finished, ScriptError> {
    interpreter.with(|ctx| {
        let stored = ctx.store_userdata(Rejections::default());
        if stored.is_err() {
            return Err(ScriptError::Sandbox("its data are in use".to_owned()));
        }
        let result = drive(&ctx, interpreter, program, role, host);
        // What is left holds on to the context.
        drop(ctx.remove_userdata::<Rejections<'_>>());
        result
    })
}

fn drive<'js>(
    ctx: &Ctx<'js>,
    interpreter: &Interpreter,
    program: &Program,
    role: &Role<'_>,
    host: &Host,
) -> Result<Finished, ScriptError> {
    let failed = |error: CaughtError<'js>| host.too_long_or(failure::script_error(ctx, error, interpreter));
    let control = prelude::control(ctx).ok_or_else(|| ScriptError::Sandbox("it has no API".to_owned()))?;
    let function = program.function(ctx, interpreter)?;
    let arguments = prelude::arguments(ctx, role)?;
    // Ends a turn: the jobs of promises run, then everything that went wrong in it is looked at.
    let settle = |result: rquickjs::Result<bool>| -> Result<bool, ScriptError> {
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
    settle(control.start.call((function, arguments)))?;
    while settle(control.next.call(()))? {}
    settle(control.finish.call::<_, ()>(()).map(|()| false))?;
    Ok(host.take_finished())
}

/// Promises that were rejected while nobody waited for them, each followed by its reason. Kept as data of the
/// interpreter's user, because values must not leave it.
type Rejections<'js> = RefCell<Vec<Value<'js>>>;

/// Notes rejections, and that they were handled after all.
pub(crate) fn track_rejections(runtime: &Runtime) {
    runtime.set_host_promise_rejection_tracker(Some(Box::new(|ctx, promise, reason, is_handled| {
        note_rejection(&ctx, promise, reason, is_handled);
    })));
}

fn note_rejection<'js>(ctx: &Ctx<'js>, promise: Value<'js>, reason: Value<'js>, is_handled: bool) {
    let Some(rejections) = ctx.userdata::<Rejections<'js>>() else { return };
    let Ok(mut rejections) = rejections.try_borrow_mut() else { return };
    if !is_handled {
        rejections.push(promise);
        rejections.push(reason);
    } else if let Some(pair) = rejections.chunks(2).position(|pair| pair[0] == promise) {
        rejections.drain(2 * pair..2 * pair + 2);
    }
}

/// Returns the reason of the first rejection that nobody has taken care of.
fn first_rejection<'js>(ctx: &Ctx<'js>) -> Option<Value<'js>> {
    let rejections = ctx.userdata::<Rejections<'js>>()?;
    let open = rejections.try_borrow().ok()?;
    open.get(1).cloned()
}
