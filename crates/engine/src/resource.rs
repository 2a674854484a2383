//! What operations on the resource tree answer with.

use armilla_container::{ETag, ReadCost, RequestUnits, TermCount, Work, price};
use armilla_value::Object;

use crate::error::{Error, ErrorKind, Result};

/// The kinds of resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResourceKind {
    /// A database.
    Database,
    /// A container.
    Container,
    /// An item.
    Item,
    /// The throughput of a database or container.
    Offer,
    /// A user.
    User,
    /// A permission of a user.
    Permission,
    /// A user-defined function of a container.
    UserDefinedFunction,
    /// A stored procedure of a container.
    StoredProcedure,
    /// A trigger of a container.
    Trigger,
}

impl ResourceKind {
    /// Returns the word for it.
    pub fn noun(self) -> &'static str {
        match self {
            ResourceKind::Database => "database",
            ResourceKind::Container => "container",
            ResourceKind::Item => "item",
            ResourceKind::Offer => "offer",
            ResourceKind::User => "user",
            ResourceKind::Permission => "permission",
            ResourceKind::UserDefinedFunction => "user-defined function",
            ResourceKind::StoredProcedure => "stored procedure",
            ResourceKind::Trigger => "trigger",
        }
    }
}

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
    /// Its members but for those above; `id` is the first.
    pub body: Object,
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
    armilla_value::json::to_string(&resource.body.clone().into()).len()
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
