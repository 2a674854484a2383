//! Client encryption keys of a database: data keys that clients have wrapped with a key of their own, elsewhere.
//!
//! They are kept and served. Wrapping, unwrapping and encrypting are the clients' affair: nothing here can read what they
//! encrypt.

mod key;

use armilla_container::ETag;
use armilla_value::Object;
use armilla_value::rid::UserRid;

use crate::access::{Action, Caller};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::resource::{
    self, Answer, Feed, Resource, ResourceKind, ResourcePrecondition, check_id, check_modified, etag,
};
use crate::tree::{Change, Page, Tree};

pub(crate) use key::EncryptionKey;

const KIND: ResourceKind = EncryptionKey::KIND;

/// What a client encryption key is to be.
#[derive(Debug, Clone, PartialEq)]
pub struct EncryptionKeyDefinition {
    /// Its name among the database's keys.
    pub id: String,
    /// What clients wrote beside it: the algorithm, the wrapped key, and how it was wrapped.
    pub members: Object,
}

fn find<'t>(tree: &'t Tree, database: &str, key: &str) -> Result<&'t EncryptionKey> {
    let owner = tree.owner(database)?;
    let found = match owner.is_named_by_rid(database) {
        true => UserRid::parse(key)
            .and_then(|rid: UserRid| owner.encryption_keys.get_by_ordinal(u64::from(rid.number())))
            .filter(|found| found.rid.to_string() == key),
        false => owner.encryption_keys.get(key),
    };
    found.ok_or_else(|| Error::not_found(KIND, key))
}

impl Engine {
    /// Creates a client encryption key.
    pub async fn create_encryption_key(
        &self,
        caller: &Caller,
        database: &str,
        definition: &EncryptionKeyDefinition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        check_id(KIND, &definition.id)?;
        let mut writer = self.writer().await?;
        let owner_rid = {
            let tree = self.tree();
            let owner = tree.owner(database)?;
            if owner.encryption_keys.contains(&definition.id) {
                return Err(Error::exists(KIND, &definition.id));
            }
            owner.rid
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.counters.user += 1;
        let rid = UserRid::new(owner_rid, change.counters.user);
        let key = EncryptionKey {
            rid,
            id: definition.id.clone(),
            version: change.version,
            members: definition.members.clone(),
        };
        change.put(key.key(), key.encode());
        change.commit().await?;
        let answer = resource::written(key.resource());
        let mut tree = self.tree_mut();
        let owner = tree.database_mut(owner_rid).expect("databases go only with the writer's lock held");
        owner.encryption_keys.insert(&definition.id, u64::from(rid.number()), key);
        Ok(answer)
    }

    /// Reads a client encryption key. `known` is the version that the caller holds already.
    pub fn read_encryption_key(
        &self,
        caller: &Caller,
        database: &str,
        key: &str,
        known: Option<ETag>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let tree = self.tree();
        let found = find(&tree, database, key)?;
        check_modified(known, etag(KIND, found.version))?;
        Ok(resource::read(found.resource()))
    }

    /// Lists the client encryption keys of a database, oldest first.
    pub fn list_encryption_keys(
        &self,
        caller: &Caller,
        database: &str,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let tree = self.tree();
        let owner = tree.owner(database)?;
        let (keys, continuation) = owner.encryption_keys.page(&Page::new(count_max, continuation)?);
        let resources = keys.into_iter().map(EncryptionKey::resource).collect();
        Ok(resource::feed(owner.rid.to_string(), resources, continuation))
    }

    /// Replaces a client encryption key, as clients do when they have wrapped it anew. Its id stays.
    pub async fn replace_encryption_key(
        &self,
        caller: &Caller,
        database: &str,
        key: &str,
        definition: &EncryptionKeyDefinition,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        let mut writer = self.writer().await?;
        let (rid, id) = {
            let tree = self.tree();
            let found = find(&tree, database, key)?;
            precondition.check(etag(KIND, found.version))?;
            (found.rid, found.id.clone())
        };
        if definition.id != id {
            return Err(Error::invalid(format!(
                "the id of the client encryption key '{id}' cannot be changed to '{}'",
                definition.id
            )));
        }
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let members = definition.members.clone();
        let replaced = EncryptionKey { rid, id: id.clone(), version: change.version, members };
        change.put(replaced.key(), replaced.encode());
        change.commit().await?;
        let answer = resource::written(replaced.resource());
        let mut tree = self.tree_mut();
        let owner = tree.database_mut(rid.database()).expect("databases go only with the writer's lock held");
        owner.encryption_keys.remove(&id);
        owner.encryption_keys.insert(&id, u64::from(rid.number()), replaced);
        Ok(answer)
    }
}
