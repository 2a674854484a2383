//! Vertices and edges as items, and changes to those.
//!
//! What is written is the form that the service documents: properties of vertices as lists of `{id, _value, _meta}`, the
//! partition key and `ttl` as they are, properties of edges as they are. Members of an item that are no properties stay.

use std::sync::Arc;

use armilla_gremlin_machine::graph::{Cardinality, NewProperty};
use armilla_gremlin_value::Value;
use armilla_value::{Object, Value as Stored};

use crate::elements::derived_id;
use crate::layout::{LIFETIME, Layout, is_free, members};
use crate::values;

/// Why an element cannot be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BodyError(pub(crate) String);

type Result<T> = std::result::Result<T, BodyError>;

/// Makes ids of properties.
pub(crate) type NewId<'n> = &'n dyn Fn() -> String;

/// Writes elements of a graph.
pub(crate) struct Writer<'w> {
    pub(crate) layout: &'w Layout,
    pub(crate) new_id: NewId<'w>,
    /// Whether a key that occurs twice in one `addV` has two values, as in the service.
    pub(crate) repeats_are_lists: bool,
}

impl Writer<'_> {
    /// Returns the item of a new vertex.
    pub(crate) fn vertex(&self, id: &str, label: &str, properties: &[NewProperty]) -> Result<Object> {
        let mut body = Object::with_capacity(properties.len() + 2);
        body.insert(members::ID, id);
        body.insert(members::LABEL, label);
        if let Some(partition) = &self.layout.partition {
            let given = properties.iter().rev().find(|property| property.key == *partition);
            let value = match given {
                Some(property) => stored(&property.key, &property.value)?,
                None => {
                    return Err(BodyError(
                        "Gremlin Query Execution Error: Cannot add a vertex where the partition key property has value \
                         'null'."
                            .to_owned(),
                    ));
                }
            };
            body.insert(&**partition, value);
        }
        for property in properties {
            if self.layout.is_partition(&property.key) {
                check_flat(property)?;
                continue;
            }
            let repeated =
                self.repeats_are_lists && property.cardinality.is_none() && body.contains(&property.key);
            let cardinality = if repeated { Some(Cardinality::List) } else { property.cardinality };
            self.set(&mut body, id, cardinality, property)?;
        }
        Ok(body)
    }

    /// Sets a property of a vertex.
    pub(crate) fn set_vertex_property(&self, body: &mut Object, property: &NewProperty) -> Result<()> {
        if self.layout.is_partition(&property.key) {
            check_flat(property)?;
            let value = stored(&property.key, &property.value)?;
            return match body.get(&property.key) {
                Some(now) if is_same(now, &value) => Ok(()),
                _ => Err(BodyError(format!(
                    "Gremlin Query Execution Error: Property '{}' is the partition key, which cannot be changed once a \
                     vertex is there: drop the vertex and add it anew",
                    property.key
                ))),
            };
        }
        let id = body.get(members::ID).and_then(Stored::as_str).unwrap_or_default().to_owned();
        self.set(body, &id, property.cardinality, property)
    }

    fn set(
        &self,
        body: &mut Object,
        owner: &str,
        cardinality: Option<Cardinality>,
        property: &NewProperty,
    ) -> Result<()> {
        let key = &property.key;
        check_name(key)?;
        let value = stored(key, &property.value)?;
        if &**key == LIFETIME {
            check_flat(property)?;
            body.insert(LIFETIME, lifetime(value)?);
            return Ok(());
        }
        let mut meta = Object::with_capacity(property.meta.len());
        for (name, value) in &property.meta {
            meta.insert(&**name, stored(name, value)?);
        }
        let entry = |meta: Object| {
            let mut entry = Object::with_capacity(3);
            entry.insert(members::ID, (self.new_id)());
            entry.insert(members::VALUE, value.clone());
            if !meta.is_empty() {
                entry.insert(members::META, Stored::Object(meta));
            }
            Stored::Object(entry)
        };
        if !matches!(cardinality, Some(Cardinality::List | Cardinality::Set)) {
            body.insert(&**key, Stored::Array(vec![entry(meta)]));
            return Ok(());
        }
        let mut entries = entries(body.remove(key), owner, key);
        let same = entries
            .iter_mut()
            .find(|entry| entry.get(members::VALUE).is_some_and(|now| is_same(now, &value)));
        match same {
            Some(Stored::Object(same)) if cardinality == Some(Cardinality::Set) => {
                if !meta.is_empty() {
                    let before = same.remove(members::META);
                    let mut merged = match before {
                        Some(Stored::Object(before)) => before,
                        _ => Object::with_capacity(meta.len()),
                    };
                    for (name, value) in meta {
                        merged.insert(name, value);
                    }
                    same.insert(members::META, Stored::Object(merged));
                }
            }
            _ => entries.push(entry(meta)),
        }
        body.insert(&**key, Stored::Array(entries));
        Ok(())
    }

    /// Sets properties of a property of a vertex; false if there is no such property.
    pub(crate) fn set_meta(
        &self,
        body: &mut Object,
        property_id: &Value,
        properties: &[(Arc<str>, Value)],
    ) -> Result<bool> {
        let Some((key, place)) = self.find(body, property_id) else { return Ok(false) };
        if self.layout.is_partition(&key) || key == LIFETIME {
            return Err(BodyError(format!("Property '{key}' cannot have properties of its own")));
        }
        let owner = body.get(members::ID).and_then(Stored::as_str).unwrap_or_default().to_owned();
        let mut entries = entries(body.get(&key).cloned(), &owner, &key);
        if let Some(Stored::Object(entry)) = entries.get_mut(place) {
            let mut meta = match entry.remove(members::META) {
                Some(Stored::Object(meta)) => meta,
                _ => Object::with_capacity(properties.len()),
            };
            for (name, value) in properties {
                meta.insert(&**name, stored(name, value)?);
            }
            entry.insert(members::META, Stored::Object(meta));
        }
        body.insert(key, Stored::Array(entries));
        Ok(true)
    }

    /// Drops one value of a property of a vertex; false if it is gone already.
    pub(crate) fn drop_vertex_property(&self, body: &mut Object, property_id: &Value) -> Result<bool> {
        let Some((key, place)) = self.find(body, property_id) else { return Ok(false) };
        if self.layout.is_partition(&key) {
            return Err(BodyError(format!(
                "Gremlin Query Execution Error: Property '{key}' is the partition key, which cannot be dropped"
            )));
        }
        if let Some(Stored::Array(entries)) = body.get_mut(&key)
            && entries.len() > 1
        {
            entries.remove(place);
        } else {
            body.remove(&key);
        }
        Ok(true)
    }

    /// Drops a property of a property of a vertex; false if it is gone already.
    pub(crate) fn drop_meta(&self, body: &mut Object, property_id: &Value, key: &str) -> bool {
        let Some((name, place)) = self.find(body, property_id) else { return false };
        let Some(Stored::Array(entries)) = body.get_mut(&name) else { return false };
        let Some(Stored::Object(entry)) = entries.get_mut(place) else { return false };
        let Some(Stored::Object(meta)) = entry.get_mut(members::META) else { return false };
        let is_dropped = meta.remove(key).is_some();
        if meta.is_empty() {
            entry.remove(members::META);
        }
        is_dropped
    }

    /// Finds a property of a vertex by its id: its name, and its place among the values.
    fn find(&self, body: &Object, property_id: &Value) -> Option<(String, usize)> {
        let wanted = values::id_text(property_id)?;
        let owner = Value::String(body.get(members::ID)?.as_str()?.into());
        let is_wanted = |id: &Value| values::id_text(id).is_some_and(|id| id == wanted);
        for (name, value) in body.iter() {
            if !is_free(name) {
                continue;
            }
            let Stored::Array(entries) = value else {
                if is_wanted(&derived_id(&owner, name)) {
                    return Some((name.to_owned(), 0));
                }
                continue;
            };
            for (place, entry) in entries.iter().enumerate() {
                let own = entry.get(members::ID).and_then(values::of_stored);
                let own = own.unwrap_or_else(|| match (place, entry) {
                    (0, entry) if !matches!(entry, Stored::Object(_)) => derived_id(&owner, name),
                    (place, _) => derived_id(&owner, &format!("{name}|{place}")),
                });
                if is_wanted(&own) {
                    return Some((name.to_owned(), place));
                }
            }
        }
        None
    }

    /// Returns the item of a new edge.
    pub(crate) fn edge(&self, edge: &EdgeParts<'_>, properties: &[(Arc<str>, Value)]) -> Result<Object> {
        let mut body = Object::with_capacity(properties.len() + 9);
        body.insert(members::ID, edge.id);
        body.insert(members::LABEL, edge.label);
        for (name, value) in properties {
            self.set_edge_property(&mut body, name, value)?;
        }
        body.insert(members::IS_EDGE, true);
        body.insert(members::OUT_ID, edge.out_id);
        body.insert(members::OUT_LABEL, edge.out_label);
        body.insert(members::IN_ID, edge.in_id);
        body.insert(members::IN_LABEL, edge.in_label);
        if let Some(partition) = edge.in_partition {
            body.insert(members::IN_PARTITION, stored(members::IN_PARTITION, partition)?);
        }
        if let (Some(name), Some(partition)) = (&self.layout.partition, edge.out_partition) {
            body.insert(&**name, stored(name, partition)?);
        }
        Ok(body)
    }

    /// Sets a property of an edge.
    pub(crate) fn set_edge_property(&self, body: &mut Object, name: &Arc<str>, value: &Value) -> Result<()> {
        check_name(name)?;
        if self.layout.is_partition(name) {
            return Err(BodyError(format!(
                "Gremlin Query Execution Error: Property '{name}' is the partition key, which an edge has from the vertex \
                 it leaves: give the property another name"
            )));
        }
        let value = stored(name, value)?;
        let value = if &**name == LIFETIME { lifetime(value)? } else { value };
        body.insert(&**name, value);
        Ok(())
    }

    /// Drops a property of an edge; false if it is gone already.
    pub(crate) fn drop_edge_property(&self, body: &mut Object, name: &str) -> bool {
        is_free(name) && !self.layout.is_partition(name) && body.remove(name).is_some()
    }
}

/// What an edge consists of besides its properties.
pub(crate) struct EdgeParts<'e> {
    pub(crate) id: &'e str,
    pub(crate) label: &'e str,
    pub(crate) out_id: &'e str,
    pub(crate) out_label: &'e str,
    pub(crate) out_partition: Option<&'e Value>,
    pub(crate) in_id: &'e str,
    pub(crate) in_label: &'e str,
    pub(crate) in_partition: Option<&'e Value>,
}

/// Returns the values of a property as entries, whichever form they are stored in.
fn entries(now: Option<Stored>, owner: &str, key: &str) -> Vec<Stored> {
    let values = match now {
        None => return Vec::new(),
        Some(Stored::Array(values)) => values,
        Some(value) => vec![value],
    };
    let owner = Value::String(owner.into());
    let entry = |(place, value): (usize, Stored)| match value {
        entry @ Stored::Object(_) => entry,
        value => {
            let id = match place {
                0 => derived_id(&owner, key),
                place => derived_id(&owner, &format!("{key}|{place}")),
            };
            let id = values::id_text(&id).map(|id| id.to_string()).unwrap_or_default();
            Stored::Object(Object::from([(members::ID, Stored::String(id)), (members::VALUE, value)]))
        }
    };
    values.into_iter().enumerate().map(entry).collect()
}

fn check_name(name: &str) -> Result<()> {
    if is_free(name) {
        return Ok(());
    }
    Err(BodyError(format!(
        "Gremlin Query Execution Error: '{name}' is a reserved name: a property needs a name that is neither empty nor 'id' \
         or 'label' and does not begin with '_'"
    )))
}

/// Refuses several values, and properties of its own, to a property that is stored as it is.
fn check_flat(property: &NewProperty) -> Result<()> {
    let is_flat = property.meta.is_empty()
        && !matches!(property.cardinality, Some(Cardinality::List | Cardinality::Set));
    if is_flat {
        return Ok(());
    }
    Err(BodyError(format!(
        "Gremlin Query Execution Error: Property '{}' has one value and no properties of its own",
        property.key
    )))
}

fn stored(name: &str, value: &Value) -> Result<Stored> {
    values::to_stored(value).ok_or_else(|| {
        BodyError(format!(
            "Gremlin Query Execution Error: Property '{name}' cannot have such a value: strings, finite numbers and booleans \
             are stored"
        ))
    })
}

fn lifetime(value: Stored) -> Result<Stored> {
    match value.as_i64() {
        Some(seconds) if seconds == -1 || (1..=i64::from(i32::MAX)).contains(&seconds) => {
            Ok(Stored::Int64(seconds))
        }
        _ => Err(BodyError(
            "Gremlin Query Execution Error: Property 'ttl' is a number of seconds, or -1 for ever".to_owned(),
        )),
    }
}

fn is_same(a: &Stored, b: &Stored) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
