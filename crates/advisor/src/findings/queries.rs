//! Queries that read more than they give, or again what could be kept.

use armilla_ledger::report::{Shape, ShapeKind, Slot};

use super::{Candidate, Case, cut, percent};
use crate::alteration::Alteration;
use crate::evidence::ContainerEvidence;
use crate::facts::Facts;
use crate::finding::{Finding, Severity};
use crate::model::{best_links, name};

/// Of all request units, the part from which it is worth doing something about a query.
const PART_MIN: f64 = 0.05;
const FAN_OUT_MIN: f64 = 5.0;

fn severity(part: f64) -> Severity {
    match part {
        part if part > 0.2 => Severity::Severe,
        part if part > 0.01 => Severity::Warning,
        _ => Severity::Note,
    }
}

/// The sort of items that a query wants, if it says so.
fn entity_of(container: &ContainerEvidence, shape: &Shape) -> Option<String> {
    entities_of(container, shape).into_iter().next()
}

/// The sorts of items that queries of one text want, as far as its examples tell.
fn entities_of(container: &ContainerEvidence, shape: &Shape) -> Vec<String> {
    let Some(discriminator) = container.profile.discriminator.as_deref() else { return Vec::new() };
    let mut found: Vec<String> = Vec::new();
    for example in &shape.examples {
        let Some(facts) = Facts::of(&example.text) else { continue };
        let Some(term) = facts.equal_to(discriminator) else { continue };
        let Some(entity) = term.value(&example.parameters).and_then(|value| value.as_str()) else { continue };
        if !found.iter().any(|known| known == entity) {
            found.push(entity.to_owned());
        }
    }
    found.sort();
    found
}

/// Long texts of a sort, which lists rarely show whole.
fn long_texts(container: &ContainerEvidence, entity: Option<&str>) -> Vec<(String, usize)> {
    const LONG_BYTES: u64 = 500;
    const SHORT_CHARACTERS: usize = 100;
    let entities = container.profile.entities.iter();
    let wanted = entities.filter(|(name, _)| entity.is_none_or(|entity| entity == *name));
    let mut found = Vec::new();
    for (_, profile) in wanted {
        for (path, at) in &profile.paths {
            let is_text = at.texts > 0 && at.texts == at.values && !path.contains("[]");
            if is_text && at.bytes / at.values.max(1) > LONG_BYTES {
                found.push((path.clone(), SHORT_CHARACTERS));
            }
        }
    }
    found.dedup();
    found
}

/// Counting and adding up again and again what could be kept up.
pub(super) fn repeated_aggregate(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            let is_keyed = container.key_paths.iter().all(|path| facts.equal_to(path).is_some());
            let (rate, part) = (case.per_second(container, shape), case.part(shape));
            let link = best_links(case.evidence)
                .into_iter()
                .find(|link| (link.to_container, link.to_shape) == (container.number, shape.id));
            let is_often = rate > 1.0 || part > PART_MIN || link.is_some();
            // What is counted by a further condition is another number for each value of that.
            let is_of_all = facts.is_of_key(container.profile.discriminator.as_deref(), &container.key_paths);
            if !facts.is_aggregate || !is_keyed || !is_of_all || !is_often || shape.total.count < 10 {
                continue;
            }
            // What counts is what the count belongs to: the item whose answer led to it.
            let told = link
                .filter(|link| link.from_container == container.number && !matches!(link.slot, Slot::Id))
                .and_then(|link| link.entity.clone());
            for entity in entities_of(container, shape) {
                let host = told.clone().or_else(|| host_of(container, &entity));
                let Some(host) = host.filter(|host| *host != entity) else { continue };
                let member = format!("{entity}Count");
                let finding = Finding::new(
                    "repeated-aggregate",
                    severity(part),
                    format!("The '{entity}' items of one {} are counted again and again", container.key_paths.join(", ")),
                )
                .about(&container.name)
                .because(cut(&name(container.short_name(), shape)))
                .because(format!(
                    "asked {} times, {rate:.2} a second, at {:.2} RU: {} of all request units",
                    shape.total.count,
                    case.charge(container, shape),
                    percent(part)
                ))
                .advise(format!(
                    "Keep {member} in the '{host}' item, which has the same partition key, and write it in one \
                     transaction with each '{entity}' that is added or taken away: a stored procedure or a \
                     transactional batch."
                ))
                .but("Each write of a counted item then reads and writes the counter as well: about twice the price.")
                .sure(if link.is_some() { 0.95 } else { 0.7 });
                found.push(Candidate {
                    finding,
                    alterations: vec![Alteration::Count {
                        container: container.name.clone(),
                        entity: host,
                        member,
                        counted: entity,
                    }],
                });
            }
        }
    }
    // Two queries that count the same are one finding; the dearer one tells it.
    let mut known: Vec<Alteration> = Vec::new();
    found.retain(|candidate: &Candidate| {
        let is_new = !known.contains(&candidate.alterations[0]);
        known.extend(candidate.alterations.iter().cloned());
        is_new
    });
    found
}

/// The sort of items of which each logical partition has one.
fn host_of(container: &ContainerEvidence, counted: &str) -> Option<String> {
    let keys = container.profile.key.distinct;
    let entities = container.profile.entities.iter();
    let mut hosts =
        entities.filter(|(name, entity)| *name != counted && entity.items.abs_diff(keys) * 10 <= keys);
    let first = hosts.next()?;
    hosts.next().is_none().then(|| first.0.clone())
}

fn is_fan_out(case: &Case<'_>, container: &ContainerEvidence, shape: &Shape) -> bool {
    shape.kind == ShapeKind::Query
        && shape.total.keyed * 10 < shape.total.count
        && case.fan_out(container, shape) >= FAN_OUT_MIN
}

/// Whether a query wants the first few of all items of a sort: not of those of one user.
fn wants_first_of_all(container: &ContainerEvidence, shape: &Shape, facts: &Facts) -> bool {
    // Clients ask for a page where the text has no limit.
    let is_page = shape.total.ranged * 2 > shape.total.count;
    facts.orders.len() == 1
        && (facts.rows_max.is_some() || is_page)
        && facts.is_of_all(container.profile.discriminator.as_deref())
}

/// A query that asks every physical partition, often.
pub(super) fn fan_out_query(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            let part = case.part(shape);
            // Those are told as newest-of-all.
            let is_first = wants_first_of_all(container, shape, &facts);
            if !is_fan_out(case, container, shape) || part < PART_MIN || is_first {
                continue;
            }
            let discriminator = container.profile.discriminator.as_deref();
            // The path with the most different values makes the smallest logical partitions.
            let distinct = |path: &str| {
                let entities = container.profile.entities.values();
                entities.filter_map(|entity| entity.paths.get(path)).map(|at| at.distinct).max().unwrap_or(0)
            };
            let key = facts
                .equals
                .iter()
                .map(|(path, _)| path)
                .filter(|path| Some(path.as_str()) != discriminator && !path.contains("[]"))
                .max_by_key(|path| distinct(path));
            let entity = entity_of(container, shape);
            let finding = Finding::new(
                "fan-out-query",
                severity(part),
                format!("A query asks all {:.0} physical partitions", case.fan_out(container, shape)),
            )
            .about(&container.name)
            .because(cut(&name(container.short_name(), shape)))
            .because(format!(
                "{:.2} times a second at {:.2} RU and {:.1} ms: {} of all request units",
                case.per_second(container, shape),
                case.charge(container, shape),
                shape.total.micros as f64 / 1_000.0 / shape.total.count.max(1) as f64,
                percent(part)
            ))
            .because(format!(
                "it does not name {}; every physical partition that is asked costs, whether it has rows or not",
                container.key_paths.join(", ")
            ));
            let Some(key) = key else {
                found.push(
                    finding
                        .advise(
                            "Nothing that it compares with one value could be a partition key. See whether its answer \
                             can be kept in an item and brought up to date by a worker on the change feed.",
                        )
                        .sure(0.5)
                        .into(),
                );
                continue;
            };
            let shortened = match facts.gives {
                None => long_texts(container, entity.as_deref()),
                Some(_) => Vec::new(),
            };
            let what =
                entity.as_ref().map_or_else(|| "the items".to_owned(), |entity| format!("'{entity}' items"));
            let mut advice = format!(
                "Keep a copy of {what} in a container with the partition key {key} (one that is there already and has \
                 that key will do), written by a worker on the change feed, and ask it there."
            );
            if let Some((path, characters)) = shortened.first() {
                advice.push_str(&format!(
                    " Lists rarely show {path} whole: a copy with its first {characters} characters costs less."
                ));
            }
            found.push(Candidate {
                finding: finding
                    .advise(advice)
                    .but("Every write is then written twice, the second a little later.")
                    .sure(0.9),
                alterations: vec![Alteration::Copy {
                    container: container.name.clone(),
                    entity,
                    key: key.clone(),
                    shortened,
                }],
            });
        }
    }
    found
}

/// The first few of everything in some order.
pub(super) fn newest_of_all(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            let part = case.part(shape);
            let is_often = case.per_second(container, shape) * 60.0 > 1.0 || part > PART_MIN;
            let is_first = wants_first_of_all(container, shape, &facts);
            if !is_fan_out(case, container, shape) || !is_first || !is_often {
                continue;
            }
            let Some((order, is_down)) = facts.orders.first() else { continue };
            let Some(entity) = entity_of(container, shape) else { continue };
            let rows =
                shape.total.rows as f64 / crate::model::calls(shape, container.partitions.len()).max(1.0);
            let count = facts.rows_max.unwrap_or(rows.round() as u64).clamp(1, 1_000);
            let finding = Finding::new(
                "newest-of-all",
                severity(part),
                format!(
                    "The first {count} '{entity}' items by {order} are looked for in all physical partitions"
                ),
            )
            .about(&container.name)
            .because(cut(&name(container.short_name(), shape)))
            .because(format!(
                "{:.2} times a second at {:.2} RU, {:.0} partitions each: {} of all request units",
                case.per_second(container, shape),
                case.charge(container, shape),
                case.fan_out(container, shape),
                percent(part)
            ));
            let discriminator = container.profile.discriminator.clone().unwrap_or_else(|| "/type".to_owned());
            let finding = finding
                .advise(format!(
                    "Keep the {count} in a small container with the partition key {discriminator}: a worker on the \
                     change feed writes copies there, and a trigger after each write takes away those beyond {count}."
                ))
                .but("All of them have one logical partition then, which bears 10,000 RU/s and no more.")
                .sure(0.9);
            let alterations = match is_down {
                true => vec![Alteration::Newest {
                    container: container.name.clone(),
                    shortened: long_texts(container, Some(&entity)),
                    entity,
                    order: order.clone(),
                    count: count as usize,
                }],
                false => Vec::new(),
            };
            found.push(Candidate { finding, alterations });
        }
    }
    found
}

const SORTS_MIN: usize = 2;
/// Index entries and items that are read for each row where the index finds the right ones, and some to spare.
const WALKED_PER_ROW_MAX: u64 = 4;

/// Items of several sorts that do not say which.
pub(super) fn no_discriminator(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let profile = &container.profile;
        if profile.discriminator.is_some() || profile.sorts < SORTS_MIN || !case.shows_usual(container) {
            continue;
        }
        found.push(
            Finding::new(
                "no-discriminator",
                Severity::Warning,
                format!("Items of {} sorts do not say which they are", profile.sorts),
            )
            .about(&container.name)
            .because(format!(
                "{} items have members in {} groups that hardly overlap",
                profile.items, profile.sorts
            ))
            .advise("Add a member such as 'type' to each, and name it in every query that wants one sort.")
            .sure(0.8)
            .into(),
        );
    }
    found
}

/// Queries that read items of other sorts than they want.
pub(super) fn discriminator_not_filtered(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        let Some(discriminator) = container.profile.discriminator.clone() else { continue };
        if container.profile.entities.len() < SORTS_MIN {
            continue;
        }
        for (shape, facts) in case.queries(container) {
            let total = &shape.total;
            let is_named = facts.filters.contains(&discriminator);
            // Paths that one sort alone has tell it as well.
            let sorts = container.profile.entities.values().filter(|entity| {
                facts.filters.iter().all(|path| path == "/id" || entity.paths.contains_key(path))
            });
            let reads_others = sorts.count() >= SORTS_MIN;
            let walked = total.entries + total.items;
            if is_named
                || !reads_others
                || facts.filters.is_empty()
                || walked <= WALKED_PER_ROW_MAX * total.rows
                || total.count < 10
            {
                continue;
            }
            found.push(
                Finding::new(
                    "discriminator-not-filtered",
                    Severity::Warning,
                    format!("A query does not say by {discriminator} which items it wants"),
                )
                .about(&container.name)
                .because(cut(&name(container.short_name(), shape)))
                .because(format!("{walked} index entries and items were read for {} rows", total.rows))
                .advise(format!("Add a comparison with {discriminator}: the index finds the right ones."))
                .sure(0.6)
                .into(),
            );
        }
    }
    found
}

/// A query that names one item.
pub(super) fn query_for_one_item(case: &Case<'_>) -> Vec<Candidate> {
    let mut found = Vec::new();
    for container in case.containers() {
        for (shape, facts) in case.queries(container) {
            let names_key = container.key_paths.iter().all(|path| facts.equal_to(path).is_some());
            let is_keyed = names_key || shape.total.keyed * 10 >= shape.total.count * 9;
            let others = facts.filters.iter().filter(|path| *path != "/id" && !container.is_key_path(path));
            let names_one = facts.equal_to("/id").is_some() && is_keyed && others.count() == 0;
            if !names_one || facts.is_aggregate || !facts.joins.is_empty() || shape.total.count < 10 {
                continue;
            }
            let part = case.part(shape);
            found.push(Candidate {
                finding: Finding::new(
                    "query-for-one-item",
                    if part > 0.01 { Severity::Warning } else { Severity::Note },
                    "A query names one item by its id and partition key",
                )
                .about(&container.name)
                .because(cut(&name(container.short_name(), shape)))
                .because(format!("asked {} times at {:.2} RU", shape.total.count, case.charge(container, shape)))
                .advise("Read the item by its id and partition key: a point read costs 1 RU per KB and needs no plan.")
                .sure(1.0),
                alterations: vec![Alteration::PointRead { container: container.name.clone(), shape: shape.id }],
            });
        }
    }
    found
}
