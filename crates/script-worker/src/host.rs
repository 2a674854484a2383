//! The native side of the prelude: one function, `host(operation, ...)`, and what it leaves behind.
//!
//! What concerns documents, time and chance is asked of the server. An operation on one document gives false if it was not
//! accepted. If it was, it waits to be sent with others (`waiting`), and what became of it is put into the array of
//! replies that is passed along, two entries for each: the number of an error code if it was refused, and otherwise its
//! result, which is true where the script does not want to see a document and null for one that is not modified; then
//! why it was refused, or whether an upsert created. A query is asked for at once, and gives such a first entry itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armilla_script::limits::{LOG_BYTES_MAX, RESPONSE_BYTES_MAX};
use armilla_script::wire::{Call, CallList, Name, Notice, Reply};
use armilla_script::{Finished, Role, ScriptError};
use rquickjs::function::Rest;
use rquickjs::{Array, Ctx, Exception, Function, IntoJs as _, Result, Value};

use crate::channel::{Channel, Over};
use crate::failure;
use crate::meter::Meter;
use crate::operation::Operation;
use crate::part::Part;
use crate::waiting::Waiting;

/// What the native function works on.
#[derive(Clone)]
pub(crate) struct Host {
    channel: Channel,
    given: Arc<Given>,
    state: Arc<Mutex<State>>,
}

/// What a script is given beside its collection.
pub(crate) struct Given {
    operation: Option<&'static str>,
    request: Option<String>,
    response: Option<String>,
    keeps_log: bool,
    /// How many operations are accepted without being asked for.
    window: u64,
    self_link: String,
    alt_link: String,
    /// Before a write: what is to be written, if the script does not change it.
    written: Option<String>,
}

impl Given {
    pub(crate) fn new(
        role: &Role<'_>,
        keeps_log: bool,
        window: u64,
        self_link: &str,
        alt_link: &str,
    ) -> Given {
        let (operation, request, response) = match *role {
            Role::Procedure { arguments } => (None, std::str::from_utf8(arguments).ok(), None),
            Role::PreTrigger { operation, body } => (Some(operation.name()), body, None),
            Role::PostTrigger { operation, request_body, response_body } => {
                (Some(operation.name()), request_body, response_body)
            }
        };
        let written = match *role {
            Role::PreTrigger { body, .. } => body.map(str::to_owned),
            Role::Procedure { .. } | Role::PostTrigger { .. } => None,
        };
        let request = request.filter(|text| !text.trim().is_empty()).map(str::to_owned);
        let (self_link, alt_link) = (self_link.to_owned(), alt_link.to_owned());
        Given {
            operation,
            request,
            response: response.map(str::to_owned),
            keeps_log,
            window,
            self_link,
            alt_link,
            written,
        }
    }
}

/// Where the native function finds what it works on, as long as there is something.
#[derive(Clone, Default)]
pub(crate) struct HostCell(Arc<Mutex<Option<Host>>>);

impl HostCell {
    /// Puts a host there, or takes it away.
    pub(crate) fn set(&self, host: Option<Host>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = host;
    }

    fn get(&self) -> Option<Host> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[derive(Default)]
struct State {
    meter: Option<Arc<Meter>>,
    waiting: Waiting,
    message: String,
    continuation: Option<String>,
    log_bytes: usize,
    finished: Finished,
    is_response_too_long: bool,
    /// Numbers for `Math.random` that came and were not used yet, the next one last.
    randoms: Vec<f64>,
    /// Ids for documents, likewise.
    guids: Vec<String>,
    /// How much is stored, and how much may be, once it was asked for.
    usage: Option<(u64, u64)>,
}

impl Host {
    /// Begins with nothing but a collection and, before a write, what is to be written.
    pub(crate) fn new(channel: Channel, given: Given) -> Host {
        let finished = Finished { request_body: given.written.clone(), response_body: None };
        let state = State { finished, waiting: Waiting::new(given.window), ..State::default() };
        Host { channel, given: Arc::new(given), state: Arc::new(Mutex::new(state)) }
    }

    /// Says which meter is to be stopped when the server says so.
    pub(crate) fn use_meter(&self, meter: &Arc<Meter>) {
        self.state().meter = Some(meter.clone());
    }

    /// Takes the bodies.
    pub(crate) fn take_finished(&self) -> Finished {
        std::mem::take(&mut self.state().finished)
    }

    /// Says that the response was too long, if it was, and otherwise what else went wrong.
    pub(crate) fn too_long_or(&self, other: ScriptError) -> ScriptError {
        if self.state().is_response_too_long { ScriptError::ResponseTooLong } else { other }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the server for something that no operation waits for, and makes something of its reply.
    fn ask<'js, R>(
        &self,
        ctx: &Ctx<'js>,
        call: Call<'_>,
        take: impl FnOnce(Reply<'_>) -> Option<R>,
    ) -> Result<R> {
        let mut calls = CallList::default();
        calls.push(&call);
        let (mut take, mut taken) = (Some(take), None);
        self.exchange(ctx, &calls, 0, |reply| taken = take.take().and_then(|take| take(reply)))?;
        taken.ok_or_else(|| Exception::throw_message(ctx, OVER))
    }

    /// Sends calls and hears what became of them.
    fn exchange(
        &self,
        ctx: &Ctx<'_>,
        calls: &CallList,
        accepted: u64,
        take: impl FnMut(Reply<'_>),
    ) -> Result<()> {
        let over = || Exception::throw_message(ctx, OVER);
        if self.is_stopped() {
            return Err(over());
        }
        match self.channel.call(calls, accepted, take) {
            Ok(Some(window)) => {
                let steps = self.steps();
                self.state().waiting.set_window(window, steps);
                Ok(())
            }
            // The order to stop, or the end of the pipe. A script may catch this, but comes nowhere any more.
            Ok(None) | Err(Over) => {
                if let Some(meter) = &self.state().meter {
                    meter.stop();
                }
                Err(over())
            }
        }
    }

    fn steps(&self) -> u64 {
        self.state().meter.as_ref().map_or(0, |meter| meter.steps())
    }

    fn is_stopped(&self) -> bool {
        self.state().meter.as_ref().is_none_or(|meter| meter.is_stopped())
    }

    /// Does an operation on a document as soon as there is reason to; says whether it was accepted.
    fn operate<'js>(
        &self,
        ctx: &Ctx<'js>,
        replies: &Array<'js>,
        call: Call<'_>,
        is_wanted: bool,
    ) -> Result<Value<'js>> {
        let steps = self.steps();
        let is_full = self.state().waiting.is_full(steps);
        if is_full {
            self.send(ctx, replies, None)?;
        }
        let is_added = self.state().waiting.add(&call, is_wanted, steps);
        let is_accepted = is_added || self.send(ctx, replies, Some((&call, Asked::Document)))?.is_some();
        is_accepted.into_js(ctx)
    }

    /// Sends what waits, and one operation more about which the server is asked whether it accepts it. Returns what that
    /// gave; nothing if it was not accepted.
    fn send<'js>(
        &self,
        ctx: &Ctx<'js>,
        replies: &Array<'js>,
        asked: Option<(&Call<'_>, Asked)>,
    ) -> Result<Option<Value<'js>>> {
        let (mut calls, accepted, wants_usage) = {
            let mut state = self.state();
            let wants_usage = state.waiting.wants_usage() && state.usage.is_none();
            let calls = state.waiting.take();
            let accepted = calls.len();
            (calls, accepted, wants_usage)
        };
        if wants_usage {
            calls.push(&Call::Usage);
        }
        if let Some((call, _)) = asked {
            calls.push(call);
        }
        if calls.is_empty() {
            return Ok(None);
        }
        let (mut number, mut given, mut failed) = (0, None, None);
        // Put into the array when all are heard: a setter of the script's, which that may call, finds nothing half done.
        let mut shown = Vec::new();
        let heard = self.exchange(ctx, &calls, accepted, |reply| {
            let is_asked = number >= accepted;
            number += 1;
            if failed.is_some() {
                return;
            }
            let taken = match (reply, asked) {
                (Reply::Usage { current_bytes, max_bytes }, _) => {
                    self.state().usage = Some((current_bytes, max_bytes));
                    Ok(())
                }
                (Reply::Closing, _) if is_asked => Ok(()),
                (reply, Some((_, Asked::Query))) if is_asked => {
                    self.show_page(ctx, reply).map(|page| given = Some(page))
                }
                (reply, _) => show_document(ctx, reply).map(|outcome| {
                    shown.push(outcome);
                    if is_asked {
                        given = Some(Value::new_null(ctx.clone()));
                    }
                }),
            };
            // The others are heard all the same, so that nothing of them is left for the next question.
            failed = taken.err();
        });
        self.state().waiting.reuse(calls);
        heard?;
        if let Some(error) = failed {
            return Err(error);
        }
        let mut place = replies.len();
        for (outcome, detail) in shown {
            replies.set(place, outcome)?;
            replies.set(place + 1, detail)?;
            place += 2;
        }
        Ok(given)
    }

    /// Sends what waits for a script that does not look at it any more.
    pub(crate) fn send_waiting(&self) -> std::result::Result<(), Over> {
        let calls = self.state().waiting.take();
        if calls.is_empty() || self.is_stopped() {
            return Ok(());
        }
        self.channel.call(&calls, calls.len(), |_| {}).map(|_| ())
    }

    /// Returns what a query gave.
    fn show_page<'js>(&self, ctx: &Ctx<'js>, reply: Reply<'_>) -> Result<Value<'js>> {
        match reply {
            Reply::Refused { code, message } => {
                self.state().message = message.to_owned();
                code.into_js(ctx)
            }
            Reply::Page { documents, continuation } => {
                self.state().continuation = continuation.map(str::to_owned);
                document_or_true(ctx, documents)
            }
            _ => Err(Exception::throw_message(ctx, OVER)),
        }
    }

    fn random(&self, ctx: &Ctx<'_>) -> Result<f64> {
        let next = self.state().randoms.pop();
        if let Some(number) = next {
            return Ok(number);
        }
        let mut numbers = self.numbers(ctx, Call::Randoms)?;
        numbers.reverse();
        let first = numbers.pop();
        self.state().randoms = numbers;
        first.ok_or_else(|| Exception::throw_message(ctx, OVER))
    }

    fn guid(&self, ctx: &Ctx<'_>) -> Result<String> {
        let next = self.state().guids.pop();
        if let Some(id) = next {
            return Ok(id);
        }
        let mut ids = self.ask(ctx, Call::Guids, |reply| match reply {
            Reply::Ids(ids) => Some(ids.into_iter().map(str::to_owned).collect::<Vec<_>>()),
            _ => None,
        })?;
        ids.reverse();
        let first = ids.pop();
        self.state().guids = ids;
        first.ok_or_else(|| Exception::throw_message(ctx, OVER))
    }

    fn now_ms(&self, ctx: &Ctx<'_>) -> Result<f64> {
        let now = self.numbers(ctx, Call::Now)?.pop();
        now.ok_or_else(|| Exception::throw_message(ctx, OVER))
    }

    fn numbers(&self, ctx: &Ctx<'_>, call: Call<'_>) -> Result<Vec<f64>> {
        self.ask(ctx, call, |reply| match reply {
            Reply::Numbers(numbers) => Some(numbers),
            _ => None,
        })
    }

    /// Returns how much is stored, and how much may be. It is asked for once: an execution sees one moment.
    fn usage(&self, ctx: &Ctx<'_>) -> Result<(u64, u64)> {
        let known = self.state().usage;
        if let Some(usage) = known {
            return Ok(usage);
        }
        let usage = self.ask(ctx, Call::Usage, |reply| match reply {
            Reply::Usage { current_bytes, max_bytes } => Some((current_bytes, max_bytes)),
            _ => None,
        })?;
        self.state().usage = Some(usage);
        Ok(usage)
    }

    fn call<'js>(&self, ctx: &Ctx<'js>, operation: u32, given: &Arguments<'_, 'js>) -> Result<Value<'js>> {
        let known = Operation::ALL.get(operation as usize);
        let Some((operation, _)) = known else {
            return Err(Exception::throw_message(ctx, "there is no such operation"));
        };
        match operation {
            Operation::SelfLink => self.given.self_link.as_str().into_js(ctx),
            Operation::AltLink => self.given.alt_link.as_str().into_js(ctx),
            Operation::Read => {
                let (name, known, is_wanted) = (given.name(1)?, given.text(3)?, given.is_true(4));
                let call = Call::Read { name: name.as_name(), known: known.as_deref(), is_wanted };
                self.operate(ctx, given.replies()?, call, is_wanted)
            }
            Operation::Create => {
                let (body, is_wanted) = (given.body(1)?, given.is_true(2));
                self.operate(ctx, given.replies()?, Call::Create { body: &body, is_wanted }, is_wanted)
            }
            Operation::Upsert => {
                let (body, is_wanted, etag) = (given.body(1)?, given.is_true(2), given.text(3)?);
                let call = Call::Upsert { body: &body, is_wanted, etag: etag.as_deref() };
                self.operate(ctx, given.replies()?, call, is_wanted)
            }
            Operation::Replace => {
                let (name, body, is_wanted) = (given.name(1)?, given.body(3)?, given.is_true(4));
                let (name, etag) = (name.as_name(), given.text(5)?);
                let call = Call::Replace { name, body: &body, is_wanted, etag: etag.as_deref() };
                self.operate(ctx, given.replies()?, call, is_wanted)
            }
            Operation::Delete => {
                let (name, is_wanted, etag) = (given.name(1)?, given.is_true(3), given.text(4)?);
                let call = Call::Delete { name: name.as_name(), etag: etag.as_deref() };
                self.operate(ctx, given.replies()?, call, is_wanted)
            }
            Operation::Query => {
                let (text, parameters, continuation) = (given.text(1)?, given.text(2)?, given.text(4)?);
                let call = Call::Query {
                    text: text.as_deref(),
                    parameters: parameters.as_deref(),
                    page_size: given.value(3).and_then(Value::as_number).map(|size| size as u64),
                    continuation: continuation.as_deref(),
                    is_wanted: given.is_true(5),
                };
                match self.send(ctx, given.replies()?, Some((&call, Asked::Query)))? {
                    Some(page) => Ok(page),
                    None => false.into_js(ctx),
                }
            }
            Operation::Send => {
                self.send(ctx, given.replies()?, None)?;
                true.into_js(ctx)
            }
            Operation::Message => std::mem::take(&mut self.state().message).into_js(ctx),
            Operation::Continuation => match self.state().continuation.take() {
                Some(continuation) => continuation.into_js(ctx),
                None => Ok(Value::new_undefined(ctx.clone())),
            },
            Operation::CurrentMegabytes => megabytes(self.usage(ctx)?.0).into_js(ctx),
            Operation::MaxMegabytes => megabytes(self.usage(ctx)?.1).into_js(ctx),
            Operation::CurrentUsage => usage_text(self.usage(ctx)?.0).into_js(ctx),
            Operation::MaxUsage => usage_text(self.usage(ctx)?.1).into_js(ctx),
            Operation::Guid => self.guid(ctx)?.into_js(ctx),
            Operation::Random => self.random(ctx)?.into_js(ctx),
            Operation::Now => self.now_ms(ctx)?.into_js(ctx),
            Operation::Log => self.log(&given.lossy_text(0)).into_js(ctx),
            Operation::SetRequest => {
                let body = match given.value(0).and_then(Value::as_string) {
                    Some(text) => Some(text.to_string()?),
                    None => given.json(0)?,
                };
                self.state().finished.request_body = body;
                true.into_js(ctx)
            }
            Operation::SetResponse => {
                let body = given.json(0)?;
                if body.as_ref().is_some_and(|body| body.len() > RESPONSE_BYTES_MAX) {
                    self.state().is_response_too_long = true;
                    return Err(Exception::throw_range(ctx, "the response is too long"));
                }
                self.state().finished.response_body = body;
                true.into_js(ctx)
            }
            Operation::WriteName => text(ctx, self.given.operation),
            Operation::KeepsLog => self.given.keeps_log.into_js(ctx),
            Operation::RequestText => text(ctx, self.given.request.as_deref()),
            Operation::ResponseText => text(ctx, self.given.response.as_deref()),
            Operation::LoadConsole => Part::Console.load(ctx),
            Operation::LoadQuery => Part::Query.load(ctx),
        }
    }

    /// Adds a line to the log; false if it does not fit any more.
    fn log(&self, text: &str) -> bool {
        let mut state = self.state();
        let separator_bytes = usize::from(state.log_bytes > 0);
        if state.log_bytes + separator_bytes + text.len() > LOG_BYTES_MAX {
            return false;
        }
        state.log_bytes += separator_bytes + text.len();
        // The server keeps it, so that it is there whatever becomes of this process.
        self.channel.send(&Notice::Log(text)).is_ok()
    }
}

/// Makes the native function.
pub(crate) fn native<'js>(ctx: &Ctx<'js>, place: &HostCell) -> Result<Function<'js>> {
    let place = place.clone();
    let call = move |ctx: Ctx<'js>, operation: u32, given: Rest<Value<'js>>| match place.get() {
        Some(host) => host.call(&ctx, operation, &Arguments { ctx: &ctx, values: &given }),
        None => Err(Exception::throw_message(&ctx, OVER)),
    };
    Function::new(ctx.clone(), call)
}

/// What the server is asked about before it is accepted.
#[derive(Clone, Copy)]
enum Asked {
    Document,
    Query,
}

/// Returns what became of an operation on a document, and what there is to say of it.
fn show_document<'js>(ctx: &Ctx<'js>, reply: Reply<'_>) -> Result<(Value<'js>, Value<'js>)> {
    let undefined = || Value::new_undefined(ctx.clone());
    Ok(match reply {
        Reply::Refused { code, message } => (code.into_js(ctx)?, message.into_js(ctx)?),
        Reply::Done => (true.into_js(ctx)?, undefined()),
        Reply::NotModified => (Value::new_null(ctx.clone()), undefined()),
        Reply::Text(document) => (ctx.json_parse(document)?, undefined()),
        Reply::Upserted { document, is_created } => {
            (document_or_true(ctx, document)?, is_created.into_js(ctx)?)
        }
        Reply::Closing | Reply::Page { .. } | Reply::Numbers(_) | Reply::Ids(_) | Reply::Usage { .. } => {
            return Err(Exception::throw_message(ctx, OVER));
        }
    })
}

/// What is said to a script that asks when there is nothing to ask any more.
const OVER: &str = "the execution is over";

/// Makes a text that may be missing, which is undefined then.
fn text<'js>(ctx: &Ctx<'js>, text: Option<&str>) -> Result<Value<'js>> {
    match text {
        Some(text) => text.into_js(ctx),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

fn document_or_true<'js>(ctx: &Ctx<'js>, document: Option<&str>) -> Result<Value<'js>> {
    match document {
        Some(document) => ctx.json_parse(document),
        None => true.into_js(ctx),
    }
}

/// The arguments after the operation.
struct Arguments<'a, 'js> {
    ctx: &'a Ctx<'js>,
    values: &'a [Value<'js>],
}

/// A document's name, and of which kind it is.
struct Named {
    is_rid: bool,
    text: String,
}

impl Named {
    fn as_name(&self) -> Name<'_> {
        Name { is_rid: self.is_rid, text: &self.text }
    }
}

impl<'js> Arguments<'_, 'js> {
    fn value(&self, index: usize) -> Option<&Value<'js>> {
        self.values.get(index)
    }

    /// Returns where what becomes of operations is put.
    fn replies(&self) -> Result<&Array<'js>> {
        let replies = self.value(0).and_then(Value::as_array);
        replies.ok_or_else(|| Exception::throw_message(self.ctx, "the replies have no place"))
    }

    fn is_true(&self, index: usize) -> bool {
        self.value(index).and_then(Value::as_bool) == Some(true)
    }

    fn text(&self, index: usize) -> Result<Option<String>> {
        match self.value(index).and_then(Value::as_string) {
            Some(text) => match text.to_string() {
                Ok(text) => Ok(Some(text)),
                // Half a surrogate pair: a text that no document, etag or query can have.
                Err(rquickjs::Error::Utf8(_)) => {
                    Err(Exception::throw_type(self.ctx, "the text is not valid Unicode"))
                }
                Err(error) => Err(error),
            },
            None => Ok(None),
        }
    }

    /// Returns a text in a form that can always be shown.
    fn lossy_text(&self, index: usize) -> String {
        match self.value(index).and_then(Value::as_string) {
            Some(text) => failure::lossy_text(self.ctx, text),
            None => String::new(),
        }
    }

    fn name(&self, index: usize) -> Result<Named> {
        let text = self.text(index + 1)?.unwrap_or_default();
        Ok(Named { is_rid: self.is_true(index), text })
    }

    /// Returns the JSON text of a value, if it has one.
    fn json(&self, index: usize) -> Result<Option<String>> {
        let Some(value) = self.value(index) else { return Ok(None) };
        match self.ctx.json_stringify(value.clone())? {
            Some(text) => Ok(Some(text.to_string()?)),
            None => Ok(None),
        }
    }

    /// Returns the body of a document, which is given as an object or as JSON text.
    fn body(&self, index: usize) -> Result<String> {
        if let Some(text) = self.text(index)? {
            return Ok(text);
        }
        let text = self.json(index)?;
        text.ok_or_else(|| Exception::throw_type(self.ctx, "the document has no JSON form"))
    }
}

fn megabytes(bytes: u64) -> String {
    (bytes as f64 / (1024.0 * 1024.0)).to_string()
}

/// Writes a size as the headers about quota do, in kilobytes.
fn usage_text(bytes: u64) -> String {
    let kilobytes = bytes.div_ceil(1024);
    format!("documentsSize={kilobytes};collectionSize={kilobytes};")
}
