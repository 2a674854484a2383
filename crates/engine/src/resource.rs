//! What operations on the resource tree answer with.

mod kind;

use armilla_container::{
    ContainerDefinition, ETag, ReadCost, RequestUnits, TermCount, Work, price, validate_resource_id,
};
use armilla_value::{Object, PartitionKey, Value, json};

use crate::error::{Error, ErrorKind, Result};
use crate::record::Version;
use crate::scripts::TriggerRule;
use crate::throughput::Throughput;

pub use kind::ResourceKind;

/// One resource of the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct Resource {
    /// What it is.
    pub kind: ResourceKind,
    /// Its name among its siblings.
    pub id: String,
    /// Its resource id, as text.
    pub rid: String,
    /// The resource id of what it lies in, as text; empty below the account.
    pub parent_rid: String,
    /// Its link by resource ids, with a slash at the end and none at the beginning.
    pub self_link: String,
    /// Its version.
    pub etag: ETag,
    /// Seconds since 1970 UTC when it was written.
    pub ts: u32,
    /// What it says.
    pub content: Content,
}

/// What a resource says beside its names and its version.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// A database says no more.
    Database,
    /// A user says no more.
    User,
    /// The definition of a container.
    Container(Box<ContainerDefinition>),
    /// The throughput of a database or container.
    Offer(OfferContent),
    /// What a user may do.
    Permission(PermissionContent),
    /// What clients wrote of a client encryption key.
    EncryptionKey(Object),
    /// A stored procedure, a trigger or a user-defined function.
    Script {
        /// Its text.
        body: String,
        /// When it runs, if it is a trigger.
        trigger: Option<TriggerRule>,
    },
}

/// The throughput of a database or container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferContent {
    /// The link of what it is for.
    pub resource_link: String,
    /// The resource id of what it is for, as text.
    pub resource_rid: String,
    /// What was provisioned.
    pub throughput: Throughput,
    /// What is in force just now: autoscale goes up and down.
    pub current: u32,
    /// The most that was ever provisioned.
    pub highest_ever: u32,
    /// The most that was ever stored, in KB.
    pub stored_ever_kb: u64,
    /// Whether physical partitions are still being made for it.
    pub is_pending: bool,
}

/// What a user may do, and the token that proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionContent {
    /// Reading, or everything, as it was written.
    pub mode: String,
    /// The link of what it is for, as it was given.
    pub resource_link: String,
    /// The logical partition that it is for, if it is not for all of them.
    pub partition_key: Option<PartitionKey>,
    /// A fresh token.
    pub token: String,
}

impl Content {
    /// Returns about how many bytes it takes to write it down, which is what it costs to read and write it.
    fn bytes(&self) -> usize {
        /// Of the names and the figures of an offer, and of the names of the others.
        const OFFER_BYTES: usize = 320;
        const NAMES_BYTES: usize = 80;
        match self {
            Content::Database | Content::User => 0,
            Content::Container(definition) => json::to_string(&definition.to_value()).len(),
            Content::Offer(offer) => OFFER_BYTES + offer.resource_link.len() + offer.resource_rid.len(),
            Content::Permission(permission) => {
                NAMES_BYTES + permission.resource_link.len() + permission.token.len()
            }
            Content::EncryptionKey(members) => json::to_string(&Value::Object(members.clone())).len(),
            Content::Script { body, .. } => NAMES_BYTES + body.len(),
        }
    }
}

/// A result and its price.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer<T> {
    /// The result.
    pub value: T,
    /// What it cost.
    pub charge: RequestUnits,
}

/// A page of resources.
#[derive(Debug, Clone, PartialEq)]
pub struct Feed {
    /// The resource id of what they lie in, as text; empty below the account.
    pub parent_rid: String,
    /// The resources, oldest first.
    pub resources: Vec<Resource>,
    /// Where the next page begins, if there is one.
    pub continuation: Option<String>,
}

/// What must hold of a resource's version.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ResourcePrecondition {
    /// Nothing.
    #[default]
    None,
    /// It is this version; `None` is a version that never was.
    Version(Option<ETag>),
}

impl ResourcePrecondition {
    pub(crate) fn check(self, etag: ETag) -> Result<()> {
        match self {
            ResourcePrecondition::Version(expected) if expected != Some(etag) => {
                Err(Error::precondition_failed())
            }
            _ => Ok(()),
        }
    }
}

/// Refuses to send a version that the caller holds already.
pub(crate) fn check_modified(known: Option<ETag>, etag: ETag) -> Result<()> {
    if known == Some(etag) {
        let charge = price(&Work::ReadNothing, ReadCost::Single);
        return Err(Error { charge, ..Error::new(ErrorKind::NotModified, "the resource did not change") });
    }
    Ok(())
}

/// Prices reading a resource as reading an item of about its size.
pub(crate) fn read(value: Resource) -> Answer<Resource> {
    let charge = price(&Work::Read { item_bytes: size(&value) }, ReadCost::Single);
    Answer { value, charge }
}

/// Prices writing a resource as creating an item of about its size without an index.
pub(crate) fn written(value: Resource) -> Answer<Resource> {
    let work = Work::Create { item_bytes: size(&value), terms: TermCount::default() };
    Answer { charge: price(&work, ReadCost::Single), value }
}

/// Prices a deletion.
pub(crate) fn deleted() -> Answer<()> {
    let work = Work::Delete { item_bytes: 1, terms: TermCount::default() };
    Answer { value: (), charge: price(&work, ReadCost::Single) }
}

fn size(resource: &Resource) -> usize {
    const FIXED_BYTES: usize = 16;
    FIXED_BYTES + resource.id.len() + resource.content.bytes()
}

/// Prices a page of resources as reading each of them.
pub(crate) fn feed(
    parent_rid: String,
    resources: Vec<Resource>,
    continuation: Option<String>,
) -> Answer<Feed> {
    let work = Work::Page { item_bytes: resources.iter().map(size).collect(), entries_skipped: 0 };
    Answer { charge: price(&work, ReadCost::Single), value: Feed { parent_rid, resources, continuation } }
}

/// Makes the etag of a resource of the tree.
pub(crate) fn etag(kind: ResourceKind, version: Version) -> ETag {
    ETag::new(version.number, kind as u16, 0, version.ts)
}

/// Checks the id that a resource is to have.
pub(crate) fn check_id(kind: ResourceKind, id: &str) -> Result<()> {
    validate_resource_id(id)
        .map_err(|error| Error::invalid(format!("the {}'s id: {}", kind.noun(), error.message)))
}
