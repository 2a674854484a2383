//! Indexes that nothing uses, and those that are missing.

use std::collections::BTreeSet;

use armilla_engine::IndexingMode;
use armilla_ledger::report::{Shape, ShapeKind};

use super::{Candidate, Case, cut, percent};
use crate::alteration::Alteration;
use crate::definitions;
use crate::evidence::ContainerEvidence;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::model::name;

/// What one leaf of an item costs to index, in request units for each write.
const LEAF_PRICE: f64 = 0.38;

/// Rows that are read for each that is given before an index is missed.
const READ_PER_ROW_MAX: u64 = 10;

/// Functions that an index answers, some by looking at all of its values; those have findings of their own.
const SERVED_FUNCTIONS: [&str; 17] = [
    "ARRAY_CONTAINS",
    "ARRAY_CONTAINS_ALL",
    "ARRAY_CONTAINS_ANY",
    "CONTAINS",
    "ENDSWITH",
    "IS_ARRAY",
    "IS_BOOL",
    "IS_DEFINED",
    "IS_NULL",
    "IS_NUMBER",
    "IS_OBJECT",
    "IS_PRIMITIVE",
    "IS_STRING",
    "REGEXMATCH",
    "STARTSWITH",
    "STRINGEQUALS",
    "STRING_EQUALS",
];

fn writes_per_second(case: &Case<'_>, container: &ContainerEvidence) -> f64 {
    let is_write = |kind| matches!(kind, ShapeKind::Create | ShapeKind::Replace | ShapeKind::Patch);
    let shapes = case.shapes(container).iter().filter(|shape| is_write(shape.kind));
    shapes.map(|shape| case.per_second(container, shape)).sum()
}

/// Whether it is known of every query of a container which paths it names. Of those of other APIs there is no text, of a long
/// one there is the beginning, and some had no room in the record. What was refused has used none.
fn are_paths_known(case: &Case<'_>, container: &ContainerEvidence) -> bool {
    let is_known = |shape: &Shape| {
        let is_refused = shape.total.count > 0 && shape.total.refused >= shape.total.count;
        shape.kind != ShapeKind::Query || is_refused || Facts::of(&shape.text).is_some()
    };
    let beyond = case.evidence.requests(container).map_or(0, |requests| requests.beyond.count);
    beyond == 0 && case.shapes(container).iter().all(is_known)
}

/// Paths that every write brings into the index and no query uses.
pub(super) fn index_not_used(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        if !case.was_watched() || !case.shows_usual(container) || !are_paths_known(case, container) {
            continue;
        }
        let is_all = container.definition.indexing.to_value();
        let is_none = container.definition.indexing.mode == IndexingMode::None;
        // A policy that someone has written is not second-guessed path by path.
        let is_default = is_all == armilla_index::IndexingPolicy::default().to_value();
        let mut used: BTreeSet<String> = BTreeSet::new();
        let mut queries = 0;
        for (shape, facts) in case.queries(container) {
            queries += shape.total.count;
            used.extend(facts.indexable().map(str::to_owned));
        }
        if is_none || !is_default || queries == 0 {
            continue;
        }
        let mut unused: Vec<(String, f64)> = Vec::new();
        for entity in container.profile.entities.values() {
            for (path, at) in &entity.paths {
                let is_leaf = at.objects + at.arrays < at.values;
                let is_used = used.iter().any(|name| {
                    name == path
                        || name.starts_with(&format!("{path}/"))
                        || path.starts_with(&format!("{name}/"))
                });
                if is_leaf && !is_used && path != "/id" && !container.is_key_path(path) {
                    let leaves = at.values as f64 / container.profile.items.max(1) as f64;
                    match unused.iter_mut().find(|(known, _)| known == path) {
                        Some((_, known)) => *known += leaves,
                        None => unused.push((path.clone(), leaves)),
                    }
                }
            }
        }
        let leaves: f64 = unused.iter().map(|(_, leaves)| leaves).sum();
        let writes = writes_per_second(case, container);
        if unused.is_empty() || writes <= 0.0 {
            continue;
        }
        unused.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        unused.truncate(50);
        let paths: Vec<String> = unused.iter().map(|(path, _)| format!("{path}/?")).collect();
        let saved = LEAF_PRICE * leaves * writes;
        let part = saved * case.evidence.seconds() / case.evidence.charge().max(0.01);
        let mut finding = Finding::new(
            "index-not-used",
            if part > 0.05 { Severity::Warning } else { Severity::Note },
            format!("{} paths are indexed on every write, and no query uses them", unused.len()),
        )
        .about(&container.name)
        .because(cut(&paths.join(", ")))
        .because(format!("{leaves:.1} leaves of each item; {writes:.2} writes a second; {queries} queries were seen"))
        .advise("Leave them out of the index. They can be put back at any time, and are then indexed in the background.")
        .but("A query that is asked once a month was not seen.")
        .sure(0.6);
        let mut policy = container.definition.indexing.to_value();
        definitions::exclude(&mut policy, &paths);
        finding.policy = Some(policy);
        found.push(Candidate {
            finding,
            alterations: vec![Alteration::Exclude { container: container.name.clone(), paths }],
        });
    }
    found
}

/// A filter that no index serves.
pub(super) fn filter_without_index(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            let total = &shape.total;
            let part = case.part(shape);
            // Items that are looked at and not wanted count as entries.
            let walked = total.entries + total.items;
            if total.count < 10
                || facts.filters.is_empty()
                || walked <= READ_PER_ROW_MAX * total.rows.max(total.count)
            {
                continue;
            }
            let excluded: Vec<&String> =
                facts.filters.iter().filter(|path| !is_indexed(container, path)).collect();
            let functions: Vec<&str> = facts
                .functions
                .iter()
                .map(String::as_str)
                .filter(|function| !SERVED_FUNCTIONS.contains(function))
                .collect();
            // Of what is counted or put into groups, few rows do not say that much was read in vain.
            if excluded.is_empty() && (facts.is_condensed() || functions.is_empty()) {
                continue;
            }
            let paths: Vec<String> = excluded.iter().map(|path| format!("{path}/?")).collect();
            let (advice, alterations) = match paths.is_empty() {
                false => (
                    format!("Include {} in the index.", paths.join(", ")),
                    vec![Alteration::Include { container: container.name.clone(), paths: paths.clone() }],
                ),
                true => (
                    format!(
                        "{} cannot be answered by the index alone: keep what it computes in a member of its own (or a \
                         computed property) that is indexed, and compare that.",
                        functions.join(", ")
                    ),
                    Vec::new(),
                ),
            };
            found.push(Candidate {
                finding: Finding::new(
                    "filter-without-index",
                    if part > 0.05 { Severity::Severe } else { Severity::Warning },
                    "A query reads many items for each row that it gives",
                )
                .about(&container.name)
                .because(cut(&name(container.short_name(), shape)))
                .because(format!(
                    "{walked} index entries and items were read for {} rows, at {:.2} RU a query: {} of all request units",
                    total.rows,
                    case.charge(container, shape),
                    percent(part)
                ))
                .advise(advice)
                .sure(0.9),
                alterations,
            });
        }
    }
    found
}

/// Whether the index of a container has a path, by the longest rule that fits.
fn is_indexed(container: &ContainerEvidence, path: &str) -> bool {
    if container.definition.indexing.mode == IndexingMode::None {
        return false;
    }
    let policy = container.definition.indexing.to_value();
    let best = |member: &str| {
        let list = policy.get(member).and_then(|list| match list {
            armilla_value::Value::Array(list) => Some(list.as_slice()),
            _ => None,
        });
        let paths = list.unwrap_or(&[]).iter().filter_map(|one| one.get("path")?.as_str());
        paths.filter_map(|rule| fits(rule, path)).max()
    };
    match (best("includedPaths"), best("excludedPaths")) {
        (included, Some(excluded)) => included.is_some_and(|included| included > excluded),
        (included, None) => included.is_some(),
    }
}

/// How well a rule fits a path: the more of it, the better; an exact end better than an open one.
fn fits(rule: &str, path: &str) -> Option<usize> {
    let rule = rule.replace('"', "");
    if let Some(exact) = rule.strip_suffix("/?") {
        return (exact == path).then_some(2 * path.len() + 1);
    }
    let open = rule.strip_suffix("/*")?;
    (path == open || path.starts_with(&format!("{open}/"))).then_some(2 * open.len())
}

/// A filter and an order that two paths of one index would serve together.
pub(super) fn order_without_composite(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            let total = &shape.total;
            let Some((_, is_down)) = facts.orders.first() else { continue };
            let equals: Vec<&String> = facts
                .equals
                .iter()
                .map(|(path, _)| path)
                // Within one logical partition its key is no condition.
                .filter(|path| {
                    !(path.contains("[]") || (container.is_key_path(path) && shape.total.keyed > 0))
                })
                .collect();
            let mut paths: Vec<(String, bool)> =
                equals.iter().map(|path| ((*path).clone(), *is_down)).collect();
            paths.extend(facts.orders.iter().cloned());
            let walked = total.entries + total.items;
            let is_wasteful = walked > READ_PER_ROW_MAX * total.rows.max(total.count);
            if paths.len() < 2 || !is_wasteful || total.count < 10 || has_composite(container, &paths) {
                continue;
            }
            let part = case.part(shape);
            let option: Vec<String> = paths
                .iter()
                .map(|(path, down)| format!("{path} {}", if *down { "DESC" } else { "ASC" }))
                .collect();
            let mut finding = Finding::new(
                "order-without-composite",
                if part > 0.05 { Severity::Severe } else { Severity::Warning },
                "A query filters by one path and orders by another",
            )
            .about(&container.name)
            .because(cut(&name(container.short_name(), shape)))
            .because(format!(
                "{walked} index entries and items were read for {} rows, at {:.2} RU a query: {} of all request units",
                total.rows,
                case.charge(container, shape),
                percent(part)
            ))
            .advise(format!(
                "Make a composite index of ({}), and name {} in ORDER BY as well, so that it is used.",
                option.join(", "),
                equals.iter().map(|path| format!("c{}", path.replace('/', "."))).collect::<Vec<_>>().join(", ")
            ))
            .but("Each write brings one entry more into the index.")
            .sure(0.9);
            let mut policy = container.definition.indexing.to_value();
            definitions::add_composite(&mut policy, &paths);
            finding.policy = Some(policy);
            found.push(Candidate {
                finding,
                alterations: vec![Alteration::Composite { container: container.name.clone(), paths }],
            });
        }
    }
    found
}

fn has_composite(container: &ContainerEvidence, paths: &[(String, bool)]) -> bool {
    container.definition.indexing.composites().iter().any(|composite| {
        composite.len() == paths.len()
            && composite.iter().zip(paths).all(|(one, (path, _))| one.path.text() == path.as_str())
    })
}
