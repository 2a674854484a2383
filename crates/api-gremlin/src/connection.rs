//! A connection: who asks on it, and what waits until that is known.
//!
//! The first request of a client that has not logged in is answered with a challenge, and kept. The client answers with a
//! login under the same id; then the request is run as if it had come just now, and so are those that came meanwhile.
//!
//! Not here: running requests (`job`), sockets.

use std::any::Any;
use std::sync::Arc;

use armilla_engine::Access;
use armilla_gremlin_wire::{Authentication, Format, Frame, Operation, Request, Response, Status, read_login};
use bytes::Bytes;
use tokio::sync::Semaphore;

use crate::Shared;
use crate::error_map::UNAUTHORIZED;
use crate::failure::{Costs, Failure, FailureKind, attributes, written};
use crate::job::{Job, Traversal};
use crate::limits::{CONNECTION_TRAVERSALS_MAX, WAITING_BYTES_MAX, WAITING_REQUESTS_MAX};
use crate::options::{Dialect, GraphName};

/// What a message is made of; it is answered with messages of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// Text, which is JSON.
    Text,
    /// Bytes, which begin with the name of their format.
    Binary,
}

/// What is to be done about a message.
pub enum Work {
    /// It is answered with this.
    Answer(MessageKind, Vec<u8>),
    /// It is answered by running this.
    Run(Job),
}

/// What is remembered of a client from one message to the next.
pub struct Connection {
    shared: Arc<Shared>,
    state: State,
    /// Places for its traversals that take a thread.
    places: Arc<Semaphore>,
}

enum State {
    New,
    /// The client was asked to log in; meanwhile its requests wait.
    Challenged(Waiting),
    Known(Session),
}

/// Messages that wait, as they came: read they would take up many times as much.
#[derive(Default)]
struct Waiting {
    messages: Vec<Letter>,
    bytes: usize,
}

/// A message, and what it takes up as long as it is there.
struct Letter {
    kind: MessageKind,
    bytes: Bytes,
    hold: Hold,
}

/// What is kept as long as a message, or what was asked in it, is there.
pub type Hold = Arc<dyn Any + Send + Sync>;

/// A request that may be run once it is known who asks.
struct Draft {
    kind: MessageKind,
    format: Format,
    id: u128,
    traversal: Traversal,
    letter: Letter,
}

/// Who asks, and for which graph.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) access: Access,
    /// The graph of the login; none where there was no login.
    pub(crate) graph: Option<GraphName>,
}

impl Connection {
    pub(crate) fn new(shared: Arc<Shared>) -> Connection {
        let state = match shared.options.is_open {
            true => State::Known(Session { access: Access::Full, graph: None }),
            false => State::New,
        };
        Connection { shared, state, places: Arc::new(Semaphore::new(CONNECTION_TRAVERSALS_MAX)) }
    }

    /// Takes a message; says what is to be done about it, in order. `hold` is kept until it is done.
    pub fn receive(&mut self, kind: MessageKind, bytes: Bytes, hold: Hold) -> Vec<Work> {
        self.open(Letter { kind, bytes, hold })
    }

    /// Returns the length of all messages that are read when the client has logged in.
    pub fn waiting_bytes(&self) -> usize {
        match &self.state {
            State::Challenged(waiting) => waiting.bytes,
            State::New | State::Known(_) => 0,
        }
    }

    fn open(&mut self, letter: Letter) -> Vec<Work> {
        let (kind, message) = (letter.kind, &letter.bytes[..]);
        let graphson2 = self.shared.options.graphson2;
        let opened = match kind {
            MessageKind::Binary => Frame::binary(message, graphson2),
            MessageKind::Text => Ok(Frame::text(std::str::from_utf8(message).unwrap_or_default())),
        };
        let frame = match opened {
            Ok(frame) => frame,
            Err(error) => {
                return vec![self.refuse(kind, Format::Untyped, error.id(), &Failure::from(error.clone()))];
            }
        };
        let request = match Request::read(&frame) {
            Ok(request) => request,
            Err(error) => {
                return vec![self.refuse(kind, frame.format, error.id(), &Failure::from(error.clone()))];
            }
        };
        if let Some(failure) = self.unknown_format(frame.format) {
            return vec![self.refuse(kind, frame.format, Some(request.id), &failure)];
        }
        let traversal = match request.operation() {
            Ok(Operation::Authentication(login)) => {
                return self.log_in(kind, frame.format, request.id, &login);
            }
            Ok(Operation::Close(_)) => return vec![self.done(kind, frame.format, request.id, 204)],
            Ok(Operation::Eval(eval)) => Traversal::Script(Box::new(eval)),
            Ok(Operation::Bytecode(_)) if self.shared.options.dialect == Dialect::CosmosStrict => {
                let failure = Failure::new(
                    498,
                    1004,
                    FailureKind::Malformed,
                    "Gremlin Malformed Request: bytecode is not supported: send the traversal as a script.",
                );
                return vec![self.refuse(kind, frame.format, Some(request.id), &failure)];
            }
            Ok(Operation::Bytecode(bytecode)) => Traversal::Bytecode(Box::new(bytecode)),
            Err(error) => {
                return vec![self.refuse(kind, frame.format, Some(request.id), &Failure::from(error))];
            }
        };
        let id = request.id;
        let format = match (&traversal, frame.format) {
            // Drivers that send bytecode read traversers, which have a form with types alone.
            (Traversal::Bytecode(_), Format::Untyped) => Format::GraphSon2Typed,
            (_, format) => format,
        };
        self.traverse(Draft { kind, format, id, traversal, letter })
    }

    /// Says why a format is not spoken, where the service does not speak it.
    fn unknown_format(&self, format: Format) -> Option<Failure> {
        if self.shared.options.dialect == Dialect::Open {
            return None;
        }
        let name = match format {
            Format::Untyped | Format::GraphSon2Typed => return None,
            Format::GraphSon3 => "GraphSON v3 IO",
            Format::GraphBinary => "GraphBinary IO",
        };
        let message = format!("Gremlin Malformed Request: {name} is not supported.");
        Some(Failure::new(498, 1004, FailureKind::Malformed, message))
    }

    fn traverse(&mut self, draft: Draft) -> Vec<Work> {
        let bytes = draft.letter.bytes.len();
        match &mut self.state {
            State::Known(session) => vec![run(&self.shared, &self.places, session, draft)],
            State::New => {
                let challenge = self.challenge(&draft);
                self.state = State::Challenged(Waiting { messages: vec![draft.letter], bytes });
                vec![challenge]
            }
            State::Challenged(waiting) => {
                if waiting.messages.len() >= WAITING_REQUESTS_MAX || waiting.bytes + bytes > WAITING_BYTES_MAX
                {
                    let failure = Failure::plain(
                        500,
                        1008,
                        "too many requests wait for the login: answer the challenge first",
                    );
                    return vec![self.refuse(draft.kind, draft.format, Some(draft.id), &failure)];
                }
                waiting.bytes += bytes;
                waiting.messages.push(draft.letter);
                Vec::new()
            }
        }
    }

    fn challenge(&self, draft: &Draft) -> Work {
        let failure =
            Failure::plain(407, 407, "Graph Service requires Gremlin Client to provide SASL Authentication.");
        self.refuse(draft.kind, draft.format, Some(draft.id), &failure)
    }

    fn log_in(&mut self, kind: MessageKind, format: Format, id: u128, login: &Authentication) -> Vec<Work> {
        let session = self.session(login);
        let state = std::mem::replace(&mut self.state, State::New);
        let waiting = match state {
            State::Challenged(waiting) => waiting.messages,
            // The login of a connection stays what it is.
            State::Known(session) => {
                self.state = State::Known(session);
                return vec![self.done(kind, format, id, 200)];
            }
            State::New => Vec::new(),
        };
        match session {
            Ok(session) => {
                self.state = State::Known(session);
                let mut work: Vec<Work> = waiting.into_iter().flat_map(|letter| self.open(letter)).collect();
                if work.is_empty() {
                    work.push(self.done(kind, format, id, 200));
                }
                work
            }
            Err(failure) => {
                tracing::debug!("login refused: {}", failure.message);
                let mut refused: Vec<Work> =
                    waiting.iter().filter_map(|letter| self.refuse_letter(letter, &failure)).collect();
                if refused.is_empty() {
                    refused.push(self.refuse(kind, format, Some(id), &failure));
                }
                refused
            }
        }
    }

    /// Refuses a request that waited. It was read before, so it can be read.
    fn refuse_letter(&self, letter: &Letter, failure: &Failure) -> Option<Work> {
        let frame = match letter.kind {
            MessageKind::Binary => Frame::binary(&letter.bytes, self.shared.options.graphson2).ok()?,
            MessageKind::Text => Frame::text(std::str::from_utf8(&letter.bytes).ok()?),
        };
        let request = Request::read(&frame).ok()?;
        Some(self.refuse(letter.kind, frame.format, Some(request.id), failure))
    }

    fn session(&self, login: &Authentication) -> Result<Session, Failure> {
        let login = read_login(&login.sasl).map_err(|_| Failure::plain(401, 401, UNAUTHORIZED))?;
        self.shared.log_in(&login.user, &login.password)
    }

    fn refuse(&self, kind: MessageKind, format: Format, id: Option<u128>, failure: &Failure) -> Work {
        let costs = Costs { activity_id: self.shared.new_uuid(), ..Costs::default() };
        Work::Answer(kind, written(&failure.response(id, &costs), format))
    }

    /// Answers a request that has no results.
    fn done(&self, kind: MessageKind, format: Format, id: u128, code: u16) -> Work {
        let costs = Costs { activity_id: self.shared.new_uuid(), ..Costs::default() };
        let status = Status { code, message: "".into(), attributes: attributes(200, &costs) };
        let data = (code != 204).then(Vec::new);
        Work::Answer(kind, written(&Response { id: Some(id), status, data }, format))
    }
}

fn run(shared: &Arc<Shared>, places: &Arc<Semaphore>, session: &Session, draft: Draft) -> Work {
    let (shared, places, session) = (shared.clone(), Some(places.clone()), session.clone());
    let Draft { kind, format, id, traversal, letter: Letter { bytes, hold, .. } } = draft;
    Work::Run(Job {
        shared,
        places,
        session,
        kind,
        format,
        id,
        traversal,
        bytes: bytes.len(),
        _hold: Some(hold),
    })
}
