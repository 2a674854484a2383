//! Scripts of a container: stored procedures, triggers and user-defined functions.
//!
//! The three kinds are the same resource but for how many a container may have, the name of their links, and the two
//! members that say when a trigger runs. They hang on the container's handle, because queries and writes have nothing
//! else of the tree in their hands. Their order is that of the versions of the tree by which they were made, which are
//! their numbers too.
//!
//! Not here: running them (`procedures`, `triggers`, `queries::functions`).

mod kind;
mod trigger_rule;

use std::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use armilla_script::{Program, ScriptError};
use armilla_value::Object;
use armilla_value::rid::{ChildRid, ResourceId};
use bytes::Bytes;

use crate::access::{Action, Caller};
use crate::containers::{ContainerHandle, Located};
use crate::databases::check_id;
use crate::error::{Error, ErrorKind, Result};
use crate::open::Engine;
use crate::record::{self, Record, Version};
use crate::resource::{self, Answer, Feed, Resource, ResourcePrecondition, check_modified};
use crate::tree::{Change, Children, Page, etag};

pub use kind::ScriptKind;
pub use trigger_rule::{TriggerOperation, TriggerRule, TriggerTime};

/// What a script is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptDefinition {
    /// Its name among the container's scripts of its kind.
    pub id: String,
    /// Its text: a JavaScript function.
    pub body: String,
    /// When it runs; a trigger must say so, and nothing else may.
    pub trigger: Option<TriggerRule>,
}

/// A script with its name.
#[derive(Debug, Clone)]
pub(crate) struct StoredScript {
    pub(crate) kind: ScriptKind,
    pub(crate) rid: ChildRid,
    pub(crate) id: String,
    pub(crate) version: Version,
    pub(crate) program: Program,
    pub(crate) trigger: Option<TriggerRule>,
}

impl StoredScript {
    fn resource(&self) -> Resource {
        let container = self.rid.container();
        let kind = self.kind.resource_kind();
        let mut body = Object::default();
        self.put_members(&mut body);
        let links = self.kind.link_segment();
        Resource {
            kind,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: container.to_string(),
            self_link: format!("dbs/{}/colls/{container}/{links}/{}/", container.database(), self.rid),
            etag: etag(kind, self.version),
            ts: self.version.ts,
            body,
        }
    }

    fn put_members(&self, object: &mut Object) {
        object.insert("id", self.id.as_str());
        object.insert("body", self.program.body());
        if let Some(trigger) = &self.trigger {
            object.insert(trigger_rule::TIME_MEMBER, trigger.time_text());
            object.insert(trigger_rule::OPERATION_MEMBER, trigger.operation_text());
        }
    }

    /// Returns the key of its record.
    fn key(&self) -> Bytes {
        record::key(self.kind.record_tag(), self.rid.to_string().as_bytes())
    }

    fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        self.put_members(&mut object);
        record::encode(object)
    }

    /// Reads a record; the text was checked before it was stored.
    pub(crate) fn decode(kind: ScriptKind, rid: ChildRid, value: &[u8]) -> Result<StoredScript> {
        let what = format!("a {}", kind.noun());
        let record = Record::decode(value, &what)?;
        let trigger = match kind {
            ScriptKind::Trigger => {
                let (time, operation) =
                    (record.text(trigger_rule::TIME_MEMBER)?, record.text(trigger_rule::OPERATION_MEMBER)?);
                let damaged = |error: Error| Error::new(ErrorKind::Corrupt, format!("{what}: {error}"));
                Some(TriggerRule::parse(&time, &operation).map_err(damaged)?)
            }
            ScriptKind::StoredProcedure | ScriptKind::UserDefinedFunction => None,
        };
        let program = Program::of_checked(record.text("body")?);
        Ok(StoredScript { kind, rid, id: record.text("id")?, version: record.version()?, program, trigger })
    }
}

/// The scripts of one container.
#[derive(Default)]
pub(crate) struct Scripts {
    /// One for each kind, in the order of [`ScriptKind::ALL`]. Changed only with the writer's lock held.
    by_kind: [RwLock<Children<StoredScript>>; ScriptKind::ALL.len()],
}

impl Scripts {
    pub(crate) fn of(&self, kind: ScriptKind) -> RwLockReadGuard<'_, Children<StoredScript>> {
        self.by_kind[kind as usize].read().expect("no panic while the scripts are held")
    }

    pub(crate) fn of_mut(&self, kind: ScriptKind) -> RwLockWriteGuard<'_, Children<StoredScript>> {
        self.by_kind[kind as usize].write().expect("no panic while the scripts are held")
    }

    /// Returns the keys of all their records.
    pub(crate) fn record_keys(&self) -> Vec<Bytes> {
        let kinds = ScriptKind::ALL.into_iter();
        kinds.flat_map(|kind| self.of(kind).iter().map(StoredScript::key).collect::<Vec<_>>()).collect()
    }

    /// Returns a script that a path names: by name, or by resource id if its container was found by its own.
    pub(crate) fn find(&self, kind: ScriptKind, segment: &str, by_rid: bool) -> Result<StoredScript> {
        find(&self.of(kind), kind, segment, by_rid).cloned()
    }
}

/// Reads the resource id of a script of a kind.
pub(crate) fn parse_rid(kind: ScriptKind, text: &str) -> Option<ChildRid> {
    match ResourceId::parse(text)? {
        ResourceId::Child(rid) if rid.kind() == kind.child_kind() => Some(rid),
        _ => None,
    }
}

fn find<'s>(
    scripts: &'s Children<StoredScript>,
    kind: ScriptKind,
    segment: &str,
    by_rid: bool,
) -> Result<&'s StoredScript> {
    let found = if by_rid {
        let rid = parse_rid(kind, segment);
        rid.and_then(|rid| scripts.get_by_ordinal(rid.number()).filter(|script| script.rid == rid))
    } else {
        scripts.get(segment)
    };
    found.ok_or_else(|| Error::not_found(kind.resource_kind(), segment))
}

/// Checks what can be checked of a script before its container is looked at again, and compiles it where waiting for
/// that holds up nobody else.
async fn prepare(
    engine: &Engine,
    container: &ContainerHandle,
    kind: ScriptKind,
    definition: &ScriptDefinition,
) -> Result<Program> {
    check_id(kind.resource_kind(), &definition.id)?;
    match (kind, &definition.trigger) {
        (ScriptKind::Trigger, None) => {
            return Err(Error::invalid(
                "a trigger must say when it runs: 'triggerType' and 'triggerOperation' are missing",
            ));
        }
        (ScriptKind::StoredProcedure | ScriptKind::UserDefinedFunction, Some(_)) => {
            return Err(Error::invalid(format!(
                "a {} has no 'triggerType' and no 'triggerOperation'",
                kind.noun()
            )));
        }
        _ => {}
    }
    // Compiling takes a process, as running does, so it waits for a turn as well.
    let turns = (container.script_turns().next().await, engine.script_turns().next().await);
    let (workers, owner) = (container.script_workers().clone(), container.script_owner());
    let body = definition.body.clone();
    let compile = move || {
        let _turns = turns;
        Program::compile(&workers, owner, &body)
    };
    match tokio::task::spawn_blocking(compile).await {
        Ok(compiled) => compiled.map_err(|error| match error {
            ScriptError::Sandbox(_) => Error::new(ErrorKind::Unavailable, error.to_string()),
            error => {
                let message =
                    format!("Encountered exception while compiling Javascript. Exception = {error}");
                Error::new(ErrorKind::ScriptInvalid, message)
            }
        }),
        Err(failure) => {
            Err(Error::new(ErrorKind::Internal, format!("the script was not checked: {failure}")))
        }
    }
}

fn check(caller: &Caller, action: Action, container: &ContainerHandle) -> Result<()> {
    caller.access.check_item(action, container.rid(), None, None)
}

impl Engine {
    /// Creates a script.
    pub async fn create_script(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        kind: ScriptKind,
        definition: &ScriptDefinition,
    ) -> Result<Answer<Resource>> {
        let owner = self.locate(&caller.access, database, container)?.container;
        check(caller, Action::Write, &owner)?;
        let program = prepare(self, &owner, kind, definition).await?;
        let mut writer = self.writer().await;
        let owner = self.locate(&caller.access, database, container)?.container;
        check(caller, Action::Write, &owner)?;
        {
            let scripts = owner.scripts().of(kind);
            if scripts.contains(&definition.id) {
                return Err(Error::exists(kind.resource_kind(), &definition.id));
            }
            if scripts.iter().count() >= kind.count_max() {
                return Err(Error::invalid(format!(
                    "the container has {} {}s, the most",
                    kind.count_max(),
                    kind.noun()
                )));
            }
        }
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        let rid = ChildRid::new(owner.rid(), kind.child_kind(), version.number)
            .expect("a tree does not see 2^60 changes");
        let (id, trigger) = (definition.id.clone(), definition.trigger.clone());
        let stored = StoredScript { kind, rid, id, version, program, trigger };
        change.put(stored.key(), stored.encode());
        change.commit().await?;
        let answer = resource::written(stored.resource());
        owner.scripts().of_mut(kind).insert(&definition.id, rid.number(), stored);
        Ok(answer)
    }

    /// Creates a script, or replaces the one that is there. Says whether it was created.
    pub async fn upsert_script(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        kind: ScriptKind,
        definition: &ScriptDefinition,
    ) -> Result<(Answer<Resource>, bool)> {
        let Located { container: owner, by_rid } = self.locate(&caller.access, database, container)?;
        let known = owner.scripts().of(kind).get(&definition.id).map(|found| found.rid.to_string());
        let Some(rid) = known else {
            return Ok((self.create_script(caller, database, container, kind, definition).await?, true));
        };
        let name = if by_rid { &rid } else { &definition.id };
        let none = ResourcePrecondition::None;
        let replaced = self.replace_script(caller, database, container, kind, name, definition, none).await?;
        Ok((replaced, false))
    }

    /// Reads a script. `known` is the version that the caller holds already.
    pub fn read_script(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        kind: ScriptKind,
        script: &str,
        known: Option<crate::ETag>,
    ) -> Result<Answer<Resource>> {
        let Located { container: owner, by_rid } = self.locate(&caller.access, database, container)?;
        check(caller, Action::Read, &owner)?;
        let scripts = owner.scripts().of(kind);
        let found = find(&scripts, kind, script, by_rid)?;
        check_modified(known, etag(kind.resource_kind(), found.version))?;
        Ok(resource::read(found.resource()))
    }

    /// Lists the scripts of a kind that a container has, oldest first.
    pub fn list_scripts(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        kind: ScriptKind,
        count_max: Option<usize>,
        continuation: Option<&str>,
    ) -> Result<Answer<Feed>> {
        let owner = self.locate(&caller.access, database, container)?.container;
        check(caller, Action::Read, &owner)?;
        let scripts = owner.scripts().of(kind);
        let (page, continuation) = scripts.page(&Page::new(count_max, continuation)?);
        let resources = page.into_iter().map(StoredScript::resource).collect();
        Ok(resource::feed(owner.rid().to_string(), resources, continuation))
    }

    /// Gives a script another text, and another name if asked.
    #[expect(clippy::too_many_arguments, reason = "the path has four parts, and the request three")]
    pub async fn replace_script(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        kind: ScriptKind,
        script: &str,
        definition: &ScriptDefinition,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<Resource>> {
        let owner = self.locate(&caller.access, database, container)?.container;
        check(caller, Action::Write, &owner)?;
        let program = prepare(self, &owner, kind, definition).await?;
        let mut writer = self.writer().await;
        let Located { container: owner, by_rid } = self.locate(&caller.access, database, container)?;
        check(caller, Action::Write, &owner)?;
        let id = definition.id.as_str();
        let (rid, old_id) = {
            let scripts = owner.scripts().of(kind);
            let found = find(&scripts, kind, script, by_rid)?;
            precondition.check(etag(kind.resource_kind(), found.version))?;
            if found.id != id && scripts.contains(id) {
                return Err(Error::exists(kind.resource_kind(), id));
            }
            (found.rid, found.id.clone())
        };
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        let version = change.version;
        let trigger = definition.trigger.clone();
        let stored = StoredScript { kind, rid, id: id.to_owned(), version, program, trigger };
        change.put(stored.key(), stored.encode());
        change.commit().await?;
        let answer = resource::written(stored.resource());
        let mut scripts = owner.scripts().of_mut(kind);
        scripts.remove(&old_id);
        scripts.insert(id, rid.number(), stored);
        Ok(answer)
    }

    /// Deletes a script.
    pub async fn delete_script(
        &self,
        caller: &Caller,
        database: &str,
        container: &str,
        kind: ScriptKind,
        script: &str,
        precondition: ResourcePrecondition,
    ) -> Result<Answer<()>> {
        let mut writer = self.writer().await;
        let Located { container: owner, by_rid } = self.locate(&caller.access, database, container)?;
        check(caller, Action::Write, &owner)?;
        let found = owner.scripts().find(kind, script, by_rid)?;
        precondition.check(etag(kind.resource_kind(), found.version))?;
        let mut change = Change::begin(&mut writer, self.env().clock.now_seconds());
        change.delete(found.key());
        change.commit().await?;
        owner.scripts().of_mut(kind).remove(&found.id);
        Ok(resource::deleted())
    }
}

#[cfg(test)]
mod tests;
