//! What the tests of this crate share: statements to read, and trees written out in full brackets.

pub(crate) mod outline;

/// Statements of every kind, between lines of `;`.
pub(crate) fn statements() -> Vec<&'static str> {
    include_str!("testing/statements.txt").split("\n;\n").map(str::trim_end).collect()
}
