//! What a file of the corpus says: containers with items, and cases that are run against the last one named.

use std::ops::Range;
use std::path::PathBuf;

use armilla_value::Value;

/// A file of the corpus.
#[derive(Debug, Clone)]
pub struct Script {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says, in order.
    pub steps: Vec<Step>,
}

/// One directive.
#[derive(Debug, Clone)]
pub enum Step {
    /// Makes a container for the cases that follow.
    Container(ContainerStep),
    /// Runs a statement.
    Case(Case),
}

/// A container and its items.
#[derive(Debug, Clone, PartialEq)]
pub struct ContainerStep {
    /// The line of the directive, from 1.
    pub line: usize,
    /// Its name, for people.
    pub name: String,
    /// The paths of its partition key.
    pub key_paths: Vec<String>,
    /// How many physical partitions it has where it has several.
    pub range_count: usize,
    /// Its indexing policy, if not the default.
    pub policy: Option<Value>,
    /// Its computed properties.
    pub computed: Option<Value>,
    /// Its user-defined functions: an object of their texts by their names.
    pub functions: Option<Value>,
    /// Its items, with the lines they stand on.
    pub items: Vec<(usize, Value)>,
}

/// How many physical partitions a container has where it has several and does not say how many.
pub const RANGES_DEFAULT: usize = 4;

/// The most physical partitions that a file may ask for.
pub const RANGES_MAX: usize = 16;

impl ContainerStep {
    /// The container of a file that names none: empty.
    pub fn nameless() -> ContainerStep {
        ContainerStep {
            line: 1,
            name: "nameless".to_owned(),
            key_paths: vec!["/id".to_owned()],
            range_count: RANGES_DEFAULT,
            policy: None,
            computed: None,
            functions: None,
            items: Vec::new(),
        }
    }
}

/// A statement and what it must give.
#[derive(Debug, Clone)]
pub struct Case {
    /// The line of the directive, from 1.
    pub line: usize,
    /// The statement.
    pub text: String,
    /// Its parameters, names with the `@`.
    pub parameters: Vec<(String, Value)>,
    /// The partition key of the one logical partition that is asked, as a JSON array.
    pub key: Option<String>,
    /// What must come.
    pub expected: Expected,
    /// The lines of the expectation, from 0, end exclusive.
    pub expected_lines: Range<usize>,
}

/// What a statement must give.
#[derive(Debug, Clone)]
pub enum Expected {
    /// These rows.
    Rows(ExpectedRows),
    /// This plan.
    Plan(String),
    /// This error.
    Error(ExpectedError),
}

/// Rows, and how they are compared.
#[derive(Debug, Clone)]
pub struct ExpectedRows {
    /// The rows.
    pub rows: Vec<Value>,
    /// How they are compared.
    pub comparison: Comparison,
}

/// How rows are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Comparison {
    /// Whether rows may come in any order.
    pub unordered: bool,
    /// Whether elements of arrays may come in any order.
    pub arrays_as_sets: bool,
    /// By how much of its size a number may differ; 0 for not at all.
    pub tolerance: f64,
}

/// A refusal: what is not said is not compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedError {
    /// The status.
    pub status: u16,
    /// The code.
    pub code: ExpectedCode,
    /// The place in the text, in UTF-16 units.
    pub place: Option<(u64, u64)>,
    /// What the message contains.
    pub message: Option<String>,
}

/// The code of an expected error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExpectedCode {
    /// Any, or none: no source says which.
    Any,
    /// None.
    None,
    /// This one.
    Is(String),
}
