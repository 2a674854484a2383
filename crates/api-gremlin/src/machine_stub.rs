//! Stands in for the machine until it is merged.
#![allow(missing_docs, dead_code)]
use std::sync::Arc;
use armilla_gremlin_machine::graph::{Begin, Graph, GraphError, GraphErrorKind, Outcome};
use armilla_gremlin_value::{Bytecode, Position, Value};

#[derive(Debug)]
pub(crate) struct MachineError {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    pub(crate) step: Option<Arc<str>>,
    pub(crate) position: Option<Position>,
    pub(crate) cause: Option<GraphError>,
}
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorKind { Compile, Runtime, Memory, TimedOut, Cancelled, Storage, ReadOnly, Fail }
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect { #[default] Open, CosmosStrict }
#[derive(Debug, Clone, Default)]
pub(crate) struct Options {
    pub(crate) dialect: Dialect,
    pub(crate) read_only: bool,
    pub(crate) seed: u64,
    pub(crate) script: Option<Arc<str>>,
    pub(crate) whole_elements: bool,
}
impl Options { pub(crate) fn of(dialect: Dialect) -> Options { Options { dialect, ..Options::default() } } }
pub(crate) struct Plan(Vec<Value>);
pub(crate) fn compile(bytecode: &Bytecode, _: &Options) -> Result<Plan, MachineError> {
    match bytecode.steps.as_slice() {
        [step] if &*step.name == "inject" => Ok(Plan(step.arguments.clone())),
        _ => Err(MachineError { kind: ErrorKind::Compile, message: "not yet".into(), step: None, position: None, cause: None }),
    }
}
impl From<GraphError> for MachineError {
    fn from(error: GraphError) -> MachineError {
        let kind = match error.kind {
            GraphErrorKind::Storage => ErrorKind::Storage,
            GraphErrorKind::Refused => ErrorKind::Runtime,
            GraphErrorKind::TimedOut => ErrorKind::TimedOut,
            GraphErrorKind::Cancelled => ErrorKind::Cancelled,
            GraphErrorKind::ReadOnly => ErrorKind::ReadOnly,
        };
        MachineError { kind, message: error.message.clone(), step: None, position: None, cause: Some(error) }
    }
}
pub(crate) fn run(plan: &Plan, graph: &dyn Graph, take: &mut dyn FnMut(&Value, u64) -> bool) -> Result<(), MachineError> {
    graph.begin(&Begin::default())?;
    for value in &plan.0 { if !take(value, 1) { break; } }
    graph.finish(Outcome::Done)?;
    Ok(())
}
