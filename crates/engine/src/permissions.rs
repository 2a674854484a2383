//! Permissions: what a user may do with one container or item, and the tokens that prove it.

mod permission;

use armilla_container::ETag;
use armilla_container::ReadCost;
use armilla_governor::Claim;
use armilla_value::PartitionKey;
use armilla_value::rid::{ItemRid, PermissionRid};

use crate::access::{Caller, Grant, GrantMode};
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::items::item_address;
use crate::limits::{TOKEN_SECONDS_DEFAULT, TOKEN_SECONDS_MAX, TOKEN_SECONDS_MIN};
use crate::record::{self, tag};
use crate::resource::{
    self, Answer, Content, Feed, PermissionContent, Resource, ResourceKind, ResourcePrecondition, check_id,
    check_modified, etag,
};
use crate::tree::{Change, Page, Tree};

pub(crate) use permission::Permission;

/// What a permission is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionDefinition {
    /// Its name among the user's permissions.
    pub id: String,
    /// How far it goes: `Read` or `All`, in any case; it is given back as it was written.
    pub mode: String,
    /// The link of a container or an item, by names or by resource ids.
    pub resource_link: String,
    /// The logical partition that it is for, if it is not for all of them.
    pub partition_key: Option<PartitionKey>,
}

impl Engine {
    /// Returns the grant that a resource token carries, if it was made here and has not expired.
    pub fn authorize_token(&self, token: &str) -> Result<Grant> {
        self.tokens().verify(token, self.env().clock.now_seconds())
    }

    /// Creates a permission from its definition; its token is good for some seconds.
    pub async fn create_permission(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        definition: &PermissionDefinition,
        token_seconds: Option<u32>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_granting()?;
        let seconds = check_seconds(token_seconds)?;
        let mut writer = self.writer().await?;
        let (user_rid, id, resource_link, grant) = {
            let tree = self.tree();
            let (id, resource_link, grant) = found_resource(&tree, definition)?;
            let found = tree.find_user(database, user).map_err(owner)?;
            if found.permissions.contains(&id) {
                return Err(Error::exists(ResourceKind::Permission, &id));
            }
            check_single(found.permissions.iter(), &resource_link, &grant)?;
            (found.rid, id, resource_link, grant)
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.counters.permission += 1;
        let rid = PermissionRid::new(user_rid, change.counters.permission);
        let permission = Permission {
            rid,
            id: id.clone(),
            version: change.version,
            resource: resource_link,
            mode_text: definition.mode.clone(),
            grant,
        };
        change.put(record::key(tag::PERMISSION, rid.to_string().as_bytes()), permission.encode());
        change.commit().await?;
        let answer = resource::written(resource_of(&permission, self, seconds));
        let mut tree = self.tree_mut();
        let user = tree
            .database_mut(user_rid.database())
            .and_then(|database| database.users.by_ordinal_mut(u64::from(user_rid.number())))
            .expect("users go only with the writer's lock held");
        user.permissions.insert(&id, rid.number(), permission);
        Ok(answer)
    }

    /// Creates a permission or replaces the one with its id. Says whether it was created.
    pub async fn upsert_permission(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        definition: &PermissionDefinition,
        token_seconds: Option<u32>,
    ) -> Result<(Answer<Resource>, bool)> {
        caller.access.check_granting()?;
        let id = &definition.id;
        let exists = self.tree().find_user(database, user).map_err(owner)?.permissions.contains(id);
        if exists {
            let none = ResourcePrecondition::None;
            let replaced =
                self.replace_permission(caller, database, user, id, definition, token_seconds, none).await?;
            Ok((replaced, false))
        } else {
            Ok((self.create_permission(caller, database, user, definition, token_seconds).await?, true))
        }
    }

    /// Reads a permission with a fresh token. `known` is the version that the caller holds already.
    pub fn read_permission(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        permission: &str,
        token_seconds: Option<u32>,
        known: Option<ETag>,
    ) -> Result<Answer<Resource>> {
        caller.access.check_granting()?;
        let seconds = check_seconds(token_seconds)?;
        let tree = self.tree();
        let found = find(&tree, database, user, permission)?;
        check_modified(known, etag(ResourceKind::Permission, found.version))?;
        Ok(resource::read(resource_of(found, self, seconds)))
    }

    /// Lists the permissions of a user, oldest first, each with a fresh token.
    pub fn list_permissions(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        caller.access.check_granting()?;
        let tree = self.tree();
        let found = tree.find_user(database, user).map_err(owner)?;
        let (permissions, continuation) = found.permissions.page(&Page::new(count_max, continuation)?);
        let resources = permissions
            .into_iter()
            .map(|permission| resource_of(permission, self, TOKEN_SECONDS_DEFAULT))
            .collect();
        Ok(resource::feed(found.rid.to_string(), resources, continuation))
    }

    /// Replaces a permission.
    #[expect(clippy::too_many_arguments, reason = "a permission lies three levels deep")]
    pub async fn replace_permission(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        permission: &str,
        definition: &PermissionDefinition,
        token_seconds: Option<u32>,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        caller.access.check_granting()?;
        let seconds = check_seconds(token_seconds)?;
        let mut writer = self.writer().await?;
        let (old, mut new) = {
            let tree = self.tree();
            let (id, resource_link, grant) = found_resource(&tree, definition)?;
            let old = find(&tree, database, user, permission)?.clone();
            precondition.check(etag(ResourceKind::Permission, old.version))?;
            let siblings = &tree.find_user(database, user).map_err(owner)?.permissions;
            if id != old.id && siblings.contains(&id) {
                return Err(Error::exists(ResourceKind::Permission, &id));
            }
            check_single(siblings.iter().filter(|sibling| sibling.rid != old.rid), &resource_link, &grant)?;
            let new = Permission {
                rid: old.rid,
                id,
                version: old.version,
                resource: resource_link,
                mode_text: definition.mode.clone(),
                grant,
            };
            (old, new)
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        new.version = change.version;
        change.put(record::key(tag::PERMISSION, new.rid.to_string().as_bytes()), new.encode());
        change.commit().await?;
        let answer = resource::written(resource_of(&new, self, seconds));
        let mut tree = self.tree_mut();
        let user_rid = new.rid.user();
        let user = tree
            .database_mut(user_rid.database())
            .and_then(|database| database.users.by_ordinal_mut(u64::from(user_rid.number())))
            .expect("users go only with the writer's lock held");
        user.permissions.remove(&old.id);
        let id = new.id.clone();
        user.permissions.insert(&id, new.rid.number(), new);
        Ok(answer)
    }

    /// Deletes a permission.
    pub async fn delete_permission(
        &self,
        caller: &Caller,
        database: &str,
        user: &str,
        permission: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<()>> {
        caller.access.check_granting()?;
        let mut writer = self.writer().await?;
        let found = find(&self.tree(), database, user, permission)?.clone();
        precondition.check(etag(ResourceKind::Permission, found.version))?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.delete(record::key(tag::PERMISSION, found.rid.to_string().as_bytes()));
        change.commit().await?;
        let user_rid = found.rid.user();
        let mut tree = self.tree_mut();
        if let Some(user) = tree
            .database_mut(user_rid.database())
            .and_then(|database| database.users.by_ordinal_mut(u64::from(user_rid.number())))
        {
            user.permissions.remove(&found.id);
        }
        Ok(resource::deleted())
    }
}

/// To a permission a user is the owner.
fn owner(error: Error) -> Error {
    match error.kind {
        ErrorKind::NotFound(ResourceKind::User) => {
            Error { kind: ErrorKind::OwnerNotFound(ResourceKind::User), ..error }
        }
        _ => error,
    }
}

fn find<'t>(tree: &'t Tree, database: &str, user: &str, permission: &str) -> Result<&'t Permission> {
    let by_rid = tree.owner(database)?.is_named_by_rid(database);
    let user = tree.find_user(database, user).map_err(owner)?;
    let found = if by_rid {
        PermissionRid::parse(permission).and_then(|rid| user.permissions.get_by_ordinal(rid.number()))
    } else {
        user.permissions.get(permission)
    };
    found.ok_or_else(|| Error::not_found(ResourceKind::Permission, permission))
}

fn check_seconds(seconds: Option<u32>) -> Result<u32> {
    let seconds = seconds.unwrap_or(TOKEN_SECONDS_DEFAULT);
    if !(TOKEN_SECONDS_MIN..=TOKEN_SECONDS_MAX).contains(&seconds) {
        return Err(Error::invalid(format!(
            "a resource token can be valid for {TOKEN_SECONDS_MIN} to {TOKEN_SECONDS_MAX} seconds, not for {seconds}"
        )));
    }
    Ok(seconds)
}

/// A user has one permission for one resource.
fn check_single<'p>(
    mut others: impl Iterator<Item = &'p Permission>,
    resource_link: &str,
    grant: &Grant,
) -> Result<()> {
    let taken = others.any(|other| {
        other.grant.container == grant.container
            && other.grant.item == grant.item
            && other.grant.partition_key == grant.partition_key
    });
    if taken {
        return Err(Error::new(
            ErrorKind::AlreadyExists(ResourceKind::Permission),
            format!("the user has a permission for '{resource_link}' already"),
        ));
    }
    Ok(())
}

/// Returns the id, the link without slashes at its ends, and what it grants.
fn found_resource(tree: &Tree, definition: &PermissionDefinition) -> Result<(String, String, Grant)> {
    check_id(ResourceKind::Permission, &definition.id)?;
    let link = definition.resource_link.trim_matches('/');
    let mode = GrantMode::parse(&definition.mode).ok_or_else(|| {
        Error::invalid(format!(
            "the permission's 'permissionMode' is 'Read' or 'All', not '{}'",
            definition.mode
        ))
    })?;
    let grant = find_resource(tree, link, mode, definition.partition_key.clone())?;
    Ok((definition.id.clone(), link.to_owned(), grant))
}

/// Finds the container, and the item if it is for one, that a link by names or resource ids leads to.
fn find_resource(
    tree: &Tree,
    link: &str,
    mode: GrantMode,
    partition_key: Option<PartitionKey>,
) -> Result<Grant> {
    let refused = || {
        Error::invalid(format!(
            "the permission's 'resource' must be a link to a container or an item, such as 'dbs/d/colls/c' or \
             'dbs/d/colls/c/docs/i', not '{link}'"
        ))
    };
    let segments: Vec<&str> = link.split('/').collect();
    let (database, container, item) = match segments[..] {
        ["dbs", database, "colls", container] => (database, container, None),
        ["dbs", database, "colls", container, "docs", item] => (database, container, Some(item)),
        _ => return Err(refused()),
    };
    let owner = tree.owner(database)?;
    let by_rid = owner.is_named_by_rid(database);
    let found = owner
        .container(container, by_rid)
        .ok_or_else(|| Error::owner_not_found(ResourceKind::Container, container))?;
    let (item, partition_key) = match item {
        None => (None, partition_key),
        Some(segment) if by_rid => {
            let rid = ItemRid::parse(segment).ok_or_else(refused)?;
            let (key, id) = address_of(found, rid)?;
            if partition_key.is_some_and(|given| given != key) {
                return Err(Error::invalid(format!(
                    "the permission's 'resourcePartitionKey' is not the partition key of the item, which is {}",
                    key.to_json()
                )));
            }
            (Some(id), Some(key))
        }
        // Where items have partition keys an id alone may be that of several, and would be that of those to come.
        Some(_) if partition_key.is_none() && !found.is_fixed() => {
            return Err(Error::invalid(format!(
                "the permission for '{link}' needs a 'resourcePartitionKey': items with different partition keys may \
                 have the same id"
            )));
        }
        Some(id) => (Some(id.to_owned()), partition_key),
    };
    Ok(Grant { mode, container: found.rid(), item, partition_key })
}

/// Returns the partition key and the id of the item with a resource id.
fn address_of(container: &ContainerHandle, rid: ItemRid) -> Result<(PartitionKey, String)> {
    let (session, claim) = (Default::default(), Claim::default());
    let found =
        container.container().read_item_by_number(rid.number(), None, &session, ReadCost::Single, claim);
    found.map(|found| item_address(container, &found)).map_err(|error| container.translate(error))
}

/// Shows the permission with a fresh token.
fn resource_of(permission: &Permission, engine: &Engine, seconds: u32) -> Resource {
    let now_seconds = engine.env().clock.now_seconds();
    let user = permission.rid.user();
    Resource {
        kind: ResourceKind::Permission,
        id: permission.id.clone(),
        rid: permission.rid.to_string(),
        parent_rid: user.to_string(),
        self_link: format!("dbs/{}/users/{user}/permissions/{}/", user.database(), permission.rid),
        etag: etag(ResourceKind::Permission, permission.version),
        ts: permission.version.ts,
        content: Content::Permission(PermissionContent {
            mode: permission.mode_text.clone(),
            resource_link: permission.resource.clone(),
            partition_key: permission.grant.partition_key.clone(),
            token: engine.tokens().mint(&permission.grant, now_seconds, seconds),
        }),
    }
}
