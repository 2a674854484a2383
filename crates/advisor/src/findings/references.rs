//! What refers to something else, and how it is put together.

use std::collections::BTreeMap;

use armilla_ledger::report::{Link, ShapeKind, Slot};

use super::{Candidate, Case, cut, percent, sort_name};
use crate::alteration::Alteration;
use crate::evidence::ContainerEvidence;
use crate::finding::{Finding, Severity};
use crate::model::best_links;

/// Members that a copy may have, and bytes of each.
const COPIED_MEMBERS_MAX: usize = 6;
const COPIED_BYTES_MAX: u64 = 256;

/// Of writes of the source for each read of it.
const WRITES_PER_READ_MAX: f64 = 0.01;

/// Reads of another container that follow from a query's rows, one for each.
pub(super) fn reads_after_query(case: &Case<'_>) -> Vec<Candidate> {
    following_reads(case, "reads-after-query")
}

/// Reads of another container that follow from a read.
pub(super) fn copy_worth_embedding(case: &Case<'_>) -> Vec<Candidate> {
    following_reads(case, "copy-worth-embedding")
}

fn following_reads(case: &Case<'_>, rule: &'static str) -> Vec<Candidate> {
    // One for each reference, whatever requests it comes from.
    let mut groups: BTreeMap<(u64, String, u64), Vec<&Link>> = BTreeMap::new();
    for link in best_links(case.evidence) {
        let Some(origin) = case.evidence.shape(link.from_container, link.from_shape) else { continue };
        let Some(target) = case.evidence.shape(link.to_container, link.to_shape) else { continue };
        let is_query = origin.kind == ShapeKind::Query;
        let is_wanted =
            (rule == "reads-after-query") == is_query && (is_query || origin.kind == ShapeKind::Read);
        let refers = link.slot == Slot::Id && link.path != "/id" && target.kind == ShapeKind::Read;
        // What names the logical partition was known before the answer came.
        let is_known = origin.total.keyed * 2 > origin.total.count
            && case.evidence.container(link.from_container).is_some_and(|host| host.is_key_path(&link.path));
        if is_wanted && refers && !is_known && !link.path.contains("[]") {
            groups.entry((link.from_container, link.path.clone(), link.to_container)).or_default().push(link);
        }
    }
    let mut found = Vec::new();
    for ((from, path, to), links) in groups {
        let (Some(host), Some(source)) = (case.evidence.container(from), case.evidence.container(to)) else {
            continue;
        };
        let follows: u64 = links.iter().map(|link| link.follows).sum();
        let charge: u64 = links.iter().map(|link| link.charge).sum();
        let members = members_worth_copying(source);
        if members.is_empty() || is_volatile(case, source, follows) {
            continue;
        }
        let names: Vec<&str> = members.iter().map(|member| &**member).collect();
        let mut finding = Finding::new(
            rule,
            severity(case, charge),
            match rule {
                "reads-after-query" => format!(
                    "Rows of queries are completed by a read of {} for each {path}",
                    source.short_name()
                ),
                _ => format!("An item is completed by a read of {} by its {path}", source.short_name()),
            },
        )
        .about(&host.name);
        for link in &links {
            let origin = case.evidence.shape(link.from_container, link.from_shape);
            let each = link.follows as f64 / link.origins.max(1) as f64;
            let text = origin.map_or_else(String::new, |shape| crate::model::name(host.short_name(), shape));
            finding = finding.because(cut(&format!(
                "{text}: followed by {each:.1} reads of {} at {:.2} RU",
                source.short_name(),
                link.charge as f64 / 100.0 / link.follows.max(1) as f64
            )));
        }
        let finding = finding
            .because(format!("{} is written {} times for each read", source.short_name(), writes_per_read(case, source, follows)))
            .advise(format!(
                "Copy {} into the items that refer to it (as {}), write it when they are written, and let a worker on \
                 the change feed of {} put the copies right when it changes.",
                names.join(", "),
                names.iter().map(|member| Alteration::copied_name(&path, member)).collect::<Vec<_>>().join(", "),
                source.short_name()
            ))
            .but("Each change of the source then has to be written into every copy.")
            .sure(0.9);
        found.push(Candidate {
            finding,
            alterations: vec![Alteration::Embed {
                container: host.name.clone(),
                entity: None,
                reference: path,
                source: source.name.clone(),
                members,
            }],
        });
    }
    found
}

fn severity(case: &Case<'_>, hundredths: u64) -> Severity {
    match hundredths as f64 / 100.0 / case.evidence.charge().max(0.01) {
        part if part > 0.2 => Severity::Severe,
        part if part > 0.01 => Severity::Warning,
        _ => Severity::Note,
    }
}

/// Returns the small members that every item has, but for its id and what it is partitioned and told apart by.
fn members_worth_copying(source: &ContainerEvidence) -> Vec<String> {
    let mut members: Vec<String> = Vec::new();
    for entity in source.profile.entities.values() {
        for (path, at) in &entity.paths {
            let is_scalar = at.objects + at.arrays == 0;
            let is_everywhere = at.items * 10 >= entity.items * 9;
            let is_small = at.bytes_max <= COPIED_BYTES_MAX;
            let is_plain = path.matches('/').count() == 1 && path != "/id";
            let is_key = source.is_key_path(path) || source.profile.discriminator.as_ref() == Some(path);
            if is_scalar && is_everywhere && is_small && is_plain && !is_key && !members.contains(path) {
                members.push(path.clone());
            }
        }
    }
    members.truncate(COPIED_MEMBERS_MAX);
    members
}

fn writes_per_read(case: &Case<'_>, source: &ContainerEvidence, reads: u64) -> String {
    format!("{:.4}", writes(case, source) as f64 / reads.max(1) as f64)
}

fn writes(case: &Case<'_>, source: &ContainerEvidence) -> u64 {
    let is_change = |kind| matches!(kind, ShapeKind::Replace | ShapeKind::Patch);
    let shapes = case.shapes(source).iter().filter(|shape| is_change(shape.kind));
    shapes.map(|shape| shape.total.count).sum()
}

fn is_volatile(case: &Case<'_>, source: &ContainerEvidence, reads: u64) -> bool {
    writes(case, source) as f64 > WRITES_PER_READ_MAX * reads as f64
}

const LENGTH_MAX: u64 = 100;

/// A list of ids at the side of which there is one.
pub(super) fn growing_id_list(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for reference in &case.evidence.references {
        let Some(path) = reference.from.2.strip_suffix("/[]") else { continue };
        let Some(container) = case.evidence.containers.get(reference.from.0) else { continue };
        let Some(entity) = container.profile.entities.get(&reference.from.1) else { continue };
        let Some(lengths) = entity.paths.get(path).and_then(|at| at.lengths) else { continue };
        let changes = case.evidence.requests(container).and_then(|requests| {
            let changes = requests.changes.entities.get(&reference.from.1)?;
            Some((changes.compared, *changes.paths.get(path)?))
        });
        let grows = changes.is_some_and(|(compared, path)| {
            compared >= 20
                && path.appended as f64 > 0.05 * compared as f64
                && path.shortened * 10 < path.appended
        });
        if lengths.p99 <= LENGTH_MAX && !(grows && lengths.p99 > 20) {
            continue;
        }
        let target = case.evidence.containers.get(reference.to.0);
        let target = target.map_or("", |target| target.short_name());
        let mut finding = Finding::new(
            "growing-id-list",
            if grows { Severity::Severe } else { Severity::Warning },
            format!("{} list the ids of {target} at {path}", sort_name(&reference.from.1)),
        )
        .about(&container.name)
        .because(format!(
            "length {} (median), {} (99 of 100), {} (longest)",
            lengths.p50, lengths.p99, lengths.max
        ))
        .because(format!("{} of the values are ids in {target}", percent(reference.share)));
        if let Some((compared, path)) = changes {
            finding = finding
                .because(format!("{} of {compared} writes that were compared appended to it", path.appended));
        }
        found.push(
            finding
                .advise(
                    "Turn it round: let each item of the many carry the id of the one, and find them by a query on \
                     that path, within one logical partition if that is their key.",
                )
                .but("A list that is short and complete when it is written may stay.")
                .sure(0.9)
                .into(),
        );
    }
    found
}

/// Items that do nothing but tie two others together.
pub(super) fn join_items(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (place, container) in case.evidence.containers.iter().enumerate() {
        for (entity, profile) in &container.profile.entities {
            if profile.items < 100 {
                continue;
            }
            let is_own =
                |path: &str| path == "/id" || container.profile.discriminator.as_deref() == Some(path);
            let own: Vec<&String> = profile.paths.keys().filter(|path| !is_own(path)).collect();
            let referring: Vec<&armilla_profile::Reference> = case
                .evidence
                .references
                .iter()
                .filter(|reference| reference.from.0 == place && reference.from.1 == *entity)
                .filter(|reference| own.iter().any(|path| **path == reference.from.2))
                .collect();
            let mut paths: Vec<&str> = referring.iter().map(|reference| &*reference.from.2).collect();
            paths.dedup();
            if own.len() != 2 || paths.len() != 2 {
                continue;
            }
            let names: Vec<&str> = referring
                .iter()
                .filter_map(|reference| Some(case.evidence.containers.get(reference.to.0)?.short_name()))
                .collect();
            found.push(
                Finding::new(
                    "join-items",
                    Severity::Warning,
                    format!("{} only tie {} together", sort_name(entity), names.join(" and ")),
                )
                .about(&container.name)
                .because(format!("beside their id they have {} and nothing else", paths.join(" and ")))
                .because(format!("{} of them were looked at", profile.items))
                .advise(
                    "Where each side has few of the other, keep an array of ids at the side from which they are \
                     asked for, or at both: it saves a query and a read for each.",
                )
                .but("Where one side has thousands of the other, items that tie them together are right.")
                .sure(0.7)
                .into(),
            );
        }
    }
    found
}

const DANGLING_PART_MIN: f64 = 0.001;

/// References to what is not there.
pub(super) fn dangling_reference(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for reference in &case.evidence.references {
        let dangling = 1.0 - reference.share;
        // Half of the values somewhere else is no reference, and a part of a container proves nothing.
        if dangling <= DANGLING_PART_MIN || reference.share < 0.8 || reference.is_estimate {
            continue;
        }
        let Some(container) = case.evidence.containers.get(reference.from.0) else { continue };
        let Some(target) = case.evidence.containers.get(reference.to.0) else { continue };
        found.push(
            Finding::new(
                "dangling-reference",
                if dangling > 0.05 { Severity::Warning } else { Severity::Note },
                format!("{} of {} refer to what is not there", reference.from.2, sort_name(&reference.from.1)),
            )
            .about(&container.name)
            .because(format!(
                "{} of the different values are no {} in {}",
                percent(dangling),
                reference.to.2,
                target.short_name()
            ))
            .advise(
                "There are no foreign keys here: delete what refers together with what it refers to (in one stored \
                 procedure where both have one partition key, by a worker on the change feed where not), or have \
                 readers expect it.",
            )
            .sure(0.8)
            .into(),
        );
    }
    found
}
