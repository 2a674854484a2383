//! Which index tells of an expression's value.
//!
//! The value of a path is in the index of that path; elements of arrays share one index, whichever element they are,
//! so that a path through an element, or through a source that goes over elements, finds items that have such an
//! element somewhere.

use std::collections::HashMap;

use armilla_index::paths::PathSegment;

use crate::expr::{Expr, PathStep};
use crate::source::SystemProperty;

/// A value whose index may be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The index's path.
    pub(super) segments: Vec<PathSegment>,
    /// Whether an item may have several entries in it.
    pub(super) is_multiple: bool,
    /// What tells two mentions of one and the same value; `None` where each stands for itself.
    pub(super) identity: Option<Identity>,
}

/// One value of a row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Identity {
    slot: usize,
    steps: Vec<PathStep>,
}

impl Identity {
    /// Returns the slot of the source that it belongs to.
    pub(super) fn slot(&self) -> usize {
        self.slot
    }

    /// Returns the steps from that source.
    pub(super) fn steps(&self) -> &[PathStep] {
        &self.steps
    }

    /// Returns whether it lies in an element of an array of its source.
    pub(super) fn is_in_element(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, PathStep::Element(_)))
    }
}

impl Target {
    /// Returns the elements of the array that the value is.
    pub(super) fn elements(&self) -> Target {
        let segments = [&self.segments[..], &[PathSegment::Elements]].concat();
        Target { segments, is_multiple: true, identity: None }
    }

    /// Returns a member of the object that the value is; not to be taken for the same member mentioned elsewhere.
    pub(super) fn member(&self, name: &str) -> Target {
        let segments = [&self.segments[..], &[PathSegment::Property(name.to_owned())]].concat();
        Target { segments, is_multiple: self.is_multiple, identity: None }
    }
}

/// Where the values lie that slots stand for.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    places: HashMap<usize, SlotPath>,
}

#[derive(Debug, Clone)]
struct SlotPath {
    segments: Vec<PathSegment>,
    is_multiple: bool,
}

impl Scope {
    /// Returns the scope in which the item alone is bound.
    pub(super) fn of_item() -> Scope {
        let item = SlotPath { segments: Vec::new(), is_multiple: false };
        Scope { places: HashMap::from([(0, item)]) }
    }

    /// Says what a slot stands for.
    pub(super) fn bind(&mut self, slot: usize, target: Target) {
        self.places.insert(slot, SlotPath { segments: target.segments, is_multiple: target.is_multiple });
    }

    /// Returns the value that an expression names.
    pub(super) fn target(&self, expr: &Expr) -> Option<Target> {
        match expr {
            Expr::Slot(slot) => self.at(*slot, &[]),
            Expr::Path { slot, steps } => self.at(*slot, steps),
            Expr::System(SystemProperty::Ts) => {
                self.at(0, &[PathStep::Name(SystemProperty::Ts.name().to_owned())])
            }
            Expr::Computed { name, .. } => self.at(0, &[PathStep::Name(name.clone())]),
            _ => None,
        }
    }

    fn at(&self, slot: usize, steps: &[PathStep]) -> Option<Target> {
        let place = self.places.get(&slot)?;
        let mut segments = place.segments.clone();
        let mut is_multiple = place.is_multiple;
        for step in steps {
            segments.push(match step {
                PathStep::Name(name) => PathSegment::Property(name.clone()),
                PathStep::Element(_) => {
                    is_multiple = true;
                    PathSegment::Elements
                }
            });
        }
        let identity = Some(Identity { slot, steps: steps.to_vec() });
        // The item itself is in no index.
        (!segments.is_empty()).then_some(Target { segments, is_multiple, identity })
    }
}

/// Returns a path as a policy writes it in its lists: `/a/[]/"b c"/?`.
pub(super) fn single_text(segments: &[PathSegment]) -> String {
    format!("{}/?", path_text(segments))
}

/// Returns a path of a composite index as metrics write it: `/a ASC`.
pub(super) fn composite_text(segments: &[PathSegment], descending: bool) -> String {
    format!("{} {}", path_text(segments), if descending { "DESC" } else { "ASC" })
}

fn path_text(segments: &[PathSegment]) -> String {
    let mut text = String::new();
    for segment in segments {
        text.push('/');
        match segment {
            PathSegment::Elements => text.push_str("[]"),
            PathSegment::Property(name) => {
                let is_plain =
                    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if is_plain {
                    text.push_str(name);
                } else {
                    let mut quoted = Vec::new();
                    armilla_value::json::write_string(name, &mut quoted);
                    text.push_str(&String::from_utf8_lossy(&quoted));
                }
            }
        }
    }
    text
}
