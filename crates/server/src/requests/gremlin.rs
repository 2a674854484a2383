//! The Gremlin API behind WebSocket.

use std::ops::ControlFlow;
use std::sync::Arc;

use armilla_api_gremlin::{
    Answers, Begun, Connection, GremlinApi, MESSAGE_BYTES_MAX, MessageKind as Kind, REQUESTS_IN_FLIGHT_MAX,
    Work,
};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::listening::protocol::Session;
use crate::listening::protocol::web_socket::{Message, MessageKind, MessageService, Outbox};
use crate::requests::api::Front;

/// Answers messages of Gremlin's protocol.
pub(crate) struct GremlinService {
    api: GremlinApi,
    /// Places of long messages.
    long_messages: Arc<Semaphore>,
    /// Turns to read them.
    reading: Semaphore,
}

/// A message that is longer takes long to be read.
const LONG_MESSAGE_BYTES: usize = 64 * 1024;

/// Long messages that are read or done at a time.
const LONG_MESSAGES_MAX: usize = 8;

/// Those of them that are read.
const LONG_MESSAGES_READ_MAX: usize = 1;

/// A connection with what is being done for it, which ends with it.
pub(crate) struct Conversation {
    connection: Connection,
    outbox: Outbox,
    places: Arc<Semaphore>,
    jobs: JoinSet<()>,
}

/// Sends answers of a request.
struct Sender(Outbox);

impl Answers for Sender {
    async fn send(&self, kind: Kind, answer: Vec<u8>) -> bool {
        send(&self.0, kind, &answer).await
    }
}

impl GremlinService {
    pub(crate) fn new(api: GremlinApi) -> GremlinService {
        GremlinService {
            api,
            long_messages: Arc::new(Semaphore::new(LONG_MESSAGES_MAX)),
            reading: Semaphore::new(LONG_MESSAGES_READ_MAX),
        }
    }
}

impl MessageService for GremlinService {
    type Conversation = Conversation;

    fn message_bytes_max(&self) -> usize {
        MESSAGE_BYTES_MAX
    }

    fn begin(&self, _: &Session, outbox: Outbox) -> Conversation {
        Conversation {
            connection: self.api.connect(),
            outbox,
            places: Arc::new(Semaphore::new(REQUESTS_IN_FLIGHT_MAX)),
            jobs: JoinSet::new(),
        }
    }

    async fn take(&self, conversation: &mut Conversation, message: Message) -> ControlFlow<()> {
        while conversation.jobs.try_join_next().is_some() {}
        let kind = match message.kind {
            MessageKind::Text => Kind::Text,
            MessageKind::Binary => Kind::Binary,
        };
        let Message { bytes, hold, .. } = message;
        let hold = Arc::new(hold);
        // A login is the time to read what waited for it.
        let is_long = bytes.len() + conversation.connection.waiting_bytes() > LONG_MESSAGE_BYTES;
        let mut turn = None;
        let work = if is_long {
            // What is read of it takes up many times as much: a few at a time, until they are done.
            let Ok(taken) = self.long_messages.clone().acquire_owned().await else {
                return ControlFlow::Break(());
            };
            turn = Some(Arc::new(taken));
            // The semaphore is never closed.
            let _reading = self.reading.acquire().await;
            // Reading it takes long: meanwhile another thread takes over from this one.
            tokio::task::block_in_place(|| conversation.connection.receive(kind, bytes, hold))
        } else {
            conversation.connection.receive(kind, bytes, hold)
        };
        for work in work {
            let outbox = conversation.outbox.clone();
            match work {
                Work::Answer(kind, answer) => {
                    outbox.metrics().served(Front::Gremlin);
                    if !send(&outbox, kind, &answer).await {
                        return ControlFlow::Break(());
                    }
                }
                Work::Run(job) => {
                    let Ok(place) = conversation.places.clone().acquire_owned().await else {
                        return ControlFlow::Break(());
                    };
                    let metrics = outbox.metrics();
                    let Ok(expected) = outbox.expect().await else { return ControlFlow::Break(()) };
                    // Most are done in less time than it takes to give them a task.
                    let begun = {
                        let _request = metrics.request();
                        job.begin()
                    };
                    let running = match begun {
                        Begun::Answered(kind, answers) => {
                            for answer in answers {
                                if !send(&outbox, kind, &answer).await {
                                    return ControlFlow::Break(());
                                }
                            }
                            metrics.served(Front::Gremlin);
                            continue;
                        }
                        Begun::Runs(running) => running,
                    };
                    let turn = turn.clone();
                    conversation.jobs.spawn(async move {
                        let (_place, _turn, _request) = (place, turn, metrics.request());
                        running.run(&Sender(outbox)).await;
                        drop(expected);
                        metrics.served(Front::Gremlin);
                    });
                }
            }
        }
        ControlFlow::Continue(())
    }

    async fn finish(&self, conversation: &mut Conversation) {
        while conversation.jobs.join_next().await.is_some() {}
    }
}

async fn send(outbox: &Outbox, kind: Kind, answer: &[u8]) -> bool {
    let kind = match kind {
        Kind::Text => MessageKind::Text,
        Kind::Binary => MessageKind::Binary,
    };
    outbox.send(kind, answer).await.is_ok()
}
