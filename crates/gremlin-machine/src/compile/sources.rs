//! Instructions of the source: strategies, side effects, sacks and options.

use std::sync::Arc;

use armilla_gremlin_value::{Instruction, Value};

use super::arguments::{operator, unexpected};
use super::{Compiler, Partition, Sack, no_labels, property_within};
use crate::error::{MachineError, Result};
use crate::step::{Argument, Kind, Step, Traversal};

/// Strategies of TinkerPop that make traversals faster or safer and change nothing in results.
const HARMLESS: [&str; 34] = [
    "AdjacentToIncidentStrategy",
    "ByModulatorOptimizationStrategy",
    "CountStrategy",
    "EarlyLimitStrategy",
    "FilterRankingStrategy",
    "IdentityRemovalStrategy",
    "IncidentToAdjacentStrategy",
    "InlineFilterStrategy",
    "LazyBarrierStrategy",
    "MatchPredicateStrategy",
    "MessagePassingReductionStrategy",
    "OrderLimitStrategy",
    "PathProcessorStrategy",
    "PathRetractionStrategy",
    "ProductiveByStrategy",
    "RepeatUnrollStrategy",
    "ComputerVerificationStrategy",
    "StandardVerificationStrategy",
    "EdgeLabelVerificationStrategy",
    "ReservedKeysVerificationStrategy",
    "VertexProgramRestrictionStrategy",
    "ProfileStrategy",
    "ReferenceElementStrategy",
    "RequirementsStrategy",
    "SackStrategy",
    "SideEffectStrategy",
    "ConnectiveStrategy",
    "HaltedTraverserStrategy",
    "ElementIdStrategy",
    "ComputerFinalizationStrategy",
    "GraphFilterStrategy",
    "SeedStrategy",
    "MatchAlgorithmStrategy",
    "NoOpBarrierStrategy",
];

/// Those of them that do change results, which are refused rather than ignored.
const REFUSED: [&str; 2] = ["ElementIdStrategy", "HaltedTraverserStrategy"];

impl Compiler<'_> {
    pub(super) fn source(&mut self, instruction: &Instruction) -> Result<()> {
        self.source_inner(instruction).map_err(|error| error.at(&instruction.name, instruction.position))
    }

    fn source_inner(&mut self, instruction: &Instruction) -> Result<()> {
        match (instruction.name.as_ref(), instruction.arguments.as_slice()) {
            ("withSideEffect", [Value::String(key), value]) => {
                self.settings.side_effects.push((key.clone(), value.clone(), None));
            }
            ("withSideEffect", [Value::String(key), value, reducer]) => {
                let Some(operator) = operator(reducer) else { return Err(unexpected(instruction)) };
                self.settings.side_effects.push((key.clone(), value.clone(), Some(operator)));
            }
            ("withSack", [initial, operators @ ..]) => {
                let merge = match operators {
                    [] => None,
                    [merge] => Some(operator(merge).ok_or_else(|| unexpected(instruction))?),
                    _ => {
                        return Err(MachineError::compile(
                            "withSack() takes a value and an operator that joins sacks, and none that splits them",
                        ));
                    }
                };
                let initial = match initial {
                    Value::Traversal(bytecode) => Argument::Child(self.child(bytecode)?),
                    value => Argument::Value(value.clone()),
                };
                self.settings.sack = Some(Sack { initial, merge });
            }
            ("withBulk", [Value::Bool(bulk)]) => self.settings.no_bulk = !bulk,
            ("withPath", []) => {}
            ("with", [Value::String(key)]) => self.settings.options.push((key.clone(), Value::Bool(true))),
            ("with", [Value::String(key), value]) => self.settings.options.push((key.clone(), value.clone())),
            ("withStrategies", strategies) => {
                for strategy in strategies {
                    let Value::Strategy { name, configuration } = strategy else {
                        return Err(unexpected(instruction));
                    };
                    self.strategy(name, configuration)?;
                }
            }
            ("withoutStrategies", strategies) => {
                for strategy in strategies {
                    match strategy {
                        Value::Strategy { name, .. } | Value::String(name) => self.without(name)?,
                        _ => return Err(unexpected(instruction)),
                    }
                }
            }
            ("withComputer", _) => {
                return Err(MachineError::compile(
                    "graph computers are not supported: run the traversal without withComputer()",
                ));
            }
            ("tx", _) => return Err(MachineError::compile("Graph does not support transactions")),
            _ => return Err(unexpected(instruction)),
        }
        Ok(())
    }

    /// Takes a strategy back; that which only makes traversals faster is not there anyway.
    fn without(&mut self, name: &str) -> Result<()> {
        match name.rsplit('.').next().unwrap_or(name) {
            "ReadOnlyStrategy" => self.settings.read_only = false,
            "OptionsStrategy" => self.settings.options.clear(),
            "ProjectionStrategy" => self.settings.system_properties.clear(),
            "ProductiveByStrategy" => self.settings.productive_by = false,
            "SeedStrategy" => self.settings.seed = None,
            "PartitionStrategy" | "SubgraphStrategy" => {
                self.settings.vertex_filter = None;
                self.settings.edge_filter = None;
                self.settings.property_filter = None;
                self.settings.edge_ends = false;
                self.settings.partition = None;
            }
            "ConnectiveStrategy" => {
                return Err(MachineError::compile(
                    "ConnectiveStrategy cannot be taken away: write and() and or() with arguments instead",
                ));
            }
            name if HARMLESS.contains(&name) => {}
            "ElementIdStrategy"
            | "HaltedTraverserStrategy"
            | "LambdaRestrictionStrategy"
            | "VertexProgramStrategy"
            | "EventStrategy"
            | "EdgeLabelVerificationStrategy"
            | "ReservedKeysVerificationStrategy"
            | "VertexProgramRestrictionStrategy" => {}
            name => {
                return Err(MachineError::compile(format!("{name} is not known: leave it out")));
            }
        }
        Ok(())
    }

    fn strategy(&mut self, name: &str, configuration: &[(Arc<str>, Value)]) -> Result<()> {
        let get = |names: &[&str]| {
            configuration.iter().find(|(key, _)| names.contains(&key.as_ref())).map(|(_, value)| value)
        };
        match name {
            "ReadOnlyStrategy" => self.settings.read_only = true,
            "OptionsStrategy" => self.settings.options.extend(configuration.iter().cloned()),
            "ProjectionStrategy" => {
                let names = get(&["IncludeSystemProperties", "includeSystemProperties"]);
                self.settings.system_properties.extend(
                    names.map(list).unwrap_or_default().iter().filter_map(|value| match value {
                        Value::String(name) => Some(name.clone()),
                        _ => None,
                    }),
                );
            }
            "PartitionStrategy" => {
                let Some(Value::String(key)) = get(&["partitionKey"]) else {
                    return Err(MachineError::compile("PartitionStrategy needs a partitionKey"));
                };
                let read = get(&["readPartitions"]).map(list).unwrap_or_default();
                let condition = property_within(key, read.clone());
                let filter = Traversal {
                    steps: vec![Step {
                        kind: Kind::Has(vec![condition]),
                        labels: no_labels(),
                        name: "has".into(),
                        position: None,
                    }],
                    ..Traversal::default()
                };
                self.settings.vertex_filter = Some(filter.clone());
                self.settings.edge_filter = Some(filter);
                let write = get(&["writePartition"]).cloned();
                self.settings.partition = Some(Partition { key: key.clone(), write, read });
            }
            "SubgraphStrategy" => {
                if let Some(Value::Traversal(bytecode)) = get(&["vertices"]) {
                    self.settings.vertex_filter = Some(self.child(bytecode)?);
                }
                if let Some(Value::Traversal(bytecode)) = get(&["edges"]) {
                    self.settings.edge_filter = Some(self.child(bytecode)?);
                }
                if let Some(Value::Traversal(bytecode)) = get(&["vertexProperties"]) {
                    self.settings.property_filter = Some(self.child(bytecode)?);
                }
                self.settings.edge_ends = self.settings.vertex_filter.is_some()
                    && !matches!(get(&["checkAdjacentVertices"]), Some(Value::Bool(false)));
            }
            "SeedStrategy" => match get(&["seed"]).and_then(Value::as_integer) {
                Some(seed) => self.settings.seed = Some(seed),
                None => return Err(MachineError::compile("SeedStrategy needs a seed, which is an integer")),
            },
            "ProductiveByStrategy" => {
                if get(&["productiveKeys"]).is_some() {
                    return Err(MachineError::compile(
                        "ProductiveByStrategy takes no productiveKeys: leave them out, for all keys",
                    ));
                }
                self.settings.productive_by = true;
            }
            "EdgeLabelVerificationStrategy" | "ReservedKeysVerificationStrategy"
                if matches!(get(&["throwException"]), Some(Value::Bool(true))) =>
            {
                return Err(MachineError::compile(format!(
                    "{name} that throws is not supported: run the traversal without it"
                )));
            }
            _ if REFUSED.contains(&name) => {
                return Err(MachineError::compile(format!(
                    "{name} is not supported: run the traversal without it"
                )));
            }
            _ if HARMLESS.contains(&name) => {}
            _ => {
                return Err(MachineError::compile(format!(
                    "{name} is not supported: run the traversal without it"
                )));
            }
        }
        Ok(())
    }
}

fn list(value: &Value) -> Vec<Value> {
    match value {
        Value::List(values) | Value::Set(values) => values.to_vec(),
        value => vec![value.clone()],
    }
}
