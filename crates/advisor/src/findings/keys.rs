//! Partition keys: how items and requests spread over them.

use armilla_ledger::report::{KeyTally, ShapeKind};
use armilla_value::HashVersion;

use super::{Candidate, Case, cut, percent};
use crate::evidence::{ContainerEvidence, PartitionEvidence};
use crate::finding::{Finding, Severity};

/// Of the last hour's minutes, those in which a partition has to be at its end.
const FULL_MINUTES_MIN: usize = 15;
const FULL_PART: f64 = 0.9;
const IDLE_PART: f64 = 0.3;
const HOT_KEY_PART: f64 = 0.5;
const KEY_PART_MAX: f64 = 0.2;

/// Minutes in which a partition spent nearly all that it may, or refused something.
fn full_minutes(partition: &PartitionEvidence) -> usize {
    let is_full = |(charge, refused): &&(f64, u64)| {
        *refused > 0 || (partition.rate > 0.0 && charge / 60.0 > FULL_PART * partition.rate)
    };
    partition.minutes.iter().filter(is_full).count()
}

fn spent(partition: &PartitionEvidence) -> f64 {
    partition.minutes.iter().map(|(charge, _)| charge).sum()
}

/// The keys that cost the most, with what they surely cost.
fn top_key<'c>(case: &'c Case<'_>, container: &ContainerEvidence) -> Option<(&'c KeyTally, f64)> {
    let requests = case.evidence.requests(container)?;
    let top = requests.keys.first()?;
    let all = crate::evidence::charge_of(requests).max(0.01);
    Some((top, (top.charge - top.overestimate) as f64 / 100.0 / all))
}

fn refused(container: &ContainerEvidence) -> u64 {
    container.partitions.iter().flat_map(|partition| &partition.minutes).map(|(_, refused)| refused).sum()
}

/// One logical partition for which its physical one is too small.
pub(super) fn hot_logical_key(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let Some((top, part)) = top_key(case, container) else { continue };
        let full = container.partitions.iter().map(full_minutes).max().unwrap_or(0);
        let all: f64 = container.partitions.iter().map(spent).sum();
        let busiest = container.partitions.iter().map(spent).fold(0.0, f64::max);
        // What the key costs, as a part of the physical partition that it has most of.
        let of_partition = if busiest > 0.0 { (part * all / busiest).min(1.0) } else { part };
        if of_partition <= HOT_KEY_PART || full < FULL_MINUTES_MIN {
            continue;
        }
        found.push(
            Finding::new(
                "hot-logical-key",
                Severity::Severe,
                format!("The logical partition {} is asked for more than its physical one can give", cut(&top.key.to_json())),
            )
            .about(&container.name)
            .because(format!("{} of all that is asked of the container, {} requests", percent(part), top.count))
            .because(format!("its physical partition was at its end in {full} minutes of the last hour, and {} requests were refused", refused(container)))
            .advise(
                "Spread it: a second level of the key (a hierarchical key), or a suffix from 0 to 9 that readers ask \
                 for all at once. To split or to raise the throughput of the container does not help one key beyond \
                 10,000 RU/s.",
            )
            .but("What is only read a lot can be kept by the caller, or copied under several keys.")
            .sure(0.9)
            .into(),
        );
    }
    found
}

/// One physical partition that has more to do than the others, by many keys.
pub(super) fn hot_partition(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        if container.partitions.len() < 2 {
            continue;
        }
        let Some((place, hot)) = container
            .partitions
            .iter()
            .enumerate()
            .max_by(|(_, one), (_, other)| full_minutes(one).cmp(&full_minutes(other)))
        else {
            continue;
        };
        let is_idle = |partition: &PartitionEvidence| {
            let minutes = partition.minutes.len().max(1) as f64;
            spent(partition) / 60.0 / minutes < IDLE_PART * partition.rate
        };
        let others = container.partitions.iter().enumerate().filter(|(at, _)| *at != place);
        let idle = others.clone().filter(|(_, partition)| is_idle(partition)).count();
        let top = top_key(case, container).map_or(0.0, |(_, part)| part);
        if full_minutes(hot) < FULL_MINUTES_MIN || idle * 2 < others.count() || top > KEY_PART_MAX {
            continue;
        }
        found.push(
            Finding::new("hot-partition", Severity::Warning, "One physical partition is at its end while others rest")
                .about(&container.name)
                .because(format!(
                    "partition {place} was at its end in {} minutes of the last hour; {idle} others used less than {} of theirs",
                    full_minutes(hot),
                    percent(IDLE_PART)
                ))
                .because(format!("no logical partition has more than {} of the requests", percent(KEY_PART_MAX)))
                .advise("Split that partition (`armilla split`), or raise the throughput so that it is split.")
                .sure(0.7)
                .into(),
        );
    }
    found
}

const MONOTONE_MIN: f64 = 0.9;

/// Keys that grow with time: all writes go to the newest.
pub(super) fn monotone_key(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let key = &container.profile.key;
        let items = container.profile.items.max(1);
        let is_time = key.dates * 10 >= items * 9;
        let is_number = key.numbers * 10 >= items * 9;
        // A key of its own for each item spreads evenly, however it was made.
        let is_shared = key.distinct * 10 < items * 9;
        let creates = case.shapes(container).iter().any(|shape| shape.kind == ShapeKind::Create);
        if !case.shows_usual(container)
            || !(is_time || is_number)
            || key.monotone < MONOTONE_MIN
            || !is_shared
            || key.distinct < 10
        {
            continue;
        }
        found.push(
            Finding::new(
                "monotone-key",
                if creates { Severity::Severe } else { Severity::Warning },
                format!("The partition key {} grows with time", container.key_paths.join(", ")),
            )
            .about(&container.name)
            .because(format!(
                "{} of the keys {}, and later items have later keys (correlation {:.2})",
                percent(if is_time { key.dates } else { key.numbers } as f64 / items as f64),
                if is_time { "are dates" } else { "are numbers" },
                key.monotone
            ))
            .because(format!("{} different keys in {items} items", key.distinct))
            .advise(
                "All that is written at one time goes to one logical partition, and so to one physical one. Take what \
                 the data is about (a device, a user) as the key, with the date as a second level if it is asked for.",
            )
            .sure(0.85)
            .into(),
        );
    }
    found
}

/// A key of few values.
pub(super) fn coarse_key(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let profile = &container.profile;
        if !case.shows_usual(container) || container.definition.is_fixed() {
            continue;
        }
        let partitions = container.partitions.len() as u64;
        let top = container.logical.first();
        let top_part = top.map_or(0.0, |(_, _, bytes)| *bytes as f64 / profile.bytes.max(1) as f64);
        let is_few = profile.key.distinct < 10 * partitions && profile.key.distinct < 100;
        let is_skewed = top_part > 0.1 && container.sampled() > 0.99;
        if !is_few && !is_skewed {
            continue;
        }
        // What fits into one physical partition, and far from fills it, loses nothing by it today.
        let is_small =
            partitions == 1 && container.bytes * 10 < case.evidence.limits.physical_partition_bytes;
        let mut finding = Finding::new(
            "coarse-key",
            match profile.key.distinct <= partitions.max(2) {
                _ if is_small => Severity::Note,
                true => Severity::Severe,
                false => Severity::Warning,
            },
            format!("The partition key {} has few values", container.key_paths.join(", ")),
        )
        .about(&container.name)
        .because(format!(
            "{} different keys in {} items, over {partitions} physical partitions",
            profile.key.distinct, profile.items
        ));
        if let Some((key, items, bytes)) = top {
            finding = finding.because(cut(&format!(
                "the largest, {key}, has {items} items and {} of the bytes ({bytes})",
                percent(top_part)
            )));
        }
        // The path with the most values that queries compare.
        let better = case
            .queries(container)
            .flat_map(|(shape, facts)| {
                facts.equals.into_iter().map(move |(path, _)| (path, shape.total.count))
            })
            .filter(|(path, _)| !container.is_key_path(path) && path != "/id" && !path.contains("[]"))
            .filter(|(path, _)| {
                let entities = profile.entities.values().filter_map(|entity| entity.paths.get(path));
                entities.map(|at| at.distinct).max().unwrap_or(0) >= 10 * profile.key.distinct.max(1)
            })
            .max_by_key(|(_, count)| *count);
        let (advice, alterations) = match better {
            Some((path, _)) => (
                format!("Queries compare {path}, which has many more values: take it as the key."),
                vec![crate::alteration::Alteration::Key { container: container.name.clone(), paths: vec![path] }],
            ),
            None => (
                "Take a path with hundreds of values or more, or put two together in one member; with a hierarchical \
                 key the present one can stay the first level."
                    .to_owned(),
                Vec::new(),
            ),
        };
        found.push(Candidate {
            finding: finding
                .advise(advice)
                .but("A small container that fits into one physical partition for ever loses nothing by it.")
                .sure(0.8),
            alterations,
        });
    }
    found
}

const FILLED_PART: f64 = 0.7;
const DAYS_AHEAD: f64 = 30.0;

/// A logical partition on its way to its limit.
pub(super) fn filling_logical_partition(case: &Case<'_>) -> Vec<Candidate> {
    let limit = case.evidence.limits.logical_partition_bytes.max(1);
    let mut found = Vec::new();
    for container in case.containers() {
        let Some((key, items, bytes)) = container.logical.first() else { continue };
        let part = *bytes as f64 / limit as f64;
        // What is added in a second, and how much of it to this key.
        let created: u64 = case
            .shapes(container)
            .iter()
            .filter(|shape| shape.kind == ShapeKind::Create)
            .map(|shape| shape.total.bytes)
            .sum();
        let share = *items as f64 / container.profile.items.max(1) as f64;
        let growth = created as f64 / case.evidence.seconds() * share;
        let days = match growth > 0.0 {
            true => limit.saturating_sub(*bytes) as f64 / growth / 86_400.0,
            false => f64::INFINITY,
        };
        // A burst says nothing of a month.
        let is_soon = days < DAYS_AHEAD && case.was_watched();
        if part <= FILLED_PART && !is_soon {
            continue;
        }
        let mut finding = Finding::new(
            "filling-logical-partition",
            if part > 0.9 || days < 7.0 { Severity::Severe } else { Severity::Warning },
            format!("The logical partition {} is {} full", cut(key), percent(part)),
        )
        .about(&container.name)
        .because(format!("{items} items, {bytes} bytes of {limit}"));
        if days.is_finite() {
            finding = finding.because(format!(
                "it grows by {:.0} bytes a second, and is full in {days:.0} days (on {})",
                growth,
                day(case.evidence.report.until_ms, days)
            ));
        }
        found.push(
            finding
                .advise(
                    "Writes to it are refused when it is full. Add a level to the key: a hierarchical key that ends \
                     in /id has no limit, and queries by the first level still ask few partitions.",
                )
                .sure(0.9)
                .into(),
        );
    }
    found
}

/// Returns the day that is so many days after a moment, as people write it.
fn day(now_ms: i64, days: f64) -> String {
    let at = now_ms / 86_400_000 + days.min(36_500.0) as i64;
    let date = armilla_value::calendar::date_from_days(at);
    format!("{:04}-{:02}-{:02}", date.0, date.1, date.2)
}

/// A key that is different for each item while another is asked for.
pub(super) fn over_fine_key(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let profile = &container.profile;
        let key = &profile.key;
        let is_fine = key.distinct * 10 >= profile.items * 9;
        let is_id = key.ids * 2 > profile.items;
        let shapes = case.shapes(container);
        let spans_items =
            shapes.iter().any(|shape| matches!(shape.kind, ShapeKind::Batch | ShapeKind::Procedure));
        let (mut all, mut elsewhere) = (0u64, 0u64);
        let mut wanted: Vec<(String, u64)> = Vec::new();
        for (shape, facts) in case.queries(container) {
            all += shape.total.count;
            if shape.total.keyed * 2 > shape.total.count {
                continue;
            }
            elsewhere += shape.total.count;
            for (path, _) in &facts.equals {
                match wanted.iter_mut().find(|(known, _)| known == path) {
                    Some((_, count)) => *count += shape.total.count,
                    None => wanted.push((path.clone(), shape.total.count)),
                }
            }
        }
        // More queries than point reads: else the fine key is what the reads want.
        let reads: u64 =
            shapes.iter().filter(|shape| shape.kind == ShapeKind::Read).map(|shape| shape.total.count).sum();
        if !case.shows_usual(container)
            || !is_fine
            || is_id
            || spans_items
            || all < 100
            || elsewhere * 2 <= all
            || reads > all
        {
            continue;
        }
        let best = wanted
            .into_iter()
            .filter(|(path, _)| path != "/id" && !path.contains("[]"))
            .max_by_key(|(_, count)| *count);
        let Some((path, count)) = best else { continue };
        found.push(Candidate {
            finding: Finding::new(
                "over-fine-key",
                Severity::Warning,
                format!("Each item has a partition key of its own, and queries ask by {path}"),
            )
            .about(&container.name)
            .because(format!("{} different keys in {} items", key.distinct, profile.items))
            .because(format!("{count} of {all} queries compare {path}; {elsewhere} name no partition key"))
            .advise(format!(
                "Take {path} as the key, if it spreads evenly: its queries then ask one partition."
            ))
            .sure(0.7),
            alterations: vec![crate::alteration::Alteration::Key {
                container: container.name.clone(),
                paths: vec![path],
            }],
        });
    }
    found
}

/// Items without a key, or with keys of several types.
pub(super) fn missing_key(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let (key, items) = (&container.profile.key, container.profile.items);
        let is_missing = key.missing * 100 > items;
        let is_mixed = key.numbers * 100 > items && key.texts * 100 > items;
        if !(is_missing || is_mixed) || items < 100 || container.definition.is_fixed() {
            continue;
        }
        found.push(
            Finding::new(
                "missing-key",
                Severity::Warning,
                match is_missing {
                    true => format!("Items have no {}", container.key_paths.join(", ")),
                    false => format!("{} is a number in some items and a text in others", container.key_paths.join(", ")),
                },
            )
            .about(&container.name)
            .because(format!(
                "of {items} items {} have none or null, {} a number, {} a text",
                key.missing, key.numbers, key.texts
            ))
            .advise(
                "All items without a key lie in one logical partition, and '1' and 1 in two different ones. Write the \
                 key into every item, as a text.",
            )
            .sure(1.0)
            .into(),
        );
    }
    found
}

/// Keys of which the hash sees the beginning only.
pub(super) fn long_keys_hashed_short(case: &Case<'_>) -> Vec<Candidate> {
    const HASHED_BYTES: u64 = 100;
    let mut found = Vec::new();
    for container in case.containers() {
        let key = &container.profile.key;
        let is_first = container.definition.partition_key.version == HashVersion::V1;
        if !is_first || (key.bytes_max <= HASHED_BYTES && key.prefix_shared == 0) {
            continue;
        }
        found.push(
            Finding::new(
                "long-keys-hashed-short",
                Severity::Warning,
                "Partition keys are longer than what their hash looks at",
            )
            .about(&container.name)
            .because(format!("the longest has {} bytes; version 1 of the hash sees 100", key.bytes_max))
            .because(format!("{} keys begin with the same 100 bytes as another", key.prefix_shared))
            .advise(
                "Make the container again with version 2 of the partition key, and bring the items over (`armilla \
                 export`, `armilla import`).",
            )
            .sure(1.0)
            .into(),
        );
    }
    found
}

/// One tenant that asks for much more than the others.
pub(super) fn dominant_tenant(case: &Case<'_>) -> Vec<Candidate> {
    const KEYS_MIN: usize = 10;
    let mut found = Vec::new();
    for container in case.containers() {
        let Some((top, part)) = top_key(case, container) else { continue };
        let Some(requests) = case.evidence.requests(container) else { continue };
        if requests.keys.len() < KEYS_MIN || part < KEY_PART_MAX {
            continue;
        }
        let name = container.key_paths.join("/").to_ascii_lowercase();
        let is_tenant = ["tenant", "customer", "account", "organi", "company", "client"]
            .iter()
            .any(|word| name.contains(word));
        let mut charges: Vec<u64> = requests.keys.iter().map(|key| key.charge - key.overestimate).collect();
        charges.sort_unstable();
        let median = charges[charges.len() / 2].max(1);
        if !is_tenant || top.charge - top.overestimate <= 10 * median {
            continue;
        }
        found.push(
            Finding::new(
                "dominant-tenant",
                Severity::Warning,
                format!("{} takes {} of what all take together", cut(&top.key.to_json()), percent(part)),
            )
            .about(&container.name)
            .because(format!(
                "{:.1} RU, the median of the {} largest {:.1} RU",
                top.charge as f64 / 100.0,
                requests.keys.len(),
                median as f64 / 100.0
            ))
            .advise(
                "Give it a container of its own, with throughput of its own, and leave the small ones together: then \
                 it takes nothing from them.",
            )
            .sure(0.7)
            .into(),
        );
    }
    found
}
