//! When a trigger runs, in the words of the service.

use crate::error::{Error, Result};

/// The member of a trigger that says when it runs.
pub(super) const TIME_MEMBER: &str = "triggerType";

/// The member of a trigger that says with which operations it runs.
pub(super) const OPERATION_MEMBER: &str = "triggerOperation";

/// When a trigger runs: before or after which operations. Comes from [`TriggerRule::parse`].
// Clients send the words in various cases and compare what they get back with what they sent, so the words are kept as
// they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TriggerRule {
    time: TriggerTime,
    operation: TriggerOperation,
    time_text: String,
    operation_text: String,
}

/// Before or after a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerTime {
    /// Before it: may change what is written.
    Pre,
    /// After it: sees what was written.
    Post,
}

/// With which operations a trigger runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TriggerOperation {
    /// With every write.
    All,
    /// With creations.
    Create,
    /// With replacements, like [`TriggerOperation::Replace`].
    Update,
    /// With deletions.
    Delete,
    /// With replacements.
    Replace,
    /// With upserts.
    Upsert,
}

impl TriggerTime {
    /// Every time.
    pub const ALL: [TriggerTime; 2] = [TriggerTime::Pre, TriggerTime::Post];

    /// Returns the service's word for it.
    pub fn name(self) -> &'static str {
        match self {
            TriggerTime::Pre => "Pre",
            TriggerTime::Post => "Post",
        }
    }
}

impl TriggerOperation {
    /// Every operation.
    pub const ALL: [TriggerOperation; 6] = [
        TriggerOperation::All,
        TriggerOperation::Create,
        TriggerOperation::Update,
        TriggerOperation::Delete,
        TriggerOperation::Replace,
        TriggerOperation::Upsert,
    ];

    /// Returns the service's word for it.
    pub fn name(self) -> &'static str {
        match self {
            TriggerOperation::All => "All",
            TriggerOperation::Create => "Create",
            TriggerOperation::Update => "Update",
            TriggerOperation::Delete => "Delete",
            TriggerOperation::Replace => "Replace",
            TriggerOperation::Upsert => "Upsert",
        }
    }
}

impl TriggerRule {
    /// Reads the two members of a trigger, in any case of letters.
    pub fn parse(time_text: &str, operation_text: &str) -> Result<TriggerRule> {
        let time = TriggerTime::ALL.into_iter().find(|time| time.name().eq_ignore_ascii_case(time_text));
        let time = time.ok_or_else(|| {
            Error::invalid(format!("'{TIME_MEMBER}' must be Pre or Post, it is '{time_text}'"))
        })?;
        let operation = TriggerOperation::ALL
            .into_iter()
            .find(|operation| operation.name().eq_ignore_ascii_case(operation_text));
        let operation = operation.ok_or_else(|| {
            Error::invalid(format!(
                "'{OPERATION_MEMBER}' must be All, Create, Update, Delete, Replace or Upsert, it is \
                 '{operation_text}'"
            ))
        })?;
        let (time_text, operation_text) = (time_text.to_owned(), operation_text.to_owned());
        Ok(TriggerRule { time, operation, time_text, operation_text })
    }

    /// Returns whether it runs before or after the write.
    pub fn time(&self) -> TriggerTime {
        self.time
    }

    /// Returns with which operations it runs.
    pub fn operation(&self) -> TriggerOperation {
        self.operation
    }

    /// Returns the first member as it was given.
    pub fn time_text(&self) -> &str {
        &self.time_text
    }

    /// Returns the second member as it was given.
    pub fn operation_text(&self) -> &str {
        &self.operation_text
    }
}
