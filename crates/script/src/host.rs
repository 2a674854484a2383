//! The native side of the prelude: one function, `host(operation, ...)`, and what it leaves behind.
//!
//! An operation on documents gives false if it was not accepted, the number of an error code if it was refused, and
//! otherwise its result: true where nobody wants to see a document, null for one that is not modified.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use armilla_value::json;
use rquickjs::function::Rest;
use rquickjs::{Ctx, Exception, Function, IntoJs as _, Result, Value};

use crate::collection::{
    Collection, CollectionUsage, DocumentName, ErrorCode, FeedRequest, ReadDocument, Refusal,
};
use crate::error::ScriptError;
use crate::failure;
use crate::limits::{LOG_BYTES_MAX, RESPONSE_BYTES_MAX};
use crate::prelude::Part;
use crate::raw::Lent;
use crate::run::{Finished, Role};

macro_rules! operations {
    ($($(#[$doc:meta])* $variant:ident $name:literal,)*) => {
        /// What the prelude asks for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Operation {
            $($(#[$doc])* $variant,)*
        }

        impl Operation {
            /// All of them, with the names that the prelude has for them. Their numbers are their places.
            pub(crate) const ALL: &'static [(Operation, &'static str)] = &[$((Operation::$variant, $name),)*];
        }
    };
}

operations! {
    /// The link by resource ids.
    SelfLink "SELF_LINK",
    /// The link by names.
    AltLink "ALT_LINK",
    /// (is by rid, name, known etag, is wanted)
    Read "READ",
    /// (body, is wanted)
    Create "CREATE",
    /// (body, is wanted, etag)
    Upsert "UPSERT",
    /// (is by rid, name, body, is wanted, etag)
    Replace "REPLACE",
    /// (is by rid, name, etag)
    Delete "DELETE",
    /// (text, parameters as JSON, page size, continuation, is wanted)
    Query "QUERY",
    /// Why the last operation was refused.
    Message "MESSAGE",
    /// Where the page after the last one begins.
    Continuation "CONTINUATION",
    /// Whether the last upsert created.
    IsCreated "IS_CREATED",
    /// What is stored, in megabytes, as text.
    CurrentMegabytes "CURRENT_MB",
    /// What may be stored, likewise.
    MaxMegabytes "MAX_MB",
    /// What is stored, as the headers say it.
    CurrentUsage "CURRENT_USAGE",
    /// What may be stored, likewise.
    MaxUsage "MAX_USAGE",
    /// An id for a document without one.
    Guid "GUID",
    /// A number for Math.random.
    Random "RANDOM",
    /// Milliseconds since 1970.
    Now "NOW",
    /// (text); false if the log is full.
    Log "LOG",
    /// (value)
    SetRequest "SET_REQUEST",
    /// (value)
    SetResponse "SET_RESPONSE",
    /// The name of the write that a trigger goes with.
    WriteName "OPERATION_TYPE",
    /// Whether the log is kept.
    KeepsLog "KEEPS_LOG",
    /// The body of the request, as JSON text.
    RequestText "REQUEST_TEXT",
    /// The body of the response so far, as JSON text.
    ResponseText "RESPONSE_TEXT",
    /// The part of the prelude for console.log.
    LoadConsole "LOAD_CONSOLE",
    /// The part of the prelude for the integrated query.
    LoadQuery "LOAD_QUERY",
}

/// What the native function works on.
#[derive(Clone)]
pub(crate) struct Host {
    lent: Lent,
    keeps_log: bool,
    given: Arc<Texts>,
    state: Arc<Mutex<State>>,
}

/// What a script is given beside its collection.
struct Texts {
    operation: Option<&'static str>,
    request: Option<String>,
    response: Option<String>,
}

impl Texts {
    fn of(role: &Role<'_>) -> Texts {
        let (operation, request, response) = match *role {
            Role::Procedure { arguments } => (None, std::str::from_utf8(arguments).ok(), None),
            Role::PreTrigger { operation, body } => (Some(operation.name()), body, None),
            Role::PostTrigger { operation, request_body, response_body } => {
                (Some(operation.name()), request_body, response_body)
            }
        };
        let request = request.filter(|text| !text.trim().is_empty());
        Texts { operation, request: request.map(str::to_owned), response: response.map(str::to_owned) }
    }
}

/// Where the native function finds what it works on, as long as there is something.
#[derive(Clone, Default)]
pub(crate) struct Place(Arc<Mutex<Option<Host>>>);

impl Place {
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
    message: String,
    continuation: Option<String>,
    is_created: bool,
    log: String,
    finished: Finished,
    is_response_too_long: bool,
}

impl Host {
    /// Begins with nothing but a collection and, before a write, what is to be written.
    pub(crate) fn new(lent: Lent, role: &Role<'_>, keeps_log: bool) -> Host {
        let mut state = State::default();
        if let Role::PreTrigger { body, .. } = role {
            state.finished.request_body = body.map(str::to_owned);
        }
        let given = Arc::new(Texts::of(role));
        Host { lent, keeps_log, given, state: Arc::new(Mutex::new(state)) }
    }

    /// Takes the log.
    pub(crate) fn take_log(&self) -> String {
        std::mem::take(&mut self.state().log)
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

    /// Asks the collection.
    fn ask<R>(&self, ctx: &Ctx<'_>, ask: impl FnOnce(&mut dyn Collection) -> R) -> Result<R> {
        let asked = self.lent.with(ask);
        asked.ok_or_else(|| Exception::throw_message(ctx, OVER))
    }

    /// Does an operation on documents, unless the collection is closing.
    fn operate<'js, R>(
        &self,
        ctx: &Ctx<'js>,
        operate: impl FnOnce(&mut dyn Collection) -> std::result::Result<R, Refusal>,
        show: impl FnOnce(R) -> Result<Value<'js>>,
    ) -> Result<Value<'js>> {
        let outcome = self
            .ask(ctx, |collection| if collection.is_closing() { None } else { Some(operate(collection)) })?;
        match outcome {
            None => false.into_js(ctx),
            Some(Ok(done)) => show(done),
            Some(Err(refusal)) => {
                self.state().message = refusal.message;
                refusal.code.number().into_js(ctx)
            }
        }
    }

    fn call<'js>(&self, ctx: &Ctx<'js>, operation: u32, given: &Given<'_, 'js>) -> Result<Value<'js>> {
        let known = Operation::ALL.get(operation as usize);
        let Some((operation, _)) = known else {
            return Err(Exception::throw_message(ctx, "there is no such operation"));
        };
        let document = |text: String| -> Result<Value<'js>> { ctx.json_parse(text) };
        match operation {
            Operation::SelfLink => self.ask(ctx, |collection| collection.self_link())?.into_js(ctx),
            Operation::AltLink => self.ask(ctx, |collection| collection.alt_link())?.into_js(ctx),
            Operation::Read => {
                let (name, known) = (given.name(0)?, given.text(2)?);
                let read =
                    |collection: &mut dyn Collection| collection.read(name.as_name(), known.as_deref());
                self.operate(ctx, read, |read| match read {
                    ReadDocument::NotModified => Ok(Value::new_null(ctx.clone())),
                    ReadDocument::Found(_) if !given.is_true(3) => true.into_js(ctx),
                    ReadDocument::Found(text) => document(text),
                })
            }
            Operation::Create => {
                let body = given.body(0)?;
                let create = |collection: &mut dyn Collection| collection.create(&body);
                self.operate(
                    ctx,
                    create,
                    |stored| {
                        if given.is_true(1) { document(stored) } else { true.into_js(ctx) }
                    },
                )
            }
            Operation::Upsert => {
                let (body, etag) = (given.body(0)?, given.text(2)?);
                let upsert = |collection: &mut dyn Collection| collection.upsert(&body, etag.as_deref());
                self.operate(ctx, upsert, |(stored, is_created)| {
                    self.state().is_created = is_created;
                    if given.is_true(1) { document(stored) } else { true.into_js(ctx) }
                })
            }
            Operation::Replace => {
                let (name, body, etag) = (given.name(0)?, given.body(2)?, given.text(4)?);
                let replace = |collection: &mut dyn Collection| {
                    collection.replace(name.as_name(), &body, etag.as_deref())
                };
                self.operate(ctx, replace, |stored| {
                    if given.is_true(3) { document(stored) } else { true.into_js(ctx) }
                })
            }
            Operation::Delete => {
                let (name, etag) = (given.name(0)?, given.text(2)?);
                let delete =
                    |collection: &mut dyn Collection| collection.delete(name.as_name(), etag.as_deref());
                self.operate(ctx, delete, |()| true.into_js(ctx))
            }
            Operation::Query => self.query(ctx, given),
            Operation::Message => std::mem::take(&mut self.state().message).into_js(ctx),
            Operation::Continuation => match self.state().continuation.take() {
                Some(continuation) => continuation.into_js(ctx),
                None => Ok(Value::new_undefined(ctx.clone())),
            },
            Operation::IsCreated => self.state().is_created.into_js(ctx),
            Operation::CurrentMegabytes => megabytes(self.usage(ctx)?.current_bytes).into_js(ctx),
            Operation::MaxMegabytes => megabytes(self.usage(ctx)?.max_bytes).into_js(ctx),
            Operation::CurrentUsage => usage_text(self.usage(ctx)?.current_bytes).into_js(ctx),
            Operation::MaxUsage => usage_text(self.usage(ctx)?.max_bytes).into_js(ctx),
            Operation::Guid => self.ask(ctx, |collection| collection.guid())?.into_js(ctx),
            Operation::Random => self.ask(ctx, |collection| collection.random())?.into_js(ctx),
            Operation::Now => {
                let now_ms = self.ask(ctx, |collection| collection.now_ms())?;
                // Dates end long before doubles lose milliseconds.
                (now_ms as f64).into_js(ctx)
            }
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
            Operation::KeepsLog => self.keeps_log.into_js(ctx),
            Operation::RequestText => text(ctx, self.given.request.as_deref()),
            Operation::ResponseText => text(ctx, self.given.response.as_deref()),
            Operation::LoadConsole => Part::Console.load(ctx),
            Operation::LoadQuery => Part::Query.load(ctx),
        }
    }

    fn query<'js>(&self, ctx: &Ctx<'js>, given: &Given<'_, 'js>) -> Result<Value<'js>> {
        let (text, parameters, continuation) = (given.text(0)?, given.text(1)?, given.text(3)?);
        let page_size = given.value(2).and_then(Value::as_number).map(|size| size as usize);
        let parameters = match parameters.as_deref().map(parse_parameters).transpose() {
            Ok(parameters) => parameters.unwrap_or_default(),
            Err(refusal) => return self.operate(ctx, |_| Err::<(), _>(refusal), |()| true.into_js(ctx)),
        };
        let query = |collection: &mut dyn Collection| {
            let text = text.as_deref();
            collection.query(FeedRequest {
                text,
                parameters,
                page_size,
                continuation: continuation.as_deref(),
            })
        };
        self.operate(ctx, query, |page| {
            self.state().continuation = page.continuation;
            if given.is_true(4) { ctx.json_parse(page.documents) } else { true.into_js(ctx) }
        })
    }

    fn usage(&self, ctx: &Ctx<'_>) -> Result<CollectionUsage> {
        self.ask(ctx, |collection| collection.usage())
    }

    /// Adds a line to the log; false if it does not fit any more.
    fn log(&self, text: &str) -> bool {
        let mut state = self.state();
        let separator = if state.log.is_empty() { "" } else { "\n" };
        if state.log.len() + separator.len() + text.len() > LOG_BYTES_MAX {
            return false;
        }
        state.log.push_str(separator);
        state.log.push_str(text);
        true
    }
}

/// Makes the native function.
pub(crate) fn native<'js>(ctx: &Ctx<'js>, place: &Place) -> Result<Function<'js>> {
    let place = place.clone();
    let call = move |ctx: Ctx<'js>, operation: u32, given: Rest<Value<'js>>| match place.get() {
        Some(host) => host.call(&ctx, operation, &Given { ctx: &ctx, values: &given }),
        None => Err(Exception::throw_message(&ctx, OVER)),
    };
    Function::new(ctx.clone(), call)
}

/// What is said to whoever asks when there is nothing to ask any more.
const OVER: &str = "the execution is over";

/// Makes a text that may be missing, which is undefined then.
fn text<'js>(ctx: &Ctx<'js>, text: Option<&str>) -> Result<Value<'js>> {
    match text {
        Some(text) => text.into_js(ctx),
        None => Ok(Value::new_undefined(ctx.clone())),
    }
}

/// The arguments after the operation.
struct Given<'a, 'js> {
    ctx: &'a Ctx<'js>,
    values: &'a [Value<'js>],
}

/// A document's name, and of which kind it is.
struct Named {
    is_rid: bool,
    text: String,
}

impl Named {
    fn as_name(&self) -> DocumentName<'_> {
        if self.is_rid { DocumentName::Rid(&self.text) } else { DocumentName::Id(&self.text) }
    }
}

impl<'js> Given<'_, 'js> {
    fn value(&self, index: usize) -> Option<&Value<'js>> {
        self.values.get(index)
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

fn parse_parameters(text: &str) -> std::result::Result<Vec<(String, armilla_value::Value)>, Refusal> {
    let refused = |why: &str| Refusal::new(ErrorCode::BadRequest, format!("the query's parameters {why}"));
    let parsed = json::parse(text.as_bytes()).map_err(|error| refused(&format!("are not JSON: {error}")))?;
    let Some(list) = parsed.as_array() else { return Err(refused("must be an array")) };
    let mut parameters = Vec::with_capacity(list.len());
    for entry in list {
        let members =
            entry.as_object().and_then(|entry| Some((entry.get("name")?.as_str()?, entry.get("value"))));
        match members {
            Some((name, Some(value))) => parameters.push((name.to_owned(), value.clone())),
            _ => return Err(refused("must have a name, which is text, and a value")),
        }
    }
    Ok(parameters)
}

fn megabytes(bytes: u64) -> String {
    (bytes as f64 / (1024.0 * 1024.0)).to_string()
}

/// Writes a size as the headers about quota do, in kilobytes.
fn usage_text(bytes: u64) -> String {
    let kilobytes = bytes.div_ceil(1024);
    format!("documentsSize={kilobytes};collectionSize={kilobytes};")
}
