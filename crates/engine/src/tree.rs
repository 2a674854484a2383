//! The resource tree in memory, and how it is changed.
//!
//! Readers take a short read lock. Changes go one at a time: check, write one batch to the root space, wait until it
//! is durable, then show it to readers. So a change that was answered is stored, and nobody sees one that is not.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use armilla_container::{ETag, SharedBudgets};
use armilla_kv::{self as kv, Batch, Family, Space, SpaceId, Store};
use armilla_value::rid::{ContainerRid, DatabaseRid, UserRid};
use bytes::Bytes;

use crate::containers::ContainerHandle;
use crate::error::{Error, Result};
use crate::limits::LIST_MAX;
use crate::offers::Offer;
use crate::open::ROOT_SPACE;
use crate::permissions::Permission;
use crate::record::{self, TreeCounters, Version, tag};
use crate::resource::ResourceKind;

/// The whole tree.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) databases: Children<Database>,
    pub(crate) offers: BTreeMap<u32, Offer>,
}

/// A database with what lies in it.
pub(crate) struct Database {
    pub(crate) rid: DatabaseRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    /// What the containers without throughput of their own share, if it was given some.
    pub(crate) shared: Option<Arc<SharedBudgets>>,
    pub(crate) containers: Children<Arc<ContainerHandle>>,
    pub(crate) users: Children<User>,
}

/// A user with their permissions.
pub(crate) struct User {
    pub(crate) rid: UserRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) permissions: Children<Permission>,
}

/// Named things in the order of their making.
pub(crate) struct Children<T> {
    by_ordinal: BTreeMap<u64, T>,
    ordinals: HashMap<String, u64>,
}

impl<T> Default for Children<T> {
    fn default() -> Children<T> {
        Children { by_ordinal: BTreeMap::new(), ordinals: HashMap::new() }
    }
}

impl<T> Children<T> {
    pub(crate) fn get(&self, id: &str) -> Option<&T> {
        self.by_ordinal.get(self.ordinals.get(id)?)
    }

    pub(crate) fn get_by_ordinal(&self, ordinal: u64) -> Option<&T> {
        self.by_ordinal.get(&ordinal)
    }

    pub(crate) fn by_ordinal_mut(&mut self, ordinal: u64) -> Option<&mut T> {
        self.by_ordinal.get_mut(&ordinal)
    }

    pub(crate) fn insert(&mut self, id: &str, ordinal: u64, child: T) {
        self.ordinals.insert(id.to_owned(), ordinal);
        self.by_ordinal.insert(ordinal, child);
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<T> {
        self.by_ordinal.remove(&self.ordinals.remove(id)?)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.by_ordinal.values()
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.ordinals.contains_key(id)
    }

    /// Returns a page of children and where the next begins.
    pub(crate) fn page(&self, page: &Page) -> (Vec<&T>, Option<String>) {
        page_of(&self.by_ordinal, page)
    }
}

/// A page of a list that is asked for.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    after: u64,
    count_max: usize,
}

impl Page {
    /// Reads the continuation of a list: the ordinal after which it goes on.
    pub(crate) fn new(count_max: Option<usize>, continuation: Option<&str>) -> Result<Page> {
        let after = match continuation {
            None => 0,
            Some(token) => token
                .strip_prefix("R1;")
                .and_then(|ordinal| ordinal.parse().ok())
                .ok_or_else(|| Error::invalid("the continuation token is not one of this list"))?,
        };
        Ok(Page { after, count_max: count_max.unwrap_or(LIST_MAX).clamp(1, LIST_MAX) })
    }
}

/// Returns a page of a map and where the next begins.
pub(crate) fn page_of<'m, K, T>(map: &'m BTreeMap<K, T>, page: &Page) -> (Vec<&'m T>, Option<String>)
where
    K: Ord + Copy + Into<u64>,
{
    let mut rest = map.iter().filter(|(ordinal, _)| (**ordinal).into() > page.after);
    let taken: Vec<(&K, &T)> = rest.by_ref().take(page.count_max).collect();
    let continuation = match (rest.next(), taken.last()) {
        (Some(_), Some((ordinal, _))) => {
            let ordinal: u64 = (**ordinal).into();
            Some(format!("R1;{ordinal}"))
        }
        _ => None,
    };
    (taken.into_iter().map(|(_, child)| child).collect(), continuation)
}

impl Tree {
    /// Finds a database by its name, or by its resource id where no database has that name.
    pub(crate) fn database(&self, segment: &str) -> Option<&Database> {
        self.databases.get(segment).or_else(|| {
            let rid: DatabaseRid = DatabaseRid::parse(segment)?;
            self.databases.get_by_ordinal(u64::from(rid.number()))
        })
    }

    pub(crate) fn database_mut(&mut self, rid: DatabaseRid) -> Option<&mut Database> {
        self.databases.by_ordinal_mut(u64::from(rid.number()))
    }

    /// Finds the offer of a database or container.
    pub(crate) fn offer_of(&self, resource_rid: &str) -> Option<&Offer> {
        self.offers.values().find(|offer| offer.resource_rid == resource_rid)
    }
}

impl Database {
    /// Finds a container by its name, or by its resource id if the database was found by its own.
    pub(crate) fn container(&self, segment: &str, by_rid: bool) -> Option<&Arc<ContainerHandle>> {
        if !by_rid {
            return self.containers.get(segment);
        }
        let rid: ContainerRid = ContainerRid::parse(segment)?;
        self.containers.get_by_ordinal(u64::from(rid.number())).filter(|container| container.rid() == rid)
    }

    /// Whether a path segment names this database by its resource id.
    pub(crate) fn is_named_by_rid(&self, segment: &str) -> bool {
        self.id != segment
    }

    /// Finds a user by name or resource id.
    pub(crate) fn user(&self, segment: &str, by_rid: bool) -> Option<&User> {
        if !by_rid {
            return self.users.get(segment);
        }
        let rid: UserRid = UserRid::parse(segment)?;
        self.users.get_by_ordinal(u64::from(rid.number())).filter(|user| user.rid == rid)
    }
}

/// The one who changes the tree. There is one, behind a lock.
pub(crate) struct Writer {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) space: Arc<dyn Space>,
    pub(crate) counters: TreeCounters,
}

impl Writer {
    /// A failed commit closes its handle: opens the space again, unless somebody else has taken it over.
    pub(crate) fn reopen_after(&mut self, committed: &kv::Result<()>) -> Result<()> {
        if committed.as_ref().is_err_and(|error| error.kind() != kv::ErrorKind::Fenced) {
            self.reopen()?;
        }
        Ok(())
    }

    /// Opens the space again. What was on its way to it lands before, or never.
    pub(crate) fn reopen(&mut self) -> Result<()> {
        self.space = self.store.open_space(ROOT_SPACE)?;
        Ok(())
    }
}

/// A change of the tree that is being put together. Dropped without [`Change::commit`] it leaves no trace.
pub(crate) struct Change<'w> {
    writer: &'w mut Writer,
    pub(crate) counters: TreeCounters,
    pub(crate) version: Version,
    batch: Batch,
}

impl<'w> Change<'w> {
    pub(crate) fn begin(writer: &'w mut Writer, now_seconds: i64) -> Change<'w> {
        let mut counters = writer.counters.clone();
        counters.version += 1;
        let version = Version { number: counters.version, ts: u32::try_from(now_seconds).unwrap_or(0) };
        Change { writer, counters, version, batch: Batch::new() }
    }

    pub(crate) fn put(&mut self, key: Bytes, value: Bytes) {
        self.batch.put(Family::Meta, key, value);
    }

    pub(crate) fn delete(&mut self, key: Bytes) {
        self.batch.delete(Family::Meta, key);
    }

    /// Notes how far a container got that goes. One whose partitions cannot be read can still be deleted.
    pub(crate) fn raise_lsn_floor(&mut self, container: &ContainerHandle) {
        self.counters.lsn_floor = self.counters.lsn_floor.max(container.newest_lsn().unwrap_or(0));
    }

    /// Notes that a space is to be dropped, so that a crash before it is dropped changes nothing.
    pub(crate) fn drop_space(&mut self, space: SpaceId) {
        self.put(record::key(tag::SPACE_TO_DROP, &space.0.to_be_bytes()), Bytes::new());
    }

    /// Takes such a note back.
    pub(crate) fn keep_space(&mut self, space: SpaceId) {
        self.delete(record::key(tag::SPACE_TO_DROP, &space.0.to_be_bytes()));
    }

    pub(crate) async fn commit(mut self) -> Result<()> {
        self.batch.put(Family::Meta, record::key(tag::COUNTERS, b""), self.counters.encode());
        let committed = self.writer.space.commit(self.batch).await;
        // Whatever became of it, its numbers are not given again.
        self.writer.counters = self.counters;
        self.writer.reopen_after(&committed)?;
        Ok(committed?)
    }
}

/// Makes the etag of a resource of the tree.
pub(crate) fn etag(kind: ResourceKind, version: Version) -> ETag {
    ETag::new(version.number, kind as u16, 0, version.ts)
}
