//! Where side effects are collected and looked at by turns, and batches would show too much of them.
//!
//! `store`, and whatever collects inside `local`, collects traverser by traverser: what stands behind it may look at
//! the side effect as it is then, or want no more traversers. Traversers go on one by one there, and inputs of a child
//! that does both are gone through one after the other. Steps that ask the graph gather again.

use super::analysis::for_children;
use crate::step::{Kind, Traversal};

/// Chooses where traversers go on one by one.
pub(crate) fn order(traversal: &mut Traversal) {
    let collects: Vec<bool> =
        traversal.steps.iter_mut().map(|step| collects_lazily(&mut step.kind)).collect();
    let looks: Vec<bool> = traversal.steps.iter().map(|step| looks_or_stops(&step.kind)).collect();
    let first = collects.iter().position(|collects| *collects);
    traversal.singly = first.filter(|first| looks.iter().skip(first + 1).any(|looks| *looks));
    let writes = traversal.steps.iter_mut().any(|step| collects_at_all(&mut step.kind));
    traversal.sequential = writes && looks.iter().any(|looks| *looks);
}

fn collects_lazily(kind: &mut Kind) -> bool {
    match kind {
        Kind::Aggregate { lazy, .. } => *lazy,
        Kind::Local(child) | Kind::SideEffect(child) | Kind::FlatMap(child) | Kind::Map(child) => {
            child.steps.iter_mut().any(|step| collects_at_all(&mut step.kind))
        }
        _ => false,
    }
}

fn collects_at_all(kind: &mut Kind) -> bool {
    if let Kind::Aggregate { .. }
    | Kind::Group { key: Some(_), .. }
    | Kind::GroupCount { key: Some(_), .. }
    | Kind::Tree { key: Some(_), .. } = kind
    {
        return true;
    }
    let mut found = false;
    for_children(kind, &mut |child, _| {
        found |= child.steps.iter_mut().any(|step| collects_at_all(&mut step.kind));
    });
    found
}

fn looks_or_stops(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Range { .. }
            | Kind::Select { .. }
            | Kind::SelectChild { .. }
            | Kind::WherePredicate { .. }
            | Kind::Filter { .. }
            | Kind::Cap(_)
    )
}
