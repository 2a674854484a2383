//! Running a traversal over a graph, and writing its results as answers.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use armilla_engine::Caller;
use armilla_gremlin_language::{Dialect as Language, parse};
use armilla_gremlin_machine::{Dialect as Machine, Execution as Running, Options, Plan, compile};
use armilla_gremlin_value::{Bytecode, Value};
use armilla_gremlin_wire::{Format, FrameBounds, Materialize, ResponseWriter, ResultKind, Status};
use tokio::runtime::Handle;

use crate::Shared;
use crate::connection::Session;
use crate::elements::Reader;
use crate::failure::{Costs, Failure, FailureKind, attributes, written};
use crate::graph::EngineGraph;
use crate::job::Traversal;
use crate::keys::may_write;
use crate::layout::Layout;
use crate::limits::{ANSWER_BYTES_ENOUGH, BATCH_RESULTS_DEFAULT, BATCH_RESULTS_MAX, WHOLE_ANSWER_BYTES_MAX};
use crate::options::{Dialect, GraphName};
use crate::pending::Pending;
use crate::store::{Charges, Deadline, Store};

/// Where answers go.
pub(crate) enum Target<'t> {
    /// To a client that takes any number of them; false if it is gone.
    Frames(&'t dyn Fn(Vec<u8>) -> bool),
    /// To one that takes one.
    Whole(&'t dyn Fn(Vec<u8>)),
}

impl Target<'_> {
    /// Sends an answer; false if no more can be sent.
    pub(crate) fn send(&self, answer: Vec<u8>) -> bool {
        match self {
            Target::Frames(send) => send(answer),
            Target::Whole(send) => {
                send(answer);
                true
            }
        }
    }
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

/// Adds up what was told of costs already.
struct Bill {
    charges: Charges,
    told_charge: Cell<f64>,
    told_ms: Cell<f64>,
}

impl Execution<'_> {
    /// Runs a traversal, and sends its answers; returns the status of the last one.
    pub(crate) fn run(self, traversal: &Traversal, target: &Target<'_>) -> (u16, i32) {
        let bill = Bill { charges: Charges::default(), told_charge: Cell::new(0.0), told_ms: Cell::new(0.0) };
        match self.answer(traversal, target, &bill) {
            Ok(()) => (200, 200),
            Err(failure) => {
                let answer = failure.response(Some(self.id), &self.costs(&bill));
                target.send(written(&answer, self.format));
                (failure.code, failure.inner)
            }
        }
    }

    fn costs(&self, bill: &Bill) -> Costs {
        let total_charge = bill.charges.total();
        let total_time_ms = self.deadline.elapsed().as_secs_f64() * 1_000.0;
        let hundredths = |charge: f64| (charge * 100.0).round() / 100.0;
        let costs = Costs {
            activity_id: self.activity_id,
            charge: hundredths(total_charge - bill.told_charge.get()),
            total_charge: hundredths(total_charge),
            time_ms: (total_time_ms - bill.told_ms.get()).max(0.0),
            total_time_ms,
        };
        bill.told_charge.set(total_charge);
        bill.told_ms.set(total_time_ms);
        costs
    }

    fn answer(&self, traversal: &Traversal, target: &Target<'_>, bill: &Bill) -> Result<(), Failure> {
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
            Target::Whole(_) => FrameBounds {
                items: usize::MAX,
                bytes: WHOLE_ANSWER_BYTES_MAX,
                item_bytes: WHOLE_ANSWER_BYTES_MAX,
            },
        };
        let writer = RefCell::new(ResponseWriter::new(self.format, kind, options.materialize, bounds));
        let machine = Options {
            read_only: false,
            seed: self.shared.new_uuid() as u64,
            script: match traversal {
                Traversal::Script(eval) => Some(eval.script.clone()),
                Traversal::Bytecode(_) => None,
            },
            whole_elements: options.materialize == Materialize::All,
            ..Options::of(match self.shared.options.dialect {
                Dialect::Open => Machine::Open,
                Dialect::CosmosStrict => Machine::CosmosStrict,
            })
        };
        let last = queries.len().saturating_sub(1);
        for (place, query) in queries.iter().enumerate() {
            let plan = compile(query, &machine)?;
            let graph = self.graph(name, &bill.charges)?;
            // Of several traversals the results of the last are the answer.
            let mut take = |value: &Value, bulk: u64| match place == last {
                true => self.push(&writer, value, bulk, target, bill),
                false => Ok(()),
            };
            traverse(&plan, &graph, &machine, &mut take)?;
        }
        let status = Status { code: 200, message: "".into(), attributes: attributes(200, &self.costs(bill)) };
        let answer = writer.borrow_mut().finish(Some(self.id), &status)?;
        target.send(answer);
        Ok(())
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
            if let Target::Whole(_) = target {
                return Err(Failure::new(
                    599,
                    1001,
                    FailureKind::Runtime,
                    "the results are too large for one answer: return less, or connect with WebSocket",
                ));
            }
            let status =
                Status { code: 206, message: "".into(), attributes: attributes(200, &self.costs(bill)) };
            let answer = writer.finish(Some(self.id), &status)?;
            if !target.send(answer) {
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
