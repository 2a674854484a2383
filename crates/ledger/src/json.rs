//! Reports as JSON values, for the wire and for files that outlast a start.
//!
//! Nothing is lost on the way, whatever types the values have: numbers beyond 64 bits with a sign are texts, and values
//! that JSON lacks are objects with one member whose name begins with `$`. What is not there counts as nothing: reports
//! of other versions can be read as far as they say the same.

mod value;

use std::collections::BTreeMap;

use armilla_value::{Component, Object, PartitionKey, Value};

use crate::report::{
    Changes, ContainerRequests, EntityChanges, Example, ItemChanges, KeyTally, Link, PathChanges, Report,
    Shape, ShapeKind, Slot, Tally,
};

/// What this module writes. It changes when an older reader would read something else.
const VERSION: i64 = 1;

/// Writes a report.
pub fn to_value(report: &Report) -> Value {
    let containers = report.containers.iter();
    Value::Object(Object::from([
        ("version", Value::Int64(VERSION)),
        ("sinceMs", Value::Int64(report.since_ms)),
        ("untilMs", Value::Int64(report.until_ms)),
        (
            "containers",
            containers.map(|(id, requests)| (id.to_string(), of_container(requests))).collect_value(),
        ),
        ("links", Value::Array(report.links.iter().map(of_link).collect())),
    ]))
}

/// Reads a report. An error says where something else was expected.
pub fn from_value(value: &Value) -> Result<Report, String> {
    let members = Members::of(value)?;
    let version = members.integer("version")?;
    if version != VERSION {
        return Err(format!("version {version} of a report is not known here, only version {VERSION}"));
    }
    Ok(Report {
        since_ms: members.integer("sinceMs")?,
        until_ms: members.integer("untilMs")?,
        containers: members.map("containers", number_of_name, to_container)?,
        links: members.list("links", to_link)?,
    })
}

/// Makes an object of members.
trait CollectValue {
    fn collect_value(self) -> Value;
}

impl<I: Iterator<Item = (String, Value)>> CollectValue for I {
    fn collect_value(self) -> Value {
        // The names are those of a map: each is there once.
        Value::Object(self.collect())
    }
}

/// Numbers are integers where they fit.
fn of_number(number: u64) -> Value {
    i64::try_from(number).map_or_else(|_| Value::String(number.to_string()), Value::Int64)
}

fn to_number(value: &Value) -> Result<u64, String> {
    match value {
        Value::Int64(number) => u64::try_from(*number).ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
    .ok_or_else(|| "expected a whole number from 0 on".to_owned())
}

fn number_of_name(name: &str) -> Result<u64, String> {
    name.parse().map_err(|_| "expected the resource id of a container as a number".to_owned())
}

fn of_container(requests: &ContainerRequests) -> Value {
    Value::Object(Object::from([
        ("shapes", Value::Array(requests.shapes.iter().map(of_shape).collect())),
        ("beyond", of_tally(&requests.beyond)),
        ("keys", Value::Array(requests.keys.iter().map(of_key_tally).collect())),
        ("changes", of_changes(&requests.changes)),
    ]))
}

fn to_container(value: &Value) -> Result<ContainerRequests, String> {
    let members = Members::of(value)?;
    Ok(ContainerRequests {
        shapes: members.list("shapes", to_shape)?,
        beyond: members.read("beyond", to_tally)?.unwrap_or_default(),
        keys: members.list("keys", to_key_tally)?,
        changes: members.read("changes", to_changes)?.unwrap_or_default(),
    })
}

fn of_shape(shape: &Shape) -> Value {
    let hours = shape.hours.iter().map(|(hour, tally)| (hour.to_string(), of_tally(tally)));
    Value::Object(Object::from([
        ("id", Value::from(shape.id)),
        ("kind", Value::from(shape.kind.name())),
        ("text", Value::from(shape.text.as_str())),
        ("total", of_tally(&shape.total)),
        ("hours", hours.collect_value()),
        ("examples", Value::Array(shape.examples.iter().map(of_example).collect())),
    ]))
}

fn to_shape(value: &Value) -> Result<Shape, String> {
    let members = Members::of(value)?;
    let hour = |name: &str| name.parse().map_err(|_| "expected an hour as a number".to_owned());
    Ok(Shape {
        id: members.shape_id("id")?,
        kind: members.required("kind", to_kind)?,
        text: members.read("text", to_text)?.unwrap_or_default(),
        total: members.read("total", to_tally)?.unwrap_or_default(),
        hours: members.map("hours", hour, to_tally)?,
        examples: members.list("examples", to_example)?,
    })
}

fn to_kind(value: &Value) -> Result<ShapeKind, String> {
    value.as_str().and_then(ShapeKind::named).ok_or_else(|| {
        let names: Vec<&str> = ShapeKind::ALL.into_iter().map(ShapeKind::name).collect();
        format!("expected one of {}", names.join(", "))
    })
}

type Figure = (&'static str, fn(&mut Tally) -> &mut u64);

/// The figures of a tally and their names.
const FIGURES: [Figure; 13] = [
    ("count", |tally| &mut tally.count),
    ("charge", |tally| &mut tally.charge),
    ("micros", |tally| &mut tally.micros),
    ("microsMax", |tally| &mut tally.micros_max),
    ("items", |tally| &mut tally.items),
    ("entries", |tally| &mut tally.entries),
    ("rows", |tally| &mut tally.rows),
    ("bytes", |tally| &mut tally.bytes),
    ("partitions", |tally| &mut tally.partitions),
    ("keyed", |tally| &mut tally.keyed),
    ("ranged", |tally| &mut tally.ranged),
    ("throttled", |tally| &mut tally.throttled),
    ("refused", |tally| &mut tally.refused),
];

fn of_tally(tally: &Tally) -> Value {
    let mut tally = *tally;
    let mut object = Object::new();
    for (name, figure) in FIGURES {
        let number = *figure(&mut tally);
        if number > 0 {
            object.insert(name, of_number(number));
        }
    }
    Value::Object(object)
}

fn to_tally(value: &Value) -> Result<Tally, String> {
    let members = Members::of(value)?;
    let mut tally = Tally::default();
    for (name, figure) in FIGURES {
        *figure(&mut tally) = members.number(name)?;
    }
    Ok(tally)
}

fn of_example(example: &Example) -> Value {
    let mut object = Object::new();
    if let Some(key) = &example.key {
        object.insert("key", of_key(key));
    }
    if let Some(id) = &example.id {
        object.insert("id", id.as_str());
    }
    if !example.text.is_empty() {
        object.insert("text", example.text.as_str());
    }
    if !example.parameters.is_empty() {
        let parameter = |(name, inner): &(String, Value)| {
            Value::Object(Object::from([
                ("name", Value::from(name.as_str())),
                ("value", value::to_plain(inner)),
            ]))
        };
        object.insert("parameters", Value::Array(example.parameters.iter().map(parameter).collect()));
    }
    object.insert("charge", of_number(example.charge));
    object.insert("rows", of_number(example.rows));
    Value::Object(object)
}

fn to_example(value: &Value) -> Result<Example, String> {
    let members = Members::of(value)?;
    let parameter = |value: &Value| -> Result<(String, Value), String> {
        let members = Members::of(value)?;
        Ok((members.required("name", to_text)?, members.required("value", value::from_plain)?))
    };
    Ok(Example {
        key: members.read("key", to_key)?,
        id: members.read("id", to_text)?,
        text: members.read("text", to_text)?.unwrap_or_default(),
        parameters: members.list("parameters", parameter)?,
        charge: members.number("charge")?,
        rows: members.number("rows")?,
    })
}

/// A key as requests have it, but for numbers, which are as exact as any value here.
fn of_key(key: &PartitionKey) -> Value {
    let component = |component: &Component| match component {
        Component::Undefined => Value::Object(Object::new()),
        Component::Null => Value::Null,
        Component::Bool(truth) => Value::Bool(*truth),
        Component::Number(number) => value::to_plain(&Value::Double(*number)),
        Component::String(text) => Value::from(text.as_str()),
    };
    Value::Array(key.0.iter().map(component).collect())
}

fn to_key(value: &Value) -> Result<PartitionKey, String> {
    let elements = value.as_array().ok_or("expected an array")?;
    let component = |element: &Value| match value::from_plain(element)? {
        Value::Object(object) if object.is_empty() => Ok(Component::Undefined),
        Value::Array(_) | Value::Object(_) => Err("expected scalars, or {} where there is none".to_owned()),
        scalar => Ok(Component::of(&scalar)),
    };
    elements.iter().map(component).collect::<Result<_, _>>().map(PartitionKey)
}

fn of_key_tally(tally: &KeyTally) -> Value {
    Value::Object(Object::from([
        ("key", of_key(&tally.key)),
        ("count", of_number(tally.count)),
        ("charge", of_number(tally.charge)),
        ("overestimate", of_number(tally.overestimate)),
    ]))
}

fn to_key_tally(value: &Value) -> Result<KeyTally, String> {
    let members = Members::of(value)?;
    Ok(KeyTally {
        key: members.required("key", to_key)?,
        count: members.number("count")?,
        charge: members.number("charge")?,
        overestimate: members.number("overestimate")?,
    })
}

fn of_changes(changes: &Changes) -> Value {
    let entities = changes.entities.iter().map(|(name, entity)| (name.clone(), of_entity(entity)));
    Value::Object(Object::from([
        ("entities", entities.collect_value()),
        ("items", Value::Array(changes.items.iter().map(of_item).collect())),
    ]))
}

fn to_changes(value: &Value) -> Result<Changes, String> {
    let members = Members::of(value)?;
    Ok(Changes {
        entities: members.map("entities", name_itself, to_entity)?,
        items: members.list("items", to_item)?,
    })
}

fn name_itself(name: &str) -> Result<String, String> {
    Ok(name.to_owned())
}

fn of_entity(entity: &EntityChanges) -> Value {
    let paths = entity.paths.iter().map(|(path, changes)| {
        let changes = Object::from([
            ("changed", of_number(changes.changed)),
            ("appended", of_number(changes.appended)),
            ("shortened", of_number(changes.shortened)),
            ("alone", of_number(changes.alone)),
        ]);
        (path.clone(), Value::Object(changes))
    });
    Value::Object(Object::from([
        ("compared", of_number(entity.compared)),
        ("bytes", of_number(entity.bytes)),
        ("changedBytes", of_number(entity.changed_bytes)),
        ("paths", paths.collect_value()),
    ]))
}

fn to_entity(value: &Value) -> Result<EntityChanges, String> {
    let members = Members::of(value)?;
    let changes = |value: &Value| -> Result<PathChanges, String> {
        let members = Members::of(value)?;
        Ok(PathChanges {
            changed: members.number("changed")?,
            appended: members.number("appended")?,
            shortened: members.number("shortened")?,
            alone: members.number("alone")?,
        })
    };
    Ok(EntityChanges {
        compared: members.number("compared")?,
        bytes: members.number("bytes")?,
        changed_bytes: members.number("changedBytes")?,
        paths: members.map("paths", name_itself, changes)?,
    })
}

fn of_item(item: &ItemChanges) -> Value {
    Value::Object(Object::from([
        ("key", of_key(&item.key)),
        ("id", Value::from(item.id.as_str())),
        ("count", of_number(item.count)),
        ("appends", of_number(item.appends)),
        ("overestimate", of_number(item.overestimate)),
    ]))
}

fn to_item(value: &Value) -> Result<ItemChanges, String> {
    let members = Members::of(value)?;
    Ok(ItemChanges {
        key: members.required("key", to_key)?,
        id: members.required("id", to_text)?,
        count: members.number("count")?,
        appends: members.number("appends")?,
        overestimate: members.number("overestimate")?,
    })
}

fn of_link(link: &Link) -> Value {
    let mut object = Object::from([
        ("fromContainer", of_number(link.from_container)),
        ("fromShape", Value::from(link.from_shape)),
        ("path", Value::from(link.path.as_str())),
        ("toContainer", of_number(link.to_container)),
        ("toShape", Value::from(link.to_shape)),
        // A parameter's name is never one of the other two: it begins with an @.
        (
            "slot",
            match &link.slot {
                Slot::Id => Value::from("id"),
                Slot::Key => Value::from("key"),
                Slot::Parameter(name) => Value::Object(Object::from([("parameter", name.as_str())])),
            },
        ),
        ("origins", of_number(link.origins)),
        ("rows", of_number(link.rows)),
        ("followed", of_number(link.followed)),
        ("follows", of_number(link.follows)),
        ("charge", of_number(link.charge)),
        ("micros", of_number(link.micros)),
    ]);
    if let Some(entity) = &link.entity {
        object.insert("entity", entity.as_str());
    }
    Value::Object(object)
}

fn to_link(value: &Value) -> Result<Link, String> {
    let members = Members::of(value)?;
    Ok(Link {
        from_container: members.number("fromContainer")?,
        from_shape: members.shape_id("fromShape")?,
        entity: members.read("entity", to_text)?,
        path: members.read("path", to_text)?.unwrap_or_default(),
        to_container: members.number("toContainer")?,
        to_shape: members.shape_id("toShape")?,
        slot: members.required("slot", to_slot)?,
        origins: members.number("origins")?,
        rows: members.number("rows")?,
        followed: members.number("followed")?,
        follows: members.number("follows")?,
        charge: members.number("charge")?,
        micros: members.number("micros")?,
    })
}

fn to_slot(value: &Value) -> Result<Slot, String> {
    match value {
        Value::String(text) if text == "id" => Ok(Slot::Id),
        Value::String(text) if text == "key" => Ok(Slot::Key),
        Value::Object(_) => Ok(Slot::Parameter(Members::of(value)?.required("parameter", to_text)?)),
        _ => Err("expected id, key, or an object with a parameter".to_owned()),
    }
}

fn to_text(value: &Value) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| "expected a text".to_owned())
}

/// The members of an object that is being read; errors say at which of them they are.
struct Members<'v>(&'v Object);

impl<'v> Members<'v> {
    fn of(value: &'v Value) -> Result<Members<'v>, String> {
        value.as_object().map(Members).ok_or_else(|| "expected an object".to_owned())
    }

    fn read<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'v Value) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.0.get(name).map(read).transpose().map_err(|error| format!("{name}: {error}"))
    }

    fn required<T>(
        &self,
        name: &str,
        read: impl FnOnce(&'v Value) -> Result<T, String>,
    ) -> Result<T, String> {
        self.read(name, read)?.ok_or_else(|| format!("{name} is missing"))
    }

    fn number(&self, name: &str) -> Result<u64, String> {
        Ok(self.read(name, to_number)?.unwrap_or(0))
    }

    fn integer(&self, name: &str) -> Result<i64, String> {
        self.required(name, |value| value.as_i64().ok_or_else(|| "expected a whole number".to_owned()))
    }

    fn shape_id(&self, name: &str) -> Result<u32, String> {
        self.required(name, |value| {
            u32::try_from(to_number(value)?).map_err(|_| "expected the id of a shape".to_owned())
        })
    }

    fn list<T>(&self, name: &str, read: impl Fn(&'v Value) -> Result<T, String>) -> Result<Vec<T>, String> {
        let read_all = |value: &'v Value| -> Result<Vec<T>, String> {
            let elements = value.as_array().ok_or("expected an array")?.iter().enumerate();
            elements.map(|(at, element)| read(element).map_err(|error| format!("{at}: {error}"))).collect()
        };
        Ok(self.read(name, read_all)?.unwrap_or_default())
    }

    fn map<K: Ord, T>(
        &self,
        name: &str,
        key: impl Fn(&str) -> Result<K, String>,
        read: impl Fn(&'v Value) -> Result<T, String>,
    ) -> Result<BTreeMap<K, T>, String> {
        let read_all = |value: &'v Value| -> Result<BTreeMap<K, T>, String> {
            let object = value.as_object().ok_or("expected an object")?;
            let member = |(name, value): (&str, &'v Value)| {
                let both = key(name).and_then(|key| Ok((key, read(value)?)));
                both.map_err(|error| format!("{name}: {error}"))
            };
            object.iter().map(member).collect()
        };
        Ok(self.read(name, read_all)?.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests;
