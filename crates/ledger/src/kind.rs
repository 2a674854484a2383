//! What kinds of shapes there are, and what they are called where they are written.

use crate::note::Act;
use crate::report::ShapeKind;

impl ShapeKind {
    /// Every kind.
    pub const ALL: [ShapeKind; 10] = [
        ShapeKind::Read,
        ShapeKind::Create,
        ShapeKind::Replace,
        ShapeKind::Patch,
        ShapeKind::Delete,
        ShapeKind::Query,
        ShapeKind::Procedure,
        ShapeKind::Batch,
        ShapeKind::List,
        ShapeKind::Changes,
    ];

    /// Returns the kind of what was asked.
    pub fn of(act: &Act<'_>) -> ShapeKind {
        match act {
            Act::Read { .. } => ShapeKind::Read,
            Act::Create { .. } => ShapeKind::Create,
            Act::Replace { .. } => ShapeKind::Replace,
            Act::Patch { .. } => ShapeKind::Patch,
            Act::Delete { .. } => ShapeKind::Delete,
            Act::Query { .. } => ShapeKind::Query,
            Act::Procedure { .. } => ShapeKind::Procedure,
            Act::Batch => ShapeKind::Batch,
            Act::List => ShapeKind::List,
            Act::Changes => ShapeKind::Changes,
        }
    }

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            ShapeKind::Read => "read",
            ShapeKind::Create => "create",
            ShapeKind::Replace => "replace",
            ShapeKind::Patch => "patch",
            ShapeKind::Delete => "delete",
            ShapeKind::Query => "query",
            ShapeKind::Procedure => "procedure",
            ShapeKind::Batch => "batch",
            ShapeKind::List => "list",
            ShapeKind::Changes => "changes",
        }
    }

    /// Returns the kind that a word is for.
    pub fn named(name: &str) -> Option<ShapeKind> {
        ShapeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
