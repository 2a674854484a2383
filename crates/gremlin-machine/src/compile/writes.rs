//! Steps that write: vertices, edges, properties, `drop` and the merges.

use std::sync::Arc;

use armilla_gremlin_value::{Instruction, Value};

use super::Compiler;
use super::arguments::{self, unexpected};
use crate::error::{MachineError, Result};
use crate::graph::Cardinality;
use crate::step::{Argument, ElementToken, Kind, MergeStep, PropertyKey, PropertySpec, Step};

impl Compiler<'_> {
    pub(super) fn argument(&mut self, value: &Value) -> Result<Argument> {
        Ok(match value {
            Value::Traversal(bytecode) => Argument::Child(self.child(bytecode)?),
            value => Argument::Value(value.clone()),
        })
    }

    /// Compiles a step that writes; none if it is another step.
    pub(super) fn write_step(&mut self, instruction: &Instruction) -> Result<Option<Kind>> {
        let arguments = instruction.arguments.as_slice();
        let kind = match (instruction.name.as_ref(), arguments) {
            ("addV", []) => Kind::AddVertex { label: None, properties: self.written_partition() },
            ("addV", [label]) => {
                if matches!(label, Value::Null) {
                    return Err(MachineError::compile("addV() takes no null as a label: leave it out"));
                }
                Kind::AddVertex { label: Some(self.argument(label)?), properties: self.written_partition() }
            }
            ("addE", [label]) => Kind::AddEdge {
                label: self.argument(label)?,
                from: None,
                to: None,
                properties: self.written_partition(),
            },
            ("drop", []) => Kind::Drop,
            ("property", _) => match arguments {
                [Value::Map(_)] => Kind::PropertyMap(Argument::Value(arguments[0].clone())),
                [cardinality, Value::Map(map)] if arguments::cardinality(cardinality).is_some() => {
                    let cardinality = arguments::cardinality(cardinality);
                    let mut specs = Vec::with_capacity(map.entries.len());
                    for (key, value) in &map.entries {
                        let mut spec = self.property_spec(instruction, &[key.clone(), value.clone()])?;
                        spec.cardinality = spec.cardinality.or(cardinality);
                        specs.push(spec);
                    }
                    Kind::Property(specs)
                }
                _ => Kind::Property(vec![self.property_spec(instruction, arguments)?]),
            },
            ("mergeV" | "mergeE", [] | [_]) => {
                let search = match arguments.first() {
                    None => None,
                    Some(value) => Some(self.argument(value)?),
                };
                let edges = instruction.name.as_ref() == "mergeE";
                let partition = self.settings.partition.as_ref();
                let partition = partition.map(|of| (of.key.clone(), of.read.clone(), of.write.clone()));
                Kind::Merge(Box::new(MergeStep { edges, search, partition, ..MergeStep::default() }))
            }
            ("addV" | "addE" | "drop" | "mergeV" | "mergeE", _) => return Err(unexpected(instruction)),
            _ => return Ok(None),
        };
        self.writes = true;
        Ok(Some(kind))
    }

    /// The property that a `PartitionStrategy` writes.
    fn written_partition(&self) -> Vec<PropertySpec> {
        let partition = self.settings.partition.as_ref();
        let written = partition.and_then(|partition| Some((partition.key.clone(), partition.write.clone()?)));
        written
            .map(|(key, value)| PropertySpec {
                cardinality: None,
                key: PropertyKey::Name(key),
                value: Argument::Value(value),
                meta: Vec::new(),
            })
            .into_iter()
            .collect()
    }

    /// Folds `property` into the `addV` or `addE` before it; false if it is a step of its own.
    pub(super) fn fold_property(&mut self, steps: &mut [Step], instruction: &Instruction) -> Result<bool> {
        self.writes = true;
        let Some(last) = steps.last_mut() else { return Ok(false) };
        if !last.labels.is_empty() {
            return Ok(false);
        }
        let is_edge = matches!(last.kind, Kind::AddEdge { .. });
        let (Kind::AddVertex { properties, .. } | Kind::AddEdge { properties, .. }) = &mut last.kind else {
            return Ok(false);
        };
        let mut specs = Vec::new();
        match instruction.arguments.as_slice() {
            [Value::Null] => {}
            [cardinality, Value::Null] if arguments::cardinality(cardinality).is_some() => {}
            [Value::Map(map)] => {
                for (key, value) in &map.entries {
                    specs.push(self.property_spec(instruction, &[key.clone(), value.clone()])?);
                }
            }
            [cardinality, Value::Map(map)] if arguments::cardinality(cardinality).is_some() => {
                for (key, value) in &map.entries {
                    let mut spec = self.property_spec(instruction, &[key.clone(), value.clone()])?;
                    spec.cardinality = spec.cardinality.or(arguments::cardinality(cardinality));
                    specs.push(spec);
                }
            }
            arguments => {
                let spec = self.property_spec(instruction, arguments)?;
                // What is computed from the new element, and keys that are computed, come after it.
                if matches!(spec.key, PropertyKey::Child(_)) {
                    return Ok(false);
                }
                specs.push(spec);
            }
        }
        if is_edge && specs.iter().any(|spec| !spec.meta.is_empty()) {
            return Err(MachineError::compile("properties of edges have no properties of their own"));
        }
        // The service keeps all values of a key that is given twice; otherwise the last one counts.
        if self.strict() && !is_edge {
            for spec in &mut specs {
                let twice = properties.iter().any(|other: &PropertySpec| same_name(&other.key, &spec.key));
                if spec.cardinality.is_none() && twice {
                    spec.cardinality = Some(Cardinality::List);
                }
            }
        }
        properties.extend(specs);
        Ok(true)
    }

    fn property_spec(&mut self, instruction: &Instruction, arguments: &[Value]) -> Result<PropertySpec> {
        let (mut cardinality, rest) = match arguments {
            [first, rest @ ..] if arguments::cardinality(first).is_some() => {
                (arguments::cardinality(first), rest)
            }
            [Value::Null, rest @ ..] if rest.len() >= 2 && rest.len() % 2 == 0 => (None, rest),
            rest => (None, rest),
        };
        let [key, value, meta @ ..] = rest else { return Err(unexpected(instruction)) };
        let key = match (key, arguments::element_token(key)) {
            (_, Some(ElementToken::Id)) => PropertyKey::Id,
            (_, Some(ElementToken::Label)) => PropertyKey::Label,
            (Value::String(name), _) => match name.as_ref() {
                "id" => PropertyKey::Id,
                "label" => PropertyKey::Label,
                _ => PropertyKey::Name(name.clone()),
            },
            (Value::Traversal(bytecode), _) => PropertyKey::Child(self.child(bytecode)?),
            _ => return Err(unexpected(instruction)),
        };
        let value = match arguments::cardinality_value(value) {
            Some((own, value)) => {
                cardinality = Some(own);
                Argument::Value(value)
            }
            None => self.argument(value)?,
        };
        if meta.len() % 2 != 0 {
            return Err(unexpected(instruction));
        }
        let mut pairs: Vec<(Arc<str>, Argument)> = Vec::with_capacity(meta.len() / 2);
        for pair in meta.chunks_exact(2) {
            let [Value::String(key), value] = pair else { return Err(unexpected(instruction)) };
            pairs.push((key.clone(), self.argument(value)?));
        }
        Ok(PropertySpec { cardinality, key, value, meta: pairs })
    }
}

fn same_name(left: &PropertyKey, right: &PropertyKey) -> bool {
    matches!((left, right), (PropertyKey::Name(left), PropertyKey::Name(right)) if left == right)
}
