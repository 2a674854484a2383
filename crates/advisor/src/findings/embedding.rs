//! What lies in one item, and should or should not.

use armilla_ledger::report::{EntityChanges, ShapeKind};

use super::{Candidate, Case, percent, sort_name, sort_of};
use crate::evidence::ContainerEvidence;
use crate::finding::{Finding, Severity};

const LENGTH_MAX: u64 = 100;
const ARRAY_PART_MAX: f64 = 0.5;
/// Arrays shorter than this are no matter how much of an item they are.
const LENGTH_MIN: u64 = 20;
const APPENDED_PART_MIN: f64 = 0.05;
/// Writes that are compared before it is said how something changes.
const COMPARED_MIN: u64 = 20;

fn changes<'c>(case: &'c Case<'_>, container: &ContainerEvidence, entity: &str) -> Option<&'c EntityChanges> {
    case.evidence.requests(container)?.changes.entities.get(entity)
}

/// An array that only grows.
pub(super) fn unbounded_array(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (entity, profile) in &container.profile.entities {
            for (path, at) in &profile.paths {
                let Some(lengths) = at.lengths else { continue };
                let part = at.bytes as f64 / profile.bytes.max(1) as f64;
                let is_large =
                    lengths.p99 > LENGTH_MAX || (part > ARRAY_PART_MAX && lengths.p99 > LENGTH_MIN);
                if !is_large {
                    continue;
                }
                let change = changes(case, container, entity)
                    .filter(|changes| changes.compared >= COMPARED_MIN)
                    .and_then(|changes| Some((changes.compared, *changes.paths.get(path)?)));
                let grows = change.is_some_and(|(compared, path)| {
                    path.appended as f64 > APPENDED_PART_MIN * compared as f64
                        && path.shortened * 10 < path.appended
                });
                // Without a sign of growth it is a large array, and nothing more.
                let severity = match (grows, lengths.p99 > LENGTH_MAX) {
                    (true, true) => Severity::Severe,
                    (true, false) => Severity::Warning,
                    (false, _) => Severity::Note,
                };
                let mut finding = Finding::new(
                    "unbounded-array",
                    severity,
                    match grows {
                        true => format!("The array {path} in {} only grows", sort_name(entity)),
                        false => format!("The array {path} in {} is long", sort_name(entity)),
                    },
                )
                .about(&container.name)
                .because(format!(
                    "length {} (median), {} (99 of 100), {} (longest) in {} items",
                    lengths.p50, lengths.p99, lengths.max, at.items
                ))
                .because(format!("{} of the bytes of {}", percent(part), sort_name(entity)));
                if let Some((compared, path)) = change {
                    finding = finding.because(format!(
                        "{} of {compared} writes that were compared appended to it, {} shortened it",
                        path.appended, path.shortened
                    ));
                }
                if let Some(example) = profile.examples.first() {
                    finding = finding.because(format!("for example the item '{example}'"));
                }
                found.push(
                    finding
                        .advise(
                            "Make each element an item of its own with the same partition key, and keep in the host \
                             only the latest few that are shown with it and a count. Each append rewrites the whole \
                             item today: it costs more the longer the array is, until the item is too large.",
                        )
                        .but("Where the array has an end that is known and small, leave it.")
                        .sure(if grows { 0.9 } else { 0.4 })
                        .into(),
                );
            }
        }
    }
    found
}

/// An item on its way to the largest that is taken.
pub(super) fn item_near_limit(case: &Case<'_>) -> Vec<Candidate> {
    let limit = case.evidence.limits.item_bytes.max(1);
    let mut found = Vec::new();
    for container in case.containers() {
        for (entity, profile) in &container.profile.entities {
            let part = profile.bytes_max as f64 / limit as f64;
            if part <= 0.25 {
                continue;
            }
            let severity = if part > 0.75 { Severity::Severe } else { Severity::Warning };
            let largest = profile.paths.iter().max_by_key(|(_, at)| at.bytes_max);
            let mut finding = Finding::new(
                "item-near-limit",
                severity,
                format!("{} have up to {} of the largest size there is", sort_name(entity), percent(part)),
            )
            .about(&container.name)
            .because(format!("the largest has {} bytes of {limit}", profile.bytes_max));
            if let Some(example) = profile.examples.first() {
                finding = finding.because(format!("it is the item '{example}'"));
            }
            if let Some((path, at)) = largest {
                finding = finding.because(format!("most of it lies at {path}: {} bytes", at.bytes_max));
            }
            found.push(
                finding
                    .advise(
                        "Split it: what grows into items of its own under the same partition key, and files and \
                         pictures into a store for such, with a reference here.",
                    )
                    .into(),
            );
        }
    }
    found
}

const COPIES_MIN: u64 = 100;

/// A copy that has to be written again and again because its source changes.
pub(super) fn volatile_copy(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for copy in &case.evidence.copies {
        let (Some(host), Some(source)) =
            (case.evidence.containers.get(copy.host.0), case.evidence.containers.get(copy.source.0))
        else {
            continue;
        };
        let Some(changes) = changes(case, host, &copy.host.1) else { continue };
        if copy.items < COPIES_MIN || changes.compared < COMPARED_MIN {
            continue;
        }
        let members: Vec<String> =
            copy.members.iter().map(|member| member_path(host, &copy.host.1, &copy.host.2, member)).collect();
        let is_part = |path: &str| {
            members.iter().any(|member| path == member || path.starts_with(&format!("{member}/")))
        };
        let alone: u64 = changes
            .paths
            .iter()
            .filter(|(path, _)| is_part(path))
            .map(|(_, change)| change.alone)
            .max()
            .unwrap_or(0);
        let part = alone as f64 / changes.compared as f64;
        if part < 0.3 {
            continue;
        }
        let each = copy.items as f64 / source.profile.items.max(1) as f64;
        found.push(
            Finding::new(
                "volatile-copy",
                if part > 0.6 { Severity::Severe } else { Severity::Warning },
                format!(
                    "{} carry a copy of {} that changes more often than they do",
                    sort_of(host, &copy.host.1),
                    sort_of(source, &copy.source.1)
                ),
            )
            .about(&host.name)
            .because(format!(
                "{alone} of {} writes that were compared changed only {}",
                changes.compared,
                members.join(", ")
            ))
            .because(format!("{} items carry it, {each:.0} for each source", copy.items))
            .advise(
                "Refer to the source by its id, and read it when it is needed; or copy only those members of it that \
                 hardly ever change.",
            )
            .but("Where the copy is read a thousand times for each change, the writes are worth it.")
            .sure(0.8)
            .into(),
        );
    }
    found
}

/// Returns the path of a copied member: below the object that it is copied in, or beside the reference.
fn member_path(host: &ContainerEvidence, entity: &str, at: &str, member: &str) -> String {
    let profile = host.profile.entities.get(entity).and_then(|entity| entity.paths.get(at));
    match profile.is_some_and(|at| at.objects > 0) {
        true => format!("{at}/{member}"),
        false => format!("{}/{member}", at.rsplit_once('/').map_or("", |(owner, _)| owner)),
    }
}

const NEVER_READ_BYTES_PART: f64 = 0.3;
const READ_PART_MAX: f64 = 0.01;

/// A part of items that is stored, written and never asked for.
pub(super) fn embedded_never_read(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let (mut whole, mut all) = (0u64, 0u64);
        let mut given: Vec<String> = Vec::new();
        for shape in case.shapes(container) {
            match shape.kind {
                ShapeKind::Read | ShapeKind::List => {
                    whole += shape.total.count;
                    all += shape.total.count;
                }
                ShapeKind::Query => {
                    all += shape.total.count;
                    match crate::facts::Facts::of(&shape.text) {
                        Some(facts) => match &facts.gives {
                            Some(paths) => {
                                given.extend(paths.iter().cloned());
                                given.extend(facts.filters);
                            }
                            None => whole += shape.total.count,
                        },
                        None => whole += shape.total.count,
                    }
                }
                _ => {}
            }
        }
        if all < 100 || whole as f64 > READ_PART_MAX * all as f64 {
            continue;
        }
        for (entity, profile) in &container.profile.entities {
            for (path, at) in &profile.paths {
                let is_nested = at.objects + at.arrays > 0;
                let part = at.bytes as f64 / profile.bytes.max(1) as f64;
                let is_given = given
                    .iter()
                    .any(|name| name.starts_with(path.as_str()) || path.starts_with(name.as_str()));
                // The outermost is told; what lies in it goes with it.
                let is_outermost = path.matches('/').count() == 1;
                if !is_nested || part < NEVER_READ_BYTES_PART || is_given || !is_outermost {
                    continue;
                }
                found.push(
                    Finding::new(
                        "embedded-never-read",
                        Severity::Warning,
                        format!("{path} of {} is stored and hardly ever read", sort_name(entity)),
                    )
                    .about(&container.name)
                    .because(format!("{} of the bytes of {}", percent(part), sort_name(entity)))
                    .because(format!("{whole} of {all} requests asked for whole items; no other names {path}"))
                    .advise(
                        "Move it into an item of its own under the same partition key: writes of the rest become \
                         cheaper, and it is still one read away.",
                    )
                    .sure(0.7)
                    .into(),
                );
            }
        }
    }
    found
}
