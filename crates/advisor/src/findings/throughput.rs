//! Throughput: who has it, and who uses it.

use std::collections::BTreeMap;

use armilla_ledger::report::ShapeKind;
use armilla_value::{Object, Value, json};

use super::{Candidate, Case, percent};
use crate::evidence::{ContainerEvidence, charge_of};
use crate::finding::{Comparison, ComparisonLine, Finding, Severity};

/// Of its throughput, what a container uses at most that needs none of its own.
const USED_PART_MAX: f64 = 0.05;
const CONTAINERS_MIN: usize = 10;

/// Request units a second that a container was charged while it was watched.
fn used(case: &Case<'_>, container: &ContainerEvidence) -> f64 {
    case.evidence.requests(container).map_or(0.0, charge_of) / case.evidence.seconds()
}

/// Containers that differ in their names alone.
pub(super) fn many_small_containers(case: &Case<'_>) -> Vec<Candidate> {
    let mut groups: BTreeMap<String, Vec<&ContainerEvidence>> = BTreeMap::new();
    for container in &case.evidence.containers {
        let Value::Object(definition) = container.definition.to_value() else { continue };
        let mut rest = Object::default();
        for (name, value) in definition.iter().filter(|(name, _)| *name != "id") {
            rest.insert(name, value.clone());
        }
        let database = container.name.split_once('/').map_or("", |(database, _)| database);
        let is_small =
            container.throughput.is_some_and(|own| used(case, container) < USED_PART_MAX * f64::from(own));
        if is_small {
            groups
                .entry(format!("{database}/{}", json::to_string(&Value::Object(rest))))
                .or_default()
                .push(container);
        }
    }
    let mut found = Vec::new();
    for containers in groups.values().filter(|containers| containers.len() > CONTAINERS_MIN) {
        let own: u32 = containers.iter().filter_map(|container| container.throughput).sum();
        let used: f64 = containers.iter().map(|container| used(case, container)).sum();
        let names: Vec<&str> = containers.iter().take(5).map(|container| &*container.name).collect();
        found.push(
            Finding::new(
                "many-small-containers",
                Severity::Warning,
                format!("{} containers are alike but for their names", containers.len()),
            )
            .because(format!("{}, ...", names.join(", ")))
            .because(format!("they have {own} RU/s of their own and used {used:.1}"))
            .advise(
                "Put them into one container with what their names stand for (a tenant) as the partition key, or let \
                 them share the throughput of their database.",
            )
            .sure(0.8)
            .into(),
        );
    }
    found
}

/// A small container that pays for throughput by itself.
pub(super) fn throughput_of_its_own(case: &Case<'_>) -> Vec<Candidate> {
    const LEAST: u32 = 400;
    let idle = |container: &&ContainerEvidence| {
        container.throughput.is_some_and(|own| {
            own > LEAST && case.was_watched() && used(case, container) < USED_PART_MAX * f64::from(own)
        })
    };
    let mut found = Vec::new();
    for container in case.evidence.containers.iter().filter(idle) {
        let own = container.throughput.unwrap_or_default();
        found.push(
            Finding::new(
                "throughput-of-its-own",
                Severity::Note,
                format!("It has {own} RU/s and uses {} of them", percent(used(case, container) / f64::from(own))),
            )
            .about(&container.name)
            .because(format!("{:.2} RU/s on the average, {} bytes", used(case, container), container.bytes))
            .advise(
                "Lower it, make it autoscale, or let it share the throughput of its database with other small \
                 containers.",
            )
            .sure(0.6)
            .into(),
        );
    }
    found
}

/// Reads that cost twice what they have to.
pub(super) fn stronger_than_needed(case: &Case<'_>) -> Vec<Candidate> {
    if !case.evidence.is_strong {
        return Vec::new();
    }
    let is_read =
        |kind| matches!(kind, ShapeKind::Read | ShapeKind::Query | ShapeKind::List | ShapeKind::Changes);
    let shapes = case.evidence.report.containers.values().flat_map(|requests| &requests.shapes);
    let reads: u64 = shapes.filter(|shape| is_read(shape.kind)).map(|shape| shape.total.charge).sum();
    let per_second = reads as f64 / 100.0 / case.evidence.seconds();
    let part = reads as f64 / 100.0 / case.evidence.charge().max(0.01);
    if part < 0.1 {
        return Vec::new();
    }
    let mut finding = Finding::new(
        "stronger-than-needed",
        Severity::Note,
        "Every read of the account asks two replicas by default",
    )
    .because(format!("reads are {} of all request units", percent(part)))
    .advise(
        "Session consistency shows each caller what it wrote itself and costs half: make it the account's default, or \
         ask for it with the reads that can do with it.",
    )
    .but("Where one caller has to see at once what another wrote, it is needed.")
    .sure(0.4);
    finding.comparison = Some(Comparison {
        lines: vec![ComparisonLine {
            operation: "all reads".to_owned(),
            per_second: 1.0,
            before: per_second,
            after: per_second / 2.0,
            requests_before: 1.0,
            requests_after: 1.0,
        }],
        is_measured: false,
    });
    vec![finding.into()]
}
