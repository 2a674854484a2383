//! `conflictResolutionPolicy`: last writer wins by a number, or a procedure, or the conflict feed.

use armilla_index::reader::Field;
use armilla_value::{PropertyPath, Value};

use super::json::{object, word_position};
use super::{DefinitionError, property_paths};

/// What to do when two regions wrote the same item.
#[derive(Debug, Clone, PartialEq)]
pub enum ConflictPolicy {
    /// The write with the higher number at this path stays.
    LastWriterWins {
        /// Where the number stands: a property of the item's root.
        path: PropertyPath,
    },
    /// The stored procedure with this link decides; with an empty link the conflict goes to the feed.
    Custom {
        /// `dbs/d/colls/c/sprocs/p`, or empty.
        procedure: String,
    },
}

impl ConflictPolicy {
    fn mode(&self) -> &'static str {
        match self {
            ConflictPolicy::LastWriterWins { .. } => "LastWriterWins",
            ConflictPolicy::Custom { .. } => "Custom",
        }
    }
}

/// Where the time of the last write stands: the path that decides unless another is given.
const DEFAULT_PATH: &str = "/_ts";

pub(super) fn read(body: &Field<'_>) -> Result<Option<ConflictPolicy>, DefinitionError> {
    let Some(field) = body.member("conflictResolutionPolicy") else { return Ok(None) };
    field.expect_object()?;
    let custom = match field.member("mode") {
        None => false,
        Some(mode) => word_position(&mode, "conflict resolution mode", &["LastWriterWins", "Custom"])? == 1,
    };
    let path = text_of(&field, "conflictResolutionPath")?;
    let procedure = text_of(&field, "conflictResolutionProcedure")?;
    if custom {
        if !path.is_empty() {
            return Err(DefinitionError::new(
                "conflictResolutionPolicy.conflictResolutionPath",
                "Custom conflict resolution mode should not have conflict resolution path set.",
            ));
        }
        return Ok(Some(ConflictPolicy::Custom { procedure: procedure.to_owned() }));
    }
    if !procedure.is_empty() {
        return Err(DefinitionError::new(
            "conflictResolutionPolicy.conflictResolutionProcedure",
            "LastWriterWins conflict resolution mode should not have conflict resolution procedure set.",
        ));
    }
    let text = if path.is_empty() { DEFAULT_PATH } else { path };
    let parsed = property_paths::parse(text).ok().filter(|path| path.names().len() == 1);
    match parsed {
        Some(path) => Ok(Some(ConflictPolicy::LastWriterWins { path })),
        None => Err(DefinitionError::new(
            "conflictResolutionPolicy.conflictResolutionPath",
            format!("Invalid path '{text}' for last writer wins conflict resolution"),
        )),
    }
}

fn text_of<'v>(field: &Field<'v>, name: &str) -> Result<&'v str, DefinitionError> {
    Ok(field.member(name).map(|member| member.text()).transpose()?.unwrap_or_default())
}

pub(super) fn write(policy: &ConflictPolicy) -> Value {
    let (path, procedure) = match policy {
        ConflictPolicy::LastWriterWins { path } => (path.to_string(), ""),
        ConflictPolicy::Custom { procedure } => (String::new(), procedure.as_str()),
    };
    object([
        ("mode", policy.mode().into()),
        ("conflictResolutionPath", path.into()),
        ("conflictResolutionProcedure", procedure.into()),
    ])
}

pub(super) fn replace(
    old: Option<&ConflictPolicy>,
    new: Option<&ConflictPolicy>,
) -> Result<Option<ConflictPolicy>, DefinitionError> {
    let mode = |policy: Option<&ConflictPolicy>| policy.map_or("LastWriterWins", ConflictPolicy::mode);
    match new {
        None => Ok(old.cloned()),
        Some(policy) if mode(new) == mode(old) => Ok(Some(policy.clone())),
        Some(policy) => Err(DefinitionError::new(
            "conflictResolutionPolicy.mode",
            format!(
                "the conflict resolution mode cannot be changed from '{}' to '{}'",
                mode(old),
                policy.mode()
            ),
        )),
    }
}
