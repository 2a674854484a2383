//! An entity as it lies in the text of its item.
//!
//! ```text
//! {"id":"r","PartitionKey":"p","RowKey":"r","age":39,"even":3.0,"big":1125899906842624,
//!  "born":"1973-10-04T00:00:00.0000000Z","$edm":{"big":"Int64","born":"DateTime"}}
//! ```
//! What JSON tells apart itself stands there plainly; `$edm` names the types of the rest. A type named there that does
//! not fit its value is ignored, and so is every member that is an object, an array or null.
//!
//! Nothing is decoded before it is asked for.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::lookup::Lookup;
use super::members::{Members, RawString, RawValue};
use super::names::{TYPES_MEMBER, is_row_id, shown_name, stored_name};
use crate::edm::{
    EXACT_IN_DOUBLE_MAX, EdmRef, EdmType, Ticks, is_stored_base64, is_stored_guid, parse_guid,
    parse_special_double,
};
use crate::filter::Fields;
use armilla_engine::Moment;

/// Members that an item usually has at most; with more, the list grows.
const USUAL_MEMBERS: usize = 24;

/// Types that an item usually names at most; with more, the list grows.
const USUAL_TYPES: usize = 8;

/// An entity in the text of its item.
#[derive(Debug)]
pub(crate) struct EntityView<'a> {
    members: Lookup<'a, RawValue<'a>>,
    /// What the item says about types; `None` for what it says that means nothing.
    types: Lookup<'a, Option<EdmType>>,
    partition_key: RawString<'a>,
    row_key: RawString<'a>,
    moment: Moment,
}

impl<'a> EntityView<'a> {
    /// Looks at an item that was written at a moment; `None` if it is no entity.
    pub(crate) fn of(item_text: &'a [u8], moment: Moment) -> Option<EntityView<'a>> {
        let mut reader = Members::of(item_text).ok()?;
        let mut members = Lookup::with_capacity(USUAL_MEMBERS);
        let (mut id, mut partition_key, mut row_key) = (None, None, None);
        let mut types = Lookup::with_capacity(0);
        while let Some(member) = reader.next_member().ok()? {
            match member.name.text {
                "id" => id = member.value.string(),
                "PartitionKey" => partition_key = member.value.string(),
                "RowKey" => row_key = member.value.string(),
                TYPES_MEMBER => {
                    if let RawValue::Object(text) = member.value {
                        types = types_of(text);
                    }
                    continue;
                }
                _ => {}
            }
            members.push(member.name, member.value);
        }
        let (id, partition_key, row_key) = (id?, partition_key?, row_key?);
        if !is_row_id(&id.unescape()?, &row_key.unescape()?) {
            return None;
        }
        Some(EntityView { members, types, partition_key, row_key, moment })
    }

    /// Returns the partition key.
    pub(crate) fn partition_key(&self) -> Cow<'a, str> {
        self.partition_key.unescape().unwrap_or_default()
    }

    /// Returns the row key.
    pub(crate) fn row_key(&self) -> Cow<'a, str> {
        self.row_key.unescape().unwrap_or_default()
    }

    /// Returns when this version was written.
    pub(crate) fn moment(&self) -> Moment {
        self.moment
    }

    /// Walks the properties, the keys among them, in the order of the item, undecoded.
    pub(crate) fn properties(&self) -> impl Iterator<Item = RawProperty<'a>> {
        self.members.entries().iter().filter_map(|(name, value)| self.property(*name, *value))
    }

    fn property(&self, name: RawString<'a>, value: RawValue<'a>) -> Option<RawProperty<'a>> {
        let shown = if name.is_escaped {
            RawName::Owned(shown_name(&name.unescape()?)?.to_owned())
        } else {
            RawName::Spelled(shown_name(name.text)?)
        };
        let (name, value) = (shown, self.typed(name, value)?);
        Some(RawProperty { name, value })
    }

    /// Returns the value of a member with its type; `None` for what no property can be.
    fn typed(&self, name: RawString<'a>, value: RawValue<'a>) -> Option<TypedRaw<'a>> {
        Some(match value {
            RawValue::String(text) => match self.named_type(name) {
                Some(named) => TypedRaw::text(text, named),
                None => TypedRaw::String(text),
            },
            RawValue::Integer(digits) => TypedRaw::integer(digits, self.named_type(name)),
            RawValue::Fraction(number) => TypedRaw::Double(number),
            RawValue::Boolean(truth) => TypedRaw::Boolean(truth),
            RawValue::Null | RawValue::Object(_) | RawValue::Array(_) => return None,
        })
    }

    fn named_type(&self, name: RawString<'a>) -> Option<EdmType> {
        // Keys are strings whatever is said about them.
        if self.types.entries().is_empty() || matches!(name.text, "PartitionKey" | "RowKey") {
            return None;
        }
        let named =
            if name.is_escaped { self.types.get(&name.unescape()?) } else { self.types.get(name.text) };
        *named?
    }

    /// Returns a property, undecoded.
    pub(crate) fn raw_property(&self, name: &str) -> Option<TypedRaw<'a>> {
        let stored = stored_name(name);
        shown_name(&stored)?;
        let (name, value) = self.members.entries()[self.members.find(&stored)?];
        self.typed(name, value)
    }
}

/// The timestamp is among the fields.
impl Fields for EntityView<'_> {
    fn field(&self, name: &str) -> Option<EdmRef<'_>> {
        match name {
            "PartitionKey" => Some(EdmRef::String(self.partition_key())),
            "RowKey" => Some(EdmRef::String(self.row_key())),
            "Timestamp" => Some(EdmRef::DateTime(Ticks::of(self.moment))),
            _ => self.raw_property(name)?.decode(),
        }
    }
}

/// Reads what an item says about types.
fn types_of(text: &str) -> Lookup<'_, Option<EdmType>> {
    let mut types = Lookup::with_capacity(USUAL_TYPES);
    let Ok(mut members) = Members::of_text(text) else { return types };
    while let Ok(Some(member)) = members.next_member() {
        if let RawValue::String(named) = member.value {
            types.push(member.name, EdmType::from_short(named.text));
        }
    }
    types
}

/// A property whose value is not decoded.
#[derive(Debug, Clone)]
pub(crate) struct RawProperty<'a> {
    /// The name of the property.
    pub(crate) name: RawName<'a>,
    /// The value.
    pub(crate) value: TypedRaw<'a>,
}

/// A name, in whichever form is at hand.
#[derive(Debug, Clone)]
pub(crate) enum RawName<'a> {
    /// As it can stand in JSON, without a change.
    Spelled(&'a str),
    /// As it is; JSON may need escapes.
    Owned(String),
}

impl RawName<'_> {
    /// Returns the name.
    pub(crate) fn as_str(&self) -> &str {
        match self {
            RawName::Spelled(name) => name,
            RawName::Owned(name) => name,
        }
    }
}

/// A value as an item spells it, and its type.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TypedRaw<'a> {
    /// Base64 of a binary value.
    Binary(&'a str),
    /// True or false.
    Boolean(bool),
    /// The text of a point in time.
    DateTime(&'a str),
    /// A number with a point or an exponent.
    Double(&'a str),
    /// A number spelled like an integer that is a double.
    WholeDouble(&'a str),
    /// The name of a double that is no number in JSON.
    SpecialDouble(&'a str),
    /// The text of a GUID.
    Guid(&'a str),
    /// The digits of a 32-bit integer.
    Int32(&'a str),
    /// The digits of a 64-bit integer.
    Int64(&'a str),
    /// A string.
    String(RawString<'a>),
}

impl<'a> TypedRaw<'a> {
    /// Gives a text the type that its item names, if it fits.
    fn text(raw: RawString<'a>, named: EdmType) -> TypedRaw<'a> {
        let text = raw.text;
        // None of the forms of other types has a character that needs an escape.
        match named {
            _ if raw.is_escaped => TypedRaw::String(raw),
            EdmType::Binary if is_stored_base64(text.as_bytes()) => TypedRaw::Binary(text),
            EdmType::DateTime if Ticks::parse_stored(text).is_some() => TypedRaw::DateTime(text),
            EdmType::Guid if is_stored_guid(text) => TypedRaw::Guid(text),
            EdmType::Double if parse_special_double(text).is_some() => TypedRaw::SpecialDouble(text),
            _ => TypedRaw::String(raw),
        }
    }

    /// Gives a number that is spelled like an integer its type.
    fn integer(digits: &'a str, named: Option<EdmType>) -> TypedRaw<'a> {
        match named {
            Some(EdmType::Double) => return TypedRaw::WholeDouble(digits),
            Some(EdmType::Int64) if digits.parse::<i64>().is_ok() => return TypedRaw::Int64(digits),
            _ => {}
        }
        // Nine digits and a sign are within 32 bits whatever they are.
        if digits.len() < 10 || digits.parse::<i32>().is_ok() {
            return TypedRaw::Int32(digits);
        }
        match digits.parse::<i64>() {
            Ok(number) if number.unsigned_abs() > EXACT_IN_DOUBLE_MAX => TypedRaw::Int64(digits),
            _ => TypedRaw::WholeDouble(digits),
        }
    }

    /// Returns the value.
    pub(crate) fn decode(self) -> Option<EdmRef<'a>> {
        Some(match self {
            TypedRaw::Binary(text) => EdmRef::Binary(Cow::Owned(STANDARD.decode(text).ok()?)),
            TypedRaw::Boolean(truth) => EdmRef::Boolean(truth),
            TypedRaw::DateTime(text) => EdmRef::DateTime(Ticks::parse(text)?),
            TypedRaw::Double(text) | TypedRaw::WholeDouble(text) => EdmRef::Double(text.parse().ok()?),
            TypedRaw::SpecialDouble(text) => EdmRef::Double(parse_special_double(text)?),
            TypedRaw::Guid(text) => EdmRef::Guid(parse_guid(text)?),
            TypedRaw::Int32(digits) => EdmRef::Int32(digits.parse().ok()?),
            TypedRaw::Int64(digits) => EdmRef::Int64(digits.parse().ok()?),
            TypedRaw::String(text) => EdmRef::String(text.unescape()?),
        })
    }
}
