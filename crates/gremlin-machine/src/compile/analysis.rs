//! What of a plan can be done by lookups, and what traversers must carry.
//!
//! * Conditions behind a lookup become its own, so that an index can answer them.
//! * A count behind a lookup reads no elements.
//! * Elements whose properties are not looked at are found as references.
//! * Paths are kept only where a step asks for them.
//!
//! A wrong guess about properties costs a second read and nothing else: steps load what they find missing.

use std::sync::Arc;

use armilla_gremlin_value::Position;

use super::{PathNeed, Settings, SideKind, no_labels};
use crate::graph::{Condition, Direction, Need};
use crate::step::{
    AdjacentStep, Argument, By, EdgeEnd, End, Kind, Pick, PropertyKey, PropertySpec, Reduction, Step,
    Traversal, Until,
};

/// Folds `has` into the lookup before it.
pub(crate) fn fold_conditions(steps: &mut Vec<Step>) {
    fold_all(steps, &fold);
}

/// Folds edges with their ends into neighbours, in children too; only where paths do not show the edges.
pub(crate) fn fold_hops(traversal: &mut Traversal) {
    fold_all(&mut traversal.steps, &fold_hop);
    fold_conditions(&mut traversal.steps);
    for step in &mut traversal.steps {
        for_children(&mut step.kind, &mut |child, _| fold_hops(child));
    }
}

fn fold_all(steps: &mut Vec<Step>, fold: &dyn Fn(&mut Step, &Step) -> bool) {
    let mut folded: Vec<Step> = Vec::with_capacity(steps.len());
    for step in steps.drain(..) {
        if let Some(last) = folded.last_mut()
            && last.labels.is_empty()
            && fold(last, &step)
        {
            continue;
        }
        folded.push(step);
    }
    *steps = folded;
}

/// Folds a step into the one before it; false if both stay.
fn fold(last: &mut Step, step: &Step) -> bool {
    match (&mut last.kind, &step.kind) {
        (Kind::Lookup(lookup), Kind::Has(conditions)) => lookup.conditions.extend(conditions.iter().cloned()),
        (Kind::Adjacent(adjacent), Kind::Has(conditions)) => {
            let into =
                if adjacent.edges { &mut adjacent.edge_conditions } else { &mut adjacent.vertex_conditions };
            into.extend(conditions.iter().cloned());
        }
        (Kind::EdgeVertex { conditions: into, .. }, Kind::Has(conditions))
        | (Kind::Has(into), Kind::Has(conditions)) => {
            into.extend(conditions.iter().cloned());
        }
        _ => return false,
    }
    last.labels = step.labels.clone();
    true
}

fn fold_hop(last: &mut Step, step: &Step) -> bool {
    match (&mut last.kind, &step.kind) {
        (Kind::Adjacent(adjacent), Kind::EdgeVertex { end, conditions }) if adjacent.edges => {
            let other = matches!(
                (adjacent.direction, end),
                (_, EdgeEnd::Other) | (Direction::Out, EdgeEnd::In) | (Direction::In, EdgeEnd::Out)
            );
            if !other {
                return false;
            }
            adjacent.edges = false;
            adjacent.vertex_conditions = conditions.clone();
        }
        _ => return false,
    }
    last.labels = step.labels.clone();
    true
}

/// Makes the filter of edges whose vertex at an end passes a filter.
pub(crate) fn end_filter(end: EdgeEnd, filter: Traversal, name: &Arc<str>) -> Traversal {
    let step = |kind| Step { kind, labels: no_labels(), name: name.clone(), position: None };
    let ends = step(Kind::EdgeVertex { end, conditions: Vec::new() });
    super::finished(vec![ends, step(Kind::Filter { child: filter, negated: false })])
}

/// Adds a hop over edges that pass a filter.
pub(crate) fn push_filtered_hop(
    steps: &mut Vec<Step>,
    direction: Direction,
    labels: Vec<Arc<str>>,
    filter: Traversal,
    name: &Arc<str>,
    position: Option<Position>,
) {
    let step = |kind| Step { kind, labels: no_labels(), name: name.clone(), position };
    steps.push(step(Kind::Adjacent(AdjacentStep {
        direction,
        labels,
        edges: true,
        edge_conditions: Vec::new(),
        vertex_conditions: Vec::new(),
        need: Need::Whole,
        count: false,
        limit: None,
        all_wanted: false,
    })));
    steps.push(step(Kind::Filter { child: filter, negated: false }));
    let end = match direction {
        Direction::Out => EdgeEnd::In,
        Direction::In => EdgeEnd::Out,
        Direction::Both => EdgeEnd::Other,
    };
    steps.push(step(Kind::EdgeVertex { end, conditions: Vec::new() }));
}

/// Chooses what lookups need, lets them count and stop early, in the traversal and in its children.
pub(crate) fn optimise(traversal: &mut Traversal, end_needs: bool) {
    for step in &mut traversal.steps {
        for_children(&mut step.kind, &mut |child, place| optimise(child, place.end_needs()));
    }
    let steps = &mut traversal.steps;
    for at in 0..steps.len() {
        let (head, rest) = steps.split_at_mut(at + 1);
        let Some(step) = head.last_mut() else { continue };
        let needs = !step.labels.is_empty() || needs_whole(rest, end_needs);
        let next = if step.labels.is_empty() { rest.first() } else { None };
        let counted = next.is_some_and(|next| matches!(next.kind, Kind::Reduce(Reduction::Count)));
        match &mut step.kind {
            Kind::Lookup(lookup) => {
                lookup.need = if needs { Need::Whole } else { Need::Reference };
                // An id that is named twice counts twice, which only finding it shows.
                lookup.count = counted
                    && at == 0
                    && lookup.ids.as_ref().is_none_or(|ids| {
                        ids.len() == 1 && !matches!(ids.first(), Some(armilla_gremlin_value::Value::List(_)))
                    });
                if let Some(Step { kind: Kind::Range { high, .. }, .. }) = next
                    && at == 0
                {
                    lookup.limit = *high;
                }
            }
            Kind::Adjacent(adjacent) => {
                adjacent.need = if needs { Need::Whole } else { Need::Reference };
                adjacent.count = counted;
                if let Some(Step { kind: Kind::Range { high, .. }, .. }) = next {
                    adjacent.limit = *high;
                }
            }
            _ => continue,
        }
        let fused = match &step.kind {
            Kind::Lookup(lookup) => lookup.count,
            Kind::Adjacent(adjacent) => adjacent.count,
            _ => false,
        };
        if fused && let Some(next) = rest.first_mut() {
            // The lookup gives numbers on, which the count behind it only adds up.
            next.kind = Kind::Reduce(Reduction::Sum);
            next.name = "count".into();
        }
    }
    restore_counts(steps);
    mark_wanted(steps);
    traversal.has_barrier = steps.iter().any(|step| step.kind.is_barrier());
    super::effects::order(traversal);
}

/// Marks the hops whose results are all waited for by a step behind them.
fn mark_wanted(steps: &mut [Step]) {
    let mut all_wanted = false;
    for step in steps.iter_mut().rev() {
        let ends_early = matches!(step.kind, Kind::Range { .. } | Kind::TimeLimit(_) | Kind::Fail(_));
        if let Kind::Adjacent(adjacent) = &mut step.kind {
            adjacent.all_wanted = all_wanted;
        }
        all_wanted = step.kind.is_barrier() || (all_wanted && !ends_early);
    }
}

/// Puts what was fused into one step.
fn restore_counts(steps: &mut Vec<Step>) {
    let mut at = 0;
    while at < steps.len() {
        let fused = match steps.get(at).map(|step| &step.kind) {
            Some(Kind::Lookup(lookup)) => lookup.count,
            Some(Kind::Adjacent(adjacent)) => adjacent.count,
            _ => false,
        };
        if fused && at + 1 < steps.len() {
            let count = steps.remove(at + 1);
            if let Some(step) = steps.get_mut(at) {
                step.labels = count.labels;
            }
        }
        at += 1;
    }
}

/// Says whether steps look at properties of what comes to them.
fn needs_whole(steps: &[Step], end_needs: bool) -> bool {
    for step in steps {
        if !step.labels.is_empty() {
            return true;
        }
        match &step.kind {
            Kind::Adjacent(_)
            | Kind::EdgeVertex { .. }
            | Kind::Reduce(Reduction::Count)
            | Kind::Drop
            | Kind::Lookup(_)
            | Kind::Discard
            | Kind::Constant(_) => return false,
            Kind::Token(_) => return false,
            Kind::Range { .. } | Kind::Tail(_) | Kind::Identity | Kind::Barrier { .. } | Kind::Coin(_) => {}
            Kind::Dedup { bys, .. } if bys.is_empty() => {}
            Kind::Has(conditions) => {
                if conditions
                    .iter()
                    .any(|condition| !matches!(condition, Condition::Id(_) | Condition::Label(_)))
                {
                    return true;
                }
            }
            Kind::Filter { child, .. } => {
                if needs_whole(&child.steps, false) {
                    return true;
                }
            }
            Kind::And(children) | Kind::Or(children) => {
                if children.iter().any(|child| needs_whole(&child.steps, false)) {
                    return true;
                }
            }
            Kind::Repeat(repeat) => {
                let conditions = repeat.emit.iter().flatten().chain(match &repeat.until {
                    Some(Until::Child(child)) => Some(child),
                    _ => None,
                });
                if conditions.into_iter().any(|child| needs_whole(&child.steps, false)) {
                    return true;
                }
                if repeat.body.as_ref().is_some_and(|body| needs_whole(&body.steps, false)) {
                    return true;
                }
            }
            _ => return true,
        }
    }
    end_needs
}

/// What becomes of the results of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChildPlace {
    /// Only whether there is one.
    Test,
    /// They are given on.
    Result,
}

impl ChildPlace {
    fn end_needs(self) -> bool {
        self == ChildPlace::Result
    }
}

/// Visits the children of a step.
pub(crate) fn for_children(kind: &mut Kind, visit: &mut dyn FnMut(&mut Traversal, ChildPlace)) {
    use ChildPlace::{Result, Test};
    match kind {
        Kind::HasChild { child, .. } | Kind::Filter { child, .. } => visit(child, Test),
        Kind::And(children) | Kind::Or(children) => children.iter_mut().for_each(|child| visit(child, Test)),
        Kind::SelectChild { child, bys, .. } => {
            visit(child, Result);
            for_bys(bys, visit);
        }
        Kind::WherePredicate { bys, .. }
        | Kind::SimplePath { bys, .. }
        | Kind::ValueMap { bys, .. }
        | Kind::Select { bys, .. }
        | Kind::Project { bys, .. }
        | Kind::Path { bys, .. }
        | Kind::Math { bys, .. }
        | Kind::Format { bys, .. }
        | Kind::Dedup { bys, .. }
        | Kind::Group { bys, .. }
        | Kind::GroupCount { bys, .. }
        | Kind::Tree { bys, .. } => for_bys(bys, visit),
        Kind::Order(bys) | Kind::OrderLocal(bys) => bys.iter_mut().for_each(|(by, _)| for_by(by, visit)),
        Kind::Sample { by, .. } => by.iter_mut().for_each(|by| for_by(by, visit)),
        Kind::Aggregate { by, .. } | Kind::Sack { by, .. } => for_by(by, visit),
        Kind::Map(child)
        | Kind::FlatMap(child)
        | Kind::Optional(child)
        | Kind::Local(child)
        | Kind::SideEffect(child) => visit(child, Result),
        Kind::Union { children } | Kind::Coalesce(children) => {
            children.iter_mut().for_each(|child| visit(child, Result));
        }
        Kind::Choose { test, options, .. } => {
            visit(test, Result);
            for (pick, child) in options {
                if let Pick::Child(child) = pick {
                    visit(child, Result);
                }
                visit(child, Result);
            }
        }
        Kind::Repeat(repeat) => {
            if let Some(body) = &mut repeat.body {
                visit(body, Result);
            }
            if let Some(Until::Child(child)) = &mut repeat.until {
                visit(child, Test);
            }
            if let Some(Some(child)) = &mut repeat.emit {
                visit(child, Test);
            }
        }
        Kind::Match(patterns) => {
            patterns.iter_mut().for_each(|pattern| pattern.for_children(&mut |child| visit(child, Result)));
        }
        Kind::Concat(arguments) => arguments.iter_mut().for_each(|argument| for_argument(argument, visit)),
        Kind::List { other, .. } | Kind::DateDiff(other) | Kind::PropertyMap(other) => {
            for_argument(other, visit)
        }
        Kind::AddVertex { label, properties } => {
            label.iter_mut().for_each(|label| for_argument(label, visit));
            for_specs(properties, visit);
        }
        Kind::AddEdge { label, from, to, properties } => {
            for_argument(label, visit);
            for end in from.iter_mut().chain(to) {
                if let End::Child(child) = end {
                    visit(child, Result);
                }
            }
            for_specs(properties, visit);
        }
        Kind::Property(specs) => for_specs(specs, visit),
        Kind::Merge(merge) => {
            let arguments = [
                &mut merge.search,
                &mut merge.on_create,
                &mut merge.on_match,
                &mut merge.out_vertex,
                &mut merge.in_vertex,
            ];
            arguments.into_iter().flatten().for_each(|argument| for_argument(argument, visit));
        }
        _ => {}
    }
}

fn for_bys(bys: &mut [By], visit: &mut dyn FnMut(&mut Traversal, ChildPlace)) {
    bys.iter_mut().for_each(|by| for_by(by, visit));
}

fn for_by(by: &mut By, visit: &mut dyn FnMut(&mut Traversal, ChildPlace)) {
    if let By::Child(child) = by {
        visit(child, ChildPlace::Result);
    }
}

fn for_argument(argument: &mut Argument, visit: &mut dyn FnMut(&mut Traversal, ChildPlace)) {
    if let Argument::Child(child) = argument {
        visit(child, ChildPlace::Result);
    }
}

fn for_specs(specs: &mut [PropertySpec], visit: &mut dyn FnMut(&mut Traversal, ChildPlace)) {
    for spec in specs {
        if let PropertyKey::Child(child) = &mut spec.key {
            visit(child, ChildPlace::Result);
        }
        for_argument(&mut spec.value, visit);
        spec.meta.iter_mut().for_each(|(_, value)| for_argument(value, visit));
    }
}

/// Collects the side effects of a traversal and of its children.
pub(crate) fn side_effects(traversal: &mut Traversal, found: &mut Vec<(Arc<str>, SideKind)>) {
    for step in &mut traversal.steps {
        let effect = match &step.kind {
            Kind::Aggregate { key, .. } => Some((key, SideKind::Collected)),
            Kind::Group { key: Some(key), .. } => Some((key, SideKind::Groups)),
            Kind::GroupCount { key: Some(key), .. } => Some((key, SideKind::Counts)),
            Kind::Tree { key: Some(key), .. } => Some((key, SideKind::Tree)),
            _ => None,
        };
        if let Some((key, kind)) = effect
            && found.iter().all(|(other, _)| other != key)
        {
            found.push((key.clone(), kind));
        }
        for_children(&mut step.kind, &mut |child, _| side_effects(child, found));
    }
}

/// Says how much of their way traversers must know.
pub(crate) fn path_need(traversal: &Traversal, with_other_ends: bool) -> PathNeed {
    // The visitor changes nothing; it is the one that knows where children are.
    let mut copy = traversal.clone();
    need_of(&mut copy, with_other_ends)
}

pub(crate) fn path_need_of_filters(settings: &Settings) -> PathNeed {
    let filters = settings.vertex_filter.iter().chain(&settings.edge_filter);
    filters.map(|filter| path_need(filter, true)).max().unwrap_or(PathNeed::Nothing)
}

fn need_of(traversal: &mut Traversal, with_other_ends: bool) -> PathNeed {
    let mut need = PathNeed::Nothing;
    for step in &mut traversal.steps {
        need = need.max(match &step.kind {
            Kind::Path { .. } | Kind::SimplePath { .. } | Kind::Tree { .. } => PathNeed::All,
            Kind::EdgeVertex { end: EdgeEnd::Other, .. } if with_other_ends => PathNeed::All,
            Kind::Select { .. }
            | Kind::SelectChild { .. }
            | Kind::WherePredicate { .. }
            | Kind::WhereStart(_)
            | Kind::WhereEnd(_)
            | Kind::Match(_)
            | Kind::Format { .. } => PathNeed::Labelled,
            Kind::Math { expression, .. } if expression.has_names() => PathNeed::Labelled,
            Kind::Dedup { labels, .. } if !labels.is_empty() => PathNeed::Labelled,
            Kind::AddEdge { from, to, .. } => {
                let named = [from, to].into_iter().any(|end| matches!(end, Some(End::Label(_))));
                if named { PathNeed::Labelled } else { PathNeed::Nothing }
            }
            Kind::Merge(_) => PathNeed::Labelled,
            _ => PathNeed::Nothing,
        });
        let mut below = PathNeed::Nothing;
        for_children(&mut step.kind, &mut |child, _| below = below.max(need_of(child, with_other_ends)));
        need = need.max(below);
    }
    need
}
