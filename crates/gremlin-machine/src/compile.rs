//! Compiles instructions to steps: arguments checked, modulators folded into the steps they modulate.
//!
//! Not here: what of a plan can be looked up at once (`analysis`), what steps do (`run`).

pub(crate) mod analysis;
pub(crate) mod arguments;
mod effects;
mod modulate;
mod predicates;
mod sources;
mod spawn;
mod steps;
mod steps_text;
mod writes;

use std::sync::Arc;

use armilla_gremlin_value::{Bytecode, Instruction, Value};

use crate::error::{MachineError, Result};
use crate::graph::Condition;
use crate::limits;
use crate::options::{Dialect, Options};
use crate::step::{AdjacentStep, Argument, EdgeEnd, Kind, LookupStep, Operator, Step, Traversal};

/// A traversal that is ready to run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) root: Traversal,
    pub(crate) settings: Settings,
    /// What the last instruction of a script asks for.
    pub terminal: Terminal,
    /// Whether it has steps that write.
    pub writes: bool,
    pub(crate) path: PathNeed,
    pub(crate) uses_sack: bool,
    /// The side effects that its steps collect.
    pub(crate) side_effects: Vec<(Arc<str>, SideKind)>,
}

/// What kind of side effect a step collects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SideKind {
    Collected,
    Groups,
    Counts,
    Tree,
}

/// What a script wants of its results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// All of them.
    All,
    /// The first so many.
    Next(u64),
    /// Nothing, but that it runs.
    Iterate,
    /// Whether there is one.
    HasNext,
    /// The plan, not its results.
    Explain,
    /// The profile of the service.
    ExecutionProfile,
    /// The profile of TinkerPop.
    Profile,
    /// Results without those that are there already.
    Set,
}

/// How much of their way traversers must know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PathNeed {
    Nothing,
    /// Only what has labels.
    Labelled,
    All,
}

/// What the source of a traversal sets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) side_effects: Vec<(Arc<str>, Value, Option<Operator>)>,
    pub(crate) sack: Option<Sack>,
    pub(crate) system_properties: Vec<Arc<str>>,
    pub(crate) read_only: bool,
    /// What `PartitionStrategy` and `SubgraphStrategy` ask of every vertex and edge.
    pub(crate) vertex_filter: Option<Traversal>,
    pub(crate) edge_filter: Option<Traversal>,
    pub(crate) partition: Option<Partition>,
    pub(crate) no_bulk: bool,
    /// What `coin` and its like draw from (`SeedStrategy`).
    pub(crate) seed: Option<i64>,
    /// A `by` that yields nothing yields null (`ProductiveByStrategy`).
    pub(crate) productive_by: bool,
    /// Edges need both of their vertices (`SubgraphStrategy`).
    pub(crate) edge_ends: bool,
    pub(crate) property_filter: Option<Traversal>,
    pub(crate) options: Vec<(Arc<str>, Value)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Sack {
    pub(crate) initial: Argument,
    pub(crate) merge: Option<Operator>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Partition {
    pub(crate) key: Arc<str>,
    pub(crate) write: Option<Value>,
    pub(crate) read: Vec<Value>,
}

impl Plan {
    /// Returns an option of `with(...)`, such as `evaluationTimeout`.
    pub fn option(&self, name: &str) -> Option<&Value> {
        self.settings.options.iter().rev().find(|(other, _)| other.as_ref() == name).map(|(_, value)| value)
    }
}

/// Compiles a traversal.
pub fn compile(bytecode: &Bytecode, options: &Options) -> std::result::Result<Plan, MachineError> {
    let mut compiler = Compiler { options, settings: Settings::default(), steps: 0, depth: 0, writes: false };
    for source in &bytecode.sources {
        compiler.source(source)?;
    }
    let (steps, terminal) = terminal_of(&bytecode.steps)?;
    let mut root = compiler.traversal(steps, Place { root: true, in_where: false })?;
    let filters = analysis::path_need_of_filters(&compiler.settings);
    if analysis::path_need(&root, false).max(filters) < PathNeed::All {
        analysis::fold_hops(&mut root);
    }
    analysis::optimise(&mut root, true);
    if compiler.writes && (options.read_only || compiler.settings.read_only) {
        return Err(MachineError::new(
            crate::error::ErrorKind::ReadOnly,
            "The provided traversal has a mutating step and thus is not read only",
        ));
    }
    let settings = compiler.settings;
    let path = analysis::path_need(&root, true).max(filters);
    let mut side_effects = Vec::new();
    analysis::side_effects(&mut root, &mut side_effects);
    let (writes, uses_sack) = (compiler.writes, settings.sack.is_some());
    Ok(Plan { uses_sack, writes, root, settings, terminal, path, side_effects })
}

fn terminal_of(steps: &[Instruction]) -> Result<(&[Instruction], Terminal)> {
    let Some((last, rest)) = steps.split_last() else { return Ok((steps, Terminal::All)) };
    let terminal = match (last.name.as_ref(), last.arguments.as_slice()) {
        ("toList" | "toBulkSet", []) => Terminal::All,
        ("toSet", []) => Terminal::Set,
        ("next" | "tryNext", []) => Terminal::Next(1),
        ("next", [amount]) => Terminal::Next(arguments::amount(last, amount)?.unwrap_or(u64::MAX)),
        ("iterate", []) => Terminal::Iterate,
        ("hasNext", []) => Terminal::HasNext,
        ("explain", []) => Terminal::Explain,
        ("executionProfile", []) => Terminal::ExecutionProfile,
        ("profile", []) => Terminal::Profile,
        _ => return Ok((steps, Terminal::All)),
    };
    Ok((rest, terminal))
}

/// Where a traversal stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// It is the traversal itself, not a child.
    pub(crate) root: bool,
    /// Labels at its beginning and end are looked up, not set.
    pub(crate) in_where: bool,
}

pub(crate) struct Compiler<'a> {
    pub(crate) options: &'a Options,
    pub(crate) settings: Settings,
    steps: usize,
    depth: usize,
    pub(crate) writes: bool,
}

impl Compiler<'_> {
    pub(crate) fn strict(&self) -> bool {
        self.options.dialect == Dialect::CosmosStrict
    }

    /// Compiles a child.
    pub(crate) fn child(&mut self, bytecode: &Bytecode) -> Result<Traversal> {
        self.child_at(bytecode, false)
    }

    pub(crate) fn child_at(&mut self, bytecode: &Bytecode, in_where: bool) -> Result<Traversal> {
        if self.depth >= limits::NESTING_MAX {
            return Err(MachineError::compile(format!(
                "traversals are nested more than {} deep: nest less",
                limits::NESTING_MAX
            )));
        }
        self.depth += 1;
        let child = self.traversal(&bytecode.steps, Place { root: false, in_where });
        self.depth -= 1;
        child
    }

    pub(crate) fn children(&mut self, instruction: &Instruction, in_where: bool) -> Result<Vec<Traversal>> {
        let mut children = Vec::with_capacity(instruction.arguments.len());
        for argument in &instruction.arguments {
            children.push(match argument {
                Value::Traversal(bytecode) => self.child_at(bytecode, in_where)?,
                Value::Predicate(predicate) => of_step(instruction, Kind::Is(predicate.as_ref().clone())),
                _ => return Err(arguments::unexpected(instruction)),
            });
        }
        Ok(children)
    }

    fn traversal(&mut self, instructions: &[Instruction], place: Place) -> Result<Traversal> {
        if let Some(steps) = self.infix(instructions, place)? {
            return Ok(finished(steps));
        }
        let mut steps: Vec<Step> = Vec::with_capacity(instructions.len());
        for (at, instruction) in instructions.iter().enumerate() {
            self.steps += 1;
            if self.steps > limits::STEPS_MAX {
                return Err(MachineError::compile(format!(
                    "the traversal has more than {} steps: use fewer",
                    limits::STEPS_MAX
                )));
            }
            self.instruction(&mut steps, instruction, at, place)
                .map_err(|error| error.at(&instruction.name, instruction.position))?;
        }
        if let Some(step) =
            steps.iter().find(|step| matches!(&step.kind, Kind::Repeat(repeat) if repeat.body.is_none()))
        {
            return Err(MachineError::compile(format!(
                "The repeat()-traversal was not defined: {}() stands without a repeat()",
                step.name
            ))
            .at(&step.name, step.position));
        }
        if place.in_where
            && let Some(last) = steps.last_mut()
            && !last.labels.is_empty()
            && !matches!(last.kind, Kind::WhereStart(_))
        {
            let labels = std::mem::replace(&mut last.labels, no_labels());
            let (name, position) = (last.name.clone(), last.position);
            steps.push(Step { kind: Kind::WhereEnd(labels), labels: no_labels(), name, position });
        }
        Ok(finished(steps))
    }

    /// Compiles what is joined by `and()` and `or()` without arguments.
    fn infix(&mut self, instructions: &[Instruction], place: Place) -> Result<Option<Vec<Step>>> {
        let is = |instruction: &Instruction, name: &str| {
            instruction.name.as_ref() == name && instruction.arguments.is_empty()
        };
        for name in ["or", "and"] {
            let Some(at) = instructions.iter().position(|instruction| is(instruction, name)) else {
                continue;
            };
            let from = match instructions.first() {
                Some(first) if place.root && matches!(first.name.as_ref(), "V" | "E" | "inject") => 1,
                _ => 0,
            };
            let (head, rest) = instructions.split_at(from.min(at));
            let mut children = Vec::new();
            for part in rest.split(|instruction| is(instruction, name)) {
                let child = Place { root: false, in_where: place.in_where };
                children.push(self.traversal(part, child)?);
            }
            let mut steps = self.traversal(head, place)?.steps;
            let kind = if name == "or" { Kind::Or(children) } else { Kind::And(children) };
            let instruction = instructions.get(at);
            steps.push(Step {
                kind,
                labels: no_labels(),
                name: name.into(),
                position: instruction.and_then(|instruction| instruction.position),
            });
            return Ok(Some(steps));
        }
        Ok(None)
    }

    fn instruction(
        &mut self,
        steps: &mut Vec<Step>,
        instruction: &Instruction,
        at: usize,
        place: Place,
    ) -> Result<()> {
        if self.modulate(steps, instruction, at, place)? {
            return Ok(());
        }
        let start = at == 0 && place.root;
        let kind = match self.spawn(instruction, start)? {
            Some(kind) => kind,
            None => match self.step(instruction, place)? {
                Some(kind) => kind,
                None => match self.text_step(instruction)? {
                    Some(kind) => kind,
                    None => {
                        return Err(MachineError::compile(format!(
                            "Unable to find any method '{}'",
                            instruction.name
                        )));
                    }
                },
            },
        };
        if start && !may_start(&kind) {
            return Err(MachineError::compile(format!(
                "a traversal cannot begin with {}(): begin with V(), E(), addV(), addE() or inject()",
                instruction.name
            )));
        }
        steps.push(Step {
            kind,
            labels: no_labels(),
            name: instruction.name.clone(),
            position: instruction.position,
        });
        self.filter_found(steps)
    }

    /// Adds what strategies ask of every vertex and edge behind a step that finds some.
    fn filter_found(&mut self, steps: &mut Vec<Step>) -> Result<()> {
        let Some(step) = steps.last() else { return Ok(()) };
        let (name, position) = (step.name.clone(), step.position);
        let settings = &self.settings;
        let filters: Vec<Traversal> = match &step.kind {
            Kind::Lookup(LookupStep { edges: true, .. })
            | Kind::Adjacent(AdjacentStep { edges: true, .. }) => {
                let ends = settings.vertex_filter.iter().filter(|_| settings.edge_ends);
                let ends = ends.flat_map(|filter| {
                    [EdgeEnd::Out, EdgeEnd::In].map(|end| analysis::end_filter(end, filter.clone(), &name))
                });
                settings.edge_filter.iter().cloned().chain(ends).collect()
            }
            Kind::Lookup(_) | Kind::EdgeVertex { .. } => settings.vertex_filter.iter().cloned().collect(),
            Kind::Adjacent(adjacent) => {
                // Edges on the way are filtered too, so that they have to be looked at.
                if let Some(filter) = settings.edge_filter.clone() {
                    let direction = adjacent.direction;
                    let labels = adjacent.labels.clone();
                    steps.pop();
                    analysis::push_filtered_hop(steps, direction, labels, filter, &name, position);
                }
                self.settings.vertex_filter.iter().cloned().collect()
            }
            Kind::Properties(_) => settings.property_filter.iter().cloned().collect(),
            Kind::Values(keys) if settings.property_filter.is_some() => {
                let keys = keys.clone();
                steps.pop();
                let step = |kind| Step { kind, labels: no_labels(), name: name.clone(), position };
                let properties = Step { name: "properties".into(), ..step(Kind::Properties(keys)) };
                steps.push(properties);
                let filter = self.settings.property_filter.clone().unwrap_or_default();
                steps.push(step(Kind::Filter { child: filter, negated: false }));
                steps.push(step(Kind::Token(crate::step::ElementToken::Value)));
                return Ok(());
            }
            Kind::ValueMap { .. } | Kind::ElementMap(_) | Kind::HasChild { .. }
                if settings.property_filter.is_some() =>
            {
                return Err(MachineError::compile(format!(
                    "SubgraphStrategy with vertexProperties knows properties() and values(), not {name}()"
                )));
            }
            _ => return Ok(()),
        };
        for child in filters {
            steps.push(Step {
                kind: Kind::Filter { child, negated: false },
                labels: no_labels(),
                name: name.clone(),
                position,
            });
        }
        Ok(())
    }
}

fn may_start(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Lookup(_)
            | Kind::Inject { .. }
            | Kind::AddVertex { .. }
            | Kind::AddEdge { .. }
            | Kind::Merge(_)
            | Kind::Union { .. }
    )
}

/// Makes a traversal of one step.
pub(crate) fn of_step(instruction: &Instruction, kind: Kind) -> Traversal {
    let step =
        Step { kind, labels: no_labels(), name: instruction.name.clone(), position: instruction.position };
    finished(vec![step])
}

pub(crate) fn no_labels() -> Arc<[Arc<str>]> {
    Arc::from([])
}

pub(crate) fn finished(mut steps: Vec<Step>) -> Traversal {
    analysis::fold_conditions(&mut steps);
    let has_barrier = steps.iter().any(|step| step.kind.is_barrier());
    Traversal { steps, has_barrier, ..Traversal::default() }
}

/// Makes the condition that a property has one of some values.
pub(crate) fn property_within(key: &Arc<str>, values: Vec<Value>) -> Condition {
    Condition::Property { key: key.clone(), predicate: armilla_gremlin_value::Predicate::one_of(values) }
}
