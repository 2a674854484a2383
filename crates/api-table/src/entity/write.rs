//! Writes entities into answers, straight from the text of their items.
//!
//! Strings and numbers are copied as they are spelled. What clients cannot tell from JSON is named beside it:
//! `"big@odata.type":"Edm.Int64","big":"1125899906842624"`.

use std::collections::HashSet;

use armilla_value::json::write_string;

use super::etag::push_encoded;
use super::limits::LINEAR_SEARCH_NAMES_MAX;
use super::view::{EntityView, RawName, TypedRaw};
use crate::edm::{EdmType, Ticks};
use crate::options::Flavour;
use crate::path::entity_link;

/// How much an answer says beside the properties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MetadataLevel {
    /// Nothing.
    None,
    /// Versions, and types that JSON does not tell.
    Minimal,
    /// Also addresses, and the type of the timestamp.
    Full,
}

/// What an answer says about an entity that its item does not know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntityContext<'a> {
    /// How much is said.
    pub(crate) level: MetadataLevel,
    /// The name of the account.
    pub(crate) account: &'a str,
    /// The name of the table.
    pub(crate) table: &'a str,
    /// The address of the account, with a slash at the end.
    pub(crate) base_url: &'a str,
    /// Which properties are wanted; `None` for all.
    pub(crate) select: Option<&'a [String]>,
    /// Whether the answer is this entity alone.
    pub(crate) is_single: bool,
    /// Which service answers: a storage account shows wanted properties that are not there as null.
    pub(crate) flavour: Flavour,
}

/// Appends an entity as a JSON object.
pub(crate) fn write_entity(out: &mut Vec<u8>, view: &EntityView<'_>, context: &EntityContext<'_>) {
    let start = out.len();
    view.write_metadata(out, context);
    let wanted = context.select.map(Wanted::of);
    let is_wanted = |name: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(name));
    let shows_types = context.level != MetadataLevel::None;
    for property in view.properties() {
        if !is_wanted(property.name.as_str()) {
            continue;
        }
        if shows_types && let Some(named) = property.value.named_type() {
            push_name(&property.name, b"@odata.type\":\"", out);
            out.extend_from_slice(named.name().as_bytes());
            out.push(b'"');
        }
        push_name(&property.name, b"\":", out);
        property.value.write(out);
    }
    if is_wanted("Timestamp") {
        if context.level == MetadataLevel::Full {
            out.extend_from_slice(b",\"Timestamp@odata.type\":\"Edm.DateTime\"");
        }
        out.extend_from_slice(b",\"Timestamp\":\"");
        out.extend_from_slice(&Ticks::of(view.moment()).text());
        out.push(b'"');
    }
    if let (Flavour::Storage, Some(wanted)) = (context.flavour, wanted) {
        wanted.for_each(|name| {
            if name != "Timestamp" && view.raw_property(name).is_none() {
                out.push(b',');
                write_string(name, out);
                out.extend_from_slice(b":null");
            }
        });
    }
    // Everything begins with a comma.
    match out.get_mut(start) {
        Some(first) => *first = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

/// The names of the properties that are wanted.
enum Wanted<'a> {
    Few(&'a [String]),
    Many(HashSet<&'a str>),
}

impl<'a> Wanted<'a> {
    fn of(names: &'a [String]) -> Wanted<'a> {
        if names.len() <= LINEAR_SEARCH_NAMES_MAX {
            return Wanted::Few(names);
        }
        Wanted::Many(names.iter().map(String::as_str).collect())
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            Wanted::Few(names) => names.iter().any(|own| own == name),
            Wanted::Many(names) => names.contains(name),
        }
    }

    /// Walks the names in the order in which they sort, each once.
    fn for_each(self, use_it: impl FnMut(&str)) {
        let mut names: Vec<&str> = match self {
            Wanted::Few(names) => names.iter().map(String::as_str).collect(),
            Wanted::Many(names) => names.into_iter().collect(),
        };
        names.sort_unstable();
        names.dedup();
        names.into_iter().for_each(use_it);
    }
}

impl EntityView<'_> {
    fn write_metadata(&self, out: &mut Vec<u8>, context: &EntityContext<'_>) {
        if context.level == MetadataLevel::None {
            return;
        }
        if context.is_single {
            let url = format!("{}$metadata#{}/@Element", context.base_url, context.table);
            push_text_member("odata.metadata", &url, out);
        }
        if context.level == MetadataLevel::Full {
            push_text_member("odata.type", &format!("{}.{}", context.account, context.table), out);
            let link = entity_link(context.table, &self.partition_key(), &self.row_key());
            push_text_member("odata.id", &format!("{}{link}", context.base_url), out);
            push_text_member("odata.editLink", &link, out);
        }
        out.extend_from_slice(b",\"odata.etag\":\"W/\\\"datetime'");
        push_encoded(self.moment(), out);
        out.extend_from_slice(b"'\\\"\"");
    }
}

fn push_text_member(name: &str, text: &str, out: &mut Vec<u8>) {
    out.push(b',');
    write_string(name, out);
    out.push(b':');
    write_string(text, out);
}

/// Appends a comma, the quote before a name and the name, and what comes behind it with the closing quote.
fn push_name(name: &RawName<'_>, behind: &[u8], out: &mut Vec<u8>) {
    out.push(b',');
    match name {
        RawName::Spelled(name) => {
            out.push(b'"');
            out.extend_from_slice(name.as_bytes());
        }
        RawName::Owned(name) => {
            write_string(name, out);
            out.pop();
        }
    }
    out.extend_from_slice(behind);
}

impl TypedRaw<'_> {
    /// Returns the type, where JSON does not tell it.
    fn named_type(self) -> Option<EdmType> {
        match self {
            TypedRaw::Binary(_) => Some(EdmType::Binary),
            TypedRaw::DateTime(_) => Some(EdmType::DateTime),
            TypedRaw::SpecialDouble(_) => Some(EdmType::Double),
            TypedRaw::Guid(_) => Some(EdmType::Guid),
            TypedRaw::Int64(_) => Some(EdmType::Int64),
            TypedRaw::Boolean(_)
            | TypedRaw::Double(_)
            | TypedRaw::WholeDouble(_)
            | TypedRaw::Int32(_)
            | TypedRaw::String(_) => None,
        }
    }

    fn write(self, out: &mut Vec<u8>) {
        match self {
            TypedRaw::String(text) => text.push_token(out),
            TypedRaw::Boolean(true) => out.extend_from_slice(b"true"),
            TypedRaw::Boolean(false) => out.extend_from_slice(b"false"),
            TypedRaw::Double(text) | TypedRaw::Int32(text) => out.extend_from_slice(text.as_bytes()),
            TypedRaw::WholeDouble(text) => {
                out.extend_from_slice(text.as_bytes());
                // Clients take a number without a point for an integer.
                out.extend_from_slice(b".0");
            }
            TypedRaw::Binary(text)
            | TypedRaw::DateTime(text)
            | TypedRaw::SpecialDouble(text)
            | TypedRaw::Guid(text)
            | TypedRaw::Int64(text) => {
                out.push(b'"');
                out.extend_from_slice(text.as_bytes());
                out.push(b'"');
            }
        }
    }
}
