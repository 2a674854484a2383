//! Triggers: scripts that run with a write which names them, in one transaction with it.
//!
//! The trigger before the write may change what is written; the one after it sees what was. If any of the three
//! fails, nothing of them is kept. What triggers write themselves runs no triggers.

use std::sync::Arc;

use armilla_container::{ChangeKind, ItemBody, Precondition, WriteMode, Written};
use armilla_ledger::Act;
use armilla_script::{Finished, Program, Role, WriteKind};
use armilla_value::PartitionKey;

use crate::access::Caller;
use crate::containers::ContainerHandle;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::execution::Execution;
use crate::items::ItemWritten;
use crate::scripts::{ScriptKind, TriggerOperation, TriggerTime};
use crate::transactions::Ending;

/// The triggers that a write names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Triggers {
    /// The one that runs before it.
    pub pre: Option<String>,
    /// The one that runs after it.
    pub post: Option<String>,
}

impl Triggers {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.pre.is_none() && self.post.is_none()
    }
}

/// A write that triggers run with.
pub(crate) enum TriggeredWrite {
    Put { mode: WriteMode, id: Option<String>, body: ItemBody, precondition: Precondition },
    Delete { id: String, precondition: Precondition },
}

impl TriggeredWrite {
    fn kind(&self) -> WriteKind {
        match self {
            TriggeredWrite::Put { mode: WriteMode::Create, .. } => WriteKind::Create,
            TriggeredWrite::Put { mode: WriteMode::Upsert, .. } => WriteKind::Upsert,
            TriggeredWrite::Put { mode: WriteMode::Replace | WriteMode::Update, .. } => WriteKind::Replace,
            TriggeredWrite::Delete { .. } => WriteKind::Delete,
        }
    }
}

impl Engine {
    /// Does a write that the caller may do, with its triggers.
    pub(crate) async fn write_with_triggers(
        &self,
        caller: &Caller,
        container: &Arc<ContainerHandle>,
        partition_key: &PartitionKey,
        triggers: &Triggers,
        write: TriggeredWrite,
    ) -> Result<ItemWritten> {
        caller.read_cost(self.consistency())?;
        let kind = write.kind();
        let find = |name: &Option<String>, time: TriggerTime| match name {
            Some(name) => find(container, name, time, kind).map(Some),
            None => Ok(None),
        };
        let pre = find(&triggers.pre, TriggerTime::Pre)?;
        let post = find(&triggers.post, TriggerTime::Post)?;
        let transacted =
            self.run_scripts(caller, container, partition_key, Ending::Stored, move |execution| {
                write_and_run(execution, &write, pre.as_ref(), post.as_ref())
            });
        let noting = self.noting();
        let transacted = transacted.await;
        if let Some(noting) = noting {
            let was_there =
                transacted.as_ref().is_ok_and(|done| done.value.written.kind != ChangeKind::Create);
            let act = match kind {
                WriteKind::Create | WriteKind::Upsert if !was_there => Act::Create { item: b"{}" },
                WriteKind::Create | WriteKind::Upsert | WriteKind::Replace | WriteKind::Delete => Act::Batch,
            };
            noting.write(container, act, Some(partition_key), &transacted, |done| (done.charge, 0));
        }
        let transacted = transacted?;
        let ItemWritten { written, response_body } = transacted.value;
        let written = Written { charge: transacted.charge, position: transacted.position, ..written };
        Ok(ItemWritten { written, response_body })
    }
}

/// Finds a trigger that a write names, if it is one for such writes.
fn find(container: &ContainerHandle, name: &str, time: TriggerTime, kind: WriteKind) -> Result<Program> {
    let triggers = container.scripts().of(ScriptKind::Trigger);
    let Some(found) = triggers.get(name) else {
        return Err(Error::invalid(format!("the trigger '{name}' does not exist in this container")));
    };
    let rule =
        found.trigger.as_ref().expect("a trigger has a rule: checked when it is made and when it is read");
    if rule.time() != time {
        return Err(Error::invalid(format!(
            "the trigger '{name}' is named as a {}-trigger, its triggerType is {}",
            time.name(),
            rule.time().name()
        )));
    }
    if !runs_with(rule.operation(), kind) {
        return Err(Error::invalid(format!(
            "the trigger '{name}' does not run with this operation: it is {}, the triggerOperation is {}",
            kind.name(),
            rule.operation().name()
        )));
    }
    Ok(found.program.clone())
}

/// Whether a trigger for an operation runs with a write.
///
/// What counts is what was asked for, since what an upsert turns out to be is not known when the trigger before it
/// runs: so it is let run with every trigger that is for one of the two things an upsert can be.
fn runs_with(operation: TriggerOperation, kind: WriteKind) -> bool {
    match operation {
        TriggerOperation::All => true,
        TriggerOperation::Create => matches!(kind, WriteKind::Create | WriteKind::Upsert),
        TriggerOperation::Update | TriggerOperation::Replace => {
            matches!(kind, WriteKind::Replace | WriteKind::Upsert)
        }
        TriggerOperation::Delete => kind == WriteKind::Delete,
        TriggerOperation::Upsert => kind == WriteKind::Upsert,
    }
}

fn write_and_run(
    execution: &mut Execution,
    write: &TriggeredWrite,
    pre: Option<&Program>,
    post: Option<&Program>,
) -> Result<ItemWritten> {
    let operation = write.kind();
    match write {
        TriggeredWrite::Put { mode, id, body, precondition } => {
            let put = |execution: &mut Execution, body: ItemBody| {
                let written = execution.transaction().put(*mode, id.as_deref(), body, *precondition);
                written.map_err(|error| execution.handle().translate(error))
            };
            let Some(mut text) = body.text() else {
                // No trigger can be shown this; the container says what is wrong with it.
                put(execution, body.clone())?;
                return Err(Error::invalid("the item is not JSON"));
            };
            let mut body = body.clone();
            if let Some(pre) = pre {
                let role = Role::PreTrigger { operation, body: Some(&text) };
                let Finished { request_body, .. } = execution.run(pre, role, false).0?;
                if let Some(changed) = request_body {
                    body = ItemBody::from(&*changed);
                    text = changed;
                }
            }
            let written = put(execution, body)?;
            let mut response_body = None;
            if let Some(post) = post {
                let stored = execution.text(&written.item);
                let (request_body, stored) = (Some(&*text), Some(&*stored));
                let role = Role::PostTrigger { operation, request_body, response_body: stored };
                response_body = execution.run(post, role, false).0?.response_body;
            }
            Ok(ItemWritten { written, response_body })
        }
        TriggeredWrite::Delete { id, precondition } => {
            if let Some(pre) = pre {
                execution.run(pre, Role::PreTrigger { operation, body: None }, false).0?;
            }
            let deleted = execution.transaction().delete(id, *precondition);
            let deleted = deleted.map_err(|error| execution.handle().translate(error))?;
            if let Some(post) = post {
                let role = Role::PostTrigger { operation, request_body: None, response_body: None };
                // A deletion is answered without a body, whatever the trigger sets.
                execution.run(post, role, false).0?;
            }
            Ok(deleted.into())
        }
    }
}
