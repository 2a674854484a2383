//! Reads the body of a request.
//!
//! The type of a property may be named before or behind it: `"big@odata.type":"Edm.Int64","big":"5"`. Where none is
//! named, JSON tells it. Null means that there is no such property.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::lookup::Lookup;
use super::members::{Malformed, Members, RawString, RawValue};
use super::rules::Rules;
use super::{Entity, EntityError, EntityErrorKind};
use crate::edm::{EXACT_IN_DOUBLE_MAX, EdmType, EdmValue, Ticks, parse_guid, parse_special_double};
use crate::options::Flavour;

/// Says that the member is the type of another.
const TYPE_SUFFIX: &str = "@odata.type";

/// Properties that an entity usually has at most; with more, the list grows.
const USUAL_PROPERTIES: usize = 16;

impl From<Malformed> for EntityError {
    fn from(_: Malformed) -> EntityError {
        EntityErrorKind::Malformed.alone()
    }
}

impl Entity {
    /// Reads the body of a request that inserts an entity.
    ///
    /// Keys are strings, and taken as they are: whoever knows which keys are meant calls `check_keys`.
    ///
    /// # Errors
    ///
    /// Text that is not JSON, types that do not exist or do not fit, names that are not valid or come twice, and
    /// whatever is beyond the limits of the service.
    pub(crate) fn from_json(body: &[u8], flavour: Flavour) -> Result<Entity, EntityError> {
        Entity::read(body, flavour, KeyTypes::Strings)
    }

    /// Reads the body of a request whose address names the entity, like [`Entity::from_json`].
    ///
    /// The address says what the keys are. Clients whose keys are no strings write them there as they would write the
    /// value of a property, and name its type here: it does not matter.
    pub(crate) fn from_json_at(body: &[u8], flavour: Flavour) -> Result<Entity, EntityError> {
        Entity::read(body, flavour, KeyTypes::Any)
    }

    fn read(body: &[u8], flavour: Flavour, key_types: KeyTypes) -> Result<Entity, EntityError> {
        let rules = Rules::of(flavour);
        let members = Collected::read(body)?;
        if let Some(name) = members.values.duplicate() {
            return Err(EntityErrorKind::DuplicateProperty.at(&name.unescape().unwrap_or_default()));
        }
        let mut entity = Entity {
            properties: Vec::with_capacity(members.values.entries().len()),
            partition_key: None,
            row_key: None,
        };
        for (raw_name, raw_value) in members.values.entries() {
            let name = raw_name.unescape().ok_or(Malformed)?;
            let is_key = matches!(&*name, "PartitionKey" | "RowKey");
            let named = match key_types {
                KeyTypes::Any if is_key => None,
                _ => members.types.get(&name).copied(),
            };
            let value = typed(*raw_value, named).map_err(|kind| kind.at(&name))?;
            let key = match &*name {
                "PartitionKey" => &mut entity.partition_key,
                "RowKey" => &mut entity.row_key,
                _ => {
                    rules.check_name(&name)?;
                    if let Some(value) = value {
                        rules.check_value(&name, &value)?;
                        entity.properties.push((name.into_owned(), value));
                    }
                    continue;
                }
            };
            *key = match value {
                None => None,
                Some(EdmValue::String(text)) => Some(text),
                Some(_) if key_types == KeyTypes::Any => None,
                Some(_) => return Err(EntityErrorKind::ValueDoesNotFit.at(&name)),
            };
        }
        rules.check_whole(&entity)?;
        Ok(entity)
    }
}

/// What the keys in a body may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum KeyTypes {
    /// Strings, and nothing else may be said about them.
    Strings,
    /// Anything; what is no string is passed over.
    Any,
}

/// The members of a body, sorted out.
struct Collected<'a> {
    values: Lookup<'a, RawValue<'a>>,
    /// The types that are named, under the names of properties.
    types: Lookup<'a, EdmType>,
}

impl<'a> Collected<'a> {
    fn read(body: &'a [u8]) -> Result<Collected<'a>, EntityError> {
        let mut reader = Members::of(body)?;
        let mut collected = Collected {
            values: Lookup::with_capacity(USUAL_PROPERTIES),
            types: Lookup::with_capacity(USUAL_PROPERTIES),
        };
        while let Some(member) = reader.next_member()? {
            let name = member.name.unescape().ok_or(Malformed)?;
            if let Some((property, about)) = name.split_once('@') {
                match about {
                    "odata.type" => collected.push_type(member.name, property, member.value)?,
                    _ if about.starts_with("odata.") => check_ignored(member.value)?,
                    _ => return Err(EntityErrorKind::PropertyNameInvalid.at(&name)),
                }
            } else if name == "Timestamp" || name.starts_with("odata.") {
                check_ignored(member.value)?;
            } else {
                collected.values.push(member.name, member.value);
            }
        }
        Ok(collected)
    }

    fn push_type(
        &mut self,
        raw_name: RawString<'a>,
        property: &str,
        value: RawValue<'a>,
    ) -> Result<(), EntityError> {
        let named = value.string().and_then(RawString::unescape).and_then(|name| EdmType::from_name(&name));
        let named = named.ok_or_else(|| EntityErrorKind::UnknownType.at(property))?;
        let text = raw_name.text.strip_suffix(TYPE_SUFFIX).ok_or(Malformed)?;
        self.types.push(RawString { text, is_escaped: raw_name.is_escaped }, named);
        Ok(())
    }
}

/// Checks a value that nobody looks at.
fn check_ignored(value: RawValue<'_>) -> Result<(), Malformed> {
    let is_valid = match value {
        RawValue::String(text) => text.unescape().is_some(),
        RawValue::Object(text) | RawValue::Array(text) => armilla_value::json::parse(text.as_bytes()).is_ok(),
        RawValue::Integer(_) | RawValue::Fraction(_) | RawValue::Boolean(_) | RawValue::Null => true,
    };
    if is_valid { Ok(()) } else { Err(Malformed) }
}

/// Gives a value its type; `None` for null.
fn typed(raw: RawValue<'_>, named: Option<EdmType>) -> Result<Option<EdmValue>, EntityErrorKind> {
    let value = match raw {
        RawValue::Null => return Ok(None),
        RawValue::Object(_) | RawValue::Array(_) => return Err(EntityErrorKind::Malformed),
        RawValue::Boolean(truth) => match named {
            None | Some(EdmType::Boolean) => Some(EdmValue::Boolean(truth)),
            Some(_) => None,
        },
        RawValue::Integer(digits) => match named {
            None => Some(bare_integer(digits)?),
            Some(EdmType::Int32) => digits.parse().ok().map(EdmValue::Int32),
            Some(EdmType::Int64) => digits.parse().ok().map(EdmValue::Int64),
            Some(EdmType::Double) => Some(finite_double(digits)?),
            Some(_) => None,
        },
        RawValue::Fraction(number) => match named {
            None | Some(EdmType::Double) => Some(finite_double(number)?),
            Some(_) => None,
        },
        RawValue::String(text) => {
            let text = text.unescape().ok_or(EntityErrorKind::Malformed)?;
            match named {
                None | Some(EdmType::String) => Some(EdmValue::String(text.into_owned())),
                Some(named) => spelled(&text, named),
            }
        }
    };
    value.ok_or(EntityErrorKind::ValueDoesNotFit).map(Some)
}

/// Gives an integer without a type one that loses nothing, preferring what other clients write as a number, too.
fn bare_integer(digits: &str) -> Result<EdmValue, EntityErrorKind> {
    if let Ok(number) = digits.parse() {
        return Ok(EdmValue::Int32(number));
    }
    match digits.parse::<i64>() {
        Ok(number) if number.unsigned_abs() > EXACT_IN_DOUBLE_MAX => Ok(EdmValue::Int64(number)),
        _ => finite_double(digits),
    }
}

/// Reads a number of JSON's; there are some that are too large.
fn finite_double(text: &str) -> Result<EdmValue, EntityErrorKind> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number.map(EdmValue::Double).ok_or(EntityErrorKind::ValueDoesNotFit)
}

/// Reads a value that is spelled as a text; `None` if it does not fit its type.
fn spelled(text: &str, named: EdmType) -> Option<EdmValue> {
    match named {
        EdmType::Binary => STANDARD.decode(text).ok().map(EdmValue::Binary),
        EdmType::Boolean if text.eq_ignore_ascii_case("true") => Some(EdmValue::Boolean(true)),
        EdmType::Boolean if text.eq_ignore_ascii_case("false") => Some(EdmValue::Boolean(false)),
        EdmType::Boolean => None,
        EdmType::DateTime => Ticks::parse(text).map(EdmValue::DateTime),
        EdmType::Double => match parse_special_double(text) {
            Some(special) => Some(EdmValue::Double(special)),
            // Rust reads `inf` and `nan`, too; a number begins and ends with a digit or a point.
            None if text.contains(['i', 'I', 'n', 'N']) => None,
            None => finite_double(text).ok(),
        },
        EdmType::Guid => parse_guid(text).map(EdmValue::Guid),
        EdmType::Int32 => text.parse().ok().map(EdmValue::Int32),
        EdmType::Int64 => text.parse().ok().map(EdmValue::Int64),
        EdmType::String => Some(EdmValue::String(text.to_owned())),
    }
}
