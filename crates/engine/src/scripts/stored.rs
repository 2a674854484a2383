//! The scripts that a container has, and their records.

use armilla_script::{Program, ScriptError};
use armilla_value::rid::{ChildRid, ResourceId};
use bytes::Bytes;
use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::kind::ScriptKind;
use super::trigger_rule::{self, TriggerRule};
use crate::error::{Error, ErrorKind, Result};
use crate::record::{self, Record, Version};
use crate::resource::{Content, Resource, etag};
use crate::tree::Children;

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
    pub(super) fn resource(&self) -> Resource {
        let container = self.rid.container();
        let kind = self.kind.resource_kind();
        let links = self.kind.link_segment();
        Resource {
            kind,
            id: self.id.clone(),
            rid: self.rid.to_string(),
            parent_rid: container.to_string(),
            self_link: format!("dbs/{}/colls/{container}/{links}/{}/", container.database(), self.rid),
            etag: etag(kind, self.version),
            ts: self.version.ts,
            content: Content::Script { body: self.program.body().to_owned(), trigger: self.trigger.clone() },
        }
    }

    /// Returns the key of its record.
    pub(super) fn key(&self) -> Bytes {
        record::key(self.kind.record_tag(), self.rid.to_string().as_bytes())
    }

    pub(super) fn encode(&self) -> Bytes {
        let mut object = record::begin(self.version);
        object.insert("id", self.id.as_str());
        object.insert("body", self.program.body());
        if let Some(trigger) = &self.trigger {
            object.insert(trigger_rule::TIME_MEMBER, trigger.time_text());
            object.insert(trigger_rule::OPERATION_MEMBER, trigger.operation_text());
        }
        record::encode(object)
    }

    /// Reads a record.
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
        let too_long =
            |error: ScriptError| Error::new(ErrorKind::Corrupt, format!("a {}: {error}", kind.noun()));
        let program = Program::new(record.text("body")?).map_err(too_long)?;
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
        self.by_kind[kind as usize].read()
    }

    pub(crate) fn of_mut(&self, kind: ScriptKind) -> RwLockWriteGuard<'_, Children<StoredScript>> {
        self.by_kind[kind as usize].write()
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

/// Finds a script that a path names: by name, or by resource id if its container was found by its own.
pub(super) fn find<'s>(
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
