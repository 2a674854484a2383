//! What a container is: the definition its creator gives, validated, and what of it may change later.
//!
//! A [`ContainerDefinition`] is read from the JSON of a create or replace request and written back in the
//! order and with the omissions that clients expect; system properties are not part of it.
//!
//! Invariants:
//! * a definition that exists passed every check, those between its parts included;
//! * [`ContainerDefinition::replace`] never changes how stored items are laid out: id, partition key,
//!   unique keys, the mode of conflict resolution and existing vectors stay; unique keys have a way of their own to
//!   change (`unique_keys`).
//!
//! Where the service's wording of a refusal is known it is kept, because clients' tests look for parts of
//! it; the other messages are ours.
//!
//! Not here: the indexing policy's own rules (`armilla_index::policy`), parsing computed properties.

use armilla_index::reader::Field;
use armilla_index::{IndexingMode, IndexingPolicy};
use armilla_value::Value;

mod client_encryption;
mod computed;
mod conflict;
mod error;
mod full_text;
mod geospatial;
mod json;
pub(crate) mod limits;
mod partition_key;
mod property_paths;
#[cfg(test)]
mod tests;
mod time_to_live;
mod unique_change;
mod unique_keys;
mod vectors;

pub use client_encryption::ClientEncryptionPolicy;
pub use computed::ComputedProperty;
pub use conflict::ConflictPolicy;
pub use error::DefinitionError;
pub use full_text::{FullTextPath, FullTextPolicy};
pub use geospatial::GeospatialType;
use json::{integer, object};
pub use partition_key::PartitionKeyDefinition;
pub use unique_keys::UniqueKey;
pub use vectors::{DistanceFunction, VectorDataType, VectorEmbedding};

/// The member that says that text has types that JSON lacks.
const EXTENDED_TYPES: &str = "extendedTypes";

/// A validated container definition; what the user left out is `None` and stays out of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerDefinition {
    /// The container's name in its database.
    pub id: String,
    /// What of the items is indexed.
    pub indexing: IndexingPolicy,
    /// Where an item's partition key stands and how it is hashed.
    pub partition_key: PartitionKeyDefinition,
    /// Which combinations of values may occur once in a logical partition.
    pub unique_keys: Vec<UniqueKey>,
    /// Numbers of unique keys that were dropped, whose reservations are to be removed.
    pub(crate) dropped_slots: Vec<u8>,
    /// What to do when regions disagree.
    pub conflict: Option<ConflictPolicy>,
    /// Which space GeoJSON values lie in.
    pub geospatial: GeospatialType,
    /// Seconds an item lives without a `ttl` of its own; -1 for ever, but items may say otherwise.
    pub default_ttl: Option<i32>,
    /// Seconds an item lives in the analytical store; -1 for ever.
    pub analytical_ttl: Option<i32>,
    /// Properties computed when they are read.
    pub computed_properties: Option<Vec<ComputedProperty>>,
    /// The vectors that items hold.
    pub vector_embeddings: Option<Vec<VectorEmbedding>>,
    /// The texts that items hold, and their languages.
    pub full_text: Option<FullTextPolicy>,
    /// How long every version of an item is kept for the change feed.
    pub change_feed_retention_minutes: Option<u32>,
    /// Whether the feed of all versions shows what replaced items were before.
    pub change_feed_previous_images: bool,
    /// Which properties clients encrypt.
    pub client_encryption: Option<ClientEncryptionPolicy>,
    /// Whether JSON text that is written has types that JSON lacks, spelled as canonical Extended JSON; an extension of
    /// ours.
    pub extended_types: Option<bool>,
}

impl ContainerDefinition {
    /// Reads and validates a definition.
    pub fn from_value(value: &Value) -> Result<ContainerDefinition, DefinitionError> {
        let body = Field::new(value, "");
        if !matches!(value, Value::Object(_)) {
            return Err(DefinitionError::new("", "a container's definition must be a JSON object"));
        }
        let id = match body.member("id") {
            Some(id) => id.text()?.to_owned(),
            None => {
                let message =
                    "The input content is invalid because the required properties - 'id; ' - are missing";
                return Err(DefinitionError::new("id", message));
            }
        };
        validate_resource_id(&id)?;
        let indexing = match body.member("indexingPolicy") {
            Some(policy) => IndexingPolicy::from_value(policy.value())?,
            None => IndexingPolicy::default(),
        };
        let definition = ContainerDefinition {
            id,
            indexing,
            partition_key: partition_key::read(&body)?,
            unique_keys: unique_keys::read(&body)?,
            dropped_slots: Vec::new(),
            conflict: conflict::read(&body)?,
            geospatial: geospatial::read(&body)?,
            default_ttl: time_to_live::read_default(&body)?,
            analytical_ttl: time_to_live::read_analytical(&body)?,
            computed_properties: computed::read(&body)?,
            vector_embeddings: vectors::read(&body)?,
            full_text: full_text::read(&body)?,
            change_feed_retention_minutes: time_to_live::read_change_feed_retention(&body)?,
            change_feed_previous_images: time_to_live::read_previous_images(&body)?,
            client_encryption: client_encryption::read(&body)?,
            extended_types: read_extended_types(&body)?,
        };
        definition.check_parts_agree()?;
        Ok(definition)
    }

    /// Returns whether the container was made without a partition key: it is one physical partition for ever, with
    /// limits of its own.
    pub fn is_fixed(&self) -> bool {
        self.partition_key.system_key
    }

    /// Returns whether JSON text that is written has types that JSON lacks.
    pub fn has_extended_types(&self) -> bool {
        self.extended_types == Some(true)
    }

    /// Writes the definition, without system properties.
    pub fn to_value(&self) -> Value {
        let mut members = vec![
            ("id", Value::from(self.id.as_str())),
            ("indexingPolicy", self.indexing.to_value()),
            ("partitionKey", partition_key::write(&self.partition_key)),
        ];
        members.extend(
            unique_keys::write(self.unique_keys.iter().filter(|key| !key.is_building))
                .map(|policy| ("uniqueKeyPolicy", policy)),
        );
        if let Some(conflict) = &self.conflict {
            members.push(("conflictResolutionPolicy", conflict::write(conflict)));
        }
        members.push(("geospatialConfig", object([("type", self.geospatial.word().into())])));
        if let Some(seconds) = self.default_ttl {
            members.push(("defaultTtl", integer(seconds)));
        }
        if let Some(seconds) = self.analytical_ttl {
            members.push(("analyticalStorageTtl", integer(seconds)));
        }
        if let Some(properties) = &self.computed_properties {
            members.push(("computedProperties", computed::write(properties)));
        }
        if let Some(embeddings) = &self.vector_embeddings {
            members.push(("vectorEmbeddingPolicy", vectors::write(embeddings)));
        }
        if let Some(full_text) = &self.full_text {
            members.push(("fullTextPolicy", full_text::write(full_text)));
        }
        let (retention, images) = (self.change_feed_retention_minutes, self.change_feed_previous_images);
        if let Some(policy) = time_to_live::write_change_feed(retention, images) {
            members.push(("changeFeedPolicy", policy));
        }
        if let Some(policy) = &self.client_encryption {
            members.push(("clientEncryptionPolicy", policy.to_value()));
        }
        if self.has_extended_types() {
            members.push((EXTENDED_TYPES, Value::Bool(true)));
        }
        object(members)
    }

    /// Writes what is stored of the definition: what clients are shown, and what else is known of its unique keys.
    pub fn to_stored(&self) -> Value {
        let mut value = self.to_value();
        if let Value::Object(members) = &mut value {
            match unique_keys::write_stored(&self.unique_keys, &self.dropped_slots) {
                Some(policy) => drop(members.insert("uniqueKeyPolicy", policy)),
                None => drop(members.remove("uniqueKeyPolicy")),
            }
        }
        value
    }

    /// Reads and validates a definition as it is stored.
    pub fn from_stored(value: &Value) -> Result<ContainerDefinition, DefinitionError> {
        let (unique_keys, dropped_slots) = unique_keys::read_stored(&Field::new(value, ""))?;
        let mut shown = value.clone();
        if let Value::Object(members) = &mut shown {
            // Of those that were dropped or being built, nothing is to be validated.
            members.remove("uniqueKeyPolicy");
        }
        Ok(ContainerDefinition { unique_keys, dropped_slots, ..ContainerDefinition::from_value(&shown)? })
    }

    /// Returns the definition that holds once this container is replaced by `new`.
    ///
    /// What cannot change is taken over from `self` where `new` leaves it out, and refused where `new`
    /// says something else.
    pub fn replace(&self, new: &ContainerDefinition) -> Result<ContainerDefinition, DefinitionError> {
        if new.id != self.id {
            let message = format!("the id of the container '{}' cannot be changed to '{}'", self.id, new.id);
            return Err(DefinitionError::new("id", message));
        }
        let mut replaced = new.clone();
        replaced.partition_key = partition_key::replace(&self.partition_key, &new.partition_key)?;
        replaced.unique_keys = unique_keys::replace(&self.unique_keys, &new.unique_keys)?;
        replaced.dropped_slots.clone_from(&self.dropped_slots);
        replaced.conflict = conflict::replace(self.conflict.as_ref(), new.conflict.as_ref())?;
        replaced.vector_embeddings =
            vectors::replace(self.vector_embeddings.as_deref(), new.vector_embeddings.as_deref())?;
        replaced.client_encryption =
            client_encryption::replace(self.client_encryption.as_ref(), new.client_encryption.as_ref())?;
        // Clients that do not know of it leave it out of a replace.
        replaced.extended_types = new.extended_types.or(self.extended_types).filter(|wanted| *wanted);
        vectors::check_indexes_kept(self.indexing.vectors(), new.indexing.vectors())?;
        replaced.check_parts_agree()?;
        Ok(replaced)
    }

    /// Checks what one part demands of another.
    fn check_parts_agree(&self) -> Result<(), DefinitionError> {
        if self.indexing.mode == IndexingMode::None && self.default_ttl.is_some() {
            return Err(DefinitionError::new(
                "defaultTtl",
                "'defaultTtl' needs an index: it cannot be combined with the indexing mode 'none'; to index \
                 nothing else, exclude '/*' under the mode 'consistent'",
            ));
        }
        vectors::check_indexes(self.vector_embeddings.as_deref().unwrap_or_default(), &self.indexing)?;
        full_text::check_indexes(self.full_text.as_ref(), &self.indexing)?;
        geospatial::check_indexes(self.geospatial, &self.indexing)?;
        let computed = self.computed_properties.as_deref().unwrap_or_default();
        computed::check_names(computed, &self.partition_key, &self.indexing)
    }
}

fn read_extended_types(body: &Field<'_>) -> Result<Option<bool>, DefinitionError> {
    let Some(field) = body.member(EXTENDED_TYPES) else { return Ok(None) };
    match field.value() {
        Value::Bool(wanted) => Ok(Some(*wanted)),
        _ => Err(DefinitionError::new(field.path(), format!("'{EXTENDED_TYPES}' must be true or false"))),
    }
}

/// Checks the id of a database, container, script, user or permission.
pub fn validate_resource_id(id: &str) -> Result<(), DefinitionError> {
    let refuse = |message: String| Err(DefinitionError::new("id", message));
    if id.is_empty() {
        return refuse("the id is empty".to_owned());
    }
    let character_count = id.chars().count();
    if character_count > limits::RESOURCE_ID_CHARACTERS_MAX {
        return refuse(format!(
            "the id has {character_count} characters, more than the {} allowed",
            limits::RESOURCE_ID_CHARACTERS_MAX
        ));
    }
    if let Some(illegal) = id.chars().find(|c| matches!(c, '/' | '\\' | '?' | '#')) {
        return refuse(format!("the id '{id}' contains the illegal character '{illegal}'"));
    }
    if id.ends_with([' ', '\n', '\r']) {
        return refuse(format!("the id '{}' ends with a space or newline", id.escape_debug()));
    }
    Ok(())
}
