//! The kinds of scripts, and all in which they differ as resources.

use armilla_value::rid::ChildKind;

use crate::limits::{STORED_PROCEDURES_MAX, TRIGGERS_MAX, USER_FUNCTIONS_MAX};
use crate::record::tag;
use crate::resource::ResourceKind;

/// The kinds of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScriptKind {
    /// Run by a request of its own, in one logical partition.
    StoredProcedure,
    /// Run with a write that names it.
    Trigger,
    /// Called by queries.
    UserDefinedFunction,
}

impl ScriptKind {
    /// Every kind.
    pub const ALL: [ScriptKind; 3] =
        [ScriptKind::StoredProcedure, ScriptKind::Trigger, ScriptKind::UserDefinedFunction];

    /// Returns what it is among the resources.
    pub fn resource_kind(self) -> ResourceKind {
        match self {
            ScriptKind::StoredProcedure => ResourceKind::StoredProcedure,
            ScriptKind::Trigger => ResourceKind::Trigger,
            ScriptKind::UserDefinedFunction => ResourceKind::UserDefinedFunction,
        }
    }

    /// Returns the word for it.
    pub(crate) fn noun(self) -> &'static str {
        self.resource_kind().noun()
    }

    /// Returns how many of them a container may have.
    pub fn count_max(self) -> usize {
        match self {
            ScriptKind::StoredProcedure => STORED_PROCEDURES_MAX,
            ScriptKind::Trigger => TRIGGERS_MAX,
            ScriptKind::UserDefinedFunction => USER_FUNCTIONS_MAX,
        }
    }

    /// Returns what they are called in links.
    pub(crate) fn link_segment(self) -> &'static str {
        match self {
            ScriptKind::StoredProcedure => "sprocs",
            ScriptKind::Trigger => "triggers",
            ScriptKind::UserDefinedFunction => "udfs",
        }
    }

    pub(crate) fn child_kind(self) -> ChildKind {
        match self {
            ScriptKind::StoredProcedure => ChildKind::StoredProcedure,
            ScriptKind::Trigger => ChildKind::Trigger,
            ScriptKind::UserDefinedFunction => ChildKind::UserDefinedFunction,
        }
    }

    pub(crate) fn record_tag(self) -> u8 {
        match self {
            ScriptKind::StoredProcedure => tag::STORED_PROCEDURE,
            ScriptKind::Trigger => tag::TRIGGER,
            ScriptKind::UserDefinedFunction => tag::USER_FUNCTION,
        }
    }

    /// Returns the kind whose records have a tag.
    pub(crate) fn of_record_tag(tag: u8) -> Option<ScriptKind> {
        ScriptKind::ALL.into_iter().find(|kind| kind.record_tag() == tag)
    }
}
