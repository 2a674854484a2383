//! Scripts of a container: stored procedures, triggers and user-defined functions.
//!
//! The three kinds are the same resource but for how many a container may have, the name of their links, and the two
//! members that say when a trigger runs. They hang on the container's handle, because queries and writes have nothing
//! else of the tree in their hands. Their order is that of the versions of the tree by which they were made, which are
//! their numbers too.
//!
//! Not here: running them (`procedures`, `triggers`, `queries::functions`).

mod kind;
mod stored;
mod trigger_rule;

use armilla_container::ETag;
use armilla_script::{Program, ScriptError};
use armilla_value::rid::ChildRid;

use crate::access::{Action, Caller};
use crate::containers::{ContainerHandle, Located};
use crate::engine::Engine;
use crate::error::{Error, ErrorKind, Result};
use crate::resource::{self, Answer, Feed, Resource, ResourcePrecondition, check_id, check_modified, etag};
use crate::tree::{Change, Page};
use stored::find;

pub use kind::ScriptKind;
pub(crate) use stored::{Scripts, StoredScript, parse_rid};
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

/// Checks what a script is to be. Its text is stored as it is: one that is no function fails when it is executed.
fn prepare(kind: ScriptKind, definition: &ScriptDefinition) -> Result<Program> {
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
    let refused = |error: ScriptError| Error::new(ErrorKind::ScriptInvalid, error.to_string());
    Program::new(definition.body.clone()).map_err(refused)
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
        let program = prepare(kind, definition)?;
        let mut writer = self.writer().await?;
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
        known: Option<ETag>,
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
        let program = prepare(kind, definition)?;
        let mut writer = self.writer().await?;
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
        let mut writer = self.writer().await?;
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
