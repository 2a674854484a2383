//! A connection that sends one script over and over, each time with other parameters, and looks at every answer.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use armilla_env::Random;
use armilla_workload::{Answer, Effort, Future, Worker};
use tokio::runtime::Runtime;

use super::cases::{Case, Task};
use super::graphbinary::{Parameter, check_count, check_named, good_code, write_eval};
use super::people::{self, People};
use super::web_socket::WebSocket;

/// Draws parameters.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    people: Arc<People>,
    random: Random,
    stream: u64,
    sequence: u64,
}

impl Drawn {
    pub(super) fn new(people: Arc<People>, seed: u64, stream: u64) -> Drawn {
        Drawn { people, random: Random::of_part(seed, stream), stream, sequence: 0 }
    }

    fn vertex(&mut self) -> usize {
        self.random.index(self.people.vertices())
    }
}

/// Opens a connection that does something over and over.
pub(super) fn worker(
    runtime: &Runtime,
    address: SocketAddr,
    task: Task,
    drawn: Drawn,
) -> Result<Box<dyn Worker>> {
    let socket = runtime.block_on(WebSocket::open(address))?;
    Ok(Box::new(Asker { socket, task, drawn, request: Vec::new(), expected: Expected::Count(0) }))
}

/// What an answer must have.
#[derive(Debug)]
enum Expected {
    Named(String),
    Count(u64),
}

struct Asker {
    socket: WebSocket,
    task: Task,
    drawn: Drawn,
    request: Vec<u8>,
    expected: Expected,
}

impl Asker {
    fn draw(&mut self) -> Vec<(&'static str, Parameter)> {
        let text = |name, value: String| (name, Parameter::Text(value));
        let vertex = self.drawn.vertex();
        let id = people::id(vertex);
        self.expected = Expected::Named(id.clone());
        match self.task {
            Task::Measured(Case::Id) => vec![text("x", id)],
            Task::Measured(Case::Address) => vec![text("pk", people::partition(vertex)), text("x", id)],
            Task::Measured(Case::Has) => vec![text("x", people::name(vertex))],
            Task::Measured(Case::AddVertex) => {
                self.drawn.sequence += 1;
                let new = format!("n{}-{}", self.drawn.stream, self.drawn.sequence);
                self.expected = Expected::Named(new.clone());
                vec![
                    text("name", format!("name-{new}")),
                    text("x", new),
                    text("pk", people::partition(vertex)),
                    ("age", Parameter::Int(people::age(vertex))),
                ]
            }
            Task::Measured(Case::AddEdge) => {
                let other = people::id(self.drawn.vertex());
                vec![text("x", id), text("y", other), ("weight", Parameter::Double(0.5))]
            }
            Task::Measured(case @ (Case::TwoHops | Case::ThreeHops)) => {
                let hops = case.hops().unwrap_or_default();
                self.expected = Expected::Count(self.drawn.people.reached(vertex, hops));
                vec![text("x", id)]
            }
            Task::Update => {
                self.drawn.sequence += 1;
                vec![text("x", id), ("age", Parameter::Int((self.drawn.sequence % 100) as i32))]
            }
        }
    }
}

impl Worker for Asker {
    fn prepare(&mut self) -> usize {
        let bindings = self.draw();
        self.request.clear();
        let id = self.drawn.random.guid_bytes();
        write_eval(&mut self.request, id, self.task.script(), &bindings);
        0
    }

    fn perform(&mut self) -> Future<'_, Result<Answer>> {
        Box::pin(async {
            let expected = &self.expected;
            let look = |answer: &[u8]| {
                let code = good_code(answer)?;
                match expected {
                    Expected::Named(name) => check_named(answer, name)?,
                    Expected::Count(count) => check_count(answer, *count)?,
                }
                Ok(code == 200)
            };
            self.socket.exchange(&self.request, look).await?;
            Ok(Answer::Done(Effort { charge: None, requests: 1, items: 1 }))
        })
    }
}
