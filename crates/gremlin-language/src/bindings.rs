//! Bindings: values that a request gives names to.

use std::collections::HashMap;
use std::sync::Arc;

use armilla_gremlin_value::{TokenKind, Value};

use crate::{ErrorKind, LanguageError};

/// From this many on names are hashed: requests with a thousand of them exist.
const HASHED_FROM: usize = 16;

/// The bindings of a request, to be found by name.
pub(crate) struct Bindings<'b> {
    list: &'b [(Arc<str>, Value)],
    index: Option<HashMap<&'b str, usize>>,
}

/// Words that no binding may have as its name: where they stand they would mean something else.
const RESERVED: [&str; 17] = [
    "id",
    "key",
    "label",
    "value",
    "g",
    "__",
    "true",
    "false",
    "null",
    "NaN",
    "Infinity",
    "new",
    "P",
    "TextP",
    "datetime",
    "UUID",
    "WithOptions",
];

impl<'b> Bindings<'b> {
    /// Takes the bindings of a request, whose names must not be words of Gremlin.
    pub(crate) fn new(list: &'b [(Arc<str>, Value)]) -> Result<Self, LanguageError> {
        for (name, _) in list {
            let enumeration = TokenKind::ALL.iter().any(|(_, enumeration, _)| **enumeration == **name);
            if enumeration || RESERVED.contains(&&**name) {
                return Err(LanguageError::unplaced(
                    ErrorKind::ReservedBinding,
                    format!(
                        "The name '{name}' of a binding is a word of Gremlin; give the binding another name."
                    ),
                ));
            }
        }
        let index = (list.len() >= HASHED_FROM)
            .then(|| list.iter().enumerate().map(|(index, (name, _))| (&**name, index)).collect());
        Ok(Bindings { list, index })
    }

    /// Finds a binding; of several with one name the last.
    pub(crate) fn find(&self, name: &str) -> Option<&'b Value> {
        match &self.index {
            Some(index) => self.list.get(*index.get(name)?).map(|(_, value)| value),
            None => self.list.iter().rev().find(|(other, _)| **other == *name).map(|(_, value)| value),
        }
    }
}
