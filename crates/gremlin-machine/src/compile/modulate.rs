//! Modulators: instructions that change the step before them, and those that begin a `repeat`.

use std::sync::Arc;

use armilla_gremlin_value::{Instruction, TokenKind, Value};

use super::arguments::{self, child, token, unexpected};
use super::{Compiler, Place, no_labels, of_step};
use crate::error::{MachineError, Result};
use crate::step::{Argument, By, End, Kind, MapTokens, Pick, Repeat, Sorting, Step, Traversal, Until};

impl Compiler<'_> {
    /// Folds an instruction into the step before it; false if it is a step of its own.
    pub(super) fn modulate(
        &mut self,
        steps: &mut Vec<Step>,
        instruction: &Instruction,
        at: usize,
        place: Place,
    ) -> Result<bool> {
        match instruction.name.as_ref() {
            "as" => self.label(steps, instruction, at, place)?,
            "by" => self.by(steps, instruction)?,
            "from" | "to" => return self.end(steps, instruction),
            "with" => with(steps, instruction)?,
            "option" => self.option(steps, instruction)?,
            "emit" | "until" | "times" | "repeat" => self.repeat(steps, instruction)?,
            "property" => return self.fold_property(steps, instruction),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn label(
        &mut self,
        steps: &mut Vec<Step>,
        instruction: &Instruction,
        at: usize,
        place: Place,
    ) -> Result<()> {
        let labels = arguments::texts(instruction, &instruction.arguments)?;
        if at == 0 && place.in_where {
            let Some(label) = labels.into_iter().next() else { return Err(unexpected(instruction)) };
            steps.push(step(instruction, Kind::WhereStart(label)));
            return Ok(());
        }
        if steps.is_empty() {
            steps.push(step(instruction, Kind::Identity));
        }
        if let Some(last) = steps.last_mut() {
            last.labels = last.labels.iter().cloned().chain(labels).collect();
        }
        Ok(())
    }

    /// Compiles the argument of a `by` that takes no order.
    pub(super) fn by_of(&mut self, instruction: &Instruction, value: Option<&Value>) -> Result<By> {
        Ok(match value {
            None => By::Identity,
            Some(Value::String(key)) => By::Key(key.clone()),
            Some(Value::Traversal(bytecode)) => {
                let child = self.child(bytecode)?;
                if child.steps.is_empty() { By::Identity } else { By::Child(child) }
            }
            Some(value) => match (arguments::element_token(value), arguments::column(value)) {
                (Some(token), _) => By::Token(token),
                (_, Some(column)) => By::Column(column),
                _ => return Err(unexpected(instruction)),
            },
        })
    }

    fn by(&mut self, steps: &mut [Step], instruction: &Instruction) -> Result<()> {
        let Some(last) = steps.last_mut() else {
            return Err(MachineError::compile("by() stands without a step that it could modulate"));
        };
        let (value, sorting) = match instruction.arguments.as_slice() {
            [] => (None, None),
            [order] if arguments::sorting(order).is_some() => (None, arguments::sorting(order)),
            [value] => (Some(value), None),
            [value, order] => match arguments::sorting(order) {
                Some(sorting) => (Some(value), Some(sorting)),
                None => return Err(unexpected(instruction)),
            },
            _ => return Err(unexpected(instruction)),
        };
        let by = self.by_of(instruction, value)?;
        match &mut last.kind {
            Kind::Order(bys) | Kind::OrderLocal(bys) => bys.push((by, sorting.unwrap_or(Sorting::Ascending))),
            _ if sorting.is_some() => return Err(unexpected(instruction)),
            Kind::ValueMap { bys, properties, .. } if !bys.is_empty() => {
                return Err(only_one_by(if *properties { "PropertyMap" } else { "ValueMap" }));
            }
            Kind::Dedup { bys, .. } if !bys.is_empty() => return Err(only_one_by("Dedup")),
            Kind::WherePredicate { bys, .. }
            | Kind::SimplePath { bys, .. }
            | Kind::ValueMap { bys, .. }
            | Kind::Select { bys, .. }
            | Kind::SelectChild { bys, .. }
            | Kind::Project { bys, .. }
            | Kind::Path { bys, .. }
            | Kind::Math { bys, .. }
            | Kind::Format { bys, .. }
            | Kind::Dedup { bys, .. }
            | Kind::Tree { bys, .. } => bys.push(by),
            Kind::Group { bys, .. } if bys.len() < 2 => bys.push(by),
            Kind::GroupCount { bys, .. } if bys.is_empty() => bys.push(by),
            Kind::GroupCount { .. } => return Err(only_one_by("GroupCount")),
            Kind::Group { .. } => {
                return Err(MachineError::compile(format!(
                    "The key and value traversals for {}()-step have already been set",
                    last.name
                )));
            }
            Kind::Sample { by: place @ None, .. } => *place = Some(by),
            Kind::Sample { .. } => return Err(only_one_by("Sample")),
            Kind::Aggregate { by: place, by_given, .. } => {
                if std::mem::replace(by_given, true) {
                    return Err(only_one_by("Aggregate"));
                }
                *place = by;
            }
            Kind::Sack { by: place, by_given, .. } => {
                if std::mem::replace(by_given, true) {
                    return Err(only_one_by("Sack"));
                }
                *place = by;
            }
            _ => {
                return Err(MachineError::compile(format!("{}() takes no by()", last.name)));
            }
        }
        Ok(())
    }

    /// Folds `from` and `to`: of an edge, or of a path.
    fn end(&mut self, steps: &mut [Step], instruction: &Instruction) -> Result<bool> {
        let is_from = instruction.name.as_ref() == "from";
        let Some(last) = steps.last_mut() else { return Ok(false) };
        match &mut last.kind {
            Kind::AddEdge { from, to, .. } => {
                let end = match instruction.arguments.as_slice() {
                    [Value::String(label)] => End::Label(label.clone()),
                    [Value::Traversal(bytecode)] => End::Child(self.child(bytecode)?),
                    [value] => End::Id(value.clone()),
                    _ => return Err(unexpected(instruction)),
                };
                *(if is_from { from } else { to }) = Some(end);
                Ok(true)
            }
            Kind::Path { from, to, .. } | Kind::SimplePath { from, to, .. } => {
                match instruction.arguments.as_slice() {
                    [Value::String(label)] => {
                        *(if is_from { from } else { to }) = Some(label.clone());
                        Ok(true)
                    }
                    _ => Err(unexpected(instruction)),
                }
            }
            _ => Ok(false),
        }
    }

    fn option(&mut self, steps: &mut [Step], instruction: &Instruction) -> Result<()> {
        let Some(last) = steps.last_mut() else {
            return Err(MachineError::compile("option() stands without choose(), branch() or merge"));
        };
        match &mut last.kind {
            Kind::Choose { .. } => {
                let (pick, branch) = match instruction.arguments.as_slice() {
                    [branch] => (Pick::Any, branch),
                    [pick, branch] => (self.pick(pick)?, branch),
                    _ => return Err(unexpected(instruction)),
                };
                let Some(bytecode) = child(branch) else { return Err(unexpected(instruction)) };
                let branch = self.child(bytecode)?;
                if let Kind::Choose { options, .. } = &mut last.kind {
                    options.push((pick, branch));
                }
                Ok(())
            }
            Kind::Merge(_) => {
                let (option, value, cardinality) = match instruction.arguments.as_slice() {
                    [option, value] => (option, value, None),
                    [option, value, cardinality] if arguments::cardinality(cardinality).is_some() => {
                        (option, value, arguments::cardinality(cardinality))
                    }
                    _ => return Err(unexpected(instruction)),
                };
                let argument = match value {
                    Value::Traversal(bytecode) => Argument::Child(self.child(bytecode)?),
                    value => Argument::Value(value.clone()),
                };
                let Kind::Merge(merge) = &mut last.kind else { return Ok(()) };
                let place = match token(option, TokenKind::Merge) {
                    Some("onCreate") => {
                        merge.create_cardinality = cardinality;
                        &mut merge.on_create
                    }
                    Some("onMatch") => {
                        merge.match_cardinality = cardinality;
                        &mut merge.on_match
                    }
                    _ if cardinality.is_some() => return Err(unexpected(instruction)),
                    Some("outV") => &mut merge.out_vertex,
                    Some("inV") => &mut merge.in_vertex,
                    _ => return Err(unexpected(instruction)),
                };
                *place = Some(argument);
                Ok(())
            }
            _ => Err(MachineError::compile(format!("{}() takes no option()", last.name))),
        }
    }

    fn pick(&mut self, value: &Value) -> Result<Pick> {
        Ok(match value {
            Value::Token(found) if found.kind == TokenKind::Pick => match found.word {
                "any" => Pick::Any,
                "none" => Pick::None,
                _ => Pick::Unproductive,
            },
            Value::Predicate(predicate) => Pick::Predicate(predicate.as_ref().clone()),
            Value::Traversal(bytecode) => Pick::Child(self.child(bytecode)?),
            value => Pick::Value(value.clone()),
        })
    }

    fn repeat(&mut self, steps: &mut Vec<Step>, instruction: &Instruction) -> Result<()> {
        // What is set already is set for the next one: `emit().repeat(a).times(1).emit().repeat(b)`.
        let open = match steps.last() {
            Some(Step { kind: Kind::Repeat(repeat), .. }) => match instruction.name.as_ref() {
                "repeat" => repeat.body.is_none(),
                "emit" => repeat.emit.is_none(),
                _ => repeat.until.is_none(),
            },
            _ => false,
        };
        if !open {
            steps.push(step(instruction, Kind::Repeat(Box::default())));
        }
        let Some(Step { kind: Kind::Repeat(repeat), .. }) = steps.last_mut() else { return Ok(()) };
        let first = repeat.body.is_none();
        let arguments = instruction.arguments.as_slice();
        match (instruction.name.as_ref(), arguments) {
            ("repeat", [Value::Traversal(bytecode)]) => repeat.body = Some(self.child(bytecode)?),
            ("repeat", [Value::String(label), Value::Traversal(bytecode)]) => {
                repeat.label = Some(label.clone());
                repeat.body = Some(self.child(bytecode)?);
            }
            ("times", [amount]) => {
                let times = arguments::amount(instruction, amount)?.unwrap_or(0);
                repeat.until = Some(Until::Times(u32::try_from(times).unwrap_or(u32::MAX)));
                repeat.until_first = first;
            }
            ("until", [condition]) => {
                repeat.until = Some(Until::Child(self.condition(instruction, condition)?));
                repeat.until_first = first;
            }
            ("emit", []) => {
                repeat.emit = Some(None);
                repeat.emit_first = first;
            }
            ("emit", [condition]) => {
                repeat.emit = Some(Some(self.condition(instruction, condition)?));
                repeat.emit_first = first;
            }
            _ => return Err(unexpected(instruction)),
        }
        check_repeat(repeat)
    }

    /// Compiles a traversal or a predicate as a condition.
    pub(super) fn condition(&mut self, instruction: &Instruction, value: &Value) -> Result<Traversal> {
        match value {
            Value::Traversal(bytecode) => self.child(bytecode),
            Value::Predicate(predicate) => Ok(of_step(instruction, Kind::Is(predicate.as_ref().clone()))),
            _ => Err(unexpected(instruction)),
        }
    }
}

fn only_one_by(step: &str) -> MachineError {
    MachineError::compile(format!("{step} step can only have one by modulator"))
}

fn check_repeat(repeat: &Repeat) -> Result<()> {
    match &repeat.body {
        Some(body) if body.steps.iter().any(|step| matches!(step.kind, Kind::Inject { .. })) => {
            Err(MachineError::compile("The parent of inject()-step can not be repeat()-step"))
        }
        Some(body) if body.steps.is_empty() => Err(MachineError::compile(
            "The repeat()-traversal was not defined: give repeat() a traversal with at least one step",
        )),
        _ => Ok(()),
    }
}

/// Folds `with(...)` of `valueMap` and `index`.
fn with(steps: &mut [Step], instruction: &Instruction) -> Result<()> {
    let Some(last) = steps.last_mut() else { return Err(unexpected(instruction)) };
    let name = instruction.arguments.first().and_then(Value::as_str).unwrap_or("");
    let number = instruction.arguments.get(1).and_then(Value::as_integer);
    match &mut last.kind {
        Kind::ValueMap { tokens, .. } if name == "~tinkerpop.valueMap.tokens" => {
            let bits = match (instruction.arguments.get(1), number) {
                (None, _) | (Some(Value::Bool(true)), _) => 15,
                (_, Some(bits)) => bits,
                _ => 0,
            };
            *tokens = MapTokens {
                id: bits & 1 != 0,
                label: bits & 2 != 0,
                key: bits & 4 != 0,
                value: bits & 8 != 0,
            };
            Ok(())
        }
        Kind::Index { map } if name == "~tinkerpop.index.indexer" => {
            *map = number == Some(1);
            Ok(())
        }
        _ => Err(MachineError::compile(format!("{}() takes no with('{name}')", last.name))),
    }
}

pub(super) fn step(instruction: &Instruction, kind: Kind) -> Step {
    let name: Arc<str> = instruction.name.clone();
    Step { kind, labels: no_labels(), name, position: instruction.position }
}
