//! Entities to items: the whole item, and an item with some of its properties set.

use std::borrow::Cow;

use armilla_value::json::write_string;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Entity;
use super::lookup::Lookup;
use super::members::{Members, RawString, RawValue};
use super::names::{TYPES_MEMBER, is_system_member, row_id, stored_name};
use crate::edm::{EdmType, EdmValue, guid_text, push_double, push_integer, special_double};

/// Room that is made for an item at first.
const ITEM_BYTES_USUAL: usize = 512;

impl Entity {
    /// Returns the item that holds this entity; a key that is not set counts as empty.
    pub(crate) fn item_json(&self) -> Vec<u8> {
        let mut item = ItemText::new();
        let row_key = self.row_key.as_deref().unwrap_or_default();
        item.push_string("id", &row_id(row_key));
        item.push_string("PartitionKey", self.partition_key.as_deref().unwrap_or_default());
        item.push_string("RowKey", row_key);
        for (name, value) in &self.properties {
            item.push_property(&stored_name(name), value);
        }
        item.finish()
    }

    /// Returns an item with the properties of this entity set, and everything else as it is there.
    ///
    /// A text that is no item counts as none: then it is the item of this entity alone.
    pub(crate) fn merged_into(&self, existing_item_text: &[u8]) -> Vec<u8> {
        self.try_merged_into(existing_item_text).unwrap_or_else(|| self.item_json())
    }

    fn try_merged_into(&self, existing_item_text: &[u8]) -> Option<Vec<u8>> {
        let stored: Vec<Cow<'_, str>> = self.properties.iter().map(|(name, _)| stored_name(name)).collect();
        let mut places = Lookup::with_capacity(stored.len());
        stored.iter().for_each(|name| places.push(RawString::plain(name), ()));
        let mut is_written = vec![false; stored.len()];
        let mut item = ItemText::new();
        let mut types = None;
        let mut members = Members::of(existing_item_text).ok()?;
        while let Some(member) = members.next_member().ok()? {
            let name = member.name.unescape()?;
            if let Some(at) = places.find(&name) {
                item.push_property(&name, &self.properties[at].1);
                is_written[at] = true;
            } else if name == TYPES_MEMBER {
                types = Some(member.value);
            } else if !is_system_member(&name) {
                item.push_name(&name);
                member.value.push_token(&mut item.text);
            }
        }
        for (at, (_, value)) in self.properties.iter().enumerate() {
            if !is_written[at] {
                item.push_property(&stored[at], value);
            }
        }
        if let Some(RawValue::Object(types)) = types {
            let mut members = Members::of_text(types).ok()?;
            while let Some(member) = members.next_member().ok()? {
                let name = member.name.unescape()?;
                if places.find(&name).is_none() {
                    item.push_type_name(&name);
                    member.value.push_token(&mut item.types);
                }
            }
        }
        Some(item.finish())
    }
}

/// The text of an item that is being written.
struct ItemText {
    text: Vec<u8>,
    /// The members of `$edm`.
    types: Vec<u8>,
}

impl ItemText {
    fn new() -> ItemText {
        ItemText { text: Vec::with_capacity(ITEM_BYTES_USUAL), types: Vec::new() }
    }

    fn push_name(&mut self, name: &str) {
        push_member_name(name, &mut self.text);
    }

    fn push_type_name(&mut self, name: &str) {
        push_member_name(name, &mut self.types);
    }

    fn push_string(&mut self, name: &str, text: &str) {
        self.push_name(name);
        write_string(text, &mut self.text);
    }

    fn push_property(&mut self, name: &str, value: &EdmValue) {
        self.push_name(name);
        let text = &mut self.text;
        let named = match value {
            EdmValue::Boolean(true) => return text.extend_from_slice(b"true"),
            EdmValue::Boolean(false) => return text.extend_from_slice(b"false"),
            EdmValue::Int32(number) => return push_integer(i64::from(*number), text),
            EdmValue::String(string) => return write_string(string, text),
            EdmValue::Double(number) => match special_double(*number) {
                None => return push_double(*number, text),
                Some(special) => {
                    push_quoted(special.as_bytes(), text);
                    EdmType::Double
                }
            },
            EdmValue::Int64(number) => {
                push_integer(*number, text);
                EdmType::Int64
            }
            EdmValue::DateTime(ticks) => {
                push_quoted(&ticks.text(), text);
                EdmType::DateTime
            }
            EdmValue::Guid(bytes) => {
                push_quoted(&guid_text(bytes), text);
                EdmType::Guid
            }
            EdmValue::Binary(bytes) => {
                push_quoted(STANDARD.encode(bytes).as_bytes(), text);
                EdmType::Binary
            }
        };
        self.push_type_name(name);
        push_quoted(named.short().as_bytes(), &mut self.types);
    }

    fn finish(self) -> Vec<u8> {
        let ItemText { mut text, types } = self;
        if !types.is_empty() {
            push_member_name(TYPES_MEMBER, &mut text);
            text.push(b'{');
            text.extend_from_slice(&types[1..]);
            text.push(b'}');
        }
        match text.first_mut() {
            Some(first) => *first = b'{',
            None => text.push(b'{'),
        }
        text.push(b'}');
        text
    }
}

/// Appends a comma, a name and a colon. The comma before the first member is overwritten or left out at the end.
fn push_member_name(name: &str, out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name, out);
    out.push(b':');
}

/// Appends a text that needs no escapes, in quotes.
fn push_quoted(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}
