//! How data changes with time.

use armilla_ledger::report::ShapeKind;

use super::{Candidate, Case, cut, percent, sort_name, sort_of};
use crate::finding::{Finding, Severity};

const SECONDS_PER_DAY: i64 = 86_400;

/// Data of times that are past, which nothing asks for and nothing removes.
pub(super) fn series_without_ttl(case: &Case<'_>) -> Vec<Candidate> {
    const RANGE_QUERIES_PART: f64 = 0.95;
    const DAYS_MIN: i64 = 7;
    let mut found = Vec::new();
    for container in case.containers() {
        let days = container.profile.written.map_or(0, |(first, last)| (last - first) / SECONDS_PER_DAY);
        if container.definition.default_ttl.is_some() || !case.shows_usual(container) {
            continue;
        }
        for (entity, profile) in &container.profile.entities {
            let is_time = |path: &str| {
                let at = profile.paths.get(path);
                at.is_some_and(|at| {
                    at.dates * 10 >= at.values * 9
                        && at.distinct * 10 >= at.values
                        && at.items * 10 >= profile.items * 9
                })
            };
            let (mut all, mut recent) = (0u64, 0u64);
            let mut by: Option<String> = None;
            for (shape, facts) in case.queries(container) {
                all += shape.total.count;
                let time = facts.compares.iter().find(|path| is_time(path) || *path == "/_ts");
                if let Some(path) = time {
                    recent += shape.total.count;
                    by.get_or_insert_with(|| path.clone());
                }
            }
            let reads: u64 = case
                .shapes(container)
                .iter()
                .filter(|shape| shape.kind == ShapeKind::Read)
                .map(|shape| shape.total.count)
                .sum();
            let changes = case.shapes(container).iter().any(|shape| {
                matches!(shape.kind, ShapeKind::Replace | ShapeKind::Patch) && shape.total.count * 10 > all
            });
            let Some(path) = by else { continue };
            if all < 20 || (recent as f64) < RANGE_QUERIES_PART * (all + reads) as f64 || changes {
                continue;
            }
            found.push(
                Finding::new(
                    "series-without-ttl",
                    if days >= DAYS_MIN { Severity::Warning } else { Severity::Note },
                    format!("{} are asked for by their time, and none ever goes", sort_name(entity)),
                )
                .about(&container.name)
                .because(format!("{recent} of {} reads and queries compare {path}", all + reads))
                .because(format!("items were written over {days} days; the container has no time to live"))
                .advise(
                    "Set `defaultTtl` to as long as they are asked for (removal costs nothing while throughput is \
                     idle), and export what has to be kept longer; or take a container for each month.",
                )
                .but("Where the past has to be kept here, nothing is wrong.")
                .sure(0.6)
                .into(),
            );
        }
    }
    found
}

/// Events that are appended to an item by writing all of it again.
pub(super) fn events_by_replace(case: &Case<'_>) -> Vec<Candidate> {
    const WRITES_PER_HOUR: f64 = 50.0;
    const APPENDS_MIN: u64 = 10;
    let mut found = Vec::new();
    for container in case.containers() {
        let Some(requests) = case.evidence.requests(container) else { continue };
        let hours = (case.evidence.seconds() / 3_600.0).max(1.0 / 60.0);
        let often: Vec<_> = requests
            .changes
            .items
            .iter()
            .filter(|item| {
                let count = item.count - item.overestimate;
                count >= APPENDS_MIN
                    && count as f64 / hours > WRITES_PER_HOUR
                    && item.appends * 10 >= count * 9
            })
            .collect();
        let Some(first) = often.first() else { continue };
        found.push(
            Finding::new(
                "events-by-replace",
                Severity::Warning,
                "Events are appended to items, each time by a write of the whole item",
            )
            .about(&container.name)
            .because(cut(&format!(
                "the item '{}' of {} was written {} times, {} of them appended to an array and changed nothing else",
                first.id,
                first.key.to_json(),
                first.count,
                first.appends
            )))
            .because(format!("{} items are written so", often.len()))
            .advise(
                "Write each event as an item of its own under the same partition key, and keep a summary up to date by \
                 a worker on the change feed: each event then costs its own size, not that of all before it.",
            )
            .sure(0.9)
            .into(),
        );
    }
    found
}

/// Large items of which little changes, often.
pub(super) fn large_item_small_change(case: &Case<'_>) -> Vec<Candidate> {
    const BYTES_MIN: u64 = 8 * 1_024;
    const CHANGED_PART_MAX: f64 = 0.05;
    const PER_MINUTE: f64 = 10.0;
    let mut found = Vec::new();
    for container in case.containers() {
        let Some(requests) = case.evidence.requests(container) else { continue };
        let is_change = |kind| matches!(kind, ShapeKind::Replace | ShapeKind::Patch);
        let shapes = requests.shapes.iter().filter(|shape| is_change(shape.kind));
        let rate: f64 = shapes.map(|shape| case.per_second(container, shape)).sum::<f64>() * 60.0;
        let compared: u64 = requests.changes.entities.values().map(|changes| changes.compared).sum();
        for (entity, changes) in &requests.changes.entities {
            let each = changes.bytes / changes.compared.max(1);
            let part = changes.changed_bytes as f64 / changes.bytes.max(1) as f64;
            let rate = rate * changes.compared as f64 / compared.max(1) as f64;
            if changes.compared < 20 || each <= BYTES_MIN || part >= CHANGED_PART_MAX || rate <= PER_MINUTE {
                continue;
            }
            let mut paths: Vec<(&String, u64)> =
                changes.paths.iter().map(|(path, change)| (path, change.changed)).collect();
            paths.sort_by(|one, other| (other.1, one.0).cmp(&(one.1, other.0)));
            let names: Vec<&str> = paths.iter().take(5).map(|(path, _)| path.as_str()).collect();
            found.push(
                Finding::new(
                    "large-item-small-change",
                    Severity::Warning,
                    format!("{} of {each} bytes are written again for a few of them", sort_name(entity)),
                )
                .about(&container.name)
                .because(format!(
                    "{} of the bytes change with a write, {rate:.0} writes a minute",
                    percent(part)
                ))
                .because(cut(&format!("what changes: {}", names.join(", "))))
                .advise(
                    "Put what changes into an item of its own under the same partition key. To patch the large one \
                     saves the network, but not request units.",
                )
                .sure(0.85)
                .into(),
            );
        }
    }
    found
}

/// Copies that differ from what they are copies of.
pub(super) fn copies_out_of_step(case: &Case<'_>) -> Vec<Candidate> {
    const IN_STEP_MIN: f64 = 0.99;
    let mut found = Vec::new();
    for copy in &case.evidence.copies {
        let (Some(host), Some(source)) =
            (case.evidence.containers.get(copy.host.0), case.evidence.containers.get(copy.source.0))
        else {
            continue;
        };
        let has_reader = case.shapes(source).iter().any(|shape| shape.kind == ShapeKind::Changes);
        let behind = 1.0 - copy.in_step;
        if copy.in_step >= IN_STEP_MIN || copy.items < 20 {
            continue;
        }
        found.push(
            Finding::new(
                "copies-out-of-step",
                if has_reader { Severity::Note } else { Severity::Severe },
                format!(
                    "{} of the copies of {} in {} are not what they are copies of",
                    percent(behind),
                    sort_of(source, &copy.source.1),
                    sort_of(host, &copy.host.1)
                ),
            )
            .about(&host.name)
            .because(format!("{} items carry {}", copy.items, copy.members.join(", ")))
            .because(match has_reader {
                true => format!("the change feed of {} is read: they may be on their way", source.short_name()),
                false => format!("no worker reads the change feed of {}", source.short_name()),
            })
            .advise(
                "Let a worker read the change feed of the source and write what changed into its copies; run it from \
                 the beginning once, so that it puts right what is wrong today.",
            )
            .sure(0.8)
            .into(),
        );
    }
    found
}
