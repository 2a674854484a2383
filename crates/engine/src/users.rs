//! Users of a database: names that permissions hang on.

use armilla_container::ETag;
use armilla_value::rid::UserRid;

use crate::access::{Action, Caller};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::record::{self, Version, tag};
use crate::resource::{
    self, Answer, Content, Feed, Resource, ResourceKind, ResourcePrecondition, check_id, check_modified, etag,
};
use crate::tree::{Change, Children, Database, Page, Tree, User};

impl User {
    pub(crate) fn self_link(&self) -> String {
        format!("dbs/{}/users/{}/", self.rid.database(), self.rid)
    }

    fn resource(&self) -> Resource {
        Resource {
            kind: ResourceKind::User,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: self.rid.database().to_string(),
            self_link: self.self_link(),
            etag: etag(ResourceKind::User, self.version),
            ts: self.version.ts,
            content: Content::User,
        }
    }
}

impl Tree {
    /// Finds a database that the request lies in.
    pub(crate) fn owner(&self, database: &str) -> Result<&Database> {
        self.database(database).ok_or_else(|| Error::owner_not_found(ResourceKind::Database, database))
    }

    /// Finds a user.
    pub(crate) fn find_user(&self, database: &str, user: &str) -> Result<&User> {
        let owner = self.owner(database)?;
        owner
            .user(user, owner.is_named_by_rid(database))
            .ok_or_else(|| Error::not_found(ResourceKind::User, user))
    }
}

fn encode(id: &str, version: Version) -> bytes::Bytes {
    let mut object = record::begin(version);
    object.insert("id", id);
    record::encode(object)
}

impl Engine {
    /// Creates a user.
    pub async fn create_user(&self, caller: &Caller, database: &str, id: &str) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        check_id(ResourceKind::User, id)?;
        let mut writer = self.writer().await?;
        let owner_rid = {
            let tree = self.tree();
            let owner = tree.owner(database)?;
            if owner.users.contains(id) {
                return Err(Error::exists(ResourceKind::User, id));
            }
            owner.rid
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.counters.user += 1;
        let rid = UserRid::new(owner_rid, change.counters.user);
        let user = User { rid, id: id.to_owned(), version: change.version, permissions: Children::default() };
        change.put(record::key(tag::USER, rid.to_string().as_bytes()), encode(id, change.version));
        change.commit().await?;
        let answer = resource::written(user.resource());
        let mut tree = self.tree_mut();
        let owner = tree.database_mut(owner_rid).expect("databases go only with the writer's lock held");
        owner.users.insert(id, u64::from(rid.number()), user);
        Ok(answer)
    }

    /// Creates a user, or touches the one that is there. Says whether it was created.
    pub async fn upsert_user(
        &self,
        caller: &Caller,
        database: &str,
        id: &str,
    ) -> Result<(Answer<Resource>, bool)> {
        caller.access.check_account(Action::Write)?;
        let exists = self.tree().owner(database)?.users.contains(id);
        if exists {
            let replaced = self.replace_user(caller, database, id, id, ResourcePrecondition::None).await?;
            Ok((replaced, false))
        } else {
            Ok((self.create_user(caller, database, id).await?, true))
        }
    }

    /// Reads a user. `known` is the version that the caller holds already.
    pub fn read_user(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        known: Option<ETag>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Read)?;
        self.check_in_touch()?;
        let tree = self.tree();
        let found = tree.find_user(database, user)?;
        check_modified(known, etag(ResourceKind::User, found.version))?;
        Ok(resource::read(found.resource()))
    }

    /// Lists the users of a database, oldest first.
    pub fn list_users(
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
        let (users, continuation) = owner.users.page(&Page::new(count_max, continuation)?);
        let resources = users.into_iter().map(User::resource).collect();
        Ok(resource::feed(owner.rid.to_string(), resources, continuation))
    }

    /// Gives a user another name.
    pub async fn replace_user(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        id: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_account(Action::Write)?;
        check_id(ResourceKind::User, id)?;
        let mut writer = self.writer().await?;
        let (rid, old_id) = {
            let tree = self.tree();
            let found = tree.find_user(database, user)?;
            precondition.check(etag(ResourceKind::User, found.version))?;
            if found.id != id && tree.owner(database)?.users.contains(id) {
                return Err(Error::exists(ResourceKind::User, id));
            }
            (found.rid, found.id.clone())
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        change.put(record::key(tag::USER, rid.to_string().as_bytes()), encode(id, version));
        change.commit().await?;
        let mut tree = self.tree_mut();
        let owner = tree.database_mut(rid.database()).expect("databases go only with the writer's lock held");
        let mut renamed = owner.users.remove(&old_id).expect("users go only with the writer's lock held");
        renamed.id = id.to_owned();
        renamed.version = version;
        let answer = resource::written(renamed.resource());
        owner.users.insert(id, u64::from(rid.number()), renamed);
        Ok(answer)
    }

    /// Deletes a user with their permissions.
    pub async fn delete_user(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<()>> {
        caller.access.check_account(Action::Write)?;
        let mut writer = self.writer().await?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let (rid, id) = {
            let tree = self.tree();
            let found = tree.find_user(database, user)?;
            precondition.check(etag(ResourceKind::User, found.version))?;
            change.delete(record::key(tag::USER, found.rid.to_string().as_bytes()));
            for permission in found.permissions.iter() {
                change.delete(record::key(tag::PERMISSION, permission.rid.to_string().as_bytes()));
            }
            (found.rid, found.id.clone())
        };
        change.commit().await?;
        if let Some(owner) = self.tree_mut().database_mut(rid.database()) {
            owner.users.remove(&id);
        }
        Ok(resource::deleted())
    }
}
