//! What entities may be like in one service or the other, beyond what holds for every item.

use super::limits::{
    ITEM_ID_BYTES_MAX, PARTITION_KEY_BYTES_MAX, PROPERTY_NAME_UNITS_MAX, STORAGE_ENTITY_BYTES_MAX,
    STORAGE_KEY_UNITS_MAX, STORAGE_PROPERTIES_MAX, STORAGE_VALUE_BYTES_MAX,
};
use super::names::{is_refused, row_id};
use super::{Entity, EntityError, EntityErrorKind};
use crate::edm::EdmValue;
use crate::options::Flavour;

/// Checks the keys under which an entity is to be written.
pub(crate) fn check_keys(flavour: Flavour, partition_key: &str, row_key: &str) -> Result<(), EntityError> {
    Rules::of(flavour).check_keys(partition_key, row_key)
}

/// What entities may be like, beyond what holds for every item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rules {
    properties_max: usize,
    value_bytes_max: usize,
    entity_bytes_max: usize,
    key_units_max: usize,
    /// Whether names follow the rules of identifiers.
    names_are_identifiers: bool,
    keys_may_be_empty: bool,
}

impl Rules {
    /// Those of Cosmos DB: items set the bounds.
    const COSMOS: Rules = Rules {
        properties_max: usize::MAX,
        value_bytes_max: usize::MAX,
        entity_bytes_max: usize::MAX,
        key_units_max: usize::MAX,
        names_are_identifiers: false,
        keys_may_be_empty: false,
    };

    /// Those of a storage account.
    const STORAGE: Rules = Rules {
        properties_max: STORAGE_PROPERTIES_MAX,
        value_bytes_max: STORAGE_VALUE_BYTES_MAX,
        entity_bytes_max: STORAGE_ENTITY_BYTES_MAX,
        key_units_max: STORAGE_KEY_UNITS_MAX,
        names_are_identifiers: true,
        keys_may_be_empty: true,
    };

    /// Returns the rules of a service.
    pub(super) fn of(flavour: Flavour) -> &'static Rules {
        match flavour {
            Flavour::Cosmos => &Rules::COSMOS,
            Flavour::Storage => &Rules::STORAGE,
        }
    }

    fn check_keys(&self, partition_key: &str, row_key: &str) -> Result<(), EntityError> {
        self.check_key("PartitionKey", partition_key)?;
        self.check_key("RowKey", row_key)?;
        if partition_key.len() > PARTITION_KEY_BYTES_MAX {
            return Err(EntityErrorKind::KeyTooLong.at("PartitionKey"));
        }
        // A storage account counts characters: a key that is no id for its bytes is kept in another way.
        let is_counted_in_bytes = self.key_units_max == usize::MAX;
        if is_counted_in_bytes
            && (row_key.len() > ITEM_ID_BYTES_MAX || row_id(row_key).len() > ITEM_ID_BYTES_MAX)
        {
            return Err(EntityErrorKind::KeyTooLong.at("RowKey"));
        }
        Ok(())
    }

    fn check_key(&self, name: &str, key: &str) -> Result<(), EntityError> {
        if key.is_empty() && !self.keys_may_be_empty {
            return Err(EntityErrorKind::KeyEmpty.at(name));
        }
        if is_longer(key, self.key_units_max) {
            return Err(EntityErrorKind::KeyTooLong.at(name));
        }
        if key.chars().any(is_refused) {
            return Err(EntityErrorKind::KeyCharacter.at(name));
        }
        Ok(())
    }

    pub(super) fn check_name(&self, name: &str) -> Result<(), EntityError> {
        if is_longer(name, PROPERTY_NAME_UNITS_MAX) {
            return Err(EntityErrorKind::PropertyNameTooLong.at(name));
        }
        let is_valid = if self.names_are_identifiers {
            name.starts_with(|first: char| first == '_' || first.is_alphabetic())
                && name.chars().all(is_identifier_character)
        } else {
            name.starts_with(|first: char| !first.is_ascii_digit())
                && !name.contains('@')
                && !name.chars().any(char::is_control)
        };
        if is_valid { Ok(()) } else { Err(EntityErrorKind::PropertyNameInvalid.at(name)) }
    }

    pub(super) fn check_value(&self, name: &str, value: &EdmValue) -> Result<(), EntityError> {
        let is_too_long = match value {
            EdmValue::String(text) => is_longer(text, self.value_bytes_max / 2),
            EdmValue::Binary(bytes) => bytes.len() > self.value_bytes_max,
            _ => false,
        };
        if is_too_long { Err(EntityErrorKind::PropertyValueTooLarge.at(name)) } else { Ok(()) }
    }

    pub(super) fn check_whole(&self, entity: &Entity) -> Result<(), EntityError> {
        if entity.properties.len() > self.properties_max {
            return Err(EntityErrorKind::TooManyProperties.alone());
        }
        if self.entity_bytes_max < usize::MAX && storage_bytes(entity) > self.entity_bytes_max {
            return Err(EntityErrorKind::EntityTooLarge.alone());
        }
        Ok(())
    }
}

/// Says whether a character may stand in an identifier behind the first one. Beyond ASCII, letters come with marks
/// that are no letters themselves.
fn is_identifier_character(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphanumeric() || character == '_'
    } else {
        !character.is_whitespace() && !character.is_control()
    }
}

/// Says whether a text has more UTF-16 code units than that.
fn is_longer(text: &str, units_max: usize) -> bool {
    // There are never more units than bytes.
    text.len() > units_max && text.encode_utf16().count() > units_max
}

/// Returns the size of an entity as a storage account counts it.
fn storage_bytes(entity: &Entity) -> usize {
    let units = |text: &str| 2 * text.encode_utf16().count();
    let keys = entity.partition_key.iter().chain(&entity.row_key).map(|key| units(key)).sum::<usize>();
    let property = |(name, value): &(String, EdmValue)| {
        let value_bytes = match value {
            EdmValue::Binary(bytes) => bytes.len() + 4,
            EdmValue::Boolean(_) => 1,
            EdmValue::DateTime(_) | EdmValue::Double(_) | EdmValue::Int64(_) => 8,
            EdmValue::Guid(_) => 16,
            EdmValue::Int32(_) => 4,
            EdmValue::String(text) => units(text) + 4,
        };
        8 + units(name) + value_bytes
    };
    4 + keys + entity.properties.iter().map(property).sum::<usize>()
}
