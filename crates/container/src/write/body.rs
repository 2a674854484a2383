//! What the body of an item may be when it is written: JSON text, or a value that was never text.

use armilla_value::stored::EncodeError;
use armilla_value::{Value, json, stored};
use bytes::Bytes;

use crate::error::{Error, Result};
use crate::item::SYSTEM_PROPERTIES;

/// The body of an item that is to be written.
#[derive(Debug, Clone, PartialEq)]
pub enum ItemBody {
    /// JSON text. How its numbers are spelled survives, unless the container has types that JSON lacks.
    Json(Bytes),
    /// A value, with types that JSON may not have. Boxed, since most bodies are text.
    Value(Box<Value>),
}

impl ItemBody {
    /// Returns the id that the body has, if it can be told: a body that is not valid is refused later, with a reason.
    pub fn id(&self) -> Option<String> {
        match self {
            ItemBody::Json(text) => json::parse(text).ok()?.get("id")?.as_str().map(str::to_owned),
            ItemBody::Value(value) => value.get("id")?.as_str().map(str::to_owned),
        }
    }

    /// Returns the body as JSON text, if it is valid. Types that JSON does not have are spelled as extended JSON.
    pub fn text(&self) -> Option<String> {
        match self {
            ItemBody::Json(text) => {
                json::parse(text).ok()?;
                String::from_utf8(text.to_vec()).ok()
            }
            ItemBody::Value(value) => Some(json::to_string(value)),
        }
    }

    /// Returns the stored form, without the properties that belong to the server. Where text has types that JSON lacks,
    /// it gets them.
    pub(crate) fn encode(&self, has_extended_types: bool) -> Result<Vec<u8>> {
        match self {
            ItemBody::Json(text) if has_extended_types => match json::parse_typed(text) {
                Ok(value) => stored::encode_value(&value, &SYSTEM_PROPERTIES),
                Err(error) => Err(EncodeError::Json(error)),
            },
            ItemBody::Json(text) => stored::encode(text, &SYSTEM_PROPERTIES),
            ItemBody::Value(value) => stored::encode_value(value, &SYSTEM_PROPERTIES),
        }
        .map_err(|error| Error::invalid(format!("the item is not valid: {error}")))
    }
}

impl From<Bytes> for ItemBody {
    fn from(text: Bytes) -> ItemBody {
        ItemBody::Json(text)
    }
}

impl From<Vec<u8>> for ItemBody {
    fn from(text: Vec<u8>) -> ItemBody {
        ItemBody::Json(text.into())
    }
}

impl From<String> for ItemBody {
    fn from(text: String) -> ItemBody {
        ItemBody::Json(text.into())
    }
}

/// Copies the text.
impl From<&[u8]> for ItemBody {
    fn from(text: &[u8]) -> ItemBody {
        ItemBody::Json(Bytes::copy_from_slice(text))
    }
}

/// Copies the text.
impl<const LENGTH: usize> From<&[u8; LENGTH]> for ItemBody {
    fn from(text: &[u8; LENGTH]) -> ItemBody {
        ItemBody::from(&text[..])
    }
}

/// Copies the text.
impl From<&str> for ItemBody {
    fn from(text: &str) -> ItemBody {
        ItemBody::from(text.as_bytes())
    }
}

impl From<Value> for ItemBody {
    fn from(value: Value) -> ItemBody {
        ItemBody::Value(Box::new(value))
    }
}
