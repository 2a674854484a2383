//! In which place a script stands when it is executed, and what it gives there.

/// In which place a script stands. All texts are JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role<'a> {
    /// A stored procedure.
    Procedure {
        /// A JSON array, or an empty text for no arguments.
        arguments: &'a [u8],
    },
    /// Before a write.
    PreTrigger {
        /// What will be written.
        operation: WriteKind,
        /// The document that is to be written, if one is.
        body: Option<&'a str>,
    },
    /// After a write.
    PostTrigger {
        /// What was written.
        operation: WriteKind,
        /// The document that was to be written, if one was.
        request_body: Option<&'a str>,
        /// The document as it is stored now, if one is.
        response_body: Option<&'a str>,
    },
}

/// The write that a trigger goes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteKind {
    /// A new document.
    Create,
    /// Another body for a document.
    Replace,
    /// One of both.
    Upsert,
    /// No document any more.
    Delete,
}

impl WriteKind {
    /// All of them.
    pub(crate) const ALL: [WriteKind; 4] =
        [WriteKind::Create, WriteKind::Replace, WriteKind::Upsert, WriteKind::Delete];

    /// Returns the name by which scripts know it.
    pub fn name(self) -> &'static str {
        match self {
            WriteKind::Create => "Create",
            WriteKind::Replace => "Replace",
            WriteKind::Upsert => "Upsert",
            WriteKind::Delete => "Delete",
        }
    }
}

/// What an execution gave.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Finished {
    /// The JSON text of the response: of a procedure, if it set one; of a post-trigger, if it set another one.
    pub response_body: Option<String>,
    /// Of a pre-trigger, the JSON text of what is to be written now.
    pub request_body: Option<String>,
}
