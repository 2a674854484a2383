//! What is wrong with an entity that a request describes.

use std::fmt;

use crate::options::Flavour;

/// Why an entity is refused, with the property it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EntityError {
    /// What is wrong.
    pub(crate) kind: EntityErrorKind,
    /// Where, if at a property.
    pub(crate) property: Option<String>,
}

/// What is wrong with an entity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntityErrorKind {
    /// The body is not a JSON object of scalars.
    Malformed,
    /// A type is named that does not exist.
    UnknownType,
    /// A value does not fit the type that is named for it.
    ValueDoesNotFit,
    /// A property comes twice.
    DuplicateProperty,
    /// A property's name is too long.
    PropertyNameTooLong,
    /// A property's name is no name.
    PropertyNameInvalid,
    /// A value is too long.
    PropertyValueTooLarge,
    /// There are too many properties.
    TooManyProperties,
    /// All together is too long.
    EntityTooLarge,
    /// A key is empty where it must not be.
    KeyEmpty,
    /// A key is too long.
    KeyTooLong,
    /// A key contains a character that keys cannot have.
    KeyCharacter,
}

impl EntityErrorKind {
    /// Makes an error about the whole entity.
    pub(crate) fn alone(self) -> EntityError {
        EntityError { kind: self, property: None }
    }

    /// Makes an error about a property.
    pub(crate) fn at(self, property: &str) -> EntityError {
        EntityError { kind: self, property: Some(property.to_owned()) }
    }
}

impl EntityError {
    /// Returns the code and the message that clients of a service know.
    pub(crate) fn shape(&self, flavour: Flavour) -> (&'static str, &'static str) {
        match self.kind {
            EntityErrorKind::Malformed | EntityErrorKind::UnknownType => {
                ("InvalidInput", "An error occurred while processing this request.")
            }
            EntityErrorKind::ValueDoesNotFit => ("InvalidInput", "One of the input values is invalid."),
            EntityErrorKind::DuplicateProperty => {
                ("DuplicatePropertiesSpecified", "A property is specified more than one time.")
            }
            EntityErrorKind::PropertyNameTooLong => {
                ("PropertyNameTooLong", "The property name exceeds the maximum allowed length (255).")
            }
            EntityErrorKind::PropertyNameInvalid => ("PropertyNameInvalid", "The property name is invalid."),
            EntityErrorKind::PropertyValueTooLarge => (
                "PropertyValueTooLarge",
                "The property value exceeds the maximum allowed size (64KB). If the property value is a string, \
                 it is UTF-16 encoded and the maximum number of characters should be 32K or less.",
            ),
            EntityErrorKind::TooManyProperties => (
                "TooManyProperties",
                "The entity contains more properties than allowed. Each entity can include up to 252 properties to \
                 store data. Each entity also has 3 system properties.",
            ),
            EntityErrorKind::EntityTooLarge => {
                ("EntityTooLarge", "The entity is larger than the maximum allowed size (1MB).")
            }
            EntityErrorKind::KeyEmpty => ("PropertiesNeedValue", "PartitionKey/RowKey cannot be empty"),
            EntityErrorKind::KeyTooLong => {
                ("KeyValueTooLarge", "The value of a key property exceeds the maximum allowed size.")
            }
            EntityErrorKind::KeyCharacter => match flavour {
                Flavour::Cosmos => {
                    ("InvalidInput", "PartitionKey/RowKey contain a character that is not allowed.")
                }
                Flavour::Storage => ("OutOfRangeInput", "One of the request inputs is out of range."),
            },
        }
    }
}

impl fmt::Display for EntityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            EntityErrorKind::Malformed => "the body is not a JSON object of scalar properties",
            EntityErrorKind::UnknownType => "the type that is named does not exist",
            EntityErrorKind::ValueDoesNotFit => "the value does not fit the type that is named",
            EntityErrorKind::DuplicateProperty => "the property is given twice",
            EntityErrorKind::PropertyNameTooLong => "the name is longer than 255 characters",
            EntityErrorKind::PropertyNameInvalid => "the name is not valid",
            EntityErrorKind::PropertyValueTooLarge => "the value is too long",
            EntityErrorKind::TooManyProperties => "the entity has too many properties",
            EntityErrorKind::EntityTooLarge => "the entity is too large",
            EntityErrorKind::KeyEmpty => "the key is empty",
            EntityErrorKind::KeyTooLong => "the key is too long",
            EntityErrorKind::KeyCharacter => "the key has a character that keys cannot have",
        })?;
        match &self.property {
            Some(property) => write!(f, ", at property '{property}'"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for EntityError {}
