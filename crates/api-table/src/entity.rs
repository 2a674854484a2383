//! Entities: out of requests, into items, and out of items into answers.
//!
//! An entity is a plain item (see `view` for its layout). Requests become an [`Entity`], whose values know their types;
//! answers are written straight from the text of an item.
//!
//! Invariants:
//! * what was taken from a request comes back from its item with the same type and value;
//! * nothing of an item that is no property, and no type that does not fit, reaches an answer;
//! * time and memory are in proportion to the text, whatever it holds.
//!
//! Not here: reading and writing items, conditions on versions, HTTP.

mod error;
mod etag;
mod item;
mod limits;
mod lookup;
mod members;
mod names;
mod read;
mod rules;
mod view;
mod write;

use crate::edm::EdmValue;

pub(crate) use error::{EntityError, EntityErrorKind};
pub(crate) use etag::{etag_text, parse_etag};
pub(crate) use names::{TYPES_MEMBER, row_id, stored_name};
pub(crate) use rules::check_keys;
pub(crate) use view::EntityView;
pub(crate) use write::{EntityContext, MetadataLevel, write_entity};

#[cfg(test)]
mod tests;

/// An entity as a request describes it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entity {
    /// Everything but the keys and the timestamp, in the order of the request; no name comes twice.
    pub(crate) properties: Vec<(String, EdmValue)>,
    /// The partition key, where it is given.
    pub(crate) partition_key: Option<String>,
    /// The row key, where it is given.
    pub(crate) row_key: Option<String>,
}
