//! A data model with what is done to it: what an alteration changes, and what a trial measures.
//!
//! It is made of a sample of the items and of examples of the requests. Operations are what an application does at once:
//! a request, and the requests that it goes on with because of the answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use armilla_ledger::report::{Example, Link, Shape, ShapeKind, Slot};
use armilla_value::{PartitionKey, Value, json};

use crate::evidence::Evidence;
use crate::facts::Facts;
use crate::limits::{ALONE_PART_MIN, FOLLOWED_PART_MIN, PARTITIONS_MAX};
use crate::paths;
use crate::trial::Calibration;

/// Containers, and what is done to them.
#[derive(Debug, Clone, Default)]
pub struct Model {
    /// The containers.
    pub containers: Vec<ModelContainer>,
    /// What is done, the dearest first.
    pub operations: Vec<Operation>,
    /// Whether reads cost twice as much by default as they have to.
    pub is_strong: bool,
}

/// A container of a model.
#[derive(Debug, Clone)]
pub struct ModelContainer {
    /// `database/container`.
    pub name: String,
    /// Its definition, as JSON.
    pub definition: Value,
    /// The paths of its partition key.
    pub key_paths: Vec<String>,
    /// How many physical partitions it has.
    pub partitions: u32,
    /// The items of the sample.
    pub items: Arc<Vec<Value>>,
    /// The path that says what an item is.
    pub discriminator: Option<String>,
    /// How many items there are for each of the sample.
    pub scale: f64,
}

/// What an application does at once.
#[derive(Debug, Clone)]
pub struct Operation {
    /// What to call it.
    pub name: String,
    /// How often it is done in a second.
    pub per_second: f64,
    /// What it consists of. The first is what all others follow from.
    pub steps: Vec<Step>,
}

/// Requests of one kind that an operation makes.
#[derive(Debug, Clone)]
pub struct Step {
    /// How many of them, on the average.
    pub times: f64,
    /// The container, by its place in the model.
    pub container: usize,
    /// The shape in the ledger.
    pub shape: u32,
    /// What kind they are.
    pub kind: ShapeKind,
    /// Requests to measure by.
    pub requests: Vec<Request>,
    /// What the items are that it writes, where all say the same.
    pub entity: Option<String>,
    /// What the query's text says, for queries.
    pub facts: Option<Facts>,
    /// The value of the first request's answer that they came with; nothing for the first.
    pub link: Option<StepLink>,
    /// What one was charged, in request units.
    pub recorded: f64,
    /// Rows that one gave.
    pub recorded_rows: f64,
    /// What that says of what is measured.
    pub(crate) calibration: Option<Calibration>,
    /// Whether the caller does not wait for it: work of a change feed.
    pub in_background: bool,
    /// Where each item that it creates is counted in the same transaction.
    pub counted_in: Option<CountedIn>,
}

/// A member of another item of the logical partition that counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CountedIn {
    /// What that item says it is.
    pub entity: String,
    /// The member.
    pub member: String,
}

/// The value that led from one request to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepLink {
    /// The path in the items that were answered.
    pub path: String,
    /// What those items say they are.
    pub entity: Option<String>,
    /// Where the value came back.
    pub slot: Slot,
}

/// A request that can be done again.
#[derive(Debug, Clone)]
pub enum Request {
    /// One item is read.
    Read {
        /// Its logical partition.
        key: PartitionKey,
        /// Its id.
        id: String,
    },
    /// A query is asked, to its last page.
    Query {
        /// The text.
        text: String,
        /// Its parameters.
        parameters: Vec<(String, Value)>,
        /// Which part of the container it is about.
        scope: Scope,
        /// How many rows a page has, where each physical partition is asked for one page.
        rows_max: Option<usize>,
    },
}

/// Which part of a container a query is about.
#[derive(Debug, Clone, PartialEq)]
pub enum Scope {
    /// One logical partition.
    Key(PartitionKey),
    /// All of it.
    Every,
    /// All of it, each physical partition by itself, as some clients do.
    EachPartition,
}

impl Model {
    /// Makes the model that an account has.
    pub fn of(evidence: &Evidence) -> Model {
        let containers = evidence.containers.iter().map(|container| ModelContainer {
            name: container.name.clone(),
            definition: container.definition.to_value(),
            key_paths: container.key_paths.clone(),
            partitions: (container.partitions.len() as u32).clamp(1, PARTITIONS_MAX),
            items: Arc::new(container.sample.clone()),
            discriminator: container.profile.discriminator.clone(),
            scale: 1.0 / container.sampled().max(f64::MIN_POSITIVE),
        });
        let mut model =
            Model { containers: containers.collect(), operations: Vec::new(), is_strong: evidence.is_strong };
        model.operations = operations(evidence, &model);
        model
    }

    /// Returns the place of a container by its name, with or without that of its database.
    pub fn place(&self, name: &str) -> Option<usize> {
        let short = |container: &ModelContainer| {
            container.name.split_once('/').is_some_and(|(_, short)| short == name)
        };
        let exact = self.containers.iter().position(|container| container.name == name);
        exact.or_else(|| {
            let mut found = self.containers.iter().enumerate().filter(|(_, container)| short(container));
            // A short name that two databases have says nothing.
            let first = found.next()?;
            found.next().is_none().then_some(first.0)
        })
    }
}

impl ModelContainer {
    /// Returns what an item says it is.
    pub fn entity<'v>(&self, item: &'v Value) -> Option<&'v str> {
        paths::at(item, self.discriminator.as_deref()?)?.as_str()
    }

    /// Returns the logical partition of an item, as JSON.
    pub fn key_of(&self, item: &Value) -> Option<PartitionKey> {
        key_at(item, &self.key_paths)
    }

    /// Returns the items of a sort; all of them where none is named.
    pub fn items_of<'m>(&'m self, entity: Option<&'m str>) -> impl Iterator<Item = &'m Value> {
        self.items.iter().filter(move |item| entity.is_none_or(|entity| self.entity(item) == Some(entity)))
    }
}

/// Returns the partition key that stands at some paths of an item.
pub(crate) fn key_at(item: &Value, key_paths: &[String]) -> Option<PartitionKey> {
    let parts = key_paths.iter().map(|path| match paths::at(item, path) {
        Some(value) => json::to_string(value),
        // What is not there is written so in a key.
        None => "{}".to_owned(),
    });
    PartitionKey::from_json(format!("[{}]", parts.collect::<Vec<_>>().join(",")).as_bytes()).ok()
}

impl Step {
    /// Returns whether it only reads.
    pub fn is_read(&self) -> bool {
        matches!(self.kind, ShapeKind::Read | ShapeKind::Query | ShapeKind::List | ShapeKind::Changes)
    }
}

/// Puts what was asked together to what was done: requests that follow from others belong to them.
fn operations(evidence: &Evidence, model: &Model) -> Vec<Operation> {
    let seconds = evidence.seconds();
    let partitions_of =
        |number: u64| evidence.container(number).map_or(1, |container| container.partitions.len());
    // How many requests of a shape follow from others, and are no operations of their own.
    let mut followed: Vec<(u64, u32, f64)> = Vec::new();
    let links: Vec<&Link> = best_links(evidence);
    for link in &links {
        let Some(origin) = evidence.shape(link.from_container, link.from_shape) else { continue };
        let times = follows_each(evidence, link, origin);
        followed.push((
            link.to_container,
            link.to_shape,
            times * calls(origin, partitions_of(link.from_container)),
        ));
    }
    let mut operations = Vec::new();
    for (number, requests) in &evidence.report.containers {
        let Some(container) = evidence.container(*number) else { continue };
        let place = model.containers.iter().position(|known| known.name == container.name);
        let Some(place) = place else { continue };
        for shape in &requests.shapes {
            let explained: f64 = followed
                .iter()
                .filter(|(to, id, _)| (to, id) == (number, &shape.id))
                .map(|(_, _, times)| times)
                .sum();
            let all = calls(shape, container.partitions.len());
            let alone = all - explained;
            // What is left by chance of sampling is no operation.
            if alone <= ALONE_PART_MIN * all {
                continue;
            }
            let mut steps = vec![step(model, place, shape, 1.0, None)];
            for link in
                links.iter().filter(|link| (&link.from_container, link.from_shape) == (number, shape.id))
            {
                let Some(to) = evidence.shape(link.to_container, link.to_shape) else { continue };
                let Some(to_container) = evidence.container(link.to_container) else { continue };
                let Some(to_place) = model.place(&to_container.name) else { continue };
                let times = follows_each(evidence, link, shape);
                let how = StepLink {
                    path: link.path.clone(),
                    entity: link.entity.clone(),
                    slot: link.slot.clone(),
                };
                let aside = step(model, to_place, to, times, Some(how));
                steps.extend(by_sort(&model.containers[to_place], aside));
            }
            operations.push(Operation {
                name: name(&container.name, shape),
                per_second: alone / seconds,
                steps,
            });
        }
    }
    let cost = |operation: &Operation| {
        let steps = operation.steps.iter().map(|step| step.times * step.recorded);
        operation.per_second * steps.sum::<f64>()
    };
    operations.sort_by(|one, other| cost(other).total_cmp(&cost(one)));
    operations
}

/// How often a shape was asked, as its callers see it: what they ask of each physical partition is asked once.
pub(crate) fn calls(shape: &Shape, partitions: usize) -> f64 {
    let total = &shape.total;
    (total.count - total.ranged) as f64 + total.ranged as f64 / partitions.max(1) as f64
}

/// How many requests follow from one as its callers see it.
fn follows_each(evidence: &Evidence, link: &Link, origin: &Shape) -> f64 {
    let partitions =
        evidence.container(link.from_container).map_or(1, |container| container.partitions.len());
    let is_ranged = origin.total.ranged * 2 > origin.total.count;
    let origins = link.origins.max(1) as f64 / if is_ranged { partitions.max(1) as f64 } else { 1.0 };
    link.follows as f64 / origins.max(1.0)
}

/// Returns the links that are believed, one for each pair of shapes and slot: the one that explains the most.
pub(crate) fn best_links(evidence: &Evidence) -> Vec<&Link> {
    let mut best: Vec<&Link> = Vec::new();
    for link in &evidence.report.links {
        if (link.followed as f64) < FOLLOWED_PART_MIN * link.origins as f64 {
            continue;
        }
        let same = |known: &Link| {
            (known.from_container, known.from_shape, known.to_container, known.to_shape)
                == (link.from_container, link.from_shape, link.to_container, link.to_shape)
        };
        match best.iter().position(|known| same(known)) {
            Some(at) => {
                let rank = |link: &Link| (link.follows, matches!(link.slot, Slot::Id), rank_of(&link.path));
                if rank(link) > rank(best[at]) {
                    best[at] = link;
                }
            }
            None => best.push(link),
        }
    }
    best
}

/// Of paths that explain the same, the one that says what it refers to: an item's own id last of all.
fn rank_of(path: &str) -> u8 {
    u8::from(path == "/id")
}

fn step(model: &Model, container: usize, shape: &Shape, times: f64, link: Option<StepLink>) -> Step {
    let count = calls(shape, model.containers[container].partitions as usize).max(1.0);
    Step {
        times,
        container,
        shape: shape.id,
        kind: shape.kind,
        requests: shape.examples.iter().filter_map(|example| request(shape, example)).collect(),
        entity: match shape.kind {
            ShapeKind::Create => Some(shape.text.clone()).filter(|text| !text.is_empty()),
            _ => None,
        },
        facts: (shape.kind == ShapeKind::Query).then(|| Facts::of(&shape.text)).flatten(),
        link,
        recorded: shape.total.charge as f64 / 100.0 / count,
        recorded_rows: shape.total.rows as f64 / count,
        calibration: None,
        in_background: false,
        counted_in: None,
    }
}

/// Takes a step apart by the sorts of items that its queries want, as far as its examples tell: one text may count comments
/// and likes.
fn by_sort(container: &ModelContainer, step: Step) -> Vec<Step> {
    let sort = |request: &Request| {
        let Request::Query { text, parameters, .. } = request else { return None };
        let facts = Facts::of(text)?;
        let term = facts.equal_to(container.discriminator.as_deref()?)?;
        term.value(parameters)?.as_str().map(str::to_owned)
    };
    let mut groups: BTreeMap<Option<String>, Vec<Request>> = BTreeMap::new();
    for request in &step.requests {
        groups.entry(sort(request)).or_default().push(request.clone());
    }
    if groups.len() < 2 {
        return vec![step];
    }
    let all = step.requests.len() as f64;
    let part = |requests: Vec<Request>| {
        let times = step.times * requests.len() as f64 / all;
        Step { times, requests, ..step.clone() }
    };
    groups.into_values().map(part).collect()
}

fn request(shape: &Shape, example: &Example) -> Option<Request> {
    match shape.kind {
        ShapeKind::Read => Some(Request::Read { key: example.key.clone()?, id: example.id.clone()? }),
        ShapeKind::Query => {
            let is_each = shape.total.ranged * 2 > shape.total.count;
            let (scope, rows_max) = match &example.key {
                Some(key) => (Scope::Key(key.clone()), None),
                None if is_each => (Scope::EachPartition, Some(example.rows.max(1) as usize)),
                None => (Scope::Every, None),
            };
            let (text, parameters) = (example.text.clone(), example.parameters.clone());
            Some(Request::Query { text, parameters, scope, rows_max })
        }
        _ => None,
    }
}

/// What an operation is called that begins with a shape.
pub(crate) fn name(container: &str, shape: &Shape) -> String {
    let what = match shape.kind {
        ShapeKind::Read => "read an item",
        ShapeKind::Create => "create",
        ShapeKind::Replace => "replace an item",
        ShapeKind::Patch => "patch an item",
        ShapeKind::Delete => "delete an item",
        ShapeKind::Query => "",
        ShapeKind::Procedure => "procedure",
        ShapeKind::Batch => "batch",
        ShapeKind::List => "list items",
        ShapeKind::Changes => "read changes",
    };
    let words = [container, ":", what, &shape.text];
    let words = words.into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ").replacen(" :", ":", 1)
}
