//! Makes an item of a record: its text, its partition key, and what tells it from other items.
//!
//! A JSON record whose properties stay as they are is not parsed, only looked over; its bytes are the item. An item
//! without an id gets one that is made of the record's number and bytes, so that importing the same input again
//! replaces items instead of doubling them.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use armilla_client::KeyRule;
use armilla_env::format_guid;
use armilla_value::json::slice;
use armilla_value::{Component, Object, PartitionKey, PropertyPath, Value, fingerprint, json};

use crate::options::Mapping;
use crate::records::{Content, Record};
use crate::{scan, table, typed};

/// How items are made.
pub(crate) struct Shape {
    rule: KeyRule,
    id_from: Option<String>,
    mappings: Vec<Mapping>,
    infers: bool,
    delimiter: u8,
    columns: Vec<String>,
}

/// An item to write.
#[derive(Debug, PartialEq)]
pub(crate) struct Item {
    /// Its JSON text.
    pub(crate) text: Vec<u8>,
    /// Its partition key.
    pub(crate) key: PartitionKey,
    /// Its partition key as requests carry it.
    pub(crate) key_json: String,
    /// Its id, if it is one that an item can have.
    pub(crate) id: Option<String>,
    /// What items with the same id and partition key have in common.
    pub(crate) identity: u64,
}

/// A record that is no item: why, and its text.
#[derive(Debug, PartialEq)]
pub(crate) struct Rejected {
    pub(crate) why: String,
    pub(crate) text: Vec<u8>,
}

impl Shape {
    /// Takes what was asked for, and the columns if records are rows.
    pub(crate) fn new(
        rule: KeyRule,
        id_from: Option<String>,
        mappings: Vec<Mapping>,
        infers: bool,
        delimiter: u8,
        columns: Option<&[String]>,
    ) -> anyhow::Result<Shape> {
        if let Some(columns) = columns {
            let wanted = id_from.iter().chain(mappings.iter().map(|mapping| &mapping.column));
            for column in wanted {
                anyhow::ensure!(columns.contains(column), "the input has no column {column}");
            }
        }
        let columns = columns.unwrap_or_default().to_vec();
        Ok(Shape { rule, id_from, mappings, infers, delimiter, columns })
    }

    /// Makes an item of a record, which is the `number`th of its input.
    pub(crate) fn item(&self, number: u64, record: Record) -> Result<Item, Rejected> {
        match record.content {
            Content::Json(text) => match self.item_of_json(number, &text) {
                Ok(item) => Ok(Item { text: item.0.unwrap_or(text), ..item.1 }),
                Err(why) => Err(Rejected { why, text }),
            },
            Content::Row(row) => self
                .item_of_row(number, &row)
                .map_err(|why| Rejected { why, text: table::text(&row, self.delimiter) }),
            Content::Unusable { why, text } => Err(Rejected { why, text }),
        }
    }

    /// Returns the item, and its text if that is another than the record's.
    fn item_of_json(&self, number: u64, text: &[u8]) -> Result<(Option<Vec<u8>>, Item), String> {
        if std::str::from_utf8(text).is_err() {
            return Err("not UTF-8".to_owned());
        }
        if self.id_from.is_some() || !self.mappings.is_empty() {
            let value = json::parse(text).map_err(|error| format!("not valid JSON: {error}"))?;
            let Value::Object(members) = value else { return Err("not a JSON object".to_owned()) };
            let mut item = self.item_of_members(number, members)?;
            return Ok((Some(std::mem::take(&mut item.text)), item));
        }
        let found = scan::object(text, &self.rule.paths)
            .map_err(|malformed| format!("not one JSON object: {malformed}"))?;
        let mut components = Vec::with_capacity(found.values.len());
        for value in found.values {
            components.push(match value {
                Some(value) => component(value)?,
                None => Component::Undefined,
            });
        }
        let key = PartitionKey(components);
        match found.id {
            // An id that is no text is the server's to refuse.
            Some(own) => Ok((None, item(key, slice::string(own).map(Cow::into_owned)))),
            None => {
                let id = made_id(number, text);
                let open = text.iter().position(|byte| *byte == b'{').unwrap_or_default() + 1;
                let is_empty = text[open..].trim_ascii_start().first() == Some(&b'}');
                let comma = if is_empty { "" } else { "," };
                let mut with_id = Vec::with_capacity(text.len() + id.len() + 9);
                with_id.extend_from_slice(&text[..open]);
                with_id.extend_from_slice(format!("\"id\":\"{id}\"{comma}").as_bytes());
                with_id.extend_from_slice(&text[open..]);
                Ok((Some(with_id), item(key, Some(id))))
            }
        }
    }

    fn item_of_row(&self, number: u64, row: &csv::ByteRecord) -> Result<Item, String> {
        let mut members = Object::with_capacity(row.len() + 1);
        for (name, field) in self.columns.iter().zip(row) {
            let text = std::str::from_utf8(field).map_err(|_| format!("the field {name} is not UTF-8"))?;
            // Ids are text, whatever they look like.
            let infers = self.infers && name != "id";
            if let Some(value) = typed::value(Cow::Borrowed(text), infers) {
                members.insert(name.as_str(), value);
            }
        }
        self.item_of_members(number, members)
    }

    fn item_of_members(&self, number: u64, mut members: Object) -> Result<Item, String> {
        for Mapping { path, column } in &self.mappings {
            let value = members.get(column).ok_or_else(|| format!("there is no {column}"))?.clone();
            set(&mut members, path.names(), value)?;
        }
        if let Some(column) = &self.id_from {
            let value = members
                .get(column)
                .ok_or_else(|| format!("there is no {column}, which the id comes from"))?;
            let id = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) => json::to_string(value),
                number if number.as_f64().is_some() => json::to_string(number),
                _ => return Err(format!("{column}, which the id comes from, is neither text nor a number")),
            };
            members.insert("id", id);
        }
        if !members.contains("id") {
            let text = json::to_string(&Value::Object(members.clone()));
            members.insert("id", made_id(number, text.as_bytes()));
        }
        let component =
            |path: &PropertyPath| member(&members, path.names()).map_or(Component::Undefined, Component::of);
        let key = PartitionKey(self.rule.paths.iter().map(component).collect());
        let id = members.get("id").and_then(Value::as_str).map(str::to_owned);
        let mut text = Vec::with_capacity(256);
        json::write(&Value::Object(members), &mut text);
        Ok(Item { text, ..item(key, id) })
    }
}

fn item(key: PartitionKey, id: Option<String>) -> Item {
    let key_json = key.to_json();
    let mut hasher = DefaultHasher::new();
    (&key_json, &id).hash(&mut hasher);
    Item { text: Vec::new(), key, key_json, id, identity: hasher.finish() }
}

/// Reads a component of a partition key. Objects and arrays are none, as the service has it.
fn component(token: &[u8]) -> Result<Component, String> {
    if let Some(text) = slice::string(token) {
        return Ok(Component::String(text.into_owned()));
    }
    if matches!(token.first(), Some(b'{' | b'[')) {
        return Ok(Component::Undefined);
    }
    let value =
        json::parse(token).map_err(|error| format!("the partition key is not valid JSON: {error}"))?;
    Ok(Component::of(&value))
}

/// Returns an id that is the same each time that the same record is imported.
fn made_id(number: u64, text: &[u8]) -> String {
    let mut bytes = (fingerprint(text) ^ fingerprint(&number.to_le_bytes())).to_le_bytes();
    // Version 8: made of whatever its maker likes.
    bytes[6] = (bytes[6] & 0x0F) | 0x80;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    format_guid(bytes)
}

fn member<'o>(members: &'o Object, names: &[String]) -> Option<&'o Value> {
    let (first, rest) = names.split_first()?;
    let value = members.get(first)?;
    if rest.is_empty() { Some(value) } else { member(value.as_object()?, rest) }
}

fn set(members: &mut Object, names: &[String], value: Value) -> Result<(), String> {
    match names {
        [] => Ok(()),
        [last] => {
            members.insert(last.as_str(), value);
            Ok(())
        }
        [first, rest @ ..] => {
            if !members.contains(first) {
                members.insert(first.as_str(), Value::Object(Object::default()));
            }
            match members.get_mut(first).and_then(Value::as_object_mut) {
                Some(inner) => set(inner, rest, value),
                None => Err(format!("{first} is no object, so nothing can be put into it")),
            }
        }
    }
}

#[cfg(test)]
mod tests;
