//! User-defined functions of a container: JavaScript that its queries may call.
//!
//! They hang on the container's handle, because queries have nothing else of the tree in their hands. Their order is
//! that of the versions of the tree by which they were made, which are their numbers too.

use armilla_script::UserFunction;
use armilla_value::Object;
use armilla_value::rid::{ChildKind, ChildRid, ResourceId};
use bytes::Bytes;

use crate::access::{Action, Caller};
use crate::containers::{ContainerHandle, Located};
use crate::databases::check_id;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::USER_FUNCTIONS_MAX;
use crate::open::Engine;
use crate::record::{self, Record, Version, tag};
use crate::resource::{self, Answer, Feed, Resource, ResourceKind, ResourcePrecondition, check_modified};
use crate::tree::{Change, Children, Page, etag};

const KIND: ResourceKind = ResourceKind::UserDefinedFunction;

/// A function with its name.
#[derive(Debug, Clone)]
pub(crate) struct StoredFunction {
    pub(crate) rid: ChildRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) function: UserFunction,
}

impl StoredFunction {
    fn resource(&self) -> Resource {
        let container = self.rid.container();
        let mut body = Object::default();
        body.insert("id", self.id.as_str());
        body.insert("body", self.function.body());
        Resource {
            kind: KIND,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: container.to_string(),
            self_link: format!("dbs/{}/colls/{container}/udfs/{}/", container.database(), self.rid),
            etag: etag(KIND, self.version),
            ts: self.version.ts,
            body,
        }
    }

    /// Returns the key of its record.
    pub(crate) fn key(&self) -> Bytes {
        record::key(tag::USER_FUNCTION, self.rid.to_string().as_bytes())
    }

    fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        object.insert("id", self.id.as_str());
        object.insert("body", self.function.body());
        record::encode(object)
    }

    /// Reads a record; the text was checked before it was stored.
    pub(crate) fn decode(rid: ChildRid, value: &[u8]) -> Result<StoredFunction> {
        let record = Record::decode(value, "a user-defined function")?;
        let function = UserFunction::of_checked(record.text("body")?);
        Ok(StoredFunction { rid, id: record.text("id")?, version: record.version()?, function })
    }
}

/// Reads the resource id of a function.
pub(crate) fn parse_rid(text: &str) -> Option<ChildRid> {
    match ResourceId::parse(text)? {
        ResourceId::Child(rid) if rid.kind() == ChildKind::UserDefinedFunction => Some(rid),
        _ => None,
    }
}

/// Finds a function by its name, or by its resource id if its container was found by its own.
fn find<'f>(
    functions: &'f Children<StoredFunction>,
    segment: &str,
    by_rid: bool,
) -> Result<&'f StoredFunction> {
    let found = if by_rid {
        let rid = parse_rid(segment);
        rid.and_then(|rid| functions.get_by_ordinal(rid.number()).filter(|function| function.rid == rid))
    } else {
        functions.get(segment)
    };
    found.ok_or_else(|| Error::not_found(KIND, segment))
}

/// Checks the text of a function where waiting for it holds up nobody else.
async fn compile(body: &str) -> Result<UserFunction> {
    let body = body.to_owned();
    match tokio::task::spawn_blocking(move || UserFunction::compile(&body)).await {
        Ok(compiled) => compiled.map_err(|error| Error::invalid(error.to_string())),
        Err(failure) => {
            Err(Error::new(ErrorKind::Internal, format!("the function was not checked: {failure}")))
        }
    }
}

fn check(caller: &Caller, action: Action, container: &ContainerHandle) -> Result<()> {
    caller.access.check_item(action, container.rid(), None, None)
}

impl Engine {
    /// Creates a user-defined function.
    pub async fn create_user_function(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        id: &str,
        body: &str,
    ) -> Result<Answer<Resource>> {
        check(caller, Action::Write, &self.container(database, container)?.container)?;
        check_id(KIND, id)?;
        let function = compile(body).await?;
        let mut writer = self.writer().await;
        let owner = self.container(database, container)?.container;
        check(caller, Action::Write, &owner)?;
        {
            let functions = owner.functions();
            if functions.contains(id) {
                return Err(Error::exists(KIND, id));
            }
            if functions.iter().count() >= USER_FUNCTIONS_MAX {
                let message =
                    format!("the container has {USER_FUNCTIONS_MAX} user-defined functions, the most");
                return Err(Error::invalid(message));
            }
        }
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        let rid = ChildRid::new(owner.rid(), ChildKind::UserDefinedFunction, version.number)
            .expect("a tree does not see 2^60 changes");
        let stored = StoredFunction { rid, id: id.to_owned(), version, function };
        change.put(stored.key(), stored.encode());
        change.commit().await?;
        let answer = resource::written(stored.resource());
        owner.functions_mut().insert(id, rid.number(), stored);
        Ok(answer)
    }

    /// Creates a user-defined function, or replaces the one that is there. Says whether it was created.
    pub async fn upsert_user_function(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        id: &str,
        body: &str,
    ) -> Result<(Answer<Resource>, bool)> {
        let Located { container: owner, by_rid } = self.container(database, container)?;
        let known = owner.functions().get(id).map(|found| found.rid.to_string());
        let Some(rid) = known else {
            return Ok((self.create_user_function(caller, database, container, id, body).await?, true));
        };
        let name = if by_rid { &*rid } else { id };
        let none = ResourcePrecondition::None;
        let replaced = self.replace_user_function(caller, database, container, name, id, body, none).await?;
        Ok((replaced, false))
    }

    /// Reads a user-defined function. `known` is the version that the caller holds already.
    pub fn read_user_function(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        function: &str,
        known: Option<crate::ETag>,
    ) -> Result<Answer<Resource>> {
        let Located { container: owner, by_rid } = self.container(database, container)?;
        check(caller, Action::Read, &owner)?;
        let functions = owner.functions();
        let found = find(&functions, function, by_rid)?;
        check_modified(known, etag(KIND, found.version))?;
        Ok(resource::read(found.resource()))
    }

    /// Lists the user-defined functions of a container, oldest first.
    pub fn list_user_functions(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        let owner = self.container(database, container)?.container;
        check(caller, Action::Read, &owner)?;
        let functions = owner.functions();
        let (page, continuation) = functions.page(&Page::new(count_max, continuation)?);
        let resources = page.into_iter().map(StoredFunction::resource).collect();
        Ok(resource::feed(owner.rid().to_string(), resources, continuation))
    }

    /// Gives a user-defined function another text, and another name if asked.
    #[expect(clippy::too_many_arguments, reason = "the path has three names, and the body two members")]
    pub async fn replace_user_function(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        function: &str,
        id: &str,
        body: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        check(caller, Action::Write, &self.container(database, container)?.container)?;
        check_id(KIND, id)?;
        let compiled = compile(body).await?;
        let mut writer = self.writer().await;
        let Located { container: owner, by_rid } = self.container(database, container)?;
        check(caller, Action::Write, &owner)?;
        let (rid, old_id) = {
            let functions = owner.functions();
            let found = find(&functions, function, by_rid)?;
            precondition.check(etag(KIND, found.version))?;
            if found.id != id && functions.contains(id) {
                return Err(Error::exists(KIND, id));
            }
            (found.rid, found.id.clone())
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        let stored = StoredFunction { rid, id: id.to_owned(), version, function: compiled };
        change.put(stored.key(), stored.encode());
        change.commit().await?;
        let answer = resource::written(stored.resource());
        let mut functions = owner.functions_mut();
        functions.remove(&old_id);
        functions.insert(id, rid.number(), stored);
        Ok(answer)
    }

    /// Deletes a user-defined function.
    pub async fn delete_user_function(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        function: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<()>> {
        let mut writer = self.writer().await;
        let Located { container: owner, by_rid } = self.container(database, container)?;
        check(caller, Action::Write, &owner)?;
        let (key, id) = {
            let functions = owner.functions();
            let found = find(&functions, function, by_rid)?;
            precondition.check(etag(KIND, found.version))?;
            (found.key(), found.id.clone())
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.delete(key);
        change.commit().await?;
        owner.functions_mut().remove(&id);
        Ok(resource::deleted())
    }
}
