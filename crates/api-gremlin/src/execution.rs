//! Running a traversal over a graph, and writing its results as answers.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use armilla_engine::Caller;
use armilla_gremlin_language::{Dialect as Language, parse};
use armilla_gremlin_machine::{
    Dialect as Machine, Execution as Running, MachineError, Options, Plan, compile,
};
use armilla_gremlin_value::{Bytecode, Value};
use armilla_gremlin_wire::{Format, FrameBounds, Materialize, ResponseWriter, ResultKind, Status};
use tokio::runtime::Handle;

use crate::Shared;
use crate::connection::Session;
use crate::elements::Reader;
use crate::failure::{Costs, Failure, FailureKind, attributes, written};
use crate::graph::{EngineGraph, Writes};
use crate::job::Traversal;
use crate::keys::may_write;
use crate::layout::Layout;
use crate::limits::{
    ANSWER_BYTES_ENOUGH, BATCH_RESULTS_DEFAULT, BATCH_RESULTS_MAX, TRAVERSALS_AT_ONCE_MAX,
    TRAVERSALS_BYTES_ENOUGH, WHOLE_ANSWER_BYTES_MAX,
};
use crate::options::{Dialect, GraphName};
use crate::pending::Pending;
use crate::store::{Charges, Deadline, Store};

/// Where answers go, but for the last one.
pub(crate) enum Target<'t> {
    /// To a client that takes any number of them; false if it is gone.
    Frames(&'t dyn Fn(Vec<u8>) -> bool),
    /// To one that takes one: so there are none but the last.
    Whole,
}

/// A request while it runs.
pub(crate) struct Execution<'e> {
    pub(crate) shared: &'e Shared,
    pub(crate) session: &'e Session,
    pub(crate) format: Format,
    pub(crate) id: u128,
    pub(crate) activity_id: u128,
    pub(crate) deadline: Deadline,
    pub(crate) runtime: Handle,
}

/// The last answer to a request, with its status and its inner status.
pub(crate) struct Answered {
    pub(crate) code: u16,
    pub(crate) inner: i32,
    pub(crate) answer: Vec<u8>,
}

/// A request whose traversal has ended, but for writes that are left to be done and for its last answer.
pub(crate) struct Ended {
    format: Format,
    id: u128,
    writer: ResponseWriter,
    bill: Bill,
    writes: Option<Writes>,
}

/// Adds up what was told of costs already.
struct Bill {
    activity_id: u128,
    deadline: Deadline,
    charges: Charges,
    told_charge: Cell<f64>,
    told_ms: Cell<f64>,
}

impl Bill {
    fn costs(&self) -> Costs {
        let total_charge = self.charges.total();
        let total_time_ms = self.deadline.elapsed().as_secs_f64() * 1_000.0;
        let hundredths = |charge: f64| (charge * 100.0).round() / 100.0;
        let costs = Costs {
            activity_id: self.activity_id,
            charge: hundredths(total_charge - self.told_charge.get()),
            total_charge: hundredths(total_charge),
            time_ms: (total_time_ms - self.told_ms.get()).max(0.0),
            total_time_ms,
        };
        self.told_charge.set(total_charge);
        self.told_ms.set(total_time_ms);
        costs
    }

    /// Makes the answer that says why a request failed.
    fn failed(&self, failure: &Failure, id: u128, format: Format) -> Answered {
        let answer = written(&failure.response(Some(id), &self.costs()), format);
        Answered { code: failure.code, inner: failure.inner, answer }
    }
}

impl Ended {
    /// Says whether there is something to write before it can be answered.
    pub(crate) fn has_writes(&self) -> bool {
        self.writes.is_some()
    }

    /// Does what is left to write, and makes the last answer.
    pub(crate) async fn write(mut self) -> Answered {
        if let Some(writes) = self.writes.take() {
            let charges = self.bill.charges.clone();
            if let Err(error) = writes.run(&charges).await {
                return self.bill.failed(&MachineError::from(error).into(), self.id, self.format);
            }
        }
        self.answered()
    }

    /// Makes the last answer, where there is nothing left to write.
    pub(crate) fn answered(mut self) -> Answered {
        let attributes = attributes(200, &self.bill.costs());
        let status = Status { code: 200, message: "".into(), attributes };
        match self.writer.finish(Some(self.id), &status) {
            Ok(answer) => Answered { code: 200, inner: 200, answer },
            Err(error) => self.bill.failed(&error.into(), self.id, self.format),
        }
    }
}

impl Execution<'_> {
    /// Runs a traversal, and sends all of its answers but the last.
    pub(crate) fn run(self, traversal: &Traversal, target: &Target<'_>) -> Result<Ended, Answered> {
        let bill = Bill {
            activity_id: self.activity_id,
            deadline: self.deadline.clone(),
            charges: Charges::default(),
            told_charge: Cell::new(0.0),
            told_ms: Cell::new(0.0),
        };
        match self.answer(traversal, target, &bill) {
            Ok((writer, writes)) => Ok(Ended { format: self.format, id: self.id, writer, bill, writes }),
            Err(failure) => Err(bill.failed(&failure, self.id, self.format)),
        }
    }

    /// Runs it; returns the results that are not sent yet, and what is left to be written.
    fn answer(
        &self,
        traversal: &Traversal,
        target: &Target<'_>,
        bill: &Bill,
    ) -> Result<(ResponseWriter, Option<Writes>), Failure> {
        let options = traversal.options();
        let (queries, kind): (Vec<Arc<Bytecode>>, ResultKind) = match traversal {
            Traversal::Script(eval) => {
                let dialect = match self.shared.options.dialect {
                    Dialect::Open => Language::Open,
                    Dialect::CosmosStrict => Language::CosmosStrict,
                };
                let script = parse(&eval.script, &eval.bindings, dialect)?;
                (script.queries.into_iter().map(Arc::new).collect(), ResultKind::Values)
            }
            Traversal::Bytecode(request) => (vec![request.bytecode.clone()], ResultKind::Traversers),
        };
        let name = self.graph_name(options.graph())?;
        let bounds = match target {
            Target::Frames(_) => FrameBounds {
                items: options.batch_size.unwrap_or(BATCH_RESULTS_DEFAULT).min(BATCH_RESULTS_MAX),
                bytes: ANSWER_BYTES_ENOUGH,
                ..FrameBounds::default()
            },
            Target::Whole => FrameBounds {
                items: usize::MAX,
                bytes: WHOLE_ANSWER_BYTES_MAX,
                item_bytes: WHOLE_ANSWER_BYTES_MAX,
            },
        };
        let writer = RefCell::new(ResponseWriter::new(self.format, kind, options.materialize, bounds));
        let dialect = Options::of(match self.shared.options.dialect {
            Dialect::Open => Machine::Open,
            Dialect::CosmosStrict => Machine::CosmosStrict,
        });
        // This one is among those that have a place, unless it is tried.
        let running = TRAVERSALS_AT_ONCE_MAX - self.shared.traversals.available_permits();
        let share = TRAVERSALS_BYTES_ENOUGH / running.max(1) as u64;
        let machine = Options {
            memory_bytes_max: dialect.memory_bytes_max.min(share),
            read_only: false,
            seed: self.shared.new_uuid() as u64,
            script: match traversal {
                Traversal::Script(eval) => Some(eval.script.clone()),
                Traversal::Bytecode(_) => None,
            },
            whole_elements: options.materialize == Materialize::All,
            ..dialect
        };
        let last = queries.len().saturating_sub(1);
        let mut writes = None;
        for (place, query) in queries.iter().enumerate() {
            let plan = compile(query, &machine)?;
            let graph = self.graph(name, &bill.charges)?;
            // Of several traversals the results of the last are the answer.
            let mut take = |value: &Value, bulk: u64| match place == last {
                true => self.push(&writer, value, bulk, target, bill),
                false => Ok(()),
            };
            traverse(&plan, &graph, &machine, &mut take)?;
            writes = graph.into_writes();
            if place != last && writes.is_some() {
                // The next traversal is to see them.
                self.deadline.check_may_wait().map_err(MachineError::from)?;
            }
        }
        Ok((writer.into_inner(), writes))
    }

    /// Adds a result, and sends an answer whenever one is full.
    fn push(
        &self,
        writer: &RefCell<ResponseWriter>,
        value: &Value,
        bulk: u64,
        target: &Target<'_>,
        bill: &Bill,
    ) -> Result<(), Failure> {
        let mut left = bulk;
        let mut writer = writer.borrow_mut();
        while left > 0 {
            let taken = writer.push(value, left)?;
            left = left.saturating_sub(taken);
            if left == 0 {
                return Ok(());
            }
            let Target::Frames(send) = target else {
                return Err(Failure::new(
                    599,
                    1001,
                    FailureKind::Runtime,
                    "the results are too large for one answer: return less, or connect with WebSocket",
                ));
            };
            let status = Status { code: 206, message: "".into(), attributes: attributes(200, &bill.costs()) };
            let answer = writer.finish(Some(self.id), &status)?;
            // A result may come more often than can ever be sent.
            self.deadline.check().map_err(MachineError::from)?;
            if !send(answer) {
                return Err(Failure::new(500, 1007, FailureKind::Internal, "the client is gone"));
            }
        }
        Ok(())
    }

    /// Finds the graph that a request calls by a name.
    fn graph_name(&self, alias: &str) -> Result<&GraphName, Failure> {
        let named =
            self.shared.options.aliases.iter().find(|known| known.name == alias).map(|known| &known.graph);
        let found = match alias {
            "g" => self.session.graph.as_ref().or(named),
            _ => named,
        };
        found.ok_or_else(|| {
            let message = match alias {
                "g" => "the request does not say which graph it means: log in with /dbs/<database>/colls/<graph>, or name an \
                        alias that the server knows"
                    .to_owned(),
                alias => format!("The traversal source [{alias}] for alias [g] is not configured on the server."),
            };
            Failure::new(499, 1004, FailureKind::Malformed, message)
        })
    }

    /// Opens a graph for one traversal.
    fn graph(&self, name: &GraphName, charges: &Charges) -> Result<EngineGraph, Failure> {
        let engine = self.shared.engine.clone();
        let caller = Caller { access: self.session.access.clone(), ..Caller::full() };
        let located = engine.locate(&caller.access, &name.database, &name.container)?;
        let handle = located.container;
        let layout = Layout::of(&handle.definition());
        let layout = Arc::new(layout.map_err(|why| Failure::new(597, 400, FailureKind::Runtime, why))?);
        let reader = Reader {
            layout: layout.clone(),
            identity: handle.identity().clone(),
            has_versions: false,
            system_properties: Vec::new(),
        };
        Ok(EngineGraph {
            may_write: may_write(&caller.access),
            repeats_are_lists: self.shared.options.dialect == Dialect::CosmosStrict,
            layout,
            env: self.shared.env.clone(),
            reader: RefCell::new(reader),
            pending: RefCell::new(Pending::default()),
            store: Store {
                engine,
                caller,
                handle,
                runtime: self.runtime.clone(),
                deadline: self.deadline.clone(),
                charges: charges.clone(),
                figures: Cell::default(),
            },
        })
    }
}

/// Runs a plan, and hands over its results as they come. Where they cannot be taken, what it has not written yet is not.
fn traverse(
    plan: &Plan,
    graph: &EngineGraph,
    options: &Options,
    take: &mut dyn FnMut(&Value, u64) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut running = Running::new(plan, graph, options);
    while let Some(answers) = running.next_batch()? {
        for answer in answers {
            take(&answer.value, answer.bulk)?;
        }
    }
    Ok(())
}
