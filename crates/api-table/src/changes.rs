//! The six writes of an entity, read from a request or from a part of a batch.

use bytes::Bytes;
use http::HeaderMap;

use crate::auth::Operation;
use crate::entity::{Entity, check_keys};
use crate::failure::{Failure, Kind};
use crate::headers::{self, IfMatch, Preference, Verb};
use crate::options::Flavour;
use crate::path::Address;

/// What is done to an entity.
#[derive(Debug)]
pub(crate) enum Write {
    /// It must not be there yet.
    Insert(Entity),
    /// It becomes this.
    Put(Entity),
    /// These properties are set, others stay.
    Merge(Entity),
    /// It goes.
    Delete,
}

/// A write of one entity.
#[derive(Debug)]
pub(crate) struct Change {
    pub(crate) table: String,
    pub(crate) partition_key: String,
    pub(crate) row_key: String,
    pub(crate) write: Write,
    /// Which version it is for.
    pub(crate) if_match: IfMatch,
    /// What the answer is to hold.
    pub(crate) preference: Preference,
}

impl Change {
    /// Reads a write.
    pub(crate) fn read(
        address: Address,
        verb: Verb,
        headers: &HeaderMap,
        body: &Bytes,
        flavour: Flavour,
    ) -> Result<Change, Failure> {
        let preference = headers::preference(headers);
        match address {
            Address::Entities(table) => {
                if verb != Verb::Post {
                    return Err(Kind::MethodNotAllowed("GET, POST").into());
                }
                headers::check_json_body(headers)?;
                let entity = Entity::from_json(body, flavour)?;
                let (Some(partition_key), Some(row_key)) =
                    (entity.partition_key.clone(), entity.row_key.clone())
                else {
                    return Err(Kind::KeysMissing.into());
                };
                let (write, if_match) = (Write::Insert(entity), IfMatch::Absent);
                Change { table, partition_key, row_key, write, if_match, preference }.checked(flavour)
            }
            Address::Entity { table, partition_key, row_key } => {
                let if_match = headers::if_match(headers)?;
                let write = match verb {
                    Verb::Put => Write::Put(entity_at(headers, body, flavour, &partition_key, &row_key)?),
                    Verb::Merge => Write::Merge(entity_at(headers, body, flavour, &partition_key, &row_key)?),
                    Verb::Delete if if_match == IfMatch::Absent => return Err(Kind::HeaderMissing.into()),
                    Verb::Delete => Write::Delete,
                    _ => return Err(Kind::MethodNotAllowed("GET, PUT, PATCH, MERGE, DELETE").into()),
                };
                Change { table, partition_key, row_key, write, if_match, preference }.checked(flavour)
            }
            _ => Err(Kind::UrlInvalid.into()),
        }
    }

    /// Refuses keys that no entity has.
    fn checked(self, flavour: Flavour) -> Result<Change, Failure> {
        // What is deleted was written once, by whatever rules.
        if !matches!(self.write, Write::Delete) {
            check_keys(flavour, &self.partition_key, &self.row_key)?;
        }
        Ok(self)
    }

    /// Returns what the one who asks must be allowed to do.
    pub(crate) fn operation(&self) -> Operation {
        match (&self.write, self.if_match) {
            (Write::Insert(_), _) => Operation::InsertEntity,
            (Write::Put(_) | Write::Merge(_), IfMatch::Absent) => Operation::UpsertEntity,
            (Write::Put(_) | Write::Merge(_), _) => Operation::UpdateEntity,
            (Write::Delete, _) => Operation::DeleteEntity,
        }
    }
}

/// Reads an entity whose keys stand in the address. Where the body has them too, they are the same.
fn entity_at(
    headers: &HeaderMap,
    body: &Bytes,
    flavour: Flavour,
    partition_key: &str,
    row_key: &str,
) -> Result<Entity, Failure> {
    headers::check_json_body(headers)?;
    let mut entity = Entity::from_json_at(body, flavour)?;
    for (own, named) in [(&mut entity.partition_key, partition_key), (&mut entity.row_key, row_key)] {
        match own {
            Some(own) if own != named => {
                return Err(Kind::InvalidInput(
                    "The keys of the entity in the body are not those in the address.".into(),
                )
                .into());
            }
            Some(_) => {}
            None => *own = Some(named.to_owned()),
        }
    }
    Ok(entity)
}
