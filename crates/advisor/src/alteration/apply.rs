//! Making the altered model.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_ledger::report::ShapeKind;
use armilla_sql::ast::{Direction, Expr, ExprKind, OrderByKind, OrderItem};
use armilla_value::{Object, PartitionKey, Value, json};

use super::{Alteration, CannotAlter, shorten};
use crate::definitions;
use crate::facts::Facts;
use crate::model::{CountedIn, Model, ModelContainer, Operation, Request, Scope, Step, key_at};
use crate::paths;

pub(super) fn apply(alteration: &Alteration, model: &Model) -> Result<Model, CannotAlter> {
    let mut model = model.clone();
    match alteration {
        Alteration::Key { container, paths } => {
            let place = place(&model, container)?;
            change_key(&mut model, place, paths)?;
        }
        Alteration::Composite { container, paths } => {
            let place = place(&model, container)?;
            definitions::add_composite(policy_of(&mut model.containers[place])?, paths);
            order_by_all(&mut model, place, paths);
        }
        Alteration::Exclude { container, paths } => {
            let place = place(&model, container)?;
            definitions::exclude(policy_of(&mut model.containers[place])?, paths);
        }
        Alteration::Include { container, paths } => {
            let place = place(&model, container)?;
            definitions::include(policy_of(&mut model.containers[place])?, paths);
        }
        Alteration::Embed { container, entity, reference, source, members } => {
            let (host, source) = (place(&model, container)?, place(&model, source)?);
            embed(&mut model, host, entity.as_deref(), reference, source, members)?;
        }
        Alteration::Count { container, entity, member, counted } => {
            let place = place(&model, container)?;
            count(&mut model, place, entity, member, counted)?;
        }
        Alteration::Copy { container, entity, key, shortened } => {
            let place = place(&model, container)?;
            copy(&mut model, place, entity.as_deref(), key, shortened)?;
        }
        Alteration::PointRead { container, shape } => {
            let place = place(&model, container)?;
            read_by_id(&mut model, place, *shape);
        }
        Alteration::Newest { container, entity, order, count, shortened } => {
            let place = place(&model, container)?;
            newest(&mut model, place, entity, order, *count, shortened)?;
        }
    }
    Ok(model)
}

/// Has queries that compare the first paths of a composite index, and order by the others, order by all of them: so the
/// index serves both. The rows are the same, since those paths have one value.
fn order_by_all(model: &mut Model, place: usize, paths: &[(String, bool)]) {
    let steps = model.operations.iter_mut().flat_map(|operation| &mut operation.steps);
    for step in steps.filter(|step| step.container == place) {
        for request in &mut step.requests {
            let Request::Query { text, .. } = request else { continue };
            let Some(facts) = Facts::of(text) else { continue };
            let Some(compared) = paths.strip_suffix(facts.orders.as_slice()) else { continue };
            if compared.is_empty() || !compared.iter().all(|(path, _)| facts.equal_to(path).is_some()) {
                continue;
            }
            if let Some(longer) = with_orders(text, compared) {
                *text = longer;
            }
        }
    }
}

/// Returns a query that orders by some paths before those that it orders by.
fn with_orders(text: &str, paths: &[(String, bool)]) -> Option<String> {
    let mut query = armilla_sql::parse(text).ok()?;
    let alias = query.from.as_ref()?.sources.first()?.alias()?.text.clone();
    let OrderByKind::Items(items) = &mut query.order_by.as_mut()?.kind else { return None };
    let item = |(path, is_down): &(String, bool)| {
        let root = Expr::from(ExprKind::Identifier(alias.clone()));
        let expr = path.split('/').filter(|step| !step.is_empty()).fold(root, |object, step| {
            Expr::from(ExprKind::Member { object: Box::new(object), name: step.into() })
        });
        OrderItem { expr, direction: if *is_down { Direction::Descending } else { Direction::Ascending } }
    };
    items.splice(0..0, paths.iter().map(item));
    Some(query.to_string())
}

fn place(model: &Model, name: &str) -> Result<usize, CannotAlter> {
    model.place(name).ok_or_else(|| {
        let known: Vec<&str> = model.containers.iter().map(|container| &*container.name).collect();
        CannotAlter(format!("there is no one container '{name}'; there are: {}", known.join(", ")))
    })
}

/// Returns the indexing policy of a container, which gets one where it has none.
fn policy_of(container: &mut ModelContainer) -> Result<&mut Value, CannotAlter> {
    let name = &container.name;
    let no_object = || CannotAlter(format!("the definition of {name} is not an object"));
    let Value::Object(definition) = &mut container.definition else { return Err(no_object()) };
    if !matches!(definition.get("indexingPolicy"), Some(Value::Object(_))) {
        definition.insert("indexingPolicy", Value::Object(Object::default()));
    }
    definition.get_mut("indexingPolicy").ok_or_else(no_object)
}

fn change_key(model: &mut Model, place: usize, key_paths: &[String]) -> Result<(), CannotAlter> {
    let container = &mut model.containers[place];
    let before = container.key_paths.clone();
    let Value::Object(definition) = &mut container.definition else {
        return Err(CannotAlter(format!("the definition of {} is not an object", container.name)));
    };
    definition.insert("partitionKey", definitions::partition_key(key_paths));
    container.key_paths = key_paths.to_vec();
    // Where each item has gone to, for those who read it by its id.
    let container = &model.containers[place];
    let mut moved: HashMap<(String, String), PartitionKey> = HashMap::new();
    for item in container.items.iter() {
        let (Some(old), Some(new)) = (key_at(item, &before), container.key_of(item)) else { continue };
        let Some(id) = item.get("id").and_then(Value::as_str) else { continue };
        moved.insert((old.to_json(), id.to_owned()), new);
    }
    let steps = model.operations.iter_mut().flat_map(|operation| &mut operation.steps);
    for step in steps.filter(|step| step.container == place) {
        step.requests = std::mem::take(&mut step.requests)
            .into_iter()
            .map(|request| match request {
                Request::Read { key, id } => match moved.get(&(key.to_json(), id.clone())) {
                    Some(key) => Request::Read { key: key.clone(), id },
                    None => Request::Read { key, id },
                },
                Request::Query { text, parameters, rows_max, .. } => {
                    let scope = scope_for(&text, &parameters, key_paths);
                    let rows_max = rows_max.filter(|_| scope == Scope::EachPartition);
                    Request::Query { text, parameters, scope, rows_max }
                }
            })
            .collect();
    }
    Ok(())
}

/// Returns what a query is about in a container with another key: one logical partition where it compares the key.
fn scope_for(text: &str, parameters: &[(String, Value)], key_paths: &[String]) -> Scope {
    let Some(facts) = Facts::of(text) else { return Scope::Every };
    let parts: Option<Vec<String>> = key_paths
        .iter()
        .map(|path| Some(json::to_string(facts.equal_to(path)?.value(parameters)?)))
        .collect();
    let key =
        parts.and_then(|parts| PartitionKey::from_json(format!("[{}]", parts.join(",")).as_bytes()).ok());
    key.map_or(Scope::Every, Scope::Key)
}

fn embed(
    model: &mut Model,
    host: usize,
    entity: Option<&str>,
    reference: &str,
    source: usize,
    members: &[String],
) -> Result<(), CannotAlter> {
    let by_id: HashMap<&str, &Value> = model.containers[source]
        .items
        .iter()
        .filter_map(|item| Some((item.get("id")?.as_str()?, item)))
        .collect();
    let mut copied = 0u64;
    let mut items: Vec<Value> = Vec::with_capacity(model.containers[host].items.len());
    for item in model.containers[host].items.iter() {
        let mut item = item.clone();
        let is_meant = entity.is_none_or(|entity| model.containers[host].entity(&item) == Some(entity));
        let found = paths::at(&item, reference).and_then(Value::as_str).and_then(|id| by_id.get(id));
        if let (true, Some(found)) = (is_meant, found) {
            for member in members {
                let Some(value) = paths::at(found, member) else { continue };
                let value = value.clone();
                let name = Alteration::copied_name(reference, member);
                add_after(&mut item, paths::last(reference), &name, value);
                copied += 1;
            }
        }
        items.push(item);
    }
    if copied == 0 {
        let (host, source) = (&model.containers[host].name, &model.containers[source].name);
        return Err(CannotAlter(format!("no item of {host} refers by {reference} to one of {source}")));
    }
    drop(by_id);
    let referring = copied as f64 / members.len().max(1) as f64;
    let referred = model.containers[source].items.len().max(1) as f64;
    model.containers[host].items = Arc::new(items);
    let satisfied = |operation: &Operation, step: &Step| {
        let Some(link) = &step.link else { return false };
        let from = operation.steps.first().map(|first| first.container);
        step.container == source
            && step.kind == ShapeKind::Read
            && from == Some(host)
            && link.path == reference
            && entity.is_none_or(|entity| link.entity.as_deref().is_none_or(|known| known == entity))
    };
    for operation in &mut model.operations {
        let keep: Vec<bool> = operation.steps.iter().map(|step| !satisfied(operation, step)).collect();
        let mut keep = keep.into_iter();
        operation.steps.retain(|_| keep.next().unwrap_or(true));
        // Where the source is written, its copies are written after it.
        let writes = operation.steps.iter().find(|step| {
            step.container == source && matches!(step.kind, ShapeKind::Replace | ShapeKind::Patch)
        });
        if let Some(step) = writes {
            let more = Step {
                times: step.times * referring / referred,
                container: host,
                kind: ShapeKind::Replace,
                entity: entity.map(str::to_owned),
                in_background: true,
                ..nothing_of(step)
            };
            operation.steps.push(more);
        }
    }
    Ok(())
}

/// A step like another, without what it asks.
fn nothing_of(step: &Step) -> Step {
    Step {
        times: step.times,
        container: step.container,
        shape: u32::MAX,
        kind: step.kind,
        requests: Vec::new(),
        entity: None,
        facts: None,
        link: None,
        recorded: 0.0,
        recorded_rows: 0.0,
        calibration: None,
        in_background: false,
        counted_in: None,
    }
}

/// Adds a member behind another, where people would write it.
fn add_after(item: &mut Value, behind: &str, name: &str, value: Value) {
    let Value::Object(object) = item else { return };
    let mut made = Object::with_capacity(object.len() + 1);
    let mut value = Some(value);
    for (known, one) in object.iter() {
        if known == name {
            continue;
        }
        made.insert(known, one.clone());
        if known == behind
            && let Some(value) = value.take()
        {
            made.insert(name, value);
        }
    }
    if let Some(value) = value {
        made.insert(name, value);
    }
    *object = made;
}

fn count(
    model: &mut Model,
    place: usize,
    entity: &str,
    member: &str,
    counted: &str,
) -> Result<(), CannotAlter> {
    let container = &model.containers[place];
    let path = format!("/{member}");
    if member == "id" || container.key_paths.contains(&path) {
        return Err(CannotAlter(format!(
            "{path} says which item it is in {}; counts go into a member of their own",
            container.name
        )));
    }
    let mut counts: HashMap<String, i64> = HashMap::new();
    for item in container.items_of(Some(counted)) {
        let Some(key) = container.key_of(item) else { continue };
        *counts.entry(key.to_json()).or_default() += 1;
    }
    let mut hosts = 0;
    let items: Vec<Value> = container
        .items
        .iter()
        .map(|item| {
            let mut item = item.clone();
            if container.entity(&item) == Some(entity) {
                let key = container.key_of(&item).map(|key| key.to_json()).unwrap_or_default();
                let count = counts.get(&key).copied().unwrap_or(0);
                paths::put(&mut item, &path, Value::Int64(count));
                hosts += 1;
            }
            item
        })
        .collect();
    if hosts == 0 || counts.is_empty() {
        return Err(CannotAlter(format!(
            "{} has no items that say they are '{entity}' and '{counted}'",
            container.name
        )));
    }
    let counting = container.discriminator.clone().map(|discriminator| Counting {
        place,
        key_paths: container.key_paths.clone(),
        discriminator,
        entity,
        counted,
    });
    model.containers[place].items = Arc::new(items);
    for operation in &mut model.operations {
        if let Some(counting) = &counting {
            let steps = std::mem::take(&mut operation.steps);
            operation.steps = steps.into_iter().flat_map(|step| counting.kept_up(step)).collect();
        }
        let creates = operation.steps.iter_mut().filter(|step| {
            step.container == place
                && step.kind == ShapeKind::Create
                && step.entity.as_deref() == Some(counted)
        });
        for step in creates {
            step.counted_in = Some(CountedIn { entity: entity.to_owned(), member: member.to_owned() });
        }
    }
    Ok(())
}

/// Items of one sort that count those of another in their logical partition.
struct Counting<'c> {
    place: usize,
    key_paths: Vec<String>,
    discriminator: String,
    entity: &'c str,
    counted: &'c str,
}

impl Counting<'_> {
    /// Returns what becomes of a step. What was counted because of another's answer is in that answer; what was counted by
    /// itself is in the item that counts, which is read.
    fn kept_up(&self, step: Step) -> Vec<Step> {
        let (counts, others): (Vec<Request>, Vec<Request>) =
            step.requests.iter().cloned().partition(|request| self.is_count(&step, request));
        if counts.is_empty() {
            return vec![step];
        }
        let part = counts.len() as f64 / step.requests.len() as f64;
        let mut left = Vec::new();
        if step.link.is_none() {
            left.push(Step {
                times: step.times * part,
                kind: ShapeKind::Read,
                entity: Some(self.entity.to_owned()),
                recorded: step.recorded,
                in_background: step.in_background,
                ..nothing_of(&step)
            });
        }
        if !others.is_empty() {
            left.push(Step { times: step.times * (1.0 - part), requests: others, ..step });
        }
        left
    }

    /// Whether a request counts all items of the sort in one logical partition.
    fn is_count(&self, step: &Step, request: &Request) -> bool {
        let Request::Query { text, parameters, scope, .. } = request else { return false };
        let is_of_all = step.facts.as_ref().is_some_and(|facts| {
            facts.is_aggregate && facts.is_of_key(Some(&self.discriminator), &self.key_paths)
        });
        let is_one_key = |scope: &Scope| matches!(scope, Scope::Key(_));
        step.container == self.place
            && is_of_all
            && (is_one_key(scope) || is_one_key(&scope_for(text, parameters, &self.key_paths)))
            && wants(request, &self.discriminator, self.counted)
    }
}

/// Whether a request asks for items of a sort, and no others.
fn wants(request: &Request, discriminator: &str, entity: &str) -> bool {
    let Request::Query { text, parameters, .. } = request else { return false };
    let facts = Facts::of(text);
    let term = facts.as_ref().and_then(|facts| facts.equal_to(discriminator)?.value(parameters));
    term.and_then(Value::as_str) == Some(entity)
}

fn copy(
    model: &mut Model,
    place: usize,
    entity: Option<&str>,
    key: &str,
    shortened: &[(String, usize)],
) -> Result<(), CannotAlter> {
    let container = &model.containers[place];
    let items: Vec<Value> = container
        .items_of(entity)
        .filter(|item| paths::at(item, key).is_some())
        .map(|item| {
            let mut item = item.clone();
            shorten(&mut item, shortened);
            item
        })
        .collect();
    let what = entity.unwrap_or("items");
    if items.is_empty() {
        return Err(CannotAlter(format!("{} has no {what} with {key}", container.name)));
    }
    let name = format!("{}-by-{}", container.name, paths::last(key));
    let made = model.containers.len();
    let made_container = ModelContainer {
        definition: definition(&name, key),
        name,
        key_paths: vec![key.to_owned()],
        partitions: container.partitions,
        items: Arc::new(items),
        discriminator: container.discriminator.clone(),
        scale: container.scale,
    };
    let discriminator = container.discriminator.clone();
    model.containers.push(made_container);
    let key_paths = [key.to_owned()];
    for operation in &mut model.operations {
        for step in &mut operation.steps {
            let is_served = step.container == place
                && step.kind == ShapeKind::Query
                && is_about(step, discriminator.as_deref(), entity)
                && step.facts.as_ref().is_some_and(|facts| facts.equal_to(key).is_some());
            if !is_served {
                continue;
            }
            step.container = made;
            step.requests = std::mem::take(&mut step.requests)
                .into_iter()
                .map(|request| match request {
                    Request::Query { text, parameters, .. } => {
                        let scope = scope_for(&text, &parameters, &key_paths);
                        Request::Query { text, parameters, scope, rows_max: None }
                    }
                    read @ Request::Read { .. } => read,
                })
                .collect();
        }
        copy_writes(operation, place, made, entity);
    }
    Ok(())
}

/// Has what is written written to the copy as well, by a worker.
fn copy_writes(operation: &mut Operation, from: usize, to: usize, entity: Option<&str>) {
    let writes = operation.steps.iter().filter(|step| {
        step.container == from
            && matches!(step.kind, ShapeKind::Create | ShapeKind::Replace | ShapeKind::Patch)
            && (step.entity.is_none() || entity.is_none() || step.entity.as_deref() == entity)
    });
    let more: Vec<Step> = writes
        .map(|step| Step {
            container: to,
            entity: entity.map(str::to_owned),
            in_background: true,
            ..nothing_of(step)
        })
        .collect();
    operation.steps.extend(more);
}

/// Whether a query wants items of a sort, and no others.
fn is_about(step: &Step, discriminator: Option<&str>, entity: Option<&str>) -> bool {
    let (Some(discriminator), Some(entity)) = (discriminator, entity) else { return entity.is_none() };
    step.requests.iter().any(|request| wants(request, discriminator, entity))
}

/// Has items read by their ids that a query named by them.
fn read_by_id(model: &mut Model, place: usize, shape: u32) {
    let key_paths = model.containers[place].key_paths.clone();
    let steps = model.operations.iter_mut().flat_map(|operation| &mut operation.steps);
    for step in steps.filter(|step| step.container == place && step.shape == shape) {
        let requests = step.requests.iter().filter_map(|request| {
            let Request::Query { text, parameters, scope, .. } = request else { return None };
            let id = Facts::of(text)?.equal_to("/id")?.value(parameters)?.as_str()?.to_owned();
            let key = match scope {
                Scope::Key(key) => key.clone(),
                Scope::Every | Scope::EachPartition => match scope_for(text, parameters, &key_paths) {
                    Scope::Key(key) => key,
                    Scope::Every | Scope::EachPartition => return None,
                },
            };
            Some(Request::Read { key, id })
        });
        step.requests = requests.collect();
        step.kind = ShapeKind::Read;
    }
}

fn newest(
    model: &mut Model,
    place: usize,
    entity: &str,
    order: &str,
    count: usize,
    shortened: &[(String, usize)],
) -> Result<(), CannotAlter> {
    let container = &model.containers[place];
    let Some(discriminator) = container.discriminator.clone() else {
        return Err(CannotAlter(format!(
            "items of {} do not say what they are; a list of the newest needs a member like 'type' to be keyed by",
            container.name
        )));
    };
    let mut items: Vec<&Value> =
        container.items_of(Some(entity)).filter(|item| paths::at(item, order).is_some()).collect();
    if items.is_empty() {
        return Err(CannotAlter(format!("{} has no '{entity}' with {order}", container.name)));
    }
    items.sort_by(|one, other| armilla_value::sql_cmp_option(paths::at(other, order), paths::at(one, order)));
    items.truncate(count);
    let items: Vec<Value> = items
        .into_iter()
        .map(|item| {
            let mut item = item.clone();
            shorten(&mut item, shortened);
            item
        })
        .collect();
    let name = format!("{}-newest", container.name);
    let made = model.containers.len();
    let made_container = ModelContainer {
        definition: definition(&name, &discriminator),
        name,
        key_paths: vec![discriminator.clone()],
        partitions: 1,
        items: Arc::new(items),
        discriminator: Some(discriminator.clone()),
        scale: 1.0,
    };
    model.containers.push(made_container);
    let key = PartitionKey::from_json(
        format!("[{}]", json::to_string(&Value::String(entity.to_owned()))).as_bytes(),
    )
    .map_err(|error| CannotAlter(error.to_string()))?;
    for operation in &mut model.operations {
        for step in &mut operation.steps {
            let is_served = step.container == place
                && step.kind == ShapeKind::Query
                && is_about(step, Some(&discriminator), Some(entity))
                && wants_newest_of_all(step, &discriminator, order);
            if !is_served {
                continue;
            }
            step.container = made;
            for request in &mut step.requests {
                if let Request::Query { scope, rows_max, .. } = request {
                    *scope = Scope::Key(key.clone());
                    *rows_max = None;
                }
            }
        }
        copy_writes(operation, place, made, Some(entity));
    }
    Ok(())
}

/// Whether a query wants the newest of all, not those of a user, nor those of a logical partition.
fn wants_newest_of_all(step: &Step, discriminator: &str, order: &str) -> bool {
    let is_keyed = |request: &Request| matches!(request, Request::Query { scope: Scope::Key(_), .. });
    let is_of_all = step.facts.as_ref().is_some_and(|facts| {
        facts.orders.first() == Some(&(order.to_owned(), true)) && facts.is_of_all(Some(discriminator))
    });
    is_of_all && !step.requests.iter().any(is_keyed)
}

/// Returns the definition of a container that is made, by the name with that of its database.
fn definition(name: &str, key: &str) -> Value {
    let short = name.split_once('/').map_or(name, |(_, short)| short);
    definitions::container(short, &[key.to_owned()])
}
