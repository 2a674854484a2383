//! Steps that find or make elements: lookups, neighbourhoods, ends of edges, `inject`.

use armilla_gremlin_value::{Instruction, TokenKind, Value};

use super::Compiler;
use super::arguments::{self, token, unexpected};
use crate::error::Result;
use crate::graph::{Direction, Need};
use crate::step::{AdjacentStep, EdgeEnd, Kind, LookupStep};

impl Compiler<'_> {
    /// Compiles a step that finds elements; none if it is another step.
    pub(super) fn spawn(&mut self, instruction: &Instruction, start: bool) -> Result<Option<Kind>> {
        let arguments = instruction.arguments.as_slice();
        let kind = match instruction.name.as_ref() {
            "V" | "E" => {
                let edges = instruction.name.as_ref() == "E";
                if arguments
                    .iter()
                    .any(|argument| matches!(argument, Value::Traversal(_) | Value::Predicate(_)))
                {
                    return Err(unexpected(instruction));
                }
                let ids = if arguments.is_empty() { None } else { Some(arguments.to_vec()) };
                Kind::Lookup(LookupStep {
                    edges,
                    ids,
                    conditions: Vec::new(),
                    limit: None,
                    need: Need::Whole,
                    count: false,
                })
            }
            "out" => adjacent(instruction, Direction::Out, false, arguments)?,
            "in" => adjacent(instruction, Direction::In, false, arguments)?,
            "both" => adjacent(instruction, Direction::Both, false, arguments)?,
            "outE" => adjacent(instruction, Direction::Out, true, arguments)?,
            "inE" => adjacent(instruction, Direction::In, true, arguments)?,
            "bothE" => adjacent(instruction, Direction::Both, true, arguments)?,
            "to" | "toE" => match arguments {
                [direction, labels @ ..] => {
                    let direction = match token(direction, TokenKind::Direction) {
                        Some("OUT") => Direction::Out,
                        Some("IN") => Direction::In,
                        Some("BOTH") => Direction::Both,
                        _ => return Err(unexpected(instruction)),
                    };
                    adjacent(instruction, direction, instruction.name.as_ref() == "toE", labels)?
                }
                [] => return Err(unexpected(instruction)),
            },
            "toV" => match arguments {
                [direction] => end(match token(direction, TokenKind::Direction) {
                    Some("OUT") => EdgeEnd::Out,
                    Some("IN") => EdgeEnd::In,
                    Some("BOTH") => EdgeEnd::Both,
                    _ => return Err(unexpected(instruction)),
                }),
                _ => return Err(unexpected(instruction)),
            },
            "outV" if arguments.is_empty() => end(EdgeEnd::Out),
            "inV" if arguments.is_empty() => end(EdgeEnd::In),
            "bothV" if arguments.is_empty() => end(EdgeEnd::Both),
            "otherV" if arguments.is_empty() => end(EdgeEnd::Other),
            "inject" => Kind::Inject { values: arguments.to_vec(), start },
            "union" => {
                let mut children = self.children(instruction, false)?;
                for child in children.iter_mut().filter(|_| start) {
                    if let Some(Kind::Inject { start, .. }) =
                        child.steps.first_mut().map(|step| &mut step.kind)
                    {
                        *start = true;
                    }
                }
                Kind::Union { children }
            }
            _ => return self.write_step(instruction),
        };
        Ok(Some(kind))
    }
}

fn end(end: EdgeEnd) -> Kind {
    Kind::EdgeVertex { end, conditions: Vec::new() }
}

fn adjacent(instruction: &Instruction, direction: Direction, edges: bool, labels: &[Value]) -> Result<Kind> {
    let texts = arguments::texts(instruction, labels)?;
    // Only null as a label is no edge at all.
    let labels = if texts.is_empty() && !labels.is_empty() { vec!["\u{0}".into()] } else { texts };
    Ok(Kind::Adjacent(AdjacentStep {
        direction,
        labels,
        edges,
        edge_conditions: Vec::new(),
        vertex_conditions: Vec::new(),
        need: Need::Whole,
        count: false,
        limit: None,
        all_wanted: false,
    }))
}
