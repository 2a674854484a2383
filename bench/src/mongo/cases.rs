//! What is asked of every side.

use clap::ValueEnum;

/// Something that is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Case {
    /// One document by its _id
    Find,
    /// One new document, with three secondary indexes
    Insert,
    /// One document by its _id, a number in it increased
    Increment,
    /// Ten documents by an indexed member
    Equal,
    /// All documents by category: how many, and the sum of a number
    Group,
}

impl Case {
    pub(super) const ALL: [Case; 5] = [Case::Find, Case::Insert, Case::Increment, Case::Equal, Case::Group];

    pub(super) fn name(self) -> &'static str {
        match self {
            Case::Find => "find by _id",
            Case::Insert => "insertOne",
            Case::Increment => "updateOne $inc",
            Case::Equal => "find 10 by index",
            Case::Group => "$group of all",
        }
    }

    /// Returns the name of its figures.
    pub(super) fn key(self) -> &'static str {
        match self {
            Case::Find => "find",
            Case::Insert => "insert",
            Case::Increment => "increment",
            Case::Equal => "equal",
            Case::Group => "group",
        }
    }

    /// Says whether it writes.
    pub(super) fn is_write(self) -> bool {
        matches!(self, Case::Insert | Case::Increment)
    }
}

/// What a connection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// What is measured.
    Measured(Case),
    /// Writes whole new versions of the loaded documents, while something else is measured.
    Replace,
}
